"""`chunkproof budget misses`."""

from __future__ import annotations

from typing import Annotated

import typer

from chunkproof import parity
from chunkproof.engines import TIMEOUT
from chunkproof.experiment import protocol as protocols
from chunkproof.experiment.cli import (
    SOURCE,
    AsJson,
    Count,
    Engines,
    ProtocolFile,
    Seed,
    Source,
    Split,
    Timeout,
    choose,
    disagree,
)
from chunkproof.formats import form_of
from chunkproof.problems import Problem


def misses_command(
    source: Source = SOURCE,
    split: Split = None,
    papers: Count = None,
    seed: Seed = None,
    policy: Annotated[str, typer.Option(help="The policy whose misses are shown.")] = "paragraphs",
    budget: Annotated[int | None, typer.Option(help="Tokens; by default the budget of the decision.", min=1)] = None,
    count: Annotated[int, typer.Option(help="How many are shown, drawn from all misses.")] = 20,
    draw: Annotated[int, typer.Option(help="The seed that they are drawn with.")] = 1,
    protocol_file: ProtocolFile = None,
    form: Annotated[str, typer.Option("--format", help="One of text, json.")] = "text",
    as_json: AsJson = False,
    commands: Engines = None,
    timeout: Timeout = TIMEOUT,
) -> None:
    """Questions that a policy misses: the evidence that their context lacks, and what filled the budget instead.

    Of qasper, by default the papers for development.
    """
    from chunkproof.experiment import misses, running

    form = form_of(form, misses.FORMATS, as_json=as_json)
    protocol = protocols.load(protocol_file) if protocol_file is not None else protocols.load()
    tokens = protocol.table["decision"]["budget"] if budget is None else budget
    small = protocol.only([policy]).with_budgets([tokens]).without_top_k()
    if count < 1 or not 0 <= draw < 2**32:
        raise Problem(f"--count {count} must be at least 1, and --draw {draw} from 0 to 4294967295")
    developing, held_out = protocol.table["develop"], protocol.table["final"]["split"]
    wanted = split or developing["split"]
    if source == SOURCE and papers is None and wanted == developing["split"]:
        papers = developing["papers"]
    if source == SOURCE and wanted == held_out:
        typer.echo(
            "chunkproof: these papers are held out: who looks at them and then changes a rule has none left", err=True
        )
    chosen = choose(source, wanted, papers, developing["seed"] if seed is None else seed)
    engines = parity.commands(commands or [])
    try:
        with running.bar(len(chosen.papers)) as progress:
            ran = running.run(chosen.papers, small, engines, timeout=timeout, progress=progress)
        found = misses.make(chosen.papers, ran, policy, tokens, count, engines, draw, timeout)
    except running.Differs as error:
        raise disagree(error) from error
    typer.echo(misses.render(found, form), nl=False)
