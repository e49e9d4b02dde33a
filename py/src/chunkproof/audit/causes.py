"""Why a figure differs: known causes are tried, one by one, by making the figure as somebody did who made that mistake.

A cause explains a figure if it gives exactly what is claimed, and fits more of the figures that it speaks of than it
contradicts: who left the lost questions out did so in the whole row. Causes that take a sum come before those that take a ranking.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

from chunkproof.audit import cells, ties
from chunkproof.audit.evidence import Evidence, Row
from chunkproof.audit.model import DIFFERS, Claim, Key, Value, Verdict

_MOST = 3
"""Causes that are named where several fit alike."""


@dataclass(frozen=True)
class Cause:
    """A mistake: what it is called, and the figure that it would have made of a claim; None where it says nothing."""

    sentence: str
    makes: Callable[[Claim], str | None]


@dataclass
class Place:
    """A row of a claimed table, with all that a cause may look at."""

    evidence: Evidence
    key: Key
    verdicts: Sequence[Verdict]
    table: dict[tuple[Key, str], Verdict] = field(default_factory=dict)
    """Every claim of the same table that could be recomputed, by row and metric."""

    @property
    def row(self) -> Row | None:
        """The ranking behind the row; None for figures of chunks."""
        return self.evidence.rows.get(self.key)

    @cached_property
    def groups(self) -> list[ties.Groups]:
        """The row's rankings as groups of equal scores."""
        assert self.row is not None
        return ties.groups(self.evidence, self.row)

    def text(self, claim: Claim, value: Fraction | str) -> str:
        """A value (exact, or a double in hexadecimal) printed as the claim is."""
        double = value if isinstance(value, str) else self.evidence.calculator.double(value)
        return printed(self.evidence, claim, double)

    def value(self, claim: Claim) -> Value | None:
        """What the claim should be."""
        found = self.evidence.value(claim.key, claim.metric)
        return None if isinstance(found, str) else found

    def from_metrics(self, sentence: str, metrics: object) -> Cause:
        """The cause whose figures are the means of an `evaluate` reply."""
        means: dict[str, str] = metrics["mean"]  # type: ignore[index]

        def makes(claim: Claim) -> str | None:
            return self.text(claim, means[claim.metric]) if claim.metric in means else None

        return Cause(sentence, makes)


Tier = Callable[[Place], Iterator[Cause]]


def printed(evidence: Evidence, claim: Claim, double: str) -> str:
    """A double printed with the claim's own number of decimals, in its unit."""
    (text,) = evidence.calculator.printed([(double, claim.decimals)])
    return cells.shifted(text, 2) if claim.percent else text


def explain(evidence: Evidence, verdicts: Sequence[Verdict], tiers: Iterable[Tier]) -> None:
    """Note the causes of every verdict that differs."""
    tables: dict[str, dict[tuple[Key, str], Verdict]] = {}
    for verdict in verdicts:
        if verdict.double:
            tables.setdefault(verdict.claim.table, {})[verdict.claim.key, verdict.claim.metric] = verdict
    rows: dict[tuple[str, int, Key], list[Verdict]] = {}
    for verdict in verdicts:
        if verdict.double:
            rows.setdefault((verdict.claim.table, verdict.claim.row, verdict.claim.key), []).append(verdict)
    tiers = list(tiers)
    for (table, _, key), row in rows.items():
        if any(verdict.verdict == DIFFERS for verdict in row):
            _explain_row(Place(evidence, key, row, tables[table]), tiers)


def _explain_row(place: Place, tiers: Sequence[Tier]) -> None:
    differing = [verdict for verdict in place.verdicts if verdict.verdict == DIFFERS]
    found: dict[int, list[tuple[int, int, str]]] = {id(verdict): [] for verdict in differing}
    for tier in tiers:
        for cause in tier(place):
            made = [(verdict, cause.makes(verdict.claim)) for verdict in place.verdicts]
            speaks = [(verdict, text) for verdict, text in made if text is not None]
            fits = [verdict for verdict, text in speaks if text == verdict.claim.figure.plain]
            if 2 * len(fits) <= len(speaks):
                continue
            share = "" if len(fits) == len(speaks) else f" (fits {len(fits)} of the {len(speaks)} figures of this row)"
            for verdict in fits:
                if verdict.verdict == DIFFERS:
                    found[id(verdict)].append((len(speaks) - len(fits), -len(fits), cause.sentence + share))
        if all(any(wrong == 0 for wrong, _, _ in each) for each in found.values()):
            break
    for verdict in differing:
        best = sorted(found[id(verdict)], key=lambda each: each[:2])
        verdict.causes = list(dict.fromkeys(sentence for wrong, _, sentence in best if wrong == best[0][0]))[:_MOST]
