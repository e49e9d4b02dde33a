"""Spec 05: the pieces are the tokenizer's own, mapped back to the document, and each has its own cost."""

import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer

from chunkproof import pieces as room
from chunkproof.pieces import Pieces, count, pieces
from chunkproof.resources import tokenizer_path
from chunkproof.text import nfc


@pytest.fixture(scope="module")
def library() -> Tokenizer:
    return Tokenizer.from_file(str(tokenizer_path()))


def strings(document):
    return [document[p.start : p.end] for p in pieces(document)]


def test_words_marks_digits():
    assert strings("Row 4021 (b);\n=> d2e5 so") == list(
        "Row| |4|0|2|1| (|b|);\n|=>| d|2|e|5| so".split("|")
    )  # fmt: skip


def test_contractions_in_any_case_and_with_long_s():
    assert strings("we'LL it'ſ y'all") == ["we", "'LL", " it", "'ſ", " y", "'all"]


def test_special_tokens_are_plain_text():
    document = "end <|endoftext|> <tool_call>"
    assert strings(document) == ["end", " <|", "endoftext", "|>", " <", "tool", "_call", ">"]
    assert list(pieces(document).tokens) == [1, 1, 3, 2, 1, 1, 1, 1]


def test_white_space_is_left_for_what_follows():
    assert strings("a   b") == ["a", "  ", " b"]
    assert strings("a   1") == ["a", "  ", " ", "1"]
    assert strings("a \n \n  b") == ["a", " \n \n", " ", " b"]
    assert strings("a   ") == ["a", "   "]


def test_no_text_no_pieces():
    assert list(pieces("")) == []


def test_text_that_is_not_nfc_keeps_its_own_offsets():
    document = "Cafe\u0301 nai\u0308ve"
    assert list(pieces(document)) == [(0, 5, 3), (5, 12, 2)]
    assert count("Caf\u00e9") == 3


def test_a_cut_inside_what_nfc_changed_is_no_cut():
    # U+0958 becomes U+0915 U+093C: a letter and a mark, which the pattern would part.
    assert [p[:2] for p in pieces("\u0958")] == [(0, 1)]
    assert [p[:2] for p in pieces("\u0915\u093c")] == [(0, 1), (1, 2)]


@pytest.mark.parametrize(("character", "tokens"), [("a", 12500), (" ", 782), ("^", 25000)])
def test_a_long_run_is_one_piece(character, tokens):
    assert list(pieces(character * 100_000)) == [(0, 100_000, tokens)]


def test_a_word_of_a_million_letters_takes_seconds():
    start = time.monotonic()
    assert len(pieces("letters" * 150_000)) == 1
    assert time.monotonic() - start < 10


def test_a_million_marks_out_of_order_take_seconds():
    start = time.monotonic()
    assert len(pieces("a" + "\u0301\u0323" * 100_000)) == 1
    assert time.monotonic() - start < 10


def test_columns():
    cut = Pieces.of([3, 4, 9], [1, 1, 2])
    assert list(cut) == [(0, 3, 1), (3, 4, 1), (4, 9, 2)]
    assert [cut[i] for i in range(-1, 3)] == [(4, 9, 2), (0, 3, 1), (3, 4, 1), (4, 9, 2)]
    assert list(cut.tokens) == [1, 1, 2]
    assert (cut.cost(1, 3), cut.start(2), cut.at(3), len(cut)) == (3, 4, 1, 3)


ORDINARY = st.text(
    st.one_of(
        st.characters(codec="utf-8", max_codepoint=0x2FFF, exclude_categories=["Cn", "Cs"]),
        st.sampled_from("abcs't \n\r\t'“”.,!?0123\u00a0\u3000é漢字🦜"),
    ),
    max_size=80,
)


@given(ORDINARY)
def test_pieces_are_the_librarys(library, document):
    document = unicodedata.normalize("NFC", document)
    encoding = library.pre_tokenizer.pre_tokenize_str(document)
    cut = pieces(document)
    assert [(p.start, p.end) for p in cut] == [extent for _, extent in encoding]
    assert sum(cut.tokens) == len(library.encode(document, add_special_tokens=False))


@given(st.text(max_size=60))
def test_pieces_tile_the_text_and_cost_something(document):
    cut = pieces(document)
    assert "".join(strings(document)) == document
    assert all(p.tokens >= 1 and p.start < p.end for p in cut)
    assert cut.totals[-1] == sum(map(count, room._matches(nfc(document).text)[0]))


@given(
    st.text(st.sampled_from("ab'sſ \n\r\t1!é\u0301\u0378\u2000\u3000🦜"), max_size=120),
    st.integers(1, 12),
    st.integers(1, 6),
)
def test_blocks_change_nothing(document, block, window):
    whole = list(pieces(document))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(room, "_BLOCK", block)
        patch.setattr(room, "_WINDOW", window)
        assert list(pieces(document)) == whole


def test_unassigned_and_new_code_points_have_the_pinned_classes():
    assert strings("x\u1c89y") == ["x\u1c89y"]  # a letter since 16.0
    assert strings("x\U0001e5f1y") == ["x", "\U0001e5f1", "y"]  # a number since 16.0
    assert strings("x\u0378y") == ["x", "\u0378y"]  # unassigned: visible, not a letter
