"""What is said about a data set before it is run, and about the questions that a run misses."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from chunkproof.audit.arithmetic import Calculator
from chunkproof.cli import app
from chunkproof.experiment import explore, misses, papers, protocol, running
from chunkproof.experiment.papers import Annotator, Dataset, Paper, Paragraph, Question, Section
from chunkproof.experiment.running import Ran
from chunkproof.parity import Command, commands
from chunkproof.problems import Problem


@pytest.fixture(scope="module")
def engines() -> list[Command]:
    return commands([])


@pytest.fixture(scope="module")
def calculator(engines: list[Command], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Calculator]:
    with Calculator(engines, tmp_path_factory.mktemp("asked"), 60) as calculator:
        yield calculator


@pytest.fixture(scope="module")
def found(checkout: Path, calculator: Calculator) -> dict[str, Any]:
    """What is said about the papers that come with chunkproof."""
    dataset = papers.load(str(checkout / "fixtures" / "papers"))
    return explore.make(dataset, dataset.papers, calculator, tokens=True)


# Exploring


def test_the_counts_are_those_of_the_readme(found: Mapping[str, Any]) -> None:
    counts = {name: found[name] for name in ("papers", "sections", "paragraphs", "questions", "answers", "strings")}
    assert counts == {
        "papers": 14,
        "sections": 167,
        "paragraphs": 322,
        "questions": 60,
        "answers": 80,
        "strings": 94,
    }
    assert (found["paragraphs_left_out"], found["scored"], found["text_strings"]) == (3, 53, 89)


def test_shares_are_of_the_strings_of_text_and_floats_of_all(found: Mapping[str, Any]) -> None:
    assert (found["percent"]["exact"], found["percent"]["stripped"]) == ("75.3", "6.7")  # 67 and 6 of 89
    assert found["percent"]["float"] == "5.3"  # 5 of 94


def test_tokens_are_those_of_the_readme(found: Mapping[str, Any]) -> None:
    assert found["lengths"]["tokens of a paper"]["sum"] == 24_482
    assert found["lengths"]["tokens of a paper"]["percentiles"]["100"] == 4_642
    assert found["lengths"]["tokens of a paper"]["held_whole"] == {"500": 1, "1000": 1, "2000": 10, "4000": 13}
    assert found["lengths"]["tokens of a paragraph"]["sum"] == 24_482


def test_artefacts_are_those_that_were_made(checkout: Path, found: Mapping[str, Any]) -> None:
    troubles = json.loads((checkout / "fixtures" / "papers" / "troubles.json").read_text(encoding="utf-8"))
    made = Counter(kind for kinds in troubles.values() for kind in kinds)
    counts = {what: each["count"] for what, each in found["artefacts"].items()}
    assert counts["of_another_paper"] == made["evidence_of_another_paper"] == 1
    assert counts["other_normal_form"] == made["other_normal_form"] == 1
    assert counts["float_beside_text"] == made["float_beside_text"] == 3
    assert counts["unmatched_beside_text"] == made["unmatched_beside_text"] == 2
    assert counts["evidence_named_twice"] == made["duplicate_evidence"] == 1
    assert counts["answer_without_evidence"] == made["annotator_without_evidence"] == 2
    assert counts["answerable_to_some"] == made["one_of_two_unanswerable"] == 2
    assert counts["disjoint"] == made["disjoint_annotators"] == 5
    assert counts["blank_line_inside"] == 1
    assert (counts["repeated"], counts["repeated_but_for_white_space"]) == (2, 1)
    assert found["artefacts"]["of_another_paper"]["first"] == ["glosses, glosses-4"]


def test_a_text_says_all_that_the_json_says_of_artefacts(found: Mapping[str, Any]) -> None:
    text = explore.render(dict(found), "text")
    assert json.loads(explore.render(dict(found), "json")) == found
    for what, each in found["artefacts"].items():
        line = next(line for line in text.split("\n") if line.startswith(what.replace("_", " ") + "  "))
        assert line.split("  ", 1)[1].split()[:2] == [f"{each['count']:,}", f"{each['total']:,}"]


def test_merged_paragraphs_and_empty_sections_are_found(calculator: Calculator) -> None:
    texts = ["Ends here.Starts there.", "one\r\ntwo", "one\r\n \r\ntwo", "one\n\u3000\ntwo", "1.5 e.g. U.S.A.", "\n x"]
    places, at = [], 0
    for text in texts:
        places.append(Paragraph(at, at + len(text), 0))
        at += len(text) + 2
    paper = Paper("p", "P", "\n\n".join(texts), tuple(places), (Section("A"), Section("")), (), has_abstract=False)
    found = explore.make(Dataset("own", "", (paper,), "0" * 64), [paper], calculator)
    counts = {what: each["count"] for what, each in found["artefacts"].items() if each["count"]}
    assert counts == {
        "paper_without_abstract": 1,
        "paper_without_questions": 1,
        "section_without_text": 1,
        "section_without_name": 1,
        "repeated_but_for_white_space": 2,
        "white_at_ends": 1,
        "line_end_inside": 3,
        "blank_line_inside": 2,
        "joined_sentences": 1,
        "short": 6,
    }
    assert found["percent"]["exact"] == "0.0"  # of no strings
    assert "tokens of a paper" not in found["lengths"]


@pytest.mark.parametrize(
    ("values", "at"),
    [([], {}), ([7], dict.fromkeys(["0", "10", "25", "50", "75", "90", "100"], 7)), (range(11), {"50": 5, "100": 10})],
)
def test_percentiles_are_by_nearest_rank(values: list[int], at: Mapping[str, int]) -> None:
    spread = explore.spread(values)
    assert spread["percentiles"].items() >= at.items()
    assert (spread["count"], spread["sum"]) == (len(values), sum(values))


def test_a_terminal_is_sent_nothing_that_it_obeys() -> None:
    assert explore.visible("a\x1b[2Jb\u202ec\u00a0d") == "a\\x1b[2Jb\\u202ec\\xa0d"
    assert explore.visible("x" * 300, 10) == "xxxxx … xxxxx"


# Misses

FOXES = "Foxes dig their dens in sand."
OWLS = "Owls nest in barns, and foxes look at them. " * 8
ZOO = Paper(
    "zoo",
    "A zoo",
    f"{OWLS}\n\n{FOXES}",
    (Paragraph(0, len(OWLS), None), Paragraph(len(OWLS) + 2, len(OWLS) + 2 + len(FOXES), 0)),
    (Section("Dens"),),
    (
        Question("q1", "Where do owls nest?", (Annotator("a", "free_form", (FOXES, "nowhere")),)),
        Question("q2", "Foxes dig dens?", (Annotator("a", "free_form", (FOXES,)),)),
    ),
)


@pytest.fixture(scope="module")
def ran(engines: list[Command], tmp_path_factory: pytest.TempPathFactory) -> Ran:
    small = replace(protocol.load().with_budgets([20]), top_k=())
    return running.run([ZOO], small, engines, tmp_path_factory.mktemp("cache"))


def test_a_miss_says_what_is_lacking_and_what_is_there_instead(ran: Ran, engines: list[Command]) -> None:
    assert misses.missed(ran, "paragraphs", 20) == [(0, "q1")]
    found = misses.make([ZOO], ran, "paragraphs", 20, 5, engines)
    (miss,) = found["shown"]
    assert (found["missed"], found["questions"]) == (1, 2)
    assert (miss["question"], miss["unmatched"], miss["annotators"]) == ("q1", 1, [[1]])
    (evidence,) = miss["evidence"]
    assert (evidence["paragraph"], evidence["section"], evidence["text"]) == (1, "Dens", FOXES)
    assert (evidence["hit"], evidence["shown"], evidence["rank"]) == (False, 0, 2)
    assert (miss["context"]["tokens"], miss["context"]["of"], miss["context"]["full"]) == (
        19,
        2,
        True,
    )  # a piece of 2 tokens is next
    (instead,) = miss["context"]["filled_by"]
    assert (instead["paragraph"], instead["rank"]) == (0, 1)
    assert 0 < instead["shown"] < instead["code_points"] == len(OWLS)


def test_a_miss_can_be_read(ran: Ran, engines: list[Command]) -> None:
    text = misses.render(misses.make([ZOO], ran, "paragraphs", 20, 5, engines), "text")
    assert "paragraphs at 20 tokens misses 1 of 2 questions" in text
    assert "Where do owls nest?" in text
    assert f"✗ paragraph 1 (Dens): missed, 0 of {len(FOXES)} code points, first chunk ranked 2 of 2" in text
    assert FOXES in text
    assert "strings that are in no paragraph: 1" in text


def test_what_was_not_run_is_named(ran: Ran, engines: list[Command]) -> None:
    with pytest.raises(Problem, match="there is no policy 'pages'"):
        misses.missed(ran, "pages", 20)
    with pytest.raises(Problem, match="1,000 tokens is not among the budgets that were run: 20"):
        misses.missed(ran, "paragraphs", 1000)
    with pytest.raises(Problem, match="--count 0 must be at least 1"):
        misses.make([ZOO], ran, "paragraphs", 20, 0, engines)


# The command


def test_the_commands_explore_and_show_misses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("running", "looking"):
        monkeypatch.setattr(f"chunkproof.experiment.{module}.cache_dir", lambda: tmp_path / "cache")
    (tmp_path / "documents.jsonl").write_text(
        json.dumps({"id": "zoo", "sections": [{"name": "Dens", "paragraphs": [OWLS, FOXES]}]})
    )
    asked = {"id": "q1", "document": "zoo", "question": "Where do owls nest?", "answers": [{"evidence": [FOXES]}]}
    (tmp_path / "questions.jsonl").write_text(json.dumps(asked))
    own = ["--dataset", str(tmp_path), "--json"]
    explored = CliRunner().invoke(app, ["budget", "explore", *own])
    assert explored.exit_code == 0, explored.output
    assert json.loads(explored.stdout)["evidence"]["exact"] == 1
    shown = CliRunner().invoke(app, ["budget", "misses", *own, "--budget", "20"])
    assert shown.exit_code == 0, shown.output
    assert json.loads(shown.stdout)["missed"] == 1
