"""Fixtures: a folder with a recipe, `fixture.toml`, and what it names. Found by name in the package or by path anywhere.

A *corpus* has documents, questions with answer spans, chunk configs and ranking methods; a *cases* fixture has small requests,
one a line; *papers* are long texts with questions and annotated evidence. Everything is checked while it is read, and a fault is
named with its file and field.
"""

from __future__ import annotations

import hashlib
import tomllib
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from chunkproof import layout
from chunkproof.caselines import Case, read_cases, read_json_lines
from chunkproof.experiment import papers
from chunkproof.experiment.papers import Paper
from chunkproof.experiment.protocol import Protocol
from chunkproof.experiment.protocol import load as load_protocol
from chunkproof.problems import DataMissing, Problem
from chunkproof.tomltable import TomlTable
from chunkproof.vectorfiles import VectorFile, open_vectors

SPEC_MAJOR = 1
"""The major version of the spec that this program speaks; a fixture for another one is refused."""
KINDS = ("corpus", "cases", "papers")
CUTOFFS = (1, 3, 5, 10, 20)
PARAGRAPHS = ("newline", "blank_line")
METHOD_FIELDS: dict[str, tuple[str, ...]] = {
    "bm25": ("k1", "b"),
    "dense": ("precision",),
    "rrf": ("k", "pool"),
    "weighted": ("alpha", "pool"),
}
CONFIG_FIELDS: dict[str, tuple[str, ...]] = {
    "fixed": ("overlap",),
    "recursive": ("paragraphs",),
    "semantic": ("percentile", "paragraphs"),
}


@dataclass(frozen=True)
class Document:
    """A text and the name that questions, vectors and passages know it by."""

    id: str
    text: str
    sha256: str


@dataclass(frozen=True)
class Question:
    """A question and where its answer stands: code points of the document, half-open."""

    id: str
    document: int
    text: str
    start: int
    end: int


@dataclass(frozen=True)
class Config:
    """A chunker with its settings, under the name that the table prints."""

    name: str
    kind: str
    chunker: dict[str, Any]
    paragraphs: str


@dataclass(frozen=True)
class Method:
    """A ranking method with its settings; `configs` None means every config."""

    name: str
    kind: str
    settings: dict[str, Any]
    configs: tuple[str, ...] | None

    @property
    def needs_vectors(self) -> bool:
        """Whether the ranking rests on chunk and question vectors."""
        return self.kind != "bm25"

    def runs_on(self, config: Config) -> bool:
        """Whether this method is asked of that config."""
        return self.configs is None or config.name in self.configs


@dataclass(frozen=True)
class Vectors:
    """The vector files that are there; a missing one is None or absent, and what needs it is left out with a note."""

    sentences: VectorFile | None = None
    questions: VectorFile | None = None
    chunks: dict[str, VectorFile] = field(default_factory=dict)


@dataclass(frozen=True)
class Fixture:
    """A loaded fixture. `hashes` names everything that its replies rest on, for the digest of a table."""

    name: str
    kind: str
    folder: Path
    by_path: bool
    asked: str = ""
    """The name or path that it was asked for by."""
    title: str = ""
    paragraphs: str = "blank_line"
    documents: tuple[Document, ...] = ()
    questions: tuple[Question, ...] = ()
    configs: tuple[Config, ...] = ()
    methods: tuple[Method, ...] = ()
    vectors: Vectors = Vectors()
    wordpiece_limit: int = 256
    cases: tuple[Case, ...] = ()
    papers: tuple[Paper, ...] = ()
    protocol: Protocol | None = None
    """What papers are asked by; None for any other kind."""
    hashes: dict[str, str] = field(default_factory=dict)

    @property
    def golden_root(self) -> Path:
        """Where this fixture's golden files are kept: the house's folder, or its own if it was named by path."""
        return self.folder / "golden" if self.by_path else layout.golden_dir()


def names() -> list[str]:
    """The names of the embedded fixtures, in alphabetical order."""
    root = layout.fixtures_dir()
    if not root.is_dir():
        return []
    return sorted(entry.name for entry in root.iterdir() if (entry / "fixture.toml").is_file())


def find(name_or_path: str) -> tuple[Path, bool]:
    """The folder of a fixture and whether it was named by path. A name of the package wins over a path without `/`."""
    embedded = layout.fixtures_dir() / name_or_path
    path = Path(name_or_path)
    if "/" not in name_or_path and (embedded / "fixture.toml").is_file():
        return embedded, False
    folder = path.parent if path.name == "fixture.toml" else path
    if (folder / "fixture.toml").is_file():
        folder = folder.resolve()
        return folder, folder.parent != layout.fixtures_dir().resolve()
    if folder.is_dir():
        raise Problem(f"{folder} is no fixture: it has no fixture.toml")
    known = ", ".join(names()) or "none"
    raise Problem(f"there is no fixture {name_or_path!r}: it is neither a folder nor one of those embedded ({known})")


def describe(name_or_path: str) -> tuple[Path, dict[str, Any]]:
    """The folder and the checked recipe of a fixture, without its texts: for listing."""
    folder, _ = find(name_or_path)
    recipe = read_recipe(folder)
    return folder, recipe.table


def load(name_or_path: str) -> Fixture:
    """Load and check a fixture. DataMissing if its texts come from a data file that is not at hand."""
    folder, by_path = find(name_or_path)
    recipe = read_recipe(folder)
    name = recipe.text("name")
    if name != folder.name:
        raise recipe.fault("name", f"is {name!r}, but the folder is called {folder.name!r}")
    kind = recipe.one_of("kind", KINDS)
    hashes = {"fixture.toml": _sha256(recipe.path)}
    if kind == "cases":
        files = sorted(folder.glob("*.jsonl"))
        if not files:
            raise Problem(f"{folder} is a fixture of cases, but holds no .jsonl file")
        hashes |= {path.name: _sha256(path) for path in files}
        title = recipe.text("title", "")
        return Fixture(name, kind, folder, by_path, name_or_path, title, cases=read_cases(files), hashes=hashes)
    if kind == "papers":
        return replace(_papers(recipe, folder, by_path, hashes), asked=name_or_path)
    return replace(_corpus(recipe, folder, by_path, hashes), asked=name_or_path)


def read_recipe(folder: Path) -> TomlTable:
    """The fixture.toml of a folder, parsed, and of a spec version that this program speaks."""
    path = folder / "fixture.toml"
    try:
        table = tomllib.loads(path.read_bytes().decode("utf-8"))
    except UnicodeDecodeError as error:
        raise Problem(f"{path} is damaged: it is not UTF-8; restore it, for example from version control") from error
    except tomllib.TOMLDecodeError as error:
        raise Problem(f"{path} is damaged or half-written: {error}; restore it, or mend that line") from error
    recipe = TomlTable(path, table)
    version = recipe.text("spec")
    if version.split(".")[0] != str(SPEC_MAJOR):
        raise recipe.fault(
            "spec",
            f"is {version!r}, but this program speaks spec {SPEC_MAJOR}: use a chunkproof of that version, "
            "or bring the fixture up to date",
        )
    return recipe


def _papers(recipe: TomlTable, folder: Path, by_path: bool, hashes: dict[str, str]) -> Fixture:
    """Papers in one of the forms of `experiment.papers`, and the protocol that they are asked by: the shipped one, or a file."""
    path = folder / recipe.text("papers")
    found = _sha256(path)
    wanted = recipe.text("sha256", "")
    if wanted and wanted != found:
        raise recipe.fault(
            "sha256", f"is {wanted}, but that of {path.name} is {found}: restore the file, or mend the hash"
        )
    named = recipe.text("protocol", "")
    protocol = load_protocol(folder / named) if named else load_protocol()
    given = papers.load(str(path)).papers
    questions = path.with_name("questions.jsonl")
    if path.suffix == ".jsonl":
        hashes[questions.name] = _sha256(questions)
    return Fixture(
        name=recipe.text("name"),
        kind="papers",
        folder=folder,
        by_path=by_path,
        title=recipe.text("title", ""),
        documents=tuple(
            Document(paper.id, paper.text, hashlib.sha256(paper.text.encode("utf-8")).hexdigest()) for paper in given
        ),
        papers=given,
        protocol=protocol,
        hashes={**hashes, path.name: found, "protocol": protocol.digest},
    )


def _corpus(recipe: TomlTable, folder: Path, by_path: bool, hashes: dict[str, str]) -> Fixture:
    documents, texts = _documents(recipe, folder)
    hashes |= {f"document:{document.id}": document.sha256 for document in documents}
    questions: tuple[Question, ...] = ()
    if "questions" in recipe.table:
        path = folder / recipe.sub("questions").text("file")
        hashes[recipe.sub("questions").text("file")] = _sha256(path)
        questions = _questions(path, documents, texts)
    paragraphs = recipe.one_of("paragraphs", PARAGRAPHS, "blank_line")
    configs = tuple(_config(each, paragraphs) for each in recipe.list_of("config"))
    methods = tuple(_method(each, configs) for each in recipe.list_of("method"))
    for label, seen in (("config", [each.name for each in configs]), ("method", [each.name for each in methods])):
        if twice := next((name for name in seen if seen.count(name) > 1), None):
            raise recipe.fault(label, f"{twice!r} is there twice")
    vectors = _vectors(recipe, folder, configs)
    for file in (vectors.sentences, vectors.questions, *vectors.chunks.values()):
        if file is not None:
            hashes[file.path] = file.sha256
    return Fixture(
        name=recipe.text("name"),
        kind="corpus",
        folder=folder,
        by_path=by_path,
        title=recipe.text("title", ""),
        paragraphs=paragraphs,
        documents=documents,
        questions=questions,
        configs=configs,
        methods=methods,
        vectors=vectors,
        wordpiece_limit=recipe.integer("wordpiece_limit", 256),
        hashes=hashes,
    )


def _documents(recipe: TomlTable, folder: Path) -> tuple[tuple[Document, ...], dict[str, str]]:
    if "source" in recipe.table:
        return _documents_from_source(recipe)
    documents = []
    for each in recipe.list_of("document"):
        path = folder / each.text("file")
        if not path.resolve().is_relative_to(folder.resolve()):
            raise each.fault("file", "leads out of the fixture's folder")
        data = _read(path)
        found = hashlib.sha256(data).hexdigest()
        wanted = each.text("sha256", "")
        if wanted and wanted != found:
            raise Problem(
                f"{path} is not the text that {recipe.path} was made for: its SHA-256 is {found}, not {wanted}; "
                "restore the file, or mend the sha256 of the document"
            )
        try:
            documents.append(Document(each.text("id"), data.decode("utf-8"), found))
        except UnicodeDecodeError as error:
            raise Problem(f"{path} is not UTF-8: byte {error.start:,} is {data[error.start]:#04x}") from error
    if not documents:
        raise recipe.fault("document", "is missing: a corpus has at least one [[document]], or a [source]")
    seen = [document.id for document in documents]
    if twice := next((name for name in seen if seen.count(name) > 1), None):
        raise recipe.fault("document", f"the id {twice!r} is there twice")
    return tuple(documents), {}


def _documents_from_source(recipe: TomlTable) -> tuple[tuple[Document, ...], dict[str, str]]:
    """The documents that a data set's file gives, checked by hash, and the text of every question in it."""
    from chunkproof import datasets

    source = recipe.sub("source")
    source.one_of("dataset", ("squad",))
    try:
        built = datasets.squad_documents(source.texts("articles"))
    except datasets.MissingData as error:
        raise DataMissing(str(error)) from error
    except datasets.DataError as error:
        raise Problem(str(error)) from error
    wanted = {each.text("id"): each.text("sha256") for each in source.list_of("document")}
    for document in built:
        if wanted.get(document.id, document.sha256) != document.sha256:
            raise Problem(
                f"the text built for {document.id!r} is not the one that {recipe.path} was made for: SHA-256 "
                f"{document.sha256}, not {wanted[document.id]}; check the data file"
            )
    texts = {question.id: question.question for document in built for question in document.questions}
    return tuple(Document(document.id, document.text, document.sha256) for document in built), texts


def _questions(path: Path, documents: tuple[Document, ...], texts: dict[str, str]) -> tuple[Question, ...]:
    """The questions of a file; `texts` has those whose text comes from a data set, by id."""
    by_id = {document.id: index for index, document in enumerate(documents)}
    questions: list[Question] = []
    seen: set[str] = set()
    for number, line in read_json_lines(path):
        where = f"{path}, line {number}"
        name, document = line.get("id"), by_id.get(line.get("document", ""))
        text = line.get("question", texts.get(str(name)))
        start, end = line.get("start"), line.get("end")
        if not isinstance(name, str) or not isinstance(text, str):
            raise Problem(f'{where}: a question has an "id" and a text "question"')
        if name in seen:
            raise Problem(f"{where}: the question id {name!r} is there twice; give each question one of its own")
        seen.add(name)
        if document is None:
            raise Problem(f"{where}: there is no document {line.get('document')!r}")
        whole = documents[document].text
        if not (isinstance(start, int) and isinstance(end, int) and 0 <= start < end <= len(whole)):
            raise Problem(f"{where}: start and end must be a range of code points within {line['document']!r}")
        if "answer" in line and whole[start:end] != line["answer"]:
            raise Problem(
                f"{where}: the answer is {line['answer']!r}, but {start}:{end} of {line['document']!r} reads "
                f"{whole[start:end]!r}"
            )
        questions.append(Question(name, document, text, start, end))
    return tuple(questions)


def _config(recipe: TomlTable, paragraphs: str) -> Config:
    kind = recipe.one_of("kind", tuple(CONFIG_FIELDS))
    recipe.only("name", "kind", "size", *CONFIG_FIELDS[kind])
    rule = recipe.one_of("paragraphs", PARAGRAPHS, paragraphs)
    chunker: dict[str, Any] = {"kind": kind, "size": recipe.integer("size")}
    if kind == "fixed":
        chunker["overlap"] = recipe.integer("overlap", 0)
    if kind == "semantic":
        chunker["percentile"] = recipe.integer("percentile", 25)
    if kind != "fixed":
        chunker["paragraphs"] = rule
    return Config(recipe.text("name"), kind, chunker, rule)


def _method(recipe: TomlTable, configs: tuple[Config, ...]) -> Method:
    kind = recipe.one_of("kind", tuple(METHOD_FIELDS))
    recipe.only("name", "kind", "configs", *METHOD_FIELDS[kind])
    settings = {key: recipe.table[key] for key in METHOD_FIELDS[kind] if key in recipe.table}
    only: tuple[str, ...] | None = None
    if "configs" in recipe.table:
        only = tuple(recipe.texts("configs"))
        known = {config.name for config in configs}
        if stranger := next((name for name in only if name not in known), None):
            raise recipe.fault("configs", f"names {stranger!r}, which is no config of this fixture")
    return Method(recipe.text("name"), kind, settings, only)


def _vectors(recipe: TomlTable, folder: Path, configs: tuple[Config, ...]) -> Vectors:
    if "vectors" not in recipe.table:
        return Vectors()
    table = recipe.sub("vectors")
    sentences = open_vectors(folder, table.text("sentences", ""))
    questions = open_vectors(folder, table.text("questions", ""))
    pattern = table.text("chunks", "")
    files = {config.name: open_vectors(folder, pattern.replace("{config}", config.name)) for config in configs}
    return Vectors(sentences, questions, {name: file for name, file in files.items() if file is not None})


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise Problem(f"{path} cannot be read: {error.strerror}; restore it, or mend the fixture") from error


def _sha256(path: Path) -> str:
    return hashlib.sha256(_read(path)).hexdigest()


__all__ = ["DataMissing", "Fixture", "describe", "find", "load", "names"]
