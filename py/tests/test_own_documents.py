"""docs/your-documents.md is true: its files are written, its commands run, and what it shows is what they print."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from chunkproof import datasets

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "your-documents.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```(\w+)(?: (\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def chunkproof(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "chunkproof.cli", *words],
        cwd=folder,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=300,
    )


def steps(block: str) -> list[tuple[str, str]]:
    """The commands of a console block, each with what it prints."""
    parts = re.split(r"^\$ (.*)\n", block, flags=re.MULTILINE)
    assert parts[0] == ""
    return list(zip(parts[1::2], parts[2::2], strict=True))


def pattern(shown: str) -> str:
    """What is shown, as a pattern: `…` stands for any part of a line or, on a line of its own, for any lines."""
    lines = shown.splitlines(keepends=True)
    return "".join("(?:.*\n)*?" if line == "…\n" else ".*".join(map(re.escape, line.split("…"))) for line in lines)


def can_embed() -> bool:
    try:
        import onnx  # noqa: F401
        import onnxruntime  # noqa: F401
        import safetensors  # noqa: F401

        return bool(datasets.path("minilm") and datasets.path("minilm-tokenizer"))
    except (ImportError, datasets.DataError):
        return False


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("sed"), reason="the page uses sed")
def test_the_page_is_followed(tmp_path: Path) -> None:
    begun, run, left_out = time.monotonic(), [], []
    for kind, name, body in BLOCK.findall(PAGE):
        if name:
            (tmp_path / name).write_bytes(body.encode("utf-8"))
        elif kind == "console" and "$ chunkproof embed" in body and not can_embed():
            left_out.append(body)
        elif kind == "console":
            for command, shown in steps(body):
                run.append(follow(tmp_path, command, shown))
    assert len(run) >= 9
    assert time.monotonic() - begun < 300
    if left_out:
        pytest.skip("all but the vectors was followed: the extra `embed` or its weights are not there")


def follow(folder: Path, command: str, shown: str) -> str:
    words = shlex.split(command)
    if words[0] == "sed":
        subprocess.run(words, cwd=folder, check=True)
        return command
    assert words[0] == "chunkproof"
    done = chunkproof(folder, *words[1:])
    assert done.returncode == (1 if "✗" in shown else 0), command + done.stdout + done.stderr
    assert re.fullmatch(pattern(shown), done.stdout), f"$ {command}\n{done.stdout}{done.stderr}\nis not\n{shown}"
    return command


def test_other_commands_of_the_page_exist() -> None:
    for name in re.findall(r"`chunkproof (\w+)", PAGE):
        assert chunkproof(ROOT, name, "--help").returncode == 0, name


def test_without_a_table_of_vectors_bm25_has_its_rows(tmp_path: Path) -> None:
    assert chunkproof(tmp_path, "fixture", "new", "plain").returncode == 0
    recipe = tmp_path / "plain" / "fixture.toml"
    text = recipe.read_text(encoding="utf-8")
    recipe.write_text(text[: text.index("# Where `chunkproof embed FOLDER`")], encoding="utf-8")
    done = chunkproof(tmp_path, "fixture", "check", "plain")
    assert done.returncode == 0, done.stdout
    done = chunkproof(tmp_path, "table", "--fixture", "plain")
    assert done.returncode == 0, done.stderr
    assert re.findall(r"^(\S+) +bm25 ", done.stdout, re.MULTILINE) == ["fixed-256", "fixed-256-o64", "recursive-256"]


def test_the_skeleton_is_a_fixture_at_once(tmp_path: Path) -> None:
    done = chunkproof(tmp_path, "fixture", "new", 'odd "name" é', "--title", "A \\ in it")
    assert done.returncode == 0, done.stderr
    done = chunkproof(tmp_path, "fixture", "check", 'odd "name" é')
    assert done.returncode == 0, done.stdout
    assert "1 document, 3 questions, 4 configs, 4 methods" in done.stdout


def test_nothing_is_written_over(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "mine.txt").write_text("mine")
    for name in ("there", "there/mine.txt"):
        done = chunkproof(tmp_path, "fixture", "new", name)
        assert done.returncode == 2
        assert "not an empty folder: nothing was written" in done.stderr
    assert os.listdir(tmp_path / "there") == ["mine.txt"]
    (tmp_path / "bad.txt").write_bytes(b"a\xff")
    done = chunkproof(tmp_path, "fixture", "new", "new", "bad.txt")
    assert done.returncode == 2
    assert "bad.txt is not UTF-8: byte 1 is 0xff" in done.stderr
    (tmp_path / "bad.txt").write_text(" \n")
    done = chunkproof(tmp_path, "fixture", "new", "new", "bad.txt")
    assert done.returncode == 2
    assert "bad.txt is empty" in done.stderr
    assert not (tmp_path / "new").exists()
