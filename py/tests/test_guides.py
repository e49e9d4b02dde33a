"""What the guides in docs/ show is what happens: every example is run, and the third engine takes part in parity."""

from __future__ import annotations

import contextlib
import io
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from chunkproof import fuzz
from chunkproof.resources import tokenizer_path

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^```(python|js)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
EXAMPLES = BLOCK.findall((ROOT / "docs" / "languages.md").read_text(encoding="utf-8"))


def promised(code: str, mark: str) -> list[str]:
    return [line.removeprefix(f"{mark} → ") for line in code.splitlines() if line.startswith(f"{mark} → ")]


@pytest.mark.parametrize("code", [code for language, code in EXAMPLES if language == "python"])
def test_a_python_example_prints_what_it_says(code: str) -> None:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(code, "languages.md", "exec"), {})
    assert out.getvalue().splitlines() == promised(code, "#") != []


@pytest.mark.parametrize("code", [code for language, code in EXAMPLES if language == "js"])
def test_a_javascript_example_prints_what_it_says(code: str) -> None:
    node, library = shutil.which("node"), ROOT / "ts" / "dist" / "index.mjs"
    if node is None or not library.is_file():
        pytest.skip("the TypeScript library is not built: npm ci && npm run build in ts/")
    script = code.replace('from "chunkproof"', f'from "{library.as_uri()}"')
    done = subprocess.run([node, "--input-type=module", "-"], input=script, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == promised(code, "//") != []


def test_both_languages_have_the_same_examples() -> None:
    assert [language for language, _ in EXAMPLES] == ["python", "js"] * (len(EXAMPLES) // 2)
    assert len(EXAMPLES) >= 10


@pytest.fixture(scope="module")
def third() -> list[str]:
    script = ROOT / "docs" / "examples" / "third_engine.py"
    return [sys.executable, str(script), str(ROOT / "spec"), str(tokenizer_path())]


def test_the_third_engine_agrees_on_pieces(third: list[str]) -> None:
    engines = [[sys.executable, "-m", "chunkproof.engine"], third]
    found = fuzz.find(5, examples=300, engines=engines, only=["pieces"])
    assert not found.differences, found.differences[0].line()
    assert found.unsupported == 0


def test_what_the_third_engine_lacks_is_left_out_of_fuzzing(third: list[str]) -> None:
    engines = [[sys.executable, "-m", "chunkproof.engine"], third]
    found = fuzz.find(5, examples=20, engines=engines, only=["segments"])
    assert not found.differences
    assert found.unsupported > 0


def test_the_third_engine_passes_parity_on_the_stage_that_it_has(third: list[str]) -> None:
    command = [sys.executable, "-c", "import sys; from chunkproof.cli import main; main(sys.argv[1:])"]
    command += ["parity", "--fixture", "edge", "--stage", "pieces", "--engine", "py", "--engine", " ".join(third)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert re.search(r"chunkproof-py \S+ and third 1 agree on all \d+ values", done.stdout), done.stdout + done.stderr


def test_the_guide_shows_the_engine_as_it_is() -> None:
    guide = (ROOT / "docs" / "add-an-engine.md").read_text(encoding="utf-8")
    source = (ROOT / "docs" / "examples" / "third_engine.py").read_text(encoding="utf-8")
    shown = [code for language, code in BLOCK.findall(guide) if language == "python"]
    assert shown
    for code in shown:
        assert code.strip() in source
