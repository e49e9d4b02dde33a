"""From a context to a question's figures: what is asked of `cover`, and how its replies are counted (spec 16).

A context is measured in code points for hits, and in tokens for precision and token shares: there piece i is the range
[tokens before it, tokens up to it), and evidence is the pieces whose first code point lies in a paragraph.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from chunkproof.experiment.evidence import Mapped
from chunkproof.experiment.figures import MINIMUMS, Fraction, QuestionFigures
from chunkproof.experiment.papers import Paper
from chunkproof.experiment.policies import Outline
from chunkproof.replies import Json


@dataclass(frozen=True)
class Context:
    """What a `fill` gave: runs of pieces, ascending; tokens with headings; `extra`, those of headings alone."""

    runs: tuple[tuple[int, int], ...]
    tokens: int
    extra: int
    chunks: int
    full: bool

    def points(self, outline: Outline) -> list[tuple[int, int]]:
        """The context as ranges of code points."""
        return [(outline.starts[first], outline.ends[last - 1]) for first, last in self.runs]


def wanted(
    paper: Paper, outline: Outline, context: Context, evidence: Mapped, minimum: int, *, more: bool
) -> dict[str, Json]:
    """The `cover` requests of a context: `hits`, `tokens`, and with `more` each of the other minimums.

    The evidence ranges are the paragraphs of the union, ascending.
    """
    shown = _ranges(context.points(outline))
    places = [paper.paragraphs[number] for number in evidence.union]
    texts = [{"start": place.start, "end": place.end} for place in places]
    sums = outline.sums
    by_tokens = _ranges([(sums[first], sums[last]) for first, last in context.runs])
    runs = [outline.run(place.start, place.end) for place in places]
    tokens = _ranges([(sums[first], sums[last]) for first, last in runs])
    asked = {
        "hits": {"op": "cover", "context": shown, "evidence": texts, "minimum": minimum},
        "tokens": {"op": "cover", "context": by_tokens, "evidence": tokens, "minimum": 1},
    }
    if more:
        for name in MINIMUMS:
            least = 1 if name == "1" else name
            asked[name] = {"op": "cover", "context": shown, "evidence": texts, "minimum": least}
    return asked


def _ranges(pairs: Sequence[tuple[int, int]]) -> list[dict[str, int]]:
    """Pairs as ranges; an empty one is none."""
    return [{"start": start, "end": end} for start, end in pairs if start < end]


def score(
    paper: Paper, outline: Outline, context: Context, evidence: Mapped, replies: Mapping[str, Json]
) -> QuestionFigures:
    """A question's figures from the replies to `wanted`."""
    union = evidence.union
    hits = dict(zip(union, replies["hits"]["hits"], strict=True))
    sizes = {}
    for number in union:
        first, last = outline.run(paper.paragraphs[number].start, paper.paragraphs[number].end)
        sizes[number] = outline.sums[last] - outline.sums[first]
    overlaps = iter(replies["tokens"]["overlaps"])
    shown = {number: next(overlaps) if sizes[number] else 0 for number in union}
    sets = [each.paragraphs for each in evidence.scored]
    whole = [each.paragraphs for each in evidence.scored if not each.unmatched]
    strict = int(all(hits.values()))
    return QuestionFigures(
        any=_any(sets, hits),
        strict=strict,
        any_missed=_any(whole, hits),
        strict_missed=strict if not evidence.unmatched else 0,
        any_share=_best([(sum(hits[number] for number in each), len(each)) for each in sets]),
        strict_share=(sum(hits.values()), len(union)),
        any_tokens=_best([_share(each, shown, sizes) for each in sets]),
        strict_tokens=_share(union, shown, sizes),
        precision=(sum(shown.values()), context.tokens) if context.tokens else (0, 1),
        chunks=context.chunks,
        tokens=context.tokens,
        full=context.full,
        any_at={
            name: _any(sets, dict(zip(union, replies[name]["hits"], strict=True)))
            for name in MINIMUMS
            if name in replies
        },
    )


def _any(sets: Sequence[Sequence[int]], hits: Mapping[int, bool]) -> int:
    """1 if all of some set is hit. No set is empty."""
    return int(any(all(hits[number] for number in each) for each in sets))


def _share(numbers: Sequence[int], shown: Mapping[int, int], sizes: Mapping[int, int]) -> Fraction:
    return sum(shown[number] for number in numbers), max(1, sum(sizes[number] for number in numbers))


def _best(shares: Sequence[Fraction]) -> Fraction:
    """The greatest fraction, the first of equal ones."""
    best = shares[0]
    for share in shares[1:]:
        if share[0] * best[1] > best[0] * share[1]:
            best = share
    return best
