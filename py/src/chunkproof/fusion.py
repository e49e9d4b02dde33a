"""The order of every ranking, and how a lexical and a dense ranking become one (spec 11)."""

from collections.abc import Sequence

from chunkproof.errors import Refused

Ranking = list[tuple[int, float]]
"""Passage index and score, best first."""


def order(scores: Sequence[float]) -> list[int]:
    """Rule 1: passage indices by score, descending; equal scores by index, ascending."""
    # `reverse` keeps equal elements in their order.
    return sorted(range(len(scores)), key=scores.__getitem__, reverse=True)


def ranking(scores: Sequence[float]) -> Ranking:
    """Every passage with its score, in `order`."""
    return [(passage, scores[passage]) for passage in order(scores)]


def rrf(lexical: Sequence[int], dense: Sequence[int], passages: int, k: int = 60, pool: int = 50) -> list[float]:
    """Rule 3: the fused score of each passage, from two rankings' passage indices, best first. k ≥ 0, pool ≥ 1."""
    _check_pool(pool)
    if k < 0:
        raise Refused("bad_setting", f"k {k} must be at least 0")
    fused = [0.0] * passages
    for listed in (lexical, dense):
        for rank, passage in enumerate(listed[:pool], 1):
            fused[passage] += 1 / (float(k) + rank)
    return fused


def weighted(lexical: Sequence[float], dense: Sequence[float], alpha: float = 0.5, pool: int = 50) -> list[float]:
    """Rule 4: the fused score of each passage, from its two scores. 0 ≤ alpha ≤ 1, pool ≥ 1."""
    _check_pool(pool)
    if not 0 <= alpha <= 1:
        raise Refused("bad_setting", f"alpha {alpha} must be 0 to 1")
    return [
        (alpha * d) + ((1 - alpha) * b) for d, b in zip(_scaled(dense, pool), _scaled(lexical, pool), strict=True)
    ]  # fmt: skip


def _scaled(scores: Sequence[float], pool: int) -> list[float]:
    """Scores scaled to 0 … 1 by the pool's least and greatest; 0 outside it, 1 for all in it if they are equal."""
    scaled = [0.0] * len(scores)
    best = order(scores)[:pool]
    if best:
        high, low = scores[best[0]], scores[best[-1]]
        for passage in best:
            scaled[passage] = (scores[passage] - low) / (high - low) if high != low else 1.0
    return scaled


def _check_pool(pool: int) -> None:
    if pool < 1:
        raise Refused("bad_setting", f"pool {pool} must be at least 1")
