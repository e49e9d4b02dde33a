"""`chunkproof report`: run both engines on a fixture and write the site about it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from chunkproof import fixtures, golden, parity, resources
from chunkproof.cli_checks import Timeout, has_golden, refuse_unheld, run_all
from chunkproof.engines import TIMEOUT
from chunkproof.problems import DataMissing, Problem
from chunkproof.report import check, pictures, site, write
from chunkproof.stages import ALL

INDEX = "index.html"


def add(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command(name="report")(report_command)


def report_command(
    out: Annotated[Path, typer.Option("--out", help="The folder: new, empty, or one that an earlier report wrote.")],
    name: Annotated[str, typer.Option("--fixture", help="The fixture's name or folder.")] = parity.PUBLISHED[0],
    budget: Annotated[
        Path | None, typer.Option("--budget", help="What `chunkproof budget run --json` printed, to be shown too.")
    ] = None,
    if_data: Annotated[
        bool, typer.Option("--if-data", help="Write nothing, with a note, where the fixture's data set is not at hand.")
    ] = False,
    timeout: Timeout = TIMEOUT,
) -> None:
    """Write a static site of a fixture's cuts and table, which checks them again in the browser that opens it."""
    write.refuse_foreign(out)
    page = write.page_files()
    experiment = None if budget is None else read_budget(budget)
    engines = parity.commands([])
    try:
        fixture = fixtures.load(name)
    except DataMissing as error:
        if not if_data:
            raise
        typer.echo(f"· {name} is left out: {error}")
        return
    (result,) = run_all([fixture], engines, ALL, timeout)
    if not result.held:
        refuse_unheld(result, engines, ["--fixture", fixture.asked or fixture.name], "there is no report")
    found = golden.check(result) if has_golden(fixture) else None
    asked, values = check.collect(result)
    shown = pictures.collect(fixture.folder, engines, timeout) if experiment and has_papers(fixture) else []
    data = {
        "site.js": ("chunkproof", {"site": site.collect(result, engines, found, experiment, shown)}),
        "check.js": ("chunkproofCheck", asked),
        "golden.js": ("chunkproofGolden", values),
    }
    count = write.write(out, data, page, _tokenizer())
    typer.echo(f"wrote {count} files; open {out / INDEX}")
    if found is not None and found.mismatches:
        typer.echo(
            "the golden files have it otherwise, and the report says so: run `chunkproof golden check`", err=True
        )


def has_papers(fixture: fixtures.Fixture) -> bool:
    """Whether the fixture's folder holds papers with evidence, whose questions can be pictured."""
    return (fixture.folder / "papers.json").is_file()


def read_budget(path: Path) -> dict[str, Any]:
    """The JSON of an experiment."""
    try:
        data = json.loads(path.read_bytes().decode("utf-8"))
    except OSError as error:
        raise Problem(f"{path} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise Problem(f"{path} is no JSON ({error}): write it with `chunkproof budget run --json > {path}`") from error
    if not isinstance(data, dict) or not isinstance(data.get("rows"), list):
        raise Problem(f"{path} has no rows: write it with `chunkproof budget run --json > {path}`")
    return data


def _tokenizer() -> Path:
    try:
        return resources.tokenizer_path()
    except resources.MissingResource as error:
        raise Problem(str(error)) from error
