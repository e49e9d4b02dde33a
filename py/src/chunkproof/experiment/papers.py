"""Papers with annotated evidence: QASPER, a file in its form, or a user's own documents (spec 16 § Text).

A paper's text is its abstract and every paragraph of every section, joined by a blank line; paragraphs of white space alone are
left out and counted. Headings are not in it: they are kept beside it. A fault of the input is named with its place.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from chunkproof import datasets, numerics
from chunkproof.problems import DataMissing, Problem

WHITE = "".join(
    map(chr, (*range(9, 14), 32, 0x85, 0xA0, 0x1680, *range(0x2000, 0x200B), 0x2028, 0x2029, 0x202F, 0x205F, 0x3000))
)
"""White space as spec 04 rule 1 has it, which is neither Python's nor JavaScript's."""
JOINT = "\n\n"
QASPER = {"train": "qasper-train", "validation": "qasper-dev"}
"""The splits of QASPER, by their names in the list of data sets."""
KINDS = ("extractive", "yes_no", "free_form", "unanswerable")


@dataclass(frozen=True)
class Paragraph:
    """Where a paragraph stands in the text, in code points, and the index of its section; None for the abstract."""

    start: int
    end: int
    section: int | None


@dataclass(frozen=True)
class Section:
    """A section by its heading; an empty name stays empty. Its paragraphs name it by index."""

    name: str


@dataclass(frozen=True)
class Annotator:
    """One annotator's answer: what kind it is, and the evidence as strings."""

    id: str
    kind: str
    strings: tuple[str, ...]


@dataclass(frozen=True)
class Question:
    """A question about a paper, with everybody's answers."""

    id: str
    text: str
    annotators: tuple[Annotator, ...]


@dataclass(frozen=True)
class Paper:
    """A paper as one text. `left_out` counts its paragraphs of white space alone."""

    id: str
    title: str
    text: str
    paragraphs: tuple[Paragraph, ...]
    sections: tuple[Section, ...]
    questions: tuple[Question, ...]
    left_out: int = 0
    empty_sections: int = 0
    has_abstract: bool = True

    @property
    def sha256(self) -> str:
        """The hash of the text's UTF-8, of where its paragraphs stand, and of what is asked: what results rest on."""
        spans = [[each.start, each.end, each.section] for each in self.paragraphs]
        asked = [[q.id, q.text, [[a.id, a.kind, list(a.strings)] for a in q.annotators]] for q in self.questions]
        data = json.dumps([self.id, self.text, spans, [each.name for each in self.sections], asked])
        return hashlib.sha256(data.encode("ascii")).hexdigest()

    @property
    def without_sections(self) -> bool:
        """Whether the abstract is all there is; such a paper is kept, and counted by name."""
        return all(each.section is None for each in self.paragraphs)

    def paragraph(self, index: int) -> str:
        """The text of a paragraph."""
        return self.text[self.paragraphs[index].start : self.paragraphs[index].end]

    def heading(self, index: int) -> str:
        """The heading that belongs to a paragraph: its section's name, `Abstract` for the abstract."""
        section = self.paragraphs[index].section
        return "Abstract" if section is None else self.sections[section].name


@dataclass(frozen=True)
class Dataset:
    """Papers in the file's order, and what they were read from."""

    name: str
    split: str
    papers: tuple[Paper, ...]
    sha256: str
    notes: tuple[str, ...] = ()

    @property
    def questions(self) -> int:
        """How many questions there are, those that are not scored included."""
        return sum(len(paper.questions) for paper in self.papers)


def load(dataset: str, split: str = "validation") -> Dataset:
    """The papers of QASPER's split, or those of a file or folder in QASPER's form or as JSON Lines.

    Raises DataMissing where QASPER is not at hand and Problem for what can't be read.
    """
    if dataset == "qasper":
        if split not in QASPER:
            raise Problem(f"qasper has no split {split!r}; it has {' and '.join(QASPER)}")
        try:
            path = datasets.path(QASPER[split])
        except datasets.MissingData as error:
            raise DataMissing(str(error)) from error
        except datasets.DataError as error:
            raise Problem(str(error)) from error
        return _from_file(path, dataset, split)
    place = Path(dataset)
    if place.is_dir():
        for name in ("papers.json", "documents.jsonl"):
            if (place / name).is_file():
                return _from_file(place / name, place.resolve().name, "")
        raise Problem(f"{place} holds neither papers.json (in QASPER's form) nor documents.jsonl")
    if place.is_file():
        return _from_file(place, place.stem, "")
    raise Problem(f"there is no data set {dataset!r}: it is neither qasper nor a folder or file")


def _from_file(path: Path, name: str, split: str) -> Dataset:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise Problem(f"{path} cannot be read: {error.strerror}") from error
    sha256 = hashlib.sha256(data).hexdigest()
    papers = _own(path, data) if path.suffix == ".jsonl" else _qasper(path, data)
    if not papers:
        raise Problem(f"{path} holds no paper")
    return Dataset(name, split, papers, sha256)


def select(papers: Sequence[Paper], count: int, seed: int) -> tuple[Paper, ...]:
    """`count` of the papers, drawn with the seed by the spec's sample (03 rule 9), in their order."""
    if not 1 <= count <= len(papers):
        raise Problem(f"{count} papers can't be drawn from {len(papers)}")
    if not 0 <= seed < 2**32:
        raise Problem(f"the seed {seed} is not in 0 … 4294967295")
    return tuple(papers[index] for index in numerics.sample(seed, len(papers), count))


def without_abstract(paper: Paper) -> Paper:
    """The same paper as a text of its own that has no abstract. Evidence in the abstract then maps to nothing."""
    texts = [(paper.paragraph(i), each.section) for i, each in enumerate(paper.paragraphs) if each.section is not None]
    text, paragraphs = _joined(texts)
    return replace(paper, text=text, paragraphs=paragraphs, has_abstract=False)


def is_white(text: str) -> bool:
    """Whether nothing is left once white space is stripped."""
    return not text.strip(WHITE)


def _joined(texts: Sequence[tuple[str, int | None]]) -> tuple[str, tuple[Paragraph, ...]]:
    paragraphs, at = [], 0
    for text, section in texts:
        paragraphs.append(Paragraph(at, at + len(text), section))
        at += len(text) + len(JOINT)
    return JOINT.join(text for text, _ in texts), tuple(paragraphs)


# QASPER's form


def _qasper(path: Path, data: bytes) -> tuple[Paper, ...]:
    try:
        table = json.loads(data.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise Problem(f"{path} is not UTF-8: byte {error.start:,}") from error
    except ValueError as error:
        raise Problem(f"{path} is damaged or cut off: {error}; get the file again") from error
    if not isinstance(table, dict):
        raise Problem(f"{path} is not in QASPER's form: papers by id, in one object")
    return tuple(_paper(path, name, item) for name, item in table.items())


def _paper(path: Path, name: str, item: Any) -> Paper:
    where = f"{path}, paper {name}"
    abstract, sections = _of(item, "abstract", str, where, ""), _of(item, "full_text", list, where)
    texts: list[tuple[str, int | None]] = [(abstract, None)]
    names = []
    empty = 0
    for number, section in enumerate(sections):
        there = f"{where}, section {number + 1}"
        paragraphs = _of(section, "paragraphs", list, there)
        if not all(isinstance(text, str) for text in paragraphs):
            raise Problem(f"{there}: a paragraph is no text")
        names.append(_of(section, "section_name", str, there, ""))
        empty += not any(not is_white(text) for text in paragraphs)
        texts += [(text, number) for text in paragraphs]
    kept = [(text, section) for text, section in texts if not is_white(text)]
    if not kept:
        raise Problem(f"{where} has no text at all: leave the paper out, or give its abstract or full_text")
    text, placed = _joined(kept)
    questions = tuple(_question(asked, where) for asked in _of(item, "qas", list, where))
    seen = [question.id for question in questions]
    if twice := next((each for each in seen if seen.count(each) > 1), None):
        raise Problem(f"{where}: the question id {twice!r} is there twice")
    title = _of(item, "title", str, where, "")
    return Paper(
        name,
        title,
        text,
        placed,
        tuple(map(Section, names)),
        questions,
        len(texts) - len(kept),
        empty,
        not is_white(abstract),
    )


def _question(asked: Any, where: str) -> Question:
    name = _of(asked, "question_id", str, f"{where}, a question")
    there = f"{where}, question {name}"
    answers = []
    for number, given in enumerate(_of(asked, "answers", list, there)):
        answer = _of(given, "answer", dict, there)
        strings = _of(answer, "evidence", list, there)
        if not all(isinstance(each, str) for each in strings):
            raise Problem(f"{there}: evidence is a list of texts")
        label = _of(given, "annotation_id", str, there, str(number + 1))
        answers.append(Annotator(label, _kind(answer), tuple(strings)))
    return Question(name, _of(asked, "question", str, there), tuple(answers))


def _kind(answer: Mapping[str, Any]) -> str:
    if answer.get("unanswerable"):
        return "unanswerable"
    if answer.get("extractive_spans"):
        return "extractive"
    return "yes_no" if isinstance(answer.get("yes_no"), bool) else "free_form"


_NEEDED: Any = object()


def _of(item: Any, key: str, kind: type[Any], where: str, default: Any = _NEEDED) -> Any:
    """A field of that type; null and a missing one are the default, where there is one."""
    if not isinstance(item, dict):
        raise Problem(f"{where} is no JSON object")
    value = item.get(key)
    if value is None and default is not _NEEDED:
        return default
    if not isinstance(value, kind):
        names: dict[type[Any], str] = {str: "a text", list: "a list", dict: "an object"}
        raise Problem(f"{where}: {key!r} is missing or is not {names[kind]}")
    return value


# A user's own documents


def _own(path: Path, data: bytes) -> tuple[Paper, ...]:
    """documents.jsonl: `{"id", "title", "abstract", "sections": [{"name", "paragraphs"}]}` a line; questions.jsonl beside it:
    `{"id", "document", "question", "answers": [{"kind", "evidence"}]}`.
    """
    from chunkproof.caselines import read_json_lines

    documents = {}
    for number, line in read_json_lines(path):
        name = _of(line, "id", str, f"{path}, line {number}")
        if name in documents:
            raise Problem(f"{path}, line {number}: the document {name!r} is there twice")
        sections = _of(line, "sections", list, f"{path}, line {number}")
        full = [
            {"section_name": s.get("name"), "paragraphs": s.get("paragraphs")} if isinstance(s, dict) else s
            for s in sections
        ]
        documents[name] = {**line, "full_text": full, "qas": []}
    asked = path.with_name("questions.jsonl")
    for number, line in read_json_lines(asked):
        there = f"{asked}, line {number}"
        name = _of(line, "document", str, there)
        if name not in documents:
            raise Problem(f"{there}: there is no document {name!r} in {path.name}")
        answers = []
        for answer in _of(line, "answers", list, there):
            kind = _of(answer, "kind", str, there, "free_form")
            if kind not in KINDS:
                raise Problem(f"{there}: the kind {kind!r} is none of {', '.join(KINDS)}")
            answers.append({"answer": {"evidence": _of(answer, "evidence", list, there), **_KEYS[kind]}})
        documents[name]["qas"].append(
            {"question_id": line.get("id"), "question": line.get("question"), "answers": answers}
        )
    return tuple(_paper(path, name, item) for name, item in documents.items())


_KEYS: dict[str, dict[str, Any]] = {
    "unanswerable": {"unanswerable": True},
    "extractive": {"extractive_spans": ["–"]},
    "yes_no": {"yes_no": True},
    "free_form": {},
}
