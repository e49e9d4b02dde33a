"""The commands about inputs: fixtures, data sets, vectors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from chunkproof import fixtures
from chunkproof.problems import DataMissing, Problem

AsJson = Annotated[bool, typer.Option("--json", help="Print it as JSON.")]

fixture_app = typer.Typer(help="Fixtures: what engines are asked about.", no_args_is_help=True, rich_markup_mode=None)
build_app = typer.Typer(help="Build a fixture from a data set.", no_args_is_help=True, rich_markup_mode=None)
data_app = typer.Typer(help="Data sets that are not embedded.", no_args_is_help=True, rich_markup_mode=None)


def add(app: typer.Typer) -> None:
    """Add these commands to the program."""
    fixture_app.command(name="list")(fixture_list)
    fixture_app.command(name="show")(fixture_show)
    fixture_app.command(name="new")(fixture_new)
    fixture_app.command(name="check")(fixture_check)
    build_app.command(name="squad")(build_squad)
    fixture_app.add_typer(build_app, name="build")
    data_app.command(name="list")(data_list)
    data_app.command(name="fetch")(data_fetch)
    data_app.command(name="path")(data_path)
    app.add_typer(fixture_app, name="fixture")
    app.add_typer(data_app, name="data")
    app.command(name="embed")(embed)


def fixture_list(as_json: AsJson = False) -> None:
    """The embedded fixtures."""
    rows = []
    for name in fixtures.names():
        folder, recipe = fixtures.describe(name)
        keys = {key: recipe.get(key) for key in ("name", "kind", "title", "licence", "spec")}
        rows.append({**keys, "embedded": "source" not in recipe, "folder": str(folder)})
    if as_json:
        typer.echo(json.dumps(rows, ensure_ascii=False, indent=1))
        return
    for row in rows:
        texts = "" if row["embedded"] else "  (its texts come from a data set)"
        typer.echo(f"{row['name']:<12} {row['kind']:<7} {row['title'] or ''}{texts}")


def fixture_show(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A fixture's name or folder.")], as_json: AsJson = False
) -> None:
    """What a fixture holds; it is loaded and checked."""
    folder, recipe = fixtures.describe(name)
    missing = ""
    try:
        loaded: fixtures.Fixture | None = fixtures.load(name)
    except DataMissing as error:
        loaded, missing = None, str(error)
    shown: dict[str, Any] = {key: recipe.get(key) for key in ("name", "kind", "title", "licence", "spec")}
    shown["folder"] = str(folder)
    if loaded is not None and loaded.kind == "cases":
        shown["cases"] = len(loaded.cases)
    elif loaded is not None and loaded.protocol is not None:
        shown["documents"] = {each.id: len(each.text) for each in loaded.documents}
        shown["questions"] = sum(len(paper.questions) for paper in loaded.papers)
        shown["policies"] = [each.name for each in loaded.protocol.policies]
    elif loaded is not None:
        shown["documents"] = {each.id: len(each.text) for each in loaded.documents}
        shown["questions"] = len(loaded.questions)
        shown["configs"] = [each.name for each in loaded.configs]
        shown["methods"] = [each.name for each in loaded.methods]
        files = [loaded.vectors.sentences, loaded.vectors.questions, *loaded.vectors.chunks.values()]
        shown["vectors"] = {file.path: len(file.keys) for file in files if file is not None}
    else:
        shown["missing"] = missing
    if as_json:
        typer.echo(json.dumps(shown, ensure_ascii=False, indent=1))
        return
    for key, value in shown.items():
        if isinstance(value, dict):
            unit = "code points" if key == "documents" else "rows"
            value = "; ".join(f"{item} ({count:,} {unit})" for item, count in value.items()) or "none"
        typer.echo(f"{key:<10} {', '.join(value) if isinstance(value, list) else value}")


def fixture_new(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The new folder; its name is the fixture's.")],
    texts: Annotated[
        list[Path] | None, typer.Argument(metavar="[FILE]...", help="UTF-8 texts, copied into it.")
    ] = None,
    title: Annotated[str, typer.Option(help="What it is, in a line.")] = "",
) -> None:
    """A fixture of your own: a folder with a recipe, your texts or an example, and help on what to write."""
    from chunkproof import newfixture

    for path in newfixture.new(folder, texts or (), title):
        typer.echo(f"wrote {folder / path.relative_to(folder.resolve())}")
    typer.echo(f"next: questions about the texts, then `chunkproof fixture check {folder}`")


def fixture_check(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The fixture's folder.")],
    fix: Annotated[
        bool, typer.Option("--fix", help="First write hashes, and places of answers that stand once.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Name everything that is wrong with a fixture, by file and line; exit status 1 if anything is."""
    from chunkproof import checkfixture

    found = checkfixture.check(folder, fix=fix)
    if as_json:
        faults = [{"file": str(each.file), "line": each.line or None, "what": each.what} for each in found.faults]
        data = {
            "ok": not faults,
            "faults": faults,
            "notes": found.notes,
            "mended": [str(each) for each in found.mended],
        }
        typer.echo(json.dumps(data, ensure_ascii=False, indent=1))
    else:
        for each in (*found.mended, *found.faults):
            typer.echo(each)
        for note in found.notes:
            typer.echo(f"· {note}")
        many = f"{len(found.faults)} fault{'s' if len(found.faults) > 1 else ''}"
        typer.echo(f"✗ {folder}: {many}" if found.faults else f"✓ {folder}: {found.summary}")
    raise typer.Exit(1 if found.faults else 0)


def build_squad(
    articles: Annotated[str, typer.Option(help="Article titles, with commas between them.")],
    questions: Annotated[int, typer.Option(help="How many questions are drawn.", min=1)],
    seed: Annotated[int, typer.Option(help="The seed that they are drawn with.")],
    out: Annotated[Path, typer.Option(help="The new folder; its name is the fixture's.")],
    title: Annotated[str, typer.Option(help="What it is, in a line.")] = "",
) -> None:
    """A fixture over articles of SQuAD: a recipe with ids, spans and hashes, no text."""
    from chunkproof import datasets

    titles = [part.strip() for part in articles.split(",") if part.strip()]
    folder = datasets.build_squad_fixture(titles, questions, seed, out, title=title)
    typer.echo(f"wrote {folder}; its vectors are made by `chunkproof embed {folder}`")


def data_list(as_json: AsJson = False) -> None:
    """The data sets that are known, and which are on this machine."""
    from chunkproof import datasets

    rows = []
    for each in datasets.entries():
        try:
            found = datasets.find(each.name)
            state = str(found) if found is not None else "not here"
        except datasets.DataError as error:
            state = str(error)
        rows.append(
            {"name": each.name, "title": each.title, "licence": each.licence, "path": each.path, "state": state}
        )
    if as_json:
        typer.echo(json.dumps(rows, ensure_ascii=False, indent=1))
        return
    for row in rows:
        typer.echo(f"{row['name']:<18} {row['title']} ({row['licence']}): {row['state']}")


def data_fetch(name: Annotated[str, typer.Argument(metavar="NAME")]) -> None:
    """Get a data set's file, checked by its SHA-256, into the user's cache, and print where it is."""
    from chunkproof import datasets

    typer.echo(datasets.fetch(name))


def data_path(name: Annotated[str, typer.Argument(metavar="NAME")]) -> None:
    """Print where a data set's file is on this machine."""
    from chunkproof import datasets

    typer.echo(datasets.path(name))


def embed(
    name: Annotated[str, typer.Argument(metavar="FIXTURE", help="A fixture's name or folder.")],
    replace: Annotated[bool, typer.Option("--replace", help="Write over vectors that differ.")] = False,
    fresh: Annotated[bool, typer.Option("--fresh", help="Take nothing from the cache.")] = False,
    as_json: AsJson = False,
) -> None:
    """Make a fixture's vectors, or compare them with those that it has."""
    try:
        from chunkproof import embed as embedding
    except ImportError as error:
        raise Problem(f"embed needs more packages ({error.name}): python -m pip install 'chunkproof[embed]'") from error
    report = embedding.embed(name, replace=replace, fresh=fresh)
    typer.echo(json.dumps(report.as_json(), ensure_ascii=False, indent=1) if as_json else str(report))
    raise typer.Exit(0 if report.ok else 1)
