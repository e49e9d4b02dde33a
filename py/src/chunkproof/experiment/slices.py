"""Slices of the questions: by answer, number of evidence paragraphs, section and place in the paper.

The classes are those of spec 16. Each cut of the questions is a partition, so its slices add up to the whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from chunkproof.audit.arithmetic import Calculator, exact
from chunkproof.experiment import decision
from chunkproof.experiment.decision import Units

if TYPE_CHECKING:
    from chunkproof.experiment.evidence import Mapped
    from chunkproof.experiment.papers import Paper, Question

CUTS: Mapping[str, tuple[str, ...]] = {
    "answer": ("extractive", "yes_no", "free_form", "mixed"),
    "evidence": ("one", "several"),
    "section": ("introduction", "related work", "method", "results", "other", "several"),
    "position": ("first third", "middle third", "last third"),
}
_FORMS = set(CUTS["answer"])
_WORDS = (
    ("introduction", ("introduction",)),
    ("related work", ("related", "background", "previous work")),
    ("results", ("result", "experiment", "evaluation", "analysis", "discussion")),
    ("method", ("method", "model", "approach", "architecture", "data", "corpus", "system")),
)
NAMED = {
    ("answer", "extractive"): "questions answered by a stretch of the paper",
    ("answer", "yes_no"): "yes/no questions",
    ("answer", "free_form"): "questions answered in free words",
    ("answer", "mixed"): "questions whose annotators answered in different forms",
    ("evidence", "one"): "questions with one evidence paragraph",
    ("evidence", "several"): "questions with several evidence paragraphs",
    ("section", "several"): "questions whose evidence lies in sections of more than one class",
    ("section", "other"): "questions whose evidence lies in sections of no named class, the abstract among them",
}


def section_class(name: str) -> str:
    """The class of a section by its name: the first of the rule's lists that has a word in the part before ` ::: `."""
    top = name.split(" ::: ")[0].lower()
    return next((kind for kind, words in _WORDS if any(word in top for word in words)), "other")


def traits(paper: Paper, question: Question, mapped: Mapped) -> dict[str, str]:
    """In which slice of each cut a question with evidence in the text is."""
    pairs = zip(question.annotators, mapped.annotators, strict=True)
    kinds = {annotator.kind for annotator, found in pairs if found.paragraphs}
    union = sorted({place for each in mapped.annotators for place in each.paragraphs})
    classes = {_class_of(paper, place) for place in union}
    third = 3 * paper.paragraphs[union[0]].start // len(paper.text)
    return {
        "answer": next(iter(kinds)) if len(kinds) == 1 and kinds <= _FORMS else "mixed",
        "evidence": "one" if len(union) == 1 else "several",
        "section": classes.pop() if len(classes) == 1 else "several",
        "position": CUTS["position"][third],
    }


def _class_of(paper: Paper, place: int) -> str:
    section = paper.paragraphs[place].section
    return "other" if section is None else section_class(paper.sections[section].name)


@dataclass(frozen=True)
class Slice:
    """Covered questions of each policy in one slice, at the budget of the decision."""

    cut: str
    name: str
    papers: int
    questions: int
    covered: Mapping[str, int]
    winners: tuple[str, ...]
    paragraph: str | None
    """What it says, where the winner is another than over all questions."""


def make(
    questions: Sequence[Sequence[tuple[Mapping[str, str], Mapping[str, int]]]],
    overall: Mapping[str, Units],
    budget: int,
    calculator: Calculator,
    order: Iterable[str] | None = None,
) -> list[Slice]:
    """The slices. `questions` has, for each paper, the traits of each question and whether each policy covers it."""
    best = decision.winners(overall)
    made = []
    for cut, names in CUTS.items():
        for name in names:
            units = _units(questions, overall, cut, name)
            asked = decision.total(next(iter(units.values())))[1]
            if not asked:
                continue
            found = decision.winners(units)
            changed = None
            if not set(found) & set(best):
                changed = _paragraph(cut, name, units, found[0], best[0], budget, calculator)
            covered = {policy: decision.total(each)[0] for policy, each in units.items()}
            papers = len(next(iter(units.values())))
            made.append(Slice(cut, name, papers, asked, covered, tuple(found), changed))
    return made


def _units(
    questions: Sequence[Sequence[tuple[Mapping[str, str], Mapping[str, int]]]],
    policies: Iterable[str],
    cut: str,
    name: str,
) -> dict[str, Units]:
    """Of each policy: covered and asked in each paper that has a question of the slice."""
    kept = [[covered for traits, covered in paper if traits[cut] == name] for paper in questions]
    return {
        policy: [(sum(covered[policy] for covered in paper), len(paper)) for paper in kept if paper]
        for policy in policies
    }


def described(cut: str, name: str) -> str:
    """A slice in words."""
    if cut == "section":
        return NAMED.get((cut, name), f"questions whose evidence lies in sections on {name}")
    return NAMED.get((cut, name), f"questions whose first evidence lies in the {name} of the paper")


def _paragraph(
    cut: str, name: str, units: Mapping[str, Units], here: str, overall: str, budget: int, calculator: Calculator
) -> str:
    """What a slice says whose winner is another, and whether its papers are enough to say it."""
    (covered, asked), (other, _) = decision.total(units[here]), decision.total(units[overall])
    ok = calculator.one(f"{here} against {overall} on {name}", decision.request(units[here], units[overall]))
    ends = calculator.printed((each, decision.DECIMALS) for each in (ok["difference"], *ok["interval"]))
    difference, low, high = map(decision.signed, ends)
    lower = exact(ok["interval"][0])
    verdict = (
        "This slice's papers, drawn again, keep it above 0"
        if lower > 0
        else "The interval holds 0, so these papers do not show that the order differs here"
    )
    return (
        f"Of the {asked:,} {described(cut, name)}, {here} covers {covered:,} at {budget:,} tokens and {overall}, which is "
        f"ahead over all questions, {other:,}: a difference of {difference}, 95 % interval {low} to {high}. "
        f"{verdict}; many slices were looked at."
    )
