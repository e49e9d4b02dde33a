"""What an audit speaks of: claims, what they came to, and why."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from chunkproof.audit.cells import Figure

REPRODUCED, DIFFERS, MISSING = "reproduced", "differs", "missing"


@dataclass(frozen=True)
class Key:
    """A row of a table by what it stands for; `method` is empty for a figure of the chunks alone."""

    config: str
    method: str = ""

    def __str__(self) -> str:
        return f"{self.config}/{self.method}" if self.method else self.config


@dataclass(frozen=True)
class Claim:
    """A figure that somebody published, and where it stands."""

    table: str
    row: int
    line: str
    column: str
    key: Key
    metric: str
    figure: Figure
    unit: str = "fraction"
    reason: str = ""
    """Why it cannot be recomputed, where the header knows."""

    @property
    def percent(self) -> bool:
        """Whether the figure counts hundredths."""
        return self.figure.percent or self.unit == "percent"

    @property
    def decimals(self) -> int:
        """Decimals of the value itself to which it is claimed."""
        return self.figure.decimals + (2 if self.percent else 0)


@dataclass(frozen=True)
class Value:
    """A recomputed figure: the double in hexadecimal as the engines gave it, and the exact number that it is nearest to."""

    double: str
    exact: Fraction


@dataclass(frozen=True)
class Tied:
    """The least and the greatest value over all orders of equal scores, printed like the claim."""

    least: str
    greatest: str
    within: bool
    exact: tuple[Fraction, Fraction]


@dataclass
class Verdict:
    """What came of a claim."""

    claim: Claim
    verdict: str
    recomputed: str = ""
    digits: str = ""
    """The value with more digits."""
    double: str = ""
    reason: str = ""
    causes: list[str] = field(default_factory=list)
    tied: Tied | None = None


@dataclass
class Said:
    """What came of a sentence."""

    quote: str
    says: str
    expression: str
    verdict: str
    recomputed: str = ""
    digits: str = ""
    reason: str = ""


@dataclass(frozen=True)
class Apart:
    """Two rows compared over the same questions. `told` is False where the interval holds 0."""

    metric: str
    better: Key
    worse: Key
    best: bool
    difference: str
    interval: tuple[str, str]
    p: str
    questions: int
    told: bool
    alike: bool
    """Whether the two figures are the same number."""


@dataclass
class Audit:
    """Everything that an audit found."""

    path: str
    title: str
    fixture: str
    engines: tuple[str, ...]
    data: str
    pinned: str
    verdicts: list[Verdict] = field(default_factory=list)
    sentences: list[Said] = field(default_factory=list)
    apart: list[Apart] = field(default_factory=list)
    winners: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def count(self, verdict: str) -> int:
        """How many claims came out so, sentences among them."""
        every: list[Any] = [*self.verdicts, *self.sentences]
        return sum(each.verdict == verdict for each in every)

    @property
    def other_data(self) -> bool:
        """Whether the claims were pinned to other data than there is."""
        return bool(self.pinned) and self.pinned != self.data

    def held(self, allow_missing: bool) -> bool:
        """Whether every claim was reproduced, or was missing where that is allowed."""
        fine = self.count(DIFFERS) == 0 and not self.other_data
        return fine and (allow_missing or self.count(MISSING) == 0)
