"""The header of a claims file: what its tables' columns mean, which fixture and which rules. The format is docs/audit.md's."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from chunkproof import layout
from chunkproof.audit.tables import FORMATS
from chunkproof.fixtures import SPEC_MAJOR
from chunkproof.problems import Problem
from chunkproof.tomltable import TomlTable

CHUNKING = ("chunks", "mean_tokens", "max_tokens", "lost", "long")
WHOLE = ("chunks", "max_tokens", "lost", "long")
"""Figures that count something."""
KEYS = ("config", "method")
IGNORED = "ignore"
_RANKED = re.compile(r"(?:recall|hit|mrr|ndcg)@[1-9]\d{0,3}")
UNITS = ("fraction", "percent")


@dataclass(frozen=True)
class Missing:
    """Rows that are known not to be recomputable, and why. Patterns may hold `*`."""

    config: str
    method: str
    reason: str


@dataclass(frozen=True)
class TableHeader:
    """What a table of figures means."""

    name: str
    file: Path
    form: str
    number: int
    after: str
    columns: dict[str, str]
    where: dict[str, str]
    configs: dict[str, str]
    methods: dict[str, str]
    units: dict[str, str]
    missing: tuple[Missing, ...]
    decimals: int | None
    decimal: str
    fill_down: bool


@dataclass(frozen=True)
class Comparison:
    """Two rows (`config/method`) whose difference is to be looked at."""

    metric: str
    rows: tuple[str, str]


@dataclass(frozen=True)
class Sentence:
    """A claim in prose: the quoted words, and either a figure with the expression that it should be, or what should hold."""

    quote: str
    says: str
    value: str
    holds: str
    place: str


@dataclass(frozen=True)
class Header:
    """A claims file."""

    path: Path
    title: str
    fixture: str
    data: str
    tables: tuple[TableHeader, ...]
    comparisons: tuple[Comparison, ...] = ()
    sentences: tuple[Sentence, ...] = ()
    seed: int = 1
    names: dict[str, Any] = field(default_factory=dict)


def find(name_or_path: str) -> Path:
    """A claims file by path, or by the name of one that the package carries."""
    path = Path(name_or_path)
    if path.is_file():
        return path
    shipped = layout.claims_dir() / f"{name_or_path.removesuffix('.toml')}.toml"
    if "/" not in name_or_path and shipped.is_file():
        return shipped
    known = ", ".join(sorted(each.stem for each in layout.claims_dir().glob("*.toml"))) or "none"
    raise Problem(
        f"there are no claims {name_or_path!r}: it is neither a file nor one of those that come along ({known})"
    )


def read(path: Path, table_file: str | None = None) -> Header:
    """Read and check a claims file. `table_file` stands in for the files that its tables name; `-` is standard input."""
    if path.suffix.lower() != ".toml":
        raise Problem(
            f"{path} is no claims file: that is a TOML header which says what a table's columns mean; "
            f"`chunkproof audit init {path}` writes one"
        )
    try:
        top = TomlTable(path, tomllib.loads(path.read_bytes().decode("utf-8-sig")))
    except OSError as error:
        raise Problem(f"{path} cannot be read: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise Problem(f"{path} cannot be read as TOML: {error}") from error
    top.only("title", "spec", "fixture", "data", "seed", "table", "compare", "sentence")
    version = top.text("spec", str(SPEC_MAJOR))
    if version.split(".")[0] != str(SPEC_MAJOR):
        raise top.fault("spec", f"is {version!r}, but this program speaks spec {SPEC_MAJOR}")
    data = top.text("data", "")
    if data and not re.fullmatch(r"sha256:[0-9a-f]{64}", data):
        raise top.fault("data", 'must be "sha256:" and 64 lower-case hexadecimal digits')
    header = Header(
        path,
        top.text("title", ""),
        _fixture(top.text("fixture"), path),
        data.removeprefix("sha256:"),
        tuple(_table(each, path, table_file) for each in top.list_of("table")),
        tuple(_comparison(each) for each in top.list_of("compare")),
        tuple(_sentence(each) for each in top.list_of("sentence")),
        top.integer("seed", 1),
    )
    if not header.tables and not header.sentences and not header.comparisons:
        raise top.fault("table", "is missing: a claims file has at least one [[table]] or [[sentence]]")
    names = [table.name for table in header.tables]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise top.fault("table", f"the name {twice!r} is there twice")
    return header


def is_metric(name: str) -> bool:
    """Whether a column can mean this."""
    return name in CHUNKING or _RANKED.fullmatch(name) is not None


def _fixture(name: str, path: Path) -> str:
    """A fixture named by a path is looked for from the claims file."""
    beside = path.parent / name
    embedded = "/" not in name and name not in (".", "..") and (layout.fixtures_dir() / name / "fixture.toml").is_file()
    return name if embedded or not beside.exists() else str(beside)


def _table(table: TomlTable, path: Path, table_file: str | None) -> TableHeader:
    table.only(
        *("name", "file", "format", "number", "after", "columns", "where", "configs", "methods", "units", "missing"),
        *("decimals", "decimal", "fill_down"),
    )
    columns = _texts(table, "columns")
    if not columns:
        raise table.fault("columns", "is missing: it says what each column means")
    for column, meaning in columns.items():
        if meaning not in (*KEYS, IGNORED) and not is_metric(meaning):
            known = ", ".join((*KEYS, *CHUNKING, "recall@k", "hit@k", "mrr@k", "ndcg@k", IGNORED))
            raise table.fault("columns", f"gives {column!r} the meaning {meaning!r}; known are {known}")
    used = [meaning for meaning in columns.values() if meaning != IGNORED]
    if twice := next((meaning for meaning in used if used.count(meaning) > 1), None):
        raise table.fault("columns", f"gives two columns the meaning {twice!r}")
    where = _texts(table, "where")
    if stranger := next((key for key in where if key not in KEYS), None):
        raise table.fault(
            "where", f"sets {stranger!r}; it may set {' and '.join(KEYS)}, for a table without that column"
        )
    if "config" not in used and "config" not in where:
        raise table.fault("columns", 'has no column that means "config", and `where` sets none')
    if any(_RANKED.fullmatch(each) for each in used) and "method" not in used and "method" not in where:
        raise table.fault("columns", 'has no column that means "method", and `where` sets none')
    units = _texts(table, "units")
    for column, unit in units.items():
        if column not in columns or unit not in UNITS:
            raise table.fault(
                "units", f"says {column!r} is {unit!r}; it takes a column's name and one of {', '.join(UNITS)}"
            )
    name = table.text("name", f"table {table.place.split()[1]}")
    file = table_file or table.text("file")
    decimals = table.integer("decimals", -1)
    return TableHeader(
        name,
        Path(file) if table_file or file == "-" else path.parent / file,
        table.one_of("format", FORMATS) if "format" in table.table else "",
        table.integer("number", 1),
        table.text("after", ""),
        columns,
        where,
        _texts(table, "configs"),
        _texts(table, "methods"),
        units,
        tuple(_missing(each) for each in table.list_of("missing")),
        decimals if decimals >= 0 else None,
        table.one_of("decimal", (".", ",", ""), ""),
        table.flag("fill_down", False),
    )


def _texts(table: TomlTable, name: str) -> dict[str, str]:
    if name not in table.table:
        return {}
    part = table.sub(name)
    return {key: part.text(key) for key in part.table}


def _missing(table: TomlTable) -> Missing:
    table.only("config", "method", "reason")
    return Missing(table.text("config", "*"), table.text("method", "*"), table.text("reason"))


def _comparison(table: TomlTable) -> Comparison:
    table.only("metric", "rows")
    rows = table.texts("rows")
    if len(rows) != 2 or not all("/" in row for row in rows):
        raise table.fault("rows", 'must be two rows, each "config/method"')
    metric = table.text("metric")
    if not _RANKED.fullmatch(metric):
        raise table.fault("metric", f"is {metric!r}, which is no figure of a ranking")
    return Comparison(metric, (rows[0], rows[1]))


def _sentence(table: TomlTable) -> Sentence:
    table.only("quote", "says", "value", "holds")
    says, value, holds = (table.text(name, "") for name in ("says", "value", "holds"))
    if bool(holds) == bool(value) or bool(says) != bool(value):
        raise table.fault(
            "value", "and `says` (a figure, and the expression for it) or `holds` (a comparison): one of the two"
        )
    return Sentence(table.text("quote"), says, value, holds, table.place)
