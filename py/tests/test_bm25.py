"""Spec 10: terms and scores."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rank_bm25 import BM25Okapi

from chunkproof import bm25
from chunkproof.errors import Refused


def test_terms_are_runs_of_letters_and_numbers():
    document = "Jürgen's ¾ m² Ⅻ ３４ 京都_no e\u0301t naïve O'Hara"
    assert bm25.terms(document) == "jürgen s ¾ m² ⅻ ３４ 京都 e t naïve o hara".split()


def test_stop_words_go_after_lower_case():
    assert bm25.terms("The THE theirs Will x") == ["theirs", "x"]


@pytest.mark.parametrize(
    ("run", "lowered"),
    [
        ("ΟΔΟΣ", "οδος"),
        ("ΣΑΣ", "σας"),
        ("Σ", "σ"),  # nothing cased before it
        ("ΑΣʰ", "ας\u02b0"),  # a modifier letter is case-ignorable, though cased
        ("ΑΣʰΑ", "ασ\u02b0α"),
        ("ʰΣ", "\u02b0σ"),
        ("1Σ", "1σ"),
        ("ΑΣ1Α", "ας1α"),  # a digit is neither cased nor ignorable
        ("İI", "i\u0307i"),
        ("\u1c89", "\u1c8a"),  # a pair since Unicode 16.0
        ("ẞÅ", "ßå"),
    ],
)
def test_lower_case_is_the_pinned_full_mapping(run, lowered):
    assert bm25.terms(run) == [lowered]


@given(st.text(st.sampled_from("aΑΣσςʰ1İßéǅ"), min_size=1, max_size=12))
def test_lower_case_is_pythons_on_old_letters(run):
    # Python's own mapping of a whole run is the same, for letters that all versions know.
    assert bm25.terms(f"x{run}") == [f"x{run}".lower()]


def test_a_term_that_half_of_the_passages_have_still_counts():
    passages = ["north wind", "north star", "south wind sea", "calm sea"]
    (row,) = bm25.scores(bm25.Index.of(passages), ["North"])
    assert [round(score, 6) for score in row] == [0.726154, 0.726154, 0, 0]
    assert bm25.idf(4, 2) == math.log(2)
    assert all(bm25.idf(9, df) > 0 for df in range(10))


@pytest.mark.parametrize(
    ("passages", "query", "ranked"),
    [
        ([], "sea", []),
        (["the of", "...", "!"], "sea", [0, 1, 2]),
        (["calm sea"], "the of and", [0]),
        (["", "calm sea"], "sea", [1, 0]),
    ],
)
def test_nothing_to_find_is_no_fault(passages, query, ranked):
    (ranking,) = bm25.rank(passages, [query])
    assert [passage for passage, _ in ranking] == ranked
    assert all(math.isfinite(score) for _, score in ranking)


def test_a_score_that_is_not_finite_is_refused():
    with pytest.raises(Refused) as refused:
        bm25.rank(["a1 a1", "b"], ["a1"], k1=1.7e308)
    assert refused.value.code == "bad_setting"


WORDS = st.lists(st.sampled_from("ox elk emu yak cow".split()), max_size=8).map(" ".join)


@given(st.lists(WORDS, min_size=1, max_size=6), WORDS, st.floats(0, 3), st.floats(0, 1))
def test_scores_are_the_formula(passages, query, k1, b):
    lists = [p.split() for p in passages]
    total = sum(map(len, lists))
    expected = []
    for words in lists:
        score = 0.0
        for term in dict.fromkeys(query.split()):
            tf = words.count(term)
            if tf:
                df = sum(term in other for other in lists)
                norm = tf + k1 * ((1 - b) + (b * len(words)) / (total / len(lists)))
                score += (bm25.idf(len(lists), df) * (tf * (k1 + 1))) / norm
        expected.append(score)
    assert bm25.scores(bm25.Index.of(passages), [query], k1, b) == [expected]


def test_scores_agree_with_rank_bm25_but_for_its_idf():
    passages = ["ox elk ox", "elk emu", "yak cow ox ox", "emu"]
    theirs = BM25Okapi([p.split() for p in passages], k1=1.2, b=0.75)
    theirs.idf = {term: bm25.idf(4, sum(term in p.split() for p in passages)) for term in theirs.idf}
    (ours,) = bm25.scores(bm25.Index.of(passages), ["ox emu"])
    assert np.allclose(ours, theirs.get_scores(["ox", "emu"]), rtol=1e-12)
