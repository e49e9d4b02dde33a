"""Tokens that a given recall takes, and what they would cost at a price that the user names.

Only budgets that were run are looked at: nothing is read between two of them. Prices are exact decimals.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from chunkproof.audit.arithmetic import Calculator
from chunkproof.problems import Problem

TARGETS = ("0.3", "0.4", "0.5", "0.6", "0.7", "0.8", "0.9")
QUESTIONS = 1_000
_MILLION = 1_000_000


@dataclass(frozen=True)
class Point:
    """One policy at one budget: questions covered, questions asked, tokens in all contexts."""

    budget: int
    covered: int
    questions: int
    tokens: int


def price(text: str) -> Fraction:
    """A price per million tokens, written as a decimal; below 0 or no number is refused."""
    try:
        value = Fraction(Decimal(text))
    except (ArithmeticError, ValueError):  # no number, or an infinite one
        value = Fraction(-1)
    if value < 0:
        raise Problem(f"--price {text!r} is no price: give a decimal of at least 0, such as 2.50")
    return value


def make(
    points: Mapping[str, Sequence[Point]], calculator: Calculator, per_million: Fraction | None
) -> list[dict[str, object]]:
    """For each target recall and policy: the least budget run that reaches it, the mean tokens used, the price.

    `budget` is None where no budget that was run reaches the target. Targets that no policy reaches are left out.
    """
    rows: list[dict[str, object]] = []
    for target in TARGETS:
        reached = {name: _least(each, Fraction(target)) for name, each in points.items()}
        if not any(reached.values()):
            continue
        for name, point in reached.items():
            rows.append({"recall": target, "policy": name, **_row(point, calculator, per_million)})
    return rows


def _least(points: Sequence[Point], target: Fraction) -> Point | None:
    enough = [point for point in points if point.questions and Fraction(point.covered, point.questions) >= target]
    return min(enough, key=lambda point: point.budget, default=None)


def _row(point: Point | None, calculator: Calculator, per_million: Fraction | None) -> dict[str, object]:
    if point is None:
        return {"budget": None, "tokens": None, **({"price": None} if per_million is not None else {})}
    mean = Fraction(point.tokens, point.questions)
    row: dict[str, object] = {"budget": point.budget, "tokens": _printed(mean, 1, calculator)}
    if per_million is not None:
        row["price"] = _printed(mean * QUESTIONS * per_million / _MILLION, 4, calculator)
    return row


def _printed(value: Fraction, decimals: int, calculator: Calculator) -> str:
    return calculator.printed([(calculator.double(value), decimals)])[0]


def shown(value: Fraction) -> str:
    """A price as it was given, as a decimal."""
    places = 0
    while (value * 10**places).denominator != 1 and places < 12:
        places += 1
    digits = str(round(value * 10**places)).zfill(places + 1)
    return f"{digits[:-places]}.{digits[-places:]}" if places else digits
