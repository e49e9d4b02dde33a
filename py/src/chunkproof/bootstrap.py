"""How far a difference could be due to which units were drawn: a paired bootstrap whose every bit repeats (spec 14).

Sums go from left to right within a resample. numpy adds a whole column of resamples at a time, which is the same
additions: no sum of numpy's own is used, since those go in pairs.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from chunkproof import numerics
from chunkproof.errors import Refused

Unit = tuple[float, int]
"""A sum and a count."""
Doubles = NDArray[np.float64]
RESAMPLES = 10_000
MOST = 1_000_000
"""Resamples."""
SEED = 1
_DRAWS = 1 << 20  # that are held at a time
_FEW = 16  # resamples, where one by one is faster than by columns


class Bootstrap(NamedTuple):
    """The difference of all units, its 95 % interval, and how the resamples lie about 0."""

    difference: float
    interval: tuple[float, float]
    p: float
    at_most_zero: int
    at_least_zero: int


def bootstrap(
    treatment: Sequence[Unit], baseline: Sequence[Unit], resamples: int = RESAMPLES, seed: int = SEED
) -> Bootstrap:
    """Rules 1 to 4. `bad_request` where the lists are of unequal or no length or a number is below 0.

    `bad_setting` where resamples or seed are outside their range, or where a rate is not finite.
    """
    check_units(treatment, baseline)
    if not 1 <= resamples <= MOST or not 0 <= seed < 2**32:
        raise Refused("bad_setting", f"resamples {resamples} must be 1 to {MOST}, seed {seed} 0 to {2**32 - 1}")
    units = np.column_stack([np.array(treatment, np.float64), np.array(baseline, np.float64)])
    (difference,) = _differences(_one_by_one(units, np.arange(len(units))[None]))
    found = np.empty(resamples, np.float64)
    block = max(1, _DRAWS // len(units))
    for start in range(0, resamples, block):
        stop = min(resamples, start + block)
        found[start:stop] = _differences(_sums(units, _draws(seed, start, stop, len(units))))
    found.sort()
    low, high = (float(found[(resamples - 1) * rank // 1000]) for rank in (25, 975))
    at_most, at_least = int(np.count_nonzero(found <= 0)), int(np.count_nonzero(found >= 0))
    p = min(1.0, 2 * (1 + min(at_most, at_least)) / (resamples + 1))
    return Bootstrap(float(difference), (low, high), p, at_most, at_least)


def check_units(treatment: Sequence[Unit], baseline: Sequence[Unit]) -> None:
    """`bad_request` where the lists are of unequal or no length, or a sum or a count is below 0."""
    if not treatment or len(treatment) != len(baseline):
        raise Refused("bad_request", f"{len(treatment)} and {len(baseline)} units: must be as many, and at least one")
    if any(c < 0 or q < 0 for units in (treatment, baseline) for c, q in units):
        raise Refused("bad_request", "a sum or a count of a unit is below 0")


def _draws(seed: int, start: int, stop: int, n: int) -> NDArray[np.intp]:
    """Rule 2: the units of resamples `start` to `stop`, one row each.

    mulberry32 (03 rule 8) at any place of its stream: its states are an arithmetic sequence modulo 2^32.
    """
    places = np.arange(start * n + 1, stop * n + 1, dtype=np.uint64)
    state = (places * np.uint64(0x6D2B79F5) + np.uint64(seed)).astype(np.uint32)
    x = (state ^ (state >> 15)) * (state | 1)
    x ^= x + (x ^ (x >> 7)) * (x | 61)
    u = (x ^ (x >> 14)) / np.float64(4294967296)
    drawn: NDArray[np.intp] = (u * n).astype(np.intp).reshape(stop - start, n)
    return drawn


def _sums(units: Doubles, drawn: NDArray[np.intp]) -> Doubles:
    """Each resample's four sums, in the order drawn."""
    if len(drawn) < _FEW:
        return _one_by_one(units, drawn)
    sums = np.zeros((len(drawn), units.shape[1]), np.float64)
    with np.errstate(over="ignore"):
        for column in np.ascontiguousarray(drawn.T):
            sums += units[column]
    return sums


def _one_by_one(units: Doubles, drawn: NDArray[Any]) -> Doubles:
    return np.array([[numerics.add(column[row].tolist()) for column in units.T] for row in drawn], np.float64)


def _differences(sums: Doubles) -> Doubles:
    """Rule 1: the treatment's rate less the baseline's; a rate is 0 where nothing is counted."""
    totals, counts = sums[:, ::2], sums[:, 1::2]
    rates = np.zeros(totals.shape, np.float64)
    np.divide(totals, counts, out=rates, where=counts != 0)
    if not np.isfinite(rates).all():
        raise Refused("bad_setting", "a sum is not finite")
    differences: Doubles = rates[:, 0] - rates[:, 1]
    return differences
