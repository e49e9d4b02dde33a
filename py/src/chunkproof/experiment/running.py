"""A run: both engines at once over many papers, compared paper by paper, kept as they come so that a run can go on.

Each engine has threads of its own and may be a few papers ahead of the other. A paper's figures are kept only when the engines
agree on every value about it, under a key of all that they rest on: the protocol, the paper, the engines and this package.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotYet
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from typing import TypeVar

from chunkproof.datasets import cache_dir
from chunkproof.engines import TIMEOUT, Engine, EngineFailure
from chunkproof.experiment.asking import Log, ask_paper
from chunkproof.experiment.figures import PaperFigures
from chunkproof.experiment.papers import Paper
from chunkproof.experiment.protocol import Protocol
from chunkproof.parity import SAME_INFO, Command
from chunkproof.problems import Problem
from chunkproof.replies import Json, digest

T = TypeVar("T")
Job = Callable[[Log, Paper], T]
"""What is done with each engine for each paper: it asks through the log and gives a result."""
Progress = Callable[[str], None]
"""Called with the id of each paper that is done."""
_FEW = 20
"""Papers that one process of each engine does; more are done by two."""
_AHEAD = 4
"""Papers that one engine may be ahead of the other; all their values are held until both have answered."""


class Differs(Exception):
    """The engines do not agree; the message names the paper, the policy and the question, and shows both values."""


@dataclass(frozen=True)
class Ran:
    """What a run gave, in the order of the papers, and what it rests on."""

    papers: tuple[PaperFigures, ...]
    protocol: Protocol
    infos: tuple[dict[str, Json], ...]
    """What each engine said of itself."""
    resumed: int
    """Papers that were taken from an earlier run."""

    @property
    def digest(self) -> str:
        """Of the protocol's digest and each paper's, in order."""
        return digest({"protocol": self.protocol.digest, "papers": [[each.id, each.digest] for each in self.papers]})


@dataclass(frozen=True)
class Way:
    """Another way to ask about a paper than the experiment's, and what the figures rest on beside what they always do."""

    ask: Callable[[Log, Paper, Protocol], PaperFigures]
    rests_on: Callable[[Paper], Json]


def run(
    papers: Sequence[Paper],
    protocol: Protocol,
    engines: Sequence[Command],
    cache: Path | None = None,
    timeout: float = TIMEOUT,
    progress: Progress | None = None,
) -> Ran:
    """Ask all engines about all papers. `cache` is the folder of what is kept; by default one in the user's cache.

    Raises EngineFailure, Differs, or Problem where the engines do not speak of the same spec.
    """
    folder = cache if cache is not None else cache_dir() / "budget"
    folder.mkdir(parents=True, exist_ok=True)
    with started(engines, folder, timeout, processes(papers)) as (running, infos):
        return run_with(running, infos, papers, protocol, folder, progress)


def processes(papers: Sequence[Paper]) -> int:
    """Of each engine, for so many papers."""
    return 2 if len(papers) > _FEW else 1


def run_with(
    running: Sequence[Sequence[Engine]],
    infos: tuple[dict[str, Json], ...],
    papers: Sequence[Paper],
    protocol: Protocol,
    folder: Path,
    progress: Progress | None = None,
    way: Way | None = None,
) -> Ran:
    """A run with engines that are started. `way` asks otherwise than the experiment does. Raises EngineFailure and Differs."""
    keys = [_key(paper, protocol, infos, [] if way is None else [way.rests_on(paper)]) for paper in papers]
    places = [folder / key[:2] / f"{key}.json" for key in keys]
    done = [_kept(place) for place in places]
    resumed = sum(each is not None for each in done)
    for paper, figures in zip(papers, done, strict=True):
        if progress is not None and figures is not None:
            progress(paper.id)

    def job(log: Log, paper: Paper) -> PaperFigures:
        return (ask_paper if way is None else way.ask)(log, paper, protocol)

    missing = [number for number, each in enumerate(done) if each is None]
    for number, figures, _ in each_paper(running, papers, missing, job):
        done[number] = figures
        _keep(places[number], figures)
        if progress is not None:
            progress(papers[number].id)
    return Ran(tuple(each for each in done if each is not None), protocol, infos, resumed)


@contextmanager
def started(
    engines: Sequence[Command], folder: Path, timeout: float, processes: int = 1
) -> Iterator[tuple[list[list[Engine]], tuple[dict[str, Json], ...]]]:
    """The engines, running, each as so many processes; and what each says of itself."""
    with ExitStack() as stack:
        running = [
            [stack.enter_context(Engine(each.words, folder, each.name, timeout)) for _ in range(processes)]
            for each in engines
        ]
        infos = tuple(_info(each[0]) for each in running)
        _same(infos, [each[0] for each in running])
        yield running, infos


def each_paper(
    engines: Sequence[Sequence[Engine]], papers: Sequence[Paper], numbers: Sequence[int], job: Job[T]
) -> Iterator[tuple[int, T, Log]]:
    """The job's result for each of these papers, in order, once all engines agree on every value; with the first one's log.

    `engines` has the processes of each engine; which of them is asked about a paper changes nothing.
    """
    lanes = [_Lanes(each) for each in engines]
    asked: dict[int, list[Future[tuple[Log, T]]]] = {}
    try:
        for place, number in enumerate(numbers):
            for ahead in numbers[place : place + _AHEAD + 1]:
                if ahead not in asked:
                    asked[ahead] = [each.submit(papers[ahead], job) for each in lanes]
            answers = [_result(future) for future in asked.pop(number)]
            for log, _ in answers[1:]:
                compare(answers[0][0], log)
            yield number, answers[0][1], answers[0][0]
    except BaseException:
        for each in engines:
            for engine in each:
                engine.kill()  # a thread that waits for a reply then ends
        raise
    finally:
        for lane in lanes:
            lane.pool.shutdown(wait=False, cancel_futures=True)


class _Lanes:
    """The processes of one engine, each asked about one paper at a time: one computes while the harness reads another's replies."""

    def __init__(self, engines: Sequence[Engine]) -> None:
        self.pool = ThreadPoolExecutor(len(engines))
        self._free: SimpleQueue[Engine] = SimpleQueue()
        for engine in engines:
            self._free.put(engine)

    def submit(self, paper: Paper, job: Job[T]) -> Future[tuple[Log, T]]:
        """Ask about a paper as soon as a process is free."""
        return self.pool.submit(self._ask, paper, job)

    def _ask(self, paper: Paper, job: Job[T]) -> tuple[Log, T]:
        engine = self._free.get()
        try:
            return _one(engine, paper, job)
        finally:
            self._free.put(engine)


def _result(future: Future[tuple[Log, T]]) -> tuple[Log, T]:
    while True:
        try:
            return future.result(0.2)  # not without end: an interruption must get through
        except NotYet:
            if future.done():
                raise


def _one(engine: Engine, paper: Paper, job: Job[T]) -> tuple[Log, T]:
    log = Log(engine, paper.id)
    try:
        return log, job(log, paper)
    except (KeyError, TypeError, IndexError, ValueError, AttributeError) as error:
        what = f"paper {paper.id}, after {log.labels[-1] if log.labels else 'nothing'}: {type(error).__name__}: {error}"
        raise EngineFailure(engine.name, "malformed", what) from error


def compare(first: Log, second: Log) -> None:
    """Raise Differs at the first value that differs."""
    for number, (one, other) in enumerate(zip(first.values, second.values, strict=False)):
        if one != other or first.labels[number] != second.labels[number]:
            place = next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), 0)
            shown = [_around(value, place) for value in (one, other)]
            raise Differs(
                f"paper {first.paper}, {first.labels[number]}: {first.engine.name} says {shown[0]}, "
                f"{second.engine.name} says {shown[1]}"
            )
    if len(first.values) != len(second.values):
        raise Differs(f"paper {first.paper}: {len(first.values):,} values and {len(second.values):,}")


def _around(value: bytes, place: int) -> str:
    """A value near where it differs."""
    start = max(0, place - 30)
    text = value[start : place + 30].decode("utf-8", "replace")
    return ("…" if start else "") + text + ("…" if place + 30 < len(value) else "")


def _info(engine: Engine) -> dict[str, Json]:
    (reply,) = engine.ask([("info", {"op": "info"})])
    if not isinstance(reply.ok, dict):
        raise EngineFailure(engine.name, "malformed", f"it refuses info: {reply.code}")
    needed = {"pieces", "segments", "chunk", "rank", "terms", "fill", "cover"}
    if missing := sorted(needed - set(reply.ok.get("ops", []))):
        raise Problem(f"{engine.name} does not have {', '.join(missing)}, which the budget experiment asks for")
    return reply.ok


def _same(infos: Sequence[dict[str, Json]], engines: Sequence[Engine]) -> None:
    for key in SAME_INFO:
        if len({json.dumps(info.get(key)) for info in infos}) > 1:
            each = ", ".join(f"{engine.name} {info.get(key)}" for engine, info in zip(engines, infos, strict=True))
            raise Problem(f"the engines do not speak of the same {key}: {each}")


def _key(paper: Paper, protocol: Protocol, infos: Sequence[dict[str, Json]], more: Sequence[Json]) -> str:
    return digest([protocol.digest, paper.sha256, list(infos), _package(), *more])


def _package() -> str:
    """The hash of the modules of this experiment: figures that other code counted are not taken over."""
    total = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        if path.stem in ("asking", "evidence", "figures", "papers", "policies", "scoring"):
            total.update(path.read_bytes())
    return total.hexdigest()


def _kept(place: Path) -> PaperFigures | None:
    """What an earlier run kept; a file that is damaged counts as none."""
    try:
        return PaperFigures.from_json(json.loads(place.read_text(encoding="utf-8")))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def _keep(place: Path, figures: PaperFigures) -> None:
    place.parent.mkdir(exist_ok=True)
    part = place.with_name(f"{place.name}.{os.getpid()}.part")
    part.write_text(json.dumps(figures.to_json()), encoding="utf-8")
    part.replace(place)


@contextmanager
def bar(total: int, title: str = "papers") -> Iterator[Progress]:
    """A progress bar on standard error, where that is a terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Bar(*columns, console=console, transient=True, disable=not console.is_terminal) as shown:
        task = shown.add_task(title, total=total)
        yield lambda paper: shown.update(task, advance=1)
