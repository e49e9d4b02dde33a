"""Where annotated evidence stands in a paper, in named steps, and which questions are scored (spec 16 § Evidence)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from chunkproof.experiment.papers import WHITE, Paper, Question

STEPS = ("exact", "stripped", "folded", "section_name", "inside", "none", "float")
"""How a string of evidence was mapped, in the order in which the steps are tried; `float` is none of the text's."""
EXCLUDED = ("unanswerable", "float_only", "no_text_evidence", "unmatched_only")
"""Why a question is not scored, in the order in which the reasons are looked at."""
FLOAT = "FLOAT SELECTED"
_RUN = re.compile(f"[{re.escape(WHITE)}]+")


@dataclass(frozen=True)
class AnnotatorEvidence:
    """What an annotator's evidence comes to: distinct paragraphs, ascending, and how many strings are none."""

    paragraphs: tuple[int, ...]
    unmatched: int
    floats: int
    section_names: int
    kind: str

    @property
    def unanswerable(self) -> bool:
        """Whether this annotator found the question unanswerable."""
        return self.kind == "unanswerable"


@dataclass(frozen=True)
class Mapped:
    """The evidence of a question; `excluded` is one of EXCLUDED, or None if it is scored."""

    annotators: tuple[AnnotatorEvidence, ...]
    excluded: str | None
    steps: Counter[str]

    @property
    def scored(self) -> tuple[AnnotatorEvidence, ...]:
        """The annotators who have evidence in the text: the others are left out, never covered by vacuity."""
        return tuple(each for each in self.annotators if each.paragraphs)

    @property
    def union(self) -> tuple[int, ...]:
        """The paragraphs that anybody named, ascending."""
        return tuple(sorted({index for each in self.annotators for index in each.paragraphs}))

    @property
    def unmatched(self) -> int:
        """Strings of evidence that map to nothing, of all annotators."""
        return sum(each.unmatched for each in self.annotators)


class Mapper:
    """Maps strings to the paragraphs of one paper: the first of equal ones, by the first step that finds one."""

    def __init__(self, paper: Paper) -> None:
        self._texts = [paper.paragraph(index) for index in range(len(paper.paragraphs))]
        self._places: dict[str, dict[str, int]] = {}
        self._names = {
            fold(name)
            for name in (*(each.name for each in paper.sections), *(["Abstract"] if paper.has_abstract else []))
        } - {""}

    def find(self, string: str) -> tuple[str, int | None]:
        """The step that places a string of evidence, and the index of its paragraph, or None."""
        if FLOAT in string:  # as the data set's own evaluation has it
            return "float", None
        for name, form in _FORMS.items():
            index = self._by(name).get(form(string))
            if index is not None:
                return name, index
        wanted = fold(string)
        if wanted in self._names:
            return "section_name", None
        if wanted:
            for text, index in self._by("folded").items():  # distinct texts in the order of the paper
                if wanted in text:
                    return "inside", index
        return "none", None

    def _by(self, name: str) -> dict[str, int]:
        """The first paragraph of each form; most papers need the first step's alone, so it is made when asked for."""
        if name not in self._places:
            self._places[name] = _first([_FORMS[name](text) for text in self._texts])
        return self._places[name]


def strip(text: str) -> str:
    """Without the white space (spec 04) at its ends."""
    return text.strip(WHITE)


def fold(text: str) -> str:
    """Stripped, and each run of white space (spec 04) as one U+0020."""
    return _RUN.sub(" ", strip(text))


_FORMS: dict[str, Callable[[str], str]] = {"exact": str, "stripped": strip, "folded": fold}
"""The steps that look for an equal paragraph, in order."""


def _first(texts: Sequence[str]) -> dict[str, int]:
    places: dict[str, int] = {}
    for index, text in enumerate(texts):
        places.setdefault(text, index)
    return places


def map_evidence(paper: Paper, question: Question, mapper: Mapper | None = None) -> Mapped:
    """The evidence of a question, annotator by annotator, and whether it is scored."""
    mapper = mapper or Mapper(paper)
    steps: Counter[str] = Counter()
    found = []
    for annotator in question.annotators:
        placed = [mapper.find(string) for string in annotator.strings]
        counts = Counter(step for step, _ in placed)
        steps += counts
        indices = {index for _, index in placed if index is not None}
        found.append(
            AnnotatorEvidence(
                tuple(sorted(indices)), counts["none"], counts["float"], counts["section_name"], annotator.kind
            )
        )
    return Mapped(tuple(found), _excluded(found), steps)


def _excluded(annotators: Sequence[AnnotatorEvidence]) -> str | None:
    """Why a question is not scored. An unanswerable one may carry evidence all the same: it is excluded first."""
    if annotators and all(each.unanswerable for each in annotators):
        return "unanswerable"
    if any(each.paragraphs for each in annotators):
        return None
    if any(each.unmatched for each in annotators):
        return "unmatched_only"
    if any(each.floats for each in annotators) and not any(each.section_names for each in annotators):
        return "float_only"
    return "no_text_evidence"


def count(papers: Sequence[Paper]) -> tuple[dict[str, int], dict[str, int], int]:
    """Strings of evidence by step, questions excluded by reason, and how many are scored."""
    steps: Counter[str] = Counter()
    reasons: Counter[str | None] = Counter()
    for paper in papers:
        mapper = Mapper(paper)
        for question in paper.questions:
            mapped = map_evidence(paper, question, mapper)
            steps += mapped.steps
            reasons[mapped.excluded] += 1
    return {step: steps[step] for step in STEPS}, {why: reasons[why] for why in EXCLUDED}, reasons[None]
