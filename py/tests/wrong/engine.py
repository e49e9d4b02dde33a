"""The real Python engine with one fault, to test the harness: `python engine.py FAULT`.

A fault changes one thing that people do get wrong, by replacing a function of a room or by changing what an operation answers;
faults of the protocol change how replies are written. A fault that finds nothing to replace fails at once.
"""

from __future__ import annotations

import json
import math
import os
import sys
import time
import unicodedata
from collections.abc import Callable, Mapping
from typing import Any

from chunkproof import bm25, engine, fixed, fusion, metrics, numerics, semantic, vectors

Reply = dict[str, Any]
FAULTS: dict[str, Callable[[], None]] = {}


def fault(install: Callable[[], None]) -> Callable[[], None]:
    """Note a fault under its name."""
    FAULTS[install.__name__.replace("_", "-")] = install
    return install


def change(op: str, alter: Callable[[dict[str, Any], Reply], Reply]) -> None:
    """Let an operation answer `alter(request, ok)`."""
    real = engine.OPERATIONS[op]

    def answer(request: dict[str, Any]) -> Mapping[str, Any]:
        ok = {
            key: json.loads("".join(value.blocks)) if isinstance(value, engine.Json) else value
            for key, value in real.answer(request).items()
        }
        return alter(request, ok)

    engine.OPERATIONS[op] = real._replace(answer=answer)


def ask_with(op: str, alter: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    """Let an operation answer another request."""
    real = engine.OPERATIONS[op]
    engine.OPERATIONS[op] = real._replace(answer=lambda request: real.answer(alter(request)))


# --- text and chunks


@fault
def utf16_offsets() -> None:
    """Offsets count UTF-16 units, as a string of JavaScript does."""

    def alter(request: dict[str, Any], ok: Reply) -> Reply:
        for name in ("pieces", "paragraphs", "sentences", "chunks"):
            for extent in ok.get(name, []):
                for edge in ("start", "end"):
                    extent[edge] = len(request["text"][: extent[edge]].encode("utf-16-le")) // 2
        return ok

    for op in ("pieces", "segments", "chunk"):
        change(op, alter)


@fault
def nfc_text() -> None:
    """The text is normalised first, and offsets are those of the normal form."""
    for op in ("pieces", "segments", "chunk"):
        ask_with(op, lambda request: {**request, "text": unicodedata.normalize("NFC", request["text"])})


@fault
def stripped_text() -> None:
    """White space at both ends of the document is taken away before it is cut."""
    for op in ("pieces", "segments", "chunk"):
        ask_with(op, lambda request: {**request, "text": request["text"].strip()})


@fault
def last_sentence_lost() -> None:
    """The last sentence is left out."""
    change("segments", lambda request, ok: {**ok, "sentences": ok["sentences"][:-1] or ok["sentences"]})


@fault
def end_off_by_one() -> None:
    """The end of every chunk is its last code point, not the one after."""

    def alter(request: dict[str, Any], ok: Reply) -> Reply:
        for chunk in ok["chunks"]:
            chunk["end"] -= 1
        return ok

    change("chunk", alter)


@fault
def chunk_dropped() -> None:
    """The last of several chunks is not flushed."""
    change("chunk", lambda request, ok: {**ok, "chunks": ok["chunks"][:-1] if len(ok["chunks"]) > 1 else ok["chunks"]})


@fault
def overlap_one_piece_too_long() -> None:
    """The next window begins a piece too early."""
    real = fixed.windows

    def windows(pieces: Any, run: tuple[int, int], size: int, overlap: int = 0) -> Any:
        if not overlap:
            yield from real(pieces, run, size, overlap)
            return
        first, last = run
        while first < last:
            (_, end) = next(iter(real(pieces, (first, last), size, 0)))
            yield first, end
            if end == last:
                return
            after = next(begin for begin in range(first + 1, end + 1) if pieces.cost(begin, end) <= overlap)
            first = max(first + 1, after - 1)

    fixed.windows = windows


@fault
def less_than_threshold() -> None:
    """A break where a similarity is below the threshold, not where it equals it."""

    class Below(float):
        def __ge__(self, other: Any) -> bool:
            return float(self) > other

    real = semantic.threshold

    def threshold(similarities: Any, percentile: int = 25) -> float | None:
        value = real(similarities, percentile)
        return None if value is None else Below(value)

    semantic.threshold = threshold


@fault
def interpolated_percentile() -> None:
    """The percentile lies between two similarities, as numpy's default has it."""

    def threshold(similarities: Any, percentile: int = 25) -> float | None:
        if not similarities:
            return None
        ordered = sorted(similarities)
        place = (len(ordered) - 1) * percentile / 100
        low = math.floor(place)
        high = min(low + 1, len(ordered) - 1)
        return ordered[low] + (ordered[high] - ordered[low]) * (place - low)

    semantic.threshold = threshold


@fault
def two_square_roots() -> None:
    """Cosine as dot ÷ (|a| × |b|): the same in mathematics, another last bit."""

    def similarities(rows: Any) -> list[float]:
        found = []
        for a, b in zip(rows[:-1].tolist(), rows[1:].tolist(), strict=True):
            dot = sum(x * y for x, y in zip(a, b, strict=True))
            lengths = math.sqrt(sum(x * x for x in a)) * math.sqrt(sum(y * y for y in b))
            found.append(dot / lengths if dot else 0.0)
        return found

    semantic.similarities = similarities


# --- numbers


@fault
def quantized_half_away() -> None:
    """int8 rounds halves away from zero."""

    def int8(vector: Any) -> list[int]:
        largest = max(map(abs, vector), default=0.0)
        return [int(math.copysign(math.floor(abs(v * 127 / largest) + 0.5), v)) if largest else 0 for v in vector]

    vectors.int8 = int8


@fault
def printed_half_even() -> None:
    """Figures are printed by the platform: halves to even."""
    numerics.printed = lambda value, decimals: f"{value:.{decimals}f}"


@fault
def platform_log() -> None:
    """The platform's logarithm of the rounded quotient."""
    numerics.ln = lambda n, d=1: math.log(n / d)


@fault
def stop_word_lost() -> None:
    """`the` is a term."""
    bm25.STOP_WORDS = bm25.STOP_WORDS - {"the"}


# --- rankings and metrics


@fault
def tie_order_reversed() -> None:
    """Of equal scores the later passage comes first."""
    fusion.order = lambda scores: sorted(range(len(scores)), key=lambda i: (-scores[i], -i))


@fault
def ranks_from_zero() -> None:
    """RRF counts ranks from 0."""
    real = fusion.rrf
    fusion.rrf = lambda lexical, dense, passages, k=60, pool=50: real(lexical, dense, passages, k - 1, pool)


@fault
def alpha_swapped() -> None:
    """α weighs BM25 instead of the dense ranking."""
    real = fusion.weighted
    fusion.weighted = lambda lexical, dense, alpha=0.5, pool=50: real(lexical, dense, 1 - alpha, pool)


@fault
def lost_left_out() -> None:
    """Means leave out the questions whose answer no chunk holds."""

    def alter(request: dict[str, Any], ok: Reply) -> Reply:
        kept = [number for number in range(len(request["answers"])) if number not in ok["lost"]]
        some = {
            **request,
            "answers": [request["answers"][number] for number in kept],
            "rankings": [request["rankings"][number] for number in kept],
        }
        return {**ok, "mean": real(some)["mean"]}

    real = engine.OPERATIONS["evaluate"].answer
    change("evaluate", alter)


@fault
def mean_in_another_order() -> None:
    """The mean of nDCG adds the questions from the last to the first."""

    def alter(request: dict[str, Any], ok: Reply) -> Reply:
        total = 0.0
        for question in reversed(ok["questions"]):
            total += numerics.from_hex(question["ndcg@10"])
        mean = total / len(ok["questions"]) if ok["questions"] else 0.0
        return {**ok, "mean": {**ok["mean"], "ndcg@10": numerics.to_hex(mean)}}

    change("evaluate", alter)


@fault
def touching_is_relevant() -> None:
    """A passage that holds part of the answer counts as relevant."""

    def relevant(passages: Any, answers: Any) -> list[list[int]]:
        return [[i for i, p in enumerate(passages) if p[0] == a[0] and p[1] < a[2] and a[1] < p[2]] for a in answers]

    metrics.relevant = relevant


# --- the protocol


@fault
def other_error_code() -> None:
    """A setting out of range is called a bad request."""
    real = engine.answer

    def answer(value: Any) -> Any:
        return iter(("".join(real(value)).replace('"bad_setting"', '"bad_request"'),))

    engine.answer = answer


@fault
def older_unicode() -> None:
    """The engine states other tables."""
    change("info", lambda request, ok: {**ok, "unicode": "15.1.0"})


@fault
def leak_of_state() -> None:
    """A setting of one request stays for later ones, every now and then."""
    seen: list[int] = []

    def alter(request: dict[str, Any]) -> dict[str, Any]:
        chunker = request["chunker"]
        seen.append(chunker["size"])
        return {**request, "chunker": {**chunker, "size": seen[-2]}} if len(seen) % 7 == 0 else request

    ask_with("chunk", alter)


class Sink:
    """Standard output whose replies come out otherwise. `reply` gets the number of a line and its bytes."""

    def __init__(self, reply: Callable[[int, bytes], bytes]) -> None:
        self.reply, self.count, self.parts, self.out = reply, 0, [], sys.stdout.buffer
        self.parts: list[bytes] = []

    def write(self, block: bytes) -> None:
        self.parts.append(block)
        if block.endswith(b"\n"):
            self.count += 1
            self.out.write(self.reply(self.count, b"".join(self.parts)))
            self.parts = []

    def flush(self) -> None:
        self.out.flush()


def replies(reply: Callable[[int, bytes], bytes]) -> None:
    """Write every reply as `reply(number, line)`."""
    real = engine.serve
    engine.serve = lambda source, sink: real(source, Sink(reply))


@fault
def hang() -> None:
    """Nothing comes after the fifth reply."""

    def reply(number: int, line: bytes) -> bytes:
        if number > 5:
            time.sleep(3600)
        return line

    replies(reply)


@fault
def crash_half_way() -> None:
    """The process ends in the middle of the fifth reply."""

    def reply(number: int, line: bytes) -> bytes:
        if number == 5:
            sys.stdout.buffer.write(line[: len(line) // 2])
            sys.stdout.flush()
            print("Segmentation fault (not really)", file=sys.stderr, flush=True)
            os._exit(3)
        return line

    replies(reply)


@fault
def noise() -> None:
    """A log line on standard output."""
    replies(lambda number, line: b"INFO loading model\n" + line if number == 4 else line)


@fault
def answers_twice() -> None:
    """The third reply comes twice."""
    replies(lambda number, line: line * 2 if number == 3 else line)


@fault
def last_one_twice() -> None:
    """Every reply comes again, but only when standard input has been closed."""
    real = engine.serve
    lines: list[bytes] = []

    def serve(source: Any, sink: Any) -> None:
        real(source, Sink(lambda number, line: lines.append(line) or line))
        sink.write(lines[-1])
        sink.flush()

    engine.serve = serve


@fault
def other_id() -> None:
    """A reply bears an id that nobody gave."""
    replies(lambda number, line: line.replace(b'"id":"', b'"id":"x', 1) if number == 4 else line)


@fault
def silent() -> None:
    """Standard output is closed, but the process lives on."""

    def reply(number: int, line: bytes) -> bytes:
        if number == 4:
            os.close(1)
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            time.sleep(3600)
        return line

    replies(reply)


@fault
def endless_reply() -> None:
    """A reply that does not end."""

    def reply(number: int, line: bytes) -> bytes:
        while number == 4:
            sys.stdout.buffer.write(b" " * 65536)
        return line

    replies(reply)


@fault
def wrong_shape() -> None:
    """Chunks are no list of ranges."""
    change("chunk", lambda request, ok: {**ok, "chunks": "three"})


# --- right, though odd


@fault
def right_key_order_and_spacing() -> None:
    """Other key order, spaces, a carriage return: the same JSON."""

    def turned(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: turned(value[key]) for key in reversed(value)}
        return [turned(item) for item in value] if isinstance(value, list) else value

    replies(
        lambda number, line: (
            json.dumps(turned(json.loads(line)), indent=None, separators=(" , ", " : ")).encode() + b"\r\n"
        )
    )


@fault
def right_out_of_order() -> None:
    """Replies are held for a moment and come in another order; what is open is always answered."""
    import threading

    held: list[bytes] = []
    lock = threading.Lock()

    def release() -> None:
        while True:
            time.sleep(0.02)
            with lock:
                for line in reversed(held):
                    sys.stdout.buffer.write(line)
                sys.stdout.buffer.flush()
                held.clear()

    def reply(number: int, line: bytes) -> bytes:
        with lock:
            held.append(line)
        return b""

    replies(reply)
    threading.Thread(target=release, daemon=True).start()
    real = engine.serve

    def serve(source: Any, sink: Any) -> None:
        real(source, sink)
        while held:
            time.sleep(0.02)

    engine.serve = serve


@fault
def right_other_number_forms() -> None:
    """Numbers as other languages write them: 5.0 for 5, 1e1 for 10."""

    def reply(number: int, line: bytes) -> bytes:
        value = json.loads(line, parse_int=float)
        return json.dumps(value).encode() + b"\n"

    replies(reply)


if __name__ == "__main__":
    FAULTS[sys.argv[1]]()
    sys.exit(engine.main())
