"""What stands in a cell: a figure as somebody wrote it, read rightly or refused, never guessed at."""

from __future__ import annotations

import re
from dataclasses import dataclass

SPACES = " \t\n\r\u00a0\u2007\u2009\u202f\ufeff"
"""White space that people's tables have around and within figures."""
NOTHING = ("", "-", "–", "—", "−", "n/a", "na", "n.a.", "nan", "none", "null", "tbd", "?", "…", "...")
"""What stands for no figure, in lower case."""
THOUSANDS = "\u00a0\u2007\u2009\u202f' ’_"
_PLAIN = re.compile(r"([+−-]?)(\d*)(?:\.(\d*))?")
_SPREAD = re.compile(r"\s*(?:±|\+/-|\+-)\s*(.+)$|\s*\(\s*±\s*([^)]*)\)$")
_MARKS = re.compile(r"^[*_`~]+|[*_`~†‡§]+$")


@dataclass(frozen=True)
class Figure:
    """A claimed figure. `plain` is its digits with a point, nothing else; `decimals` those that were written."""

    text: str
    plain: str
    decimals: int
    percent: bool = False
    spread: str = ""
    """What stood behind ±: it is not checked."""


class Unread(ValueError):
    """A cell that holds no figure that can be read in one way only; the message says why."""


def is_nothing(text: str) -> bool:
    """Whether a cell holds no claim at all: empty, a dash, "n/a"."""
    return _MARKS.sub("", text.strip(SPACES)).strip(SPACES).lower() in NOTHING


def read(text: str, *, whole: bool = False, decimal: str = "", decimals: int | None = None) -> Figure:
    """The figure in a cell. `whole`: the column counts, so that `1,160` can only be a thousand and more.

    `decimal` is the decimal mark of the table where it is known, `.` or `,`; otherwise a comma is read where it can mean one
    thing only. `decimals` are those that the table was made with: a spreadsheet that drops trailing zeros wrote fewer.
    """
    body = _MARKS.sub("", text.strip(SPACES)).strip(SPACES)
    spread = ""
    if found := _SPREAD.search(body):
        spread = (found[1] or found[2] or "").strip(SPACES)
        body = body[: found.start()].strip(SPACES)
    percent = body.endswith(("%", "٪", "％"))
    if percent:
        body = body[:-1].strip(SPACES)
    body = _MARKS.sub("", body).strip(SPACES)
    if "e" in body.lower() and re.fullmatch(r"[+-]?[\d.,]+e[+-]?\d+", body, re.IGNORECASE):
        raise Unread("is written with an exponent, which does not show how many decimals are claimed")
    digits = _marks(body, whole, decimal)
    match = _PLAIN.fullmatch(digits)
    if match is None or not (match[2] or match[3]):
        raise Unread("is no figure")
    part = match[3] or ""
    if decimals is not None and not percent and not whole and len(part) < decimals:
        part = part.ljust(decimals, "0")
    sign = "-" if match[1] in ("-", "−") and (match[2] + part).strip("0") else ""
    plain = sign + (match[2].lstrip("0") or "0") + (f".{part}" if part else "")
    return Figure(text.strip(SPACES), plain, len(part), percent, spread)


def _marks(body: str, whole: bool, decimal: str) -> str:
    """The digits with a point as the only mark: marks of thousands are taken out where they stand as such."""
    if re.fullmatch(rf"[+−-]?\d{{1,3}}(?:[{THOUSANDS}]\d{{3}})+(?:[.,]\d+)?", body):
        body = re.sub(rf"[{THOUSANDS}]", "", body)
    if decimal == ",":
        if re.fullmatch(r"[+−-]?\d{1,3}(?:\.\d{3})+(?:,\d+)?", body):
            body = body.replace(".", "")
        elif "." in body:
            raise Unread('has a point, though the table\'s decimal mark is ","')
        return body.replace(",", ".")
    if "," not in body:
        return body
    grouped = re.fullmatch(r"[+−-]?[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?", body) is not None
    if grouped and (whole or decimal == "." or body.count(",") > 1 or "." in body):
        return body.replace(",", "")
    if decimal == ".":
        raise Unread('has a comma that marks no thousands, though the table\'s decimal mark is "."')
    if grouped:
        raise Unread('may be read in two ways: say decimal = "." or decimal = "," for this table')
    if body.count(",") == 1 and "." not in body:
        return body.replace(",", ".")  # 0,730 and 126,7 cannot be thousands
    if body.count(",") == 1 and re.fullmatch(r"[+−-]?\d{1,3}(?:\.\d{3})+,\d+", body):
        return body.replace(".", "").replace(",", ".")
    raise Unread("has commas that mark neither thousands nor decimals")


def shifted(printed: str, places: int) -> str:
    """A printed figure with its point moved to the right: `0.7300` by 2 is `73.00`."""
    sign, digits = ("-", printed[1:]) if printed.startswith("-") else ("", printed)
    whole, _, part = digits.partition(".")
    part = part.ljust(places, "0")
    moved = (whole + part[:places]).lstrip("0") or "0"
    rest = part[places:]
    return sign + moved + (f".{rest}" if rest else "")
