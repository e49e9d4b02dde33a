"""How float vectors become int8, int4 or bits, how two are compared, and the dense ranking (spec 09).

A matrix has one row a vector. All sums are of integers, so no order of addition matters.
"""

import math
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from chunkproof.errors import Refused

Matrix = NDArray[Any]
Precision = Literal["int8", "int4", "binary"]


def int8(vector: Sequence[float]) -> list[int]:
    """Rule 1: each component × 127, ÷ the largest magnitude, to the nearest integer, halves to even.

    `bad_vectors` where a product leaves binary64.
    """
    largest = max(map(abs, vector), default=0.0)
    if largest == 0:
        return [0] * len(vector)
    if not math.isfinite(largest * 127):
        raise Refused("bad_vectors", f"{largest} × 127 is no finite double")
    # The product first: v × (127 ÷ m) rounds elsewhere.
    return [round((v * 127) / largest) for v in vector]


def int4(vector: Sequence[int]) -> list[int]:
    """Rule 2, from int8: −7 … 7."""
    return [_int4(abs(q)) if q >= 0 else -_int4(abs(q)) for q in vector]


def _int4(magnitude: int) -> int:
    return (14 * magnitude + 127) // 254


def binary(vector: Sequence[int]) -> list[int]:
    """Rule 3, from int8: 1 where a component is above 0."""
    return [int(q > 0) for q in vector]


def cosine(a: Sequence[int], b: Sequence[int]) -> float:
    """Rule 4: dot ÷ sqrt(|a|² × |b|²), the sums exact, then each step in binary64; +0 where dot is 0."""
    dot = _dot(a, b)
    return dot / math.sqrt(float(_dot(a, a)) * float(_dot(b, b))) if dot else 0.0


def _dot(a: Sequence[int], b: Sequence[int]) -> int:
    total = 0
    for x, y in zip(a, b, strict=True):
        total += int(x) * int(y)
    return total


def cosines(dots: Matrix, squares: Matrix, other_squares: Matrix) -> NDArray[np.float64]:
    """Rule 4 on arrays of exact integers; numpy's ×, sqrt and ÷ are those of IEEE 754."""
    lengths = np.sqrt(squares.astype(np.float64) * other_squares.astype(np.float64))
    found = np.zeros(dots.shape, np.float64)
    np.divide(dots, lengths, out=found, where=dots != 0)
    return found


def hamming_similarity(a: Sequence[int], b: Sequence[int]) -> float:
    """Rule 5: (d − 2h) ÷ d for d bits of which h differ."""
    differ = sum(x != y for x, y in zip(a, b, strict=True))
    return (len(a) - 2 * differ) / len(a)


def dense(passages: Matrix, queries: Matrix, precision: Precision = "int8") -> NDArray[np.float64]:
    """Rule 6: the score of each passage (columns) for each query (rows), from two int8 matrices.

    `fusion.order` ranks a row. `bad_vectors` where the dimensions differ.
    """
    if passages.shape[1] != queries.shape[1]:
        raise Refused("bad_vectors", f"passages have dimension {passages.shape[1]}, queries {queries.shape[1]}")
    p, q = passages.astype(np.int64), queries.astype(np.int64)
    if precision == "binary":
        p, q = (p > 0).astype(np.int64), (q > 0).astype(np.int64)
        dim = p.shape[1]
        differ = p.sum(axis=1) + q.sum(axis=1)[:, None] - 2 * (q @ p.T)
        similarities: NDArray[np.float64] = np.divide(dim - 2 * differ, dim, dtype=np.float64)
        return similarities
    if precision == "int4":
        p, q = (np.sign(m) * ((14 * np.abs(m) + 127) // 254) for m in (p, q))
    return cosines(q @ p.T, (p * p).sum(axis=1), (q * q).sum(axis=1)[:, None])
