"""`audit init`: a claims file for a table by guessing from its column names; what could not be mapped is listed, never asked."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from chunkproof import fixtures
from chunkproof.audit import cells, tables
from chunkproof.audit.evidence import data_digest
from chunkproof.audit.tables import Grid
from chunkproof.problems import DataMissing, Problem

_WORDS: dict[str, tuple[str, ...]] = {
    "config": (
        "config",
        "configuration",
        "chunker",
        "chunking",
        "chunk config",
        "strategy",
        "splitter",
        "chunk strategy",
    ),
    "method": ("method", "retriever", "retrieval", "ranker", "ranking", "search", "retrieval method"),
    "chunks": ("chunks", "# chunks", "n chunks", "no. of chunks", "number of chunks", "num chunks", "chunk count"),
    "mean_tokens": ("mean tokens", "avg tokens", "average tokens", "mean size", "avg size", "tokens mean", "mean"),
    "max_tokens": ("max tokens", "max", "maximum tokens", "longest", "max size", "tokens max"),
    "lost": ("lost", "lost answers", "lost questions", "answers cut", "cut answers"),
    "long": ("long", "too long", "long chunks", "over limit", "truncated"),
}
_NAMES = {word: meaning for meaning, words in _WORDS.items() for word in words}
_RANKED = (
    ("recall", r"(?:recall|rec|r)"),
    ("hit", r"(?:hits?(?: rate)?|success|hit ratio)"),
    ("mrr", r"(?:mrr|rr|reciprocal rank|mean reciprocal rank)"),
    ("ndcg", r"(?:ndcg)"),
)


@dataclass
class Guess:
    """A header's text, a sentence about it, and what a person has to look at."""

    text: str
    said: str
    open: list[str] = field(default_factory=list)


def meaning_of(column: str) -> str:
    """What a column seems to mean; empty if nothing fits."""
    name = re.sub(r"[%\s_]+", " ", re.sub(r"\((?:%|percent|fraction)\)", "", column.casefold())).strip(" :*")
    if name in _NAMES:
        return _NAMES[name]
    for kind, pattern in _RANKED:
        if found := re.fullmatch(rf"{pattern}\s*(?:@|at|-)?\s*(\d+)", name):
            return f"{kind}@{int(found[1])}"
        if kind in ("mrr", "ndcg") and re.fullmatch(pattern, name):
            return f"{kind}@10"
    return ""


def header_for(table: str, fixture: str | None = None, folder: Path | None = None) -> Guess:
    """A claims file for every table of a file in which something could be mapped. `folder` is where it will lie."""
    path = Path(table)
    text = tables.read_text(path)
    grids = tables.read(text, tables.format_of(path, text), "standard input" if table == "-" else path.name)
    guesses = [(number, grid, _columns(grid)) for number, grid in enumerate(grids, 1)]
    usable = [
        each for each in guesses if any(meaning not in ("config", "method", "ignore") for meaning in each[2].values())
    ]
    if not usable:
        named = "; ".join(", ".join(grid.columns) for grid in grids) or "no table at all"
        raise Problem(f"{table}: no column could be mapped to a figure; there are: {named}")
    made = Guess("", "")
    known, found = _fixture(usable, fixture, made)
    file = "-" if table == "-" else os.path.relpath(path, folder) if folder is not None else str(path)
    named = found if found in fixtures.names() or folder is None else os.path.relpath(found, folder)
    parts = [f"fixture = {_quoted(named)}", *_pin(found), f"spec = {_quoted(str(fixtures.SPEC_MAJOR))}"]
    figures = 0
    for number, grid, columns in usable:
        figures += sum(meaning not in ("config", "method", "ignore") for meaning in columns.values())
        parts.append(_table(number, grid, columns, file, known, made))
    made.text = "\n".join(parts)
    made.said = f"{len(usable)} of {len(grids)} tables, {figures} columns of figures, fixture {found}"
    return made


def _pin(fixture: str) -> list[str]:
    """The digest of the fixture's data, where it is at hand: figures are claimed of these texts and no others."""
    try:
        return [f"data = {_quoted(f'sha256:{data_digest(fixtures.load(fixture))}')}"]
    except DataMissing:
        return []


def _columns(grid: Grid) -> dict[str, str]:
    """Column by column what it seems to mean; `ignore` where nothing fits or another column meant it before."""
    meanings: dict[str, str] = {}
    for column in grid.columns:
        if column:
            meaning = meaning_of(column)
            meanings[column] = meaning if meaning and meaning not in meanings.values() else "ignore"
    return meanings


def _values(grid: Grid, columns: dict[str, str], kind: str) -> list[str]:
    """The different words in the column of that kind, without those of a row that has no figures."""
    name = next((column for column, meaning in columns.items() if meaning == kind), None)
    index = None if name is None else grid.column(name)
    if index is None:
        return []
    figures = [
        grid.column(column) for column, meaning in columns.items() if meaning not in ("config", "method", "ignore")
    ]
    rows = [row for row in grid.rows if not all(cells.is_nothing(row[each]) for each in figures if each is not None)]
    return list(dict.fromkeys(" ".join(row[index].split()).strip("*_`") for row in rows if row[index].strip()))


def _fixture(
    usable: Sequence[tuple[int, Grid, dict[str, str]]], given: str | None, made: Guess
) -> tuple[dict[str, list[str]], str]:
    """The fixture that fits the tables' words best, with the names of its configs and methods."""
    words = {
        kind: [word for _, grid, columns in usable for word in _values(grid, columns, kind)]
        for kind in ("config", "method")
    }
    scored: list[tuple[int, str, dict[str, list[str]]]] = []
    for name in [given] if given else fixtures.names():
        recipe = fixtures.describe(name)[1]
        if recipe.get("kind") == "corpus":
            known = {kind: [str(each.get("name")) for each in recipe.get(kind, [])] for kind in ("config", "method")}
            score = sum(_known(word, known[kind]) is not None for kind in known for word in words[kind])
            scored.append((score, name, known))
    if not scored:
        raise Problem(f"{given or 'the package'} has no fixture that is a corpus")
    best = max(score for score, _, _ in scored)
    fitting = [name for score, name, _ in scored if score == best]
    if len(fitting) > 1:
        made.open.append(
            f"the fixtures {', '.join(fitting)} fit alike; {fitting[0]} was taken: `fixture` may have to be changed"
        )
    if given is None and best == 0:
        made.open.append(f"no fixture has rows of these names; {fitting[0]} stands there until `fixture` names yours")
    return next((known, name) for score, name, known in scored if score == best)


def _plain(text: str) -> str:
    return re.sub(r"[^a-z0-9.]+", "", re.sub(r"\b(?:precision|alpha|with|and|α)\b", "", text.casefold()))


def _known(word: str, names: Iterable[str]) -> str | None:
    """The fixture's name that a word of the table means: the same but for marks, or its only beginning."""
    names = list(names)
    if word in names:
        return word
    same = [name for name in names if _plain(name) == _plain(word)]
    begins = [name for name in names if _plain(name) and _plain(word).startswith(_plain(name))]
    begun = [name for name in names if _plain(word) and _plain(name).startswith(_plain(word))]
    if same:
        return same[0]
    if begins and not re.search(r"\d", _plain(word).removeprefix(_plain(max(begins, key=len)))[:1]):
        return max(begins, key=len)
    return begun[0] if len(begun) == 1 else None


def _table(
    number: int, grid: Grid, columns: dict[str, str], file: str, known: dict[str, list[str]], made: Guess
) -> str:
    lines = ["", "[[table]]", f"name = {_quoted(f'table {number}')}", f"file = {_quoted(file)}"]
    lines += [f"number = {number}"] if number > 1 else []
    unmapped = [column for column, meaning in columns.items() if meaning == "ignore"]
    if unmapped:
        shown = ", ".join(map(repr, unmapped))
        made.open.append(
            f"table {number}: not mapped, and so not checked: {shown}; give them a meaning under [table.columns]"
        )
    lines += [
        "",
        "[table.columns]",
        *(f"{_quoted(column)} = {_quoted(meaning)}" for column, meaning in columns.items()),
    ]
    absent = [kind for kind in _needed(columns) if kind not in columns.values()]
    if absent:
        lines += ["", "[table.where]", *(f'{kind} = "FILL IN"' for kind in absent)]
        made.open.append(
            f"table {number}: no column says which {' and which '.join(absent)} it is: fill in [table.where]"
        )
    for kind in ("config", "method"):
        aliases: dict[str, str] = {}
        for word in _values(grid, columns, kind):
            name = _known(word, known[kind])
            if name is None:
                made.open.append(
                    f"table {number}: the fixture has no {kind} {word!r}; name the one it means under [table.{kind}s]"
                )
            elif name != word:
                aliases[word] = name
        if aliases:
            lines += ["", f"[table.{kind}s]", *(f"{_quoted(word)} = {_quoted(name)}" for word, name in aliases.items())]
    percent = [
        column for column, meaning in columns.items() if meaning != "ignore" and re.search(r"%|percent", column, re.I)
    ]
    if percent:
        lines += ["", "[table.units]", *(f'{_quoted(column)} = "percent"' for column in percent)]
    return "\n".join(lines) + "\n"


def _needed(columns: dict[str, str]) -> tuple[str, ...]:
    ranked = any("@" in meaning for meaning in columns.values())
    return ("config", "method") if ranked else ("config",)


def _quoted(text: Any) -> str:
    """A TOML string: what JSON writes is one."""
    return json.dumps(str(text), ensure_ascii=False).replace("\x7f", "\\u007f")
