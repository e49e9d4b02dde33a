"""Which arithmetic an engine may use, so that two languages get the same last bit (spec 03).

Allowed are + − × ÷ and sqrt in binary64, in the order that the spec writes, and exact integers. Nothing here, or in
any other room, calls `math.log`, `math.exp`, `**` on floats, `math.fsum`, or `sum` on floats (which compensates since
Python 3.12).
"""

import math
import re
import struct
from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from decimal import Context, Decimal
from fractions import Fraction

from chunkproof.errors import Refused

_HEX = re.compile(r"[0-9a-fA-F]{16}")


def to_hex(value: float) -> str:
    """The 16 lower-case hexadecimal digits of a double's big-endian bytes (spec 01, Values); −0 is written as 0."""
    return struct.pack(">d", value + 0.0).hex()


def from_hex(digits: str) -> float:
    """The finite double with these 16 digits; anything else is `bad_request`."""
    if not _HEX.fullmatch(digits):
        raise Refused("bad_request", f"{digits!r} is not 16 hexadecimal digits")
    (value,) = struct.unpack(">d", bytes.fromhex(digits))
    if not math.isfinite(value):
        raise Refused("bad_request", f"{digits!r} is not a finite double")
    return float(value)


def add(values: Iterable[float]) -> float:
    """Rule 2: from +0, one by one, left to right. May overflow to an infinity, which the caller refuses."""
    total = 0.0
    for value in values:
        total += value
    return total


def ln(n: int, d: int = 1) -> float:
    """Rule 3: the double nearest to the natural logarithm of the exact fraction n/d, for integers n, d ≥ 1.

    `decimal` rounds `ln` of an integer correctly, so that each of the two logarithms, below 37 for integers up to
    2^53, is off by less than 10^(2 − precision). Precision grows until both ends of the interval round to one double.
    """
    if n < 1 or d < 1:
        raise Refused("bad_setting", f"ln of {n}/{d}: both must be at least 1")
    if n == d:
        return 0.0
    digits = 40
    while True:
        context = Context(prec=digits)
        difference = Fraction(context.ln(Decimal(n))) - Fraction(context.ln(Decimal(d)))
        # |ln m| < 10^k bounds the unit in the last place, for integers of any size
        size = len(str(max(n, d).bit_length()))
        error = Fraction(10) ** (size + 1 - digits)
        low, high = difference - error, difference + error
        if (low > 0) == (high > 0):
            nearest = ratio(low.numerator, low.denominator)
            if nearest == ratio(high.numerator, high.denominator):
                return nearest
        digits *= 2


def ratio(n: int, d: int) -> float:
    """Rule 4: the double nearest to the exact n/d, ties to even. (Python's division of integers is exactly that.)"""
    return n / d


def mean(fractions: Iterable[Fraction]) -> float:
    """Rule 5: added exactly, divided exactly by the count, rounded once. Of none: 0."""
    by_denominator: defaultdict[int, int] = defaultdict(int)
    count = 0
    for fraction in fractions:
        by_denominator[fraction.denominator] += fraction.numerator
        count += 1
    sums = [(n, d) for d, n in by_denominator.items()]
    while len(sums) > 1:  # two by two, so that most additions are of short numbers
        last = sums[len(sums) & ~1 :]
        sums = [(a * d + c * b, b * d) for (a, b), (c, d) in zip(sums[::2], sums[1::2], strict=False)] + last
    return ratio(sums[0][0], sums[0][1] * count) if count else 0.0


def printed(value: float, decimals: int) -> str:
    """Rule 6: the double's exact value to `decimals` places, halves away from zero; what rounds to zero has no sign."""
    n, d = abs(value).as_integer_ratio()
    rounded = (2 * n * 10**decimals + d) // (2 * d)
    digits = str(rounded).rjust(decimals + 1, "0")
    text = digits if decimals == 0 else f"{digits[:-decimals]}.{digits[-decimals:]}"
    return f"-{text}" if value < 0 and rounded else text


def percentile(values: Sequence[float], p: int) -> float | None:
    """Rule 7: nearest rank, at index ⌊(n − 1)·p/100⌋ of the sorted values; None of no values."""
    if not 0 <= p <= 100:
        raise Refused("bad_setting", f"percentile {p} must be 0 to 100")
    if not values:
        return None
    # Multiply before dividing, in integers: 100·(29/100) in doubles is below 29.
    return sorted(values)[(len(values) - 1) * p // 100] + 0.0


def random(seed: int) -> Iterator[float]:
    """Rule 8: mulberry32, an endless stream of doubles in [0, 1) from a seed 0 … 2^32 − 1."""
    mask = 0xFFFFFFFF
    state = seed & mask
    while True:
        state = (state + 0x6D2B79F5) & mask
        x = ((state ^ (state >> 15)) * (state | 1)) & mask
        x ^= (x + (((x ^ (x >> 7)) * (x | 61)) & mask)) & mask
        yield (x ^ (x >> 14)) / 4294967296


def sample(seed: int, population: int, count: int) -> list[int]:
    """Rule 9: `count` of 0 … population − 1, drawn by a partial Fisher–Yates shuffle, ascending."""
    if not 0 <= count <= population:
        raise Refused("bad_setting", f"cannot draw {count} of {population}")
    items = array("Q", range(population))
    draws = random(seed)
    for i in range(count):
        j = i + int(next(draws) * (population - i))
        items[i], items[j] = items[j], items[i]
    return sorted(items[:count])
