"""Misses, made readable: a question, the evidence that its context lacks, and what filled the budget instead.

Which questions are missed comes from a run's figures; both engines are asked again for the contexts of those that are shown.
"""

from __future__ import annotations

import io
import json
import textwrap
from collections.abc import Iterator, Sequence
from typing import Any

from chunkproof import numerics
from chunkproof.engines import TIMEOUT
from chunkproof.experiment.explore import visible
from chunkproof.experiment.looking import Look, Shown, look_all
from chunkproof.experiment.papers import Paper
from chunkproof.experiment.running import Ran
from chunkproof.parity import Command
from chunkproof.problems import Problem

FORMATS = ("text", "json")
_WIDTH = 100
_EXCERPT = 240
"""Code points of a paragraph that are printed."""
Place = tuple[int, str]
"""A paper, by its place among those that were run, and a question's id."""


def missed(ran: Ran, policy: str, budget: int, measure: str = "any") -> list[Place]:
    """The questions that are not covered, in the order of the papers. `measure` is a rate of the figures."""
    ran.protocol.only([policy])  # names the policies there are, if it isn't one
    if budget not in ran.protocol.budgets:
        known = ", ".join(f"{each:,}" for each in ran.protocol.budgets)
        raise Problem(f"{budget:,} tokens is not among the budgets that were run: {known}")
    return [
        (number, question.id)
        for number, paper in enumerate(ran.papers)
        for question in paper.questions
        if not getattr(question.at[policy, budget], measure)
    ]


def make(
    papers: Sequence[Paper],
    ran: Ran,
    policy: str,
    budget: int,
    count: int,
    engines: Sequence[Command],
    seed: int = 1,
    timeout: float = TIMEOUT,
) -> dict[str, Any]:
    """`count` of the questions that the policy misses, drawn with the seed by the spec's sample (03 rule 9), as JSON.

    Raises Problem for a policy or budget that was not run; EngineFailure and Differs as a run does.
    """
    if count < 1:
        raise Problem(f"--count {count} must be at least 1")
    found = missed(ran, policy, budget)
    drawn = [found[n] for n in numerics.sample(seed, len(found), min(count, len(found)))] if found else []
    wanted: dict[int, list[str]] = {}
    for number, name in drawn:
        wanted.setdefault(number, []).append(name)
    protocol = ran.protocol.only([policy]).with_budgets([budget]).without_top_k()
    looks = look_all([(papers[number], names) for number, names in wanted.items()], protocol, engines, timeout)
    return {
        "policy": policy,
        "budget": budget,
        "questions": sum(len(paper.questions) for paper in ran.papers),
        "missed": len(found),
        "seed": seed,
        "shown": [_miss(look, look.shown[0]) for look in looks],
    }


def _miss(look: Look, shown: Shown) -> dict[str, Any]:
    paper = look.paper
    return {
        "paper": paper.id,
        "title": paper.title,
        "question": look.question.id,
        "text": look.question.text,
        "answers": [answer.kind for answer in look.question.annotators],
        "annotators": [list(each.paragraphs) for each in look.evidence.annotators],
        "unmatched": look.evidence.unmatched,
        "evidence": [
            {
                **_described(paper, number),
                "hit": shown.hits[number],
                "code_points": paper.paragraphs[number].end - paper.paragraphs[number].start,
                "shown": shown.overlaps[number],
                "rank": _rank(paper, number, shown),
            }
            for number in look.evidence.union
        ],
        "context": {
            "tokens": shown.figures.tokens,
            "heading_tokens": shown.extra,
            "chunks": shown.figures.chunks,
            "of": len(shown.ranked),
            "full": shown.figures.full,
            "filled_by": list(_filled(paper, shown)),
        },
    }


def _described(paper: Paper, number: int) -> dict[str, Any]:
    return {"paragraph": number, "section": paper.heading(number), "text": paper.paragraph(number)}


def _rank(paper: Paper, number: int, shown: Shown) -> int | None:
    """Where the first chunk with a part of the paragraph stands in the ranking, from 1."""
    place = paper.paragraphs[number]
    ranks = (rank for rank, (start, end) in enumerate(shown.ranked, 1) if start < place.end and place.start < end)
    return next(ranks, None)


def _filled(paper: Paper, shown: Shown) -> Iterator[dict[str, Any]]:
    """The paragraphs of which the context has a part, in the order of the ranking, with how many code points it has of each."""
    parts = []
    for number, place in enumerate(paper.paragraphs):
        pairs = [(max(start, place.start), min(end, place.end)) for start, end in shown.ranges]
        if (points := sum(max(0, end - start) for start, end in pairs)) > 0:
            parts.append((_rank(paper, number, shown) or 0, number, points))
    for rank, number, points in sorted(parts):
        size = paper.paragraphs[number].end - paper.paragraphs[number].start
        yield {**_described(paper, number), "code_points": size, "shown": points, "rank": rank}


# Printing


def render(found: dict[str, Any], form: str) -> str:
    """What `make` gave, in one of FORMATS, ending in a line end."""
    if form == "json":
        return json.dumps(found, ensure_ascii=False, indent=1) + "\n"
    out = io.StringIO()
    out.write(
        f"{found['policy']} at {found['budget']:,} tokens misses {found['missed']:,} of {found['questions']:,} questions; "
        f"{len(found['shown']):,} of them, drawn with seed {found['seed']}:\n"
    )
    for number, each in enumerate(found["shown"], 1):
        out.write("\n" + "\n".join(_lines(number, each)) + "\n")
    return out.getvalue()


def _lines(number: int, miss: dict[str, Any]) -> Iterator[str]:
    yield f"{number}. {visible(miss['text'], 400)}"
    yield f"   {visible(miss['paper'])}, {visible(miss['title'])}; question {visible(miss['question'])}"
    sets = "; ".join(", ".join(map(str, each)) or "none" for each in miss["annotators"])
    lost = f"; strings that are in no paragraph: {miss['unmatched']}" if miss["unmatched"] else ""
    yield f"   evidence by annotator, in paragraphs: {sets}{lost}"
    for each in miss["evidence"]:
        rank = "" if each["rank"] is None else f", first chunk ranked {each['rank']:,} of {miss['context']['of']:,}"
        what = f"{'hit' if each['hit'] else 'missed'}, {each['shown']:,} of {each['code_points']:,} code points{rank}"
        yield from _paragraph("✓" if each["hit"] else "✗", each, what)
    context = miss["context"]
    ended = "; the last was cut" if context["full"] else ""
    yield f"   what filled the budget: {context['chunks']:,} chunks, {context['tokens']:,} tokens{ended}"
    for each in context["filled_by"]:
        yield from _paragraph(
            "·", each, f"ranked {each['rank']:,}, {each['shown']:,} of {each['code_points']:,} code points"
        )


def _paragraph(mark: str, each: dict[str, Any], what: str) -> Iterator[str]:
    yield f"   {mark} paragraph {each['paragraph']} ({visible(each['section']) or 'no name'}): {what}"
    indent = " " * 7
    yield from textwrap.wrap(visible(each["text"], _EXCERPT), _WIDTH, initial_indent=indent, subsequent_indent=indent)
