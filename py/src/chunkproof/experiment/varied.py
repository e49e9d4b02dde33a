"""A paper asked about with one thing varied: other counts, another ranking, another text (spec 16 § Robustness).

The steps are those of `asking`, of which a variation replaces the cut or the ranking. Only contexts of a budget are filled, and no
index is measured. A paper without a question that is scored is not asked about.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from chunkproof.experiment import asking
from chunkproof.experiment.asking import Cut, Log
from chunkproof.experiment.figures import PaperFigures
from chunkproof.experiment.papers import JOINT, Paper, Paragraph, is_white
from chunkproof.experiment.protocol import Protocol

Cutter = Callable[[Log, Paper, Protocol], Cut]
Ranker = Callable[[Log, Paper, Cut, Sequence[str], Protocol], dict[str, list[list[int]]]]


def ask_varied(
    log: Log, paper: Paper, protocol: Protocol, cutter: Cutter = asking.cut, ranker: Ranker = asking.rank
) -> PaperFigures:
    """The figures of a paper at the protocol's budgets."""
    asked = asking.scored(paper)
    if not asked:
        return PaperFigures(paper.id, paper.sha256, log.digest(), 0, 0, {}, ())
    done = cutter(log, paper, protocol)
    rankings = ranker(log, paper, done, [question.text for question, _ in asked], protocol)
    return asking.counted(log, paper, protocol.without_top_k(), done, rankings, {})


def with_headings(paper: Paper) -> Paper:
    """The same paper with each heading in its text, before the first paragraph that it stands over, joined by a blank line.

    The names are those that `headed` prepends; a name of white space alone is left out. Paragraphs only move: a heading is none, so
    it is never evidence.
    """
    parts: list[str] = []
    places: list[Paragraph] = []
    at = 0
    for number, paragraph in enumerate(paper.paragraphs):
        opens = number == 0 or paper.paragraphs[number - 1].section != paragraph.section
        heading = paper.heading(number) if opens else ""
        for text, is_paragraph in ((heading, False), (paper.paragraph(number), True)):
            if is_paragraph:
                places.append(Paragraph(at, at + len(text), paragraph.section))
            elif is_white(text):
                continue
            parts.append(text)
            at += len(text) + len(JOINT)
    return replace(paper, text=JOINT.join(parts), paragraphs=tuple(places))
