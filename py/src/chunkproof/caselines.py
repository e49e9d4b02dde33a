"""Cases, one JSON object a line: an authored id, why it exists, and a request or the raw bytes of a broken line."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chunkproof.problems import Problem
from chunkproof.recipes import expand
from chunkproof.replies import Json


@dataclass(frozen=True)
class Case:
    """One case: `request` (recipes expanded, without id) or `raw` bytes, and the file and line that it stands in."""

    id: str
    why: str
    request: dict[str, Json] | None
    raw: bytes | None
    where: str

    @property
    def op(self) -> str:
        """The operation asked for, or an empty string for a raw line."""
        return str(self.request.get("op", "")) if self.request is not None else ""


def read_json_lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects of a JSON Lines file with their line numbers; a fault names the line. Empty lines are passed over."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise Problem(f"{path} cannot be read: {error.strerror}; restore it, or mend what names it") from error
    for number, line in enumerate(data.split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            value = json.loads(line.decode("utf-8"))
        except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
            what = f"it is not JSON ({error.msg})" if isinstance(error, json.JSONDecodeError) else "it cannot be read"
            last = (
                "; the file looks half-written" if not data.endswith(b"\n") and number == data.count(b"\n") + 1 else ""
            )
            raise Problem(f"{path}, line {number}: {what}{last}; restore the file, or mend that line") from error
        if not isinstance(value, dict):
            raise Problem(f"{path}, line {number}: it is not a JSON object")
        yield number, value


def read_cases(files: Sequence[Path]) -> tuple[Case, ...]:
    """The cases of some files, in order; ids are unique among them."""
    cases: list[Case] = []
    seen: dict[str, str] = {}
    for path in files:
        for number, line in read_json_lines(path):
            case = read_case(line, f"{path.name}, line {number}")
            if case.id in seen:
                raise Problem(f"{path}, line {number}: the id {case.id!r} is already used in {seen[case.id]}")
            seen[case.id] = case.where
            cases.append(case)
    return tuple(cases)


def read_case(line: dict[str, Any], where: str) -> Case:
    """One case from its object."""
    name, why = line.get("id"), line.get("why")
    if not isinstance(name, str) or not name:
        raise Problem(f'{where}: a case has an "id", a text')
    if not isinstance(why, str) or not why:
        raise Problem(f'{where}: the case {name!r} has no "why"')
    if "raw" in line or "raw_base64" in line:
        return Case(name, why, None, _raw(line, where), where)
    request = {key: value for key, value in line.items() if key not in ("id", "why", "stages")}
    if not isinstance(request.get("op"), str):
        raise Problem(f'{where}: the case {name!r} has neither an "op" nor "raw"')
    try:
        return Case(name, why, expand(request), None, where)
    except Problem as error:
        raise Problem(f"{where}: {error}") from error


def _raw(line: dict[str, Any], where: str) -> bytes:
    extra = set(line) - {"id", "why", "stages", "raw", "raw_base64"}
    if extra or ("raw" in line and "raw_base64" in line):
        raise Problem(f'{where}: a raw case has "id", "why" and either "raw" or "raw_base64"')
    if "raw_base64" in line:
        try:
            return base64.b64decode(line["raw_base64"], validate=True)
        except (binascii.Error, TypeError, ValueError) as error:
            raise Problem(f"{where}: raw_base64 is not base64") from error
    text = expand(line["raw"])
    if not isinstance(text, str):
        raise Problem(f'{where}: "raw" must be a text or a recipe for one')
    return text.encode("utf-8", "surrogatepass")
