"""The ledger of final runs: one JSON line each, so that nobody can try protocols on the held-out papers unseen.

Under the same protocol and data a final run has to give the digest that it gave before. Under another protocol it says
how many final runs on these data came before it.
"""

from __future__ import annotations

import datetime
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from chunkproof import layout
from chunkproof.problems import Problem

NAME = "budget-ledger.jsonl"


class Changed(Exception):
    """A final run gives another digest than the one before it under the same protocol; the message is one sentence."""


@dataclass(frozen=True)
class Line:
    """One final run. Digests are SHA-256 in hexadecimal."""

    protocol: str
    data: str
    dataset: str
    versions: Mapping[str, str]
    result: str
    when: str
    """The day, in UTC."""


@dataclass(frozen=True)
class Standing:
    """What the ledger says about a final run."""

    finals_before: int
    """Final runs on the same data under other protocols, before the first one under this protocol."""
    repeated: bool
    """Whether the same protocol was run before, with this very result."""


def default() -> Path:
    """The ledger of the checkout that we are in, else of the current folder."""
    here = layout.checkout()
    return here / "docs" / NAME if here is not None else Path(NAME)


def read(path: Path) -> list[Line]:
    """The lines of a ledger, none where there is no file. A line that is none is named by its number."""
    if not path.exists():
        return []
    lines = []
    for number, text in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        try:
            lines.append(Line(**json.loads(text)))
        except (ValueError, TypeError) as error:
            raise Problem(
                f"{path} line {number} is no line of a ledger ({error}): mend it by hand; a final run never drops one"
            ) from error
    return lines


def today() -> str:
    """The day in UTC."""
    return datetime.datetime.now(datetime.UTC).date().isoformat()


def standing(line: Line, before: list[Line], path: Path) -> Standing:
    """What the lines before say of this one. `Changed` where the same protocol gave another result on the same data."""
    same = [each for each in before if (each.protocol, each.data) == (line.protocol, line.data)]
    for each in same:
        if each.result != line.result:
            raise Changed(
                f"the final run of {each.when} under the same protocol ({line.protocol[:12]}…) on the same data gave the "
                f"digest {each.result}, this one {line.result}: one of the two is wrong, and {path} was left as it is"
            )
    here = [each for each in before if each.data == line.data]
    first = next((place for place, each in enumerate(here) if each.protocol == line.protocol), len(here))
    return Standing(first, bool(same))


def record(line: Line, path: Path) -> Standing:
    """Append the line and tell what the ledger says of it. `Changed` leaves the file as it is."""
    found = standing(line, read(path), path)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8", newline="\n") as file:
        file.write(json.dumps(asdict(line), ensure_ascii=False) + "\n")
    return found


def said(found: Standing) -> str:
    """A sentence on it, for the report."""
    if found.repeated:
        again = "The final run was made before under this protocol, and gave the same digest."
    else:
        again = "This is the first final run under this protocol."
    many = found.finals_before
    if not many:
        return f"{again} No final run under another protocol came before it on these papers."
    runs = "final run under another protocol" if many == 1 else "final runs under other protocols"
    return f"{again} {many} {runs} came before it on these papers: its p is not that of a first look."
