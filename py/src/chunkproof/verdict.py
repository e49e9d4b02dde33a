"""What a parity run says to people: first the verdict, then the cause, then what to type."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from typing import Any

from chunkproof import golden
from chunkproof.compare import Difference, as_double, fraction, shown_double, ulps
from chunkproof.context import Witness, context
from chunkproof.engines import KINDS, is_number
from chunkproof.golden import Check
from chunkproof.parity import Command, FixtureResult
from chunkproof.replies import Json
from chunkproof.stages import chapter

_LONGEST = 100
_FIGURES = 4


def title(result: FixtureResult) -> str:
    """The engines of a run by name and version."""
    named = [
        f"{run.info.get('engine', run.engine)} {run.info.get('version', '')}".strip() if run.info else run.engine
        for run in result.runs
    ]
    return " and ".join(named)


def held_line(result: FixtureResult) -> str:
    """One line for a fixture on which all agree."""
    stages = ", ".join(f"{stage.stage} {stage.cases:,}" for stage in result.stages if stage.cases)
    line = f"✓ {result.fixture.name}: {title(result)} agree on all {result.compared:,} values ({stages})"
    for name, missing in result.unlisted.items():
        line += f"\n  not in the info of {name}: {', '.join(missing)}"
    for name, count in result.lacking.items():
        line += f"\n  not compared: {count:,} values that need operations which {name} does not list in info"
    return line


def held_sentence(partial: Sequence[str], unchecked: Sequence[str]) -> str:
    """The last line of a run in which parity held.

    `partial` are the engines that do not list every operation, `unchecked` the fixtures whose golden files may lack, and do.
    """
    line = "✓ parity held"
    if partial:
        line += f" for the operations that {' and '.join(partial)} list{'s' * (len(partial) == 1)}"
    return f"{line}; there are no golden files to check {' and '.join(unchecked)} against" if unchecked else line


def report(result: FixtureResult, engines: Sequence[Command], witness: Witness, given: Sequence[str]) -> str:
    """The report of a fixture on which parity did not hold. `given` are the options that named engines and input."""
    blocks = []
    for sentence in result.strangers:
        blocks.append(f"✗ {result.fixture.name}: {sentence}")
    shown = {run.engine: command.shown for run, command in zip(result.runs, engines, strict=False)}
    for failure in result.failures:
        lines = [f"✗ {result.fixture.name}: {_called(failure.engine)} {KINDS[failure.kind]}: {failure.detail}"]
        lines.append(_line("command", shown.get(failure.engine, failure.engine)))
        if failure.open:
            lines.append(_line("open", failure.open))
        blocks.append("\n".join(lines))
    cause = result.cause
    if cause is not None:
        blocks.append(_difference(result, cause, witness, given))
    elif result.refusals:
        blocks.append(
            f"✗ {result.fixture.name}: all engines refuse {len(result.refusals)} requests of this corpus, "
            f"so it has no table; the first is {result.refusals[0]}"
        )
    if not blocks and not result.compared:
        blocks.append(f"✗ {result.fixture.name}: nothing was compared; no case or stage is called so")
    return "\n\n".join(blocks)


def _difference(result: FixtureResult, cause: Difference, witness: Witness, given: Sequence[str]) -> str:
    differing = [stage for stage in result.stages if stage.differences]
    names = title(result)
    fixture = result.fixture
    count = len(differing)
    lines = [f"✗ parity: {names} differ in {count} of {len(result.stages)} stages of {fixture.name}", ""]
    lines.append(_line("stage", cause.stage))
    lines.append(_line("case", f"{fixture.name}/{cause.case}"))
    lines.append(_line("spec", _places(cause)))
    lines.append(_line("at", cause.path))
    lines += _values(cause.values)
    agreeing = golden.agrees_with(result, cause.stage, cause.outcome.group or cause.case)
    if agreeing is not None:
        lines.append(_line("golden", f"as {' and '.join(agreeing)}" if agreeing else "as none of them"))
    words = settings(cause.outcome.request)
    if cause.outcome.why:
        lines.append(_line("why", cause.outcome.why))
    elif words:
        lines.append(_line("asked", words))
    lines += [_line(label, text) for label, text in context(cause, witness)]
    if witness.agree_alone(cause):
        lines.append(_line("state", "asked alone they agree: an engine keeps something from one request to the next"))
    others = len(differing[0].differences) - 1
    if others:
        more = ", ".join(each.case for each in differing[0].differences[1:4]) + (", …" if others > 3 else "")
        lines.append(_line("also", f"{others} more of this stage: {more}"))
    if count > 1:
        folded = ", ".join(_folded(stage.stage, stage.differences) for stage in differing[1:])
        corpus = fixture.kind != "cases"  # where each stage rests on those before; cases are asked one by one
        words = "probably caused by the above" if corpus else "also differ, independent of it"
        lines.append(_line("follows" if corpus else "others", f"{words}: {folded}"))
    lines += ["", _line("repeat", repeat(result, cause, given))]
    return "\n".join(lines)


def _places(cause: Difference) -> str:
    """Where the spec decides it: the rule, and the errors where one of the replies is an error."""
    place = chapter(cause.stage, cause.outcome.request)
    return f"{place}; 01-wire.md § Errors" if cause.is_of_errors and not place.startswith("01-wire.md") else place


def _called(engine: str) -> str:
    return engine if is_number(engine) else f"engine {engine}"


def _line(label: str, text: str, width: int = 10) -> str:
    return f"  {label:<{width}} {text}"


def _values(values: dict[str, Json]) -> list[str]:
    lines = []
    first = next(iter(values.values()))
    width = max(10, *map(len, values))
    for name, value in values.items():
        shown = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)
        if len(shown) > _LONGEST:
            shown = f"{shown[:_LONGEST]}… ({len(shown):,} characters)"
        double = as_double(value)
        if double is not None:
            shown += f"   {shown_double(double)}"
            if value != first and as_double(first) is not None:
                shown += f"   {ulps(first, value):+,} ulp"
        elif (exact := fraction(value)) is not None:
            shown += f"   {shown_double(float(exact))}"
        lines.append(_line(name, shown, width))
    return lines


def settings(request: dict[str, Json] | None) -> str:
    """What a corpus case asks, for it has no why of its own."""
    part = (request or {}).get("chunker") or (request or {}).get("method")
    if not isinstance(part, dict):
        return ""
    return ", ".join(
        str(value) if key == "kind" else f"{key} {value}" for key, value in part.items() if key != "vectors"
    )


def _folded(stage: str, differences: Sequence[Difference]) -> str:
    if stage != "table":
        return f"{stage} ({len(differences)})"
    figures = []
    for each in differences:
        (_, one), *others = each.whole.items()
        other = next((value for _, value in others if value != one), None)
        if isinstance(one, dict) and isinstance(other, dict):
            before, after = one.get("ok") or {}, other.get("ok") or {}
            figures += [
                f"{each.case} {key} {before[key]} → {after[key]}" for key in before if before[key] != after.get(key)
            ]
    shown = "; ".join(figures[:_FIGURES]) + (f"; … {len(figures)} figures in all" if len(figures) > _FIGURES else "")
    return f"table ({len(differences)} rows: {shown})" if shown else f"table ({len(differences)} rows)"


def repeat(result: FixtureResult, cause: Difference, given: Sequence[str]) -> str:
    """The command that repeats only that case at that stage."""
    words = ["chunkproof", "parity", *given, "--case", cause.case, "--stage", cause.stage]
    return " ".join(shlex.quote(word) for word in words)


def golden_report(found: Check, *, needed: bool = True) -> str:
    """What the golden check of a fixture found. Where golden files are not `needed`, their absence is no fault."""
    if found.missing and not needed:
        return f"· golden: {found.fixture} has no golden files"
    if found.missing:
        return (
            f"✗ golden: {found.fixture} has no golden files yet; look at its replies, then run "
            '`chunkproof golden update --reason "…"`'
        )
    if found.held:
        return f"✓ golden: {found.fixture}, {found.cases:,} cases as agreed"
    lines = [f"✗ golden: {fault}" for fault in found.faults]
    if found.mismatches:
        first = found.mismatches[0]
        count = len(found.mismatches)
        lines.append(f"✗ golden: {found.fixture} differs from what was agreed in {count} of {found.cases:,} cases")
        lines += [
            "",
            _line("stage", first.stage),
            _line("case", f"{found.fixture}/{first.case}"),
            _line("at", first.path),
        ]
        lines += _values({"golden": first.golden, "now": first.now})
        if count > 1:
            lines.append(_line("also", ", ".join(f"{each.stage} {each.case}" for each in found.mismatches[1:5])))
        lines += ["", _line("if meant", 'chunkproof golden update --reason "…" (it first shows what would change)')]
    return "\n".join(lines)


def as_data(result: FixtureResult, found: Check | None) -> dict[str, Any]:
    """A fixture's outcome as a program reads it."""
    cause = result.cause
    return {
        "fixture": result.fixture.name,
        "held": result.held,
        "lacking": result.lacking,
        "unlisted": result.unlisted,
        "digest": result.digest() if result.covers_table and result.fixture.kind == "corpus" else None,
        "engines": [{"name": run.engine, **run.info} for run in result.runs],
        "failures": [{"engine": f.engine, "kind": f.kind, "detail": f.detail, "open": f.open} for f in result.failures],
        "info": result.strangers,
        "refused": result.refusals,
        "stages": [
            {"stage": stage.stage, "cases": stage.cases, "differ": [each.case for each in stage.differences]}
            for stage in result.stages
        ],
        "cause": None if cause is None else _cause(cause),
        "notes": result.notes,
        "golden": None if found is None else _golden(found),
    }


def _cause(cause: Difference) -> dict[str, Any]:
    spec = _places(cause)
    why = cause.outcome.why
    return {
        "stage": cause.stage,
        "case": cause.case,
        "why": why,
        "spec": spec,
        "at": cause.path,
        "values": cause.values,
    }


def _golden(found: Check) -> dict[str, Any]:
    return {
        "held": found.held,
        "missing": found.missing,
        "cases": found.cases,
        "faults": found.faults,
        "differ": [{"stage": each.stage, "case": each.case, "at": each.path} for each in found.mismatches],
    }
