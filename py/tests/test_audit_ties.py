"""Ties: the least and the greatest value are those of all orders of equal scores, tried one by one on small cases."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pytest

from chunkproof import layout
from chunkproof.audit import ties
from chunkproof.audit.arithmetic import Calculator, exact
from chunkproof.audit.evidence import Evidence, Row
from chunkproof.audit.model import Key
from chunkproof.fixtures import Config, Fixture, Method
from chunkproof.parity import Command, FixtureResult
from chunkproof.pipeline import METRICS


@pytest.fixture(scope="module")
def calculator() -> Iterator[Calculator]:
    with Calculator([Command("py", tuple(layout.py_engine()), "py")], Path.cwd(), 60) as found:
        yield found


def evidence_of(calculator: Calculator) -> Evidence:
    fixture = Fixture("none", "corpus", Path.cwd(), False)
    return Evidence(fixture, fixture, FixtureResult(fixture, [], []), calculator, ("py",))


def row_of(calculator: Calculator, scores: list[list[int]], holding: set[int]) -> Row:
    """Rankings of scores, by index where they are equal; the passages `holding` answer every question."""
    count = len(scores[0])
    evaluate = {
        "op": "evaluate",
        "passages": [{"document": 0 if index in holding else 1, "start": 0, "end": 1} for index in range(count)],
        "answers": [{"document": 0, "start": 0, "end": 1} for _ in scores],
        "rankings": [sorted(range(count), key=lambda index: (-each[index], index))[:20] for each in scores],
        "cutoffs": [1, 3, 5, 10, 20],
    }
    rankings = [
        [{"passage": index, "score": each[index]} for index in ranking]
        for each, ranking in zip(scores, evaluate["rankings"], strict=True)
    ]
    rank = {"op": "rank", "passages": ["x"] * count, "queries": ["x"] * len(scores), "method": {"kind": "bm25"}}
    config, method = Config("c", "fixed", {}, ""), Method("m", "bm25", {}, None)
    return Row(config, method, rank, rankings, evaluate, calculator.one("metrics", evaluate))


def orders(each: list[list[int]]) -> Iterator[list[int]]:
    """Every order of the groups."""
    for chosen in itertools.product(*(itertools.permutations(group) for group in each)):
        yield [passage for group in chosen for passage in group]


@pytest.mark.parametrize("seed", range(6))
def test_the_range_is_that_of_all_orders(calculator: Calculator, seed: int) -> None:
    draw = random.Random(seed)
    count = draw.randint(4, 6)
    scores = [[draw.randint(0, 2) for _ in range(count)] for _ in range(2)]
    holding = set(draw.sample(range(count), draw.randint(1, 3)))
    row, evidence = row_of(calculator, scores, holding), evidence_of(calculator)
    every = ties.groups(evidence, row)
    found = ties.bounds(evidence, row, every)
    pairs = list(itertools.product(*(list(orders(each)) for each in every)))
    pairs = pairs if len(pairs) <= 3_000 else draw.sample(pairs, 3_000)
    requests = [("an order", {**row.evaluate, "rankings": list(map(list, pair))}) for pair in pairs]
    means = [ok["mean"] for ok in calculator.ask(requests)]
    for metric in METRICS:
        values = [exact(mean[metric]) for mean in means]
        ends = [exact(end["mean"][metric]) for end in (found.least, found.greatest)]
        assert all(ends[0] <= value <= ends[1] for value in values)
    # The two ends are orders themselves: each question reaches them alone, whatever the other does.
    for index, each in enumerate(every):
        alone = [
            ("one", {**row.evaluate, "answers": [row.evaluate["answers"][index]], "rankings": [order]})
            for order in orders(each)
        ]
        single = [ok["mean"] for ok in calculator.ask(alone)]
        for metric in METRICS:
            reached = {exact(mean[metric]) for mean in single}
            for end, pick in ((found.least, min), (found.greatest, max)):
                assert float(evidence.figures(end, metric)[index]) == float(pick(reached))


def test_a_group_that_the_twentieth_rank_cuts_is_asked_for_whole(calculator: Calculator) -> None:
    """Thirty passages of one score: the only relevant one, which lies behind rank 20, could come first."""
    passages = [f"owl {index}" for index in range(29)] + ["owl answer"]
    rank = {"op": "rank", "passages": passages, "queries": ["owl"], "method": {"kind": "bm25"}, "depth": 20}
    ranked = calculator.one("rank", rank)["rankings"]
    evaluate = {
        "op": "evaluate",
        "passages": [{"document": 0, "start": index, "end": index + 1} for index in range(30)],
        "answers": [{"document": 0, "start": 29, "end": 30}],
        "rankings": [[entry["passage"] for entry in ranked[0]]],
        "cutoffs": [1, 3, 5, 10, 20],
    }
    config, method = Config("c", "fixed", {}, ""), Method("m", "bm25", {}, None)
    row = Row(config, method, rank, ranked, evaluate, calculator.one("metrics", evaluate))
    evidence = evidence_of(calculator)
    every = ties.groups(evidence, row)
    assert [len(group) for group in every[0]] == [30]
    found = ties.range_of(evidence, ties.bounds(evidence, row, every), "mrr@10")
    assert found is not None
    assert found.exact == (0, 1)


def test_only_what_could_matter_is_asked_again() -> None:
    assert ties._runs([3, 5, 6, 40]) == [(3, 7), (40, 41)]
    request = {"queries": list("abcdef"), "query_vectors": {"arrow": "q", "rows": [10, 16]}}
    assert ties._some(request, 2, 4) == {"queries": ["c", "d"], "query_vectors": {"arrow": "q", "rows": [12, 14]}}


def test_a_winner_that_ties_leave_open_is_flagged() -> None:
    best, rival, closed = Key("a", "m"), Key("b", "m"), Key("c", "m")
    half, more, less = Fraction(1, 2), Fraction(3, 5), Fraction(2, 5)
    ranges = {
        best: ties.Range(("1", "1"), (half, half)),
        rival: ties.Range(("0", "2"), (less, more)),
        closed: ties.Range(("1", "1"), (half, half)),
    }
    said = ties.open_winners("t", "mrr@10", ranges, {best: half, rival: less, closed: less})
    assert said == "t: the best mrr@10 is that of a/m, but another order of equal scores could make it that of b/m"
    assert ties.open_winners("t", "mrr@10", ranges, {best: half, closed: less}) == ""


@pytest.mark.parametrize(("claimed", "within"), [("0.735", True), ("0.740", True), ("0.745", True), ("0.746", False)])
def test_a_claim_lies_within_the_range_or_not(claimed: str, within: bool) -> None:
    assert ties.tied(("0.735", "0.745"), claimed, (Fraction(0), Fraction(1))).within is within
