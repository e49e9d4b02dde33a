"""The command line. Exit status 0: as asked; 1: a difference or a failed check; 2: wrong use; 130: interrupted.

Every fault that a user can mend is one sentence on standard error, never a stack trace.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from chunkproof import __version__, cli_checks, cli_data
from chunkproof.audit import cli as audit_cli
from chunkproof.engines import EngineFailure, kill_all
from chunkproof.experiment import cli as budget_cli
from chunkproof.layout import EngineMissing
from chunkproof.problems import Problem
from chunkproof.report import cli as report_cli

_INTERRUPTED = 130

app = typer.Typer(
    name="chunkproof",
    help="Proves that two programs cut the same text at the same places, and that a table follows from those cuts.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
cli_checks.add(app)
cli_data.add(app)
audit_cli.add(app)
budget_cli.add(app)
report_cli.add(app)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"chunkproof {__version__}")
        raise typer.Exit


@app.callback()
def _main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Proves that two programs cut the same text at the same places, and that a table follows from those cuts."""


@app.command()
def engine(name: Annotated[str, typer.Argument(help="py or ts", metavar="py|ts")]) -> None:
    """Run an engine on standard input and output (spec 01): JSON Lines, one request and one reply a line."""
    from chunkproof.parity import engine_command

    if name not in ("py", "ts"):
        raise Problem(f"there is no engine {name!r}: there are py and ts")
    words = engine_command(name)
    if os.name == "posix":
        sys.stdout.flush()
        os.execvp(words[0], words)
    import subprocess

    raise typer.Exit(subprocess.run(words, check=False).returncode)


@app.command()
def chunk(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A UTF-8 text; - for standard input.")],
    kind: Annotated[str, typer.Option(help="fixed, recursive or semantic")],
    size: Annotated[int, typer.Option(help="The most tokens of a chunk.")],
    overlap: Annotated[int | None, typer.Option(help="fixed: the most tokens shared with the chunk before.")] = None,
    paragraphs: Annotated[str | None, typer.Option(help="newline or blank_line; recursive and semantic")] = None,
    percentile: Annotated[int | None, typer.Option(help="semantic: where the threshold lies.")] = None,
    vectors: Annotated[Path | None, typer.Option(help="semantic: an Arrow file, one int8 vector a sentence.")] = None,
    engine: Annotated[str, typer.Option(help="py, ts or any command")] = "py",
    as_json: Annotated[bool, typer.Option("--json", help="Print the reply as JSON.")] = False,
) -> None:
    """Cut one file into chunks and show them."""
    from chunkproof import cutting

    settings: dict[str, Any] = {"kind": kind, "size": size}
    given = {"overlap": overlap, "paragraphs": paragraphs, "percentile": percentile}
    settings |= {key: value for key, value in given.items() if value is not None}
    text = cutting.read_text(file)
    if vectors is not None:
        settings["vectors"] = cutting.read_vectors(vectors)
    ok = cutting.cut(text, settings, engine)
    typer.echo(json.dumps(ok, ensure_ascii=False) if as_json else cutting.shown(text, ok), nl=as_json)


@app.command()
def fuzz(
    seed: Annotated[int, typer.Option(help="The same seed makes the same requests.")] = 0,
    minutes: Annotated[float | None, typer.Option(help="How long to look.")] = None,
    examples: Annotated[int | None, typer.Option(help="How many requests to make at most.")] = None,
    engines: Annotated[
        list[str] | None,
        typer.Option(
            "--engine",
            help="py, ts or a command; may be repeated. One alone is compared with no other: only what always holds "
            "is checked. By default py and ts.",
        ),
    ] = None,
    only: Annotated[list[str] | None, typer.Option(help="Only groups whose names begin so; may be repeated.")] = None,
    out: Annotated[Path | None, typer.Option(help="Append what differs to this file, as cases.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print what was found as JSON.")] = False,
) -> None:
    """Make requests at random, compare the engines, and shrink what differs to the smallest request."""
    from chunkproof import fuzz as fuzzing

    if minutes is None and examples is None:
        minutes = 1.0
    raise typer.Exit(fuzzing.run(seed, minutes, engines or None, examples, out, only or None, as_json))


@app.command()
def bench(
    only: Annotated[list[str] | None, typer.Option(help="Only these parts; may be repeated.")] = None,
    size_mb: Annotated[float, typer.Option(help="Megabytes of text.")] = 20.0,
    sample_kb: Annotated[float, typer.Option(help="Kilobytes for the slow splitter that is compared with.")] = 300.0,
    repeats: Annotated[int, typer.Option(help="Runs of each measurement; the best counts.")] = 3,
    as_json: Annotated[bool, typer.Option("--json", help="Print the figures as JSON.")] = False,
) -> None:
    """Measure speed and memory, as ratios within one run."""
    from chunkproof import bench as benching

    raise typer.Exit(benching.run(only or None, size_mb, sample_kb, repeats, as_json))


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and end the process with its exit status."""
    sys.exit(run(arguments))


def run(arguments: list[str] | None = None) -> int:
    """Run the command line; the exit status."""
    command = typer.main.get_command(app)
    try:
        status = command.main(args=arguments, prog_name="chunkproof", standalone_mode=False)
        sys.stdout.flush()
        if status == _INTERRUPTED:  # typer's own reading of Ctrl-C
            return _say("interrupted", _INTERRUPTED)
        return status if isinstance(status, int) else 0
    except (Problem, EngineMissing) as problem:
        return _say(str(problem), 2)
    except EngineFailure as failure:
        return _say(f"the engine {failure}", 1)
    except KeyboardInterrupt:
        return _say("interrupted", _INTERRUPTED)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as error:
        return _say(f"{error.filename or 'the output'}: {error.strerror or error}", 2)
    except Exception as error:
        return _odd(error)
    finally:
        kill_all()


def _odd(error: Exception) -> int:
    """What typer says about wrong use, an interrupted question, and data that is missing; anything else is our own fault."""
    show, code = getattr(error, "show", None), getattr(error, "exit_code", None)
    if callable(show) and isinstance(code, int):  # typer's own errors of usage
        show()
        return code
    names = {kind.__name__ for kind in type(error).__mro__}
    if "Exit" in names and isinstance(code, int):
        return code
    if "Abort" in names:
        return _say("interrupted", _INTERRUPTED)
    if "DataError" in names:
        return _say(str(error), 2)
    if os.environ.get("CHUNKPROOF_TRACE"):
        raise error
    return _say(f"a fault of chunkproof itself, {type(error).__name__}: {error} (CHUNKPROOF_TRACE=1 shows where)", 2)


def _say(sentence: str, status: int) -> int:
    print(f"chunkproof: {sentence}", file=sys.stderr)
    return status


if __name__ == "__main__":
    main()
