"""`fixture check --fix`: writes what follows from the texts alone, and touches nothing else.

The hash of a listed file, and the place of an answer that stands exactly once in its document. What people have to decide (an
answer that stands twice, or nowhere) is left to them.
"""

from __future__ import annotations

import hashlib
import json
import tomllib
from pathlib import Path
from typing import Any

from chunkproof.checkquestions import places
from chunkproof.findings import Fault
from chunkproof.tomlplaces import Places


def mend(folder: Path) -> list[Fault]:
    """Mend the recipe's hashes and the questions' places; what was mended. A recipe that can't be read is left alone."""
    recipe = folder / "fixture.toml"
    try:
        text = recipe.read_bytes().decode("utf-8")
        table = tomllib.loads(text)
    except (UnicodeDecodeError, tomllib.TOMLDecodeError):
        return []
    documents = table.get("document")
    listed = [each for each in documents if isinstance(each, dict)] if isinstance(documents, list) else []
    mended = _hashes(folder, recipe, text, listed)
    questions = table.get("questions")
    file = questions.get("file") if isinstance(questions, dict) else None
    if isinstance(file, str) and (folder / file).is_file():
        mended += _places(folder / file, _texts(folder, listed))
    return mended


def _hashes(folder: Path, recipe: Path, text: str, documents: list[dict[str, Any]]) -> list[Fault]:
    lines = text.split("\n")
    known = Places(text)
    mended: list[Fault] = []
    for number, each in sorted(enumerate(documents, 1), reverse=True):  # from below, so that lines keep their numbers
        file, at = each.get("file"), known.exact("document", number, "file")
        if not isinstance(file, str) or at is None or not (folder / file).is_file():
            continue
        hashed = hashlib.sha256((folder / file).read_bytes()).hexdigest()
        if each.get("sha256") == hashed:
            continue
        written = f'sha256 = "{hashed}"' + ("\r" if lines[at - 1].endswith("\r") else "")
        place = known.exact("document", number, "sha256")
        if place is None:
            lines.insert(at, written)
        else:
            lines[place - 1] = written
        mended.insert(0, Fault(recipe, place or at + 1, f"wrote the hash of {file}"))
    if mended:
        _write(recipe, "\n".join(lines))
    return mended


def _texts(folder: Path, documents: list[dict[str, Any]]) -> dict[str, str]:
    texts: dict[str, str] = {}
    for each in documents:
        name, file = each.get("id"), each.get("file")
        if isinstance(name, str) and isinstance(file, str) and (folder / file).is_file():
            try:
                texts.setdefault(name, (folder / file).read_bytes().decode("utf-8"))
            except UnicodeDecodeError:
                continue
    return texts


def _places(path: Path, texts: dict[str, str]) -> list[Fault]:
    mended: list[Fault] = []
    lines = path.read_bytes().split(b"\n")
    for index, raw in enumerate(lines):
        try:
            line = json.loads(raw.decode("utf-8"))
        except (UnicodeDecodeError, json.JSONDecodeError, RecursionError):
            continue
        if not isinstance(line, dict):
            continue
        text, answer = texts.get(str(line.get("document"))), line.get("answer")
        if text is None or not isinstance(answer, str):
            continue
        start, end = line.get("start"), line.get("end")
        if type(start) is int and type(end) is int and start >= 0 and text[start:end] == answer:
            continue
        found = places(text, answer)
        if len(found) == 1:
            line |= {"start": found[0], "end": found[0] + len(answer)}
            lines[index] = json.dumps(line, ensure_ascii=False).encode("utf-8")
            mended.append(Fault(path, index + 1, f"wrote start and end of {line.get('id')!r}"))
    if mended:
        _write(path, b"\n".join(lines).decode("utf-8", "surrogateescape"))
    return mended


def _write(path: Path, text: str) -> None:
    """All or nothing: the file is replaced by one that is complete."""
    part = path.with_name(path.name + ".partial")
    part.write_bytes(text.encode("utf-8", "surrogateescape"))
    part.replace(path)
