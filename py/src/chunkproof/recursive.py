"""Chunks that keep paragraphs, then sentences, whole where they fit, and are filled up to S (spec 07)."""

from collections.abc import Iterable, Iterator
from itertools import pairwise

from chunkproof.fixed import Chunk, Run, check_size, chunks, windows
from chunkproof.pieces import Pieces
from chunkproof.pieces import pieces as cut
from chunkproof.text import Rule, paragraph_starts, sentence_starts_in


def leaves(text: str, pieces: Pieces, size: int, rule: Rule = "blank_line") -> Iterator[Run]:
    """Rule 1: paragraphs that fit; of longer ones sentences that fit; of longer ones fixed windows. In text order."""
    starts = paragraph_starts(text, pieces, rule)
    for paragraph in pairwise([*starts, len(pieces)]):
        if pieces.cost(*paragraph) <= size:
            yield paragraph
            continue
        for sentence in pairwise([*sentence_starts_in(text, pieces, paragraph, rule), paragraph[1]]):
            if pieces.cost(*sentence) <= size:
                yield sentence
            else:
                yield from windows(pieces, sentence, size)


def merge(pieces: Pieces, leaves: Iterable[Run], size: int) -> Iterator[Run]:
    """Rule 2: from left to right, a leaf joins the current run while the sum stays within the size."""
    current: Run | None = None
    for first, last in leaves:
        if current and pieces.cost(current[0], last) <= size:
            current = current[0], last
        else:
            if current:
                yield current
            current = first, last
    if current:
        yield current


def chunk(text: str, pieces: Pieces | None = None, size: int = 256, rule: Rule = "blank_line") -> list[Chunk]:
    """The recursive chunks of a text, which tile it; `size` in tokens. `bad_setting` where size < 1 (rule 3)."""
    check_size(size)
    if pieces is None:
        pieces = cut(text)
    return list(chunks(pieces, merge(pieces, leaves(text, pieces, size, rule), size)))
