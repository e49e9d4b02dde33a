"""Comparing what engines answered: stage by stage and case by case, by canonical bytes; where two values first differ."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from chunkproof.pipeline import Outcome, Run
from chunkproof.replies import Json, canonical
from chunkproof.stages import OPERATIONS, STAGES

NEEDS = {
    "pieces": {"pieces"},
    "segments": {"segments"},
    "similarities": {"chunk"},
    "threshold": {"chunk"},
    "chunks": {"chunk"},
    "rankings": {"chunk", "rank"},
    "metrics": {"chunk", "rank", "evaluate"},
    "table": {"chunk", "rank", "evaluate", "numbers"},
}
"""The operations that a corpus value of each stage rests on."""
_CUT = {"pieces", "segments", "chunk"}
_FILLED = {*_CUT, "rank", "terms", "fill", "cover"}
NEEDS_OF_PAPERS = {
    **{"pieces": {"pieces"}, "segments": {"segments"}, "chunks": {"chunk"}, "rankings": {*_CUT, "rank", "terms"}},
    **{"budget": {*_FILLED, "bootstrap"}, "table": {*_FILLED, "numbers", "bootstrap"}},
}
"""The same for papers, whose contexts rest on what was ranked."""

ABSENT = "(absent)"
"""What stands for a value that one side does not have at all."""
ANSWERED = "(answered, no error)"
"""What stands for an error of one that answered, where another gave an error."""


@dataclass(frozen=True)
class Difference:
    """A case on which engines do not agree: the first path that differs and the value there for each engine, by name."""

    stage: str
    case: str
    path: str
    values: dict[str, Json]
    outcome: Outcome
    whole: dict[str, Json] = field(default_factory=dict, repr=False)

    @property
    def is_of_errors(self) -> bool:
        """Whether an error reply is part of it: then 01 § Errors decides as much as the operation's own chapter."""
        return any(isinstance(value, dict) and "error" in value for value in self.whole.values())


@dataclass
class StageResult:
    """How a stage came out: how many cases were compared, and which of them differ."""

    stage: str
    cases: int = 0
    differences: list[Difference] = field(default_factory=list)
    lacking: dict[str, int] = field(default_factory=dict)
    """How many values were left out for an engine that does not have the operation, by engine."""


def compare(runs: Sequence[Run], needs: Mapping[str, set[str]] = NEEDS) -> list[StageResult]:
    """The stages that any engine answered, in order. A case that only some engines answered is a difference too.

    `needs` says which operations a value of each stage rests on.
    """
    tables = [{(outcome.stage, outcome.case): outcome for outcome in run.outcomes} for run in runs]
    keys = list(dict.fromkeys(key for table in tables for key in table))
    complete = all(run.failure is None for run in runs)
    results = {stage: StageResult(stage) for stage in STAGES}
    for key in sorted(keys, key=lambda key: STAGES.index(key[0])):
        stage, case = key
        able = []
        for run, table in zip(runs, tables, strict=True):
            if _lacks(run, stage, table.get(key), needs):
                results[stage].lacking[run.engine] = results[stage].lacking.get(run.engine, 0) + 1
            else:
                able.append((run, table))
        if len(able) < min(2, len(runs)):
            continue  # nothing to compare with: such a stage never counts as held
        present = {run.engine: table[key] for run, table in able if key in table}
        if len(present) < len(able) and (not complete or stage in ("similarities", "threshold")):
            continue  # an engine that stopped half-way is named as such; a refusal is compared where it was given
        results[stage].cases += 1
        if len(present) == len(able) and len({canonical(outcome.value) for outcome in present.values()}) == 1:
            continue
        results[stage].differences.append(_difference(stage, case, [run for run, _ in able], present))
    return [result for result in results.values() if result.cases or result.lacking]


def _lacks(run: Run, stage: str, outcome: Outcome | None, needs: Mapping[str, set[str]]) -> bool:
    """Whether the engine says in `info` that it has not what this value needs, and does not answer it all the same.

    `unsupported` from an engine that lists the operation is a difference like any other.
    """
    ops = run.info.get("ops")
    if not isinstance(ops, list) or (outcome is not None and not _unsupported(outcome)):
        return False
    if outcome is not None and outcome.request is None and stage == "wire":
        return bool(set(OPERATIONS) - set(map(str, ops)))  # a raw line, of whatever operation
    asked = {str(outcome.request.get("op"))} if outcome is not None and outcome.request else needs.get(stage, set())
    return bool(asked - {"info"} - set(map(str, ops)))


def _unsupported(outcome: Outcome) -> bool:
    error = outcome.value.get("error")
    return isinstance(error, dict) and error.get("code") == "unsupported"


def _difference(stage: str, case: str, runs: Sequence[Run], present: dict[str, Outcome]) -> Difference:
    first = next(iter(present.values()))
    whole = {run.engine: present[run.engine].value if run.engine in present else ABSENT for run in runs}
    odd = next((value for value in whole.values() if not _same(value, first.value)), ABSENT)
    path = first_difference(first.value, odd)
    values = {name: _shown_at(value, path) for name, value in whole.items()}
    return Difference(stage, case, shown_path(path), values, first, whole)


Path = tuple[str | int, ...]


def _shown_at(value: Json, path: Path) -> Json:
    """The value at a path. Where one engine answered and another gave an error, each says so in words."""
    found = at_path(value, path)
    if found == ABSENT and isinstance(value, dict) and path:
        if path[0] == "error" and "ok" in value:
            return ANSWERED
        if path[0] == "ok" and isinstance(value.get("error"), dict):
            return f"(the error {value['error'].get('code')})"
    return found


def _same(one: Json, other: Json) -> bool:
    return canonical(one) == canonical(other)


def first_difference(one: Json, other: Json) -> Path:
    """The path of the first value that differs: keys in sorted order, items in order, then the length of a list."""
    if isinstance(one, dict) and isinstance(other, dict):
        for key in _ordered(one, other):
            if key not in one or key not in other:
                return (key,)
            if not _same(one[key], other[key]):
                return (key, *first_difference(one[key], other[key]))
    if isinstance(one, list) and isinstance(other, list):
        for index, (left, right) in enumerate(zip(one, other, strict=False)):
            if not _same(left, right):
                return (index, *first_difference(left, right))
        return (min(len(one), len(other)),)
    return ()


def _ordered(one: dict[str, Json], other: dict[str, Json]) -> Iterator[str]:
    """All keys, those of ranges in reading order: start, end, tokens."""
    order = {"start": 0, "end": 1, "tokens": 2, "passage": 0, "score": 1}
    yield from sorted({*one, *other}, key=lambda key: (order.get(key, 9), key))


def at_path(value: Json, path: Path) -> Json:
    """The value at a path, or ABSENT."""
    for step in path:
        found = isinstance(value, dict) and isinstance(step, str) and step in value
        if not found and not (isinstance(value, list) and isinstance(step, int) and step < len(value)):
            return ABSENT
        value = value[step]
    return value


def shown_path(path: Path) -> str:
    """A path as people write it: `ok.chunks[3].end`."""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        elif step.replace("_", "").replace("@", "").isalnum():
            text += f".{step}" if text else step
        else:
            text += f"[{step!r}]"
    return text or "the whole reply"


def parse_path(text: str) -> Path:
    """The steps of a simple shown path."""
    steps: list[str | int] = []
    for part in text.replace("[", ".[").split("."):
        if part.startswith("[") and part[1:-1].isdigit():
            steps.append(int(part[1:-1]))
        elif part:
            steps.append(part.strip("[]'\""))
    return tuple(steps)


def as_double(value: Json) -> float | None:
    """The double that a string of 16 lower-case hexadecimal digits stands for; None for anything else."""
    if isinstance(value, str) and len(value) == 16 and all(character in "0123456789abcdef" for character in value):
        number: float = struct.unpack(">d", bytes.fromhex(value))[0]
        return number
    return None


def ulps(one: str, other: str) -> int:
    """How many doubles lie from one to the other, signed."""
    return _ordinal(other) - _ordinal(one)


def _ordinal(digits: str) -> int:
    bits = int(digits, 16)
    return -(bits & (2**63 - 1)) if bits >> 63 else bits


def shown_double(value: float) -> str:
    """Seventeen significant digits, enough to tell any two doubles apart."""
    return f"{value:.17g}"


def fraction(value: Json) -> Fraction | None:
    """The fraction that `n/d` stands for; None for anything else."""
    try:
        return Fraction(value) if isinstance(value, str) and "/" in value else None
    except (ValueError, ZeroDivisionError):
        return None
