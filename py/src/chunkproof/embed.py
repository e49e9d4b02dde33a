"""`chunkproof embed FIXTURE`: makes the vectors that a fixture commits, or compares them with those that it has.

Sentences (their text stripped of white space), questions and the chunks of every config become int8 vectors in Arrow
files, with what they were made by in the schema's metadata and the chunks' word-piece counts beside them. Ranges come
from the Python engine, asked as a process. Nothing that is there is overwritten unless `replace` is given.

Vectors are kept in the user's cache as they are made, by the hash of text and model: a run that was interrupted goes on
where it was.
"""

from __future__ import annotations

import base64
import hashlib
import json
import sqlite3
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.ipc

from chunkproof import datasets, fixtures, layout, minilm, text
from chunkproof.engines import Engine, EngineFailure
from chunkproof.minilm import Embedded, Int8
from chunkproof.problems import Problem
from chunkproof.vectorfiles import COLUMN, METADATA, TEXTS, digest_of_texts

#: The share of components that may differ from committed vectors: machines round a float32 sum differently.
TOLERANCE = 0.0001
#: Texts between two writes to the cache: what an interruption may lose.
BATCH = 16


class Embedder(Protocol):
    """What makes vectors: `minilm.MiniLM`, or another in its place."""

    def embed(self, texts: Sequence[str]) -> list[Embedded]:
        """The vectors of the texts, in their order."""

    def provenance(self) -> dict[str, str | int]:
        """What the vectors are made by."""


@dataclass(frozen=True)
class FileReport:
    """One vector file: `state` is new, same, agrees, differs, stale (made for other texts or counts) or replaced.

    `differ` of `components` are not those of the committed file; None where there is none to compare with.
    """

    path: str
    vectors: int
    components: int
    differ: int | None
    state: str

    def __str__(self) -> str:
        made = f"{self.path}: {self.vectors:,} vectors"
        if self.state == "new":
            return f"{made}, new"
        if self.differ is None:
            return (
                f"{made}, in place of one made for other texts"
                if self.state == "replaced"
                else (f"{made}, but the committed file was made for other texts")
            )
        return f"{made}, {self.differ:,} of {self.components:,} components differ" + (
            ", replaced" if self.state == "replaced" else ""
        )


@dataclass(frozen=True)
class Report:
    """What `embed` found and did. `refused` says why nothing was written although something differs; else it is empty."""

    files: tuple[FileReport, ...]
    refused: str

    @property
    def components(self) -> int:
        """Components that were compared with committed ones."""
        return sum(file.components for file in self.files if file.differ is not None)

    @property
    def differ(self) -> int:
        """How many of these differ."""
        return sum(file.differ or 0 for file in self.files)

    @property
    def ok(self) -> bool:
        """Whether the fixture's vectors are now those of the model, within the tolerance."""
        return not self.refused

    def as_json(self) -> dict[str, Any]:
        """For `--json`."""
        return {
            "ok": self.ok,
            "refused": self.refused or None,
            "components": self.components,
            "differ": self.differ,
            "files": [vars(file) for file in self.files],
        }

    def __str__(self) -> str:
        lines = [str(file) for file in self.files]
        if self.components:
            share = 100 * self.differ / self.components
            lines.append(f"together {self.differ:,} of {self.components:,} components differ ({share:.4f} %)")
        return "\n".join([*lines, self.refused] if self.refused else lines)


@dataclass(frozen=True)
class _Rows:
    """The rows of a vector file: their keys (a column each), their texts, and whether word-piece counts are stored."""

    path: str
    keys: dict[str, list[Any]]
    texts: list[str]
    counted: bool = False


def embed(
    fixture: str,
    *,
    replace: bool = False,
    fresh: bool = False,
    progress: bool | None = None,
    model: Embedder | None = None,
) -> Report:
    """Embeds a fixture, by name or path, and writes the vector files that it names and does not have.

    A file that is there is compared: more than `TOLERANCE` of all components differing, or other rows, refuses the
    whole run and writes nothing. `replace` writes every file that differs at all. `fresh` takes no vector from the cache.
    `progress` draws a bar on stderr, by default if that is a terminal. Raises Problem, DataMissing without the texts.
    """
    loaded = fixtures.load(fixture)
    names = _names(loaded)
    embedder = model or minilm.MiniLM()
    with closing(_Cache(embedder, fresh)) as cache, _Bar(progress) as bar:
        try:
            with Engine(layout.py_engine(), loaded.folder, "py") as engine:
                rows = [*_sentence_rows(loaded, names, engine), _question_rows(loaded, names)]
                tables = {each.path: _table(each, cache.vectors(each.texts, bar, each.path)) for each in rows}
                sentences = _effective(loaded.folder, names["sentences"], tables, replace)
                for each in _chunk_rows(loaded, names, engine, sentences):
                    tables[each.path] = _table(each, cache.vectors(each.texts, bar, each.path))
        except EngineFailure as failure:
            raise Problem(f"the Python engine failed: {failure}") from failure
    return _settle(loaded.folder, tables, embedder.provenance(), replace)


def _names(fixture: fixtures.Fixture) -> dict[str, Any]:
    """The recipe's table [vectors]."""
    if fixture.kind != "corpus":
        raise Problem(f"{fixture.name} is a fixture of {fixture.kind}: only a corpus has vectors")
    recipe = fixtures.read_recipe(fixture.folder)
    table = recipe.sub("vectors")
    names = {name: table.text(name) for name in ("sentences", "questions", "chunks")}
    for config in fixture.configs:
        if config.kind == "semantic" and config.paragraphs != fixture.paragraphs:
            raise Problem(
                f"{recipe.path}: {config.name} has another paragraph rule than the fixture's sentence vectors"
            )
    rules = table.texts("sentences_rules") if "sentences_rules" in table.table else [fixture.paragraphs]
    if fixture.paragraphs not in rules or not set(rules) <= set(fixtures.PARAGRAPHS):
        raise table.fault("sentences_rules", f"must hold {fixture.paragraphs!r} and nothing but paragraph rules")
    if len(rules) > 1 and fixture.paragraphs not in names["sentences"]:
        raise table.fault("sentences", f"must hold {fixture.paragraphs!r} in its name where there are several rules")
    return {**names, "rules": rules}


def _ask(engine: Engine, documents: Sequence[fixtures.Document], requests: Sequence[dict[str, Any]]) -> list[Any]:
    labels = [f"{request['op']} of {document.id}" for document, request in zip(documents, requests, strict=True)]
    replies = engine.ask(list(zip(labels, requests, strict=True)))
    for label, reply in zip(labels, replies, strict=True):
        if reply.ok is None:
            raise Problem(f"the Python engine refused {label}: {reply.code}, {reply.message}")
    return [reply.ok for reply in replies]


def _sentence_rows(fixture: fixtures.Fixture, names: Mapping[str, Any], engine: Engine) -> Iterator[_Rows]:
    for rule in names["rules"]:
        requests = [{"op": "segments", "text": each.text, "paragraphs": rule} for each in fixture.documents]
        keys: dict[str, list[Any]] = {"document": [], "start": [], "end": []}
        texts = []
        for document, ok in zip(fixture.documents, _ask(engine, fixture.documents, requests), strict=True):
            for sentence in ok["sentences"]:
                _add(keys, document.id, sentence)
                texts.append(document.text[sentence["start"] : sentence["end"]].strip(text.WHITE))
        yield _Rows(names["sentences"].replace(fixture.paragraphs, rule), keys, texts)


def _question_rows(fixture: fixtures.Fixture, names: Mapping[str, Any]) -> _Rows:
    ids = [question.id for question in fixture.questions]
    return _Rows(names["questions"], {"id": ids}, [question.text for question in fixture.questions])


def _chunk_rows(
    fixture: fixtures.Fixture, names: Mapping[str, Any], engine: Engine, sentences: pa.Table
) -> Iterator[_Rows]:
    of_row = np.array(sentences.column("document").to_pylist())
    matrix = _matrix(sentences)
    for config in fixture.configs:
        requests = []
        for document in fixture.documents:
            chunker = dict(config.chunker)
            if config.kind == "semantic":
                own = matrix[of_row == document.id] if len(matrix) else matrix
                chunker["vectors"] = {"dim": matrix.shape[1], "int8": base64.b64encode(own.tobytes()).decode("ascii")}
            requests.append({"op": "chunk", "text": document.text, "chunker": chunker})
        keys: dict[str, list[Any]] = {"document": [], "start": [], "end": []}
        texts = []
        for document, ok in zip(fixture.documents, _ask(engine, fixture.documents, requests), strict=True):
            for chunk in ok["chunks"]:
                _add(keys, document.id, chunk)
                texts.append(document.text[chunk["start"] : chunk["end"]])
        yield _Rows(names["chunks"].replace("{config}", config.name), keys, texts, counted=True)


def _add(keys: dict[str, list[Any]], document: str, extent: Mapping[str, int]) -> None:
    keys["document"].append(document)
    keys["start"].append(extent["start"])
    keys["end"].append(extent["end"])


# Arrow files


def _table(rows: _Rows, vectors: tuple[Int8, list[int]]) -> pa.Table:
    matrix, wordpieces = vectors
    columns = {
        name: pa.array(values, pa.int64() if name in ("start", "end") else pa.utf8())
        for name, values in rows.keys.items()
    }
    if rows.counted:
        columns["wordpieces"] = pa.array(wordpieces, pa.int32())
    columns[COLUMN] = pa.FixedSizeListArray.from_arrays(pa.array(matrix.reshape(-1), pa.int8()), matrix.shape[1])
    said = json.dumps({TEXTS: digest_of_texts(rows.texts)}).encode("utf-8")
    return pa.table(columns).replace_schema_metadata({METADATA: said})


def _matrix(table: pa.Table) -> Int8:
    column = table.column(COLUMN).combine_chunks()
    flat: Int8 = column.flatten().to_numpy(zero_copy_only=False)
    return flat.reshape(len(column), column.type.list_size)


def read(file: Path) -> pa.Table:
    """A vector file as a table; the metadata of its schema has what it was made by, see `provenance`."""
    with pa.ipc.open_file(pa.BufferReader(file.read_bytes())) as reader:
        return reader.read_all()


def provenance(table: pa.Table) -> dict[str, Any]:
    """What the vectors of a file were made by: model, hashes of weights and tokenizer, versions, machine, date."""
    said: dict[str, Any] = json.loads((table.schema.metadata or {}).get(METADATA, b"{}"))
    return said


def _write(file: Path, table: pa.Table, made_by: Mapping[str, str | int]) -> None:
    said = {**provenance(table), **made_by, "date": datetime.now(UTC).date().isoformat()}
    table = table.replace_schema_metadata({METADATA: json.dumps(said, sort_keys=True).encode("utf-8")})
    file.parent.mkdir(parents=True, exist_ok=True)
    part = file.with_name(file.name + ".part")
    with pa.ipc.new_file(str(part), table.schema) as writer:
        writer.write_table(table)
    part.replace(file)


def _effective(folder: Path, path: str, tables: Mapping[str, pa.Table], replace: bool) -> pa.Table:
    """The sentence vectors that semantic chunks rest on: the committed ones where they will stay."""
    made = tables[path]
    if replace or not (folder / path).is_file():
        return made
    committed = read(folder / path)
    return committed if _same_rows(committed, made) else made


def _same_rows(a: pa.Table, b: pa.Table) -> bool:
    """Whether two tables have the same keys and counts and vectors of one dimension."""
    return bool(a.schema.equals(b.schema)) and bool(a.drop_columns([COLUMN]).equals(b.drop_columns([COLUMN])))


def _settle(folder: Path, tables: Mapping[str, pa.Table], made_by: Mapping[str, str | int], replace: bool) -> Report:
    """Compares with what is there, decides, and writes all or nothing."""
    reports = [_compare(folder, path, table, replace) for path, table in tables.items()]
    report = Report(tuple(reports), "")
    stale = [file.path for file in reports if file.state == "stale"]
    refused = ""
    if stale:
        refused = f"{', '.join(stale)} would have other rows: nothing was written; --replace writes them anew"
    elif not replace and report.differ > TOLERANCE * report.components:
        refused = f"more than {TOLERANCE:.2%} of the components differ: nothing was written; --replace writes them anew"
    if refused:
        return Report(tuple(reports), refused)
    for file in reports:
        if file.state in ("new", "replaced"):
            _write(folder / file.path, tables[file.path], made_by)
    return report


def _compare(folder: Path, path: str, made: pa.Table, replace: bool) -> FileReport:
    matrix = _matrix(made)
    vectors, components = len(matrix), matrix.size
    if not (folder / path).is_file():
        return FileReport(path, vectors, components, None, "new")
    committed = read(folder / path)
    if not _same_rows(committed, made):
        return FileReport(path, vectors, components, None, "replaced" if replace else "stale")
    differ = int(np.count_nonzero(_matrix(committed) != matrix))
    state = (
        "same" if not differ else "replaced" if replace else "agrees" if differ <= TOLERANCE * components else "differs"
    )
    return FileReport(path, vectors, components, differ, state)


# The cache and the bar


class _Cache:
    """Vectors by the hash of text and model, in a file below the user's cache; in memory where that can't be written."""

    def __init__(self, embedder: Embedder, fresh: bool) -> None:
        self._embedder, self._fresh = embedder, fresh
        self._made: dict[bytes, tuple[bytes, int]] = {}
        self._model = json.dumps(embedder.provenance(), sort_keys=True).encode("utf-8") + b"\0"
        self.file = datasets.cache_dir() / "vectors.sqlite"
        try:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            self._open(str(self.file))
        except (OSError, sqlite3.OperationalError):
            self._open(":memory:")
        except sqlite3.DatabaseError as error:
            raise Problem(f"{self.file} is damaged: delete it, it only saves time") from error

    def _open(self, where: str) -> None:
        self._base = sqlite3.connect(where, timeout=30)
        with self._base:
            self._base.execute(
                "CREATE TABLE IF NOT EXISTS vectors "
                "(key BLOB PRIMARY KEY, vector BLOB NOT NULL, wordpieces INTEGER NOT NULL) WITHOUT ROWID"
            )

    def close(self) -> None:
        self._base.close()

    def vectors(self, texts: Sequence[str], bar: _Bar, title: str) -> tuple[Int8, list[int]]:
        """The int8 vectors of the texts, one a row, and their word-piece counts."""
        keys = [hashlib.sha256(self._model + each.encode("utf-8", "surrogatepass")).digest() for each in texts]
        missing = {key: each for key, each in zip(keys, texts, strict=True) if not self._known(key)}
        # Long texts first: those that run side by side take about as long as each other.
        todo = sorted(missing.items(), key=lambda item: -len(item[1]))
        with bar.task(title, len(todo)) as step:
            for first in range(0, len(todo), BATCH):
                batch = todo[first : first + BATCH]
                self._keep([key for key, _ in batch], self._embedder.embed([each for _, each in batch]))
                step(len(batch))
        found = [self._made[key] for key in keys]
        if not found:
            return np.zeros((0, minilm.DIMENSION), np.int8), []
        return np.stack([np.frombuffer(vector, np.int8) for vector, _ in found]), [count for _, count in found]

    def _known(self, key: bytes) -> bool:
        if key not in self._made and not self._fresh:
            row = self._base.execute("SELECT vector, wordpieces FROM vectors WHERE key = ?", (key,)).fetchone()
            if row is not None:
                self._made[key] = row
        return key in self._made

    def _keep(self, keys: Sequence[bytes], embedded: Sequence[Embedded]) -> None:
        matrix = minilm.int8([each.vector for each in embedded])
        with self._base:
            for key, row, each in zip(keys, matrix, embedded, strict=True):
                self._made[key] = row.tobytes(), each.wordpieces
                self._base.execute("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)", (key, *self._made[key]))


@contextmanager
def embedding(
    model: Embedder | None = None, *, progress: bool | None = None
) -> Iterator[Callable[[Sequence[str], str], tuple[Int8, list[int]]]]:
    """What makes vectors of any texts, over the user's cache: called with texts and a title for the bar.

    It gives the int8 vectors, one a row, and the word pieces of each text. Raises Problem as `minilm.MiniLM` does.
    """
    with closing(_Cache(model or minilm.MiniLM(), fresh=False)) as cache, _Bar(progress) as bar:
        yield lambda texts, title: cache.vectors(texts, bar, title)


class _Bar:
    """Progress on stderr, one line a file; nothing where it is not wanted."""

    def __init__(self, progress: bool | None) -> None:
        self._progress: Any = None
        if sys.stderr.isatty() if progress is None else progress:
            from rich.console import Console
            from rich.progress import Progress

            self._progress = Progress(console=Console(stderr=True))

    def __enter__(self) -> _Bar:
        if self._progress is not None:
            self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._progress is not None:
            self._progress.stop()

    @contextmanager
    def task(self, title: str, total: int) -> Iterator[Callable[[int], None]]:
        """A line; what it yields is called with how many more are done."""
        if self._progress is None or not total:
            yield lambda _: None
            return
        task = self._progress.add_task(title, total=total)
        yield lambda more: self._progress.advance(task, more)
