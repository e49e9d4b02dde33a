"""A fixture of papers in parity and golden, on the toy paper of spec 16, whose table says what it comes to."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from chunkproof import checkfixture, cli, fixtures, golden, parity, regold
from chunkproof.experiment import protocol, running
from chunkproof.experiment.papers import load
from chunkproof.parity import FixtureResult
from chunkproof.problems import Problem
from chunkproof.stages import Select

ROOT = Path(__file__).resolve().parents[2]
WRONG = Path(__file__).parent / "wrong" / "budget_engine.py"
SPEC = (ROOT / "spec" / "16-evidence.md").read_text(encoding="utf-8")
TOY = re.findall(r"^\| [012] \| (.*?) \| (.*?) \| \[", SPEC, re.MULTILINE)
"""Section and text of each paragraph, as the spec has them."""
ABSTRACT, FISH, WOLVES = (text for _, text in TOY)
EVIDENCE = [[WOLVES], [f"{WOLVES} ", FISH, "FLOAT SELECTED: Figure 1", "The sea", "Bears dance."]]


def rows_of_the_spec() -> list[list[str]]:
    """The toy paper's table: policy, budget, tokens, full, any, strict, any never hit, shares, precision, other minimums."""
    lines = SPEC.split("## A toy paper")[1].split("## Examples")[0].splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("| ")]
    return [row for row in cells if row[1].isdigit()]


@pytest.fixture
def toy(tmp_path: Path) -> Path:
    """A folder with the toy paper as a fixture, asked by a protocol of its own."""
    folder = tmp_path / "toy"
    folder.mkdir()
    answers = [{"answer": {"evidence": strings}} for strings in EVIDENCE]
    paper = {
        "title": "Toy",
        "abstract": ABSTRACT,
        "full_text": [
            {"section_name": "The sea", "paragraphs": [FISH]},
            {"section_name": "", "paragraphs": [WOLVES, "  "]},
        ],
        "qas": [
            {"question_id": "howl", "question": "Where do wolves howl?", "answers": answers},
            {"question_id": "lost", "question": "Why?", "answers": [{"answer": {"evidence": ["Bears dance."]}}]},
        ],
    }
    (folder / "papers.json").write_text(json.dumps({"toy": paper}), encoding="utf-8")
    shipped = protocol.SHIPPED.read_text(encoding="utf-8")
    mine = shipped.replace("[500, 1000, 2000]", "[12, 24, 60]").replace("budget = 1000", "budget = 60")
    (folder / "protocol.toml").write_text(mine, encoding="utf-8")
    recipe = 'name = "toy"\nkind = "papers"\nspec = "1"\npapers = "papers.json"\nprotocol = "protocol.toml"\n'
    (folder / "fixture.toml").write_text(recipe, encoding="utf-8")
    return folder


def ran(folder: Path, select: Select = parity.ALL, *engines: str) -> FixtureResult:
    return parity.run_fixture(fixtures.load(str(folder)), parity.commands(engines), select)


def test_the_toy_paper_comes_to_what_the_spec_says(toy: Path, tmp_path: Path) -> None:
    fixed = replace(protocol.load().with_budgets([24, 30, 44, 60]), top_k=())
    (figures,) = running.run(load(str(toy)).papers, fixed, parity.commands([]), tmp_path / "cache").papers
    (question,) = figures.questions
    rows = rows_of_the_spec()
    assert len(rows) == 7
    for policy, budget, *wanted in rows:
        found = question.at[policy, int(budget)]
        shares = (found.any_share, found.strict_share, found.any_tokens, found.strict_tokens, found.precision)
        said: list[Any] = [found.tokens, "yes" if found.full else "no", found.any, found.strict, found.any_missed]
        said += [f"{over}/{under}" for over, under in shares]
        said.append(" · ".join(str(found.any_at[name]) for name in ("1", "half", "all")))
        assert [str(each) for each in said] == wanted, (policy, budget)
        assert found.strict_missed == 0


def test_both_engines_agree_on_all_of_it(toy: Path) -> None:
    result = ran(toy)
    assert result.held
    assert [stage.stage for stage in result.stages] == ["pieces", "segments", "chunks", "rankings", "budget", "table"]
    table = {each.case: each.value["ok"] for each in result.runs[0].outcomes if each.stage == "table"}
    assert table["index/headed"]["postings"] == str(6 + 3 + 14)
    assert table["paragraphs/60"]["any"] == "1.000"
    assert table["paragraphs/60"]["any_missed"] == "0.500"  # the question whose only string maps to nothing counts here
    assert table["evidence"] == {
        **{"exact": 2, "stripped": 1, "folded": 0, "section_name": 1, "inside": 0, "none": 2, "float": 1},
        **{"unanswerable": 0, "float_only": 0, "no_text_evidence": 0, "unmatched_only": 1, "scored": 1},
    }


def test_golden_files_hold_many_small_replies_as_one(toy: Path) -> None:
    result = ran(toy)
    assert regold.write([regold.plan(result)], "first", regold.datetime.date(2026, 1, 2)) == 7
    found = golden.check(result)
    assert found.held
    assert found.cases < result.compared
    lines = golden.golden_lines(result.fixture, result.runs[0])
    assert lines["budget"]["toy/paragraphs/24"]["ok"] == {"tokens": [24]}
    assert lines["rankings"]["toy/terms"]["ok"]["terms"][0] == 21  # the whole paper is one window of 128


def test_a_context_that_changes_is_seen(toy: Path) -> None:
    result = ran(toy)
    regold.write([regold.plan(result)], "first", regold.datetime.date(2026, 1, 2))
    for run in result.runs:
        run.outcomes = [
            replace(each, value={"ok": {"hits": [True, True], "overlaps": [21, 134]}})
            if each.case == "toy/paragraphs/24/howl/cover-hits"
            else each
            for each in run.outcomes
        ]
    (mismatch,) = golden.check(result).mismatches
    assert (mismatch.stage, mismatch.case, mismatch.path) == ("budget", "toy/paragraphs/24", "sha256")


def test_a_part_of_the_cases_is_not_held_against_the_whole(toy: Path) -> None:
    regold.write([regold.plan(ran(toy))], "first", regold.datetime.date(2026, 1, 2))
    part = ran(toy, Select(("toy/paragraphs/*",)))
    assert part.held
    assert {each.stage for each in part.runs[0].outcomes} == {"budget"}
    assert golden.check(part).mismatches == []


def test_a_wrong_context_is_named_with_its_case_and_chapter(toy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wrong = f"{sys.executable} {WRONG} piece-too-many"
    assert cli.run(["parity", "--fixture", str(toy), "--engine", "py", "--engine", wrong]) == 1
    said = capsys.readouterr().out
    assert "stage      budget" in said
    assert "case       toy/toy/fixed-128/12/howl/context" in said
    assert "13-budget.md § Rule 1 to 5" in said
    assert "probably caused by the above: table" in said
    again = re.search(r"repeat +chunkproof (parity .*)", said)
    assert again is not None
    assert "--case toy/fixed-128/12/howl/context --stage budget" in again[1]


def test_an_engine_without_contexts_is_compared_on_the_rest(
    toy: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    third = tmp_path / "third.py"
    third.write_text(
        "import json, sys\n"
        "from chunkproof import engine\n"
        "LACKING = ('fill', 'cover', 'bootstrap')\n"
        "for line in sys.stdin:\n"
        "    request = json.loads(line)\n"
        "    reply = json.loads(''.join(engine.answer(json.loads(line, parse_int=float))))\n"
        "    if request['op'] in LACKING:\n"
        "        reply = {'id': request['id'], 'error': {'code': 'unsupported', 'message': ''}}\n"
        "    if request['op'] == 'info':\n"
        "        reply['ok']['ops'] = [op for op in reply['ok']['ops'] if op not in LACKING]\n"
        "    print(json.dumps(reply), flush=True)\n",
        encoding="utf-8",
    )
    result = ran(toy, parity.ALL, "py", f"{sys.executable} {third}")
    compared = {stage.stage: stage.cases for stage in result.stages}
    assert result.held
    assert compared["rankings"] > 0
    assert compared["budget"] == compared["table"] == 0


Damage = Callable[[str], str]


@pytest.mark.parametrize(
    ("file", "damage", "said"),
    [
        ("papers.json", lambda text: text[:-9], r"papers\.json is damaged or cut off"),
        (
            "protocol.toml",
            lambda text: text.replace("[12, 24, 60]", "[0]"),
            r"budgets: 0 must be a whole number from 1",
        ),
        ("fixture.toml", lambda text: text + 'sha256 = "00"\n', r"sha256 is 00, but that of papers\.json is"),
        ("fixture.toml", lambda text: text.replace("papers.json", "no.json"), r"no\.json cannot be read"),
    ],
)
def test_a_damaged_fixture_is_named_by_its_place(toy: Path, file: str, damage: Damage, said: str) -> None:
    path = toy / file
    path.write_text(damage(path.read_text(encoding="utf-8")), encoding="utf-8")
    with pytest.raises(Problem, match=said):
        fixtures.load(str(toy))
    assert checkfixture.check(toy).faults


def test_other_kinds_of_figures_are_not_to_be_had_of_it(toy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert not checkfixture.check(toy).faults
    assert cli.run(["table", "--fixture", str(toy)]) == 2
    assert "toy is a fixture of papers: only a corpus has a table" in capsys.readouterr().err


def test_the_shipped_papers_are_what_their_readme_says() -> None:
    """The counts in the README, which a reader of the folder sees, against those of the golden table."""
    lines = [json.loads(line) for line in (ROOT / "golden/papers/table.jsonl").read_text(encoding="utf-8").splitlines()]
    (counted,) = [line["ok"] for line in lines if line["id"] == "evidence"]
    readme = (ROOT / "fixtures/papers/README.md").read_text(encoding="utf-8").split("## Answers")[1].split("White")[0]
    said = [int(number) for number in re.findall(r"\| (\d+) \|", readme)]
    steps = ("exact", "stripped", "folded", "section_name", "inside", "none", "float")
    assert [counted[step] for step in steps] == said
    excluded = ("unanswerable", "float_only", "no_text_evidence", "unmatched_only", "scored")
    assert [counted[name] for name in excluded] == [3, 1, 2, 1, 53]
