"""How many answers a fixed window should cut, how many it does cut, and how often a chunk ends inside a sentence.

An answer is cut if no chunk holds it whole. Lengths are counted in pieces, since a chunk can only end between two of them: an
answer that touches ℓ pieces has ℓ − 1 joints inside, and a window that moves on by c̄ pieces ends at one of them with
probability (ℓ − 1)/c̄, or (ℓ − 1 − o)/c̄ where it shares o pieces with the next (0 if that is negative). Everything
is counted from replies that the engines agreed on; `docs/cuts.md` says what is assumed.
"""

from __future__ import annotations

import itertools
import math
import struct
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from chunkproof.engines import Engine
from chunkproof.parity import Command, FixtureResult
from chunkproof.problems import Problem
from chunkproof.replies import Json

COLUMNS = (
    *("config", "chunks", "stride", "overlap", "expected", "spread", "low", "high", "seen"),
    *("boundaries", "inside_sentence_percent"),
)
"""The fields of a row, all of them texts. Those about expectation are None where windows are not of a fixed size."""
TAIL = Fraction(1, 40)
"""At most this much of the probability lies below the range, and as much above it: together 5 %."""
_DECIMALS = {"stride": 1, "overlap": 1, "expected": 2, "spread": 2, "inside_sentence_percent": 1}


@dataclass(frozen=True)
class Counts:
    """A config as it was counted, exactly. `overlaps` has the pieces shared at each joint of two chunks.

    `chances` has every question's probability of being cut, in the order of the questions.
    """

    config: str
    fixed: bool
    chunks: int
    pieces: int
    overlaps: tuple[int, ...]
    chances: tuple[Fraction, ...]
    seen: int | None
    boundaries: int
    inside: int


def chance(length: int, overlaps: Sequence[int], stride: Fraction) -> Fraction:
    """The probability that an answer of `length` pieces is cut: the mean of (ℓ − 1 − o)/c̄ over the joints, at most 1."""
    if not overlaps:
        return Fraction(0)
    shared = Counter(overlaps)
    uncovered = sum(max(0, length - 1 - overlap) * joints for overlap, joints in shared.items())
    return min(Fraction(1), Fraction(uncovered, len(overlaps)) / stride)


def variance(chances: Sequence[Fraction]) -> Fraction:
    """That of the number of cut answers, if each is cut or not by itself: the sum of p(1 − p)."""
    return sum((each * (1 - each) for each in chances), Fraction(0))


def distribution(chances: Sequence[Fraction]) -> list[float]:
    """The probability of 0, 1, 2, … cut answers (Poisson binomial), question by question.

    Nothing but products and sums of numbers that are not negative, so each is right to about n·2^−52 of itself.
    """
    known = [1.0]
    for each in chances:
        if each:
            yes, no = float(each), float(1 - each)
            known = [a * no + b * yes for a, b in zip([*known, 0.0], [0.0, *known], strict=True)]
    return known


def interval(chances: Sequence[Fraction]) -> tuple[int, int]:
    """The range in which the number of cut answers lies by chance in 95 of 100 cases, or more: both ends count."""
    known, tail = distribution(chances), float(TAIL)
    low, below = 0, known[0]
    while below <= tail and low + 1 < len(known):
        low += 1
        below += known[low]
    high, above = len(known) - 1, known[-1]
    while above <= tail and high > low:
        high -= 1
        above += known[high]
    return low, high


def count(result: FixtureResult) -> list[Counts]:
    """Every config that all its chunks are there of, counted from the replies of a whole run in which parity held."""
    fixture = result.fixture
    replies: dict[tuple[str, str], Json] = {
        (item.stage, item.case): item.value["ok"] for item in result.runs[0].outcomes if "ok" in item.value
    }
    ids = [document.id for document in fixture.documents]
    pieces = [[each["start"] for each in replies["pieces", name]["pieces"]] for name in ids]
    sentences = [{each["start"] for each in replies["segments", name]["sentences"]} for name in ids]
    lengths = [
        bisect_left(pieces[each.document], each.end) - bisect_right(pieces[each.document], each.start) + 1
        for each in fixture.questions
    ]
    total = sum(map(len, pieces))
    counted = []
    for config in fixture.configs:
        chunks = [replies.get(("chunks", f"{config.name}/{name}"), {}).get("chunks") for name in ids]
        if any(each is None for each in chunks):
            continue
        joints = [list(itertools.pairwise(each)) for each in chunks]
        overlaps = tuple(
            bisect_left(pieces[index], a["end"]) - bisect_left(pieces[index], b["start"])
            for index, pairs in enumerate(joints)
            for a, b in pairs
        )
        edges = [{edge for a, b in pairs for edge in (a["end"], b["start"])} for pairs in joints]
        number = sum(map(len, chunks))
        stride = Fraction(total, max(1, number))
        counted.append(
            Counts(
                config.name,
                config.kind == "fixed",
                number,
                total,
                overlaps,
                tuple(chance(length, overlaps, stride) for length in lengths) if config.kind == "fixed" else (),
                _lost(replies, config.name, [method.name for method in fixture.methods]),
                sum(map(len, edges)),
                sum(len(at - starts) for at, starts in zip(edges, sentences, strict=True)),
            )
        )
    return counted


def _lost(replies: dict[tuple[str, str], Json], config: str, methods: Sequence[str]) -> int | None:
    """How many questions the engines call lost (spec 12 rule 2): the same for every method."""
    found = (replies.get(("metrics", f"{config}/{name}")) for name in methods)
    return next((len(each["lost"]) for each in found if each is not None), None)


def rows(result: FixtureResult, engines: Sequence[Command]) -> tuple[dict[str, str | None], ...]:
    """The rows of `table --cuts`. Fractions are exact until the end; decimals are printed by the engines, all alike."""
    counted = count(result)
    cells: list[tuple[int, str, float]] = []
    for index, each in enumerate(counted):
        values: dict[str, Fraction] = {}
        if each.boundaries:
            values["inside_sentence_percent"] = Fraction(100 * each.inside, each.boundaries)
        if each.fixed:
            values["stride"] = Fraction(each.pieces, max(1, each.chunks))
            values["overlap"] = Fraction(sum(each.overlaps), max(1, len(each.overlaps)))
            values["expected"] = sum(each.chances, Fraction(0))
        cells += [(index, name, float(value)) for name, value in values.items()]
        if each.fixed:
            cells.append((index, "spread", math.sqrt(variance(each.chances))))
    printed = _printed(result, engines, cells)
    made = []
    for index, each in enumerate(counted):
        low, high = map(str, interval(each.chances)) if each.fixed else (None, None)
        known = {
            "config": each.config,
            "chunks": str(each.chunks),
            "low": low,
            "high": high,
            "seen": None if each.seen is None else str(each.seen),
            "boundaries": str(each.boundaries),
        }
        made.append({name: known.get(name, printed.get((index, name))) for name in COLUMNS})
    return tuple(made)


def _printed(
    result: FixtureResult, engines: Sequence[Command], cells: Sequence[tuple[int, str, float]]
) -> dict[tuple[int, str], str]:
    """The decimals of the cells, as every engine prints them (spec 03 rule 6)."""
    answers = []
    for command in engines:
        with Engine(command.words, result.fixture.folder, command.name) as engine:
            printed: dict[tuple[int, str], str] = {}
            for decimals in sorted(set(_DECIMALS.values())):
                chosen = [cell for cell in cells if _DECIMALS[cell[1]] == decimals]
                digits = [struct.pack(">d", value).hex() for _, _, value in chosen]
                request = {"op": "numbers", "kind": "print", "values": digits, "decimals": decimals}
                (reply,) = engine.ask([("the cuts", request)])
                texts = reply.ok["texts"] if reply.ok is not None else []
                printed |= {(index, name): text for (index, name, _), text in zip(chosen, texts, strict=True)}
            answers.append(printed)
    if any(each != answers[0] for each in answers):
        raise Problem("the engines do not print the figures of the cuts alike: run `chunkproof parity --fixture edge`")
    return answers[0]


def summary(found: Sequence[dict[str, str | None]]) -> str:
    """One line: in how many of the fixed configs what was seen lies within the range."""
    known = [row for row in found if row["low"] is not None and row["seen"] is not None]
    if not known:
        return "no config of fixed windows has questions to be cut"
    good = sum(int(row["low"] or 0) <= int(row["seen"] or 0) <= int(row["high"] or 0) for row in known)
    return f"seen lies within low … high (95 % by chance) in {good} of {len(known)} configs of fixed windows"
