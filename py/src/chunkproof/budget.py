"""Which pieces a token budget holds when ranked chunks are taken in order, and which evidence that shows (spec 13)."""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import Literal, NamedTuple

from chunkproof.fixed import Run

Range = tuple[int, int]
"""`[start, end)` in code points."""
Minimum = int | Literal["half", "all"]


class Filled(NamedTuple):
    """What a budget holds."""

    context: list[Run]
    """Maximal runs of pieces, ascending."""
    tokens: int
    """The cost of it all, headings included."""
    extra: int
    """The part of it that headings cost."""
    chunks: int
    full: bool


class Covered(NamedTuple):
    """Of each evidence range, how many code points the context shows, and whether that is enough."""

    overlaps: list[int]
    hits: list[bool]


def fill(tokens: Sequence[int], chunks: Sequence[tuple[int, int, int]], ranking: Iterable[int], budget: int) -> Filled:
    """Rules 1 to 5. `tokens` has a count for each piece; a chunk is the pieces `[from, to)` and its `extra` tokens.

    Linear in pieces and ranked chunks, however much chunks overlap: no piece of the context is looked at again.
    """
    free = list(range(len(tokens) + 1))  # free[i] ≤ the first piece from i on that is not in the context

    def first(piece: int) -> int:
        while free[piece] != piece:
            free[piece] = free[free[piece]]
            piece = free[piece]
        return piece

    cost = extra = counted = 0
    full = False
    context: list[int] = []
    for chunk in ranking:
        start, end, heading = chunks[chunk]
        piece = first(start)
        if piece >= end:
            continue  # rule 2
        new = []
        total = cost + heading
        while piece < end and total + tokens[piece] <= budget:
            new.append(piece)
            total += tokens[piece]
            piece = first(piece + 1)
        full = piece < end
        if new:
            for piece in new:
                free[piece] = piece + 1
            context += new
            cost, extra, counted = total, extra + heading, counted + 1
        if full:
            break
    return Filled(_runs(sorted(context)), cost, extra, counted, full)


def _runs(pieces: Iterable[int]) -> list[Run]:
    """The maximal runs of pieces that are given ascending."""
    runs: list[Run] = []
    start = end = -1
    for piece in pieces:
        if piece != end:
            if start >= 0:
                runs.append((start, end))
            start = piece
        end = piece + 1
    if start >= 0:
        runs.append((start, end))
    return runs


def cover(context: Iterable[Range], evidence: Iterable[Range], minimum: Minimum) -> Covered:
    """Rules 6 and 7: the code points of each evidence range that lie in the context's union, and whether it is hit."""
    starts, ends = _union(context)
    lengths = [0, *accumulate(end - start for start, end in zip(starts, ends, strict=True))]

    def before(point: int) -> int:
        """How many code points of the union lie before this one."""
        number = bisect_left(starts, point)
        return lengths[number] - (max(0, ends[number - 1] - point) if number else 0)

    overlaps, hits = [], []
    for start, end in evidence:
        overlap = before(end) - before(start)
        overlaps.append(overlap)
        hits.append(_enough(overlap, end - start, minimum))
    return Covered(overlaps, hits)


def _union(ranges: Iterable[Range]) -> tuple[list[int], list[int]]:
    """The starts and the ends of the ranges' union, apart and ascending."""
    starts: list[int] = []
    ends: list[int] = []
    for start, end in sorted(ranges):
        if ends and start <= ends[-1]:
            ends[-1] = max(ends[-1], end)
        else:
            starts.append(start)
            ends.append(end)
    return starts, ends


def _enough(overlap: int, length: int, minimum: Minimum) -> bool:
    if minimum == "half":
        return 2 * overlap >= length
    if minimum == "all":
        return overlap == length
    return overlap >= min(minimum, length)
