"""Spec 06: fixed windows."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkproof import fixed
from chunkproof.errors import Refused
from chunkproof.pieces import Pieces, pieces

COSTS = st.lists(st.integers(1, 9), max_size=30)


def cut(costs):
    """Pieces of one code point each."""
    return Pieces.of(range(1, len(costs) + 1), costs)


def literal(costs, size, overlap):
    """The rule as it is written, with every sum added anew."""
    found, a, n = [], 0, len(costs)
    while n:
        e = max(a + 1, *(e for e in range(a, n + 1) if sum(costs[a:e]) <= size))
        found.append((a, e, sum(costs[a:e])))
        if e == n:
            break
        a = min(x for x in range(a + 1, e + 1) if sum(costs[x:e]) <= overlap)
    return found


@given(COSTS, st.integers(1, 14), st.data())
def test_the_rule_read_literally(costs, size, data):
    overlap = data.draw(st.integers(0, size - 1))
    assert fixed.chunk(cut(costs), size, overlap) == literal(costs, size, overlap)


@given(COSTS, st.integers(1, 14), st.data())
def test_invariants(costs, size, data):
    overlap = data.draw(st.integers(0, size - 1))
    chunks = fixed.chunk(cut(costs), size, overlap)
    starts = [c.start for c in chunks]
    assert starts == sorted(set(starts))
    assert all(c.tokens <= size or c.end - c.start == 1 for c in chunks)
    assert set().union(*(range(c.start, c.end) for c in chunks)) == set(range(len(costs)))
    if overlap == 0:
        assert starts[1:] == [c.end for c in chunks[:-1]]


def test_overlap_of_a_repeated_text_is_counted_in_tokens():
    assert fixed.chunk("knock knock " * 5, size=4, overlap=2)[0].start == 0
    ranges = [c[:2] for c in fixed.chunk("tick tock " * 6, size=4, overlap=2)]
    assert ranges == [(0, 14), (9, 24), (19, 34), (29, 44), (39, 54), (49, 60)]


def test_a_chunk_may_lie_inside_the_one_before():
    """Before a piece larger than size − overlap; published figures count such chunks."""
    chunks = fixed.chunk("See it electroencephalography ends.", size=4, overlap=2)
    assert chunks == [(0, 6, 2), (3, 6, 1), (6, 29, 5), (29, 35, 2)]


def test_the_chunk_that_reaches_the_end_is_the_last():
    assert fixed.chunk(cut([1, 1, 1, 1]), size=3, overlap=2) == [(0, 3, 3), (1, 4, 3)]


def test_a_piece_larger_than_the_size_stands_alone():
    chunks = fixed.chunk("See " + "x" * 2000 + " end here now", size=8, overlap=4)
    assert chunks == [(0, 3, 1), (3, 2004, 252), (2004, 2017, 3)]
    assert [c[:2] for c in fixed.chunk("Grüße 🦜🦜 aus Köln", size=1)] == [(0, 5), (5, 8), (8, 12), (12, 17)]


def test_offsets_are_code_points():
    document = "b" * 41 + "🌷 and 🍀🍀 in May"
    assert fixed.chunk(document, 8, 2) == [(0, 41, 11), (41, 56, 8)]


def test_nothing_to_cut():
    assert fixed.chunk("", 4, 1) == []


def test_a_huge_size_is_one_chunk():
    assert fixed.chunk("a b c", 10**9, 10**8) == [(0, 5, 3)]


@pytest.mark.parametrize(("size", "overlap"), [(5, 5), (5, 6), (0, 0), (-1, 0), (5, -1)])
def test_settings_out_of_range(size, overlap):
    with pytest.raises(Refused) as refused:
        fixed.chunk("one two", size, overlap)
    assert refused.value.code == "bad_setting"


@given(st.text(max_size=60), st.integers(1, 6))
def test_chunks_of_a_text_are_slices_that_tile_it(document, size):
    chunks = fixed.chunk(pieces(document), size)
    assert "".join(document[c.start : c.end] for c in chunks) == document
