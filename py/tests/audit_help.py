"""What the tests of the audit share: mini's evidence by both engines, and tables made of it with one mistake or another."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from chunkproof import fixtures, parity
from chunkproof.audit import causes, claims
from chunkproof.audit.arithmetic import Calculator
from chunkproof.audit.auditing import TIERS, judge
from chunkproof.audit.evidence import Evidence, collect
from chunkproof.audit.header import Missing, TableHeader
from chunkproof.audit.model import Key, Verdict
from chunkproof.audit.tables import Grid
from chunkproof.fixtures import Method
from chunkproof.pipeline import METRICS

MEANINGS = {"config": "config", "method": "method", **{metric: metric for metric in METRICS}}
CHUNKING = {name: name for name in ("config", "chunks", "mean_tokens", "max_tokens", "lost", "long")}
Change = Callable[[dict[str, str]], object]


def table_header(columns: dict[str, str] = MEANINGS, **given: object) -> TableHeader:
    """A header for a table whose columns bear the names of what they mean, or another."""
    fields: dict[str, object] = {
        **{"name": "t", "file": Path("t.md"), "form": "", "number": 1, "after": "", "columns": columns, "where": {}},
        **{
            "configs": {},
            "methods": {},
            "units": {},
            "missing": (),
            "decimals": None,
            "decimal": "",
            "fill_down": False,
        },
    }
    return TableHeader(**{**fields, **given})  # type: ignore[arg-type]


def mini() -> fixtures.Fixture:
    """The fixture, with RRF at a k so small that its ranks show."""
    found = fixtures.load("mini")
    return replace(found, methods=(*found.methods, Method("rrf k=1", "rrf", {"k": 1}, ("fixed-128", "semantic-256"))))


def mini_evidence() -> tuple[Calculator, Evidence]:
    """Everything of mini, agreed on by both engines."""
    whole = mini()
    commands = parity.commands([])
    calculator = Calculator(commands, whole.folder, 60)
    keys = [
        Key(config.name, method.name) for config in whole.configs for method in whole.methods if method.runs_on(config)
    ]
    return calculator, collect(whole, keys, commands, calculator, 60)


def row_of(evidence: Evidence, config: str, method: str, decimals: int = 3) -> dict[str, str]:
    """A row as it should be printed."""
    row = evidence.rows[Key(config, method)]
    texts = evidence.calculator.printed((row.metrics["mean"][metric], decimals) for metric in METRICS)
    return {"config": config, "method": method, **dict(zip(METRICS, texts, strict=True))}


def verdicts(
    evidence: Evidence, rows: Sequence[dict[str, str]], header: TableHeader | None = None, explained: bool = True
) -> list[Verdict]:
    """What an audit says of rows of figures."""
    header = header or table_header()
    columns = tuple(header.columns)
    cells = tuple(tuple(row[column] for column in columns) for row in rows)
    grid = Grid("t.md", columns, cells, tuple(f"line {number}" for number in range(3, 3 + len(rows))))
    found, _ = claims.claims_of(header, grid)
    judged = judge(evidence, found)
    if explained:
        causes.explain(evidence, judged, TIERS)
    return judged


def of(judged: Sequence[Verdict], metric: str, row: int = 1) -> Verdict:
    """The verdict of a figure."""
    return next(each for each in judged if each.claim.metric == metric and each.claim.row == row)


__all__ = ["CHUNKING", "MEANINGS", "Missing", "mini", "mini_evidence", "of", "row_of", "table_header", "verdicts"]
