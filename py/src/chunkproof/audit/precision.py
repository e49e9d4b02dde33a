"""Precision: whether the questions can tell two rows apart, by spec 14's paired bootstrap, whose every bit repeats."""

from __future__ import annotations

from collections.abc import Sequence

from chunkproof.audit.arithmetic import exact
from chunkproof.audit.evidence import Evidence
from chunkproof.audit.header import CHUNKING, Comparison
from chunkproof.audit.model import Apart, Claim, Key
from chunkproof.compare import as_double
from chunkproof.pipeline import METRICS
from chunkproof.problems import Problem

DECIMALS = 3
Pair = tuple[str, Key, Key, bool]


def wanted(evidence: Evidence, claims: Sequence[Claim], comparisons: Sequence[Comparison]) -> list[Pair]:
    """The pairs of rows to look at: the best of each claimed column with its runner-up, and those asked for."""
    pairs: list[Pair] = []
    columns = dict.fromkeys((claim.table, claim.metric) for claim in claims if claim.metric in METRICS)
    for table, metric in columns:
        keys = dict.fromkeys(claim.key for claim in claims if claim.table == table and claim.key in evidence.rows)
        by_value = sorted(keys, key=lambda key: exact(evidence.rows[key].metrics["mean"][metric]), reverse=True)
        if len(by_value) > 1:
            pairs.append((metric, by_value[0], by_value[1], True))
    for each in comparisons:
        one, other = (Key(*row.split("/", 1)) for row in each.rows)
        if each.metric in CHUNKING or each.metric not in METRICS:
            raise Problem(f"rows can be compared by {', '.join(METRICS)}, not by {each.metric!r}")
        for key in (one, other):
            if key not in evidence.rows:
                raise Problem(f"{key} is to be compared, but {evidence.fixture.name} has no such row")
        better, worse = sorted(
            (one, other), key=lambda key: exact(evidence.rows[key].metrics["mean"][each.metric]), reverse=True
        )
        pairs.append((each.metric, better, worse, False))
    return list(dict.fromkeys(pairs))


def look(evidence: Evidence, pairs: Sequence[Pair], seed: int) -> list[Apart]:
    """The paired bootstrap of each pair over the questions."""
    if not evidence.fixture.questions:
        return []
    requests = []
    for metric, better, worse, _ in pairs:
        lists = [_units(evidence, key, metric) for key in (better, worse)]
        request = {"op": "bootstrap", "treatment": lists[0], "baseline": lists[1], "seed": seed}
        requests.append((f"{better} against {worse} by {metric}", request))
    found = []
    for (metric, better, worse, best), ok in zip(pairs, evidence.calculator.ask(requests), strict=True):
        doubles = [ok["difference"], *ok["interval"], ok["p"]]
        difference, low, high, chance = evidence.calculator.printed((double, DECIMALS) for double in doubles)
        ends = [exact(double) for double in ok["interval"]]
        told = not ends[0] <= 0 <= ends[1]
        alike = exact(ok["difference"]) == 0
        questions = len(evidence.fixture.questions)
        found.append(Apart(metric, better, worse, best, difference, (low, high), chance, questions, told, alike))
    return found


def _units(evidence: Evidence, key: Key, metric: str) -> list[list[float | int | None]]:
    """A metric of each question with a count of one, as the doubles that the engines make of the fractions."""
    metrics = evidence.rows[key].metrics
    if metric == "ndcg@10":
        doubles = [question[metric] for question in metrics["questions"]]
    else:
        doubles = evidence.calculator.ratios(evidence.figures(metrics, metric))
    return [[as_double(double), 1] for double in doubles]
