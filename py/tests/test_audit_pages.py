"""docs/audit.md, docs/golden.md and docs/ci.md are true: their files are written, their commands run, their output compared."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
BLOCK = re.compile(r"^```(\w+)(?: (\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COPIED = ("pyproject.toml", "hatch_build.py", "spec", "fixtures/mini", "py/src", "ts")


def run(folder: Path, command: str, source: Path = ROOT) -> str:
    """What a command of a page prints, on both streams, its own words for `chunkproof` replaced by this program."""
    program = shlex.join([sys.executable, "-m", "chunkproof.cli"])
    line = re.sub(r"^chunkproof ", lambda _: f"{program} ", command)
    environment = {**os.environ, "PYTHONPATH": str(source / "py" / "src"), "CHUNKPROOF_DATA": ""}
    environment.pop("CI", None)
    done = subprocess.run(
        ["bash", "-c", line], cwd=folder, env=environment, capture_output=True, text=True, encoding="utf-8", timeout=300
    )
    return done.stdout + done.stderr


def pattern(shown: str) -> str:
    """What is shown, as a pattern: `…` stands for any part of a line or, on a line of its own, for any lines."""
    lines = shown.splitlines(keepends=True)
    return "".join("(?:.*\n)*?" if line == "…\n" else ".*".join(map(re.escape, line.split("…"))) for line in lines)


def follow(page: str, folder: Path, source: Path = ROOT) -> int:
    """Write the page's files, run its commands, compare what they print; how many commands there were."""
    count = 0
    for language, name, body in BLOCK.findall((DOCS / page).read_text(encoding="utf-8")):
        if name:
            (folder / name).write_text(body, encoding="utf-8")
        elif language == "console":
            parts = re.split(r"^\$ (.*)\n", body, flags=re.MULTILINE)
            for command, shown in zip(parts[1::2], parts[2::2], strict=True):
                printed = run(folder, command, source)
                assert re.fullmatch(pattern(shown) + r"\n*", printed), f"{page}: $ {command}\n{printed}"
                count += 1
    return count


def test_the_audit_page_is_followed(tmp_path: Path) -> None:
    assert follow("audit.md", tmp_path) == 4


def test_every_field_of_the_header_on_the_page_is_read(tmp_path: Path) -> None:
    from chunkproof.audit import header

    blocks = BLOCK.findall((DOCS / "audit.md").read_text(encoding="utf-8"))
    (text,) = [body for language, name, body in blocks if language == "toml" and not name]
    path = tmp_path / "all.toml"
    path.write_text(text.replace('"sha256:…"', f'"sha256:{"0" * 64}"'), encoding="utf-8")
    read = header.read(path)
    assert read.tables[0].columns["Latency"] == "ignore"
    assert read.tables[0].missing[0].method == "rerank*"
    assert read.comparisons[0].rows == ("recursive-256/bm25", "fixed-256/bm25")


@pytest.mark.slow
def test_the_example_of_a_change_is_followed(tmp_path: Path) -> None:
    if not (ROOT / "ts" / "node_modules").is_dir() or shutil.which("npm") is None or shutil.which("sed") is None:
        pytest.skip("needs npm, sed and ts/node_modules (npm ci in ts/)")
    for part in COPIED:
        source, target = ROOT / part, tmp_path / part
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("node_modules", "__pycache__", "_data"))
        else:
            shutil.copy(source, target)
    (tmp_path / "ts" / "node_modules").symlink_to(ROOT / "ts" / "node_modules", target_is_directory=True)
    run(tmp_path, "npm run --silent build --prefix ts", tmp_path)
    first = run(tmp_path, 'chunkproof golden update --fixture mini --yes --reason "as it was"', tmp_path)
    assert "wrote 9 files" in first
    assert follow("golden.md", tmp_path, tmp_path) == 8


def workflow_commands() -> list[str]:
    text = (DOCS / "examples" / "parity-workflow.yml").read_text(encoding="utf-8")
    return re.findall(r"^\s*- run: (.+)$", text, re.MULTILINE)


def test_the_workflow_runs(tmp_path: Path) -> None:
    """Its own commands, in a folder with mini under the name that the workflow has."""
    install, *commands = workflow_commands()
    assert install == "python -m pip install chunkproof"
    folder = tmp_path / "retrieval"
    shutil.copytree(ROOT / "fixtures" / "mini", folder)
    recipe = (folder / "fixture.toml").read_text(encoding="utf-8")
    (folder / "fixture.toml").write_text(recipe.replace('name = "mini"', 'name = "retrieval"'), encoding="utf-8")
    (folder / "README.md").write_text(
        "| config | method | MRR |\n|---|---|---|\n| fixed-256 | bm25 | 0.623 |\n", encoding="utf-8"
    )
    made = run(folder, "chunkproof audit init README.md --fixture . --out claims.toml")
    assert "wrote claims.toml" in made
    program = shlex.join([sys.executable, "-m", "chunkproof.cli"])
    summary = str(tmp_path / "summary.md")
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "py" / "src"), "GITHUB_STEP_SUMMARY": summary}
    for command in commands:
        environment = {
            **os.environ,
            "PYTHONPATH": str(ROOT / "py" / "src"),
            "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md"),
        }
        line = re.sub(r"^chunkproof ", lambda _: f"{program} ", command)
        done = subprocess.run(
            ["bash", "-e", "-c", line], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300
        )
        assert done.returncode == 0, (command, done.stdout, done.stderr)
    suite = ET.parse(tmp_path / "audit.xml").getroot().find("testsuite")
    assert suite is not None
    assert (suite.get("tests"), suite.get("failures")) == ("2", "0")
    assert "**1 reproduced · 0 differs · 0 missing**" in (tmp_path / "summary.md").read_text(encoding="utf-8")
