"""Spec 12: relevance and the figures, exactly."""

from fractions import Fraction

import mpmath
from hypothesis import given
from hypothesis import strategies as st

from chunkproof import metrics, numerics

HALF = Fraction(1, 2)


def test_discounts_are_the_nearest_doubles():
    with mpmath.workprec(200):
        assert [float(1 / mpmath.log(r + 1, 2)) for r in range(1, 11)] == list(metrics.DISCOUNTS)


def test_only_a_passage_that_holds_the_whole_span_is_relevant():
    passages = [(0, 0, 25), (0, 25, 47), (0, 47, 72), (0, 20, 54), (1, 0, 99), (0, 54, 55)]
    assert metrics.relevant(passages, [(0, 54, 55), (0, 46, 48), (2, 0, 1)]) == [[2, 5], [3], []]


SPANS = st.tuples(st.integers(0, 2), st.integers(0, 9), st.integers(1, 9)).map(lambda s: (s[0], s[1], s[1] + s[2]))


@given(st.lists(SPANS, max_size=20), st.lists(SPANS, max_size=6))
def test_relevance_is_the_rule_for_every_pair(passages, answers):
    expected = [[i for i, p in enumerate(passages) if p[0] == d and p[1] <= s and e <= p[2]] for d, s, e in answers]
    assert metrics.relevant(passages, answers) == expected


def test_recall_is_over_all_that_is_relevant():
    recalls = [metrics.recall([5, 6, 7, 0, 8], [5, 6, 7, 8], k) for k in (1, 3, 5, 99)]
    assert recalls == [Fraction(1, 4), Fraction(3, 4), 1, 1]


def test_recall_is_cut_at_k_alone():
    assert [metrics.recall([4, 0, 3, 1, 2], [0, 1], k) for k in (3, 5)] == [HALF, 1]


def test_rank_eleven_is_too_late():
    ranking = list(range(12))
    assert metrics.reciprocal_rank(ranking, [10]) == 0
    assert metrics.ndcg(ranking, [10]) == 0
    assert [metrics.recall(ranking, [10], k) for k in (10, 20)] == [0, 1]


def test_a_lost_question_counts_in_every_mean():
    passages = [(0, 0, 5), (0, 5, 9)]
    answers = [(0, 0, 1), (0, 4, 6), (0, 5, 6), (0, 5, 6), (0, 0, 1)]
    found = metrics.evaluate(passages, answers, [[0, 1], [1, 0], [0, 1], [1, 0], []], [1])
    assert found.lost == [1]
    assert [q.mrr for q in found.questions] == [1, 0, HALF, 1, 0]
    assert found.mean["recall@1"] == 0.4
    assert found.mean["mrr@10"] == 0.5


def test_no_questions_and_no_passages():
    assert set(metrics.evaluate([], [], []).mean.values()) == {0.0}
    found = metrics.evaluate([], [(0, 0, 1)], [[]])
    assert (found.lost, found.mean["ndcg@10"]) == ([0], 0.0)


def test_ideal_gain_is_cut_at_ten():
    assert metrics.ndcg(list(range(10)), list(range(15))) == 1.0


@given(st.permutations(range(14)), st.integers(0, 14), st.sets(st.integers(0, 13)))
def test_figures_are_the_definitions(ranking, length, wanted):
    ranking, wanted = ranking[:length], sorted(wanted)
    for k in (1, 3, 10, 20):
        hits = sum(p in wanted for p in ranking[:k])
        assert metrics.recall(ranking, wanted, k) == (Fraction(hits, len(wanted)) if wanted else 0)
    found = [r for r, p in enumerate(ranking[:10], 1) if p in wanted]
    assert metrics.reciprocal_rank(ranking, wanted) == (Fraction(1, found[0]) if found else 0)
    gain, ideal = 0.0, 0.0
    for r in found:
        gain += metrics.DISCOUNTS[r - 1]
    for r in range(min(10, len(wanted))):
        ideal += metrics.DISCOUNTS[r]
    assert metrics.ndcg(ranking, wanted) == (gain / ideal if wanted else 0.0)


@given(st.lists(st.permutations(range(6)), max_size=7), st.data())
def test_means_are_exact(rankings, data):
    passages = [(0, i, i + 4) for i in range(6)]
    answers = [data.draw(SPANS.map(lambda s: (0, *s[1:]))) for _ in rankings]
    found = metrics.evaluate(passages, answers, rankings, [1, 3])
    for k in (1, 3):
        exact = sum((q.recall[k] for q in found.questions), Fraction(0))
        assert found.mean[f"recall@{k}"] == numerics.ratio(exact.numerator, exact.denominator * max(1, len(rankings)))
