"""Windows of at most S tokens, each sharing at most O tokens with the one before (spec 06)."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from chunkproof.errors import Refused
from chunkproof.pieces import Pieces
from chunkproof.pieces import pieces as cut

Run = tuple[int, int]
"""Consecutive pieces, first … last − 1."""


class Chunk(NamedTuple):
    """A range of the text in code points, and its cost in tokens."""

    start: int
    end: int
    tokens: int


def chunk(pieces: Pieces | str, size: int, overlap: int = 0) -> list[Chunk]:
    """The fixed chunks of a text, or of its pieces: `size` and `overlap` in tokens.

    `bad_setting` where size < 1, overlap < 0 or overlap ≥ size (rule 5).
    """
    check_size(size)
    if not 0 <= overlap < size:
        raise Refused("bad_setting", f"overlap {overlap} must be at least 0 and below size {size}")
    if isinstance(pieces, str):
        pieces = cut(pieces)
    return list(chunks(pieces, windows(pieces, (0, len(pieces)), size, overlap)))


def windows(pieces: Pieces, run: Run, size: int, overlap: int = 0) -> Iterator[Run]:
    """Rules 1 to 4, on a run of pieces."""
    totals = pieces.totals
    first, last = run
    while first < last:
        # The largest end for which the sum stays within the size, but at least one piece.
        end = max(bisect_right(totals, totals[first] + size, first, last + 1) - 1, first + 1)
        yield first, end
        if end == last:
            return
        # Always beyond the last start, so the rule ends; before a piece larger than size − overlap the next window
        # may lie wholly inside this one, which published figures count too.
        first = bisect_left(totals, totals[end] - overlap, first + 1, end)


def chunks(pieces: Pieces, runs: Iterable[Run]) -> Iterator[Chunk]:
    """Runs of pieces as chunks, made as they are asked for: small chunks of a large text are many."""
    for first, last in runs:
        yield Chunk(pieces.start(first), pieces.ends[last - 1], pieces.cost(first, last))


def check_size(size: int) -> None:
    """`bad_setting` where a size is below 1, `bad_request` where it is no integer."""
    if type(size) is not int:  # also True, which is no number here
        raise Refused("bad_request", f"size {size!r} must be an integer")
    if size < 1:
        raise Refused("bad_setting", f"size {size} must be at least 1")
