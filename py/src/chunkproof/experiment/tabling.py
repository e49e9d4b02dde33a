"""The table of a fixture of papers: counted in integers, every mean, rate and printed figure asked of the engine that is run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from chunkproof.engines import Engine, EngineFailure
from chunkproof.experiment.figures import IndexFigures, QuestionFigures
from chunkproof.experiment.protocol import Protocol
from chunkproof.pipeline import Run
from chunkproof.replies import Json
from chunkproof.stages import Select

RATES = ("any", "strict", "any_missed", "strict_missed", "full", "chunks", "tokens")
SHARES = ("any_share", "strict_share", "any_tokens", "strict_tokens", "precision")
DECIMALS = 3
_ONE_DECIMAL = ("chunks", "tokens")
Key = tuple[str, int]


@dataclass(frozen=True)
class Tabled:
    """What of a paper the table needs: of each question the figures by policy and budget, and the index sizes."""

    questions: Sequence[Mapping[Key, QuestionFigures]]
    index: Mapping[str, IndexFigures]
    unmatched_only: int = 0
    """Questions whose every string maps to nothing: never covered, where such evidence counts as never hit."""


def decide(engine: Engine, papers: Sequence[Tabled], protocol: Protocol, run: Run, select: Select) -> None:
    """The bootstrap of each policy against the baseline (spec 16 rule 29), noted as it is replied."""
    rule = protocol.table["decision"]
    if rule["budget"] not in protocol.budgets or not any(paper.questions for paper in papers):
        return
    asked = []
    for policy in protocol.policies:
        if policy.name != protocol.baseline and select.wants("budget", f"decision/{policy.name}"):
            pairs = {
                side: _units(papers, (name, rule["budget"]), rule["measure"])
                for side, name in (("treatment", policy.name), ("baseline", protocol.baseline))
            }
            request = {"op": "bootstrap", **pairs, "resamples": rule["resamples"], "seed": rule["seed"]}
            asked.append((f"decision/{policy.name}", request))
    for (case, request), reply in zip(asked, engine.ask(asked), strict=True):
        run.add("budget", case, reply.value, request)


def _units(papers: Sequence[Tabled], key: Key, measure: str) -> list[list[int]]:
    """Covered questions and questions of each paper that has any."""
    return [
        [sum(getattr(each[key], measure) for each in paper.questions), len(paper.questions)]
        for paper in papers
        if paper.questions
    ]


def rows(engine: Engine, papers: Sequence[Tabled], protocol: Protocol, run: Run, select: Select) -> None:
    """A row for each policy and budget, as printed, and one for each policy's index."""
    keys = [(policy.name, budget) for budget in protocol.budgets for policy in protocol.policies]
    keys = [key for key in keys if select.wants("table", _case(key))]
    figures = {key: [question[key] for paper in papers for question in paper.questions] for key in keys}
    lost = sum(paper.unmatched_only for paper in papers)
    for key, printed in _figures(engine, figures, lost).items():
        run.add("table", _case(key), {"ok": {"questions": str(len(figures[key])), **printed}})
    for policy in protocol.policies:
        if select.wants("table", f"index/{policy.name}"):
            sizes = [paper.index[policy.name] for paper in papers]
            totals = {each.name: str(sum(getattr(size, each.name) for size in sizes)) for each in fields(IndexFigures)}
            run.add("table", f"index/{policy.name}", {"ok": totals})


def _case(key: Key) -> str:
    return f"{key[0]}/{key[1]}"


def _figures(engine: Engine, figures: Mapping[Key, Sequence[QuestionFigures]], lost: int) -> dict[Key, dict[str, str]]:
    """Every figure of every row as a text."""
    cells = [(key, name) for key in figures for name in (*RATES, *SHARES)]
    rates = [(key, name) for key, name in cells if name in RATES]
    fractions = [_rate(name, figures[key], lost) for key, name in rates]
    means = [(key, name) for key, name in cells if name in SHARES]
    requests: list[dict[str, Any]] = [{"kind": "ratio", "fractions": fractions}] if fractions else []
    requests += [
        {"kind": "mean", "fractions": [list(getattr(each, name)) for each in figures[key]]} for key, name in means
    ]
    replies = _numbers(engine, requests)
    if replies is None:
        return {}
    doubles = dict(zip(rates, replies[0]["values"] if rates else [], strict=True))
    doubles |= {cell: ok["value"] for cell, ok in zip(means, replies[1:], strict=True)}
    found: dict[Key, dict[str, str]] = {key: {} for key in figures}
    for decimals in (DECIMALS, 1):
        wanted = [cell for cell in cells if (cell[1] in _ONE_DECIMAL) == (decimals == 1)]
        texts = _numbers(
            engine, [{"kind": "print", "values": [doubles[cell] for cell in wanted], "decimals": decimals}]
        )
        for (key, name), text in zip(wanted, texts[0]["texts"] if texts else [], strict=True):
            found[key][name] = text
    return found


def _rate(name: str, figures: Sequence[QuestionFigures], lost: int) -> list[int]:
    asked = len(figures) + (lost if name.endswith("_missed") else 0)
    return [sum(getattr(each, name) for each in figures), max(1, asked)]


def _numbers(engine: Engine, requests: Sequence[dict[str, Json]]) -> list[Json] | None:
    """The replies to `numbers` requests; None where the engine doesn't have them, and then prints no table."""
    asked: list[tuple[str, Json]] = [(f"the figures, {each['kind']}", {"op": "numbers", **each}) for each in requests]
    replies = engine.ask(asked)
    if any(reply.code == "unsupported" for reply in replies):
        return None
    for (label, _), reply in zip(asked, replies, strict=True):
        if reply.ok is None:
            raise EngineFailure(engine.name, "malformed", f"it refuses {label}: {reply.code}")
    return [reply.ok for reply in replies]
