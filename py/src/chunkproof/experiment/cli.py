"""`chunkproof budget run`, `chunkproof budget explore`, `chunkproof budget misses`."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any

import typer

from chunkproof import __version__, layout, parity
from chunkproof.engines import TIMEOUT
from chunkproof.experiment import protocol as protocols
from chunkproof.experiment.papers import Dataset, Paper, load, select, without_abstract
from chunkproof.experiment.protocol import Protocol
from chunkproof.formats import form_of
from chunkproof.problems import Problem

budget_app = typer.Typer(
    help="Which chunking puts the annotated evidence into a context of a fixed number of tokens.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
SOURCE = "qasper"
Source = Annotated[
    str,
    typer.Option("--dataset", help="qasper, an embedded fixture of papers, or a file or folder of your own documents."),
]
Split = Annotated[str | None, typer.Option(help="qasper: train or validation; by default the protocol's.")]
Count = Annotated[int | None, typer.Option("--papers", help="Draw so many papers with the seed; by default all.")]
Seed = Annotated[int | None, typer.Option(help="The seed that papers are drawn with; by default the protocol's.")]
ProtocolFile = Annotated[
    Path | None, typer.Option("--protocol", help="A protocol in TOML; by default the shipped one.")
]
Engines = Annotated[
    list[str] | None, typer.Option("--engine", help="py, ts or a command; twice or more, they replace the two.")
]
Timeout = Annotated[float, typer.Option(help="Seconds without a reply after which an engine hangs.", min=0.1)]
AsJson = Annotated[bool, typer.Option("--json", help="The same as --format json.")]


def add(app: typer.Typer) -> None:
    """Add these commands to the program."""
    from chunkproof.experiment.cli_misses import misses_command

    budget_app.command(name="explore")(explore_command)
    budget_app.command(name="run")(run_command)
    budget_app.command(name="misses")(misses_command)
    app.add_typer(budget_app, name="budget")


@dataclass(frozen=True)
class Chosen:
    """The papers of a command, and the data set that they are of."""

    dataset: Dataset
    papers: tuple[Paper, ...]


def choose(source: str, split: str, count: int | None, seed: int) -> Chosen:
    """Load the data set and draw the papers."""
    embedded = layout.fixtures_dir() / source
    is_name = not Path(source).exists() and (embedded / "papers.json").is_file()
    dataset = load(str(embedded) if is_name else source, split)
    return Chosen(dataset, dataset.papers if count is None else select(dataset.papers, count, seed))


def protocol_of(path: Path | None, budgets: str | None, policies: list[str] | None) -> Protocol:
    """The protocol, with other budgets or fewer policies where they are named. The baseline always stays."""
    made = protocols.load(path) if path is not None else protocols.load()
    if budgets is not None:
        made = made.with_budgets([_whole(part) for part in budgets.split(",")])
    return made if not policies else made.only([*policies, made.baseline])


def _whole(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise Problem(f"--budgets: {text!r} is no whole number of tokens") from None


def _refuse_partial(**given: object) -> None:
    """A final run is the protocol, whole and as it stands."""
    named = [f"--{name.replace('_', '-')}" for name, value in given.items() if value not in (None, False, [])]
    if named:
        raise Problem(f"--final runs the protocol as it stands on all papers: leave out {' and '.join(named)}")


def explore_command(
    source: Source = SOURCE,
    split: Split = None,
    count: Count = None,
    seed: Seed = None,
    tokens: Annotated[
        bool, typer.Option("--tokens", help="Lengths in tokens too: the engines cut every text.")
    ] = False,
    form: Annotated[str, typer.Option("--format", help="One of text, json.")] = "text",
    as_json: AsJson = False,
    commands: Engines = None,
    timeout: Timeout = TIMEOUT,
) -> None:
    """What is in a data set: counts, lengths, artefacts, and how evidence maps to paragraphs."""
    from chunkproof.audit.arithmetic import Calculator, Disagreement
    from chunkproof.experiment import explore

    form = form_of(form, explore.FORMATS, as_json=as_json)
    developing = protocols.load().table["develop"]
    chosen = choose(source, split or developing["split"], count, developing["seed"] if seed is None else seed)
    try:
        with Calculator(parity.commands(commands or []), Path.cwd(), timeout) as calculator:
            found = explore.make(chosen.dataset, chosen.papers, calculator, tokens=tokens)
    except Disagreement as error:
        raise disagree(error) from error
    typer.echo(explore.render(found, form), nl=False)


def disagree(error: Exception) -> typer.Exit:
    """The engines do not agree: no result, exit status 1."""
    print(f"chunkproof: the engines do not agree: {error}: there is no result", file=sys.stderr)
    return typer.Exit(1)


def run_command(
    source: Source = SOURCE,
    split: Split = None,
    count: Count = None,
    seed: Seed = None,
    final: Annotated[
        bool,
        typer.Option("--final", help="The one run that decides: on the held-out papers, with a line in the ledger."),
    ] = False,
    budgets: Annotated[str | None, typer.Option(help="Budgets in tokens, with commas between them.")] = None,
    policies: Annotated[
        list[str] | None, typer.Option("--policy", help="Only this policy and the baseline; may be repeated.")
    ] = None,
    no_abstract: Annotated[
        bool, typer.Option("--without-abstract", help="The papers as texts that have no abstract.")
    ] = False,
    robust: Annotated[
        bool,
        typer.Option(
            "--robustness",
            help="Ask again in other settings: word pieces, dense retrieval, no abstract, headings in the text.",
        ),
    ] = False,
    form: Annotated[str, typer.Option("--format", help="One of text, md, csv, json.")] = "text",
    as_json: AsJson = False,
    protocol_file: ProtocolFile = None,
    curves: Annotated[
        Path | None, typer.Option(help="Run the budgets of the curves too, and draw them into this SVG file.")
    ] = None,
    price: Annotated[
        str | None, typer.Option(help="A price per million tokens; what is made of it is labelled hypothetical.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Write all forms into this folder too: budget.txt, .md, .csv and .json.")
    ] = None,
    docs: Annotated[
        Path | None, typer.Option(help="Write the result between the markers of this document too.")
    ] = None,
    ledger_file: Annotated[
        Path | None, typer.Option("--ledger", help="The ledger of final runs; by default that of the checkout.")
    ] = None,
    commands: Engines = None,
    timeout: Timeout = TIMEOUT,
) -> None:
    """Run the experiment: both engines compute every figure, for every policy at the same token budgets."""
    from chunkproof.experiment import cost, publish, render
    from chunkproof.experiment.ledger import Changed

    form = form_of(form, render.FORMATS, as_json=as_json)
    if final:
        _refuse_partial(papers=count, seed=seed, budgets=budgets, policy=policies, without_abstract=no_abstract)
    protocol = protocol_of(protocol_file, budgets, policies)
    worth = None if price is None else cost.price(price)
    wanted = split or protocol.table["final" if final else "develop"]["split"]
    if final and source == SOURCE and wanted != protocol.table["final"]["split"]:
        raise Problem(
            f"--final runs on {protocol.table['final']['split']}, the protocol's held-out split, not on {wanted}"
        )
    chosen = choose(source, wanted, count, protocol.table["develop"]["seed"] if seed is None else seed)
    if no_abstract:
        chosen = Chosen(chosen.dataset, tuple(map(without_abstract, chosen.papers)))
    engines = parity.commands(commands or [])
    summary = _computed(
        chosen,
        protocol,
        engines,
        timeout,
        final=final,
        price=worth,
        with_curves=curves is not None,
        no_abstract=no_abstract,
        robust=robust,
    )
    if final:
        try:
            summary["notes"].append(_recorded(summary, ledger_file))
        except Changed as error:
            print(f"chunkproof: {error}", file=sys.stderr)
            raise typer.Exit(1) from error
    if curves is not None:
        curves.write_text(_drawn(summary), encoding="utf-8", newline="\n")
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        for each, ending in zip(render.FORMATS, ("txt", "md", "csv", "json"), strict=True):
            (out / f"budget.{ending}").write_text(render.render(summary, each), encoding="utf-8", newline="\n")
    if docs is not None:
        publish.write(docs, summary)
    typer.echo(render.render(summary, form), nl=False)


def _computed(
    chosen: Chosen,
    protocol: Protocol,
    engines: list[parity.Command],
    timeout: float,
    *,
    final: bool,
    price: Fraction | None,
    with_curves: bool,
    no_abstract: bool,
    robust: bool,
) -> dict[str, Any]:
    """Run, and ask the engines for what the summary needs. Exit status 1 where they do not agree."""
    from chunkproof.audit.arithmetic import Calculator, Disagreement
    from chunkproof.experiment import running, summary

    if robust:
        from chunkproof.experiment import robustness  # loads what vectors need, which no other run does

        robustness.check(protocol)
    curve_protocol = protocol.with_budgets(protocols.CURVE_BUDGETS).without_top_k()
    notes = ["The papers are without their abstracts."] if no_abstract else []
    try:
        with running.bar(len(chosen.papers) * (1 + with_curves)) as progress:
            ran = running.run(chosen.papers, protocol, engines, timeout=timeout, progress=progress)
            drawn = None
            if with_curves:
                drawn = running.run(chosen.papers, curve_protocol, engines, timeout=timeout, progress=progress)
        varied = robustness.run(chosen.papers, ran, engines, timeout=timeout) if robust else None
        with Calculator(engines, Path.cwd(), timeout) as calculator:
            subject = summary.Subject(chosen.dataset, chosen.papers, ran, drawn, final, tuple(notes), price, varied)
            return summary.make(subject, calculator)
    except (running.Differs, Disagreement) as error:
        raise disagree(error) from error


def _recorded(summary: dict[str, Any], path: Path | None) -> str:
    """Write the ledger's line; what the ledger says."""
    from chunkproof.experiment import ledger

    data, protocol = summary["dataset"], summary["protocol"]
    engines = dict(str(each).rsplit(" ", 1) for each in summary["engines"])
    line = ledger.Line(
        protocol["digest"],
        str(summary["data"]),
        f"{data['name']} {data['split']}".strip(),
        {"chunkproof": __version__, **engines},
        str(summary["digest"]),
        ledger.today(),
    )
    return ledger.said(ledger.record(line, path if path is not None else ledger.default()))


def _drawn(summary: dict[str, Any]) -> str:
    """The curves as SVG."""
    from chunkproof.experiment import curves

    points: dict[str, list[tuple[int, int, int]]] = {}
    found = summary["curves"]
    for point in found:
        points.setdefault(point["policy"], []).append((point["budget"], point["covered"]["any"], point["questions"]))
    data = summary["dataset"]
    name = f"{data['name']} {data['split']}".strip()
    kind = "final run" if summary["final"] else "not a final run"
    return curves.svg(points, f"{name}, {kind}: {summary['papers']} papers, {summary['scored']} questions")
