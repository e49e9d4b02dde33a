"""The policies: how each cuts a paper's text into chunks, every chunk a run of the text's pieces (spec 16).

A chunk's passage, which is indexed, is the text from its first piece to its last, after the heading where the policy prepends one.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from chunkproof.experiment.papers import Paper
from chunkproof.experiment.protocol import Policy


class Chunk(NamedTuple):
    """The pieces `[first, last)` with what the heading before them costs, in tokens."""

    first: int
    last: int
    extra: int = 0
    heading: str = ""


@dataclass(frozen=True)
class Outline:
    """What an engine says about a paper's text: its pieces and where sentences start.

    `starts` and `ends` are code points of each piece, `tokens` its cost, `sentences` the pieces that start a sentence.
    """

    starts: Sequence[int]
    ends: Sequence[int]
    tokens: Sequence[int]
    sentences: Sequence[int] = ()
    headings: dict[str, int] = field(default_factory=dict)
    """What each heading costs, counted by itself."""
    sums: list[int] = field(default_factory=lambda: [0])
    """Tokens before each piece, and of all."""

    def __post_init__(self) -> None:
        for count in self.tokens:
            self.sums.append(self.sums[-1] + count)

    def holding(self, point: int) -> int:
        """The piece that holds a code point."""
        return bisect_right(self.starts, point) - 1

    def run(self, start: int, end: int) -> tuple[int, int]:
        """The pieces whose first code point lies in a range of code points; they may be none."""
        return bisect_left(self.starts, start), bisect_left(self.starts, end)

    def cost(self, chunk: Chunk) -> int:
        """A chunk's tokens, heading included."""
        return self.sums[chunk.last] - self.sums[chunk.first] + chunk.extra


def heading_of(paper: Paper, paragraph: int) -> str:
    """What `headed` prepends to a paragraph: its section's name and a line end; nothing where the name is empty."""
    name = paper.heading(paragraph)
    return f"{name}\n" if name else ""


def headings(paper: Paper) -> list[str]:
    """The distinct headings of a paper that are not empty, in order."""
    found = dict.fromkeys(heading_of(paper, number) for number in range(len(paper.paragraphs)))
    return [heading for heading in found if heading]


def paragraph_runs(paper: Paper, outline: Outline) -> list[tuple[int, int]]:
    """The run of each paragraph: from the piece that holds its first code point to the one before the next paragraph's.

    Where two paragraphs start in one piece the earlier one's run is empty: its piece is the later one's.
    """
    starts = [outline.holding(paragraph.start) for paragraph in paper.paragraphs]
    return list(zip(starts, [*starts[1:], len(outline.tokens)], strict=True))


def chunks_of(policy: Policy, paper: Paper, outline: Outline, fixed: Sequence[tuple[int, int]] = ()) -> list[Chunk]:
    """The chunks of a policy. `fixed` is what the engine's chunker gave, in code points, for a policy that it cuts."""
    if policy.kind == "fixed":
        return [Chunk(outline.holding(start), outline.holding(end - 1) + 1) for start, end in fixed]
    if policy.kind == "first":
        return [Chunk(0, len(outline.tokens))] if outline.tokens else []
    runs = paragraph_runs(paper, outline)
    if policy.kind == "sentences":
        return [window for run in runs for window in _windows(run, outline, policy.neighbours)]
    if policy.kind == "paragraphs":
        return [Chunk(first, last) for first, last in runs if first < last]
    names = [heading_of(paper, number) for number in range(len(runs))]
    return [
        Chunk(first, last, outline.headings[name] if name else 0, name)
        for (first, last), name in zip(runs, names, strict=True)
        if first < last
    ]


def _windows(run: tuple[int, int], outline: Outline, neighbours: int) -> list[Chunk]:
    """A window for each sentence of a paragraph, with its neighbours there. Sentences are cut at the paragraph's borders."""
    first, last = run
    if first == last:
        return []
    inner = outline.sentences[bisect_right(outline.sentences, first) : bisect_left(outline.sentences, last)]
    edges = [first, *inner, last]
    count = len(edges) - 1
    return [Chunk(edges[max(0, i - neighbours)], edges[min(count, i + neighbours + 1)]) for i in range(count)]


def passage(text: str, outline: Outline, chunk: Chunk) -> str:
    """What of a chunk is indexed."""
    return chunk.heading + text[outline.starts[chunk.first] : outline.ends[chunk.last - 1]]
