"""Chunks that break where neighbouring sentences are least alike, relative to the document itself (spec 08)."""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from chunkproof import numerics
from chunkproof.errors import Refused
from chunkproof.fixed import Chunk, Run, check_size, chunks, windows
from chunkproof.pieces import Pieces
from chunkproof.pieces import pieces as cut
from chunkproof.recursive import merge
from chunkproof.text import Rule, sentence_starts
from chunkproof.vectors import Matrix, cosines


class Semantic(NamedTuple):
    """The chunks, and what they rest on."""

    chunks: list[Chunk]
    similarities: list[float]
    """Of each sentence to the next."""
    threshold: float | None
    """None where there are no similarities."""


def similarities(vectors: Matrix | Sequence[Sequence[int]]) -> list[float]:
    """Rule 2: the cosine of each int8 vector and the next."""
    rows = np.asarray(vectors, np.int64)
    if len(rows) < 2:
        return []
    dots = (rows[:-1] * rows[1:]).sum(axis=1)
    squares = (rows * rows).sum(axis=1)
    found: list[float] = cosines(dots, squares[:-1], squares[1:]).tolist()
    return found


def threshold(similarities: Sequence[float], percentile: int = 25) -> float | None:
    """Rule 3: the nearest-rank percentile of a document's own similarities."""
    return numerics.percentile(similarities, percentile)


def chunk(
    text: str,
    pieces: Pieces | None,
    vectors: Matrix | Sequence[Sequence[int]],
    size: int,
    percentile: int = 25,
    rule: Rule = "blank_line",
) -> Semantic:
    """The semantic chunks of a text, which tile it: one int8 vector for each of its sentences under `rule`.

    `bad_setting` where size < 1 or the percentile is outside 0 … 100, `bad_vectors` at another number of vectors.
    """
    check_size(size)
    if not 0 <= percentile <= 100:
        raise Refused("bad_setting", f"percentile {percentile} must be 0 to 100")
    if pieces is None:
        pieces = cut(text)
    starts = sentence_starts(text, pieces, rule)
    if len(starts) != len(vectors):
        raise Refused("bad_vectors", f"{len(vectors)} vectors for {len(starts)} sentences")
    alike = similarities(vectors)
    limit = threshold(alike, percentile)

    runs: list[Run] = []
    group: list[Run] = []  # sentences that may merge: no break and no window between them

    def close() -> None:
        runs.extend(merge(pieces, group, size))
        group.clear()

    for i, sentence in enumerate(pairwise([*starts, len(pieces)])):
        if i and limit is not None and alike[i - 1] <= limit:
            close()
        if pieces.cost(*sentence) <= size:
            group.append(sentence)
        else:
            close()
            runs.extend(windows(pieces, sentence, size))
    close()
    return Semantic(list(chunks(pieces, runs)), alike, limit)
