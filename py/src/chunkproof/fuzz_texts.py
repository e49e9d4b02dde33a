"""Texts that are likely to make two engines disagree, for `chunkproof fuzz`.

Each group below holds fragments on which languages, runtimes or libraries are known to differ (spec 04, 05 and 15).
A text is a few fragments in a row. Groups and fragments begin with the plainest, because shrinking goes to the front.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

from hypothesis import strategies as st

PLAIN = [
    "a", " ", "b", "B", ".", "1", "the", "owl", "Owls", " hunt", " mice", "word ", "One.", " Two", "AB", "é",
]  # fmt: skip

# The spec's white space, then what some `strip`, `trim` or `\s` takes for it: U+001C-001F, U+180E, U+200B-200D, U+FEFF.
WHITE = [
    " ", "\n", "\r", "\t", "\v", "\f", "\x85", "\xa0", "\u1680", *map(chr, range(0x2000, 0x200B)), "\u2028", "\u2029",
    "\u202f", "\u205f", "\u3000", "  ", "   ", "\x1c", "\x1d", "\x1e", "\x1f", "\u180e", "\u200b", "\u200c", "\u200d",
    "\u2060", "\ufeff", "\xad",
]  # fmt: skip

LINE_ENDS = [
    "\n", "\r\n", "\r", "\n\n", "\r\r", "\r\n\r\n", "\n\r", "\n \n", " \n", "\n ", "\n\t\n", "\r\n \r", "\v\n",
    "\n\x85\n", "\u2028\u2028", "\u2029\n", "\n\u200b\n", "\x0c\n", "\n\n\n", "\xa0\n\xa0\n",
]  # fmt: skip

SENTENCE_ENDS = [
    ".", "!", "?", ". ", "? A", "! 1", '." A', ".' A", ".” “A", ".’ ‘A", ".) (A", ".] [A", '.")]\n', ".\r\n A",
    "...  A", "?!\" 'A", ". a", ".A", ". é", ". É", ". Ⅷ", ". ½", ". 漢", ". ǅ", ". Ǆ", "。 A", "… A", ".» A",
    ".\u200b A", ".\xa0A", "Dr. Smith", "e.g. by", "3.14", ". \u0301A", ".\u0301 A", ". 𝐀", ". ٣", ".\u3000A",
    ".\ufeff A", ".  \n A", ".\" \" A",
]  # fmt: skip

CONTRACTIONS = [
    "'s", "'S", "'t", "'re", "'Re", "'ve", "'m", "'ll", "'LL", "'d", "'ſ", "’s", "'l", "''s", "'K", "'ŝ", " 's",
    "\n's", "'s's",
]  # fmt: skip

DIGITS = [
    "0", "12", "3.14", "1,000", "½", "²", "Ⅷ", "ⅷ", "٣", "१", "①", "〇", "１", "\U0001d7d8", "\U00010107", "\u0bf0",
    "10000000",
]  # fmt: skip

# Whatever NFC changes, reorders, joins over a border, or refuses to join.
NORMAL = [
    "e\u0301", "\u0301", "A\u030a", "\u212b", "\u2126", "\u0958", "\u0344", "\u0340", "\u1100\u1161\u11a8", "\u1161",
    "\u11a8", "\uac00\u11a8", "\uac01", "\u1100", "q\u0307\u0323", "\u0323\u0307", "\u1e9b\u0323",
    "\u0f71\u0f72\u0f74", "\u0cc6\u0cc2\u0cd5", "\u09c7\u09be", "\u0b47\u0b56", "\u0dd9\u0dcf\u0dca",
    "\U0001d157\U0001d165", "\U0001d15e", "\u2adc", "\ufb1d", "\ufb2e", "\u1025\u102e", "\U00011099\U000110ba",
    "\U00011131\U00011127", "\u0327\u0301", "e\u0327\u0301", "\u2000\u0301", "\n\u0301", " \u0338", "=\u0338",
    "\u037e", "\u1fef", "\u2329", "\uf900", "\U0002f800", "\u0374", "\u0387", "\u1fee", "<\u0338", "\u3099",
    "\u304b\u3099", "\u0345", "\u0653",
]  # fmt: skip

EMOJI = [
    "😀", "👍🏽", "👩\u200d👩\u200d👧\u200d👦", "🇩🇪", "❤\ufe0f", "1\ufe0f\u20e3", "🏴\U000e0067\U000e0062\U000e007f",
    "\u200d", "\ufe0f", "🫪", "\U0001fae9",
]  # fmt: skip

SCRIPTS = [
    "漢字", "かな", "カナ", "ไทย", "ไม้", "עברית", "שָׁ", "العربية", "مُ", "हिन्दी", "ß", "ẞ", "İ", "ı", "ſ", "\u212a", "Σ",
    "ΑΣ", "ΌΣΟΣ", "σς", "ΑΣ\u0301Σ", "ǅ", "ﬁ", "Ǆ", "\U00010400", "\U00010428", "\u2160", "Ⓐ", "Ա", "Ꭰ", "ꭰ", "ა",
    "Ა", "ʰ", "ª", "А́", "\u202eabc\u202c", "\u0e33",
]  # fmt: skip

# Assigned after Unicode 14.0, private, not characters, or assigned by nobody yet.
NEW = [
    "\U000113c2", "\U0001611e", "\U00016d67", "\u0897", "\U0001e4ec", "\U00010efd", "\U000113c5", "\U00016d63",
    "\U0001611f", "\ua7cb", "\U00010d50", "\u1c89", "\u1c8a", "\u0378", "\u2fe0", "\ufffe", "\uffff", "\U0010ffff",
    "\ue000", "\U000f0000", "\U00031350", "\U000323b0", "\u0c5c", "\u088f", "\u1acf", "\u1add", "\U00010efa",
    "\ua7ce", "\U00016ea0", "\U00016ebb", "\U000113c2\u0301", "a\U0001611e\U0001611e", "\u0378\u0301",
]  # fmt: skip

SPECIAL = [
    "<|endoftext|>", "<|im_start|>", "<|im_end|>", "<tool_call>", "</tool_call>", "<|fim_prefix|>", "<|vision_pad|>",
    "<|", "|>", "Ġ", "Ċ", "<0x0A>",
]  # fmt: skip

MARKDOWN = [
    "# Head\n", "- item\n", "> quote\n", "```py\nx = 1\n```\n", "| a | b |\n|---|---|\n", "[x](y)", "**bold**",
    "***\n", "1. one\n", "    code\n", "<!-- c -->", "https://a.b/c?d=e#f", "a_b-c", "\\(x^2\\)", "&amp;", "`a`",
    "==", "---\n", "\n\n\n# H\n\n",
]  # fmt: skip

CONTROLS = [
    "\0", "\x7f", "\x80", "\x9f", "\ufffd", "\x1b[0m", "\x08", "\x01",
]  # fmt: skip

GROUPS = [
    PLAIN, WHITE, LINE_ENDS, SENTENCE_ENDS, CONTRACTIONS, DIGITS, NORMAL, EMOJI, SCRIPTS, NEW, SPECIAL, MARKDOWN,
    CONTROLS,
]  # fmt: skip

any_character = st.characters(exclude_categories=["Cs"])


@cache
def border_characters(tables: Path) -> tuple[str, ...]:
    """Code points on either side of every border of the spec's character tables, where two readings of a table part."""
    found: set[int] = set()
    for rows in json.loads(tables.read_text(encoding="utf-8")).values():
        if isinstance(rows, list):
            for row in rows:
                found.update((row[0] - 1, row[0], row[1], row[1] + 1))
    return tuple(chr(c) for c in sorted(found) if 0 <= c <= 0x10FFFF and not 0xD800 <= c <= 0xDFFF)


def fragments(tables: Path | None = None) -> st.SearchStrategy[str]:
    """One fragment: mostly of a group, sometimes any character, a border of the tables, or a run of one fragment."""
    one: st.SearchStrategy[str] = st.one_of([st.sampled_from(group) for group in GROUPS])
    other = [one, one, any_character]
    if tables is not None and tables.is_file():
        borders = border_characters(tables)
        other.append(st.integers(0, len(borders) - 1).map(borders.__getitem__))
    single = st.one_of(other)
    return st.one_of(single, single, single, st.builds(lambda part, times: part * times, single, st.integers(2, 40)))


def texts(tables: Path | None = None, longest: int = 14) -> st.SearchStrategy[str]:
    """A text of up to `longest` fragments; the empty text too."""
    return st.lists(fragments(tables), max_size=longest).map("".join)
