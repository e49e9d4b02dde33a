"""Reading runs and qrels: TREC's two formats, BEIR's folder, JSON Lines. A line that cannot be read is named."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from chunkproof.audit.tables import read_text
from chunkproof.problems import Problem

Rankings = dict[str, list[tuple[str, float]]]
Grades = dict[str, dict[str, int]]


@dataclass
class ReadRun:
    """A run: the questions that count, the ranked documents of each with their scores, and what is relevant."""

    name: str
    queries: list[str]
    rankings: Rankings
    relevant: Grades
    notes: list[str] = field(default_factory=list)


def read(run: str, qrels: Path | None, beir: Path | None, split: str) -> ReadRun:
    """A run and what is relevant to its questions. The questions that count are those of the qrels, in their order."""
    path = Path(run)
    text = read_text(path)
    shown = "standard input" if run == "-" else path.name
    rankings, said = (_json_lines if text.lstrip().startswith("{") else _trec)(text, shown)
    if qrels is not None and beir is not None:
        raise Problem("--qrels and --beir both say what is relevant: give one of them")
    if beir is not None:
        relevant = _beir(beir, split)
    elif qrels is not None:
        relevant = read_qrels(read_text(qrels), qrels.name)
    elif said:
        relevant = said
    else:
        raise Problem(f"{shown} does not say what is relevant: --qrels FILE or --beir FOLDER does")
    found = ReadRun(shown, list(relevant), rankings, relevant)
    strangers = [query for query in rankings if query not in relevant]
    if len(strangers) == len(rankings) and rankings:
        raise Problem(
            f"no question of {shown} is in the qrels: the first is {strangers[0]!r}, there it is {next(iter(relevant), '')!r}"
        )
    if strangers:
        found.notes.append(
            f"{len(strangers)} questions of the run are not in the qrels and do not count, as {strangers[0]!r}"
        )
    return found


def _trec(text: str, place: str) -> tuple[Rankings, Grades]:
    """`question Q0 document rank score tag`. By score, then by the rank that is written, then as they stand."""
    made: dict[str, list[tuple[float, int, int, str]]] = {}
    seen: set[tuple[str, str]] = set()
    for number, line in enumerate(text.splitlines(), 1):
        parts = line.split()
        if not parts:
            continue
        where = f"{place}, line {number}"
        if len(parts) != 6:
            raise Problem(
                f"{where}: a run has six columns (question Q0 document rank score tag), here are {len(parts)}"
            )
        query, _, document, rank, score, _ = parts
        if (query, document) in seen:
            raise Problem(f"{where}: document {document!r} is ranked twice for question {query!r}")
        seen.add((query, document))
        made.setdefault(query, []).append(
            (-_number(score, where), int(rank) if rank.isdigit() else 0, number, document)
        )
    return {query: [(name, -score) for score, _, _, name in sorted(entries)] for query, entries in made.items()}, {}


def _number(text: str, where: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise Problem(f"{where}: the score {text!r} is no number")
    return value


def _json_lines(text: str, place: str) -> tuple[Rankings, Grades]:
    """`{"query": …, "ranking": [document or {"id", "score"}, …], "relevant": [document, …]}`; no scores: as they stand."""
    rankings: Rankings = {}
    relevant: Grades = {}
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        where = f"{place}, line {number}"
        try:
            row = json.loads(line)
        except ValueError as error:
            raise Problem(f"{where}: is not JSON: {error}") from error
        query = (
            next((row[key] for key in ("query", "query_id", "qid", "id") if key in row), None)
            if isinstance(row, dict)
            else None
        )
        entries = row.get("ranking") if isinstance(row, dict) else None
        if not isinstance(query, str | int) or not isinstance(entries, list):
            raise Problem(f'{where}: takes a "query" and its "ranking", a list')
        name = str(query)
        if name in rankings:
            raise Problem(f"{where}: the question {name!r} is there twice")
        rankings[name] = _entries(entries, where)
        if isinstance(row.get("relevant"), list):
            relevant[name] = {str(each): 1 for each in row["relevant"]}
    if relevant and len(relevant) < len(rankings):
        absent = next(name for name in rankings if name not in relevant)
        raise Problem(
            f'{place}: some lines say what is "relevant", the one of question {absent!r} does not; an empty list means nothing'
        )
    return rankings, relevant


def _entries(entries: list[Any], where: str) -> list[tuple[str, float]]:
    made: list[tuple[str, float]] = []
    scored = [isinstance(entry, dict) and "score" in entry for entry in entries]
    if any(scored) and not all(scored):
        raise Problem(f"{where}: some documents have a score and some have none")
    for rank, entry in enumerate(entries):
        name = (
            next((entry[key] for key in ("id", "document", "passage") if key in entry), None)
            if isinstance(entry, dict)
            else entry
        )
        if not isinstance(name, str | int) or isinstance(name, bool):
            raise Problem(f'{where}: rank {rank + 1} is no document: a name, or {{"id", "score"}}')
        made.append((str(name), _number(str(entry["score"]), where) if scored[rank] else float(-rank)))
    names = [name for name, _ in made]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise Problem(f"{where}: document {twice!r} is ranked twice")
    return sorted(made, key=lambda entry: -entry[1])


def read_qrels(text: str, place: str) -> Grades:
    """TREC's `question 0 document grade`, or BEIR's three columns with a header."""
    found: Grades = {}
    for number, line in enumerate(text.splitlines(), 1):
        parts = line.split()
        if not parts or (number == 1 and parts[0].casefold() in ("query-id", "query_id", "qid")):
            continue
        where = f"{place}, line {number}"
        if len(parts) not in (3, 4):
            raise Problem(
                f"{where}: qrels have four columns (question 0 document grade) or BEIR's three, here are {len(parts)}"
            )
        query, document, grade = (parts[0], parts[2], parts[3]) if len(parts) == 4 else parts
        try:
            value = int(grade)
        except ValueError as error:
            raise Problem(f"{where}: the grade {grade!r} is no whole number") from error
        if found.setdefault(query, {}).setdefault(document, value) != value:
            raise Problem(f"{where}: document {document!r} has two grades for question {query!r}")
    if not found:
        raise Problem(f"{place}: holds no qrels")
    return found


def _beir(folder: Path, split: str) -> Grades:
    path = folder / "qrels" / f"{split}.tsv"
    if not path.is_file():
        there = ", ".join(sorted(each.stem for each in (folder / "qrels").glob("*.tsv"))) or "none"
        raise Problem(f"{folder} has no qrels/{split}.tsv; there are: {there}")
    return read_qrels(read_text(path), f"qrels/{split}.tsv")
