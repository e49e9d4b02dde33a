"""Causes in the ranking: another library's BM25, RRF with ranks from 0 or another pool, a weight on the wrong side."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence

import regex

from chunkproof.audit.causes import Cause, Place
from chunkproof.audit.evidence import DEEPEST, Row
from chunkproof.compare import as_double
from chunkproof.replies import Json

_WORD = regex.compile(r"[\p{L}\p{N}]+")
_POOLS = (10, 20, 100)
Terms = tuple[list[list[str]], list[list[str]]]


def tier(place: Place) -> Iterator[Cause]:
    """Every cause of this kind; none for figures of chunks."""
    row = place.row
    if row is None:
        return
    if row.method.kind == "rrf":
        yield from _rrf(place, row)
    elif row.method.kind == "weighted":
        yield from _weighted(place, row)
    elif row.method.kind == "dense":
        yield from _dense(place, row)
    if row.method.kind in ("bm25", "rrf"):
        yield from _other_bm25(place, row)


def _asked(place: Place, row: Row, sentence: str, method: Json) -> Cause:
    """The cause whose ranking the engines make under other settings."""
    ok = place.evidence.calculator.one(f"{row.key}: {sentence}", {**row.rank, "method": method})
    order = [[entry["passage"] for entry in ranking] for ranking in ok["rankings"]]
    return place.from_metrics(sentence, place.evidence.evaluate(row, order))


def _rrf(place: Place, row: Row) -> Iterator[Cause]:
    method = row.rank["method"]
    k, pool = method.get("k", 60), method.get("pool", 50)
    if k >= 1:
        yield _asked(place, row, f"RRF's ranks counted from 0, or k = {k - 1}", {**method, "k": k - 1})
    yield _asked(place, row, f"RRF with k = {k + 1}", {**method, "k": k + 1})
    for other in (*_POOLS, len(row.rank["passages"])):
        if other not in (pool, 0):
            yield _asked(place, row, f"RRF over a pool of {other}, not {pool}", {**method, "pool": other})


def _weighted(place: Place, row: Row) -> Iterator[Cause]:
    method = row.rank["method"]
    alpha, pool = method.get("alpha", 0.5), method.get("pool", 50)
    if alpha != 0.5:
        other = float(1 - alpha)
        yield _asked(
            place, row, f"alpha {alpha} put on BM25, not on the dense score", {**method, "alpha": round(other, 12)}
        )
    for size in (*_POOLS, len(row.rank["passages"])):
        if size not in (pool, 0):
            yield _asked(place, row, f"scores scaled over a pool of {size}, not {pool}", {**method, "pool": size})


def _dense(place: Place, row: Row) -> Iterator[Cause]:
    method = row.rank["method"]
    for precision in ("int8", "int4", "binary"):
        if precision != method.get("precision", "int8"):
            yield _asked(place, row, f"vectors of precision {precision}", {**method, "precision": precision})


def _other_bm25(place: Place, row: Row) -> Iterator[Cause]:
    method = row.rank["method"]
    bm25 = method if method["kind"] == "bm25" else {"kind": "bm25"}
    k1, b = float(bm25.get("k1", 1.2)), float(bm25.get("b", 0.75))
    spec, plain, spaced = _spec_terms(place, row), _words(row), _spaced(row)
    variants: tuple[tuple[str, Terms, str, float, float], ...] = (
        ("BM25 with Okapi's idf, floored as in rank-bm25", spec, "okapi", k1, b),
        ("BM25 without stop words", plain, "lucene", k1, b),
        ("BM25 without stop words and with Okapi's idf, floored as in rank-bm25", plain, "okapi", k1, b),
        (
            "BM25 over words split at spaces, with Okapi's idf and k1 = 1.5: rank-bm25 as it comes",
            spaced,
            "okapi",
            1.5,
            0.75,
        ),
        ("BM25 over lower-case words split at spaces", spaced, "lucene", k1, b),
        ("BM25 with k1 = 1.5, rank-bm25's and bm25s's default", spec, "lucene", 1.5, 0.75),
        ("BM25 with k1 = 0.9 and b = 0.4, Anserini's default", spec, "lucene", 0.9, 0.4),
    )
    for sentence, terms, idf, variant_k1, variant_b in variants:
        if (idf, terms) == ("lucene", spec) and (variant_k1, variant_b) == (k1, b):
            continue
        ranked = _bm25(place, terms, idf, variant_k1, variant_b)
        if method["kind"] == "rrf":
            ranked = _fused(place, row, ranked)
        yield place.from_metrics(sentence, place.evidence.evaluate(row, [order[:DEEPEST] for order in ranked]))


def _spec_terms(place: Place, row: Row) -> Terms:
    passages, queries = row.rank["passages"], row.rank["queries"]
    asked = [("terms", {"op": "terms", "text": text}) for text in (*passages, *queries)]
    found = [ok["terms"] for ok in place.evidence.calculator.ask(asked)]
    return found[: len(passages)], found[len(passages) :]


def _words(row: Row) -> Terms:
    """The spec's terms, stop words and all."""
    return tuple([_WORD.findall(text.lower()) for text in row.rank[part]] for part in ("passages", "queries"))  # type: ignore[return-value]


def _spaced(row: Row) -> Terms:
    return tuple([text.lower().split() for text in row.rank[part]] for part in ("passages", "queries"))  # type: ignore[return-value]


def _bm25(place: Place, terms: Terms, idf: str, k1: float, b: float) -> list[list[int]]:
    """Whole rankings under another library's rules."""
    passages, queries = terms
    counts = [Counter(passage) for passage in passages]
    df = Counter(term for count in counts for term in count)
    total = len(passages)
    average = sum(map(len, passages)) / max(1, total) or 1.0
    weights = _idf(place, df, total, idf)
    norms = [k1 * (1 - b + b * len(passage) / average) for passage in passages]
    postings: dict[str, list[tuple[int, int]]] = {}
    for index, count in enumerate(counts):
        for term, tf in count.items():
            postings.setdefault(term, []).append((index, tf))
    rankings = []
    for query in queries:
        scores = [0.0] * total
        for term in query if idf == "okapi" else dict.fromkeys(query):
            for index, tf in postings.get(term, ()):
                scores[index] += weights[term] * (tf * (k1 + 1)) / (tf + norms[index])
        rankings.append(_order(scores))
    return rankings


def _idf(place: Place, df: Counter[str], total: int, kind: str) -> dict[str, float]:
    """A logarithm for each count of passages, by the engines; Okapi's below zero are replaced as rank-bm25 does."""
    seen = sorted(set(df.values()))
    if not seen:
        return {}
    pairs = [[2 * (total - n) + 1 if kind == "okapi" else 2 * total + 2, 2 * n + 1] for n in seen]
    request = {"op": "numbers", "kind": "ln", "fractions": pairs}
    doubles = place.evidence.calculator.one("logarithms", request)["values"]
    of = {n: as_double(double) or 0.0 for n, double in zip(seen, doubles, strict=True)}
    if kind == "okapi":
        floor = 0.25 * math.fsum(of[n] for n in df.values()) / len(df)
        of = {n: floor if value < 0 else value for n, value in of.items()}
    return {term: of[n] for term, n in df.items()}


def _order(scores: Sequence[float]) -> list[int]:
    return sorted(range(len(scores)), key=lambda index: (-scores[index], index))


def _fused(place: Place, row: Row, lexical: Sequence[Sequence[int]]) -> list[list[int]]:
    """RRF of another BM25 with the dense ranking."""
    method = row.rank["method"]
    k, pool = method.get("k", 60), method.get("pool", 50)
    total = len(row.rank["passages"])
    dense = _dense_order(place, row, pool)
    fused = []
    for one, other in zip(lexical, dense, strict=True):
        scores = [0.0] * total
        for order in (one[:pool], other[:pool]):
            for rank, passage in enumerate(order, 1):
                scores[passage] += 1 / (k + rank)
        fused.append(_order(scores))
    return fused


def _dense_order(place: Place, row: Row, pool: int) -> list[list[int]]:
    request = {**row.rank, "method": {"kind": "dense"}, "depth": pool}
    ok = place.evidence.calculator.one(f"the dense ranking of {row.key}", request)
    return [[entry["passage"] for entry in ranking] for ranking in ok["rankings"]]
