"""What docs/budget.md shows is what happens, and what it says of results is what a run wrote there."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

from chunkproof import cli
from chunkproof.experiment import ledger, protocol

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "budget.md").read_text(encoding="utf-8")
FILE = re.compile(r"^```json (\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^\$ chunkproof (.*)$", re.MULTILINE)


@pytest.fixture
def leases(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The page's own documents, in the folder that its commands name."""
    folder = tmp_path / "leases"
    folder.mkdir()
    for name, text in FILE.findall(PAGE):
        (folder / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return folder


def test_the_commands_of_the_page_run_on_its_documents(leases: Path, capsys: pytest.CaptureFixture[str]) -> None:
    commands = COMMAND.findall(PAGE)
    assert len(commands) == 2
    for command in commands:
        assert cli.run(shlex.split(command)) == 0, command
    said = capsys.readouterr().out
    assert "2 exact" in said
    assert "Nothing is decided: 1,000 tokens are not among the budgets." in said


def test_every_evidence_of_the_page_is_a_paragraph_of_it(leases: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["budget", "run", "--dataset", "leases", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["papers"], found["questions"], found["scored"]) == (1, 2, 2)
    assert {step: count for step, count in found["evidence"].items() if count} == {"exact": 2}


def test_the_final_result_is_the_one_of_the_ledger() -> None:
    written = re.search(r"begin, generated -->(.*?)<!-- budget final: end", PAGE, re.DOTALL)
    assert written is not None
    lines = ledger.read(ROOT / "docs" / ledger.NAME)
    mine = [line for line in lines if line.protocol == protocol.load().digest]
    assert mine, "no final run was made under the shipped protocol"
    assert {line.result for line in mine} == {mine[0].result}
    assert f"Digest of the result: `{mine[0].result}`" in written[1]
    assert mine[0].protocol in written[1]


def test_what_was_developed_on_says_that_it_decides_nothing() -> None:
    written = re.search(r"budget development: begin, generated -->(.*?)<!-- budget development: end", PAGE, re.DOTALL)
    assert written is not None
    assert "which are not held out and so decide nothing" in written[1]
