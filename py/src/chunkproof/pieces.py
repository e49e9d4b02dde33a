"""The atoms that every chunker cuts between, and what each costs (spec 05).

Units: offsets are code points of the document, costs are tokens of Qwen2.5's tokenizer. A piece's cost is known by
itself, so the cost of a run of pieces is a difference of two running totals.
"""

import functools
import re
from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from chunkproof.resources import tokenizer_path
from chunkproof.text import JOINING, LETTER, NUMBER, WHITE, Normal, classes, nfc

_PATTERN = re.compile(
    r"'(?:[sStTmMdD]|[rR][eE]|[vV][eE]|[lL][lL])"  # a
    r"|[^\r\nA-Za-z0-9]?[A-Za-z]+"  # b
    r"|[0-9]"  # c
    r"| ?[^\t-\r A-Za-z0-9]+[\r\n]*"  # d
    r"|[\t-\r ]*[\r\n]+"  # e
    r"|[\t-\r ]+(?![^\t-\r ])"  # f
    r"|[\t-\r ]+"  # g
)
"""Rule 2, for ASCII alone: it is asked about `_shape`s. So no library's tables matter, and `re` is the fastest at it."""

_JOINT = re.compile(r"[0-9]|[A-Za-z](?![A-Za-z])|[^\t-\r ](?=[\t\x0b\x0c ])|[\r\n](?=[^\t-\r ])")
"""A code point after which a match surely ends, whatever stands before and after: so a text can be cut block by block.
Of shapes, too; it looks at no more than the next code point."""

_Column = NDArray[np.unsignedinteger[Any]]

_BLOCK = 1 << 14
"""So much that its matches, as objects, stay in a processor's cache."""
_WINDOW = 1 << 10
"""How much is searched for a joint at once."""
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
    """Rules 2, 3 and 4: the pieces of a text. A lone surrogate is `bad_text`.

    Block by block, since matches as objects are ten times the text, and so that there never is a second whole text.
    """
    lengths: list[_Column] = []
    tokens: list[_Column] = [np.zeros(1, np.uint8)]
    counts = _counts()
    at = 0
    while at < len(text):
        stop = _joint(text, at + _BLOCK)
        normal = nfc(text[at:stop])
        matches, borders = _matches(normal.text)
        sums = np.cumsum(np.fromiter(map(counts.__getitem__, matches), np.int64, len(matches)))
        if normal.starts:
            borders, sums = _to_source(borders, sums, normal)
        lengths.append(_steps(borders))
        tokens.append(_steps(sums))
        at = stop
        if len(counts) > _CACHED_PIECES:
            counts.clear()
    return Pieces(_totals(lengths), _totals(tokens))


def _steps(totals: NDArray[np.int64]) -> _Column:
    """From each to the next, in as few bytes as they need."""
    steps = np.diff(totals, prepend=0)
    return steps.astype(np.min_scalar_type(steps.max()))


def _totals(blocks: list[_Column]) -> "array[int]":
    """The running totals of steps. The column has its size at once: one that grows leaves its old places as holes."""
    column = array("I", (0,)) * sum(map(len, blocks))
    filled = np.frombuffer(column, np.uint32)
    at = total = 0
    for block in blocks:
        part = filled[at : at + len(block)]
        np.cumsum(block, out=part)
        part += total
        at, total = at + len(block), int(part[-1])
    return column


def _joint(text: str, at: int) -> int:
    """The first position beyond `at` at which a text may be cut in two without a change to the pieces, or its end.

    It must be the end of a match and of a segment. Where neither the code point before it nor the two after it are
    joining, the one before it and the one after it are segments alone, which NFC leaves as they are: so the end of a
    match in the source is one in the NFC.
    """
    known = classes()
    while at < len(text):
        for found in _JOINT.finditer(_shape(text[at : at + _WINDOW + 1])):
            joint = at + found.end()
            if joint > at + _WINDOW or joint == len(text):
                break
            if known[ord(text[joint])] & JOINING:
                continue  # the usual one, so asked first
            if not (known[ord(text[joint - 1])] | known[ord(text[joint + 1 : joint + 2] or "a")]) & JOINING:
                return joint
        at += _WINDOW
    return len(text)


@functools.cache
def _shapes() -> NDArray[np.uint8]:
    """For each code point one of ASCII that the pattern takes alike, by the classes of 04; for those of ASCII itself."""
    table = np.full(0x110000, ord("!"), np.uint8)
    known = np.frombuffer(classes(), np.uint8)
    table[known & LETTER != 0] = ord("x")  # which is in no contraction
    table[known & NUMBER != 0] = ord("0")
    table[list(map(ord, WHITE))] = ord("\t")  # which is neither U+0020 nor CR nor LF
    table[ord("ſ")] = ord("s")
    table[:0x80] = np.arange(0x80)
    return table


def _shape(text: str) -> str:
    """The text with each code point replaced by one of ASCII that the pattern takes alike."""
    return text if text.isascii() else _shapes()[_points(text)].tobytes().decode("ascii")


def _points(text: str) -> NDArray[np.uint32]:
    # A lone surrogate is refused by `nfc`, not here.
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4")


def _matches(text: str) -> tuple[list[str], NDArray[np.int64]]:
    """The matches of a text taken as it is, and where each ends."""
    found: list[str] = _PATTERN.findall(_shape(text))
    borders = np.cumsum(np.fromiter(map(len, found), np.int64, len(found)))
    if not text.isascii():
        highest = np.maximum.reduceat(_points(text), np.concatenate(([0], borders[:-1])))
        replaced = np.flatnonzero(highest >= 0x80)
        for i, end in zip(replaced.tolist(), borders[replaced].tolist(), strict=True):
            found[i] = text[end - len(found[i]) : end]
    return found, borders


def _to_source(
    borders: NDArray[np.int64], sums: NDArray[np.int64], normal: Normal
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rule 3: keep the cuts that are positions of the source, and say where they lie there; keep their sums."""
    starts, ends, source_ends = (
        np.frombuffer(column, np.uint32).astype(np.int64) for column in (normal.starts, normal.ends, normal.source_ends)
    )
    atom = np.searchsorted(starts, borders) - 1  # the last atomic segment that starts before the cut, or −1
    after = atom >= 0
    kept = ~after | (borders >= ends[atom])
    return (borders + np.where(after, (source_ends - ends)[atom], 0))[kept], sums[kept]


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
