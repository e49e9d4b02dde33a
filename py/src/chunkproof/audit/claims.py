"""From a header and its tables to claims: which cell claims which figure. Every fault names its row and column."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from chunkproof.audit import cells, tables
from chunkproof.audit.header import CHUNKING, IGNORED, WHOLE, Header, TableHeader
from chunkproof.audit.model import Claim, Key
from chunkproof.audit.tables import Grid, Merged
from chunkproof.problems import Problem


def gather(header: Header) -> tuple[list[Claim], list[str]]:
    """The claims of all tables, and a note for what was passed over."""
    claims: list[Claim] = []
    notes: list[str] = []
    texts: dict[Path, str] = {}
    for table in header.tables:
        if table.file not in texts:
            texts[table.file] = tables.read_text(table.file)
        found, passed = claims_of(table, grid_of(table, texts[table.file]))
        claims += found
        notes += passed
    return claims, notes


def grid_of(table: TableHeader, text: str) -> Grid:
    """The table that a header means, in the text of its file."""
    shown = "standard input" if str(table.file) == "-" else table.file.name
    grids = tables.read(text, table.form or tables.format_of(table.file, text), shown)
    if table.after:
        begin = text.find(table.after)
        if begin < 0:
            raise Problem(f"{shown}: the words {table.after!r}, after which table {table.name!r} comes, are not there")
        grids = [grid for grid in grids if grid.offset >= begin]
    if not 1 <= table.number <= len(grids):
        raise Problem(
            f"{shown}: has {len(grids)} tables to read, so there is no table {table.number} for {table.name!r}"
        )
    return grids[table.number - 1]


def claims_of(table: TableHeader, grid: Grid) -> tuple[list[Claim], list[str]]:
    """The claims of a table. A cell that claims nothing is noted; one that cannot be read is refused."""
    places = _places(table, grid)
    figures = [(column, index, meaning) for column, index, meaning in places if meaning not in ("config", "method")]
    keys = {meaning: index for _, index, meaning in places if meaning in ("config", "method")}
    claims: list[Claim] = []
    notes: list[str] = []
    read: dict[tuple[str, bool], cells.Figure] = {}
    last: dict[str, str] = {}
    for number, (row, line) in enumerate(zip(grid.rows, grid.lines, strict=True), 1):
        if all(cells.is_nothing(row[index]) for _, index, _ in figures):
            notes.append(f"{grid.place}, {line}: has no figures and was passed over")
            continue
        config = _key(table, grid, row, line, keys, last, "config", table.configs)
        ranked = any(meaning not in CHUNKING for _, _, meaning in figures)
        method = _key(table, grid, row, line, keys, last, "method", table.methods) if ranked else ""
        reason = _reason(table, config, method)
        for column, index, meaning in figures:
            text = row[index]
            where = f"{grid.place}, {line}, column {column!r}"
            if isinstance(text, Merged):
                raise Problem(f"{where}: {str(text)!r} is a merged cell, and whose figure it is cannot be told")
            if cells.is_nothing(text):
                notes.append(f"{where}: {text.strip() or 'an empty cell'} claims nothing")
                continue
            whole = meaning in WHOLE
            figure = read.get((text, whole))
            if figure is None:
                figure = read[text, whole] = _figure(table, text, whole, where)
            if figure.spread:
                notes.append(f"{where}: what stands behind ± is not checked: {text.strip()}")
            key = Key(config) if meaning in CHUNKING else Key(config, method)
            unit = table.units.get(column, "fraction")
            claims.append(Claim(table.name, number, line, column, key, meaning, figure, unit, reason))
    return claims, notes


def _figure(table: TableHeader, text: str, whole: bool, where: str) -> cells.Figure:
    try:
        return cells.read(text, whole=whole, decimal=table.decimal, decimals=table.decimals)
    except cells.Unread as error:
        raise Problem(f"{where}: {text.strip()!r} {error}") from error


def _places(table: TableHeader, grid: Grid) -> list[tuple[str, int, str]]:
    """The named columns with their index and meaning."""
    places = []
    for column, meaning in table.columns.items():
        if meaning == IGNORED:
            continue
        index = grid.column(column)
        if index is None:
            there = ", ".join(repr(each) for each in grid.columns)
            raise Problem(f"{grid.place}: there is no column {column!r}; there are {there}")
        places.append((column, index, meaning))
    return places


def _key(
    table: TableHeader,
    grid: Grid,
    row: Sequence[str],
    line: str,
    keys: dict[str, int],
    last: dict[str, str],
    kind: str,
    aliases: dict[str, str],
) -> str:
    """The config or the method that a row speaks of."""
    if kind not in keys:
        return table.where[kind]
    index = keys[kind]
    text = " ".join(row[index].split()).strip("*_`")
    if not text:
        if not table.fill_down or kind not in last:
            raise Problem(
                f"{grid.place}, {line}, column {grid.columns[index]!r}: is empty; if it means the same as the cell above, "
                "say fill_down = true for this table"
            )
        text = last[kind]
    last[kind] = text
    return aliases.get(text, text)


def _reason(table: TableHeader, config: str, method: str) -> str:
    for each in table.missing:
        if fnmatchcase(config, each.config) and fnmatchcase(method, each.method):
            return each.reason
    return ""
