"""`chunkproof bench`: speed and memory of both engines, as ratios within one run.

A time by itself says more about the machine than about the program, so every figure stands beside one that was measured
in the same minute: the plain pre-tokenizer scan of the same language, which is the limit, and LangChain's recursive
splitter of that language with the same tokenizer and size. Each measurement has a process of its own (`bench_worker`,
`ts/scripts/bench.mjs`).

MB are millions of UTF-8 bytes, seconds those of processor time (on the wire: of the clock). Nothing here is a test:
nothing fails for being slow.
"""

from __future__ import annotations

import base64
import json
import os
import platform
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from chunkproof import layout
from chunkproof.engines import Engine, EngineFailure
from chunkproof.problems import Problem

Figures = dict[str, Any]

PARTS = ("scan", "langchain", "sizes", "memory", "word", "rank")
"""What can be measured: pieces against the scan, chunks against LangChain, growth, peak memory, one word, ranking."""
LANGUAGES = ("py", "ts")
QASPER = Path("qasper/qasper-train-v0.3.json")
CHUNK = 256
"""Tokens a chunk."""
SCALE = (1, 4, 16)
"""Megabytes at which growth is measured, as long as the corpus is that large."""
WORDS = (100_000, 1_000_000)
PASSAGES, QUESTIONS, DIM, DEPTH = 300, 200, 384, 20


@dataclass(frozen=True)
class Plan:
    """What to measure, and on how much."""

    parts: tuple[str, ...] = PARTS
    size_mb: float = 20.0
    sample_kb: float = 300.0
    """LangChain gets this much of the text: it is slow, and its speed does not depend on how much follows."""
    repeats: int = 3
    words: tuple[int, ...] = WORDS
    passages: int = PASSAGES
    questions: int = QUESTIONS
    timeout: float = 900.0


@dataclass
class Corpus:
    """The text, and where it is from."""

    name: str
    text: str
    size: int = field(init=False)

    def __post_init__(self) -> None:
        self.size = len(self.text.encode("utf-8"))

    def first(self, megabytes: float) -> str:
        """At most so many bytes of the text, whole paragraphs, at least one."""
        room = int(megabytes * 1e6)
        kept: list[str] = []
        for paragraph in self.text.split("\n\n"):
            room -= len(paragraph.encode("utf-8")) + 2
            if room < 0 and kept:
                break
            kept.append(paragraph)
        return "\n\n".join(kept)


def corpus(size_mb: float) -> Corpus:
    """QASPER train's paragraphs in file order from CHUNKPROOF_DATA, or an invented text where that is not at hand."""
    folder = os.environ.get("CHUNKPROOF_DATA")
    path = Path(folder) / QASPER if folder else None
    if path is not None and path.is_file():
        papers = json.loads(path.read_text(encoding="utf-8"))
        sections = (section for paper in papers.values() for section in paper["full_text"])
        found = Corpus(
            "QASPER train, paragraphs in file order", "\n\n".join(p for s in sections for p in s["paragraphs"])
        )
        return Corpus(found.name, found.first(size_mb))
    return Corpus("invented", "\n\n".join(invented(int(size_mb * 1e6))))


def invented(size: int, seed: int = 1) -> Iterator[str]:
    """Paragraphs of made-up words until `size` bytes: common words recur, rare ones hardly, no sentence twice."""
    source = random.Random(seed)
    letters, often = "etaoinshrdlucmfwypvbgkjqxz", list(accumulate(range(26, 0, -1)))
    words = ["".join(source.choices(letters, cum_weights=often, k=source.randint(2, 11))) for _ in range(60_000)]
    share = list(accumulate(1 / (rank + 3) for rank in range(len(words))))
    while size > 0:
        sentences = []
        for _ in range(source.randint(2, 8)):
            picked = source.choices(words, cum_weights=share, k=source.randint(5, 30))
            if source.random() < 0.2:
                picked.insert(source.randrange(len(picked)), str(source.randint(0, 9999)))
            half = len(picked) // 2
            sentences.append(f"{' '.join(picked[:half])}, {' '.join(picked[half:])}.".capitalize())
        paragraph = " ".join(sentences)
        size -= len(paragraph) + 2
        yield paragraph


class Bench:
    """A run: files in a folder of its own, one process a measurement, figures by part and language."""

    def __init__(self, plan: Plan, text: Corpus, folder: Path, tell: Callable[[str], None]) -> None:
        self.plan, self.corpus, self.folder, self.tell = plan, text, folder, tell
        self.missing: dict[str, str] = {}

    def worker(self, language: str) -> list[str]:
        """The command that measures in a language; raises Problem where it is not at hand."""
        if language == "py":
            return [sys.executable, "-m", "chunkproof.bench_worker"]
        for root in (layout.checkout(), layout.checkout(Path(__file__).parent)):
            script = root / "ts" / "scripts" / "bench.mjs" if root is not None else None
            if script is not None and script.is_file():
                break
        else:
            raise Problem("the TypeScript side is measured in a checkout only: run `chunkproof bench` inside one")
        if not (script.parent.parent / "dist" / "index.mjs").is_file():
            raise Problem(
                f"the TypeScript library is not built: run `npm ci && npm run build` in {script.parent.parent}"
            )
        node = shutil.which("node")
        if node is None:
            raise Problem("the TypeScript side needs `node` on PATH")
        return [node, "--expose-gc", str(script)]

    def write(self, name: str, text: str) -> Path:
        """A file of the run."""
        path = self.folder / name
        path.write_bytes(text.encode("utf-8"))
        return path

    def measure(self, language: str, task: str, path: Path) -> Figures | None:
        """One measurement in a fresh process, or None with the reason kept."""
        self.tell(f"{language}: {task}, {path.stat().st_size / 1e6:.2f} MB")
        try:
            command = [*self.worker(language), task, str(path), str(CHUNK), str(self.plan.repeats)]
            done = subprocess.run(command, capture_output=True, text=True, timeout=self.plan.timeout, check=False)
        except Problem as problem:
            self.missing[language] = str(problem)
            return None
        except subprocess.TimeoutExpired:
            self.missing[f"{language} {task}"] = f"took longer than {self.plan.timeout:g} s"
            return None
        if done.returncode != 0:
            words = [line.strip() for line in done.stderr.splitlines() if line.strip()]
            said = next(
                (line for line in reversed(words) if "Error" in line or "ERR_" in line),
                words[-1] if words else "no message",
            )
            self.missing[f"{language} {task}"] = said[:200]
            return None
        found: Figures = json.loads(done.stdout)
        return found

    def both(self, task: str, path: Path) -> dict[str, Figures | None]:
        """The same measurement in each language."""
        return {language: self.measure(language, task, path) for language in LANGUAGES}

    # -- the parts ---------------------------------------------------------------------------------------------------

    def scan(self) -> Figures:
        """MB/s of pieces, cold and warm, against the plain scan."""
        path = self.write("corpus.txt", self.corpus.text)
        plain, cut = self.both("scan", path), self.both("pieces", path)
        return {name: self._against(plain[name], cut[name]) for name in LANGUAGES}

    def _against(self, plain: Figures | None, cut: Figures | None) -> Figures | None:
        if plain is None or cut is None:
            return None
        speed = {"scan": plain["warm"], "cold": cut["cold"], "warm": cut["warm"]}
        return {
            **{f"{name}_mb_s": self.corpus.size / 1e6 / seconds for name, seconds in speed.items()},
            "cold_of_scan": plain["warm"] / cut["cold"],
            "warm_of_scan": plain["warm"] / cut["warm"],
            "pieces": cut["pieces"],
        }

    def langchain(self) -> Figures:
        """MB/s of recursive chunks, cold and warm, against LangChain's on the first part of the same text."""
        sample = self.write("sample.txt", self.corpus.first(self.plan.sample_kb / 1000))
        path = self.write("corpus.txt", self.corpus.text)
        theirs, ours = self.both("langchain", sample), self.both("recursive", path)
        found: Figures = {}
        for name in LANGUAGES:
            a, b = theirs[name], ours[name]
            figures: Figures = {}
            if b is not None:
                figures.update(
                    cold_mb_s=self.corpus.size / 1e6 / b["cold"], warm_mb_s=self.corpus.size / 1e6 / b["warm"]
                )
            if a is not None:
                figures["langchain_mb_s"] = sample.stat().st_size / 1e6 / a["warm"]
            if a is not None and b is not None:
                figures["cold_of_langchain"] = figures["cold_mb_s"] / figures["langchain_mb_s"]
                figures["warm_of_langchain"] = figures["warm_mb_s"] / figures["langchain_mb_s"]
            found[name] = figures or None
        return found

    def sizes(self) -> Figures:
        """Seconds of recursive chunking at 1, 4 and 16 MB, cold and warm."""
        steps: list[float] = [step for step in SCALE if step * 1e6 <= self.corpus.size] or [self.corpus.size / 1e6]
        found: Figures = {name: {} for name in LANGUAGES}
        for step in steps:
            timed = self.both("recursive", self.write("part.txt", self.corpus.first(step)))
            for name, figures in timed.items():
                if figures is not None:
                    found[name][f"{step:g}"] = {"cold": figures["cold"], "warm": figures["warm"]}
        for name in LANGUAGES:
            rows = list(found[name].values())
            if rows:
                found[name]["last_of_first"] = {key: rows[-1][key] / rows[0][key] for key in ("cold", "warm")}
        return found

    def memory(self) -> Figures:
        """Peak memory beside the loaded tokenizer, in times the text's bytes; the text's own share of it."""
        found = self.both("memory", self.write("corpus.txt", self.corpus.text))
        for figures in found.values():
            if figures is not None:
                figures.update(
                    peak_of_text=figures["peak"] / self.corpus.size, held_of_text=figures["text"] / self.corpus.size
                )
        return found

    def word(self) -> Figures:
        """Seconds for one word of so many letters: made-up letters, and one letter over and over."""
        source = random.Random(2)
        made: Figures = {name: {} for name in LANGUAGES}
        for letters in self.plan.words:
            mixed = "".join(source.choices("etaoinshrdlucmfwypvbgkjqxz", k=letters))
            for kind, text in (("mixed", mixed), ("same", "a" * letters)):
                for name, figures in self.both("word", self.write("word.txt", text)).items():
                    if figures is not None:
                        made[name].setdefault(kind, {})[str(letters)] = figures["cold"]
        for kinds in made.values():
            for seconds in kinds.values():
                rows = list(seconds.values())
                seconds["last_of_first"] = rows[-1] / rows[0]
        return made

    def rank(self) -> Figures:
        """Seconds of one `rank` request over the wire, after a first one that loads what is needed."""
        commands = {"py": layout.py_engine}
        found: Figures = {}
        for name, command in {**commands, "ts": layout.ts_engine}.items():
            try:
                with Engine(command(), self.folder, name, self.plan.timeout) as engine:
                    found[name] = {}
                    for kind, request in self._rank_requests():
                        self.tell(f"{name}: rank {kind}")
                        engine.ask(
                            [("warm-up", {**request, "queries": request["queries"][:1], **self._one_query(request)})]
                        )
                        begun = time.perf_counter()
                        reply = engine.ask([(kind, request)])[0]
                        found[name][kind] = time.perf_counter() - begun
                        if reply.ok is None:
                            found[name].pop(kind)
                            self.missing[f"{name} rank {kind}"] = f"refused with {reply.code}: {reply.message}"
            except (EngineFailure, layout.EngineMissing) as problem:
                self.missing[f"{name} rank"] = str(problem)
                found[name] = None
        return found

    def _rank_requests(self) -> Iterator[tuple[str, Figures]]:
        words = self.corpus.first(0.6).split()
        each = max(1, min(130, len(words) // self.plan.passages))
        passages = [" ".join(words[i * each : (i + 1) * each]) for i in range(self.plan.passages)]
        queries = [" ".join(words[i * 7 : i * 7 + 10]) for i in range(self.plan.questions)]
        for kind in ("bm25", "dense", "rrf"):
            request: Figures = {
                "op": "rank",
                "passages": passages,
                "queries": queries,
                "method": {"kind": kind},
                "depth": DEPTH,
            }
            if kind != "bm25":
                request["passage_vectors"] = _vectors(len(passages), 3)
                request["query_vectors"] = _vectors(len(queries), 4)
            yield kind, request

    @staticmethod
    def _one_query(request: Figures) -> Figures:
        return {"query_vectors": _vectors(1, 5)} if "query_vectors" in request else {}

    def run(self) -> Figures:
        """Every part asked for, in order."""
        parts = {name: getattr(self, name)() for name in PARTS if name in self.plan.parts}
        return {
            "corpus": {"name": self.corpus.name, "bytes": self.corpus.size, "code_points": len(self.corpus.text)},
            "machine": {
                "system": platform.platform(terse=True),
                "cores": os.cpu_count(),
                "python": platform.python_version(),
                "node": _node(),
            },
            "chunk_size": CHUNK,
            **parts,
            "aims": aims(parts),
            "missing": self.missing,
        }


def _vectors(rows: int, seed: int) -> Figures:
    data = random.Random(seed).randbytes(rows * DIM)
    return {"dim": DIM, "int8": base64.b64encode(data).decode("ascii")}


def _node() -> str | None:
    node = shutil.which("node")
    if node is None:
        return None
    said = subprocess.run([node, "--version"], capture_output=True, text=True, check=False).stdout
    return said.strip().lstrip("v") or None


AIMS: list[tuple[str, str, tuple[str, ...], tuple[str, ...], float, bool]] = [
    # part, what it says, way to the figure in Python, in TypeScript, the aim, whether more is better
    ("scan", "pieces, warm: times the plain scan's speed", ("warm_of_scan",), ("warm_of_scan",), 0.5, True),
    ("langchain", "chunks, warm: times LangChain's speed", ("warm_of_langchain",), ("warm_of_langchain",), 10, True),
    ("langchain", "chunks, cold: times LangChain's speed", ("cold_of_langchain",), ("cold_of_langchain",), 4, True),
    ("sizes", "16 MB: times as long as 1 MB, cold", ("last_of_first", "cold"), ("last_of_first", "cold"), 18, False),
    ("sizes", "16 MB: times as long as 1 MB, warm", ("last_of_first", "warm"), ("last_of_first", "warm"), 18, False),
    ("memory", "peak memory: times the text", ("peak_of_text",), ("peak_of_text",), 6, False),
    ("word", "a word of 1,000,000 letters: seconds", ("mixed", "1000000"), (), 10, False),
    ("word", "1,000,000 letters: times as long as 100,000", (), ("mixed", "last_of_first"), 15, False),
    ("rank", "bm25, 200 questions, 300 passages: seconds", ("bm25",), ("bm25",), 1, False),
    ("rank", "dense, the same: seconds", ("dense",), ("dense",), 1, False),
    ("rank", "rrf, the same: seconds", ("rrf",), ("rrf",), 1, False),
]


def aims(parts: Figures) -> list[Figures]:
    """What the project aims at beside what was measured; `met` is None where nothing was."""
    rows: list[Figures] = []
    for part, text, py_way, ts_way, aim, more in AIMS:
        if part not in parts:
            continue
        row: Figures = {"what": text, "aim": aim, "at": "least" if more else "most"}
        for name, way in (("py", py_way), ("ts", ts_way)):
            value: Any = parts[part].get(name) if way else None
            for key in way:
                value = value.get(key) if isinstance(value, dict) else None
            row[name] = value
            row[f"{name}_met"] = None if value is None else (value >= aim if more else value <= aim)
        rows.append(row)
    return rows


def tables(found: Figures) -> Iterator[Table]:
    """The figures as tables."""
    speed = Table(
        title=f"{found['corpus']['name']}, {found['corpus']['bytes'] / 1e6:.1f} MB · MB/s", title_justify="left"
    )
    for column in ("", "scan", "pieces cold", "pieces warm", f"chunks {CHUNK} cold", "chunks warm", "LangChain"):
        speed.add_column(column, justify="right" if column else "left")
    for name in LANGUAGES:
        scan, chain = found.get("scan", {}).get(name) or {}, found.get("langchain", {}).get(name) or {}
        values = [scan.get("scan_mb_s"), scan.get("cold_mb_s"), scan.get("warm_mb_s")]
        values += [chain.get("cold_mb_s"), chain.get("warm_mb_s"), chain.get("langchain_mb_s")]
        speed.add_row(name, *map(_shown, values))
    if "scan" in found or "langchain" in found:
        yield speed
    wanted = Table(title="ratios and limits", title_justify="left")
    for column in ("", "aim", "py", "ts"):
        wanted.add_column(column, justify="right" if column else "left")
    for row in found["aims"]:
        sign = "≥" if row["at"] == "least" else "≤"
        wanted.add_row(row["what"], f"{sign} {row['aim']:g}", *(_judged(row[n], row[f"{n}_met"]) for n in LANGUAGES))
    yield wanted


def _shown(value: float | None) -> str:
    return "–" if value is None else f"{value:.3g}" if value < 100 else f"{value:,.0f}"


def _judged(value: float | None, met: bool | None) -> str:
    return _shown(value) if met is None else f"{_shown(value)} {'✓' if met else '✗'}"


def measure(plan: Plan, tell: Callable[[str], None] = lambda line: None) -> Figures:
    """Run a plan; all figures as one JSON value."""
    unknown = sorted(set(plan.parts) - set(PARTS))
    if unknown:
        raise Problem(f"bench has no part {', '.join(unknown)}; there are: {', '.join(PARTS)}")
    tell(f"preparing {plan.size_mb:g} MB of text")
    text = corpus(plan.size_mb)
    with tempfile.TemporaryDirectory(prefix="chunkproof-bench-") as folder:
        return Bench(plan, text, Path(folder), tell).run()


def run(
    only: Sequence[str] | None = None,
    size_mb: float = 20.0,
    sample_kb: float = 300.0,
    repeats: int = 3,
    as_json: bool = False,
) -> int:
    """Measure and print, progress on standard error; the exit status is 0 whatever the figures."""
    screen = Console(stderr=True)
    plan = Plan(tuple(only) if only else PARTS, size_mb, sample_kb, repeats)
    found = measure(plan, lambda line: screen.print(f"  {line}", style="dim") if screen.is_terminal else None)
    if as_json:
        print(json.dumps(found, indent=2))
        return 0
    console = Console()
    for table in tables(found):
        console.print(table)
    if found["corpus"]["name"] == "invented":
        print(f"The text is invented, since CHUNKPROOF_DATA has no {QASPER}.")
    for what, why in found["missing"].items():
        print(f"not measured: {what}: {why}")
    return 0
