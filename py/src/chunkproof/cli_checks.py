"""The commands that ask engines and judge: parity, table, golden."""

from __future__ import annotations

import datetime
import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from chunkproof import fixtures, golden, parity, regold, table, trec, verdict
from chunkproof.compare import Difference
from chunkproof.engines import TIMEOUT, Engine, EngineFailure
from chunkproof.formats import form_of
from chunkproof.parity import Command, FixtureResult
from chunkproof.problems import Problem
from chunkproof.progress import counter
from chunkproof.replies import Json
from chunkproof.stages import ALL, STAGES, Select
from chunkproof.tally import Tally, as_data

Fixtures = Annotated[list[str] | None, typer.Option("--fixture", help="A fixture's name or folder; may be repeated.")]
Engines = Annotated[
    list[str] | None,
    typer.Option(
        "--engine",
        help="py, ts or a command; may be repeated. One alone is compared with the Python engine (py with ts); "
        "two or more are compared with each other.",
    ),
]
Timeout = Annotated[float, typer.Option(help="Seconds without a reply after which an engine hangs.", min=0.1)]
AsJson = Annotated[bool, typer.Option("--json", help="Print everything as JSON.")]

_PATIENCE = 30.0
"""Seconds for an engine that is asked again to explain a difference."""

golden_app = typer.Typer(help="The replies that all engines agreed on.", no_args_is_help=True, rich_markup_mode=None)


def add(app: typer.Typer) -> None:
    """Add these commands to the program."""
    app.command(name="parity")(parity_command)
    app.command(name="table")(table_command)
    golden_app.command(name="check")(golden_check)
    golden_app.command(name="update")(golden_update)
    app.add_typer(golden_app, name="golden")


class _Witness:
    """The engines started once more to explain a difference; silence if they do not answer."""

    def __init__(self, engines: Sequence[Command], result: FixtureResult) -> None:
        self._engines, self._result = engines, result

    def ask(self, request: dict[str, Json]) -> Json:
        command = self._engines[0]
        try:
            with Engine(command.words, self._result.fixture.folder, command.name, _PATIENCE) as engine:
                (reply,) = engine.ask([("to explain", request)])
                return reply.ok
        except EngineFailure:
            return None

    def agree_alone(self, difference: Difference) -> bool:
        only = Select((difference.case,), (difference.stage,))
        if only == self._result.select:
            return False
        return parity.run_fixture(self._result.fixture, self._engines, only, _PATIENCE).held


def run_all(
    loaded: Sequence[fixtures.Fixture], engines: Sequence[Command], select: Select, timeout: float
) -> Iterator[FixtureResult]:
    """Ask the engines about each fixture in turn, with a counter of replies on a terminal."""
    for fixture in loaded:
        with counter(fixture.name) as progress:
            yield parity.run_fixture(fixture, engines, select, timeout, progress)


def _load(names: Sequence[str] | None) -> tuple[list[fixtures.Fixture], list[str]]:
    return ([fixtures.load(name) for name in dict.fromkeys(names)], []) if names else parity.default_fixtures()


def parity_command(
    names: Fixtures = None,
    commands: Engines = None,
    requests: Annotated[Path | None, typer.Option(help="Any requests, one a line, in place of fixtures.")] = None,
    case: Annotated[
        list[str] | None, typer.Option(help="Only this case; * stands for anything; may be repeated.")
    ] = None,
    stage: Annotated[list[str] | None, typer.Option(help=f"Only this stage: {', '.join(STAGES)}.")] = None,
    timeout: Timeout = TIMEOUT,
    as_json: AsJson = False,
) -> None:
    """Ask every engine the same questions, compare the answers bit for bit, check the golden files, print the tables."""
    if stranger := next((name for name in stage or [] if name not in STAGES), None):
        raise Problem(f"there is no stage {stranger!r}; there are: {', '.join(STAGES)}")
    engines = parity.commands(commands or [])
    loaded, notes = _load(names) if names or requests is None else ([], [])
    if requests is not None:
        loaded.append(parity.requests_fixture(requests))
    tally = Tally(own=all(text in ("py", "ts") for text in commands or []))
    data = []
    partial: dict[str, None] = {}  # engines that do not list every operation
    for result in run_all(loaded, engines, _select(case, stage, [fixture.name for fixture in loaded]), timeout):
        asked = requests is not None and result.fixture is loaded[-1]
        found = golden.check(result) if result.held and not asked and has_golden(result.fixture) else None
        tally.add(result, found, asked=asked)
        partial |= dict.fromkeys(result.unlisted)
        if as_json:
            data.append(as_data(result, found))
            continue
        given = ["--requests", str(requests)] if asked else ["--fixture", _shown_name(result.fixture)]
        given += [word for each in commands or [] for word in ("--engine", each)]
        untabled = not names and result.fixture.name not in parity.PUBLISHED
        _print(result, found, engines, given, asked, untabled, needed=tally.needs_golden(result))
    if as_json:
        typer.echo(json.dumps(tally.as_data(data, notes), ensure_ascii=False, indent=1))
    else:
        for note in notes:
            typer.echo(f"· {note}")
        if not tally.held:
            typer.echo("✗ parity did not hold")
        elif not tally.golden:
            typer.echo("✗ parity held, but not as the golden files have it")
        elif tally.absent:
            typer.echo(f"✗ parity held, but the golden files of {' and '.join(tally.absent)} are missing")
        else:
            typer.echo(verdict.held_sentence(list(partial), tally.unchecked))
    raise typer.Exit(0 if tally.good else 1)


def _select(cases: Sequence[str] | None, stages: Sequence[str] | None, names: Sequence[str]) -> Select:
    """What is wanted; a case may be given with its fixture's name before it, as a report prints it."""
    wanted = [form for case in cases or [] for form in (case, *(case.removeprefix(f"{name}/") for name in names))]
    return Select(tuple(dict.fromkeys(wanted)), tuple(stages or ()))


def has_golden(fixture: fixtures.Fixture) -> bool:
    """A fixture named by path is only held against golden files that its owner has made."""
    return not fixture.by_path or (fixture.golden_root / golden.MANIFEST).is_file()


def _shown_name(fixture: fixtures.Fixture) -> str:
    return fixture.asked or fixture.name


def _print(
    result: FixtureResult,
    found: golden.Check | None,
    engines: Sequence[Command],
    given: Sequence[str],
    asked: bool,
    untabled: bool,
    *,
    needed: bool,
) -> None:
    if not result.held:
        typer.echo(verdict.report(result, engines, _Witness(engines, result), given) + "\n")
        return
    typer.echo(verdict.held_line(result))
    if asked:
        codes = [item.value["error"]["code"] for item in result.runs[0].outcomes if item.refused]
        if codes:
            counted = ", ".join(f"{code} {codes.count(code)}" for code in dict.fromkeys(codes))
            typer.echo(f"  {len(codes)} of them are refused by all alike: {counted}")
    if found is not None:
        typer.echo(verdict.golden_report(found, needed=needed))
    if untabled or not result.covers_table or not result.select.everything:
        return
    if found is None or found.held or found.missing:
        typer.echo("\n" + table.render(table.make(result), "text"))


def table_command(
    name: Annotated[str, typer.Option("--fixture", help="The fixture's name or folder.")] = parity.PUBLISHED[0],
    form: Annotated[str, typer.Option("--format", help=f"One of {', '.join(table.FORMATS)}.")] = "text",
    as_json: Annotated[bool, typer.Option("--json", help="The same as --format json.")] = False,
    commands: Engines = None,
    unproved: Annotated[
        bool, typer.Option("--no-parity", help="One engine alone; the first line then says so.")
    ] = False,
    cuts: Annotated[
        bool, typer.Option("--cuts", help="How many answers windows cut, beside how many they should, in its place.")
    ] = False,
    methods: Annotated[
        list[str] | None,
        typer.Option("--method", help="Only the rows of this method, as the table names it; repeatable."),
    ] = None,
    trec_folder: Annotated[
        Path | None, typer.Option("--trec", help="Also write TREC run and qrels files here.")
    ] = None,
    timeout: Timeout = TIMEOUT,
) -> None:
    """Print the table of a fixture, once parity has held for it in this very run."""
    form = form_of(form, table.FORMATS, as_json=as_json)
    if unproved:
        text = (commands or ["py"])[0]
        engines = [Command(text, tuple(parity.engine_command(text)), text)]
    else:
        engines = parity.commands(commands or [])
    fixture = fixtures.load(name)
    if fixture.kind != "corpus":
        raise Problem(f"{fixture.name} is a fixture of {fixture.kind}: only a corpus has a table")
    (result,) = run_all([fixture], engines, ALL, timeout)
    if not result.held:
        given = ["--fixture", _shown_name(fixture), *(word for each in commands or [] for word in ("--engine", each))]
        refuse_unheld(result, engines, given, "there is no table")
    if trec_folder is not None:
        count = trec.write(result, trec_folder)
        typer.echo(f"wrote {count} files to {trec_folder}", err=True)
    made = table.make(result, covered=not unproved)
    if methods:
        made = table.of_methods(made, methods)
    typer.echo(table.render(table.with_cuts(made, result, engines) if cuts else made, form), nl=False)


def refuse_unheld(result: FixtureResult, engines: Sequence[Command], given: Sequence[str], so: str) -> NoReturn:
    """End the command with the report of a fixture on which parity did not hold; `so` says what there is none of."""
    typer.echo(verdict.report(result, engines, _Witness(engines, result), given), err=True)
    typer.echo(f"chunkproof: parity did not hold, so {so}", err=True)
    raise typer.Exit(1)


def golden_check(
    names: Fixtures = None, commands: Engines = None, timeout: Timeout = TIMEOUT, as_json: AsJson = False
) -> None:
    """Hold what the engines answer now against the golden files."""
    engines = parity.commands(commands or [])
    loaded, notes = _load(names)
    good, data = True, []
    for result in run_all(loaded, engines, ALL, timeout):
        found = golden.check(result) if result.held else None
        good = good and found is not None and found.held
        if as_json:
            data.append(verdict.as_data(result, found))
        elif found is None:
            given = ["--fixture", _shown_name(result.fixture)]
            typer.echo(verdict.report(result, engines, _Witness(engines, result), given))
        else:
            typer.echo(verdict.golden_report(found))
    if as_json:
        typer.echo(json.dumps({"held": good, "fixtures": data, "notes": notes}, ensure_ascii=False, indent=1))
    else:
        for note in notes:
            typer.echo(f"· {note}")
    raise typer.Exit(0 if good else 1)


def golden_update(
    reason: Annotated[str, typer.Option(help="Why the golden files change: it is kept in the manifest.")] = "",
    names: Fixtures = None,
    commands: Engines = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    timeout: Timeout = TIMEOUT,
) -> None:
    """Show what would change in the golden files, ask, and write all of it or nothing."""
    regold.refuse_under_ci(os.environ)
    if not reason.strip():
        raise Problem('an update needs a reason: --reason "what changed and why"')
    engines = parity.commands(commands or [])
    loaded, notes = _load(names)
    regold.refuse_package([fixture for fixture in loaded if not fixture.by_path])
    plans, replies, agree = [], 0, True
    for result in run_all(loaded, engines, ALL, timeout):
        if not result.held:
            agree = False
            given = ["--fixture", _shown_name(result.fixture)]
            typer.echo(verdict.report(result, engines, _Witness(engines, result), given), err=True)
            continue
        plans.append(regold.plan(result))
        replies += result.compared
    if not agree:
        typer.echo("chunkproof: the engines do not agree, so no golden file is written", err=True)
        raise typer.Exit(1)
    for note in notes:
        typer.echo(f"· {note}")
    changing = [each for each in plans if each.changes]
    if not changing:
        typer.echo(f"Both engines agree on all {replies:,} replies, and nothing changes in the golden files.")
        return
    _show(changing)
    count = sum(len(each.lines) for each in changing) + len({each.result.fixture.golden_root for each in changing})
    agreed = f"All engines agree on all {replies:,} replies."
    if yes:
        typer.echo(agreed)
    elif not _agreed(f"{agreed} Write {count} files? [y/N] "):
        typer.echo("nothing was written")
        return
    written = regold.write(changing, reason.strip(), datetime.datetime.now(datetime.UTC).date())
    typer.echo(f"wrote {written} files")


def _show(plans: Sequence[regold.Plan]) -> None:
    for each in plans:
        name, before = each.result.fixture.name, ""
        for stage, text in each.changes:
            typer.echo(f"{name:<10} {stage if stage != before else '':<12} {text}".rstrip())
            name, before = "", stage


def _agreed(question: str) -> bool:
    try:
        return input(question).strip().lower() in ("y", "yes")
    except EOFError:
        raise Problem("nothing was written: there is nobody to ask; say --yes if it is meant") from None
