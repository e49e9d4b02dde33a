"""The fields that a fixture.toml may have, table by table: what `fixture check` holds it against.

A field is its kind and whether it must be there. A kind is a word, a tuple of words to choose from, or a pair of numbers that it
must lie between (integers for integers).
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping

from chunkproof.fixtures import CONFIG_FIELDS, KINDS, METHOD_FIELDS, PARAGRAPHS
from chunkproof.problems import Problem
from chunkproof.tomltable import TomlTable

Kind = str | tuple[str, ...] | tuple[int, int] | tuple[float, float]
Fields = Mapping[str, tuple[Kind, bool]]
_MOST = 2**53 - 1

TOP: Fields = {
    **{"name": ("text", True), "kind": (KINDS, True), "title": ("text", False)},
    **{"licence": ("text", False), "spec": ("text", True), "paragraphs": (PARAGRAPHS, False)},
    **{"embedded": ("flag", False), "embedder": ("text", False), "wordpiece_limit": ((1, _MOST), False)},
    **{"document": ("tables", False), "source": ("table", False), "questions": ("table", False)},
    **{"config": ("tables", False), "method": ("tables", False), "vectors": ("table", False)},
}
PAPERS: Fields = {
    **{name: TOP[name] for name in ("name", "kind", "title", "licence", "spec", "embedded")},
    **{"papers": ("text", True), "sha256": ("text", False), "protocol": ("text", False)},
}
"""The fields of a fixture of papers."""
DOCUMENT: Fields = {"id": ("text", True), "file": ("text", True), "sha256": ("text", False), "title": ("text", False)}
QUESTIONS: Fields = {
    **{"file": ("text", True), "count": ((0, _MOST), False), "pool": ((0, _MOST), False), "seed": ((0, _MOST), False)},
}
VECTORS: Fields = {
    **{"sentences": ("text", False), "questions": ("text", False), "chunks": ("text", False)},
    "sentences_rules": ("texts", False),
}
SETTINGS: Fields = {
    **{"size": ((1, _MOST), True), "overlap": ((0, _MOST), False), "percentile": ((0, 100), False)},
    **{"paragraphs": (PARAGRAPHS, False), "k1": ((0.0, float("inf")), False), "b": ((0.0, 1.0), False)},
    **{"precision": (("int8", "int4", "binary"), False), "k": ((0, _MOST), False), "pool": ((1, _MOST), False)},
    **{"alpha": ((0.0, 1.0), False), "configs": ("texts", False)},
}
"""The settings of configs and methods, with the ranges of spec 01."""


def of_config(table: TomlTable) -> Fields:
    """The fields of a [[config]], by its kind."""
    return _by_kind(table, CONFIG_FIELDS, ("size",))


def of_method(table: TomlTable) -> Fields:
    """The fields of a [[method]], by its kind."""
    return _by_kind(table, METHOD_FIELDS, ("configs",))


def _by_kind(table: TomlTable, kinds: Mapping[str, tuple[str, ...]], always: tuple[str, ...]) -> Fields:
    kind = table.table.get("kind")
    own = (
        kinds[kind]
        if isinstance(kind, str) and kind in kinds
        else tuple({name for each in kinds.values() for name in each})
    )
    head: Fields = {"name": ("text", True), "kind": (tuple(kinds), True)}
    return {**head, **{name: SETTINGS[name] for name in (*always, *own)}}


def faults(table: TomlTable, fields: Fields) -> Iterator[tuple[str, str]]:
    """Every fault of a table: the field, and what is wrong with it."""
    for name in table.table:
        if name not in fields:
            near = difflib.get_close_matches(name, fields, 1)
            hint = f"; is {near[0]} meant?" if near else f"; known are {', '.join(fields)}"
            yield name, f"{name} is not known here{hint}"
    for name, (kind, needed) in fields.items():
        if needed or name in table.table:
            try:
                _check(table, name, kind)
            except Problem as problem:
                yield name, str(problem).removeprefix(f"{table.path}: ").removeprefix(f"{table.place}: ")


def _check(table: TomlTable, name: str, kind: Kind) -> None:
    if kind == "tables":
        table.list_of(name)
    elif kind == "table":
        table.sub(name)
    elif kind == "texts":
        table.texts(name)
    elif kind == "flag":
        table.flag(name)
    elif isinstance(kind, str):
        if not table.text(name):
            raise table.fault(name, "must not be empty")
    elif isinstance(kind[0], str):
        table.one_of(name, [str(each) for each in kind])
    else:
        _number(table, name, kind[0], kind[1])


def _number(table: TomlTable, name: str, low: str | float, high: str | float) -> None:
    value = table.integer(name) if isinstance(low, int) else table.table[name]
    whole = "an integer" if isinstance(low, int) else "a number"
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise table.fault(name, f"must be {whole}, not {value!r}")
    if not (isinstance(low, int | float) and isinstance(high, int | float) and low <= value <= high) or value == float(
        "inf"
    ):
        upper = "" if high in (_MOST, float("inf")) else f" and at most {high}"
        raise table.fault(name, f"must be {whole}, at least {low}{upper}, not {value!r}")
