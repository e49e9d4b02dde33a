"""The engine: requests on standard input, replies on standard output, one JSON line each (spec 01).

`python -m chunkproof.engine`. Each operation is an entry of `OPERATIONS`: its fields, and the function that answers it.
"""

import json
import os
import platform
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from fractions import Fraction
from itertools import islice
from typing import Any, BinaryIO, NamedTuple

from chunkproof import (
    SPEC_VERSION,
    __version__,
    bm25,
    bootstrap,
    budget,
    fixed,
    fusion,
    metrics,
    numerics,
    pieces,
    records,
    recursive,
    resources,
    semantic,
    text,
    vectors,
)
from chunkproof.errors import Refused
from chunkproof.matrices import Matrix
from chunkproof.matrices import vectors as matrix
from chunkproof.schema import (
    Field,
    Fields,
    Late,
    array,
    choice,
    cutoffs,
    integer,
    integers,
    kind,
    kinds,
    members,
    number,
    obj,
    pair,
    refuse,
    string,
)

Request = dict[str, Any]
NAME = "chunkproof-py"
LONGEST_LINE = 64 * 1024 * 1024
_ROWS = 4096


class Json(NamedTuple):
    """A part of a reply that is written as it is made: a long list is never held as objects, nor as one string."""

    blocks: Iterable[str]


class Operation(NamedTuple):
    """The fields beside `id` and `op` (perhaps by what the request holds), the answer, and checks across fields."""

    fields: Fields | Callable[[Request], Fields]
    answer: Callable[[Request], Mapping[str, Any]]
    check: Callable[[Request, Late], None] | None = None


# --- fields
# ---------------------------------------------------------------------------------------------------------------


def _double(value: Any, where: str, late: Late) -> float:
    return numerics.from_hex(string(value, where, late))


TEXT = Field(string)
TEXTS = Field(array(string))
DOUBLES = Field(array(_double))
SIZE = Field(integer(1))
PERCENTILE = integer(0, 100)
POOL = Field(integer(1), 50)
SEED = Field(integer(0, 2**32 - 1))
RULE = Field(choice("newline", "blank_line"), "blank_line")

CHUNKERS: dict[str, Fields] = {
    "fixed": {"size": SIZE, "overlap": Field(integer(0), 0)},
    "recursive": {"size": SIZE, "paragraphs": RULE},
    "semantic": {"size": SIZE, "percentile": Field(PERCENTILE, 25), "paragraphs": RULE, "vectors": Field(matrix)},
}
METHODS: dict[str, Fields] = {
    "bm25": {"k1": Field(number(0), 1.2), "b": Field(number(0, 1), 0.75)},
    "dense": {"precision": Field(choice("int8", "int4", "binary"), "int8")},
    "rrf": {"k": Field(integer(0), 60), "pool": POOL},
    "weighted": {"alpha": Field(number(0, 1), 0.5), "pool": POOL},
}
NUMBERS: dict[str, Fields] = {
    "ln": {"fractions": Field(array(pair(integer(1))))},
    "ratio": {"fractions": Field(array(pair(integer(0))))},
    "sum": {"values": DOUBLES},
    "print": {"values": DOUBLES, "decimals": Field(integer(0, 100))},
    "percentile": {"values": DOUBLES, "percentile": Field(PERCENTILE)},
    "mean": {"fractions": Field(array(pair(integer(0))))},
    "random": {"seed": SEED, "count": Field(integer(0, 1_000_000))},
    "sample": {"seed": SEED, "population": Field(integer(0, 10_000_000)), "count": Field(integer(0))},
    "canonical": {"values": Field(array(number()))},
}
SPAN = obj({"document": Field(integer()), "start": Field(integer()), "end": Field(integer())})
RANGES = Field(array(obj({"start": Field(integer()), "end": Field(integer())})))
RUN = obj({"from": Field(integer()), "to": Field(integer()), "extra": Field(integer())})


def _rank_fields(request: Request) -> Fields:
    fields = {"passages": TEXTS, "queries": TEXTS, "method": Field(kinds(METHODS)), "depth": Field(integer(1), 50)}
    if kind(request.get("method"), METHODS, "method") != "bm25":
        fields |= {"passage_vectors": Field(matrix), "query_vectors": Field(matrix)}
    return fields


def _numbers_fields(request: Request) -> Fields:
    name = kind(request, NUMBERS, "the request")
    return {"kind": Field(string), **NUMBERS[name]}


def _vector(value: Any, where: str, late: Late) -> list[float]:
    found: list[float] = array(number())(value, where, late)
    if not found:
        raise refuse(where, "a list of lists that are not empty")
    return found


def _minimum(value: Any, where: str, late: Late) -> int | str:
    if isinstance(value, str):
        return str(choice("half", "all")(value, where, late))
    return int(integer(1)(value, where, late))


def _unit(value: Any, where: str, late: Late) -> bootstrap.Unit:
    c, q = pair(number())(value, where, late)
    return c, integer()(q, where, late)


def _check_chunk(request: Request, late: Late) -> None:
    chunker = request["chunker"]
    if chunker["kind"] == "fixed" and chunker["overlap"] >= chunker["size"] >= 1:
        late.append(f"overlap {chunker['overlap']} must be below size {chunker['size']}")


def _check_numbers(request: Request, late: Late) -> None:
    if request["kind"] in ("ratio", "mean") and any(d < 1 for _, d in request["fractions"]):
        late.append("a denominator must be at least 1")
    if request["kind"] == "sample" and request["count"] > request["population"]:
        late.append(f"count {request['count']} must be at most population {request['population']}")


def _check_evaluate(request: Request, late: Late) -> None:
    for name in ("passages", "answers"):
        for span in request[name]:
            if span["document"] < 0 or not 0 <= span["start"] < span["end"]:
                raise refuse(name, "spans with document and start at least 0 and start below end")
    if len(request["rankings"]) != len(request["answers"]):
        raise refuse("rankings", "one for each answer")
    passages = range(len(request["passages"]))
    for ranking in request["rankings"]:
        if len(set(ranking)) != len(ranking) or not all(passage in passages for passage in ranking):
            raise refuse("rankings", "of passages that are there, none twice")


def _check_fill(request: Request, _: Late) -> None:
    chunks, ranking = request["chunks"], request["ranking"]
    if min(request["tokens"], default=0) < 0:
        raise refuse("tokens", "at least 0")
    for chunk in chunks:
        if not 0 <= chunk["from"] < chunk["to"] <= len(request["tokens"]) or chunk["extra"] < 0:
            raise refuse("chunks", "runs of at least one piece that is there, with extra at least 0")
    if len(set(ranking)) != len(ranking) or not all(0 <= chunk < len(chunks) for chunk in ranking):
        raise refuse("ranking", "of chunks that are there, none twice")


def _check_cover(request: Request, _: Late) -> None:
    for name in ("context", "evidence"):
        if not all(0 <= span["start"] < span["end"] for span in request[name]):
            raise refuse(name, "ranges with start at least 0 and below end")


def _check_bootstrap(request: Request, _: Late) -> None:
    bootstrap.check_units(request["treatment"], request["baseline"])


# --- answers
# --------------------------------------------------------------------------------------------------------------


def _info(_: Request) -> Mapping[str, Any]:
    return {
        "engine": NAME,
        "version": __version__,
        "spec": SPEC_VERSION,
        "runtime": f"{platform.python_implementation()} {platform.python_version()}",
        "unicode": resources.UNICODE_VERSION,
        "tokenizer": f"sha256:{resources.TOKENIZER_SHA256}",
        "ops": list(OPERATIONS),
    }


def _pieces(request: Request) -> Mapping[str, Any]:
    return {"pieces": _chunks(pieces.pieces(request["text"]))}


def _segments(request: Request) -> Mapping[str, Any]:
    document, rule = request["text"], request["paragraphs"]
    cut = pieces.pieces(document)
    return {
        "paragraphs": _rows('{"start":%d,"end":%d}', text.paragraphs(document, cut, rule)),
        "sentences": _rows('{"start":%d,"end":%d}', text.sentences(document, cut, rule)),
    }


def _chunk(request: Request) -> Mapping[str, Any]:
    document, chunker = request["text"], request["chunker"]
    size = chunker["size"]
    cut = pieces.pieces(document)
    if chunker["kind"] == "fixed":
        # The steps of `fixed.chunk` and `recursive.chunk`, less the list at their end.
        return {"chunks": _chunks(fixed.chunks(cut, fixed.windows(cut, (0, len(cut)), size, chunker["overlap"])))}
    rule = chunker["paragraphs"]
    if chunker["kind"] == "recursive":
        runs = recursive.merge(cut, recursive.leaves(document, cut, size, rule), size)
        return {"chunks": _chunks(fixed.chunks(cut, runs))}
    found = semantic.chunk(document, cut, chunker["vectors"].load(), size, chunker["percentile"], rule)
    return {
        "chunks": _chunks(found.chunks),
        "similarities": list(map(numerics.to_hex, found.similarities)),
        "threshold": None if found.threshold is None else numerics.to_hex(found.threshold),
    }


def _rank(request: Request) -> Mapping[str, Any]:
    passages, queries, method = request["passages"], request["queries"], request["method"]
    if method["kind"] == "bm25":
        scores = bm25.scores(bm25.Index.of(passages), queries, method["k1"], method["b"])
    else:
        scores = _dense_scores(request, passages, queries, method)
    return {"rankings": Json(_rankings(scores, request["depth"]))}


def _dense_scores(request: Request, passages: list[str], queries: list[str], method: Request) -> list[list[float]]:
    of_passages: Matrix = request["passage_vectors"].load()
    of_queries: Matrix = request["query_vectors"].load()
    for name, rows, texts in (("passages", of_passages, passages), ("queries", of_queries, queries)):
        if len(rows) != len(texts):
            raise Refused("bad_vectors", f"{len(rows)} vectors for {len(texts)} {name}")
    dense: list[list[float]] = vectors.dense(of_passages, of_queries, method.get("precision", "int8")).tolist()
    if method["kind"] == "dense":
        return dense
    lexical = bm25.scores(bm25.Index.of(passages), queries)
    pool = method["pool"]
    if method["kind"] == "weighted":
        return [fusion.weighted(b, d, method["alpha"], pool) for b, d in zip(lexical, dense, strict=True)]
    return [
        fusion.rrf(fusion.order(b), fusion.order(d), len(passages), method["k"], pool)
        for b, d in zip(lexical, dense, strict=True)
    ]


def _evaluate(request: Request) -> Mapping[str, Any]:
    passages, answers = (
        [metrics.Span(span["document"], span["start"], span["end"]) for span in request[name]]
        for name in ("passages", "answers")
    )
    found = metrics.evaluate(passages, answers, request["rankings"], request["cutoffs"])
    return {
        "lost": found.lost,
        "questions": [
            {
                "relevant": question.relevant,
                "recall": {str(k): _fraction(value) for k, value in question.recall.items()},
                "mrr@10": _fraction(question.mrr),
                "ndcg@10": numerics.to_hex(question.ndcg),
            }
            for question in found.questions
        ],
        "mean": {name: numerics.to_hex(value) for name, value in found.mean.items()},
    }


def _terms(request: Request) -> Mapping[str, Any]:
    return {"terms": bm25.terms(request["text"])}


def _quantize(request: Request) -> Mapping[str, Any]:
    rows = request["vectors"]
    if len(set(map(len, rows))) > 1:
        raise Refused("bad_vectors", "the rows are of unequal length")
    quantized = [vectors.int8(row) for row in rows]
    if request["to"] != "int8":
        quantized = list(map(vectors.int4 if request["to"] == "int4" else vectors.binary, quantized))
    return {"vectors": quantized}


def _fill(request: Request) -> Mapping[str, Any]:
    chunks = [(chunk["from"], chunk["to"], chunk["extra"]) for chunk in request["chunks"]]
    found = budget.fill(request["tokens"], chunks, request["ranking"], request["budget"])
    return {
        "context": _rows('{"from":%d,"to":%d}', found.context),
        "tokens": found.tokens,
        "extra": found.extra,
        "chunks": found.chunks,
        "full": found.full,
    }


def _cover(request: Request) -> Mapping[str, Any]:
    context, evidence = ([(span["start"], span["end"]) for span in request[name]] for name in ("context", "evidence"))
    found = budget.cover(context, evidence, request["minimum"])
    return {"overlaps": found.overlaps, "hits": found.hits}


def _bootstrap(request: Request) -> Mapping[str, Any]:
    found = bootstrap.bootstrap(request["treatment"], request["baseline"], request["resamples"], request["seed"])
    return {
        "difference": numerics.to_hex(found.difference),
        "interval": list(map(numerics.to_hex, found.interval)),
        "p": numerics.to_hex(found.p),
        "at_most_zero": found.at_most_zero,
        "at_least_zero": found.at_least_zero,
    }


def _numbers(request: Request) -> Mapping[str, Any]:
    match request["kind"]:
        case "ln":
            return {"values": [numerics.to_hex(numerics.ln(n, d)) for n, d in request["fractions"]]}
        case "ratio":
            return {"values": [numerics.to_hex(numerics.ratio(n, d)) for n, d in request["fractions"]]}
        case "sum":
            return {"value": numerics.to_hex(_finite(numerics.add(request["values"])))}
        case "print":
            return {"texts": [numerics.printed(value, request["decimals"]) for value in request["values"]]}
        case "percentile":
            value = numerics.percentile(request["values"], request["percentile"])
            return {"value": None if value is None else numerics.to_hex(value)}
        case "mean":
            return {"value": numerics.to_hex(numerics.mean(Fraction(n, d) for n, d in request["fractions"]))}
        case "random":
            return {"values": [numerics.to_hex(u) for u in islice(numerics.random(request["seed"]), request["count"])]}
        case "sample":
            return {"indices": numerics.sample(request["seed"], request["population"], request["count"])}
        case _:
            return {"texts": [records.canonical(value).decode("ascii") for value in request["values"]]}


def _finite(value: float) -> float:
    if value - value != 0:
        raise Refused("bad_setting", "the sum is not finite")
    return value


def _fraction(value: Fraction) -> str:
    return f"{value.numerator}/{value.denominator}"


def _chunks(found: Iterable[tuple[int, int, int]]) -> Json:
    return _rows('{"start":%d,"end":%d,"tokens":%d}', found)


def _rows(template: str, rows: Iterable[tuple[int, ...]]) -> Json:
    """A list of objects of integers, some thousand at a time."""

    def blocks() -> Iterator[str]:
        source = iter(rows)
        opening = "["
        while block := list(islice(source, _ROWS)):
            yield opening + ",".join([template % row for row in block])
            opening = ","
        yield "]" if opening == "," else "[]"

    return Json(blocks())


def _rankings(scores: list[list[float]], depth: int) -> Iterator[str]:
    opening = "["
    for row in scores:
        entries = [
            f'{{"passage":{passage},"score":"{numerics.to_hex(row[passage])}"}}'
            for passage in fusion.order(row)[:depth]
        ]  # fmt: skip
        yield f"{opening}[{','.join(entries)}]"
        opening = ","
    yield "]" if opening == "," else "[]"


OPERATIONS: dict[str, Operation] = {
    "info": Operation({}, _info),
    "pieces": Operation({"text": TEXT}, _pieces),
    "segments": Operation({"text": TEXT, "paragraphs": RULE}, _segments),
    "chunk": Operation({"text": TEXT, "chunker": Field(kinds(CHUNKERS))}, _chunk, _check_chunk),
    "rank": Operation(_rank_fields, _rank),
    "evaluate": Operation(
        {
            "passages": Field(array(SPAN)),
            "answers": Field(array(SPAN)),
            "rankings": Field(array(array(integer()))),
            "cutoffs": Field(cutoffs, list(metrics.CUTOFFS)),
        },
        _evaluate,
        _check_evaluate,
    ),
    "terms": Operation({"text": TEXT}, _terms),
    "quantize": Operation(
        {"vectors": Field(array(_vector)), "to": Field(choice("int8", "int4", "binary"))},
        _quantize,
    ),
    "fill": Operation(
        {
            "tokens": Field(integers),
            "chunks": Field(array(RUN)),
            "ranking": Field(integers),
            "budget": Field(integer(1)),
        },
        _fill,
        _check_fill,
    ),
    "cover": Operation({"context": RANGES, "evidence": RANGES, "minimum": Field(_minimum)}, _cover, _check_cover),
    "bootstrap": Operation(
        {
            "treatment": Field(array(_unit)),
            "baseline": Field(array(_unit)),
            "resamples": Field(integer(1, bootstrap.MOST), bootstrap.RESAMPLES),
            "seed": Field(SEED.type, bootstrap.SEED),
        },
        _bootstrap,
        _check_bootstrap,
    ),
    "numbers": Operation(_numbers_fields, _numbers, _check_numbers),
}


# --- the protocol
# ---------------------------------------------------------------------------------------------------------


def answer(value: Any) -> Iterator[str]:
    """The reply to a request that is JSON, in blocks. Checks come in the spec's order; the first to fail decides."""
    name: str | None = None
    try:
        if not isinstance(value, dict):
            raise refuse("a request", "an object")
        name = _id(value)
        operation = value.get("op")
        if not isinstance(value.get("id"), str):
            raise refuse("id", "a string")
        if not isinstance(operation, str) or operation not in OPERATIONS:
            raise refuse("op", f"one of {', '.join(OPERATIONS)}")
        fields, handle, check = OPERATIONS[operation]
        late: Late = []
        envelope = {"id": Field(string), "op": Field(string)}
        own = fields(value) if callable(fields) else fields
        request = members(value, {**envelope, **own}, "the request", late)
        if check:
            check(request, late)
        _check_texts(value)
        if late:
            raise Refused("bad_setting", "; ".join(late[:3]))
        ok = handle(request)
    except Refused as refused:
        return iter((_error(name, refused),))
    except Exception as fault:
        traceback.print_exc()
        return iter((_error(name, Refused("internal", f"{type(fault).__name__}: {fault}")),))
    return _reply(name, ok)


def _id(value: Mapping[str, Any]) -> str | None:
    """The id, where it can be repeated: a string without a lone surrogate."""
    found = value.get("id")
    try:
        if isinstance(found, str):
            text.check(found)
            return found
    except Refused:
        pass
    return None


def _check_texts(value: Any) -> None:
    if isinstance(value, str):
        text.check(value)
    elif isinstance(value, list):
        for item in value:
            if type(item) is not float:
                _check_texts(item)
    elif isinstance(value, dict):
        for item in value.values():
            _check_texts(item)


def _error(name: str | None, refused: Refused) -> str:
    return json.dumps({"id": name, "error": {"code": refused.code, "message": refused.message}})


def _reply(name: str | None, ok: Mapping[str, Any]) -> Iterator[str]:
    yield f'{{"id":{json.dumps(name)},"ok":'
    opening = "{"
    for key, value in ok.items():
        yield f"{opening}{json.dumps(key)}:"
        opening = ","
        if isinstance(value, Json):
            yield from value.blocks
        else:
            yield json.dumps(value, separators=(",", ":"))
    yield "}}"


def read_line(source: BinaryIO) -> bytes:
    """The next line, without its U+000A. EOFError at the end; Refused, and the line skipped, where it is too long."""
    line = source.readline(LONGEST_LINE + 1)
    if not line:
        raise EOFError
    if line.endswith(b"\n"):
        return line[:-1]
    if len(line) <= LONGEST_LINE:
        return line  # the last line may lack its U+000A
    del line
    while (rest := source.readline(1 << 16)) and not rest.endswith(b"\n"):
        pass
    raise Refused("bad_request", f"a line is longer than {LONGEST_LINE} bytes")


def _next_reply(source: BinaryIO) -> Iterator[str]:
    try:
        # Nested, so that nobody keeps the line while the request is answered.
        value = records.read(read_line(source))
    except records.Unacceptable as refused:
        return iter((_error(_id(refused.head), refused),))
    except Refused as refused:
        return iter((_error(None, refused),))
    return answer(value)


def serve(source: BinaryIO, sink: BinaryIO) -> None:
    """Answers each line of `source` on `sink`, in order, until it ends; flushes once a reply."""
    while True:
        try:
            reply = _next_reply(source)
        except EOFError:
            return
        for block in reply:
            sink.write(block.encode("ascii"))
        sink.write(b"\n")
        sink.flush()


def main() -> int:
    """Serves standard input and output. Refuses to start without the files that the spec pins (05 rule 1)."""
    try:
        resources.unicode_tables()
        resources.tokenizer_path()
    except resources.MissingResource as missing:
        print(f"{NAME}: {missing}", file=sys.stderr)
        return 1
    try:
        serve(sys.stdin.buffer, sys.stdout.buffer)
    except BrokenPipeError:
        # Whoever read the replies is gone. Keep the interpreter from flushing into the closed pipe when it ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
