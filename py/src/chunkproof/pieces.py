"""The atoms that every chunker cuts between, and what each costs (spec 05).

Units: offsets are code points of the document, costs are tokens of Qwen2.5's tokenizer. A piece's cost is known by
itself, so the cost of a run of pieces is a difference of two running totals.
"""

import functools
from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import accumulate
from typing import NamedTuple

import numpy as np
import regex
from tokenizers import Tokenizer

from chunkproof.resources import tokenizer_path
from chunkproof.text import INLINE_CLASS, WHITE_CLASS, Normal, nfc, stable

_PATTERN = regex.compile(
    r"'(?:[sSſtTmMdD]|[rR][eE]|[vV][eE]|[lL][lL])"  # a
    r"|[^\r\n\p{L}\p{N}]?\p{L}+"  # b
    r"|\p{N}"  # c
    rf"| ?[^{WHITE_CLASS}\p{{L}}\p{{N}}]+[\r\n]*"  # d
    rf"|[{WHITE_CLASS}]*[\r\n]+"  # e
    rf"|[{WHITE_CLASS}]+(?![^{WHITE_CLASS}])"  # f
    rf"|[{WHITE_CLASS}]+"  # g
)
"""Rule 2. `\\p{L}` and `\\p{N}` are asked only where all Unicode versions agree: see `text.stable`."""

_JOINT = regex.compile(
    r"\p{N}|\p{L}(?!\p{L})"
    rf"|[^{WHITE_CLASS}](?=[{INLINE_CLASS}])|[\r\n](?=[^{WHITE_CLASS}])"
)
"""A place where a match surely ends, whatever stands before and after: so a long text can be cut block by block."""

_BLOCK = 1 << 16
_CACHED_LENGTH = 64
_CACHED_PIECES = 1 << 18


class Piece(NamedTuple):
    """A range of the text in code points, and its cost in tokens."""

    start: int
    end: int
    tokens: int


@dataclass(frozen=True)
class Pieces:
    """A text's pieces, in two columns of four bytes a piece."""

    ends: "array[int]"
    """Where each piece ends; it starts where the one before ends."""
    totals: "array[int]"
    """`totals[i]` is the cost of the first i pieces: one entry more than `ends`, strictly ascending from 0."""

    @classmethod
    def of(cls, ends: Iterable[int], tokens: Iterable[int]) -> "Pieces":
        """From each piece's end and cost."""
        return cls(array("I", ends), array("I", accumulate(tokens, initial=0)))

    @property
    def tokens(self) -> "array[int]":
        """Each piece's cost."""
        return array("I", map(int.__sub__, self.totals[1:], self.totals))

    def start(self, piece: int) -> int:
        """Where a piece starts."""
        return self.ends[piece - 1] if piece else 0

    def cost(self, first: int, last: int) -> int:
        """The tokens of pieces first … last − 1."""
        return self.totals[last] - self.totals[first]

    def __len__(self) -> int:
        return len(self.ends)

    def __iter__(self) -> Iterator[Piece]:
        start = total = 0
        for end, upto in zip(self.ends, self.totals[1:], strict=True):
            yield Piece(start, end, upto - total)
            start, total = end, upto

    def __getitem__(self, piece: int) -> Piece:
        if not -len(self) <= piece < len(self):
            raise IndexError(piece)
        piece %= len(self)
        return Piece(self.start(piece), self.ends[piece], self.cost(piece, piece + 1))

    def at(self, offset: int) -> int:
        """The index of the piece that holds the code point at `offset`."""
        return bisect_right(self.ends, offset)


def pieces(text: str) -> Pieces:
    """Rules 2, 3 and 4: the pieces of a text. A lone surrogate is `bad_text`."""
    normal = nfc(text)
    cut = _matches(normal.text)
    return _to_source(cut, normal) if normal.starts else cut


def _matches(text: str) -> Pieces:
    """The matches of a text taken as it is, block by block: as objects they are ten times the text."""
    ends, totals = array("I"), array("I", (0,))
    seen = stable(text)
    counts = _counts()
    at, total = 0, 0
    while at < len(text):
        joint = _JOINT.search(seen, at + _BLOCK) if at + _BLOCK < len(text) else None
        stop = joint.end() if joint else len(text)
        found: list[str] = _PATTERN.findall(seen, at, stop)
        borders = at + np.cumsum(np.fromiter(map(len, found), np.int64, len(found)))
        if seen is not text:
            stops = borders.tolist()
            found = [text[start:end] for start, end in zip([at, *stops], stops, strict=False)]
        sums = total + np.cumsum(np.fromiter(map(counts.__getitem__, found), np.int64, len(found)))
        ends.frombytes(borders.astype(np.uint32).tobytes())
        totals.frombytes(sums.astype(np.uint32).tobytes())
        at, total = stop, int(sums[-1])
        if len(counts) > _CACHED_PIECES:
            counts.clear()
    return Pieces(ends, totals)


def _to_source(cut: Pieces, normal: Normal) -> Pieces:
    """Rule 3: keep the cuts that are positions of the source, and say where they lie there."""
    ends = np.frombuffer(cut.ends, np.uint32).astype(np.int64)
    starts, atom_ends, source_ends = (
        np.frombuffer(column, np.uint32).astype(np.int64) for column in (normal.starts, normal.ends, normal.source_ends)
    )
    atom = np.searchsorted(starts, ends) - 1  # the last atomic segment that starts before the cut, or −1
    after = atom >= 0
    kept = ~after | (ends >= atom_ends[atom])
    ends += np.where(after, (source_ends - atom_ends)[atom], 0)
    totals = np.frombuffer(cut.totals, np.uint32)[1:][kept]
    return Pieces(array("I", ends[kept].astype(np.uint32).tobytes()), array("I", (0,)) + array("I", totals.tobytes()))


class _Counts(dict[str, int]):
    """The cost of each match seen, worked out at the first time. A cache: it cannot change a reply."""

    def __missing__(self, match: str) -> int:
        tokens = _tokenize(match)
        if len(match) <= _CACHED_LENGTH:
            self[match] = tokens
        return tokens


@functools.cache
def _counts() -> _Counts:
    return _Counts()


@functools.cache
def _model() -> "Tokenizer":
    return Tokenizer.from_file(str(tokenizer_path()))


def _byte_characters() -> str:
    """ByteLevel: printable bytes of Latin-1 stand for themselves, the others for U+0100 onward."""
    printable = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    others = iter(range(0x100, 0x200))
    return "".join(chr(byte if byte in printable else next(others)) for byte in range(0x100))


_BYTES = _byte_characters()


def _tokenize(match: str) -> int:
    return len(_model().model.tokenize(match.encode("utf-8").decode("latin-1").translate(_BYTES)))


def count(match: str) -> int:
    """Rule 4: the byte-pair-encoding tokens of one match of the pattern, taken by itself and as it is."""
    return _counts()[match] if match else 0
