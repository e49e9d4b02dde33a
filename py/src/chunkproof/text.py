"""What an offset counts, which characters are what, how text that is not NFC is read, where paragraphs and sentences
begin (spec 04).

The character classes are those of Unicode 18.0.0 as the spec lists them, never the runtime's own. Everything here but
`nfc` reads the document's own text; offsets are code points.
"""

import functools
import re
import unicodedata
from array import array
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from chunkproof.errors import Refused
from chunkproof.resources import unicode_tables

if TYPE_CHECKING:
    from chunkproof.pieces import Pieces

Rule = Literal["blank_line", "newline"]

_SPACES = r" \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
WHITE_CLASS = rf"\t-\r{_SPACES}"
"""Rule 2, as the inside of a regular expression's `[…]`."""
INLINE_CLASS = rf"\t\x0b\x0c{_SPACES}"
"""The same without CR and LF."""
WHITE = "".join(chr(c) for c in range(0x3001) if re.match(f"[{WHITE_CLASS}]", chr(c)))
CLOSERS = frozenset("\"'”’)]")
OPENERS = frozenset("\"'“‘([")

_BLANK_LINE = re.compile(rf"(?:\r\n?+|\n)[{INLINE_CLASS}]*[\r\n][{WHITE_CLASS}]*")
_BETWEEN = re.compile(rf"[.!?][\"'”’)\]]*+([{WHITE_CLASS}]++)(?=[A-Z0-9\"'(\[]|[^\x00-\x7f])")
"""White space after a sentence's end (rule 11) and before what may open one (rule 12; outside ASCII `_opens` tells)."""
_SURROGATE = re.compile("[\ud800-\udfff]")

LETTER, NUMBER, UPPER, UNKNOWN, JOINING, CASED, IGNORABLE = 1, 2, 4, 8, 16, 32, 64
"""Bits of `classes`."""
_BLOCK = 1 << 16


class Range(NamedTuple):
    """Half-open, in code points."""

    start: int
    end: int


@functools.cache
def _class_array() -> NDArray[np.uint8]:
    table = np.zeros(0x110000, np.uint8)
    tables = unicode_tables()
    for bit, name in ((LETTER, "letter"), (NUMBER, "number"), (UPPER, "upper"), (JOINING, "nfc_joining"),
                      (CASED, "cased"), (IGNORABLE, "case_ignorable")):  # fmt: skip
        for low, high in tables[name]:
            table[low : high + 1] |= bit
    known = np.zeros(0x110000, np.bool_)
    for low, high in tables["nfc_assigned"]:
        known[low : high + 1] = True
    table[~known] |= UNKNOWN
    return table


@functools.cache
def classes() -> bytes:
    """One byte a code point: LETTER, NUMBER, UPPER, UNKNOWN (not assigned in 14.0), JOINING, CASED, IGNORABLE."""
    return _class_array().tobytes()


def check(text: str) -> None:
    """Rule 1: a text with a lone surrogate is refused (`bad_text`)."""
    if not text.isascii() and (found := _SURROGATE.search(text)):
        raise Refused("bad_text", f"lone surrogate U+{ord(found.group()):04X} at {found.start()}")


def is_white(character: str) -> bool:
    """Rule 2: is this code point white space? Every other one is visible."""
    return character in WHITE


def stable(text: str) -> str:
    """A text of equal length, with the same classes of 04, that any version of any Unicode table reads alike.

    Code points that Unicode 14.0 does not assign, and which a library's tables may thus not know or know otherwise,
    are replaced by old ones of the class that the pinned tables give them: a letter, a number, or a visible other.
    """
    if text.isascii():
        return text
    table = classes()
    unknown = {c for at in range(0, len(text), _BLOCK) for c in _unknown_in(text[at : at + _BLOCK])}
    if not unknown:
        return text
    return text.translate(
        {c: 0x01BB if table[c] & LETTER else 0x0660 if table[c] & NUMBER else 0x00A4 for c in unknown}
    )


def _unknown_in(block: str) -> list[int]:
    points = np.frombuffer(block.encode("utf-32-le"), "<u4")
    found = points[(_class_array()[points] & UNKNOWN) != 0]
    return np.unique(found).tolist() if found.size else []


def paragraphs(text: str, pieces: "Pieces | None" = None, rule: Rule = "blank_line") -> list[Range]:
    """Rules 9 and 10: the text's paragraphs, which tile it."""
    pieces = _pieces_of(text, pieces)
    return ranges(pieces, paragraph_starts(text, pieces, rule))


def sentences(text: str, pieces: "Pieces | None" = None, rule: Rule = "blank_line") -> list[Range]:
    """Rules 11 to 15: the text's sentences, which tile it and its paragraphs."""
    pieces = _pieces_of(text, pieces)
    return ranges(pieces, sentence_starts(text, pieces, rule))


def paragraph_starts(text: str, pieces: "Pieces", rule: Rule = "blank_line") -> list[int]:
    """The index of each paragraph's first piece, ascending."""
    check_rule(rule)
    ends = pieces.ends
    count = len(ends)
    if not count:
        return []
    starts = [0]
    if rule == "newline":
        at = text.find("\n")
        piece = 0
        while at >= 0:
            piece = bisect_right(ends, at, piece)
            if piece + 1 < count:
                starts.append(piece + 1)
            at = text.find("\n", ends[piece])
        return starts
    for run in _BLANK_LINE.finditer(text):
        first_visible = run.end()
        if first_visible < len(text):
            piece = bisect_right(ends, first_visible, starts[-1])
            if piece != starts[-1]:
                starts.append(piece)
    return starts


def sentence_starts(text: str, pieces: "Pieces", rule: Rule = "blank_line") -> list[int]:
    """The index of each sentence's first piece, ascending."""
    starts = paragraph_starts(text, pieces, rule)
    return [
        start
        for paragraph in pairwise([*starts, len(pieces)])
        for start in sentence_starts_in(text, pieces, paragraph, rule)
    ]


def sentence_starts_in(text: str, pieces: "Pieces", paragraph: tuple[int, int], rule: Rule) -> Iterator[int]:
    """The index of the first piece of each sentence in a paragraph, itself given by its pieces, first … last − 1.

    Both rules ask for a sentence's end, then white space, then an opening code point. So it is enough to look at the
    maximal runs of white space [u, v) that follow an end and its closers: the piece that holds u − 1 is *the piece
    before*, and where it ends inside the run, what comes next may start a sentence.
    """
    before, last = paragraph
    yield before
    ends = pieces.ends
    # Rule 13 looks into the next piece, be it in the next paragraph.
    beyond = ends[min(last, len(ends) - 1)]
    for run in _BETWEEN.finditer(text, pieces.start(before), beyond):
        u, v = run.span(1)
        before = bisect_right(ends, u - 1, before, last)
        here = before + 1
        if here >= last:
            return
        joint = ends[before]
        if joint > v or run.start() < pieces.start(before) or not _opens(text[v]):
            continue  # the end must lie in the piece before, and that must leave white space or be followed by it
        if rule == "newline":
            if joint == v or text[u:joint].strip("\r\n"):
                continue  # this piece must begin with white space, the one before lose nothing but CR and LF
            if v >= ends[here] and (here + 1 == len(ends) or v >= ends[here + 1]):
                continue  # all white space: only the next piece may have the opening code point
        elif v >= ends[last - 1]:
            continue  # the opening code point starts the next paragraph, and a sentence there
        yield here


def _opens(character: str) -> bool:
    """Rule 12."""
    return character in OPENERS or classes()[ord(character)] & (UPPER | NUMBER) != 0


def stripped(text: str, extent: tuple[int, int]) -> Range:
    """Rule 15: a range less the white space at both its ends; an empty one at its start where nothing is visible."""
    start, end = extent
    part = text[start:end]
    start += len(part) - len(part.lstrip(WHITE))
    return Range(start, start + len(part.strip(WHITE))) if start < end else Range(extent[0], extent[0])


def ranges(pieces: "Pieces", starts: list[int]) -> list[Range]:
    """Runs of pieces between starts, as ranges of the text."""
    borders = [pieces.start(i) for i in starts]
    borders.append(pieces.ends[-1] if len(pieces) else 0)
    return [Range(*border) for border in pairwise(borders)]


def check_rule(rule: str) -> None:
    """`bad_request` for a paragraph rule that the spec does not know."""
    if rule not in ("blank_line", "newline"):
        raise Refused("bad_request", f"paragraph rule {rule!r} is neither blank_line nor newline")


def _pieces_of(text: str, pieces: "Pieces | None") -> "Pieces":
    if pieces is None:
        from chunkproof.pieces import pieces as cut

        return cut(text)
    return pieces


def _positions() -> "array[int]":
    return array("I")


@dataclass(frozen=True)
class Normal:
    """The NFC of a text, and where it differs: the atomic segments of rule 7, in order, by columns."""

    text: str
    starts: "array[int]" = field(default_factory=_positions)
    """Where each atomic segment starts in the NFC."""
    ends: "array[int]" = field(default_factory=_positions)
    """Where it ends there."""
    source_ends: "array[int]" = field(default_factory=_positions)
    """Where it ends in the document."""


def nfc(text: str) -> Normal:
    """Rules 5 to 8: NFC, segment by segment, with a map back to the document.

    Only a segment that holds a joining code point can change. Unknown code points are segments alone, so the
    runtime's tables are asked about known ones only, about which all versions agree.
    """
    if text.isascii():
        return Normal(text)
    try:
        kinds = _class_array()[np.frombuffer(text.encode("utf-32-le"), "<u4")]
    except UnicodeEncodeError:
        check(text)
        raise
    joining = np.flatnonzero(kinds & JOINING)
    if not joining.size or (not (kinds & UNKNOWN).any() and unicodedata.is_normalized("NFC", text)):
        return Normal(text)
    gaps = np.flatnonzero(np.diff(joining) > 1)
    firsts = joining[np.concatenate(([0], gaps + 1))].tolist()
    lasts = joining[np.concatenate((gaps, [len(joining) - 1]))].tolist()
    known = classes()
    parts: list[str] = []
    normal = Normal("", _positions(), _positions(), _positions())
    done = shift = 0
    for first, last in zip(firsts, lasts, strict=True):
        start, end = first, last + 1
        if start and not known[ord(text[start - 1])] & UNKNOWN:
            start -= 1
        segment = text[start:end]
        composed = _compose(segment)
        if composed == segment:
            continue
        parts += text[done:start], composed
        normal.starts.append(start + shift)
        shift += len(composed) - len(segment)
        normal.ends.append(end + shift)
        normal.source_ends.append(end)
        done = end
    if not parts:
        return Normal(text)
    parts.append(text[done:])
    return Normal("".join(parts), normal.starts, normal.ends, normal.source_ends)


def _compose(segment: str) -> str:
    """Unicode's NFC of known code points."""
    if len(segment) > 64:
        # CPython sorts combining marks by insertion, in quadratic time where there are many: so decompose and sort
        # them first.
        points = [p for c in segment for p in unicodedata.normalize("NFD", c)]
        run = 0
        for i in range(len(points) + 1):
            if i == len(points) or not unicodedata.combining(points[i]):
                points[run:i] = sorted(points[run:i], key=unicodedata.combining)
                run = i + 1
        segment = "".join(points)
    return unicodedata.normalize("NFC", segment)
