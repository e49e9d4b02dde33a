"""Ties: the least and the greatest value that a figure could have over all orders of equally scored passages, exactly.

Within a group of equal scores every order is possible, and each metric only gains when a relevant passage moves up. So the greatest
value has the relevant passages of every group first, the least has them last, and the engines evaluate these two rankings.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from chunkproof.audit.evidence import DEEPEST, Evidence, Row
from chunkproof.audit.model import Key, Tied
from chunkproof.replies import Json

Groups = list[list[int]]
_NEAR = 10
"""Questions."""


@dataclass(frozen=True)
class Bounds:
    """The metrics of a row's worst and best order; the same object twice where no tie can matter."""

    least: Json
    greatest: Json

    @property
    def open(self) -> bool:
        """Whether any tie matters."""
        return self.least is not self.greatest


def groups(evidence: Evidence, row: Row) -> list[Groups]:
    """For each question the ranked passages in groups of equal score, the last one whole where that can matter."""
    found = [_grouped(ranking) for ranking in row.rankings]
    passages = len(row.rank["passages"])
    cut = [
        index
        for index, (ranking, each) in enumerate(zip(row.rankings, found, strict=True))
        if DEEPEST <= len(ranking) < passages
        and row.relevant[index] - {passage for group in each[:-1] for passage in group}
    ]
    runs = _runs(cut)
    asked = [(f"whole rankings of {row.key}", {**_some(row.rank, *run), "depth": passages}) for run in runs]
    for (first, end), ok in zip(runs, evidence.calculator.ask(asked), strict=True):
        for index in set(cut).intersection(range(first, end)):
            found[index] = _grouped(ok["rankings"][index - first])[: len(found[index])]
    return found


def _runs(numbers: Sequence[int]) -> list[tuple[int, int]]:
    """Half-open ranges that hold all the numbers; what lies between two that are near is asked again with them."""
    made: list[tuple[int, int]] = []
    for number in numbers:
        if made and number - made[-1][1] < _NEAR:
            made[-1] = (made[-1][0], number + 1)
        else:
            made.append((number, number + 1))
    return made


def _some(request: Json, first: int, end: int) -> Json:
    """A rank request for some of its queries."""
    some = {**request, "queries": request["queries"][first:end]}
    if "query_vectors" in request:
        begin = request["query_vectors"]["rows"][0]
        some["query_vectors"] = {**request["query_vectors"], "rows": [begin + first, begin + end]}
    return some


def _grouped(ranking: Sequence[Json]) -> Groups:
    made: Groups = []
    score = None
    for entry in ranking:
        if entry["score"] != score:
            made.append([])
            score = entry["score"]
        made[-1].append(entry["passage"])
    return made


def reordered(every: Sequence[Groups], key: Callable[[int, int], object]) -> list[list[int]]:
    """Rankings whose ties are in another order, by a key of question and passage; as deep as a run looks."""
    return [
        [passage for group in each for passage in sorted(group, key=lambda passage: key(index, passage))][:DEEPEST]  # type: ignore[arg-type,return-value]
        for index, each in enumerate(every)
    ]


def bounds(evidence: Evidence, row: Row, every: Sequence[Groups]) -> Bounds:
    """The least and the greatest metrics of a row over all orders of its ties."""
    relevant = row.relevant
    matter = any(
        0 < len(relevant[index].intersection(group)) < len(group) for index, each in enumerate(every) for group in each
    )
    if not matter:
        return Bounds(row.metrics, row.metrics)
    first = reordered(every, lambda index, passage: passage not in relevant[index])
    last = reordered(every, lambda index, passage: passage in relevant[index])
    return Bounds(evidence.evaluate(row, last), evidence.evaluate(row, first))


@dataclass(frozen=True)
class Range:
    """A metric's least and greatest value, as doubles in hexadecimal and exactly."""

    doubles: tuple[str, str]
    exact: tuple[Fraction, Fraction]

    @property
    def open(self) -> bool:
        """Whether they differ."""
        return self.doubles[0] != self.doubles[1]


def range_of(evidence: Evidence, found: Bounds, metric: str) -> Range | None:
    """The range of a metric; None for a metric that is not one of the table's."""
    if metric not in found.least["mean"]:
        return None
    ends = (found.least, found.greatest)
    least, greatest = (evidence.mean(evidence.figures(end, metric)) for end in ends)
    return Range((ends[0]["mean"][metric], ends[1]["mean"][metric]), (least, greatest))


def tied(texts: tuple[str, str], claimed: str, exact: tuple[Fraction, Fraction]) -> Tied:
    """A range printed like a claim, and whether the claim lies in it."""
    within = Fraction(texts[0]) <= Fraction(claimed) <= Fraction(texts[1])
    return Tied(texts[0], texts[1], within, exact)


def open_winners(table: str, metric: str, ranges: dict[Key, Range], values: dict[Key, Fraction]) -> str:
    """A sentence if another row could be the best of a column under another order of ties; else nothing."""
    if len(values) < 2:
        return ""
    best = max(values, key=lambda key: values[key])
    rivals = [
        key
        for key in values
        if key != best
        and (ranges[key].open or ranges[best].open)
        and ranges[key].exact[1] > ranges[best].exact[0]
        and values[key] <= values[best]
    ]
    if not rivals:
        return ""
    shown = ", ".join(str(key) for key in rivals[:3]) + (f" and {len(rivals) - 3} more" if len(rivals) > 3 else "")
    return (
        f"{table}: the best {metric} is that of {best}, but another order of equal scores could make it that of {shown}"
    )
