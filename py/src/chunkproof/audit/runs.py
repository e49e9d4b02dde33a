"""Other people's runs: metrics of a TREC run, a BEIR folder's or rankings in JSON Lines, by the engines' exact arithmetic.

A question of the qrels that the run does not answer, or for which nothing is relevant, counts 0 here; trec_eval leaves it out.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from chunkproof.audit import cells, runs_others
from chunkproof.audit.arithmetic import Calculator
from chunkproof.audit.runs_read import ReadRun, read
from chunkproof.problems import Problem
from chunkproof.replies import Json

DEPTH = 10
"""Of mrr@10 and ndcg@10."""
MORE = 7
"""Decimals that a metric is shown with."""
_DEEPEST = 10_000


@dataclass(frozen=True)
class Line:
    """A metric: ours, its range over ties, what others make of it, and what was claimed."""

    metric: str
    digits: str
    double: str
    least: str
    greatest: str
    others: dict[str, str]
    claimed: str = ""
    holds: bool | None = None

    @property
    def tied(self) -> bool:
        """Whether ties leave it open."""
        return self.least != self.greatest


@dataclass
class Found:
    """What came of a run."""

    run: str
    questions: int
    lost: int
    lines: list[Line]
    notes: list[str] = field(default_factory=list)

    @property
    def held(self) -> bool:
        """Whether every claim held."""
        return all(line.holds is not False for line in self.lines)


def cutoffs(text: str) -> list[int]:
    """The k of recall@k from `1,3,5`."""
    parts = text.split(",")
    if not all(part.strip().isdigit() and 1 <= int(part) <= _DEEPEST for part in parts):
        raise Problem(f"--cutoffs takes numbers from 1 to {_DEEPEST:,} with commas between, not {text!r}")
    return list(dict.fromkeys(int(part) for part in parts))


def claimed(texts: Sequence[str]) -> dict[str, cells.Figure]:
    """Claims given as `metric=figure`."""
    found = {}
    for text in texts:
        metric, _, figure = text.partition("=")
        metric = metric.strip().lower().replace("rr@", "mrr@").replace("mmrr@", "mrr@")
        metric = re.sub(r"^r@", "recall@", metric)
        if metric not in ("mrr@10", "ndcg@10") and not re.fullmatch(r"recall@[1-9]\d*", metric):
            raise Problem(f"--claim {text!r}: takes recall@k, mrr@10 or ndcg@10, then = and the figure")
        try:
            found[metric] = cells.read(figure)
        except cells.Unread as error:
            raise Problem(f"--claim {text!r}: {figure!r} {error}") from error
    return found


def judge(run: ReadRun, depths: Sequence[int], claims: dict[str, cells.Figure], calculator: Calculator) -> Found:
    """The metrics of a run and whether the claims hold."""
    depths = sorted({*depths, *(int(name[7:]) for name in claims if name.startswith("recall@"))})
    ranked = [_evaluate(run, depths, calculator, way) for way in (0, 1, -1)]
    others, notes = runs_others.metrics(run, depths)
    metrics = [*(f"recall@{depth}" for depth in depths), "mrr@10", "ndcg@10"]
    lines = []
    for metric in metrics:
        doubles = [ok["mean"][metric] for ok in ranked]
        text, greatest, least = calculator.printed((double, MORE) for double in doubles)
        figure, holds = claims.get(metric), None
        if figure is not None:
            (printed,) = calculator.printed([(doubles[0], figure.decimals + (2 if figure.percent else 0))])
            holds = (cells.shifted(printed, 2) if figure.percent else printed) == figure.plain
        said = figure.text if figure is not None else ""
        lines.append(Line(metric, text, doubles[0], least, greatest, others.get(metric, {}), said, holds))
    lost = len(ranked[0]["lost"])
    return Found(run.name, len(run.queries), lost, lines, [*run.notes, *_about(run, lost), *notes])


def _about(run: ReadRun, lost: int) -> list[str]:
    notes = []
    if lost:
        notes.append(f"for {lost} of {len(run.queries)} questions nothing is relevant: they count 0 here")
    unanswered = sum(not run.rankings.get(query) for query in run.queries)
    if unanswered:
        notes.append(f"{unanswered} of {len(run.queries)} questions are not in the run: they count 0 here")
    if any(grade > 1 for grades in run.relevant.values() for grade in grades.values()):
        notes.append("the qrels are graded: here every grade above 0 has a gain of 1, elsewhere nDCG takes the grade")
    return notes


def _evaluate(run: ReadRun, depths: Sequence[int], calculator: Calculator, way: int) -> Json:
    """The metrics in the run's own order of ties (0), with the relevant first (1) or last (-1) within them.

    A relevant document of question i becomes a passage of document i, every other one a passage of a document that no question asks
    about; those are shared, since nothing but their rank counts.
    """
    deep = max(*depths, DEPTH)
    other = len(run.queries)
    passages: list[dict[str, int]] = [{"document": other, "start": 0, "end": 1} for _ in range(deep)]
    rankings = []
    for number, query in enumerate(run.queries):
        relevant = [name for name, grade in run.relevant.get(query, {}).items() if grade > 0]
        index_of = {name: len(passages) + place for place, name in enumerate(relevant)}
        passages += [{"document": number, "start": 0, "end": 1} for _ in relevant]
        entries = run.rankings.get(query, [])
        if way:
            entries = sorted(
                entries, key=lambda entry: (-entry[1], (entry[0] not in index_of) if way > 0 else entry[0] in index_of)
            )
        rankings.append([index_of.get(name, rank) for rank, (name, _) in enumerate(entries[:deep])])
    answers = [{"document": number, "start": 0, "end": 1} for number in range(other)]
    request = {
        "op": "evaluate",
        "passages": passages,
        "answers": answers,
        "rankings": rankings,
        "cutoffs": list(depths),
    }
    ok: Json = calculator.one(f"the metrics of {run.name}", request)
    return ok


__all__ = ["Found", "Line", "claimed", "cutoffs", "judge", "read"]
