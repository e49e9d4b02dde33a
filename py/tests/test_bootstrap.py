"""Spec 14: a paired bootstrap whose every bit repeats."""

import math
import random
import time
from itertools import islice

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from chunkproof import bootstrap, numerics
from chunkproof.errors import Refused

COUNTS = st.integers(0, 5)
UNITS = st.tuples(st.floats(0, 9) | COUNTS, COUNTS)
PAIRS = st.lists(st.tuples(UNITS, UNITS), min_size=1, max_size=7)
SEEDS = st.integers(0, 2**32 - 1)


def naive_rate(units):
    c = q = 0.0
    for a, b in units:
        c += a
        q += b
    return c / q if q else 0.0


def naive(treatment, baseline, resamples, seed):
    """The rule, word by word."""
    n = len(treatment)
    stream = numerics.random(seed)
    differences = []
    for _ in range(resamples):
        drawn = [math.floor(next(stream) * n) for _ in range(n)]
        rates = [naive_rate([units[j] for j in drawn]) for units in (treatment, baseline)]
        differences.append(rates[0] - rates[1])
    differences.sort()
    at_most, at_least = sum(d <= 0 for d in differences), sum(d >= 0 for d in differences)
    return (
        naive_rate(treatment) - naive_rate(baseline),
        (differences[(resamples - 1) * 25 // 1000], differences[(resamples - 1) * 975 // 1000]),
        min(1.0, 2 * (1 + min(at_most, at_least)) / (resamples + 1)),
        at_most,
        at_least,
    )


@given(PAIRS, st.integers(1, 60), SEEDS)
def test_it_is_the_rule(pairs, resamples, seed):
    treatment, baseline = zip(*pairs, strict=True)
    assert bootstrap.bootstrap(treatment, baseline, resamples, seed) == naive(treatment, baseline, resamples, seed)


@settings(max_examples=30)
@given(PAIRS, SEEDS, st.integers(1, 60))
def test_blocks_and_columns_do_not_show(pairs, seed, held):
    treatment, baseline = zip(*pairs, strict=True)
    wanted = naive(treatment, baseline, 50, seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bootstrap, "_DRAWS", held)
        assert bootstrap.bootstrap(treatment, baseline, 50, seed) == wanted
        patch.setattr(bootstrap, "_FEW", 1)
        assert bootstrap.bootstrap(treatment, baseline, 50, seed) == wanted


@given(SEEDS, st.integers(0, 9), st.integers(1, 9), st.integers(1, 1000))
def test_draws_are_one_stream_of_mulberry32(seed, start, count, n):
    found = bootstrap._draws(seed, start, start + count, n)
    wanted = [int(u * n) for u in islice(numerics.random(seed), start * n, (start + count) * n)]
    assert found.shape == (count, n)
    assert found.ravel().tolist() == wanted


def test_draws_far_into_the_stream():
    # The state repeats after 2^32 draws, since the step is odd.
    assert bootstrap._draws(5, 2**32, 2**32 + 9, 1000).tolist() == bootstrap._draws(5, 0, 9, 1000).tolist()


def test_two_units_by_hand():
    # Seed 1 draws u = 0.627…, 0.0027…, 0.527…, 0.981…: the units 1, 0 and then 1, 1.
    assert [int(u * 2) for u in islice(numerics.random(1), 4)] == [1, 0, 1, 1]
    treatment, baseline = [(1, 2), (3, 4)], [(1, 1), (1, 4)]
    # All of them: 4/6 − 2/5. The resamples: the same, and 6/8 − 2/8.
    found = bootstrap.bootstrap(treatment, baseline, 2, 1)
    assert found.difference == 4 / 6 - 2 / 5
    assert found.interval == (4 / 6 - 2 / 5, 4 / 6 - 2 / 5)  # ⌊1·975/1000⌋ = 0
    assert found[2:] == (2 / 3, 0, 2)


def test_sums_go_in_the_order_drawn():
    # Units 1, 0, 1, 1 … of 10^16 and 1: what a sum is depends on where the large one comes.
    treatment = [(1e16, 1), (1.0, 0), (1.0, 0), (1.0, 0)]
    assert bootstrap.bootstrap(treatment, [(0, 1)] * 4, 1).difference == 1e16
    assert bootstrap.bootstrap(treatment[::-1], [(0, 1)] * 4, 1).difference == 1e16 + 4
    units = np.array([[1e16, 1, 0, 0], [1, 0, 0, 0]])
    for rows in (1, bootstrap._FEW):  # one by one, by columns
        orders = np.array([[0, 1, 1], [1, 1, 0]] * rows)
        assert bootstrap._sums(units, orders)[:2, 0].tolist() == [1e16, 1e16 + 2]


def test_counts_beyond_2_to_the_53_are_summed_as_doubles():
    treatment = [(1, 2**53 - 1), (0, 1), (0, 1), (0, 1)]
    found = bootstrap.bootstrap(treatment, [(0, 1)] * 4, 40, 9)
    assert found == naive(treatment, [(0, 1)] * 4, 40, 9)
    assert found.difference == 2**-53 != 1 / (2**53 + 2)


def test_nothing_counted_is_the_rate_0():
    assert bootstrap.bootstrap([(5, 0)], [(0, 0)], 10) == (0.0, (0.0, 0.0), 1.0, 10, 10)
    assert bootstrap.bootstrap([(5, 0), (1, 2)], [(1, 0), (1, 2)], 99) == naive(
        [(5, 0), (1, 2)], [(1, 0), (1, 2)], 99, 1
    )


def test_zero_has_no_sign():
    found = bootstrap.bootstrap([(0, 1)] * 3, [(0, 2)] * 3, 10)
    assert [math.copysign(1, value) for value in (found.difference, *found.interval)] == [1, 1, 1]


def test_one_unit_gives_one_value():
    assert bootstrap.bootstrap([(3, 4)], [(1, 4)]) == (0.5, (0.5, 0.5), 2 / 10001, 0, 10_000)
    assert bootstrap.bootstrap([(1, 4)], [(3, 4)]) == (-0.5, (-0.5, -0.5), 2 / 10001, 10_000, 0)
    assert bootstrap.bootstrap([(1, 4)], [(2, 8)]).p == 1
    assert bootstrap.bootstrap([(3, 4)], [(1, 4)], 1).p == 1


@given(PAIRS, SEEDS)
def test_exchanged_they_give_the_opposite(pairs, seed):
    treatment, baseline = zip(*pairs, strict=True)
    one, other = (bootstrap.bootstrap(*pair, 41, seed) for pair in ((treatment, baseline), (baseline, treatment)))
    assert one.difference == -other.difference
    assert one.interval == (-other.interval[1], -other.interval[0])  # ⌊40·25/1000⌋ = 1 and 39: mirrored
    assert one[2:] == (other.p, other.at_least_zero, other.at_most_zero)


@given(PAIRS, SEEDS)
def test_counts_and_interval_hang_together(pairs, seed):
    treatment, baseline = zip(*pairs, strict=True)
    found = bootstrap.bootstrap(treatment, baseline, 50, seed)
    assert found.interval[0] <= found.interval[1]
    assert found.at_most_zero + found.at_least_zero >= 50
    assert 2 / 51 <= found.p <= 1


@pytest.mark.parametrize(
    ("code", "treatment", "baseline", "resamples", "seed"),
    [
        ("bad_request", [], [], 10, 1),
        ("bad_request", [(1, 1)], [], 0, 1),
        ("bad_request", [(1, 1)], [(1, 1)] * 2, 10, 1),
        ("bad_request", [(-1, 1)], [(1, 1)], 0, 1),
        ("bad_request", [(1, 1)], [(1, -1)], 10, -1),
        ("bad_setting", [(1, 1)], [(1, 1)], 0, 1),
        ("bad_setting", [(1, 1)], [(1, 1)], 1_000_001, 1),
        ("bad_setting", [(1, 1)], [(1, 1)], 10, -1),
        ("bad_setting", [(1, 1)], [(1, 1)], 10, 2**32),
        ("bad_setting", [(1e308, 1)] * 2, [(1, 1)] * 2, 10, 1),
    ],
)
def test_refused(code, treatment, baseline, resamples, seed):
    with pytest.raises(Refused) as refused:
        bootstrap.bootstrap(treatment, baseline, resamples, seed)
    assert refused.value.code == code


@pytest.mark.parametrize("resamples", [2, 100])
def test_a_sum_that_only_a_resample_takes_beyond_binary64_is_refused(resamples, recwarn):
    # All units together are finite; the second resample of seed 1 draws the large one twice.
    units = [(1, 1), (1e308, 1)]
    bootstrap.bootstrap(units, [(1, 1)] * 2, 1)
    with pytest.raises(Refused) as refused:
        bootstrap.bootstrap(units, [(1, 1)] * 2, resamples)
    assert refused.value.code == "bad_setting"
    assert bootstrap.bootstrap([(1, 0), (1e308, 0)], [(1, 1)] * 2, resamples).difference == -1  # nothing counted
    assert not recwarn.list


def papers(source, count, better=0.0):
    """Units as an experiment has them: of some questions each, those that were answered; alike within a unit."""
    found = []
    for _ in range(count):
        ease, q = source.uniform(0.2, 0.7), source.randint(1, 8)
        found.append([(sum(source.random() < p for _ in range(q)), q) for p in (ease + better, ease)])
    return [pair[0] for pair in found], [pair[1] for pair in found]


def test_scipy_finds_the_same_percentiles_on_the_same_resamples():
    treatment, baseline = papers(random.Random(4), 60, 0.05)
    resamples, seed = 2001, 77
    found = bootstrap.bootstrap(treatment, baseline, resamples, seed)
    c1, q1, c0, q0 = np.array([(*t, *b) for t, b in zip(treatment, baseline, strict=True)], float).T

    class Ours(np.random.Generator):
        """A source of scipy's indices that draws ours."""

        def integers(self, low, high=None, size=None, *args, **kwargs):
            rows = np.empty(size, int)
            rows[...] = np.array([int(u * 60) for u in islice(numerics.random(seed), resamples * 60)]).reshape(size)
            return rows

    result = stats.bootstrap(
        (c1, q1, c0, q0),
        lambda a, b, c, d, axis: a.sum(axis) / b.sum(axis) - c.sum(axis) / d.sum(axis),
        paired=True, vectorized=True, n_resamples=resamples, method="percentile", rng=Ours(np.random.PCG64()),
    )  # fmt: skip
    differences = result.bootstrap_distribution
    assert sorted(differences)[(resamples - 1) * 25 // 1000] == found.interval[0]
    # With R − 1 a multiple of 40 no index lies between two values, so scipy's interpolation is the same rank.
    assert tuple(result.confidence_interval) == pytest.approx(found.interval, abs=1e-15)
    assert stats.scoreatpercentile(differences, 97.5, interpolation_method="lower") == found.interval[1]
    ranks = [stats.percentileofscore(differences, 0, kind) / 100 * resamples for kind in ("weak", "strict")]
    assert [round(ranks[0]), round(resamples - ranks[1])] == [found.at_most_zero, found.at_least_zero]


def test_the_interval_holds_the_true_difference_about_95_times_in_100():
    source = random.Random(20)
    runs = 400
    held = rejected = 0
    for run in range(runs):
        found = bootstrap.bootstrap(*papers(source, 80, 0.1), 1000, run)
        held += found.interval[0] <= 0.1 <= found.interval[1]
        rejected += bootstrap.bootstrap(*papers(source, 80), 1000, run).p < 0.05
    # The chance of falling outside these by luck is below 1 in 10,000; a bootstrap of 80 units is a little narrow.
    assert stats.binomtest(held, runs, 0.94).pvalue > 1e-4
    assert stats.binomtest(rejected, runs, 0.06).pvalue > 1e-4


def test_ten_thousand_resamples_of_300_units_take_well_under_a_second():
    source = random.Random(1)
    units = [[(source.random(), source.randint(0, 9)) for _ in range(300)] for _ in range(2)]
    best = math.inf
    for _ in range(3):
        start = time.perf_counter()
        bootstrap.bootstrap(*units)
        best = min(best, time.perf_counter() - start)
    assert best < 1
