"""Causes in how a right value was written: rounding, a factor of a hundred, columns or rows that changed places."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from math import floor

from chunkproof.audit import cells
from chunkproof.audit.arithmetic import exact
from chunkproof.audit.causes import Cause, Place, printed
from chunkproof.audit.model import Claim, Key

Rounding = Callable[[Fraction, int], int]


def tier(place: Place) -> Iterator[Cause]:
    """Every cause of this kind."""
    yield from _roundings(place)
    yield from _hundreds(place)
    yield from _columns(place)
    yield from _rows(place)


def _scale(decimals: int) -> int:
    return int("1" + "0" * decimals)


def _half_up(value: Fraction, decimals: int) -> int:
    return floor(value * _scale(decimals) + Fraction(1, 2))


def _half_even(value: Fraction, decimals: int) -> int:
    return round(value * _scale(decimals))


def _cut(value: Fraction, decimals: int) -> int:
    return floor(value * _scale(decimals))


def _twice(value: Fraction, decimals: int) -> int:
    return _half_up(Fraction(_half_up(value, decimals + 1), _scale(decimals + 1)), decimals)


def _roundings(place: Place) -> Iterator[Cause]:
    ways: tuple[tuple[str, Rounding, bool], ...] = (
        ("rounded half to even, not half away from zero", _half_even, True),
        ("the exact fraction rounded half to even", _half_even, False),
        ("the exact fraction rounded, whose nearest double lies below the half", _half_up, False),
        ("truncated, not rounded", _cut, False),
        ("the double truncated, not rounded", _cut, True),
        ("rounded twice, first to one decimal more", _twice, False),
    )
    for sentence, way, binary in ways:

        def makes(claim: Claim, way: Rounding = way, binary: bool = binary) -> str | None:
            value = place.value(claim)
            if value is None:
                return None
            return _written(claim, way(exact(value.double) if binary else value.exact, claim.decimals))

        yield Cause(sentence, makes)


def _written(claim: Claim, scaled: int) -> str:
    """A whole number of the claim's last decimals, as the claim is written."""
    digits = str(scaled).rjust(claim.decimals + 1, "0")
    text = f"{digits[: -claim.decimals]}.{digits[-claim.decimals :]}" if claim.decimals else digits
    return cells.shifted(text, 2) if claim.percent else text


def _hundreds(place: Place) -> Iterator[Cause]:
    """Only what differs shows this: each figure for itself, since it is seldom that a whole row has it."""
    calculator = place.evidence.calculator

    def percent(claim: Claim) -> str | None:
        value = place.value(claim)
        if claim.percent or value is None:
            return None
        return cells.shifted(calculator.printed([(value.double, claim.figure.decimals + 2)])[0], 2)

    def fraction(claim: Claim) -> str | None:
        value = place.value(claim)
        if not claim.percent or value is None:
            return None
        return calculator.printed([(value.double, claim.figure.decimals)])[0]

    for sentence, makes in (
        ("a percentage where a fraction belongs", percent),
        ("a fraction where a percentage belongs", fraction),
    ):
        for verdict in place.verdicts:
            yield Cause(sentence, _only(verdict.claim, makes))


def _only(one: Claim, makes: Callable[[Claim], str | None]) -> Callable[[Claim], str | None]:
    return lambda claim: makes(claim) if claim is one else None


def _columns(place: Place) -> Iterator[Cause]:
    """Two columns of the row have each other's figure."""
    for verdict in place.verdicts:
        for other in place.verdicts:
            if other.claim.column == verdict.claim.column or verdict.recomputed == other.recomputed:
                continue
            text = printed(place.evidence, verdict.claim, other.double)
            back = printed(place.evidence, other.claim, verdict.double)
            if text == verdict.claim.figure.plain and back == other.claim.figure.plain:
                sentence = f"the columns {verdict.claim.column!r} and {other.claim.column!r} changed places"
                yield Cause(sentence, _only(verdict.claim, lambda claim, text=text: text))  # type: ignore[misc]


def _rows(place: Place) -> Iterator[Cause]:
    """The row has the figures of another row; if that one has this one's, they changed places."""
    for key in dict.fromkeys(key for key, _ in place.table):
        if key == place.key or bool(key.method) != bool(place.key.method):
            continue
        if _has_figures_of(place, place.key, key):
            back = _has_figures_of(place, key, place.key)
            sentence = f"the rows {place.key} and {key} changed places" if back else f"these are the figures of {key}"
            yield Cause(sentence, _figures_of(place, key))


def _figures_of(place: Place, key: Key) -> Callable[[Claim], str | None]:
    def makes(claim: Claim) -> str | None:
        other = place.table.get((key, claim.metric))
        return None if other is None else printed(place.evidence, claim, other.double)

    return makes


def _has_figures_of(place: Place, one: Key, other: Key) -> bool:
    """Whether what is claimed of one row is what another row should have, in two columns at least."""
    pairs = [
        (verdict, place.table.get((other, metric))) for (key, metric), verdict in place.table.items() if key == one
    ]
    known = [(verdict, there) for verdict, there in pairs if there is not None]
    return len(known) > 1 and all(
        printed(place.evidence, verdict.claim, there.double) == verdict.claim.figure.plain for verdict, there in known
    )
