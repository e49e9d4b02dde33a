"""Requests of every operation, made at random for `chunkproof fuzz` (spec 01 lists the fields and their ranges).

Settings are drawn where they bite: a size near a sum of token counts, a vector for each sentence. For that the
strategies ask an engine for pieces and segments first, through the `Look` they are given; what they return is still only
a request.
"""

from __future__ import annotations

import base64
import copy
import json
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from chunkproof import fuzz_texts

Request = dict[str, Any]
Look = Callable[[Request], Any]
"""Asks a request of an engine and returns the `ok` value, or None where it has none."""

WORDS = [
    "owl", "Owls", "fox", "the", "of", "Σ", "ΑΣ", "İs", "½", "x1", "naïve", "nai\u0308ve", "hen", "hens.", "(bread)",
    "漢字", "not", "\U00010400",
]  # fmt: skip
RULES = ["newline", "blank_line"]
HUGE = 2**53 - 1


def double(value: float) -> str:
    """A double as it travels: sixteen hexadecimal digits, the most significant byte first."""
    return struct.pack(">d", value).hex()


def whole(least: int, most: int) -> st.SearchStrategy[int | float]:
    """An integer setting, now and then written as 5.0, which is the same number."""
    number = st.integers(least, most)
    return st.one_of(number, number, number, number.filter(lambda n: abs(n) < 2**53).map(float))


def fields(draw: st.DrawFn, **optional: st.SearchStrategy[Any]) -> Request:
    """Some of the optional fields, each present or left to its default."""
    return {name: draw(value) for name, value in optional.items() if draw(st.booleans())}


def matrix(draw: st.DrawFn, rows: int, dim: int) -> Request:
    """Inline vectors; many rows are zero, equal to an earlier row, its opposite, or at the ends of the range."""
    component = st.one_of(st.integers(-2, 2), st.sampled_from([0, 127, -127, -128]), st.integers(-128, 127))
    made: list[list[int]] = []
    for _ in range(rows):
        how = draw(st.sampled_from(["new", "new", "zero", "again", "opposite"]))
        if how == "zero":
            made.append([0] * dim)
        elif how != "new" and made:
            sign = 1 if how == "again" else -1
            made.append([max(-128, min(127, sign * v)) for v in draw(st.sampled_from(made))])
        else:
            made.append(draw(st.lists(component, min_size=dim, max_size=dim)))
    data = bytes(v & 255 for row in made for v in row)
    return {"dim": dim, "int8": base64.b64encode(data).decode("ascii")}


def size_for(draw: st.DrawFn, look: Look, text: str) -> int:
    """A size at, just below or just above a sum of neighbouring pieces of the text; or small, or far beyond it."""
    ok = look({"op": "pieces", "text": text})
    counts = [piece["tokens"] for piece in ok["pieces"]] if ok else []
    if not counts or draw(st.integers(0, 3)) == 0:
        return draw(st.one_of(st.integers(1, 12), st.sampled_from([1, 256, 10**9, HUGE])))
    first = draw(st.integers(0, len(counts) - 1))
    last = draw(st.integers(first, min(len(counts) - 1, first + 60)))
    near: int = sum(counts[first : last + 1]) + draw(st.integers(-1, 1))
    return max(1, near)


def piece_requests(texts: st.SearchStrategy[str]) -> st.SearchStrategy[Request]:
    """`pieces`."""
    return st.builds(lambda text: {"op": "pieces", "text": text}, texts)


@st.composite
def segment_requests(draw: st.DrawFn, texts: st.SearchStrategy[str]) -> Request:
    """`segments` under either rule."""
    return {"op": "segments", "text": draw(texts), **fields(draw, paragraphs=st.sampled_from(RULES))}


@st.composite
def fixed_requests(draw: st.DrawFn, texts: st.SearchStrategy[str], look: Look) -> Request:
    """`chunk` fixed, the overlap often near the size, where the next start is hardest to find."""
    text = draw(texts)
    size = size_for(draw, look, text)
    near = st.integers(max(0, size - 3), size - 1)
    more = fields(draw, overlap=st.one_of(st.integers(0, min(size - 1, 8)), near))
    return {"op": "chunk", "text": text, "chunker": {"kind": "fixed", "size": size, **more}}


@st.composite
def recursive_requests(draw: st.DrawFn, texts: st.SearchStrategy[str], look: Look) -> Request:
    """`chunk` recursive."""
    text = draw(texts)
    more = fields(draw, paragraphs=st.sampled_from(RULES))
    return {"op": "chunk", "text": text, "chunker": {"kind": "recursive", "size": size_for(draw, look, text), **more}}


@st.composite
def semantic_requests(draw: st.DrawFn, texts: st.SearchStrategy[str], look: Look) -> Request:
    """`chunk` semantic with one vector for each sentence."""
    joints = st.sampled_from([". A", "? B", '." (C', "\n", "\n\n", ".\r\n 1"])
    text = draw(st.one_of(texts, st.lists(st.one_of(texts, joints), max_size=8).map("".join)))
    more = fields(draw, paragraphs=st.sampled_from(RULES), percentile=whole(0, 100))
    rule = more.get("paragraphs", "blank_line")
    ok = look({"op": "segments", "text": text, "paragraphs": rule})
    vectors = matrix(draw, len(ok["sentences"]) if ok else 0, draw(st.integers(1, 4)))
    chunker = {"kind": "semantic", "size": size_for(draw, look, text), "vectors": vectors, **more}
    return {"op": "chunk", "text": text, "chunker": chunker}


def collection(draw: st.DrawFn, texts: st.SearchStrategy[str]) -> tuple[list[str], list[str]]:
    """Passages and queries that share words, some of them twice, so that scores tie."""
    phrase = st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join)
    passages = draw(st.lists(st.one_of(phrase, phrase, texts), max_size=7))
    if draw(st.booleans()) and passages:
        passages.append(draw(st.sampled_from(passages)))
    return passages, draw(st.lists(st.one_of(phrase, texts), max_size=3))


@st.composite
def rank_requests(draw: st.DrawFn, texts: st.SearchStrategy[str], kind: str) -> Request:
    """`rank` by one method."""
    passages, queries = collection(draw, texts)
    pool = st.one_of(whole(1, 4), st.sampled_from([50, HUGE]))
    share = st.one_of(st.sampled_from([0, 1, 0.5, 0.1]), st.floats(0, 1))
    options: dict[str, dict[str, st.SearchStrategy[Any]]] = {
        "bm25": {"k1": st.one_of(st.sampled_from([0, 1.2, 0.5, 2]), st.floats(0, 1e308)), "b": share},
        "dense": {"precision": st.sampled_from(["int8", "int4", "binary"])},
        "rrf": {"k": st.one_of(whole(0, 60), st.just(HUGE)), "pool": pool},
        "weighted": {"alpha": share, "pool": pool},
    }
    request: Request = {"op": "rank", "passages": passages, "queries": queries}
    request["method"] = {"kind": kind, **fields(draw, **options[kind])}
    request.update(fields(draw, depth=st.one_of(whole(1, 4), st.just(HUGE))))
    if kind != "bm25":
        dim = draw(st.integers(1, 6))
        request["passage_vectors"] = matrix(draw, len(passages), dim)
        request["query_vectors"] = matrix(draw, len(queries), dim)
    return request


@st.composite
def evaluate_requests(draw: st.DrawFn) -> Request:
    """`evaluate` with passages that overlap, answers at their borders and rankings of any length."""

    def span(least: int, most: int) -> Request:
        start = draw(st.integers(0, 12))
        return {"document": draw(st.integers(0, 2)), "start": start, "end": start + draw(st.integers(least, most))}

    passages = [span(1, 12) for _ in range(draw(st.integers(0, 24)))]
    answers, rankings = [], []
    for _ in range(draw(st.integers(0, 5))):
        answer = dict(draw(st.sampled_from(passages))) if draw(st.booleans()) and passages else span(1, 3)
        if answer["end"] - answer["start"] > 1 and draw(st.booleans()):
            answer["end"] -= 1
        answers.append(answer)
        order = draw(st.permutations(range(len(passages))))
        rankings.append(order[: draw(st.integers(0, len(passages)))])
    cutoffs = st.lists(st.one_of(st.integers(1, 25), st.just(HUGE)), min_size=1, max_size=4, unique=True)
    request: Request = {"op": "evaluate", "passages": passages, "answers": answers, "rankings": rankings}
    return {**request, **fields(draw, cutoffs=cutoffs)}


def term_requests(texts: st.SearchStrategy[str]) -> st.SearchStrategy[Request]:
    """`terms`."""
    sigmas = st.sampled_from(["Σ", "\u0345", "\xad", "'"])
    words = st.lists(st.one_of(st.sampled_from(WORDS), st.sampled_from(fuzz_texts.SCRIPTS), sigmas)).map("".join)
    return st.builds(lambda text: {"op": "terms", "text": text}, st.one_of(texts, words))


@st.composite
def quantize_requests(draw: st.DrawFn) -> Request:
    """`quantize`: halves, zeros of either sign, subnormals and magnitudes near the end of binary64."""
    half = st.integers(-254, 254).map(lambda n: n / 2)
    special = st.sampled_from([0, -0.0, 127, 46, 23, 5e-324, 1e306])
    number = st.one_of(half, st.floats(-1, 1), special, st.floats(-1e306, 1e306))
    dim = draw(st.integers(1, 6))
    rows = draw(st.lists(st.lists(number, min_size=dim, max_size=dim), max_size=4))
    return {"op": "quantize", "vectors": rows, "to": draw(st.sampled_from(["int8", "int4", "binary"]))}


@st.composite
def number_requests(draw: st.DrawFn, kind: str) -> Request:
    """`numbers` of one kind."""
    finite = st.floats(allow_nan=False, allow_infinity=False)
    tie = st.builds(lambda n, d: n / 2**d, st.integers(-5000, 5000), st.integers(0, 12))
    doubles = st.lists(st.one_of(tie, finite, st.floats(0, 1)).map(double), max_size=8)
    big = st.one_of(st.integers(1, 1000), st.integers(1, HUGE))
    seed = st.one_of(st.integers(0, 30), st.integers(0, 2**32 - 1))
    request: Request = {"op": "numbers", "kind": kind}
    if kind in ("ln", "ratio", "mean"):
        top = big if kind == "ln" else st.one_of(st.just(0), big)
        near = st.integers(2, HUGE).map(lambda n: [n, n - 1])
        request["fractions"] = draw(st.lists(st.one_of(st.tuples(top, big).map(list), near), max_size=5))
    elif kind in ("sum", "print", "percentile"):
        request["values"] = draw(doubles)
        if kind == "print":
            request["decimals"] = draw(st.one_of(st.integers(0, 6), st.integers(0, 100)))
        if kind == "percentile":
            request["percentile"] = draw(whole(0, 100))
    elif kind == "random":
        request.update(seed=draw(seed), count=draw(st.integers(0, 20)))
    elif kind == "sample":
        population = draw(st.integers(0, 300))
        request.update(seed=draw(seed), population=population, count=draw(st.integers(0, population)))
    else:
        borders = st.sampled_from([1e21, 1e-7, 1e-6, -0.0, 123456789012345680000.0])
        integers = st.integers(-(10**22), 10**22)
        request["values"] = draw(st.lists(st.one_of(finite, tie, integers, borders), max_size=8))
    return request


@st.composite
def fill_requests(draw: st.DrawFn) -> Request:
    """`fill`: chunks that overlap, contain or repeat each other, and a budget near what some of them cost."""
    count = st.one_of(st.integers(0, 6), st.integers(0, 6), st.sampled_from([0, HUGE, HUGE // 2]))
    tokens = draw(st.lists(count, max_size=12))
    extra = st.one_of(st.just(0), st.integers(0, 5), st.just(HUGE))
    chunks: list[Request] = []
    for _ in range(draw(st.integers(0, 8)) if tokens else 0):
        start = draw(st.integers(0, len(tokens) - 1))
        chunks.append({"from": start, "to": draw(st.integers(start + 1, len(tokens))), "extra": draw(extra)})
    if draw(st.booleans()) and chunks:
        chunks.append(dict(draw(st.sampled_from(chunks))))
    ranking = draw(st.permutations(range(len(chunks))))[: draw(st.integers(0, len(chunks)))]
    pieces = {piece for chunk in ranking for piece in range(chunks[chunk]["from"], chunks[chunk]["to"])}
    least = sum(tokens[piece] for piece in pieces)
    near = max(1, min(HUGE, least + draw(st.integers(-4, 8))))
    budget = draw(st.one_of(st.just(near), st.just(near), whole(1, 20), st.just(HUGE)))
    return {"op": "fill", "tokens": tokens, "chunks": chunks, "ranking": ranking, "budget": budget}


@st.composite
def cover_requests(draw: st.DrawFn) -> Request:
    """`cover`: ranges that touch, overlap and lie within each other, in any order; some as long as an integer may be."""

    def spans() -> list[Request]:
        found = []
        for _ in range(draw(st.integers(0, 7))):
            start = draw(st.one_of(st.integers(0, 20), st.integers(0, 20), st.integers(0, HUGE - 1)))
            length = draw(st.one_of(st.integers(1, 10), st.integers(1, HUGE)))
            found.append({"start": start, "end": min(HUGE, start + length)})
        return found

    minimum = st.one_of(whole(1, 12), st.sampled_from(["half", "all"]), st.integers(1, HUGE))
    return {"op": "cover", "context": spans(), "evidence": spans(), "minimum": draw(minimum)}


@st.composite
def bootstrap_requests(draw: st.DrawFn) -> Request:
    """`bootstrap`: few units, some of them without a count, now and then the same on both sides or near the end of binary64."""
    total = st.one_of(st.integers(0, 6), st.integers(0, 6), st.floats(0, 9), st.floats(0, 1e308), st.just(HUGE))
    count = st.one_of(st.integers(0, 6), st.integers(0, 6), st.integers(0, HUGE))
    units = st.lists(st.tuples(total, count).map(list), min_size=1, max_size=6)
    treatment = draw(units)
    baseline = [list(unit) if draw(st.booleans()) else [draw(total), draw(count)] for unit in treatment]
    resamples = st.one_of(whole(1, 60), st.integers(1, 300))
    seed = st.one_of(whole(0, 30), st.integers(0, 2**32 - 1))
    more = fields(draw, seed=seed)
    if draw(st.integers(0, 9)):
        more["resamples"] = draw(resamples)
    return {"op": "bootstrap", "treatment": treatment, "baseline": baseline, **more}


JUNK: list[Any] = [
    None, True, 1.5, -1, 0, 101, HUGE + 1, 1e300, -0.0, 3, "", "x", "a\ud800", "AAA=", "newline", "half", [], [[]], ["x"], [0], {},
    {"kind": "fixed"},
]  # fmt: skip
KEYS = [
    "extra", "id", "op", "text", "size", "overlap", "kind", "k1", "b", "depth", "precision", "paragraphs",
    "passage_vectors", "percentile", "rows", "arrow", "budget", "minimum", "seed",
]  # fmt: skip


def places(value: Any, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    """The path of every value inside a request, the request itself first."""
    inner: list[tuple[str | int, ...]] = [path]
    if isinstance(value, dict):
        for key in value:
            inner += places(value[key], (*path, key))
    elif isinstance(value, list):
        for index in range(min(len(value), 3)):
            inner += places(value[index], (*path, index))
    return inner


@st.composite
def broken_requests(draw: st.DrawFn, sound: st.SearchStrategy[Request]) -> Request:
    """A sound request with one or two values replaced, left out or added."""
    request: Request = json.loads(json.dumps(draw(sound)))
    for _ in range(draw(st.integers(1, 2))):
        *way, last = draw(st.sampled_from(places(request)[1:]))
        holder: Any = request
        for step in way:
            holder = holder[step]
        how = draw(st.sampled_from(["replace", "leave out", "add", "again"]))
        if how == "leave out":
            del holder[last]
        elif how == "add" and isinstance(holder, dict):
            holder[draw(st.sampled_from(KEYS))] = copy.deepcopy(draw(st.sampled_from(JUNK)))
        elif how == "again" and isinstance(holder, list):
            holder.append(copy.deepcopy(holder[int(last)]))
        else:
            holder[last] = copy.deepcopy(draw(st.sampled_from(JUNK)))
        if len(places(request)) < 2:
            break
    request.pop("id", None)  # the transport gives each request its own
    return request


PATCHES: list[tuple[bytes, bytes]] = [
    (b"{", b"{,"), (b":", b" : "), (b"}", b",}"), (b"{", b"\xef\xbb\xbf{"), (b'"', b"'"), (b"a", b"\xff"),
    (b"a", b"\xed\xa0\x80"), (b"a", b"\xc0\xaf"), (b"1", b"01"), (b"1", b"1."), (b"1", b"+1"), (b"1", b"1e400"),
    (b"1", b"1e-400"), (b"1", b"NaN"), (b"1", b"-Infinity"), (b"1", b"0x1"), (b"1", b"1.0"), (b"1", b"10e-1"),
    (b"a", b"\t"), (b"a", b"\\u0061"), (b"a", b"\\x61"), (b"a", b"\\ud83d"), (b"a", b"\\ude00"),
    (b"a", b"\\ud83d\\ude00"), (b"a", b"\x00"), (b"a", b"\\/"), (b"a", b"\x7f"), (b"a", b"\xe2\x80\xa8"),
    (b"}", b"} "), (b"}", b"}\r"), (b"}", b"}\xc2\xa0"), (b"}", b"}}"), (b"{", b"[{"), (b"{", b"//\n{"),
    (b"{", b'{"op":"info",'), (b"{", b'{"id":"y",'), (b"{", b'{"\\u0069d":"z",'), (b"1", b"-0"), (b"1", b"-"),
    (b"1", b"1e5"), (b"true", b"True"), (b"a", b"\\u00"), (b"a", b"\xf4\x90\x80\x80"), (b"1", b"9007199254740993"),
    (b"1", b"0.99999999999999999999"), (b"{", b'{"\\ud800":1,'), (b"1", b"1" * 400), (b"1", b"1.5"),
]  # fmt: skip


LINES = [
    b"", b" ", b"null", b"[]", b"1", b'"x"', b"{}", b'{"id":"x"}', b'{"id":1,"op":"info"}', b'{"id":"","op":"info"}',
    b"\r",
]  # fmt: skip


@st.composite
def raw_requests(draw: st.DrawFn, sound: st.SearchStrategy[Request]) -> Request:
    """A line that may not be JSON, or not the JSON it seems: `{"raw_base64": …}`, as in a fixture of cases."""
    request = {"id": "x", **draw(sound)}
    line = json.dumps(request, ensure_ascii=draw(st.booleans())).encode("utf-8")
    how = draw(st.sampled_from(["patch", "patch", "cut", "deep", "flip", "other"]))
    if how == "patch":
        old, new = draw(st.sampled_from(PATCHES))
        parts = line.split(old)
        at = draw(st.integers(1, max(1, min(len(parts) - 1, 12))))
        line = old.join(parts[:at]) + new + old.join(parts[at:])
    elif how == "cut":
        line = line[: draw(st.integers(0, len(line)))]
    elif how == "deep":
        depth = draw(st.integers(60, 68))
        opening, closing = draw(st.sampled_from([(b"[", b"]"), (b'{"a":', b"}")]))
        line = line[:-1] + b',"extra":' + opening * depth + b"1" + closing * depth + b"}"
    elif how == "flip":
        at = draw(st.integers(0, len(line) - 1))
        line = line[:at] + bytes([draw(st.integers(0, 255))]) + line[at + 1 :]
    else:
        line = draw(st.sampled_from(LINES))
    return {"raw_base64": base64.b64encode(line.replace(b"\n", b" ")).decode("ascii")}


@st.composite
def long_requests(draw: st.DrawFn, tables: Path | None) -> Request:
    """`pieces` or `segments` of a text that is longer than an engine may want to read at once, the trouble near such a border.

    The text is a recipe, so that the request stays short.
    """
    plain = st.sampled_from(["a", " ", "1", ".", "\n", "a ", "ab. ", "é", "e\u0301", "😀"])
    unit = draw(st.one_of(plain, fuzz_texts.fragments(tables)))
    border = draw(st.sampled_from([1 << 12, 1 << 16, 1 << 16, 1 << 17])) + draw(st.integers(-3, 3))
    head = draw(fuzz_texts.texts(tables, 2))
    middle = {"repeat": unit, "times": max(1, border // max(1, len(unit)))}
    text = {"join": [head, middle, draw(fuzz_texts.texts(tables, 4))]}
    return {"op": draw(st.sampled_from(["pieces", "segments"])), "text": text}


NUMBER_KINDS = ["ln", "ratio", "sum", "print", "percentile", "mean", "random", "sample", "canonical"]


def groups(look: Look, tables: Path | None = None) -> dict[str, st.SearchStrategy[Request]]:
    """Every group of requests by name, in the order in which rounds take them."""
    texts = fuzz_texts.texts(tables)
    short = fuzz_texts.texts(tables, longest=4)
    sound: dict[str, st.SearchStrategy[Request]] = {
        "pieces": piece_requests(texts),
        "segments": segment_requests(texts),
        "chunk/fixed": fixed_requests(texts, look),
        "chunk/recursive": recursive_requests(texts, look),
        "chunk/semantic": semantic_requests(short, look),
        "rank/bm25": rank_requests(short, "bm25"),
        "rank/dense": rank_requests(short, "dense"),
        "rank/rrf": rank_requests(short, "rrf"),
        "rank/weighted": rank_requests(short, "weighted"),
        "evaluate": evaluate_requests(),
        "fill": fill_requests(),
        "cover": cover_requests(),
        "bootstrap": bootstrap_requests(),
        "terms": term_requests(texts),
        "quantize": quantize_requests(),
        **{f"numbers/{kind}": number_requests(kind) for kind in NUMBER_KINDS},
    }
    some = st.one_of(list(sound.values()))
    sound["long"] = long_requests(tables)
    return {**sound, "bad/fields": broken_requests(some), "bad/line": raw_requests(some)}
