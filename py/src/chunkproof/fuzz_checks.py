"""What holds of every reply, whatever the rules say in detail: the invariants of `chunkproof fuzz`.

Two engines that share a mistake agree with each other; these properties are written down without looking at either.
Each check takes a request and its `ok` value and returns what is wrong in one sentence, or None.
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Context, Decimal
from fractions import Fraction
from itertools import pairwise
from typing import Any

from chunkproof.fuzz_requests import HUGE, Look, Request

STOP_WORDS = frozenset(
    re.findall(
        "[a-z]+",
        "a an and are as at be but by for if in into is it no not of on or such that the their then there these they this"
        " to was will with",
    )
)
REFUSABLE = {
    "rank": {"bad_setting"},
    "numbers": {"bad_setting"},
    "bootstrap": {"bad_setting"},
    "quantize": {"bad_vectors"},
}
"""Codes with which a sound request may be refused after all: a score, sum or product that leaves binary64."""


DIGITS = Context(prec=60)


def value_of(digits: str) -> float:
    """The double that sixteen hexadecimal digits stand for."""
    return float(struct.unpack(">d", bytes.fromhex(digits))[0])


def problem(request: Request, reply: dict[str, Any], look: Look) -> str | None:
    """What is wrong with the reply to a sound request, or None. `look` asks an engine for what a check needs."""
    if "error" in reply:
        code = reply["error"]["code"]
        return None if code in REFUSABLE.get(request["op"], set()) else f"a sound request is refused with {code}"
    check = CHECKS.get(request["op"])
    try:
        return check(request, reply["ok"], look) if check else None
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
        return f"the reply has not the shape of the wire chapter: {type(error).__name__} {error}"


def tiles(ranges: Sequence[Request], length: int) -> str | None:
    """None if the ranges, none of them empty, follow each other from 0 to `length`."""
    at = 0
    for one in ranges:
        if one["start"] != at or one["end"] <= at:
            return f"the range {one['start']}–{one['end']} does not follow {at}"
        at = one["end"]
    return None if at == length else f"the ranges end at {at}, the text at {length}"


def _pieces(request: Request, ok: Any, look: Look) -> str | None:
    if any(piece["tokens"] < 1 for piece in ok["pieces"]):
        return "a piece of no tokens"
    return tiles(ok["pieces"], len(request["text"]))


def _piece_list(text: str, look: Look) -> list[Request]:
    found = look({"op": "pieces", "text": text})
    return list(found["pieces"]) if found else []


def _segments(request: Request, ok: Any, look: Look) -> str | None:
    text = request["text"]
    starts = {piece["start"] for piece in _piece_list(text, look)}
    for name in ("paragraphs", "sentences"):
        wrong = tiles(ok[name], len(text))
        if wrong:
            return f"{name}: {wrong}"
        if any(one["start"] not in starts for one in ok[name]):
            return f"{name}: one begins inside a piece"
    if not {p["start"] for p in ok["paragraphs"]} <= {s["start"] for s in ok["sentences"]}:
        return "a paragraph begins inside a sentence"
    return None


def _chunk(request: Request, ok: Any, look: Look) -> str | None:
    text, chunker, chunks = request["text"], request["chunker"], ok["chunks"]
    pieces = _piece_list(text, look)
    if not pieces:
        return "chunks of no text" if chunks else None
    first = {piece["start"]: index for index, piece in enumerate(pieces)}
    after = {piece["end"]: index + 1 for index, piece in enumerate(pieces)}
    overlap = chunker.get("overlap", 0)
    spans = []
    for chunk in chunks:
        if chunk["start"] not in first or chunk["end"] not in after:
            return f"the chunk {chunk['start']}–{chunk['end']} cuts a piece"
        spans.append((first[chunk["start"]], after[chunk["end"]]))
        inside = pieces[slice(*spans[-1])]
        if not inside or chunk["tokens"] != sum(piece["tokens"] for piece in inside):
            return f"the chunk {chunk['start']}–{chunk['end']} has other tokens than its pieces"
        if chunk["tokens"] > chunker["size"] and len(inside) > 1:
            return f"the chunk {chunk['start']}–{chunk['end']} is above the size and more than one piece"
    if not spans or spans[0][0] != 0 or spans[-1][1] != len(pieces):
        return "the chunks do not cover the text"
    for (a, end), (b, next_end) in pairwise(spans):
        if b <= a or b > end or next_end < end:
            return f"the chunk from piece {b} does not follow the one that ends before piece {end}"
        if sum(piece["tokens"] for piece in pieces[b:end]) > overlap:
            return f"the chunk from piece {b} overlaps by more than {overlap}"
    return _semantic(request, ok, look) if chunker["kind"] == "semantic" else None


def _semantic(request: Request, ok: Any, look: Look) -> str | None:
    chunker = request["chunker"]
    found = look({"op": "segments", "text": request["text"], "paragraphs": chunker.get("paragraphs", "blank_line")})
    sentences = found["sentences"]
    similarities = [value_of(digits) for digits in ok["similarities"]]
    if len(similarities) != max(0, len(sentences) - 1):
        return f"{len(similarities)} similarities of {len(sentences)} sentences"
    if not all(-1 <= s <= 1 for s in similarities):
        return "a similarity outside -1 … 1"
    if not similarities:
        return None if ok["threshold"] is None else "a threshold of no similarities"
    ranked = sorted(similarities)
    threshold = value_of(ok["threshold"])
    if threshold != ranked[(len(ranked) - 1) * int(chunker.get("percentile", 25)) // 100]:
        return "the threshold is not the nearest-rank percentile"
    starts = {chunk["start"] for chunk in ok["chunks"]}
    for similarity, sentence in zip(similarities, sentences[1:], strict=True):
        if similarity <= threshold and sentence["start"] not in starts:
            return f"no break at {sentence['start']}, where the similarity is at most the threshold"
    return None


def _rank(request: Request, ok: Any, look: Look) -> str | None:
    count, depth, kind = len(request["passages"]), request.get("depth", 50), request["method"]["kind"]
    least = -1.0 if kind == "dense" else 0.0
    most = {"dense": 1.0, "rrf": 2.0, "weighted": 1 + 1e-15}.get(kind, math.inf)
    if len(ok["rankings"]) != len(request["queries"]):
        return "not one ranking a query"
    for ranking in ok["rankings"]:
        order = [(-value_of(entry["score"]), entry["passage"]) for entry in ranking]
        named = {passage for _, passage in order}
        if len(order) != min(depth, count) or len(named) != len(order) or not named <= set(range(count)):
            return "a ranking that is no permutation cut at the depth"
        if order != sorted(order):
            return "a ranking out of order"
        if not all(least <= -score <= most for score, _ in order):
            return "a score out of range"
        if any(entry["score"] == "8000000000000000" for entry in ranking):
            return "a score of −0"
    return None


def _evaluate(request: Request, ok: Any, look: Look) -> str | None:
    cutoffs = [str(int(k)) for k in request.get("cutoffs", [1, 3, 5, 10, 20])]
    questions = ok["questions"]
    if len(questions) != len(request["answers"]):
        return "not one question an answer"
    if ok["lost"] != [index for index, question in enumerate(questions) if not question["relevant"]]:
        return "`lost` does not list the questions without a relevant passage"
    for question, ranking in zip(questions, request["rankings"], strict=True):
        relevant = set(question["relevant"])
        if sorted(question["recall"]) != sorted(cutoffs):
            return "recall at other cutoffs than asked"
        for k in cutoffs:
            hits = len(relevant & set(ranking[: int(k)]))
            want = Fraction(hits, len(relevant)) if relevant else Fraction(0)
            if question["recall"][k] != f"{want.numerator}/{want.denominator}":
                return f"recall@{k} is {question['recall'][k]}, and {hits} of {len(relevant)} were found"
        if not 0 <= Fraction(question["mrr@10"]) <= 1 or not 0 <= value_of(question["ndcg@10"]) <= 1:
            return "a metric outside 0 … 1"
    wanted = {f"recall@{k}" for k in cutoffs} | {"mrr@10", "ndcg@10"}
    if set(ok["mean"]) != wanted or not all(0 <= value_of(mean) <= 1 for mean in ok["mean"].values()):
        return "means of other names, or outside 0 … 1"
    return None


def _terms(request: Request, ok: Any, look: Look) -> str | None:
    if any(not term or term in STOP_WORDS for term in ok["terms"]):
        return "an empty term or a stop word"
    return None


def _quantize(request: Request, ok: Any, look: Look) -> str | None:
    least, most = {"int8": (-127, 127), "int4": (-7, 7), "binary": (0, 1)}[request["to"]]
    for row, got in zip(request["vectors"], ok["vectors"], strict=True):
        if len(row) != len(got) or not all(isinstance(q, int) and least <= q <= most for q in got):
            return "a row of another length or with a component out of range"
        if request["to"] == "int8" and any(row) and max(map(abs, got)) != 127:
            return "a row whose largest magnitude is not 127"
    return None


def printed(value: float, decimals: int) -> str:
    """A double's exact value with `decimals` decimals, halves away from zero, no sign on a zero."""
    exact = Decimal(value).quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP, Context(prec=1500))
    return f"{abs(exact) if exact == 0 else exact:f}"


def _numbers(request: Request, ok: Any, look: Look) -> str | None:
    kind = request["kind"]
    if kind == "ratio":
        for (n, d), got in zip(request["fractions"], ok["values"], strict=True):
            if value_of(got) != n / d:
                return f"{got} is not the double nearest to {n}/{d}"
    if kind == "ln":
        for (n, d), got in zip(request["fractions"], ok["values"], strict=True):
            want = float((DIGITS.divide(Decimal(n), Decimal(d))).ln(DIGITS)) if n != d else 0.0
            if value_of(got) != want:
                return f"{got} is not the double nearest to ln({n}/{d}), {want!r}"
    elif kind == "print":
        texts = [printed(value_of(digits), int(request["decimals"])) for digits in request["values"]]
        return None if ok["texts"] == texts else f"{ok['texts']} where {texts} is exact"
    elif kind == "percentile":
        ranked = sorted(value_of(digits) for digits in request["values"])
        if not ranked:
            return None if ok["value"] is None else "a percentile of no values"
        if value_of(ok["value"]) != ranked[(len(ranked) - 1) * int(request["percentile"]) // 100]:
            return "not the nearest rank"
    elif kind == "mean":
        fractions = [Fraction(*map(int, one)) for one in request["fractions"]]
        exact = sum(fractions, Fraction(0)) / max(1, len(fractions))
        if value_of(ok["value"]) != exact.numerator / exact.denominator:
            return f"{ok['value']} is not the double nearest to the mean {exact}"
    elif kind == "random":
        if len(ok["values"]) != request["count"] or not all(0 <= value_of(v) < 1 for v in ok["values"]):
            return "not `count` values in [0, 1)"
    elif kind == "sample":
        drawn, population = ok["indices"], request["population"]
        if len(drawn) != request["count"] or drawn != sorted(set(drawn)) or not set(drawn) <= set(range(population)):
            return "not `count` ascending indices of the population"
    elif kind == "canonical":
        for number, text in zip(request["values"], ok["texts"], strict=True):
            is_whole = abs(number) <= HUGE and number == int(number)
            if float(text) != float(number) or text == "-0" or (is_whole and text != str(int(number))):
                return f"{text} for {number!r}"
    return None


def _fill(request: Request, ok: Any, look: Look) -> str | None:
    tokens, budget = request["tokens"], request["budget"]
    runs = [(run["from"], run["to"]) for run in ok["context"]]
    borders = [border for run in runs for border in run]
    if borders != sorted(set(borders)) or not set(borders) <= set(range(len(tokens) + 1)):
        return "the context is not of maximal runs, ascending"
    context = {piece for start, end in runs for piece in range(start, end)}
    if ok["tokens"] > budget:
        return f"a cost of {ok['tokens']} is above the budget {budget}"
    if ok["tokens"] != ok["extra"] + sum(tokens[piece] for piece in context):
        return "the cost is not that of the context and of the headings"
    return _taken(request, ok, context)


def _taken(request: Request, ok: Any, context: set[int]) -> str | None:
    """Whether the context is a run of whole chunks by rank, skipping those without new pieces, and the front of one more."""
    seen: set[int] = set()
    counted = paid = 0
    missing = False
    for index in request["ranking"]:
        chunk = request["chunks"][index]
        new = [piece for piece in range(chunk["from"], chunk["to"]) if piece not in seen]
        got = [piece for piece in new if piece in context]
        if got:
            seen.update(got)
            counted, paid = counted + 1, paid + chunk["extra"]
        if got != new:
            missing = True
            needed = request["tokens"][new[len(got)]] + (0 if got else chunk["extra"])
            if got != new[: len(got)]:
                return f"chunk {index} is cut within, not at its end"
            if ok["tokens"] + needed <= request["budget"]:
                return f"chunk {index} is cut before piece {new[len(got)]}, which fits"
            break
    if seen != context:
        return "the context holds pieces that no chunk up to the last one taken has"
    if (counted, paid) != (ok["chunks"], ok["extra"]):
        return f"{counted} chunks with headings of {paid} make this context, not {ok['chunks']} and {ok['extra']}"
    return None if ok["full"] is missing else "full where nothing is left out, or the other way round"


def _cover(request: Request, ok: Any, look: Look) -> str | None:
    context = [(span["start"], span["end"]) for span in request["context"]]
    if not len(request["evidence"]) == len(ok["overlaps"]) == len(ok["hits"]):
        return "not one overlap and one hit for each evidence range"
    for span, overlap, hit in zip(request["evidence"], ok["overlaps"], ok["hits"], strict=True):
        low, high = span["start"], span["end"]
        points = sorted({low, high, *(point for pair in context for point in pair if low < point < high)})
        shown = sum(b - a for a, b in pairwise(points) if any(start <= a and b <= end for start, end in context))
        if overlap != shown:
            return f"the overlap of {low}–{high} is {overlap}, and {shown} of its code points are in the context"
        minimum: Any = request["minimum"]
        enough = {"half": Fraction(high - low, 2), "all": high - low}.get(minimum, minimum)
        if hit is not (shown >= min(enough, high - low)):
            return f"{low}–{high} has {shown} code points in the context, and `hits` says {hit}"
    return None


def _bootstrap(request: Request, ok: Any, look: Look) -> str | None:
    resamples, least, most = int(request.get("resamples", 10_000)), ok["at_most_zero"], ok["at_least_zero"]
    doubles = [ok["difference"], *ok["interval"], ok["p"]]
    if "8000000000000000" in doubles:
        return "a value of −0"
    difference, low, high, p = map(value_of, doubles)
    if len(doubles) != 4 or not low <= high:
        return "an interval that is not from low to high"
    if not (0 <= least <= resamples and 0 <= most <= resamples <= least + most):
        return f"{least} at most and {most} at least zero of {resamples}"
    if p != min(1, 2 * (1 + min(least, most)) / (resamples + 1)):
        return "a p that does not come from the two counts"
    # The interval leaves out as many differences as lie below its first index and above its second.
    below, above = (resamples - 1) * 25 // 1000, resamples - 1 - (resamples - 1) * 975 // 1000
    if (low > 0 and least > below) or (low <= 0 and least <= below):
        return f"an interval from {low!r} with {least} differences at most zero"
    if (high < 0 and most > above) or (high >= 0 and most <= above):
        return f"an interval to {high!r} with {most} differences at least zero"
    units = list(zip(request["treatment"], request["baseline"], strict=True))
    if len(units) == 1 and not low == high == difference:
        return "one unit, and more than one difference"
    if all(one == other for one, other in units) and (difference, low, high, p) != (0, 0, 0, 1):
        return "a difference between a treatment and itself"
    return None


CHECKS = {
    "pieces": _pieces,
    "segments": _segments,
    "chunk": _chunk,
    "rank": _rank,
    "evaluate": _evaluate,
    "terms": _terms,
    "quantize": _quantize,
    "numbers": _numbers,
    "fill": _fill,
    "cover": _cover,
    "bootstrap": _bootstrap,
}
