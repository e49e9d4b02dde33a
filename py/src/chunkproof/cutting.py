"""`chunkproof chunk`: one file through one engine, and its chunks for people."""

from __future__ import annotations

import base64
import sys
from pathlib import Path
from typing import Any

from chunkproof.engines import Engine
from chunkproof.parity import engine_command
from chunkproof.problems import Problem
from chunkproof.replies import Json


def read_text(name: str) -> str:
    """The text of a file, byte for byte: no line end is translated, no byte order mark taken away."""
    try:
        data = sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
    except OSError as error:
        raise Problem(f"{name} cannot be read: {error.strerror}") from error
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Problem(f"{name} is not UTF-8: byte {error.start:,} is {data[error.start]:#04x}") from error


def read_vectors(path: Path) -> dict[str, Any]:
    """The column `vector` of an Arrow file as a request carries it inline."""
    import pyarrow as pa
    import pyarrow.ipc

    try:
        with pa.ipc.open_file(pa.BufferReader(path.read_bytes())) as reader:
            column = reader.read_all().column("vector").combine_chunks()
        matrix = column.flatten().to_numpy(zero_copy_only=False)
        if matrix.dtype.name != "int8":
            raise Problem(f"{path}: the column vector is of {matrix.dtype.name}, not of int8")
        return {"dim": column.type.list_size, "int8": base64.b64encode(matrix.tobytes()).decode("ascii")}
    except (OSError, KeyError, AttributeError, pa.ArrowException) as error:
        raise Problem(f"{path} is no Arrow file with a column vector of FixedSizeList<int8>: {error}") from error


def cut(text: str, chunker: dict[str, Any], engine: str) -> Json:
    """The `ok` value of an engine's reply to one chunk request; a refusal is a Problem."""
    words = engine_command(engine)
    with Engine(words, Path.cwd(), engine) as running:
        (reply,) = running.ask([("chunk", {"op": "chunk", "text": text, "chunker": chunker})])
    if reply.ok is None:
        raise Problem(f"the engine refuses this: {reply.code}: {reply.message}")
    return reply.ok


def shown(text: str, ok: Json) -> str:
    """The chunks one after another, each under a line with its range and its tokens."""
    chunks = ok["chunks"]
    lines = []
    for number, chunk in enumerate(chunks, 1):
        start, end, tokens = chunk["start"], chunk["end"], chunk["tokens"]
        plural = "" if tokens == 1 else "s"
        lines.append(f"── {number} of {len(chunks)} · [{start}, {end}) · {tokens} token{plural}")
        lines.append(text[start:end].rstrip("\r\n"))
    if not chunks:
        lines.append("no chunks: the text is empty")
    return "\n".join(lines) + "\n"
