"""Tables of a web page. A cell that spans rows stands in each of them, marked as merged; a merged header is refused."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bs4 import BeautifulSoup

from chunkproof.audit.tables import Merged
from chunkproof.problems import Problem

_LONGEST = 10_000
"""Rows or columns that a cell may say it spans."""
Read = tuple[Sequence[str], list[Sequence[str]], list[str], int]


def read_html(text: str, place: str) -> list[Read]:
    """Columns, rows, the rows' places and where it begins, for every table of a page that has rows below its header."""
    page = BeautifulSoup(text, "html.parser")
    for junk in page(["script", "style"]):
        junk.decompose()
    found: list[Read] = []
    for number, table in enumerate(page.find_all("table"), 1):
        if table.find("table") is not None:
            continue  # it lays out the page
        rows = _expanded(table, f"{place}, table {number}")
        if len(rows) < 2:
            continue
        header = rows[0]
        for index, cell in enumerate(header, 1):
            if isinstance(cell, Merged):
                raise Problem(
                    f"{place}, table {number}, the header, column {index}: {str(cell)!r} is a merged cell; a column needs a "
                    "name of its own"
                )
        lines = [f"row {count}" for count in range(1, len(rows))]
        found.append((header, list(rows[1:]), lines, getattr(table, "sourcepos", 0) or 0))
    return found


def _expanded(table: Any, place: str) -> list[list[str]]:
    """The rows with every spanning cell in each place that it covers."""
    waiting: dict[int, tuple[int, Merged]] = {}
    rows: list[list[str]] = []
    for number, line in enumerate(table.find_all("tr")):
        row: list[str] = []

        def carried(row: list[str] = row) -> None:
            while len(row) in waiting:
                left, cell = waiting.pop(len(row))
                if left > 1:
                    waiting[len(row)] = (left - 1, cell)
                row.append(cell)

        for cell in line.find_all(["td", "th"]):
            carried()
            if cell.find(["td", "th", "tr"]) is not None:
                raise Problem(
                    f"{place}, row {number}, column {len(row) + 1}: a cell is not closed (</td>) before the next begins"
                )
            down, across = _span(cell, "rowspan", place, number), _span(cell, "colspan", place, number)
            words = " ".join(cell.get_text(" ", strip=True).split())
            text = Merged(words) if down > 1 or across > 1 else words
            for _ in range(across):
                if down > 1:
                    waiting[len(row)] = (down - 1, Merged(words))
                row.append(text)
        carried()
        if row:
            rows.append(row)
    return rows


def _span(cell: Any, name: str, place: str, row: int) -> int:
    value = str(cell.get(name, "1")).strip() or "1"
    if not value.isdigit() or not 1 <= int(value) <= _LONGEST:
        raise Problem(f"{place}, row {row}: {name} is {value!r}, which is no count of rows or columns")
    return int(value)
