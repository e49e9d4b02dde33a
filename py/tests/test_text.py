"""Spec 04: characters, NFC with a map back, paragraphs, sentences."""

import unicodedata

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from chunkproof import text
from chunkproof.errors import Refused
from chunkproof.pieces import pieces
from chunkproof.resources import unicode_tables

RULES = ("newline", "blank_line")
POINTS = [c for c in range(0x110000) if not 0xD800 <= c < 0xE000]
KNOWN = [low_high for low_high in unicode_tables()["nfc_assigned"] if not 0xD800 <= low_high[0] < 0xE000]
PROSE = st.text(st.sampled_from("ab.!?\"')”( \t\n\r\r\n\nA1“[é\u0301\ufeff\u2028\x85\u3000Ⅷ"), max_size=60)


def slices(document, ranges):
    return [document[start:end] for start, end in ranges]


# Characters


def test_white_space_is_25_code_points():
    assert len(text.WHITE) == 25
    assert all(map(text.is_white, "\t\n\v\f\r \x85\xa0\u1680\u2000\u200a\u2028\u2029\u202f\u205f\u3000"))
    assert not any(map(text.is_white, "\x1c\x1f\u180e\u200b\u2060\ufeff"))


def test_the_regular_expressions_classes_are_the_pinned_ones_where_they_are_asked():
    """On what Unicode 14.0 assigns, the pinned tables and the library agree, and so will every later version."""
    table = text.classes()
    for name, bit in (("L", text.LETTER), ("N", text.NUMBER), ("Lu", text.UPPER)):
        theirs = {ord(c) for c in regex.findall(rf"\p{{{name}}}", "".join(map(chr, POINTS)))}
        ours = {c for c in POINTS if table[c] & bit}
        assert {c for c in theirs ^ ours if not table[c] & text.UNKNOWN} == set()


def test_categories_of_the_runtime_agree_on_known_code_points():
    table = text.classes()
    for c in POINTS:
        if not table[c] & text.UNKNOWN:
            category = unicodedata.category(chr(c))
            ours = (table[c] & text.LETTER != 0, table[c] & text.NUMBER != 0, table[c] & text.UPPER != 0)
            assert ours == (category[0] == "L", category[0] == "N", category == "Lu"), hex(c)


def test_stable_text_keeps_length_and_classes():
    """A letter (U+1C89, 16.0), a number (U+1E5F1, 16.0), a symbol (U+20C0 is 14.0, U+1FAE9 16.0), one that is unassigned."""
    found = text.stable("a\u1c89\U0001e5f1\u20c0\U0001fae9\u0378é")
    assert found == "a\u01bb\u0660\u20c0\u00a4\u00a4é"


def test_lone_surrogate_is_refused():
    with pytest.raises(Refused) as refused:
        pieces("a\ud800")
    assert refused.value.code == "bad_text"


# NFC


def known_text():
    points = st.sampled_from(KNOWN).flatmap(lambda low_high: st.integers(*low_high))
    marks = st.sampled_from([0x301, 0x323, 0x308, 0x1161, 0x11A8, 0x1100, 0xAC00, 0x212B, 0x958, 0x2126, 0x41, 0x65])
    return st.text(st.one_of(points, marks, marks).map(chr))


@given(known_text())
def test_nfc_of_known_code_points_is_unicodes(document):
    normal = text.nfc(document)
    assert normal.text == unicodedata.normalize("NFC", document)


def naive_nfc(document):
    """Rules 6 and 7 to the letter."""
    table = text.classes()
    segments = []
    for i, c in enumerate(document):
        after_unknown = i and table[ord(document[i - 1])] & text.UNKNOWN
        if not segments or after_unknown or not table[ord(c)] & text.JOINING:
            segments.append("")
        segments[-1] += c
    parts, atoms, source, target = [], [], 0, 0
    for segment in segments:
        known = not table[ord(segment[0])] & text.UNKNOWN
        composed = unicodedata.normalize("NFC", segment) if known else segment
        parts.append(composed)
        source += len(segment)
        if composed != segment:
            atoms.append((target, target + len(composed), source))
        target += len(composed)
    return "".join(parts), atoms


@given(st.text(st.sampled_from("aeo\u0301\u0323\u0308\u0378\u1100\u1161\u11a8\U000113c2\u212b \nq\u0344")))
def test_nfc_in_segments_with_the_map_back(document):
    normal = text.nfc(document)
    atoms = list(zip(normal.starts, normal.ends, normal.source_ends, strict=True))
    assert (normal.text, atoms) == naive_nfc(document)


@given(st.text(st.sampled_from("\u0301\u0323\u0345\u0308"), min_size=65, max_size=90), st.sampled_from("ab\u00e9"))
def test_many_marks_in_any_order(marks, base):
    assert text.nfc(base + marks).text == unicodedata.normalize("NFC", base + marks)


# Paragraphs


def test_crlf_is_one_line_end():
    document = "Opening words.\r\n\r\n\r\nIn the middle\r\ntwo lines.\r\n\r\nClosing words."
    assert slices(document, text.paragraphs(document, rule="newline")) == [
        "Opening words.\r\n\r\n\r\n",
        "In the middle\r\n",
        "two lines.\r\n\r\n",
        "Closing words.",
    ]
    assert slices(document, text.paragraphs(document)) == [
        "Opening words.\r\n\r\n\r\n",
        "In the middle\r\ntwo lines.\r\n\r\n",
        "Closing words.",
    ]


def test_leading_blank_lines_are_a_paragraph():
    assert slices("\n\nOne", text.paragraphs("\n\nOne")) == ["\n\n", "One"]


def test_trailing_blank_lines_start_nothing():
    assert slices("One\n\n", text.paragraphs("One\n\n")) == ["One\n\n"]


@pytest.mark.parametrize("not_a_line_end", ["\u2028", "\x85", "\v", "\f"])
def test_other_separators_end_no_line(not_a_line_end):
    document = f"One{not_a_line_end}{not_a_line_end}two"
    assert len(text.paragraphs(document)) == 1
    assert len(text.paragraphs(document, rule="newline")) == 1


def test_unknown_rule_is_refused():
    with pytest.raises(Refused):
        text.paragraphs("a", rule="none")


# Sentences


def test_two_blanks_between_sentences():
    assert slices("One.  Two", text.sentences("One.  Two")) == ["One.", "  Two"]


def test_abbreviations_are_not_known_and_lower_case_begins_nothing():
    document = "Dr. Lee met Ms. Roe in No. 7, i.e. the hall. version 2.5 is out."
    assert slices(document, text.sentences(document)) == [
        "Dr.",
        " Lee met Ms.",
        " Roe in No.",
        " 7, i.e. the hall. version 2.5 is out.",
    ]


def test_closers_and_openers():
    document = "He said \"Go!\" “Why?” (So.) [Then.] 'No.' 3 left."
    assert slices(document, text.sentences(document)) == [
        'He said "Go!"',
        " “Why?”",
        " (So.)",
        " [Then.]",
        " 'No.'",
        " 3 left.",
    ]


def test_byte_order_mark_is_visible():
    document = "\ufeffPart one.\ufeffPart two. Part three."
    assert slices(document, text.sentences(document)) == ["\ufeffPart one.\ufeffPart two.", " Part three."]


def test_newline_rule_looks_at_the_next_piece_only():
    """`U+00A0 U+000A` is a piece by itself; the rule `newline` may not look beyond the piece after it."""
    document = "End. \u00a0\n \nNext"
    assert slices(document, text.sentences(document, rule="newline")) == ["End.", " \u00a0\n \n", "Next"]
    assert slices(document, text.sentences(document)) == ["End. \u00a0\n \n", "Next"]


def test_hard_wrapped_paragraph_cuts_sentences_at_the_wrap():
    document = "It is one.\nIt is two\nand goes on."
    assert slices(document, text.sentences(document)) == ["It is one.\n", "It is two\nand goes on."]


def test_new_upper_case_letter_opens_a_sentence():
    assert len(text.sentences("It ends. \u1c89 starts.")) == 2


def test_stripped_text():
    assert text.stripped("  One. ", (0, 7)) == (2, 6)
    assert text.stripped(" \n ", (0, 3)) == (0, 0)
    assert text.stripped("\ufeffa", (0, 2)) == (0, 2)


def literal_starts(document, cut, rule):
    """Rules 9 to 14, word by word, piece by piece."""
    strings = [document[p.start : p.end] for p in cut]
    count = len(strings)
    white = text.is_white

    def visible_from(offset):
        return next((i for i in range(offset, len(document)) if not white(document[i])), None)

    def opens(c):
        return c in "\"'“‘([" or text.classes()[ord(c)] & (text.UPPER | text.NUMBER)

    def ends(string):
        string = string.rstrip("\"'”’)]")
        return string.endswith((".", "!", "?"))

    paragraphs = []
    for i in range(count):
        if i == 0:
            starts = True
        elif rule == "newline":
            starts = "\n" in strings[i - 1]
        else:
            starts = False
            for at in range(cut[i].start, cut[i].end):
                if not white(document[at]) and at and white(document[at - 1]):
                    low = at
                    while low and white(document[low - 1]):
                        low -= 1
                    starts = starts or len(regex.findall(r"\r\n|\r|\n", document[low:at])) >= 2
        if starts:
            paragraphs.append(i)
    sentences = []
    for i in range(count):
        if i in paragraphs:
            sentences.append(i)
            continue
        before, this = strings[i - 1], strings[i]
        if rule == "newline":
            here = visible_from(cut[i].start)
            limit = cut[i].end if this.strip(text.WHITE) else cut[i + 1].end if i + 1 < count else 0
            begins = ends(before.rstrip("\r\n")) and white(this[0])
            if begins and here is not None and here < limit and opens(document[here]):
                sentences.append(i)
        else:
            joint = white(before[-1]) or white(this[0])
            here = visible_from(cut[i].start)
            begins = ends(before.rstrip(text.WHITE)) and joint and here is not None and opens(document[here])
            if begins and not (cut.at(here) > i and cut.at(here) in paragraphs):
                sentences.append(i)
    return paragraphs, sentences


@given(PROSE, st.sampled_from(RULES))
def test_starts_are_those_of_the_rule_read_literally(document, rule):
    cut = pieces(document)
    expected = literal_starts(document, cut, rule)
    assert (text.paragraph_starts(document, cut, rule), text.sentence_starts(document, cut, rule)) == expected


@given(PROSE, st.sampled_from(RULES))
def test_paragraphs_and_sentences_tile_the_text(document, rule):
    for ranges in (text.paragraphs(document, rule=rule), text.sentences(document, rule=rule)):
        assert "".join(slices(document, ranges)) == document
    starts = {r.start for r in text.sentences(document, rule=rule)}
    assert {r.start for r in text.paragraphs(document, rule=rule)} <= starts
