"""Evidence is mapped to paragraphs in named steps, and a question is scored or left out for a named reason."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from chunkproof.experiment import evidence, papers
from chunkproof.experiment.evidence import Mapped, Mapper, map_evidence
from chunkproof.experiment.papers import Annotator, Dataset, Paper, Paragraph, Question, Section

needs_qasper = pytest.mark.skipif(not os.environ.get("CHUNKPROOF_DATA"), reason="CHUNKPROOF_DATA names no folder")


@pytest.fixture(scope="module")
def invented(checkout: Path) -> Dataset:
    """The papers that come with chunkproof."""
    return papers.load(str(checkout / "fixtures" / "papers"))


@pytest.fixture(scope="module")
def mapped(invented: Dataset) -> dict[str, tuple[Paper, Question, Mapped]]:
    """Each question's evidence."""
    return {
        question.id: (paper, question, map_evidence(paper, question))
        for paper in invented.papers
        for question in paper.questions
    }


@pytest.fixture(scope="module")
def troubles(checkout: Path) -> dict[str, list[str]]:
    """What each paper and question of the fixture was made to have."""
    read: dict[str, list[str]] = json.loads((checkout / "fixtures" / "papers" / "troubles.json").read_text())
    return read


PAPER = Paper(
    "toy",
    "Toy",
    "One  two.\n\nThree four five.\n\nOne  two.\n\n Six\u00a0seven. ",
    (Paragraph(0, 9, None), Paragraph(11, 27, 0), Paragraph(29, 38, 1), Paragraph(40, 53, 1)),
    (Section("Four"), Section("")),
    (),
)


def kinds_of(*annotators: tuple[str, ...], unanswerable: bool = False) -> Mapped:
    kind = "unanswerable" if unanswerable else "free_form"
    answers = tuple(Annotator(str(number), kind, strings) for number, strings in enumerate(annotators))
    return map_evidence(PAPER, Question("q", "?", answers))


@pytest.mark.parametrize(
    ("string", "step", "place"),
    [
        ("One  two.", "exact", 0),  # the first of equal ones
        ("\u2003One  two.\n", "stripped", 0),
        ("One two.", "folded", 0),
        ("One\u202f\ntwo.", "folded", 0),
        ("Six\u00a0seven.", "stripped", 3),  # the paragraph is stripped, too
        ("Six seven.", "folded", 3),
        ("Four", "section_name", None),
        (" Four\n", "section_name", None),
        ("Abstract", "section_name", None),
        ("four", "inside", 1),
        ("two", "inside", 0),
        ("four  five.", "inside", 1),
        ("two. Three", "none", None),  # of one paragraph only
        ("\ufeffOne  two.", "none", None),  # U+FEFF is visible
        ("one two.", "none", None),  # case counts
        ("", "none", None),
        (" \u3000", "none", None),
        ("FLOAT SELECTED: Table 1", "float", None),
        (" FLOAT SELECTED", "float", None),
    ],
)
def test_a_string_is_mapped_by_the_first_step_that_finds_it(string: str, step: str, place: int | None) -> None:
    assert Mapper(PAPER).find(string) == (step, place)


def test_a_paper_without_an_abstract_has_no_such_section() -> None:
    assert Mapper(papers.without_abstract(PAPER)).find("Abstract") == ("none", None)
    assert Mapper(papers.without_abstract(PAPER)).find("One  two.") == ("exact", 1)


def test_the_evidence_of_an_annotator_is_a_set_of_paragraphs() -> None:
    found = kinds_of(("Three four five.", "One two.", " One  two.", "Four", "nowhere", "FLOAT SELECTED")).annotators[0]
    assert found.paragraphs == (0, 1)
    assert (found.unmatched, found.floats, found.section_names, found.unanswerable) == (1, 1, 1, False)


def test_annotators_without_text_evidence_are_left_out_and_the_union_is_of_the_others() -> None:
    found = kinds_of(("Three four five.",), (), ("Four",), ("One two.", "nowhere"))
    assert [each.paragraphs for each in found.scored] == [(1,), (0,)]
    assert found.union == (0, 1)
    assert (found.excluded, found.unmatched) == (None, 1)


@pytest.mark.parametrize(
    ("found", "reason"),
    [
        (kinds_of((), ("Three four five.",), unanswerable=True), "unanswerable"),
        (kinds_of(("FLOAT SELECTED",), ("FLOAT SELECTED", "FLOAT SELECTED: b")), "float_only"),
        (kinds_of(("FLOAT SELECTED", "Four")), "no_text_evidence"),
        (kinds_of((), ("Four",)), "no_text_evidence"),
        (kinds_of(), "no_text_evidence"),
        (kinds_of(("nowhere",), ("FLOAT SELECTED",), ("Four",)), "unmatched_only"),
        (kinds_of(("nowhere", "two")), None),
    ],
)
def test_a_question_is_left_out_for_a_named_reason(found: Mapped, reason: str | None) -> None:
    assert found.excluded == reason


# The invented papers, as their README and troubles.json describe them


def test_the_steps_and_exclusions_of_the_invented_papers(invented: Dataset) -> None:
    steps, excluded, scored = evidence.count(invented.papers)
    assert steps == {
        "exact": 67,
        "stripped": 6,
        "folded": 5,
        "section_name": 3,
        "inside": 3,
        "none": 5,
        "float": 5,
    }
    assert sum(steps.values()) == 94
    assert excluded == {"unanswerable": 3, "float_only": 1, "no_text_evidence": 2, "unmatched_only": 1}
    assert scored == 53


def _repeats(paper: Paper, form: Callable[[str], str]) -> set[int]:
    """The paragraphs whose form another one has, too."""
    forms = [form(paper.paragraph(number)) for number in range(len(paper.paragraphs))]
    return {number for number, each in enumerate(forms) if forms.count(each) > 1}


def _found(paper: Paper, question: Question, mapped: Mapped) -> Iterator[str]:
    """Which of the kinds of trouble that can be told from the mapping alone a question has."""
    yield from (step for step in ("exact", "stripped", "folded", "none") if mapped.steps[step])
    if mapped.steps["inside"]:
        yield "inside_paragraph"
    if mapped.excluded is not None:
        yield mapped.excluded
    if mapped.steps["float"] and mapped.union:
        alone = [each for each in mapped.annotators if each.floats and not each.paragraphs]
        yield "float_only_annotator" if alone else "float_beside_text"
    if mapped.steps["section_name"]:
        beside = any(each.section_names and each.paragraphs for each in mapped.annotators)
        yield "section_name_beside_text" if beside else "section_name"
    if any(each.unmatched and each.paragraphs for each in mapped.annotators):
        yield "unmatched_beside_text"
    if len(mapped.annotators) == 2:
        yield "two_annotators"
        sets = [set(each.paragraphs) for each in mapped.annotators]
        if all(sets) and not sets[0] & sets[1]:
            yield "disjoint_annotators"
        answering = [each for each in mapped.annotators if not each.unanswerable]
        if len(answering) == 1:
            yield "one_of_two_unanswerable"
        if mapped.union and any(not each.paragraphs for each in answering):
            yield "annotator_without_text_evidence"
    if any(len(each.paragraphs) > 1 for each in mapped.annotators):
        yield "several_paragraphs"
    pairs = list(zip(question.annotators, mapped.annotators, strict=True))
    text = [len(a.strings) - m.unmatched - m.floats - m.section_names for a, m in pairs]
    if any(count > len(each.paragraphs) for count, each in zip(text, mapped.annotators, strict=True)):
        yield "duplicate_evidence"
    if any(not a.strings and a.kind != "unanswerable" for a, _ in pairs):
        yield "annotator_without_evidence"
    if 0 in mapped.union:
        yield "abstract"
    if 0 in mapped.union and 0 in _repeats(paper, str):
        yield "abstract_equals_paragraph"
    elif set(mapped.union) & _repeats(paper, str):
        yield "equal_paragraphs"
    if set(mapped.union) & (_repeats(paper, evidence.fold) - _repeats(paper, str)):
        yield "equal_paragraphs_but_for_white_space"


TOLD = frozenset(
    "exact stripped folded none inside_paragraph unanswerable float_only no_text_evidence unmatched_only "
    "float_only_annotator float_beside_text section_name section_name_beside_text unmatched_beside_text two_annotators "
    "disjoint_annotators one_of_two_unanswerable annotator_without_text_evidence several_paragraphs duplicate_evidence "
    "annotator_without_evidence abstract abstract_equals_paragraph equal_paragraphs equal_paragraphs_but_for_white_space".split()
)


def test_each_question_has_the_troubles_that_it_was_made_to_have(
    mapped: Mapping[str, tuple[Paper, Question, Mapped]], troubles: Mapping[str, list[str]]
) -> None:
    for name, (paper, question, found) in mapped.items():
        assert (name, set(_found(paper, question, found))) == (name, set(troubles.get(name, [])) & TOLD)


def test_every_trouble_is_there(invented: Dataset, troubles: Mapping[str, list[str]]) -> None:
    ids = {each.id for each in invented.papers} | {q.id for paper in invented.papers for q in paper.questions}
    assert set(troubles) <= ids
    assert set(Counter(kind for kinds in troubles.values() for kind in kinds)) >= TOLD


def test_evidence_of_another_paper_maps_to_nothing(
    invented: Dataset, mapped: Mapping[str, tuple[Paper, Question, Mapped]], troubles: Mapping[str, list[str]]
) -> None:
    (name,) = (name for name, kinds in troubles.items() if "evidence_of_another_paper" in kinds)
    paper, question, found = mapped[name]
    (string,) = (
        each for answer in question.annotators for each in answer.strings if Mapper(paper).find(each)[0] == "none"
    )
    assert any(Mapper(other).find(string)[0] == "exact" for other in invented.papers if other is not paper)
    assert (found.unmatched, found.excluded) == (1, None)


# QASPER, as its numbers are known


@needs_qasper
@pytest.mark.parametrize(
    ("split", "steps", "percent"),
    [
        ("train", {"exact": 3534, "stripped": 119, "folded": 23, "section_name": 147, "float": 386}, (924, 956)),
        ("validation", {"exact": 2349, "stripped": 72, "folded": 5, "section_name": 129, "float": 253}, (919, 948)),
    ],
)
def test_the_steps_of_qasper(split: str, steps: Mapping[str, int], percent: tuple[int, int]) -> None:
    found, excluded, scored = evidence.count(papers.load("qasper", split).papers)
    assert found == {"inside": 0, "none": 0, **steps}
    text = sum(found.values()) - found["float"]
    assert text == {"train": 3823, "validation": 2555}[split]
    equal = found["exact"], found["exact"] + found["stripped"]
    assert tuple((2000 * each + text) // (2 * text) for each in equal) == percent  # in thousandths, rounded
    assert excluded["unmatched_only"] == 0
    assert scored + sum(excluded.values()) == {"train": 2593, "validation": 1005}[split]
