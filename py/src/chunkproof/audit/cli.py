"""`chunkproof audit CLAIMS`, `chunkproof audit init TABLE`, `chunkproof audit runs RUN`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from chunkproof import parity
from chunkproof.engines import TIMEOUT
from chunkproof.formats import form_of
from chunkproof.problems import DataMissing, Problem
from chunkproof.progress import counter

_DEFAULT = "claims"


class _Group(TyperGroup):
    """A group whose first word may be left out: `audit CLAIMS` is `audit claims CLAIMS`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put the command in front where none is named."""
        if args and args[0] not in self.commands and args[0] not in ("--help", "-h"):
            args = [_DEFAULT, *args]
        return super().parse_args(ctx, args)


audit_app = typer.Typer(
    cls=_Group,
    help="What published figures are worth: `audit CLAIMS` recomputes every one and says whether it follows from the data.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
Engines = Annotated[
    list[str] | None, typer.Option("--engine", help="py, ts or a command; twice or more, they replace the two.")
]
Timeout = Annotated[float, typer.Option(help="Seconds without a reply after which an engine hangs.", min=0.1)]


def add(app: typer.Typer) -> None:
    """Add these commands to the program."""
    audit_app.command(name=_DEFAULT)(audit_command)
    audit_app.command(name="init")(init_command)
    audit_app.command(name="runs")(runs_command)
    app.add_typer(audit_app, name="audit")


def _disagree(error: Exception) -> typer.Exit:
    """The engines do not agree: no verdict, exit status 1."""
    print(f"chunkproof: {error}: there is no verdict", file=sys.stderr)
    return typer.Exit(1)


def audit_command(
    names: Annotated[
        list[str],
        typer.Argument(metavar="CLAIMS...", help="Claims files (TOML), or the names of those that come along."),
    ],
    form: Annotated[str, typer.Option("--format", help="One of text, md, json, junit.")] = "text",
    as_json: Annotated[bool, typer.Option("--json", help="The same as --format json.")] = False,
    allow_missing: Annotated[
        bool, typer.Option("--allow-missing", help="Exit 0 also where figures can't be recomputed.")
    ] = False,
    if_data: Annotated[
        bool, typer.Option("--if-data", help="Leave out claims whose data set is not at hand, with a note.")
    ] = False,
    table: Annotated[
        str | None, typer.Option(help="Read the tables from this file instead; - for standard input.")
    ] = None,
    no_ties: Annotated[bool, typer.Option("--no-ties", help="Do not look at other orders of equal scores.")] = False,
    commands: Engines = None,
    timeout: Timeout = TIMEOUT,
) -> None:
    """Recompute published figures and say of each: reproduced, differs and why, or can't be recomputed and why.

    Exit status 0 if all are reproduced, 1 if any differs or is missing, 2 for wrong use.
    """
    from chunkproof.audit import header, report
    from chunkproof.audit.arithmetic import Disagreement
    from chunkproof.audit.auditing import audit

    form = form_of(form, report.FORMATS, as_json=as_json)
    engines = parity.commands(commands or [])
    done = []
    for read in [header.read(header.find(name), table) for name in names]:
        try:
            with counter(read.path.name) as progress:
                done.append(audit(read, engines, timeout, with_ties=not no_ties, progress=progress))
        except Disagreement as error:
            raise _disagree(error) from error
        except DataMissing as error:
            if not if_data:
                raise
            print(f"chunkproof: {read.path} is left out: {error}", file=sys.stderr)
    if form == "text":
        report.show(done)
    elif done:
        typer.echo(report.render(done, form, allow_missing), nl=False)
    raise typer.Exit(0 if all(each.held(allow_missing) for each in done) else 1)


def init_command(
    table: Annotated[
        str, typer.Argument(metavar="TABLE", help="A Markdown, CSV, TSV, JSON or HTML table; - for standard input.")
    ],
    fixture: Annotated[
        str | None, typer.Option(help="The fixture that the table is about; guessed if left out.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Where to write the header; beside the table if left out, - for standard output."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Write over a file that is there.")] = False,
) -> None:
    """Write a claims file for a table by guessing from its column names, and list what could not be mapped."""
    from chunkproof.audit import guess

    made = guess.header_for(table, fixture)
    target = out if out is not None else Path("-") if table == "-" else Path(table).with_suffix(".toml")
    if str(target) == "-":
        typer.echo(made.text, nl=False)
    else:
        if target.exists() and not force:
            raise Problem(
                f"{target} is there already: nothing was written; --force writes over it, --out names another"
            )
        made = guess.header_for(table, fixture, target.parent)
        target.write_text(made.text, encoding="utf-8", newline="\n")
        print(f"wrote {target}: {made.said}", file=sys.stderr)
    for line in made.open:
        print(f"· {line}", file=sys.stderr)
    if str(target) != "-":
        print(f"now: chunkproof audit {target}", file=sys.stderr)


def runs_command(
    run: Annotated[
        str, typer.Argument(metavar="RUN", help="A TREC run, or rankings as JSON Lines; - for standard input.")
    ],
    qrels: Annotated[
        Path | None, typer.Option(help="TREC qrels; a JSON Lines run may say what is relevant itself.")
    ] = None,
    beir: Annotated[Path | None, typer.Option(help="A BEIR folder: its qrels and queries.")] = None,
    split: Annotated[str, typer.Option(help="Which qrels of the BEIR folder.")] = "test",
    cutoffs: Annotated[str, typer.Option(help="The k of recall@k.")] = "1,3,5,10,20",
    claims: Annotated[
        list[str] | None, typer.Option("--claim", help="A published figure, such as mrr@10=0.854; may be repeated.")
    ] = None,
    form: Annotated[str, typer.Option("--format", help="One of text, md, json.")] = "text",
    as_json: Annotated[bool, typer.Option("--json", help="The same as --format json.")] = False,
    commands: Engines = None,
    timeout: Timeout = TIMEOUT,
) -> None:
    """Recompute the metrics of somebody's run by exact arithmetic, beside those of ir-measures and pytrec_eval where installed."""
    from chunkproof.audit import runs, runs_report
    from chunkproof.audit.arithmetic import Calculator, Disagreement

    form = form_of(form, runs_report.FORMATS, as_json=as_json)
    read = runs.read(run, qrels, beir, split)
    engines = parity.commands(commands or [])
    try:
        with Calculator(engines, Path.cwd(), timeout) as calculator:
            found = runs.judge(read, runs.cutoffs(cutoffs), runs.claimed(claims or []), calculator)
    except Disagreement as error:
        raise _disagree(error) from error
    typer.echo(runs_report.render(found, form), nl=False)
    raise typer.Exit(0 if found.held else 1)
