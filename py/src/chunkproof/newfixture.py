"""`chunkproof fixture new DIR [FILE …]`: a folder that is a fixture already, with help where something is to be written.

Texts that are given are copied byte for byte. Without any, there is an example text with three questions, so that every
command can be tried at once.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from pathlib import Path

from chunkproof.problems import Problem

EXAMPLE = """\
# The ferry to Orrin

The ferry leaves the town quay at ten past seven, and at ten past every second hour after that. In winter, from the
first of November, the last boat is that of 15:10.

Bicycles travel free. A car must be booked the day before, at the kiosk with the green awning, and is measured with a rope
that has a knot for every metre.

## When it does not run

If the wind is above force eight, a black ball is hoisted at the end of the mole. People who have to get home sleep in the
net loft, where there are blankets for thirty.
"""
_QUESTIONS = (
    ("example/winter", "Which is the last crossing in December?", "that of 15:10"),
    ("example/rope", "By what means is the length of a vehicle found?", "a rope\nthat has a knot for every metre"),
    ("example/night", "Where do stranded passengers spend the night?", "in the\nnet loft"),
)
_NOTE = "Answers are copied from the text, line ends too; `chunkproof fixture check FOLDER --fix` finds start and end."

_RECIPE = """\
# A fixture: texts, questions about them, and what is to be tried on both.
# `chunkproof fixture check` names what is wrong in this folder, by file and line.
name = {name}
kind = "corpus"
title = {title}
licence = "unpublished"   # under which others may have the texts
spec = "1"
paragraphs = "blank_line" # a paragraph ends at a blank line; "newline": at every line end

# One table for each text. A text is UTF-8, and is read byte for byte: offsets count its code points. `sha256` is the hash of the
# file, so that a changed text is noticed; `chunkproof fixture check FOLDER --fix` writes it here.
{documents}
# A question a line, as JSON:
#   {{"id": "anything/unique", "document": "an id from above", "question": "…?", "answer": "words of the text"}}
# The answer is the shortest span that you would accept, copied exactly. `--fix` adds "start" and "end" where it stands only
# once; elsewhere `check` names the places, and you choose. Other fields ("note", "kind") are kept and not looked at.
[questions]
file = "questions.jsonl"

# How the texts are cut. size: the most tokens of a chunk; overlap: the most that it shares with the one before.
[[config]]
name = "fixed-256"
kind = "fixed"
size = 256
overlap = 0

[[config]]
name = "fixed-256-o64"
kind = "fixed"
size = 256
overlap = 64

[[config]]
name = "recursive-256"
kind = "recursive"
size = 256

[[config]]
name = "semantic-256"
kind = "semantic"
size = 256
percentile = 25

# How chunks are ranked. bm25 needs no vectors; without them the others, and semantic chunks, are left out with a note.
[[method]]
name = "bm25"
kind = "bm25"

[[method]]
name = "dense"
kind = "dense"
precision = "int8"

[[method]]
name = "rrf"
kind = "rrf"

[[method]]
name = "weighted alpha=0.5"
kind = "weighted"
alpha = 0.5

# Where `chunkproof embed FOLDER` puts the vectors that it makes. Delete this table if you want none.
[vectors]
sentences = "vectors/sentences.arrow"
questions = "vectors/questions.arrow"
chunks = "vectors/chunks-{{config}}.arrow"
"""


def new(folder: Path, texts: Sequence[Path] = (), title: str = "") -> list[Path]:
    """Make the skeleton in a folder that is empty or not there yet; the files that were written."""
    folder = folder.resolve()
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise Problem(f"{folder} is there and not an empty folder: nothing was written; name a new one")
    contents = {path: _read(path) for path in texts}
    named = {_id(path): path for path in texts}
    if len(named) != len(texts):
        raise Problem("two of the texts would have the same id, which is made from a file's name: rename one of them")
    files: dict[str, bytes] = {}
    if texts:
        listed = [(name, f"documents/{path.name}", contents[path]) for name, path in named.items()]
        questions: list[dict[str, str | int]] = []
    else:
        listed = [("example", "documents/example.md", EXAMPLE.encode("utf-8"))]
        questions = [_question(*each) for each in _QUESTIONS]
        questions[0]["note"] = _NOTE
    files |= {file: data for _, file, data in listed}
    files["questions.jsonl"] = "".join(json.dumps(each, ensure_ascii=False) + "\n" for each in questions).encode()
    documents = "\n".join(_document(*each) for each in listed)
    recipe = _RECIPE.format(name=_toml(folder.name), title=_toml(title or folder.name), documents=documents)
    files["fixture.toml"] = recipe.encode("utf-8")
    for file, data in files.items():
        path = folder / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return [folder / file for file in files]


def _read(path: Path) -> bytes:
    try:
        data = path.read_bytes()
        data.decode("utf-8")
    except OSError as error:
        raise Problem(f"{path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise Problem(f"{path} is not UTF-8: byte {error.start:,} is {error.object[error.start]:#04x}") from error
    if not data.strip():
        raise Problem(f"{path} is empty: there is nothing to cut or to ask about; leave it out")
    return data


def _id(path: Path) -> str:
    """An id from a file's name: its letters, digits and hyphens, in lower case."""
    return re.sub(r"[^\w]+", "-", path.stem.lower()).strip("-") or "text"


def _toml(text: str) -> str:
    """A basic string: JSON's escapes are TOML's, but for U+007F, which TOML wants escaped."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _document(name: str, file: str, data: bytes) -> str:
    sha256 = hashlib.sha256(data).hexdigest()
    return f'[[document]]\nid = {_toml(name)}\nfile = {_toml(file)}\nsha256 = "{sha256}"\n'


def _question(name: str, question: str, answer: str) -> dict[str, str | int]:
    start = EXAMPLE.index(answer)
    return {
        **{"id": name, "document": "example", "question": question, "answer": answer},
        **{"start": start, "end": start + len(answer)},
    }
