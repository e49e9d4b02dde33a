"""One measurement of the Python rooms in a fresh process, for `chunkproof bench`; `ts/scripts/bench.mjs` is its twin.

`python -m chunkproof.bench_worker TASK FILE SIZE REPEATS` prints one JSON object. Cold means that each distinct piece
is counted for the first time in the process; warm is the best of the passes that follow.
"""

from __future__ import annotations

import contextlib
import json
import re
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

Times = dict[str, Any]
BASE = "Owls hunt mice. Foxes raid hens.\n\nBread needs yeast."
"""What is chunked before a measurement, so that the tokenizer and the tables are loaded."""


def clock(work: Callable[[], object]) -> float:
    """Seconds of processor time that one call takes, so that whatever else the machine does counts less."""
    begun = time.process_time()
    work()
    return max(time.process_time() - begun, 1e-6)


def cold_and_warm(work: Callable[[], object], repeats: int) -> Times:
    """The first call's seconds, and the best of the calls after it."""
    cold = clock(work)
    return {"cold": cold, "warm": min(clock(work) for _ in range(max(1, repeats)))}


def scan(text: str, size: int, repeats: int) -> Times:
    """The limit: the tokenizer's own pattern over the text, its matches only counted."""
    import regex

    from chunkproof.resources import tokenizer_path

    steps = json.loads(tokenizer_path().read_text(encoding="utf-8"))["pre_tokenizer"]["pretokenizers"]
    pattern = regex.compile(next(step["pattern"]["Regex"] for step in steps if "pattern" in step))
    return {"warm": min(clock(lambda: sum(1 for _ in pattern.finditer(text))) for _ in range(max(1, repeats)))}


def pieces(text: str, size: int, repeats: int) -> Times:
    """Pieces with their token counts."""
    from chunkproof.pieces import pieces as cut

    cut(BASE)
    return {**cold_and_warm(lambda: cut(text), repeats), "pieces": len(cut(text))}


def recursive(text: str, size: int, repeats: int) -> Times:
    """Recursive chunks, pieces and sentences included."""
    from chunkproof.recursive import chunk

    chunk(BASE, size=size)
    return {**cold_and_warm(lambda: chunk(text, size=size), repeats), "chunks": len(chunk(text, size=size))}


def word(text: str, size: int, repeats: int) -> Times:
    """A text that is one word: pieces only, once."""
    from chunkproof.pieces import pieces as cut

    cut(BASE)
    return {"cold": clock(lambda: cut(text))}


def langchain(text: str, size: int, repeats: int) -> Times:
    """LangChain's recursive splitter with the same tokenizer and size."""
    from langchain_text_splitters import RecursiveCharacterTextSplitter
    from tokenizers import Tokenizer

    from chunkproof.resources import tokenizer_path

    tokenizer = Tokenizer.from_file(str(tokenizer_path()))

    def count(part: str) -> int:
        return len(tokenizer.encode(part, add_special_tokens=False).ids)

    splitter = RecursiveCharacterTextSplitter(chunk_size=size, chunk_overlap=0, length_function=count)
    splitter.split_text(BASE)
    return {"warm": clock(lambda: splitter.split_text(text)), "chunks": len(splitter.split_text(text))}


def resident() -> tuple[int, int]:
    """Bytes in memory now, and at most so far (since `forget_peak`, where the system can)."""
    status = Path("/proc/self/status")
    if status.is_file():
        found = dict(re.findall(r"^(VmRSS|VmHWM):\s+(\d+) kB", status.read_text(), re.MULTILINE))
        return int(found["VmRSS"]) * 1024, int(found["VmHWM"]) * 1024
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    return most, most


def forget_peak() -> None:
    """Begin a new peak, on Linux; elsewhere the peak of loading stays and the figure is too low rather than wrong."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def memory(path: Path, size: int, repeats: int) -> Times:
    """Peak memory of recursive chunking beyond that of the loaded tokenizer, the text itself included."""
    from chunkproof.recursive import chunk

    chunk(BASE, size=size)
    forget_peak()
    before = resident()[0]
    text = path.read_bytes().decode("utf-8")
    held = resident()[0] - before
    chunks = chunk(text, size=size)
    return {"base": before, "text": held, "peak": resident()[1] - before, "chunks": len(chunks)}


TASKS: dict[str, Callable[[str, int, int], Times]] = {
    "scan": scan,
    "pieces": pieces,
    "recursive": recursive,
    "word": word,
    "langchain": langchain,
}


def main(task: str, file: str, size: str, repeats: str) -> None:
    """Measure and print."""
    path = Path(file)
    if task == "memory":
        found = memory(path, int(size), int(repeats))
    else:
        found = TASKS[task](path.read_bytes().decode("utf-8"), int(size), int(repeats))
    print(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
