"""Spec 03: the arithmetic that two languages agree on to the last bit."""

import math
import struct
import time
from fractions import Fraction

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkproof import numerics
from chunkproof.errors import Refused

INTEGERS = st.integers(1, 2**53 - 1)
DOUBLES = st.floats(allow_nan=False, allow_infinity=False)


def test_sum_goes_left_to_right_without_compensation():
    assert numerics.add([1e16, 1.0, -1e16]) == 0.0
    assert numerics.add([0.1] * 10) == 0.9999999999999999


def test_ln_is_of_the_exact_fraction_not_of_its_quotient():
    # N = 77 passages, df = 9: the logarithm of the quotient as a double is another double.
    assert numerics.ln(156, 19) == 2.1054170280830964
    with mpmath.workprec(200):
        assert float(mpmath.log(mpmath.mpf(156 / 19))) == 2.105417028083097


def test_ln_of_one_is_positive_zero():
    assert numerics.to_hex(numerics.ln(5, 5)) == "0" * 16


def exact_ln(n: int, d: int) -> float:
    with mpmath.workprec(400):
        return float(mpmath.log(mpmath.mpf(n) / d))


@given(INTEGERS, INTEGERS)
def test_ln_is_correctly_rounded(n, d):
    assert numerics.ln(n, d) == exact_ln(n, d)


@pytest.mark.parametrize(("n", "d"), [(2**53 - 1, 2**53 - 2), (2**53 - 2, 2**53 - 1), (2**53 - 1, 1), (1, 2**53 - 1)])
def test_ln_near_one_and_at_the_ends(n, d):
    assert numerics.ln(n, d) == exact_ln(n, d)


def test_ln_below_one_is_refused():
    with pytest.raises(Refused) as refused:
        numerics.ln(0, 3)
    assert refused.value.code == "bad_setting"


@given(st.integers(0, 2**53 - 1), INTEGERS)
def test_ratio_is_the_nearest_double(n, d):
    assert numerics.ratio(n, d) == float(Fraction(n, d))


@given(st.lists(st.fractions(0, 1, max_denominator=60)))
def test_mean_rounds_once(fractions):
    exact = sum(fractions, Fraction(0)) / len(fractions) if fractions else 0
    assert numerics.mean(fractions) == float(exact)


def test_mean_of_many_denominators_takes_no_time():
    fractions = [Fraction(i, 2**52 + i) for i in range(20_000)]
    start = time.monotonic()
    numerics.mean(fractions)
    assert time.monotonic() - start < 5
    some = fractions[:501]
    assert numerics.mean(some) == float(sum(some, Fraction(0)) / len(some))


@pytest.mark.parametrize(
    ("value", "decimals", "text"),
    [
        (0.5, 0, "1"),
        (-0.5, 0, "-1"),
        (-0.4, 0, "0"),
        (2.5, 0, "3"),
        (1.005, 2, "1.00"),  # the double lies below
        (0.125, 2, "0.13"),
        (-0.004, 2, "0.00"),
        (-0.0, 1, "0.0"),
        (1e21, 0, "1" + "0" * 21),
        (5e-324, 3, "0.000"),
        (9.995, 2, "9.99"),
        (99.5, 0, "100"),
    ],
)
def test_printing_rounds_the_exact_value_halves_away_from_zero(value, decimals, text):
    assert numerics.printed(value, decimals) == text


@given(DOUBLES, st.integers(0, 100))
def test_printed_text_is_within_half_a_unit(value, decimals):
    text = numerics.printed(value, decimals)
    assert abs(Fraction(text) - Fraction(value)) * 2 <= Fraction(1, 10**decimals)
    assert "e" not in text
    assert len(text.partition(".")[2]) == decimals


@pytest.mark.parametrize("p", [29, 57, 58])
def test_percentile_index_is_computed_in_integers(p):
    assert numerics.percentile([x / 128 for x in range(100, -1, -1)], p) == p / 128


def test_percentile_of_51_values():
    assert numerics.percentile(list(range(51)), 58) == 29


def test_percentile_of_nothing_is_nothing():
    assert numerics.percentile([], 25) is None


def test_percentile_that_is_zero_has_no_sign():
    assert math.copysign(1, numerics.percentile([-0.0], 0)) == 1


@given(st.lists(DOUBLES, min_size=1), st.integers(0, 100))
def test_percentile_is_one_of_the_sorted_values(values, p):
    assert numerics.percentile(values, p) == sorted(values)[math.floor(Fraction((len(values) - 1) * p, 100))]


def test_random_is_mulberry32():
    stream = numerics.random(0)
    assert [next(stream) * 2**32 for _ in range(3)] == [1144304738, 1416247, 958946056]


def naive_sample(seed, population, count):
    stream = numerics.random(seed)
    items = list(range(population))
    for i in range(count):
        j = i + math.floor(next(stream) * (population - i))
        items[i], items[j] = items[j], items[i]
    return sorted(items[:count])


@given(st.integers(0, 2**32 - 1), st.integers(0, 60), st.data())
def test_sample_is_distinct_and_ascending(seed, population, data):
    count = data.draw(st.integers(0, population))
    drawn = numerics.sample(seed, population, count)
    assert drawn == naive_sample(seed, population, count)
    assert drawn == sorted(set(drawn))


@given(DOUBLES)
def test_hex_and_back(value):
    digits = numerics.to_hex(value)
    assert struct.pack(">d", value + 0.0).hex() == digits
    assert numerics.from_hex(digits.upper()) == value


@pytest.mark.parametrize("digits", ["", "0" * 15, "0" * 17, "g" * 16, "7ff0000000000000", "fff8000000000000", "٠" * 16])
def test_what_is_no_finite_double_is_refused(digits):
    with pytest.raises(Refused):
        numerics.from_hex(digits)
