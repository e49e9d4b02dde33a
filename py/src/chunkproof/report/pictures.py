"""Pictures of single questions of the budget experiment: a paper, its evidence, and what each policy put into the budget."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from chunkproof.engines import TIMEOUT
from chunkproof.experiment import asking, looking, papers, protocol
from chunkproof.parity import Command

MANY = 12
"""How many papers are shown at most, one question of each: enough to leaf through."""


def collect(folder: Path, engines: Sequence[Command], timeout: float = TIMEOUT) -> list[dict[str, Any]]:
    """The first scored question of each paper of a folder, at the protocol's smallest budget, where policies differ most.

    Ranges are code points of the paper, half-open.
    """
    rules = protocol.load()
    rules = rules.with_budgets([min(rules.budgets)])
    made = []
    for paper in papers.load(str(folder)).papers[:MANY]:
        first = next((question.id for question, _ in asking.scored(paper)), None)
        if first is not None:
            made += [_picture(each) for each in looking.look(paper, [first], rules, engines, timeout)]
    return made


def _picture(look: looking.Look) -> dict[str, Any]:
    evidence = [look.paper.paragraphs[index] for index in look.evidence.union]
    return {
        "paper": look.paper.id,
        "title": look.paper.title,
        "question": look.question.text,
        "budget": look.shown[0].budget,
        "length": len(look.paper.text),
        "evidence": [[each.start, each.end] for each in evidence],
        "policies": [
            {
                "policy": shown.policy,
                "context": [list(span) for span in shown.ranges],
                "tokens": shown.figures.tokens,
                "any": shown.figures.any,
                "strict": shown.figures.strict,
            }
            for shown in look.shown
        ],
    }
