"""The questions of a fixture, line by line: every span must be the answer, and where it is not, the places where the answer is."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from chunkproof.findings import Findings, undecodable

_MOST = 5
"""Places that a fault names at most."""
_FIELDS = ("id", "document", "question", "answer", "start", "end")


@dataclass(frozen=True)
class Texts:
    """The texts that could be read, by id, and the ids of all documents; `questions` those whose text a data set has.

    `complete` False where the texts are not at hand, so that nothing can be said of a span.
    """

    texts: Mapping[str, str]
    known: tuple[str, ...]
    questions: Mapping[str, str] = field(default_factory=dict)
    complete: bool = True


def json_lines(file: str, found: Findings) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects of a JSON Lines file with their numbers; a line that is none becomes a fault, and the next is read."""
    data = (found.folder / file).read_bytes()
    for number, line in enumerate(data.split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            value = json.loads(line.decode("utf-8"))
        except UnicodeDecodeError as error:
            found.add(file, number, undecodable(line, error)[1])
        except json.JSONDecodeError as error:
            found.add(file, number, f"it is not JSON: {error.msg}, at character {error.colno}")
        except RecursionError:
            found.add(file, number, "it is nested too deeply")
        else:
            if isinstance(value, dict):
                yield number, value
            else:
                found.add(file, number, "it is not a JSON object")


def places(text: str, answer: str) -> list[int]:
    """Where an answer begins, as often as it stands in a text."""
    return [match.start() for match in re.finditer(f"(?={re.escape(answer)})", text)] if answer else []


def check_questions(file: str, texts: Texts, found: Findings) -> int:
    """Check every line of the file; the number of questions."""
    seen: dict[str, int] = {}
    count = 0
    for number, line in json_lines(file, found):
        count += 1
        for what in _faults(line, texts):
            found.add(file, number, what)
        name = line.get("id")
        if isinstance(name, str) and name in seen:
            found.add(file, number, f"the id {name!r} is already used in line {seen[name]}")
        elif isinstance(name, str):
            seen[name] = number
    if not count:
        found.notes.append(f"{file} has no question yet, so nothing can be retrieved or lost")
    return count


def _faults(line: dict[str, Any], texts: Texts) -> Iterator[str]:
    for name in ("id", "document", "question"):
        if name == "question" and (line.get("id") in texts.questions or not texts.complete):
            continue
        value = line.get(name)
        if name not in line:
            near = difflib.get_close_matches(name, [key for key in line if key not in _FIELDS], 1)
            yield f'"{name}" is missing' + (f'; is it meant by "{near[0]}"?' if near else "")
        elif not isinstance(value, str) or not value.strip():
            yield f'"{name}" must be a text that is not empty, not {value!r}'
    document = line.get("document")
    if texts.complete and isinstance(document, str) and document not in texts.known:
        near = difflib.get_close_matches(document, texts.known, 1)
        yield f"there is no document {document!r}" + (f"; is {near[0]!r} meant?" if near else "")
    text = texts.texts.get(document) if isinstance(document, str) else None
    if text is not None:
        yield from _span(line, str(document), text)


def _span(line: dict[str, Any], document: str, text: str) -> Iterator[str]:
    answer, start, end = line.get("answer"), line.get("start"), line.get("end")
    if "answer" in line and (not isinstance(answer, str) or not answer):
        yield f'"answer" must be a text that is not empty, not {answer!r}'
        return
    where = _where(text, document, answer) if isinstance(answer, str) else ""
    if "start" not in line or "end" not in line:
        lacks = " and ".join(f'"{name}"' for name in ("start", "end") if name not in line)
        yield f"{lacks} missing" + (f"; {where}" if where else "")
        return
    if not (type(start) is int and type(end) is int and 0 <= start < end <= len(text)):
        yield (
            f'"start" and "end" must be a range of code points within {document!r}, 0 to {len(text):,}, not '
            f"{start!r} to {end!r}" + (f"; {where}" if where else "")
        )
    elif isinstance(answer, str) and text[start:end] != answer:
        yield f"{start} to {end} of {document!r} reads {_short(text[start:end])}, not the answer; {where}"


def _where(text: str, document: str, answer: str) -> str:
    """Where the answer stands, in words and to be pasted."""
    found = places(text, answer)
    spans = [f'"start": {start}, "end": {start + len(answer)}' for start in found[:_MOST]]
    if len(found) == 1:
        return f"the answer stands once: {spans[0]}"
    if found:
        shown = [f"{span} ({_around(text, at, len(answer))})" for span, at in zip(spans, found, strict=False)]
        more = f"; and {len(found) - _MOST} times more" if len(found) > _MOST else ""
        return f"the answer {_short(answer)} stands {len(found)} times, choose: {'; '.join(shown)}{more}"
    loose = re.compile(r"\s+".join(map(re.escape, answer.split())), re.IGNORECASE)
    near = loose.search(text) if answer.strip() else None
    if near is not None:
        copy = json.dumps(near[0], ensure_ascii=False)
        return f"{_short(answer)} does not stand in {document!r}; is this meant, at {near.start()}: {copy}"
    return f"{_short(answer)} does not stand in {document!r}"


def _around(text: str, start: int, length: int) -> str:
    """A place with a few characters on either side, white space as one space."""
    before, after = text[max(0, start - 12) : start], text[start + length : start + length + 12]
    return "…" + " ".join(f"{before}{text[start : start + length]}{after}".split()) + "…"


def _short(text: str) -> str:
    return repr(text if len(text) <= 60 else f"{text[:40]} … {text[-15:]}")
