"""Parity: the same questions to every engine, the answers compared bit for bit, stage by stage.

The engines run at the same time, one thread each; every fixture is asked of a fresh process whose working folder is the
fixture's. Parity holds if every engine answered everything, nothing differs, and no corpus request was refused.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from chunkproof import fixtures, layout
from chunkproof.caselines import Case, read_case
from chunkproof.compare import NEEDS, NEEDS_OF_PAPERS, Difference, StageResult, compare
from chunkproof.engines import NUMBERED, TIMEOUT, Engine, EngineFailure, own_names, split_command
from chunkproof.fixtures import Fixture
from chunkproof.pipeline import Progress, Run, run_cases, run_corpus
from chunkproof.problems import DataMissing, Problem
from chunkproof.replies import Json, digest
from chunkproof.stages import ALL, OPERATIONS, STAGES, Select

SAME_INFO = ("spec", "unicode", "tokenizer")
"""What engines must state alike before anything is compared."""

PUBLISHED = ("atlas", "squad6")
"""The fixtures whose tables are printed where none is named; the first is that of `chunkproof table`."""


@dataclass(frozen=True)
class Command:
    """An engine to be: the short name of its values in a report, and its command."""

    name: str
    words: tuple[str, ...]
    shown: str


@dataclass
class FixtureResult:
    """How a fixture came out."""

    fixture: Fixture
    runs: list[Run]
    stages: list[StageResult]
    select: Select = ALL
    notes: list[str] = field(default_factory=list)
    strangers: list[str] = field(default_factory=list)

    @property
    def failures(self) -> list[EngineFailure]:
        """What engines did wrong, by engine."""
        return [run.failure for run in self.runs if run.failure is not None]

    @property
    def cause(self) -> Difference | None:
        """The first difference of the first stage that differs."""
        return next((result.differences[0] for result in self.stages if result.differences), None)

    @property
    def refusals(self) -> list[str]:
        """Requests of a corpus or of papers that were refused by all engines alike: then there is no table to speak of."""
        if self.fixture.kind == "cases":
            return []
        return [f"{item.case}: {item.value['error']['code']}" for item in self.runs[0].outcomes if item.refused]

    @property
    def compared(self) -> int:
        """How many values were compared."""
        return sum(result.cases for result in self.stages)

    @property
    def held(self) -> bool:
        """Whether parity held: everything answered, everything alike, and something was compared at all."""
        wrong = self.failures or self.strangers or self.cause or self.refusals
        return not wrong and self.compared > 0

    @property
    def lacking(self) -> dict[str, int]:
        """How many values were compared without an engine that does not have the operation, by engine."""
        counts: dict[str, int] = {}
        for result in self.stages:
            for engine, count in result.lacking.items():
                counts[engine] = counts.get(engine, 0) + count
        return counts

    @property
    def unlisted(self) -> dict[str, list[str]]:
        """The operations of the spec that an engine's `info` does not list, by engine, whether or not a case needs them."""
        found = {}
        for run in self.runs:
            ops = run.info.get("ops")
            missing = [op for op in OPERATIONS if op != "info" and not (isinstance(ops, list) and op in ops)]
            if run.info and missing:
                found[run.engine] = missing
        return found

    @property
    def covers_table(self) -> bool:
        """Whether at least two engines computed the figures of a corpus's table: nothing else is published.

        An engine beside itself is one engine.
        """
        names = {str(run.info.get("engine")) for run in self.runs if run.engine not in self.lacking}
        tabled = any(each.stage == "table" and each.cases for each in self.stages)
        return self.fixture.kind == "corpus" and self.held and len(names) > 1 and tabled

    def digests(self) -> dict[str, str]:
        """The digest of each stage: that of the list of its values in the order of asking."""
        values: dict[str, list[Json]] = {}
        for outcome in self.runs[0].outcomes:
            values.setdefault(outcome.stage, []).append(outcome.value)
        return {stage: digest(values[stage]) for stage in STAGES if stage in values}

    def digest(self) -> str:
        """What a published table carries: the digest of the fixture's data, the spec and every stage's digest."""
        spec = self.runs[0].info.get("spec", "")
        data = {"fixture": self.fixture.name, "data": self.fixture.hashes, "spec": spec, "stages": self.digests()}
        return digest(data)


def commands(given: Sequence[str]) -> list[Command]:
    """The engines to compare: those given, or the two of this package."""
    if not given:
        try:
            return [
                Command("py", tuple(layout.py_engine()), "py"),
                Command("ts", tuple(layout.ts_engine()), "ts"),
            ]
        except layout.EngineMissing as error:
            raise Problem(f"{error} (or name two engines with --engine)") from error
    if len(given) == 1:  # one engine alone is compared with the reference
        given = ["ts" if given[0] == "py" else "py", *given]
    engines: list[Command] = []
    for text in given:
        words = engine_command(text)
        name = text if text in ("py", "ts") else f"{NUMBERED}{len(engines) + 1}"
        if any(name == other.name for other in engines):
            name = f"{NUMBERED}{len(engines) + 1}"
        engines.append(Command(name, tuple(words), text))
    return engines


def engine_command(text: str) -> list[str]:
    """The command of an engine: `py`, `ts`, or any command line."""
    if text == "py":
        return layout.py_engine()
    if text == "ts":
        try:
            return layout.ts_engine()
        except layout.EngineMissing as error:
            raise Problem(str(error)) from error
    return split_command(text)


def default_fixtures() -> tuple[list[Fixture], list[str]]:
    """The embedded fixtures, those with published tables last, and those whose data is at hand; notes on those left out."""
    loaded, notes = [], []
    names = fixtures.names()
    for name in [*(name for name in names if name not in PUBLISHED), *(name for name in PUBLISHED if name in names)]:
        try:
            loaded.append(fixtures.load(name))
        except DataMissing as error:
            notes.append(f"{name} is left out: {error}")
    if not loaded:
        raise Problem(f"there is no fixture to compare in {layout.fixtures_dir()}")
    return loaded, notes


def requests_fixture(path: Path) -> Fixture:
    """Any requests, one a line, as a fixture of cases. A line with a `why` is a case; every other is sent as it is meant.

    A request without an id gets one. A line that is no plain request (no JSON, a key twice, …) is sent byte by byte.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise Problem(f"{path} cannot be read: {error.strerror}") from error
    lines = data.split(b"\n")
    if lines[-1] == b"":
        lines.pop()
    cases: list[Case] = []
    taken: set[str] = set()
    for number, line in enumerate(lines, 1):
        where = f"{path.name}, line {number}"
        request = _plain_request(line)
        if request is not None and isinstance(request.get("why"), str):
            case = read_case(request, where)
        elif request is not None:
            name = request.pop("id", f"line {number}")
            case = Case(name, "", request, None, where)
        else:
            case = Case(f"line {number}", "", None, line, where)
        if case.id in taken:
            case = Case(f"{case.id} (line {number})", case.why, case.request, case.raw, where)
        taken.add(case.id)
        cases.append(case)
    if not cases:
        raise Problem(f"{path} holds no request")
    return Fixture(path.name, "cases", path.parent.resolve(), True, cases=tuple(cases))


def _plain_request(line: bytes) -> dict[str, Json] | None:
    def pairs(items: list[tuple[str, Json]]) -> dict[str, Json]:
        table = dict(items)
        if len(table) != len(items):
            raise ValueError("a key twice")
        return table

    def refuse(_: str) -> Json:
        raise ValueError("no JSON")

    try:
        value = json.loads(line.decode("utf-8"), object_pairs_hook=pairs, parse_constant=refuse)
        json.dumps(value, allow_nan=False)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict):
        return None
    if "raw" in value or "raw_base64" in value:
        return value if isinstance(value.get("why"), str) else None
    return value if isinstance(value.get("id", ""), str) and isinstance(value.get("op"), str) else None


def run_fixture(
    fixture: Fixture,
    engines: Sequence[Command],
    select: Select = ALL,
    timeout: float = TIMEOUT,
    progress: Progress | None = None,
) -> FixtureResult:
    """Ask every engine everything that is wanted of a fixture, all engines at the same time, and compare."""
    runs = [Run(command.name) for command in engines]
    threads = [
        threading.Thread(target=run_engine, args=(fixture, command, run, select, timeout, progress), daemon=True)
        for command, run in zip(engines, runs, strict=True)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        while thread.is_alive():
            thread.join(0.2)  # not without end: an interruption must get through
    for run in runs:
        if run.problem is not None:
            raise run.problem
    for run, name in zip(runs, own_names([run.engine for run in runs], [run.info for run in runs]), strict=True):
        run.engine = name
        if run.failure is not None:
            run.failure = EngineFailure(name, run.failure.kind, run.failure.detail, run.failure.open)
    return judge(fixture, runs, select)


def judge(fixture: Fixture, runs: list[Run], select: Select = ALL) -> FixtureResult:
    """Compare what engines answered about a fixture."""
    strangers = strange_infos(runs)
    needs = NEEDS_OF_PAPERS if fixture.kind == "papers" else NEEDS
    result = FixtureResult(fixture, runs, [] if strangers else compare(runs, needs), select, strangers=strangers)
    result.notes += list(dict.fromkeys(note for run in runs for note in run.skipped))
    return result


def run_engine(
    fixture: Fixture,
    command: Command,
    run: Run,
    select: Select = ALL,
    timeout: float = TIMEOUT,
    progress: Progress | None = None,
) -> None:
    """Ask one engine everything that is wanted of a fixture, into `run`. Whatever it does wrong ends up as its failure."""
    try:
        with Engine(command.words, fixture.folder, command.name, timeout) as engine:
            (reply,) = engine.ask([("info", {"op": "info"})])
            if reply.ok is None:
                raise EngineFailure(command.name, "malformed", f"it refuses info: {reply.code}")
            run.info = reply.ok
            if fixture.kind == "cases":
                run_cases(engine, fixture.cases, run, select, progress)
            elif fixture.kind == "papers":
                from chunkproof.experiment.stages import run_papers  # which rests on this module

                run_papers(engine, fixture, run, select, progress)
            else:
                run_corpus(engine, fixture, run, select, progress)
    except EngineFailure as failure:
        run.failure = failure
    except Problem as problem:
        run.problem = problem
    except Exception as error:  # a reply that surprises the harness itself: still a named failure, never a pass
        run.failure = EngineFailure(command.name, "malformed", f"{type(error).__name__}: {error}")


def strange_infos(runs: Sequence[Run]) -> list[str]:
    """What the engines' `info` replies do not state alike, one sentence each."""
    known = [run for run in runs if run.info]
    found = []
    for key in SAME_INFO:
        stated = {run.engine: run.info.get(key) for run in known}
        if len({json.dumps(value) for value in stated.values()}) > 1:
            each = ", ".join(f"{name} {value}" for name, value in stated.items())
            found.append(f"the engines do not speak of the same {key}: {each}")
    return found
