"""`golden update`: what would change, asked before anything is written, and then all of it or nothing."""

from __future__ import annotations

import datetime
import hashlib
import json
import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chunkproof import golden, layout
from chunkproof.fixtures import Fixture
from chunkproof.golden import Lines
from chunkproof.parity import FixtureResult
from chunkproof.problems import Problem
from chunkproof.replies import Json, canonical
from chunkproof.stages import STAGES

_FIGURES_SHOWN = 12
_RANGES = {"pieces": "pieces", "segments": "sentences"}


@dataclass(frozen=True)
class Plan:
    """The new golden files of one fixture, and what they change, in lines for people. No changes: nothing to write."""

    result: FixtureResult
    lines: Lines
    changes: list[tuple[str, str]]


def refuse_under_ci(environment: dict[str, str] | os._Environ[str]) -> None:
    """A machine's run never decides what is right."""
    if environment.get("CI", "").lower() not in ("", "0", "false", "no"):
        raise Problem(
            "golden files are not updated under CI: run `chunkproof golden update` yourself, and review what changes"
        )


def refuse_package(embedded: Sequence[Fixture]) -> None:
    """The golden files of an installed package are its makers'; those of a checkout and of a folder are its owner's."""
    if embedded and not layout.golden_is_ours():
        raise Problem(
            f"the golden files of {embedded[0].name} belong to the installed package: run this in a checkout of chunkproof, "
            "or name a fixture by its folder"
        )


def plan(result: FixtureResult) -> Plan:
    """What an update of a fixture would change. Unsound golden files count as none: they are written anew."""
    new = golden.golden_lines(result.fixture, result.runs[0])
    try:
        old = golden.read(result.fixture, result.runs[0].info.get("spec", ""))
    except Problem as problem:
        return Plan(result, new, [("", f"written anew: {problem}"), *_all_new(new)])
    if old is None:
        return Plan(result, new, _all_new(new))
    changes = [(stage, text) for stage in STAGES for text in _changes(stage, old.get(stage, {}), new.get(stage, {}))]
    return Plan(result, new, changes)


def _all_new(lines: Lines) -> list[tuple[str, str]]:
    return [(stage, f"+{len(cases)} case{'s' * (len(cases) != 1)}") for stage, cases in lines.items()]


def _changes(stage: str, old: dict[str, Json], new: dict[str, Json]) -> list[str]:
    added, gone = [case for case in new if case not in old], [case for case in old if case not in new]
    changed = [case for case in new if case in old and canonical(old[case]) != canonical(new[case])]
    texts = []
    if added:
        texts.append(f"+{len(added)} case{'s' * (len(added) != 1)}: {_some(added)}")
    if gone:
        texts.append(f"−{len(gone)} case{'s' * (len(gone) != 1)}: {_some(gone)}")
    if changed:
        texts.append(f"{len(changed)} of {len(new)} changed: {_some(changed)}")
        texts += _details(stage, [(case, old[case], new[case]) for case in changed])
    elif not added and not gone and list(old) != list(new):
        texts.append("the same cases in another order")
    return texts


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:4]) + (f", … {len(names)} in all" if len(names) > 4 else "")


def _details(stage: str, changed: list[tuple[str, Json, Json]]) -> list[str]:
    """Boundaries moved, rows more or fewer, figures before and after."""
    if stage == "table":
        figures = [
            f"{case} {name} {before} → {after}"
            for case, old, new in changed
            for name in _ok(new)
            if (before := _ok(old).get(name)) != (after := _ok(new)[name])
        ]
        more = [f"{len(figures)} figures in all"] if len(figures) > _FIGURES_SHOWN else []
        return [*figures[:_FIGURES_SHOWN], *more]
    if stage == "chunks":
        return [
            text
            for case, old, new in changed[:_FIGURES_SHOWN]
            if (text := _boundaries(case, _ok(old).get("chunks"), _ok(new).get("chunks")))
        ]
    if stage in _RANGES:
        name = "lengths" if stage == "pieces" else _RANGES[stage]
        counts = [len(_ok(new).get(name, [])) - len(_ok(old).get(name, [])) for _, old, new in changed]
        return [f"{sum(counts):+d} {_RANGES[stage]}"]
    return []


def _ok(value: Json) -> dict[str, Any]:
    ok = value.get("ok") if isinstance(value, dict) else None
    return ok if isinstance(ok, dict) else {}


def _boundaries(case: str, old: Json, new: Json) -> str:
    if not isinstance(old, list) or not isinstance(new, list):
        return ""
    before, after = ({(chunk["start"], chunk["end"]) for chunk in chunks} for chunks in (old, new))
    moved = min(len(before - after), len(after - before))
    rest = len(after) - len(before)
    parts = [f"{moved} boundaries moved"] if moved else []
    parts += [f"{abs(rest)} {'new' if rest > 0 else 'gone'}"] if rest else []
    return f"{case}: {', '.join(parts) or 'token counts changed'}"


def write(plans: Sequence[Plan], reason: str, today: datetime.date) -> int:
    """Write the new golden files of all plans that change something, or, if anything fails, none; how many files."""
    changing = [each for each in plans if each.changes]
    by_root: dict[Path, list[Plan]] = {}
    for each in changing:
        by_root.setdefault(each.result.fixture.golden_root, []).append(each)
    swaps: list[tuple[Path, Path, Path]] = []
    try:
        for root, group in by_root.items():
            swaps += _prepare(root, group, reason, today)
        _swap(swaps)
    finally:
        for new, _, old in swaps:
            for path in (new, old):
                if path.is_dir():
                    shutil.rmtree(path, ignore_errors=True)
                elif path.exists():
                    path.unlink()
    return sum(len(each.lines) for each in changing) + len(by_root)


def _prepare(root: Path, plans: list[Plan], reason: str, today: datetime.date) -> list[tuple[Path, Path, Path]]:
    """Everything written beside what is there: (new, its place, where the old one is kept meanwhile); the manifest last."""
    try:
        manifest = golden.read_manifest(root)
    except Problem:
        manifest = {"format": golden.FORMAT, "fixtures": {}, "history": []}
    root.mkdir(parents=True, exist_ok=True)
    swaps = []
    for each in plans:
        name = each.result.fixture.name
        new = root / f".new-{name}"
        if new.exists():
            shutil.rmtree(new)
        new.mkdir()
        swaps.append((new, root / name, root / f".old-{name}"))
        files = {}
        for stage, cases in each.lines.items():
            data = golden.file_bytes(cases)
            _write_through(new / f"{stage}.jsonl", data)
            files[f"{stage}.jsonl"] = {"cases": len(cases), "sha256": hashlib.sha256(data).hexdigest()}
        manifest["fixtures"][name] = {**_record(each.result, reason, today), "files": files}
    entry = {**_record(plans[0].result, reason, today), "fixtures": [each.result.fixture.name for each in plans]}
    entry.pop("digest", None)
    manifest["history"].append(entry)
    data = (json.dumps(manifest, ensure_ascii=False, indent=2, sort_keys=True) + "\n").encode("utf-8")
    path = root / f".new-{golden.MANIFEST}"
    _write_through(path, data)
    return [*swaps, (path, root / golden.MANIFEST, root / f".old-{golden.MANIFEST}")]


def _record(result: FixtureResult, reason: str, today: datetime.date) -> dict[str, Json]:
    keys = ("engine", "version", "runtime", "unicode", "tokenizer")
    return {
        "reason": reason,
        "date": today.isoformat(),
        "spec": result.runs[0].info.get("spec"),
        "engines": [{key: run.info.get(key) for key in keys} for run in result.runs],
        "digest": result.digest(),
    }


def _write_through(path: Path, data: bytes) -> None:
    with path.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _swap(swaps: Sequence[tuple[Path, Path, Path]]) -> None:
    """Put everything in its place by renaming; if one fails, put back what was there."""
    done: list[tuple[Path, Path, Path]] = []
    try:
        for new, place, old in swaps:
            if old.is_dir():
                shutil.rmtree(old)
            done.append((new, place, old))
            if place.exists():
                place.rename(old)
            new.rename(place)
    except BaseException:
        for new, place, old in reversed(done):
            if old.exists():
                if place.exists():
                    place.rename(new)
                old.rename(place)
            elif not new.exists() and place.exists():
                place.rename(new)
        raise
