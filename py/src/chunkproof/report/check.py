"""What the page asks its own engine, and what the golden files say that the replies are.

A request is the harness's own, with what the page has already named in place of repeated:

- `{"$document": i}`: the whole text of a document
- `{"$slices": [document, start, end, …]}`: a list of texts, those ranges of documents
- `{"$queries": true}`: the texts of all questions
- `{"$spans": [document, start, end, …]}`: a list of `{"document", "start", "end"}`
- `{"$answers": true}`: the answers of all questions, likewise
- `{"$rankings": case}`: the passages, best first, that the engine's own reply to `rankings` of that case lists
- `{"$vectors": name}`: an entry of the table `vectors`

An item's digest is that of the value which the stage compares: the whole reply, or of a semantic reply the part that the stage
is named for. Items of the stage `table` print a row's figures (spec 03 rule 6) and are compared as `{"ok": {"texts": …}}`.
"""

from __future__ import annotations

import base64
import struct
from collections.abc import Sequence
from typing import Any

from chunkproof import golden
from chunkproof.exact import mean_tokens
from chunkproof.fixtures import Fixture
from chunkproof.golden import Lines
from chunkproof.parity import FixtureResult
from chunkproof.pipeline import DECIMALS, METRICS, Outcome
from chunkproof.replies import Json, digest
from chunkproof.stages import STAGES, chapter
from chunkproof.verdict import settings

_PARTS = ("similarities", "threshold")


def collect(result: FixtureResult) -> tuple[dict[str, Any], Lines]:
    """The requests with their digests, and the golden values that stand behind them, as the golden files have them.

    Where a fixture has no golden files yet, its run, in which parity held, takes their place. `left_out` counts the values
    that were compared and that the page cannot ask for: lines that are no request, files, and what golden files hold in groups.
    """
    run = result.runs[0]
    stored = golden.read(result.fixture, str(run.info.get("spec", "")))
    values = stored if stored is not None else golden.golden_lines(result.fixture, run)
    short = _Short(result)
    items = []
    for asked in _asked(result):
        wanted = expected(result.fixture, values, asked)
        if wanted is not None:
            item = {"stage": asked.stage, "case": asked.case, "request": short.of(asked), "digest": wanted}
            items.append(item | _told(asked))
    items += _table_items(result, values)
    there = {str(item["stage"]) for item in items}
    check = {
        "fixture": result.fixture.name,
        "golden": stored is not None,
        "stages": [stage for stage in STAGES if stage in there],
        "items": items,
        "left_out": result.compared - len(items),
        "vectors": short.vectors.table,
        "repeat": ["chunkproof", "parity", "--fixture", result.fixture.asked or result.fixture.name],
    }
    return check, values


def _told(asked: Outcome) -> dict[str, str]:
    """What a report of a difference says of an item beside the difference: the spec's place, and why or what it asks."""
    told = {"spec": chapter(asked.stage, asked.request)}
    words = settings(asked.request)
    return told | ({"why": asked.why} if asked.why else {"asked": words} if words else {})


def _asked(result: FixtureResult) -> list[Outcome]:
    """What can be asked in a browser: no request that points to files, unless they are the corpus's own vectors."""
    corpus = result.fixture.kind == "corpus"
    return [
        each
        for each in result.runs[0].outcomes
        if each.request is not None and (corpus or (each.request.get("op") != "info" and not _names_file(each.request)))
    ]


def _names_file(request: Json) -> bool:
    if isinstance(request, dict):
        return "arrow" in request or any(map(_names_file, request.values()))
    return isinstance(request, list) and any(map(_names_file, request))


def expected(fixture: Fixture, values: Lines, asked: Outcome) -> str | None:
    """The digest that the golden files want of a reply at its stage; None if they do not have the case."""
    cases = fixture.kind == "cases"
    stage = "chunks" if cases and asked.stage in _PARTS else asked.stage
    value = values.get(stage, {}).get(asked.case)
    if value is None:
        return None
    if "sha256" in value and "ok" in value:
        return str(value["sha256"])
    ok = value.get("ok")
    if not isinstance(ok, dict):
        return digest(value)
    if stage == "pieces" and "lengths" in ok:
        return digest({"ok": {"pieces": _pieces(ok["lengths"], ok["tokens"])}})
    if cases and stage == "chunks":
        if asked.stage in _PARTS:
            return digest({"ok": {asked.stage: ok[asked.stage]}})
        return digest({"ok": {key: item for key, item in ok.items() if key not in _PARTS}})
    return digest(value)


def _pieces(lengths: Sequence[int], tokens: Sequence[int]) -> list[dict[str, int]]:
    """The pieces that a golden file has as lengths."""
    pieces, at = [], 0
    for length, count in zip(lengths, tokens, strict=True):
        pieces.append({"start": at, "end": at + length, "tokens": count})
        at += length
    return pieces


def _table_items(result: FixtureResult, values: Lines) -> list[dict[str, Any]]:
    """The printing of each row: from the doubles that the engines agreed on to the figures in the golden files."""
    if result.fixture.kind != "corpus":
        return []  # cases have no table, and their metrics need not have its columns
    means = {
        item.case: [item.value["ok"]["mean"][metric] for metric in METRICS]
        for item in result.runs[0].outcomes
        if item.stage == "metrics" and "ok" in item.value
    }
    rows = values.get("table", {})
    tokens = mean_tokens(result)
    items = []
    for case, value in rows.items():
        row = value["ok"]
        if "method" in row:
            digits, decimals, columns = means.get(case), DECIMALS, list(METRICS)
        else:
            digits, decimals, columns = [_double(*tokens[case])], 1, ["mean_tokens"]
        texts = [row[column] for column in columns]
        if digits is not None:
            request = {"op": "numbers", "kind": "print", "values": digits, "decimals": decimals}
            wanted = digest({"ok": {"texts": texts}})
            item = {"stage": "table", "case": case, "request": request, "digest": wanted, "columns": columns}
            items.append(item | {"spec": chapter("table", request)})
    return items


def _double(numerator: int, denominator: int) -> str:
    """The digits of the double nearest to a quotient (spec 03 rule 4), which is what Python's division of integers gives."""
    return struct.pack(">d", numerator / denominator).hex()


class _Vectors:
    """The vectors that requests point to, inline, under short names, in the order of their first use."""

    def __init__(self, fixture: Fixture) -> None:
        self._folder = fixture.folder
        self._names: dict[tuple[str, int, int], str] = {}
        self._read: dict[str, Any] = {}
        self.table: dict[str, dict[str, Any]] = {}

    def name(self, reference: dict[str, Json]) -> str:
        """The name of a file's rows in the table."""
        first, end = reference["rows"]
        key = (str(reference["arrow"]), first, end)
        if key not in self._names:
            self._names[key] = f"v{len(self._names)}"
            rows = self._matrix(key[0], str(reference["column"]))[first:end]
            inline = base64.b64encode(rows.tobytes()).decode("ascii")
            self.table[self._names[key]] = {"dim": rows.shape[1], "int8": inline}
        return self._names[key]

    def _matrix(self, path: str, column: str) -> Any:
        """The rows of a file, n × dim signed bytes. That they are the fixture's was checked when they were opened."""
        if path not in self._read:
            import pyarrow as pa
            import pyarrow.ipc

            with pa.ipc.open_file(self._folder / path) as reader:
                values = reader.read_all().column(column).combine_chunks()
            self._read[path] = values.flatten().to_numpy().reshape(len(values), -1)
        return self._read[path]


class _Short:
    """Requests of a corpus in their short form; those of a fixture of cases are short already."""

    def __init__(self, result: FixtureResult) -> None:
        self.vectors = _Vectors(result.fixture)
        self._corpus = result.fixture.kind == "corpus"
        self._documents = {document.text: index for index, document in enumerate(result.fixture.documents)}
        self._spans = {  # of each config's passages, as the engines were asked to rank and to evaluate them
            item.case: [span[name] for span in item.request["passages"] for name in ("document", "start", "end")]
            for item in result.runs[0].outcomes
            if self._corpus and item.stage == "metrics" and item.request is not None
        }

    def of(self, asked: Outcome) -> Json:
        """The request of an outcome."""
        request = asked.request or {}
        if not self._corpus:
            return request
        return {key: self._field(request, key, asked.case) for key in request}

    def _field(self, request: dict[str, Json], key: str, case: str) -> Json:
        value = request[key]
        if key == "text":
            return {"$document": self._documents[value]}
        if key == "queries":
            return {"$queries": True}
        if key == "answers":
            return {"$answers": True}
        if key == "rankings":
            return {"$rankings": case}
        if key in ("passage_vectors", "query_vectors"):
            return {"$vectors": self.vectors.name(value)}
        if key == "chunker" and "vectors" in value:
            return {**value, "vectors": {"$vectors": self.vectors.name(value["vectors"])}}
        if key == "passages" and case in self._spans:
            return {"$spans" if request["op"] == "evaluate" else "$slices": self._spans[case]}
        return value
