"""Spec 09: quantisation, cosine, the dense scores."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkproof import fusion, vectors
from chunkproof.errors import Refused

BYTES = st.integers(-128, 127)


@pytest.mark.parametrize(
    ("vector", "quantized"),
    [
        ([127, 0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 63.5], [127, 0, 2, 2, 0, -2, -2, 64]),  # halves to even
        ([46, 23], [127, 64]),  # the product first: 23 × (127 ÷ 46) is just below 63.5
        ([94, -47], [127, -64]),
        ([0.0, -0.0], [0, 0]),
        ([5e-324, -5e-324], [127, -127]),
    ],
)
def test_int8(vector, quantized):
    assert vectors.int8(vector) == quantized


def test_int8_beyond_binary64_is_refused():
    with pytest.raises(Refused) as refused:
        vectors.int8([1e308, 0])
    assert refused.value.code == "bad_vectors"


def test_int4_is_in_seven_steps_each_way():
    assert vectors.int4([127, -127, -128, 9, 10, -9, 0]) == [7, -7, -7, 0, 1, 0, 0]


@given(BYTES)
def test_int4_is_the_formula(q):
    assert vectors.int4([q]) == [int(math.copysign((14 * abs(q) + 127) // 254, q))]


def test_binary_is_what_is_above_zero():
    assert vectors.binary([3, 0, -3]) == [1, 0, 0]


def test_cosine():
    assert vectors.cosine([127, 0], [127, 30]) == 16129 / math.sqrt(16129.0 * 17029.0)
    assert vectors.cosine([0, 0], [1, 2]) == 0.0
    assert math.copysign(1, vectors.cosine([1, 0], [0, -1])) == 1


def test_hamming_similarity():
    assert vectors.hamming_similarity([1, 0, 1], [1, 1, 1]) == 1 / 3


def test_a_zero_vector_never_gets_to_the_top_nor_to_nan():
    passages = np.array([[0, 0, 0], [127, 0, 0], [-127, 0, 0], [0, 0, 0]], np.int8)
    rows = vectors.dense(passages, np.array([[127, 0, 0], [0, 0, 0]], np.int8)).tolist()
    assert rows == [[0, 1, -1, 0], [0, 0, 0, 0]]
    assert [fusion.order(row) for row in rows] == [[1, 0, 3, 2], [0, 1, 2, 3]]


def test_dimensions_must_agree_even_without_rows():
    with pytest.raises(Refused) as refused:
        vectors.dense(np.zeros((0, 3), np.int8), np.zeros((0, 4), np.int8))
    assert refused.value.code == "bad_vectors"


@given(st.integers(1, 5).flatmap(lambda d: st.lists(st.lists(BYTES, min_size=d, max_size=d), min_size=2, max_size=6)))
def test_dense_is_each_pair_by_itself(rows):
    query, passages = rows[0], rows[1:]
    matrix, queries = np.array(passages, np.int8), np.array([query], np.int8)
    for precision, pair in {
        "int8": vectors.cosine,
        "int4": lambda a, b: vectors.cosine(vectors.int4(a), vectors.int4(b)),
        "binary": lambda a, b: vectors.hamming_similarity(vectors.binary(a), vectors.binary(b)),
    }.items():
        assert vectors.dense(matrix, queries, precision).tolist() == [[pair(query, p) for p in passages]]
