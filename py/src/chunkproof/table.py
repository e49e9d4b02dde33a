"""The published table: chunking rows and retrieval rows as the engines printed them, in text, Markdown, CSV and JSON.

A table is made from a run in which parity held and carries the digest of what it was computed from; one that parity did not
cover says so in its first line, or as `held` false. `with_cuts` has the table of cut answers in place of the two.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from rich.console import Console
from rich.table import Table as RichTable

from chunkproof import cuts, exact
from chunkproof.exact import Exact
from chunkproof.parity import Command, FixtureResult
from chunkproof.pipeline import METRICS
from chunkproof.problems import Problem

FORMATS = ("text", "md", "csv", "json")
CHUNKING = ("config", "chunks", "mean_tokens", "max_tokens", "lost", "long")
ROWS = ("config", "method", *METRICS)
NOTHING = "–"
"""Stands for a figure that cannot be had, as `long` without word-piece counts; null in JSON."""


@dataclass(frozen=True)
class Table:
    """The figures as printed, and whether parity held for them in the same run."""

    fixture: str
    held: bool
    digest: str
    engines: tuple[str, ...]
    chunking: tuple[dict[str, str | None], ...]
    rows: tuple[dict[str, str | None], ...]
    notes: tuple[str, ...] = ()
    cuts: tuple[dict[str, str | None], ...] | None = None
    exact: Exact = field(default_factory=dict)
    """What each figure that was rounded is exactly; only the JSON has it."""

    def sections(self) -> tuple[tuple[tuple[str, ...], tuple[dict[str, str | None], ...], int], ...]:
        """What is printed: columns, rows, and how many of the columns are words."""
        if self.cuts is not None:
            return ((cuts.COLUMNS, self.cuts, 1),)
        return ((CHUNKING, self.chunking, 1), (ROWS, self.rows, 2))

    def remarks(self) -> list[str]:
        """The lines below: how the cuts are to be read, and what was left out."""
        said = [] if self.cuts is None else [cuts.summary(self.cuts)]
        return said + [f"left out: {note}" for note in self.notes]

    def heading(self) -> str:
        """The line above the table: what held, or that nothing was proved."""
        by = " and ".join(self.engines)
        if self.held:
            return f"{self.fixture}: parity held between {by}, digest {self.digest}"
        return f"{self.fixture}: NOT COVERED BY PARITY, computed by {by} alone, digest {self.digest}"


def make(result: FixtureResult, *, covered: bool = True) -> Table:
    """The table of a corpus run. `covered` False for a run of one engine, which proves nothing."""
    chunking: list[dict[str, str | None]] = []
    rows: list[dict[str, str | None]] = []
    for outcome in result.runs[0].outcomes:
        if outcome.stage == "table" and outcome.value.get("ok"):
            (rows if "method" in outcome.value["ok"] else chunking).append(outcome.value["ok"])
    engines = tuple(
        f"{run.info.get('engine', run.engine)} {run.info.get('version', '')}".strip() for run in result.runs
    )
    held = covered and result.covers_table and result.select.everything and len(result.runs) > 1
    name, notes = result.fixture.name, tuple(result.notes)
    return Table(
        name, held, result.digest(), engines, tuple(chunking), tuple(rows), notes, exact=exact.of_result(result)
    )


def of_methods(table: Table, methods: Sequence[str]) -> Table:
    """The table with the rows of these methods alone, in its own order."""
    there = list(dict.fromkeys(str(row["method"]) for row in table.rows))
    for method in methods:
        if method not in there:
            raise Problem(f"{table.fixture} has no method {method!r}; it has: {', '.join(there)}")
    return replace(table, rows=tuple(row for row in table.rows if row["method"] in methods))


def with_cuts(table: Table, result: FixtureResult, engines: Sequence[Command]) -> Table:
    """The table of cut answers of the same run; what was left out for want of vectors matters only where chunks did."""
    found = cuts.rows(result, engines)
    there = {row["config"] for row in found}
    missing = {config.name for config in result.fixture.configs if config.name not in there}
    notes = tuple(note for note in table.notes if note.split(":")[0] in missing)
    return replace(table, cuts=found, notes=notes)


def render(table: Table, form: str) -> str:
    """The table in one of FORMATS, ending in a line end."""
    return {"text": _text, "md": _markdown, "csv": _csv, "json": _json}[form](table)


def as_data(table: Table) -> dict[str, Any]:
    """The table as JSON has it."""
    return {
        "fixture": table.fixture,
        "parity": {"held": table.held, "digest": table.digest},
        **(
            {"chunking": list(table.chunking), "rows": list(table.rows), "exact": _exact(table)}
            if table.cuts is None
            else {"cuts": list(table.cuts)}
        ),
        **({"notes": list(table.notes)} if table.notes else {}),
    }


def _exact(table: Table) -> Exact:
    """The exact figures of the rows that the table has, under `config` and `config/method`."""
    cases = [str(row["config"]) for row in table.chunking]
    cases += [f"{row['config']}/{row['method']}" for row in table.rows]
    return {case: table.exact[case] for case in cases if case in table.exact}


def _json(table: Table) -> str:
    return json.dumps(as_data(table), ensure_ascii=False, indent=1) + "\n"


def _title(column: str) -> str:
    return "inside a sentence %" if column == "inside_sentence_percent" else column.replace("_", " ")


def _cells(row: dict[str, str | None], columns: tuple[str, ...]) -> list[str]:
    return [NOTHING if row.get(column) is None else str(row[column]) for column in columns]


def _text(table: Table) -> str:
    out = io.StringIO()
    console = Console(file=out, width=200, no_color=True, highlight=False, markup=False, emoji=False)
    out.write(table.heading() + "\n\n")
    for columns, rows, words in table.sections():
        drawn = RichTable(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="")
        for index, column in enumerate(columns):
            drawn.add_column(_title(column), justify="left" if index < words else "right", no_wrap=True)
        for row in rows:
            drawn.add_row(*_cells(row, columns))
        console.print(drawn)
        out.write("\n")
    for remark in table.remarks():
        out.write(f"{remark}\n")
    return "\n".join(line.rstrip() for line in out.getvalue().rstrip("\n").split("\n")) + "\n"


def _markdown(table: Table) -> str:
    lines = [f"<!-- {table.heading()} -->", ""]
    for columns, rows, words in table.sections():
        lines.append("| " + " | ".join(map(_title, columns)) + " |")
        lines.append("| " + " | ".join("---" if index < words else "---:" for index in range(len(columns))) + " |")
        lines += ["| " + " | ".join(cell.replace("|", "\\|") for cell in _cells(row, columns)) + " |" for row in rows]
        lines.append("")
    lines += [f"<!-- {remark} -->" for remark in table.remarks()]
    return "\n".join(lines).rstrip("\n") + "\n"


def _csv(table: Table) -> str:
    """Both tables as one: chunking figures are repeated on each retrieval row of their config."""
    out = io.StringIO()
    out.write(f"# {table.heading()}\n")
    for remark in table.remarks():
        out.write(f"# {remark}\n")
    writer = csv.writer(out, lineterminator="\n")
    if table.cuts is not None:
        writer.writerow(cuts.COLUMNS)
        writer.writerows(["" if row[column] is None else row[column] for column in cuts.COLUMNS] for row in table.cuts)
        return out.getvalue()
    columns = (*ROWS, *CHUNKING[1:])
    writer.writerow(columns)
    by_config = {str(row["config"]): row for row in table.chunking}
    for row in table.rows:
        whole = {**by_config.get(str(row["config"]), {}), **row}
        writer.writerow(["" if whole.get(column) is None else whole[column] for column in columns])
    for name, chunking in by_config.items():
        if not any(row["config"] == name for row in table.rows):
            writer.writerow(["" if chunking.get(column) is None else chunking[column] for column in columns])
    return out.getvalue()
