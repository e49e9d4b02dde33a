"""Counting by another tokenizer: MiniLM's word pieces in place of the engines' tokens (spec 16 § Robustness).

The pieces of a text stay as an engine cut them; what changes is what each costs. So the fixed windows are cut here, by 06 on those
counts, since an engine counts by its own tokenizer alone.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from chunkproof import datasets, minilm
from chunkproof.experiment import asking
from chunkproof.experiment.asking import Cut, Log
from chunkproof.experiment.papers import Paper
from chunkproof.experiment.policies import Chunk, Outline, chunks_of
from chunkproof.experiment.protocol import Protocol


class WordPieces:
    """The tokenizer, loaded. `[CLS]` and `[SEP]` are not counted: they frame an input and are no part of a text.

    Raises Problem where its file is not there or is another.
    """

    def __init__(self) -> None:
        self._tokenizer: Any = minilm.tokenizer(datasets.path("minilm-tokenizer"))

    def starts(self, text: str) -> list[int]:
        """Where each word piece of a text starts, in code points, ascending."""
        return [start for start, _ in self._tokenizer.encode(text, add_special_tokens=False).offsets]

    def cut(self, log: Log, paper: Paper, protocol: Protocol) -> Cut:
        """As `asking.cut`, with word pieces for tokens: in sizes, overlaps and the cost of headings."""
        asked = tuple(policy for policy in protocol.policies if policy.kind != "fixed")
        given = asking.cut(log, paper, replace(protocol, policies=asked)).outline
        headings = {name: len(self.starts(name)) for name in given.headings}
        counts = assigned(self.starts(paper.text), given.starts)
        outline = Outline(given.starts, given.ends, counts, given.sentences, headings)
        return Cut(
            outline,
            {
                policy.name: [Chunk(*run) for run in windows(outline, policy.size, policy.overlap)]
                if policy.kind == "fixed"
                else chunks_of(policy, paper, outline)
                for policy in protocol.policies
            },
        )


def assigned(points: Sequence[int], starts: Sequence[int]) -> list[int]:
    """How many of the points, ascending code points, lie in each piece: from its start to the next one's."""
    edges = [bisect_left(points, start) for start in starts]
    return [after - before for before, after in zip(edges, [*edges[1:], len(points)], strict=True)]


def windows(outline: Outline, size: int, overlap: int) -> list[tuple[int, int]]:
    """The runs of pieces of 06 rules 1 to 4, on an outline's counts, which may be 0."""
    sums, count = outline.sums, len(outline.tokens)
    runs: list[tuple[int, int]] = []
    first = 0
    while first < count:
        last = max(bisect_right(sums, sums[first] + size) - 1, first + 1)
        runs.append((first, last))
        if last == count:
            break
        first = max(bisect_left(sums, sums[last] - overlap), first + 1)
    return runs
