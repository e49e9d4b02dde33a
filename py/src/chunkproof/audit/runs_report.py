"""How the metrics of a run are shown."""

from __future__ import annotations

import io
import json
from typing import Any

from rich.console import Console
from rich.table import Table

from chunkproof.audit.runs import Found, Line

FORMATS = ("text", "md", "json")


def render(found: Found, form: str) -> str:
    """A run's metrics in one of FORMATS, ending in a line end."""
    return {"text": _text, "md": _markdown, "json": _json}[form](found)


def _others(found: Found) -> list[str]:
    return list(dict.fromkeys(name for line in found.lines for name in line.others))


def _rows(found: Found) -> tuple[list[str], list[list[str]]]:
    others = _others(found)
    claims = any(line.claimed for line in found.lines)
    columns = ["metric", "exact", *others, "over all orders of ties", *(("claimed",) if claims else ())]
    rows = []
    for line in found.lines:
        tied = f"{line.least} … {line.greatest}" if line.tied else ""
        row = [line.metric, line.digits, *(line.others.get(name, "") for name in others), tied]
        rows.append(row + ([_claim(line)] if claims else []))
    return columns, rows


def _claim(line: Line) -> str:
    return f"{line.claimed} {'✓' if line.holds else '✗'}" if line.claimed else ""


def _heading(found: Found) -> str:
    return f"{found.run}: {found.questions:,} questions"


def _text(found: Found) -> str:
    out = io.StringIO()
    console = Console(file=out, width=200, no_color=True, highlight=False, markup=False, emoji=False)
    out.write(_heading(found) + "\n\n")
    columns, rows = _rows(found)
    drawn = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="")
    for index, column in enumerate(columns):
        drawn.add_column(column, justify="right" if index else "left", no_wrap=True)
    for row in rows:
        drawn.add_row(*row)
    console.print(drawn)
    if found.notes:
        out.write("\n" + "".join(f"· {note}\n" for note in found.notes))
    return "\n".join(line.rstrip() for line in out.getvalue().rstrip("\n").split("\n")) + "\n"


def _markdown(found: Found) -> str:
    columns, rows = _rows(found)
    lines = [_heading(found), "", "| " + " | ".join(columns) + " |", "| --- |" + " ---: |" * (len(columns) - 1)]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join([*lines, "", *(f"- {note}" for note in found.notes)]).rstrip("\n") + "\n"


def _json(found: Found) -> str:
    lines: list[dict[str, Any]] = [
        {
            "metric": line.metric,
            "exact": line.digits,
            "double": line.double,
            "others": line.others,
            "ties": {"least": line.least, "greatest": line.greatest},
            "claimed": line.claimed or None,
            "holds": line.holds,
        }
        for line in found.lines
    ]
    data = {"run": found.run, "questions": found.questions, "lost": found.lost, "metrics": lines, "notes": found.notes}
    return json.dumps(data, ensure_ascii=False, indent=1) + "\n"
