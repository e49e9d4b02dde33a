"""Spec 08: breaks where neighbouring sentences are least alike."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkproof import numerics, semantic, vectors
from chunkproof.errors import Refused
from chunkproof.pieces import pieces
from chunkproof.text import sentences

FOUR = "Owls hunt mice. Foxes raid hens. Bread needs yeast. Cakes need sugar."
VECTORS = [[127, 0], [127, 30], [0, 127], [1, 127]]


def test_the_last_sentence_is_kept():
    found = semantic.chunk(FOUR, None, VECTORS, size=12)
    assert found.chunks == [(0, 32, 12), (32, 69, 9)]
    assert numerics.to_hex(found.threshold) == "3fcd6d2668646008"


def test_every_joint_breaks_at_the_hundredth_percentile():
    assert len(semantic.chunk(FOUR, None, VECTORS, 100, 100).chunks) == 4


def test_equal_similarities_all_break():
    assert len(semantic.chunk(FOUR, None, [[1, 1]] * 4, 100, 0).chunks) == 4


def test_one_sentence_has_no_threshold():
    assert semantic.chunk("Only one.", None, [[1, 2]], 9) == ([(0, 9, 3)], [], None)


def test_no_text_wants_no_vectors():
    assert semantic.chunk("", None, [], 9) == ([], [], None)


def test_a_window_merges_with_nothing():
    document = "A. B c d e f. G."
    found = semantic.chunk(document, None, [[1, 1], [1, 2], [3, 1]], size=5, percentile=0)
    assert [document[c.start : c.end] for c in found.chunks] == ["A.", " B c d e f", ".", " G."]


def test_a_zero_vector_is_like_nothing():
    assert semantic.similarities([[0, 0], [5, 5], [5, 5]])[0] == 0.0


@pytest.mark.parametrize(
    ("count", "size", "percentile", "code"),
    [(3, 9, 25, "bad_vectors"), (5, 9, 25, "bad_vectors"), (4, 0, 25, "bad_setting"), (4, 9, 101, "bad_setting")],
)
def test_refusals(count, size, percentile, code):
    with pytest.raises(Refused) as refused:
        semantic.chunk(FOUR, None, [[1, 1]] * count, size, percentile)
    assert refused.value.code == code


@given(st.lists(st.sampled_from(["A b.", " C d e f g.", " 1 h.\n\n", " “Q”?\n"]), max_size=12), st.data())
def test_the_rule_read_literally(parts, data):
    document = "".join(parts)
    cut = pieces(document)
    extents = sentences(document, cut)
    rows = data.draw(st.lists(st.tuples(*[st.integers(-3, 3)] * 3), min_size=len(extents), max_size=len(extents)))
    size, percentile = data.draw(st.integers(1, 14)), data.draw(st.integers(0, 100))
    found = semantic.chunk(document, cut, rows, size, percentile)

    alike = [vectors.cosine(a, b) for a, b in pairwise(rows)]
    assert found.similarities == alike
    assert "".join(document[c.start : c.end] for c in found.chunks) == document
    starts = {c.start for c in found.chunks}
    cost = {e: cut.cost(cut.at(e.start), cut.at(e.end - 1) + 1) for e in extents}
    current = 0
    for i, extent in enumerate(extents):
        breaks = i > 0 and (alike[i - 1] <= found.threshold or max(cost[extent], cost[extents[i - 1]]) > size)
        new = i == 0 or breaks or current + cost[extent] > size
        assert (extent.start in starts) == new
        current = cost[extent] if new else current + cost[extent]
