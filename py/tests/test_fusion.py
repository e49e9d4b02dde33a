"""Spec 11: order, reciprocal ranks, weighted sums."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkproof import fusion
from chunkproof.errors import Refused

SCORES = st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0, -1.0]), max_size=12)


@given(SCORES)
def test_order_is_by_score_then_index(scores):
    assert fusion.order(scores) == sorted(range(len(scores)), key=lambda i: (-scores[i], i))


def test_rrf_counts_ranks_from_one_and_adds_nothing_for_the_missing():
    fused = fusion.rrf([0, 1, 2], [3, 2, 4], 6)
    assert fused == [1 / 61, 1 / 62, 1 / 63 + 1 / 62, 1 / 61, 1 / 63, 0.0]
    assert fusion.order(fused) == [2, 0, 3, 1, 4, 5]


def test_rrf_pool():
    assert fusion.rrf([0, 1], [1, 0], 3, k=0, pool=1) == [1.0, 1.0, 0.0]


def test_weighted_scales_each_pool():
    assert fusion.weighted([4.0, 2.0, 0.0], [0.5, 0.5, 0.5], alpha=0.25) == [1.0, 0.625, 0.25]
    # Of a pool of two, the least is 0 and what lies outside is 0 too.
    assert fusion.weighted([4.0, 2.0, 1.0], [0.0, 0.25, 0.5], alpha=0.5, pool=2) == [0.5, 0.0, 0.5]


def test_no_passages():
    assert fusion.weighted([], []) == fusion.rrf([], [], 0) == []


@pytest.mark.parametrize(
    "call",
    [
        lambda: fusion.rrf([0], [0], 1, k=-1),
        lambda: fusion.rrf([0], [0], 1, pool=0),
        lambda: fusion.weighted([0.0], [0.0], alpha=1.5),
        lambda: fusion.weighted([0.0], [0.0], pool=0),
    ],
)
def test_settings_out_of_range(call):
    with pytest.raises(Refused) as refused:
        call()
    assert refused.value.code == "bad_setting"
