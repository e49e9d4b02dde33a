"""Golden files: the replies that all engines agreed on, one case a line, and a manifest that says when and why.

`golden/<fixture>/<stage>.jsonl` holds canonical JSON; large replies in a compact form that loses nothing, or whose digest
stands beside what people read. `golden/MANIFEST.json` names every file's SHA-256, so that a damaged one is known.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from chunkproof.compare import first_difference, shown_path
from chunkproof.fixtures import Fixture
from chunkproof.parity import FixtureResult
from chunkproof.pipeline import Outcome, Run
from chunkproof.problems import Problem
from chunkproof.replies import Json, canonical, digest
from chunkproof.stages import STAGES, Select, stage_of

FORMAT = 1
MANIFEST = "MANIFEST.json"
MEND = 'restore it from version control, or make it anew with `chunkproof golden update --reason "…"`'
_MANY_QUESTIONS = 50

Lines = dict[str, dict[str, Json]]
"""By stage, by case: the golden value, in the order of asking."""


@dataclass(frozen=True)
class Mismatch:
    """A case on which the engines agree with each other, but not with the golden file."""

    stage: str
    case: str
    path: str
    golden: Json
    now: Json


@dataclass
class Check:
    """How a fixture came out against its golden files."""

    fixture: str
    cases: int = 0
    mismatches: list[Mismatch] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    missing: bool = False

    @property
    def held(self) -> bool:
        """Whether there are golden files, sound ones, and every case is as in them."""
        return not (self.mismatches or self.faults or self.missing)


def golden_lines(fixture: Fixture, run: Run) -> Lines:
    """What the golden files of a fixture say, from what one engine answered."""
    lines: Lines = {}
    if fixture.kind == "cases":
        for case in fixture.cases:
            if case.id in run.whole:
                lines.setdefault(stage_of(case.op), {})[case.id] = run.whole[case.id]
        return {stage: lines[stage] for stage in STAGES if stage in lines}
    groups: dict[tuple[str, str], list[Outcome]] = {}
    for outcome in run.outcomes:
        if outcome.group:
            groups.setdefault((outcome.stage, outcome.group), []).append(outcome)
            lines.setdefault(outcome.stage, {})[outcome.group] = {}  # its place
            continue
        value = compact(outcome, many=len(fixture.questions) > _MANY_QUESTIONS)
        lines.setdefault(outcome.stage, {})[outcome.case] = value
    for (stage, group), outcomes in groups.items():
        lines[stage][group] = together(outcomes)
    return {stage: lines[stage] for stage in STAGES if stage in lines}


def compact(outcome: Outcome, *, many: bool) -> dict[str, Json]:
    """The golden form of a corpus reply: what people read of a large one, and the digest of all of it."""
    ok = outcome.value.get("ok")
    if not isinstance(ok, dict):
        return outcome.value
    if outcome.stage == "pieces":
        pieces = ok["pieces"]
        ends = [piece["end"] for piece in pieces]
        if [piece["start"] for piece in pieces] == [0, *ends][: len(pieces)]:
            lengths = [piece["end"] - piece["start"] for piece in pieces]
            return {"ok": {"lengths": lengths, "tokens": [piece["tokens"] for piece in pieces]}}
    if outcome.stage == "rankings":
        passages = [[entry["passage"] for entry in ranking] for ranking in ok["rankings"]]
        return {"ok": {"passages": passages}, "sha256": digest(outcome.value)}
    if outcome.stage == "metrics" and many:
        return {"ok": {"lost": ok["lost"], "mean": ok["mean"]}, "sha256": digest(outcome.value)}
    return outcome.value


def together(outcomes: list[Outcome]) -> dict[str, Json]:
    """The golden form of many small replies: what people read of them, how many there are, and the digest of all."""
    oks = [ok for each in outcomes if isinstance(ok := each.value.get("ok"), dict)]
    shown = {
        "tokens": [ok["tokens"] for ok in oks if "context" in ok],
        "terms": [len(set(ok["terms"])) for ok in oks if "terms" in ok],
    }
    digested = digest([each.value for each in outcomes])
    return {"members": len(outcomes), "ok": {key: each for key, each in shown.items() if each}, "sha256": digested}


def check(result: FixtureResult) -> Check:
    """Hold the replies of a fixture on which parity held against its golden files."""
    fixture = result.fixture
    found = Check(fixture.name)
    try:
        stored = read(fixture, result.runs[0].info.get("spec", ""))
    except Problem as problem:
        found.faults.append(str(problem))
        return found
    if stored is None:
        found.missing = True
        return found
    now = golden_lines(fixture, result.runs[0])
    for stage in STAGES:
        old, new = stored.get(stage, {}), now.get(stage, {})
        for case in dict.fromkeys([*old, *new]):
            before, after = old.get(case), new.get(case)
            if not _wanted(stage, case, fixture, result.select) or (result.select.cases and _is_group(before, after)):
                continue
            found.cases += 1
            if before is None or after is None:
                what = ("(no such case)", "(asked)") if before is None else ("(a case)", "(not asked any more)")
                found.mismatches.append(Mismatch(stage, case, "the whole case", *what))
            elif canonical(before) != canonical(after):
                path = first_difference(before, after)
                found.mismatches.append(Mismatch(stage, case, shown_path(path), _at(before, path), _at(after, path)))
    return found


def _is_group(*values: Json) -> bool:
    """Whether this is a golden case of many replies: where cases are picked, it may lack some, so it is not looked at."""
    return any(value is not None and "members" in value for value in values)


def _wanted(stage: str, case: str, fixture: Fixture, select: Select) -> bool:
    if fixture.kind == "cases" and stage == "chunks":
        return select.wants_any(("similarities", "threshold", "chunks"), case)
    return select.wants(stage, case)


def _at(value: Json, path: tuple[str | int, ...]) -> Json:
    for step in path:
        try:
            value = value[step]
        except (KeyError, IndexError, TypeError):
            return "(absent)"
    return value


def agrees_with(result: FixtureResult, stage: str, case: str) -> list[str] | None:
    """The engines whose reply to a case is the golden one; None if there is none to compare with."""
    try:
        stored = read(result.fixture, "")
    except Problem:
        return None
    golden_stage = "chunks" if result.fixture.kind == "cases" and stage in ("similarities", "threshold") else stage
    wanted = (stored or {}).get(golden_stage, {}).get(case)
    if wanted is None or (result.select.cases and _is_group(wanted)):
        return None
    names = []
    for run in result.runs:
        mine = golden_lines(result.fixture, run).get(golden_stage, {}).get(case)
        if mine is not None and canonical(mine) == canonical(wanted):
            names.append(run.engine)
    return names


def read_manifest(root: Path) -> dict[str, Any]:
    """The manifest of a golden folder; an empty one if there is none yet."""
    path = root / MANIFEST
    if not path.is_file():
        return {"format": FORMAT, "fixtures": {}, "history": []}
    try:
        manifest = json.loads(path.read_bytes().decode("utf-8"))
    except (ValueError, OSError) as error:
        raise Problem(f"{path} is damaged or half-written ({error}); {MEND}") from error
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        found = manifest.get("format") if isinstance(manifest, dict) else None
        raise Problem(
            f"{path} is of format {found!r}, and this program writes format {FORMAT}: use the chunkproof that wrote it, "
            'or take it away and run `chunkproof golden update --reason "…"`'
        )
    if not isinstance(manifest.get("fixtures"), dict) or not isinstance(manifest.get("history"), list):
        raise Problem(f"{path} is damaged: it has no fixtures or no history; {MEND}")
    return manifest


def read(fixture: Fixture, spec: str) -> Lines | None:
    """The golden lines of a fixture; None if it has none yet. Every file is held against the manifest first."""
    root = fixture.golden_root
    entry = read_manifest(root)["fixtures"].get(fixture.name)
    folder = root / fixture.name
    if entry is None:
        if folder.is_dir() and any(folder.iterdir()):
            raise Problem(f"{folder} is not in {root / MANIFEST}: an update was interrupted; {MEND}")
        return None
    if not isinstance(entry, dict) or not isinstance(entry.get("files"), dict):
        raise Problem(f"{root / MANIFEST} is damaged: {fixture.name} has no files; {MEND}")
    made_for = str(entry.get("spec"))
    if spec and made_for.split(".")[0] != spec.split(".")[0]:
        raise Problem(
            f"the golden files of {fixture.name} are of spec {made_for}, and the engines speak spec {spec}: use engines of "
            f'that version, or run `chunkproof golden update --reason "…"`'
        )
    strangers = {path.name for path in folder.glob("*.jsonl")} - set(entry["files"])
    if strangers:
        raise Problem(f"{folder / min(strangers)} is not in {root / MANIFEST}; take it away, or run `golden update`")
    lines: Lines = {}
    for name, recorded in sorted(entry["files"].items()):
        lines[name.removesuffix(".jsonl")] = _read_file(folder / name, recorded)
    return lines


def _read_file(path: Path, recorded: Json) -> dict[str, Json]:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise Problem(f"{path} cannot be read ({error.strerror}); {MEND}") from error
    if not isinstance(recorded, dict) or hashlib.sha256(data).hexdigest() != recorded.get("sha256"):
        raise Problem(f"{path} {_damage(data)}; {MEND}")
    lines: dict[str, Json] = {}
    for line in data.splitlines():
        value = json.loads(line)
        lines[value.pop("id")] = value
    return lines


def _damage(data: bytes) -> str:
    """What is wrong with a file that is not the recorded one, as exactly as it can be said."""
    for number, line in enumerate(data.split(b"\n")[:-1], 1):
        try:
            json.loads(line)
        except ValueError:
            return f"is damaged: line {number} is not JSON"
    if data and not data.endswith(b"\n"):
        last = data.count(b"\n") + 1
        return f"is half-written: its last line, {last}, is cut short"
    return "was changed by something else than `golden update`: its SHA-256 is not the one in the manifest"


def file_bytes(cases: dict[str, Json]) -> bytes:
    """The bytes of a golden file: canonical JSON, one case a line."""
    return b"".join(canonical({"id": case, **value}) + b"\n" for case, value in cases.items())
