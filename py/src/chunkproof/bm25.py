"""What a term is, and the score of a passage for a query, down to the order of operations (spec 10)."""

import functools
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import regex

from chunkproof import numerics
from chunkproof.errors import Refused
from chunkproof.fusion import Ranking, ranking
from chunkproof.resources import unicode_tables
from chunkproof.text import CASED, IGNORABLE, classes, stable

_STOP_WORDS = (
    "a an and are as at be but by for if in into is it no not of on or such that the their then there these they this "
    "to was will with"
)
STOP_WORDS = frozenset(_STOP_WORDS.split())
"""Rule 3."""

_RUN = regex.compile(r"[\p{L}\p{N}]+")  # asked about stable text only: see `text.stable`
_SIGMA, _FINAL_SIGMA = "\u03a3", "\u03c2"


def terms(text: str) -> list[str]:
    """Rules 1 to 4: runs of letters and numbers, lower-cased, without stop words; in order, with repetitions."""
    words: list[str]
    if text.isascii():
        words = _RUN.findall(text.lower())
    else:
        words = [_lower(text[slice(*run.span())]) for run in _RUN.finditer(stable(text))]
    return [word for word in words if word not in STOP_WORDS]


@functools.cache
def _lower_table() -> dict[int, str]:
    return {source: "".join(map(chr, target)) for source, *target in unicode_tables()["lower"]}


def _lower(run: str) -> str:
    """Rule 2, of one run."""
    if run.isascii():
        return run.lower()
    if _SIGMA in run:
        run = "".join(
            _FINAL_SIGMA if c == _SIGMA and _is_final(run, i) else c for i, c in enumerate(run)
        )  # fmt: skip
    return run.translate(_lower_table())


def _is_final(run: str, sigma: int) -> bool:
    """Outward from the sigma, skipping what is case-ignorable: a cased code point before, and none after."""
    return _meets_cased(run, range(sigma - 1, -1, -1)) and not _meets_cased(run, range(sigma + 1, len(run)))


def _meets_cased(run: str, way: range) -> bool:
    table = classes()
    for i in way:
        kind = table[ord(run[i])]
        if not kind & IGNORABLE:
            return kind & CASED != 0
    return False


def idf(passages: int, df: int) -> float:
    """Rule 5: ln((2N + 2)/(2df + 1)), correctly rounded from the exact fraction."""
    return numerics.ln(2 * passages + 2, 2 * df + 1)


@dataclass(frozen=True)
class Index:
    """What scores are made from: who holds each term how often, and each passage's number of terms."""

    postings: dict[str, list[tuple[int, int]]]
    lengths: list[int]

    @classmethod
    def of(cls, passages: Sequence[str]) -> "Index":
        """The index of a list of texts."""
        postings: dict[str, list[tuple[int, int]]] = {}
        lengths = []
        for number, passage in enumerate(passages):
            found = terms(passage)
            lengths.append(len(found))
            for term, tf in Counter(found).items():
                postings.setdefault(term, []).append((number, tf))
        return cls(postings, lengths)


def scores(index: Index, queries: Iterable[str], k1: float = 1.2, b: float = 0.75) -> list[list[float]]:
    """Rule 6: for each query the score of every passage. `bad_setting` where one is not finite."""
    if not 0 <= k1 < math.inf or not 0 <= b <= 1:
        raise Refused("bad_setting", f"k1 {k1} must be at least 0, b {b} 0 to 1")
    count = len(index.lengths)
    total = sum(index.lengths)
    idfs = functools.cache(functools.partial(idf, count))
    norms: list[float] = []
    if total:
        average = total / count
        norms = [k1 * ((1 - b) + (b * length) / average) for length in index.lengths]
    gain = k1 + 1
    found = []
    for query in queries:
        row = [0.0] * count
        for term in dict.fromkeys(terms(query)):
            postings = index.postings.get(term)
            if postings is None:
                continue
            weight = idfs(len(postings))
            for passage, tf in postings:
                row[passage] += (weight * (tf * gain)) / (tf + norms[passage])
        if not all(map(math.isfinite, row)):
            raise Refused("bad_setting", f"k1 {k1} makes a score that is not finite")
        found.append(row)
    return found


def rank(passages: Sequence[str], queries: Sequence[str], k1: float = 1.2, b: float = 0.75) -> list[Ranking]:
    """Rule 7: for each query every passage with its score, best first."""
    return [ranking(row) for row in scores(Index.of(passages), queries, k1, b)]
