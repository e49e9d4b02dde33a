"""Words, sentences and blocks of atlas as its questions were checked by: independent of the spec's rules on purpose."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter

STOP = frozenset(
    """a an the this that these those i me my myself we us our ours you your yours he him his she her hers it its they
    them their theirs what which who whom whose when where why how is am are was were be been being have has had having
    do does did doing will would shall should can could may might must ought cannot not no nor and or but if because as
    until while of at by for with about against between into through during before after above below to from up down in
    on off out over under again further then once here there all any both each few more most other others some such only
    own same so than too very s t d ll m re ve don isn aren wasn weren hasn haven hadn won wouldn shan shouldn couldn
    mayn mustn didn doesn ain much many also ever yet upon within without whether one's oneself itself himself herself
    themselves yourself let per""".split()
)
ABBREVIATION = re.compile(
    r"(?:\b(?:Mr|Mrs|Ms|Dr|No|Nos|Capt|St|inst|ult|Coop|Pt|Jan|Feb|Mar|Apr|Aug|Sept|Oct|Nov|Dec|Sun|Mon|Tues|Wed|Thurs"
    r"|Fri|Sat|vol|pp?|approx|v|z|B|h|l|w|e|g|i)|(?:^|[\s(*])[A-Z])\.$"
)
ITEM = re.compile(r"\s*(?:[-*+•]\s|\d+[.)]\s|\||>|\[\^|\(?[a-z]\)\s)")
"""The start of a list item, a table row, a quotation or a note."""


def words(text: str) -> list[str]:
    """Words in lower case, without the possessive."""
    found = re.findall(r"[^\W_]+(?:'[^\W_]+)*", text.lower().replace("’", "'"))
    return [re.sub(r"'s$|'$", "", word) for word in found]


def content_words(text: str) -> list[str]:
    """Words that are no stop words."""
    return [word for word in words(text) if word not in STOP and word.split("'")[0] not in STOP]


def fenced(text: str, position: int) -> bool:
    """Whether a place lies in a code fence."""
    return len(re.findall(r"(?m)^\s*```", text[:position])) % 2 == 1


def block(text: str, start: int, end: int) -> str:
    """The table row, list item, line of code, or paragraph with its wrapped lines that holds a span."""
    low, high = _block(text, start, end)
    return text[low:high]


def _block(text: str, start: int, end: int) -> tuple[int, int]:
    lines, code, position, fence = [], [], 0, False
    for line in text.splitlines(keepends=True):
        lines.append((position, position + len(line), line))
        position += len(line)
        mark = line.lstrip("> ").startswith("```")
        code.append(fence or mark)
        fence ^= mark
    first = next(index for index, (low, high, _) in enumerate(lines) if low <= start < high)
    last = next(index for index, (low, high, _) in enumerate(lines) if low < end <= high)

    def ends(index: int) -> bool:
        line = lines[index][2]
        return not line.strip() or code[index] or line.startswith("#")

    while first and not (code[first] or ITEM.match(lines[first][2]) or ends(first - 1)):
        first -= 1
    while last + 1 < len(lines) and not (code[last] or ends(last + 1) or ITEM.match(lines[last + 1][2])):
        last += 1
    return lines[first][0], lines[last][1]


def sentence(text: str, start: int, end: int) -> str:
    """The sentence, or the sentences, that hold a span; of a table the whole row."""
    low, high = _block(text, start, end)
    whole = text[low:high]
    if whole.lstrip().startswith("|"):
        return whole
    cuts = [low, high]
    stops = r"(?:[.!?…]+[\"'”’»)\]*_]*(?=\s+[\"'“‘«(\[*_`]*[^\W_a-zß-ÿ])|[。！？।؟]+)\s*"
    for match in re.finditer(stops, whole):
        at = low + match.start()
        if not (text[at] == "." and ABBREVIATION.search(text[max(low, at - 12) : at + 1])):
            cuts.append(low + match.end())
    return text[max(cut for cut in cuts if cut <= start) : min(cut for cut in cuts if cut >= end)]


def long_sentences(text: str) -> list[str]:
    """Every sentence of 40 characters or more, white space as one space; lines end sentences."""
    parts = (re.sub(r"\s+", " ", part).strip() for part in re.split(r"[.!?。！？।؟\r\n]", text))
    return [part for part in parts if len(part) >= 40]


def f1(one: str, other: str) -> float:
    """Token F1 of two answers: words in lower case, Japanese and Chinese by character, punctuation left out."""
    a, b = Counter(_tokens(one)), Counter(_tokens(other))
    common = sum((a & b).values())
    return 2 * common / (sum(a.values()) + sum(b.values())) if common else 0.0


def _tokens(text: str) -> list[str]:
    found = re.findall(
        r"[\u3040-\u30ff\u4e00-\u9fff]|[^\W_\u3040-\u30ff\u4e00-\u9fff]+", unicodedata.normalize("NFC", text.lower())
    )
    return [word for word in found if word not in ("a", "an", "the")]
