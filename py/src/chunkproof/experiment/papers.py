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
from chunkproof.caselines import read_json_lines
from chunkproof.problems import DataMissing, Problem

WHITE = "".join(
    map(chr, (*range(9, 14), 32, 0x85, 0xA0, 0x1680, *range(0x2000, 0x200B), 0x2028, 0x2029, 0x202F, 0x205F, 0x3000))
)
"""White space as spec 04 rule 1 has it, which is neither Python's nor JavaScript's."""
JOINT = "\n\n"
QASPER = {"train": "qasper-train", "validation": "qasper-dev"}
"""The splits of QASPER, by their names in the list of data sets."""
DOCUMENTS, QUESTIONS = "documents.jsonl", "questions.jsonl"
"""A user's own documents, and what is asked about them."""
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
    """Of the file's bytes; of both files', documents first, for JSON Lines."""

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
        for name in ("papers.json", DOCUMENTS):
            if (place / name).is_file():
                return _from_file(place / name, place.resolve().name, "")
        raise Problem(f"{place} holds neither papers.json (in QASPER's form) nor {DOCUMENTS}")
    if place.is_file():
        return _from_file(place, place.stem, "")
    raise Problem(f"there is no data set {dataset!r}: it is neither qasper nor a folder or file")


def _from_file(path: Path, name: str, split: str) -> Dataset:
    own = path.suffix == ".jsonl"
    total = hashlib.sha256()
    for each in (path, path.with_name(QUESTIONS)) if own else (path,):
        try:
            data = each.read_bytes()
        except OSError as error:
            raise Problem(f"{each} cannot be read: {error.strerror}") from error
        total.update(data)
    papers = _own(path) if own else _qasper(path, data)
    if not papers:
        raise Problem(f"{path} holds no paper")
    return Dataset(name, split, papers, total.hexdigest())


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
        table = json.loads(data.decode("utf-8"), object_pairs_hook=_once)
    except UnicodeDecodeError as error:
        raise Problem(f"{path} is not UTF-8: byte {error.start:,}; save it as UTF-8") from error
    except _Twice as error:
        raise Problem(
            f"{path} has the key {error.args[0]!r} twice in one object: give each paper an id of its own"
        ) from error
    except (ValueError, RecursionError) as error:
        raise Problem(f"{path} is damaged or cut off: {error}; get the file again") from error
    if not isinstance(table, dict):
        raise Problem(f"{path} is not in QASPER's form: papers by id, in one object")
    return tuple(_paper(path, name, item) for name, item in table.items())


class _Twice(Exception):
    """A key that stands twice in one object, of which JSON readers keep the last and say nothing."""


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    table = dict(pairs)
    if len(table) < len(pairs):
        seen: set[str] = set()
        raise _Twice(next(key for key, _ in pairs if key in seen or seen.add(key)))  # type: ignore[func-returns-value]
    return table


def _paper(path: Path, name: str, item: Any) -> Paper:
    where = f"{path}, paper {name}"
    sections = [
        (_of(section, "section_name", str, there, ""), _of(section, "paragraphs", list, there))
        for there, section in _numbered(where, _of(item, "full_text", list, where))
    ]
    questions = [_question(asked, where) for asked in _of(item, "qas", list, where)]
    return _built(where, name, item, sections, questions)


def _numbered(where: str, sections: Sequence[Any]) -> list[tuple[str, Any]]:
    return [(f"{where}, section {number}", section) for number, section in enumerate(sections, 1)]


def _built(
    where: str, name: str, item: Any, sections: Sequence[tuple[str, list[Any]]], questions: Sequence[Question]
) -> Paper:
    """A paper of its parts. An abstract that isn't there is no paragraph; one of white space is left out as any other."""
    abstract = _of(item, "abstract", str, where, "")
    texts: list[tuple[str, int | None]] = [(abstract, None)] if abstract else []
    for number, (_, paragraphs) in enumerate(sections):
        if not all(isinstance(text, str) for text in paragraphs):
            raise Problem(f"{where}, section {number + 1}: a paragraph is no text")
        texts += [(text, number) for text in paragraphs]
    kept = [(text, section) for text, section in texts if not is_white(text)]
    if not kept:
        raise Problem(f"{where} has no text at all: leave it out, or give its abstract or a section with a paragraph")
    seen: set[str] = set()
    for question in questions:
        if question.id in seen:
            raise Problem(f"{where}: the question id {question.id!r} is there twice")
        seen.add(question.id)
    text, placed = _joined(kept)
    filled = {section for _, section in kept}
    paper = Paper(
        id=name,
        title=_of(item, "title", str, where, ""),
        text=text,
        paragraphs=placed,
        sections=tuple(Section(heading) for heading, _ in sections),
        questions=tuple(questions),
        left_out=len(texts) - len(kept),
        empty_sections=sum(number not in filled for number in range(len(sections))),
        has_abstract=not is_white(abstract),
    )
    _refuse_halves(paper, where)
    return paper


def _refuse_halves(paper: Paper, where: str) -> None:
    """JSON can write half of a surrogate pair, which is no character, so no text has it."""
    asked = [text for q in paper.questions for text in (q.id, q.text, *(s for a in q.annotators for s in a.strings))]
    try:
        "".join([paper.id, paper.title, paper.text, *(each.name for each in paper.sections), *asked]).encode("utf-8")
    except UnicodeEncodeError as error:
        raise Problem(
            f"{where} has half of a surrogate pair, as \\ud83d, which is no character: mend the text"
        ) from error


def _question(asked: Any, where: str) -> Question:
    name = _of(asked, "question_id", str, f"{where}, a question")
    there = f"{where}, question {name}"
    answers = []
    for number, given in enumerate(_of(asked, "answers", list, there)):
        answer = _of(given, "answer", dict, there)
        label = _of(given, "annotation_id", str, there, str(number + 1))
        answers.append(Annotator(label, _kind(answer), _strings(answer, there)))
    return Question(name, _of(asked, "question", str, there), tuple(answers))


def _strings(answer: Any, where: str) -> tuple[str, ...]:
    strings = _of(answer, "evidence", list, where)
    if not all(isinstance(each, str) for each in strings):
        raise Problem(f"{where}: evidence is a list of texts")
    return tuple(strings)


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


def _own(path: Path) -> tuple[Paper, ...]:
    """DOCUMENTS: `{"id", "title", "abstract", "sections": [{"name", "paragraphs"}]}` a line; QUESTIONS beside it:
    `{"id", "document", "question", "answers": [{"kind", "evidence"}]}`.
    """
    documents: dict[str, tuple[str, Any]] = {}
    for number, line in read_json_lines(path):
        where = f"{path}, line {number}"
        name = _of(line, "id", str, where)
        if name in documents:
            raise Problem(f"{where}: the document {name!r} is there twice")
        documents[name] = where, line
    questions: dict[str, list[Question]] = {name: [] for name in documents}
    asked = path.with_name(QUESTIONS)
    for number, line in read_json_lines(asked):
        where = f"{asked}, line {number}"
        name = _of(line, "document", str, where)
        if name not in documents:
            raise Problem(f"{where}: there is no document {name!r} in {path.name}")
        questions[name].append(_own_question(line, where))
    return tuple(_document(where, name, line, questions[name]) for name, (where, line) in documents.items())


def _document(where: str, name: str, line: Any, questions: Sequence[Question]) -> Paper:
    sections = [
        (_of(section, "name", str, there, ""), _of(section, "paragraphs", list, there))
        for there, section in _numbered(where, _of(line, "sections", list, where))
    ]
    return _built(where, name, line, sections, questions)


def _own_question(line: Any, where: str) -> Question:
    answers = []
    for number, answer in enumerate(_of(line, "answers", list, where), 1):
        kind = _of(answer, "kind", str, where, "free_form")
        if kind not in KINDS:
            raise Problem(f"{where}: the kind {kind!r} is none of {', '.join(KINDS)}")
        answers.append(Annotator(str(number), kind, _strings(answer, where)))
    return Question(_of(line, "id", str, where), _of(line, "question", str, where), tuple(answers))
