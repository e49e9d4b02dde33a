"""Spec 07: paragraphs, then sentences, then windows, merged."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkproof import fixed, recursive
from chunkproof.errors import Refused
from chunkproof.pieces import pieces

LINES = "One two three.\nFour five six.\nSeven.\n"


@pytest.mark.parametrize(
    ("size", "chunks"),
    [
        (10, [(0, 37, 10)]),  # a sum equal to the size is within it
        (9, [(0, 30, 8), (30, 37, 2)]),
        (8, [(0, 30, 8), (30, 37, 2)]),
        (4, [(0, 15, 4), (15, 30, 4), (30, 37, 2)]),
        (3, [(0, 13, 3), (13, 15, 1), (15, 28, 3), (28, 37, 3)]),
    ],
)
def test_sizes(size, chunks):
    assert recursive.chunk(LINES, size=size, rule="newline") == chunks


def test_counts_are_those_of_the_pieces():
    document = "- alpha beta gamma. delta\n- epsilon zeta eta theta. iota kappa lambda\n- mu nu\n"
    assert recursive.chunk(document, None, 12, "newline") == [(0, 26, 7), (26, 70, 11), (70, 78, 4)]


def test_a_long_paragraph_falls_into_sentences_and_a_long_sentence_into_windows():
    document = "A b. C d.\n\nE f g h i j."
    cut = pieces(document)
    leaves = recursive.leaves(document, cut, 3)
    assert [document[c.start : c.end] for c in fixed.chunks(cut, leaves)] == [
        "A b.",
        " C d.\n\n",
        "E f g",
        " h i j",
        ".",
    ]


def test_a_piece_larger_than_the_size_admits_no_other():
    sizes = [c.tokens for c in recursive.chunk("a electroencephalography b", size=2)]
    assert sizes == [1, 5, 1]


@pytest.mark.parametrize("document", ["", " ", "\n\n", "\t \r\n ", "a \n\n  "])
def test_empty_and_white_texts(document):
    assert [c[:2] for c in recursive.chunk(document, size=4)] == ([(0, len(document))] if document else [])


def test_size_below_one():
    with pytest.raises(Refused) as refused:
        recursive.chunk("a", size=0)
    assert refused.value.code == "bad_setting"


@given(
    st.text(st.sampled_from("ab. !?\n\nAB'1é"), max_size=80),
    st.integers(1, 12),
    st.sampled_from(["newline", "blank_line"]),
)
def test_chunks_tile_and_are_full(document, size, rule):
    cut = pieces(document)
    chunks = recursive.chunk(document, cut, size, rule)
    assert "".join(document[c.start : c.end] for c in chunks) == document
    costs = {p.start: p.tokens for p in cut}
    assert all(c.tokens <= size or costs[c.start] == c.tokens for c in chunks)
    leaf = {c.start: c.tokens for c in fixed.chunks(cut, recursive.leaves(document, cut, size, rule))}
    for chunk, after in pairwise(chunks):
        assert chunk.tokens + leaf[after.start] > size
