"""Tables as people have them: Markdown, CSV, TSV, JSON, HTML. Each becomes a grid of texts with its place for every row.

What cannot be read in one way only (a row with too many cells, a name that stands over two columns) is refused with its place.
"""

from __future__ import annotations

import csv
import io
import json
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chunkproof.problems import Problem

FORMATS = ("md", "csv", "tsv", "json", "html")
_SUFFIXES = {
    ".md": "md",
    ".markdown": "md",
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".json": "json",
    ".htm": "html",
}
_INLINE = re.compile(r"[*_`\[\]<>&~!\\]")
_UNESCAPED = re.compile(r"(?<!\\)\|")


class Merged(str):
    """The text of a cell that spans several rows or columns of the page: as a name it is good, as a figure it is refused."""

    __slots__ = ()


@dataclass(frozen=True)
class Grid:
    """A table. `place` names it in a message, `lines` every row: `line 7`, `row 7`."""

    place: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    lines: tuple[str, ...]
    offset: int = 0
    """Where in the file's text it begins."""

    def column(self, name: str) -> int | None:
        """The index of a column by its name, white space and case aside."""
        wanted = _name(name)
        return next((index for index, column in enumerate(self.columns) if _name(column) == wanted), None)


def _name(text: str) -> str:
    return " ".join(text.split()).casefold()


def read_text(path: Path) -> str:
    """A file's text, or that of standard input for `-`; a byte order mark is no part of it."""
    try:
        data = sys.stdin.buffer.read() if str(path) == "-" else path.read_bytes()
    except OSError as error:
        raise Problem(f"{path} cannot be read: {error.strerror}") from error
    try:
        if data.startswith((b"\xff\xfe", b"\xfe\xff")):
            return data.decode("utf-16")
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Problem(f"{path} is not UTF-8: byte {error.start:,} is {data[error.start]:#04x}") from error


def format_of(path: Path, text: str) -> str:
    """The format by the file's suffix, or else by its first characters."""
    if path.suffix.lower() in _SUFFIXES:
        return _SUFFIXES[path.suffix.lower()]
    if path.suffix.lower() == ".html":
        return "html"
    start = text.lstrip()
    if start.startswith(("{", "[")):
        return "json"
    if start.startswith("<") and re.search(r"<table\b", text, re.IGNORECASE):
        return "html"
    if re.search(r"^\s*\|?\s*:?-+:?\s*\|", text, re.MULTILINE):
        return "md"
    return "tsv" if "\t" in start.split("\n", 1)[0] else "csv"


def read(text: str, form: str, place: str) -> list[Grid]:
    """Every table of a text."""
    readers = {"md": _markdown, "csv": _csv, "tsv": _tsv, "json": _json, "html": _html}
    if form not in readers:
        raise Problem(f"{place}: there is no format {form!r}; there are: {', '.join(FORMATS)}")
    return readers[form](text, place)


def _grid(place: str, columns: Sequence[str], rows: list[Sequence[str]], lines: list[str], offset: int = 0) -> Grid:
    names = tuple(" ".join(column.split()) for column in columns)
    seen: dict[str, int] = {}
    for index, name in enumerate(names, 1):
        if not name and any(len(row) >= index and row[index - 1].strip() for row in rows):
            raise Problem(f"{place}: column {index} has no name, but figures or words below it")
        if name and seen.setdefault(_name(name), index) != index:
            raise Problem(
                f"{place}: the columns {seen[_name(name)]} and {index} are both called {name!r}: which one is meant "
                "cannot be told; rename one of them"
            )
    checked = []
    for row, line in zip(rows, lines, strict=True):
        if len(row) > len(names) and any(cell.strip() for cell in row[len(names) :]):
            raise Problem(
                f"{place}, {line}: has {len(row)} cells, but there are {len(names)} columns; the first too many is "
                f"{row[len(names)].strip()!r} after column {names[-1]!r}"
            )
        if len(row) < len(names):
            raise Problem(f"{place}, {line}: has no cell for column {names[len(row)]!r}; it ends after {len(row)}")
        checked.append(tuple(row[: len(names)]))
    return Grid(place, names, tuple(checked), tuple(lines), offset)


# -- Markdown ----------------------------------------------------------------------------------------------------------


def _markdown(text: str, place: str) -> list[Grid]:
    """The pipe tables of GitHub's Markdown. A cell's marks (bold, links, code) are taken off."""
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark").enable("table")
    parser.core.ruler.enableOnly(["normalize", "block"])
    inline = MarkdownIt("commonmark").enable("strikethrough")
    source = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    kept, left_out = _shortened(source)
    grids: list[Grid] = []
    rows: list[list[str]] = []
    numbers: list[int] = []
    for token in parser.parse("\n".join(source[number] for number in kept)):
        if token.type == "table_open":
            rows, numbers, begin = [], [], kept[(token.map or [0])[0]]
        elif token.type == "tr_open":
            rows.append([])
            numbers.append(kept[token.map[0]] if token.map else begin)
        elif token.type == "inline" and rows and token.level >= 4:
            rows[-1].append(token.content)
        elif token.type == "table_close":
            where, columns = f"{place}, table {len(grids) + 1}", [_words(cell, inline) for cell in rows[0]]
            body: list[Sequence[str]] = []
            lines: list[str] = []
            for number in numbers[1:]:
                for line in (number, *left_out.get(number, ())):
                    body.append([_words(cell, inline) for cell in _split(source[line])])
                    lines.append(f"line {line + 1}")
            offset = sum(len(line) + 1 for line in source[:begin])
            grids.append(_grid(where, columns, body, lines, offset))
            rows = []
    return grids


def _shortened(source: list[str]) -> tuple[list[int], dict[int, range]]:
    """The lines to parse, and behind the last that is kept of a long run of `|` lines those that are left out.

    A table of a hundred thousand rows takes the parser half a minute. A line that begins with `|` goes on with a table
    whatever stands in it, so what the parser finds at the beginning of such a run holds to its end.
    """
    kept: list[int] = []
    left_out: dict[int, range] = {}
    number = 0
    while number < len(source):
        end = number
        while end < len(source) and source[end].startswith("|"):
            end += 1
        shown = min(end, number + 3) if end > number else number + 1
        kept += range(number, shown)
        if end > shown:
            left_out[shown - 1] = range(shown, end)
        number = max(end, shown)
    return kept, left_out


def _split(line: str) -> list[str]:
    """The cells of a row, also those beyond the last column, which Markdown would drop."""
    body = line.strip().removeprefix("|")
    if body.endswith("|") and not body.endswith("\\|"):
        body = body[:-1]
    return [cell.replace("\\|", "|").strip() for cell in _UNESCAPED.split(body)]


def _words(content: str, parser: Any) -> str:
    """The words of a cell, without its marks."""
    if not _INLINE.search(content):
        return content
    tokens = parser.parseInline(content)[0].children or []
    parts = []
    for token in tokens:
        if token.type in ("text", "code_inline"):
            parts.append(token.content)
        elif token.type in ("softbreak", "hardbreak") or re.match(r"<br\b", token.content or "", re.IGNORECASE):
            parts.append(" ")
    return "".join(parts).strip()


# -- CSV and TSV -------------------------------------------------------------------------------------------------------


def _csv(text: str, place: str) -> list[Grid]:
    first = next((line for line in text.splitlines() if line.strip() and not line.startswith("#")), "")
    delimiter = max(",;\t", key=first.count)
    return _separated(text, place, delimiter)


def _tsv(text: str, place: str) -> list[Grid]:
    return _separated(text, place, "\t")


def _separated(text: str, place: str, delimiter: str) -> list[Grid]:
    """Lines above the header that begin with `#` are remarks; empty lines count for nothing."""
    skipped = 0
    source = io.StringIO(text, newline="")
    while (line := source.readline()) and (not line.strip() or line.startswith("#")):
        skipped += 1
    source.seek(sum(len(part) for part in text.splitlines(keepends=True)[:skipped]))
    reader = csv.reader(source, delimiter=delimiter, strict=True)
    rows: list[Sequence[str]] = []
    lines: list[str] = []
    try:
        for row in reader:
            if any(cell.strip() for cell in row):
                rows.append(row)
                lines.append(f"line {reader.line_num + skipped}")
    except csv.Error as error:
        raise Problem(f"{place}, line {reader.line_num + skipped}: cannot be read as CSV: {error}") from error
    return [_grid(place, rows[0], rows[1:], lines[1:])] if rows else []


# -- JSON --------------------------------------------------------------------------------------------------------------


def _pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
    table = dict(items)
    if len(table) != len(items):
        names = [name for name, _ in items]
        twice = next(name for name in names if names.count(name) > 1)
        raise Problem(f"a column {twice!r} stands twice in one row")
    return table


def _json(text: str, place: str) -> list[Grid]:
    """Rows as objects or as lists below a list of names; a table, or an object of tables. Numbers keep their digits."""
    try:
        data = json.loads(text, parse_float=str, parse_int=str, object_pairs_hook=_pairs)
    except json.JSONDecodeError as error:
        raise Problem(f"{place} is not JSON: {error}") from error
    except Problem as error:
        raise Problem(f"{place}: {error}") from error
    if isinstance(data, dict) and isinstance(data.get("columns"), list) and isinstance(data.get("data"), list):
        data = [data["columns"], *data["data"]]
    found = [("", data)] if isinstance(data, list) else list(data.items()) if isinstance(data, dict) else []
    grids = []
    for name, value in found:
        where = f"{place}, {name!r}" if name else place
        if isinstance(value, list) and value and all(isinstance(row, dict) for row in value):
            columns = list(dict.fromkeys(key for row in value for key in row))
            cells = [[row.get(column) for column in columns] for row in value]
        elif isinstance(value, list) and value and all(isinstance(row, list) for row in value):
            columns, cells = [str(cell) for cell in value[0]], value[1:]
        else:
            continue
        lines = [f"row {number}" for number in range(1, len(cells) + 1)]
        rows: list[Sequence[str]] = [
            [_scalar(cell, where, line, columns, index) for index, cell in enumerate(row)]
            for row, line in zip(cells, lines, strict=True)
        ]
        grids.append(_grid(where, columns, rows, lines))
    return grids


def _scalar(cell: Any, place: str, line: str, columns: list[str], index: int) -> str:
    if cell is None:
        return ""
    if isinstance(cell, str):
        return cell
    column = columns[index] if index < len(columns) else f"{index + 1}"
    raise Problem(f"{place}, {line}, column {column!r}: holds {type(cell).__name__}, where a figure or a text belongs")


# -- HTML --------------------------------------------------------------------------------------------------------------


def _html(text: str, place: str) -> list[Grid]:
    from chunkproof.audit.html import read_html

    return [
        _grid(f"{place}, table {number}", columns, rows, lines, offset)
        for number, (columns, rows, lines, offset) in enumerate(read_html(text, place), 1)
    ]
