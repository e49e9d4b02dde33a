"""The harness is tested by wrong engines: each must be caught, at the right stage, for the right reason."""

from __future__ import annotations

import sys
import time
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest

from chunkproof import engines, fixtures, layout, parity
from chunkproof.parity import Command, FixtureResult
from chunkproof.pipeline import Run

WRONG = Path(__file__).parent / "wrong"
SCRIPT = WRONG / "engine.py"

# The stage, the case and the path at which a fault first shows.
DIFFERENCES = {
    "platform-log": ("numbers", "numbers/ln", "ok.values"),
    "printed-half-even": ("numbers", "numbers/print-half", "ok.texts[0]"),
    "stop-word-lost": ("numbers", "numbers/terms", "ok.terms[0]"),
    "quantized-half-away": ("numbers", "numbers/quantize-half", "ok.vectors[0][1]"),
    "utf16-offsets": ("pieces", "pieces/astral", "ok.pieces[1].end"),
    "nfc-text": ("pieces", "pieces/not-nfc", "ok.pieces[0].end"),
    "stripped-text": ("pieces", "pieces/white-ends", "ok.pieces[0].end"),
    "last-sentence-lost": ("segments", "segments/two", "ok.sentences[2]"),
    "two-square-roots": ("similarities", "semantic/between", "ok.similarities[0]"),
    "interpolated-percentile": ("threshold", "semantic/between", "ok.threshold"),
    "less-than-threshold": ("chunks", "semantic/equal", "ok.chunks[0].end"),
    "end-off-by-one": ("chunks", "semantic/equal", "ok.chunks[0].end"),
    "chunk-dropped": ("chunks", "semantic/equal", "ok.chunks[3]"),
    "overlap-one-piece-too-long": ("chunks", "fixed/overlap", "ok.chunks[1].start"),
    "leak-of-state": ("chunks", "fixed/size-4", "ok.chunks[0].end"),
    "other-error-code": ("chunks", "fixed/overlap-too-large", "error.code"),
    "tie-order-reversed": ("rankings", "rank/bm25-ties", "ok.rankings[0][0].passage"),
    "ranks-from-zero": ("rankings", "rank/rrf", "ok.rankings[0][0].score"),
    "alpha-swapped": ("rankings", "rank/weighted", "ok.rankings[0][0].score"),
    "lost-left-out": ("metrics", "evaluate/lost", "ok.mean.mrr@10"),
    "mean-in-another-order": ("metrics", "evaluate/lost", "ok.mean.ndcg@10"),
    "touching-is-relevant": ("metrics", "evaluate/lost", "ok.lost"),
}

# The kind of failure and words of its detail.
FAILURES = {
    "hang": ("hang", "no reply within"),
    "crash-half-way": ("died", "exit status 3; last words: Segmentation fault"),
    "noise": ("noise", "INFO loading model"),
    "answers-twice": ("twice", "a second reply to cp-3"),
    "last-one-twice": ("twice", "a second reply to"),
    "other-id": ("unknown", "'xcp-4'"),
    "silent": ("silent", "without an output"),
    "endless-reply": ("too-long", "in one line"),
}
RIGHT = ("right-key-order-and-spacing", "right-out-of-order", "right-other-number-forms")
ALL = (*DIFFERENCES, *FAILURES, *RIGHT, "older-unicode", "wrong-shape")
QUICK = {"hang": 2.0}


def command(name: str) -> Command:
    return Command("wrong", (sys.executable, str(SCRIPT), name), name)


@pytest.fixture(scope="module")
def results() -> dict[str, Future[FixtureResult]]:
    """Every wrong engine beside the right one, asked of the same cases, two at a time."""
    cases = fixtures.load(str(WRONG / "cases"))
    right = Run("py")
    parity.run_engine(cases, Command("py", tuple(layout.py_engine()), "py"), right)
    assert right.failure is None

    def judged(name: str) -> FixtureResult:
        run = Run("wrong")
        parity.run_engine(cases, command(name), run, timeout=QUICK.get(name, 60.0))
        return parity.judge(cases, [right, run])

    limit, engines.LONGEST_REPLY = engines.LONGEST_REPLY, 1 << 20
    with ThreadPoolExecutor(2) as pool:
        found = {name: pool.submit(judged, name) for name in ALL}
    engines.LONGEST_REPLY = limit
    return found


@pytest.mark.parametrize("name", DIFFERENCES)
def test_a_fault_is_caught_at_its_stage(results: dict[str, Future[FixtureResult]], name: str) -> None:
    result = results[name].result()
    assert not result.failures
    assert not result.held
    cause = result.cause
    assert cause is not None
    stage, case, path = DIFFERENCES[name]
    assert (cause.stage, cause.case) == (stage, case)
    assert cause.path.startswith(path)
    assert len({str(value) for value in cause.values.values()}) == 2


@pytest.mark.parametrize("name", FAILURES)
def test_misbehaviour_is_named(results: dict[str, Future[FixtureResult]], name: str) -> None:
    result = results[name].result()
    assert not result.held
    (failure,) = result.failures
    kind, words = FAILURES[name]
    assert (failure.engine, failure.kind) == ("wrong", kind)
    assert words in failure.detail
    assert failure.open or name == "last-one-twice"
    assert "Traceback" not in str(failure)


@pytest.mark.parametrize("name", RIGHT)
def test_a_right_engine_may_be_odd(results: dict[str, Future[FixtureResult]], name: str) -> None:
    result = results[name].result()
    assert not result.failures
    assert result.cause is None
    assert result.held


def test_other_tables_are_no_parity(results: dict[str, Future[FixtureResult]]) -> None:
    result = results["older-unicode"].result()
    assert not result.held
    assert result.strangers == ["the engines do not speak of the same unicode: py 18.0.0, wrong 15.1.0"]


def test_a_reply_of_the_wrong_shape_is_a_difference(results: dict[str, Future[FixtureResult]]) -> None:
    cause = results["wrong-shape"].result().cause
    assert cause is not None
    assert (cause.stage, cause.path, cause.values["wrong"]) == ("chunks", "ok.chunks", "three")


def test_every_fault_of_the_script_is_tested() -> None:
    script = SCRIPT.read_text(encoding="utf-8").split("@fault\ndef ")[1:]
    assert {part.split("(")[0].replace("_", "-") for part in script} == set(ALL)


@pytest.mark.parametrize(
    ("name", "stage", "follows"),
    [
        ("overlap-one-piece-too-long", "chunks", {"rankings", "metrics", "table"}),
        ("interpolated-percentile", "threshold", set()),
        ("platform-log", "rankings", set()),
        ("lost-left-out", "metrics", {"table"}),
    ],
)
def test_in_a_corpus_what_follows_is_folded(name: str, stage: str, follows: set[str]) -> None:
    mini = fixtures.load("mini")
    result = parity.run_fixture(mini, [Command("py", tuple(layout.py_engine()), "py"), command(name)])
    assert not result.failures
    differing = [each.stage for each in result.stages if each.differences]
    assert differing[0] == stage
    assert follows <= set(differing[1:])


def test_an_engine_that_refuses_a_whole_corpus_has_no_table() -> None:
    mini = fixtures.load("mini")
    result = parity.run_fixture(mini, [command("wrong-shape"), command("wrong-shape")])
    assert not result.held
    assert result.failures[0].kind == "malformed"


def test_the_whole_process_group_ends(tmp_path: Path) -> None:
    """An engine behind a shell leaves nothing running."""
    note = tmp_path / "pid"
    words = ("sh", "-c", f"sleep 600 & echo $! > '{note}'; exec '{sys.executable}' '{SCRIPT}' noise")
    run = Run("wrong")
    parity.run_engine(fixtures.load(str(WRONG / "cases")), Command("wrong", words, "shell"), run)
    assert run.failure is not None
    assert run.failure.kind == "noise"
    status = Path("/proc") / note.read_text().strip() / "stat"
    for _ in range(50):
        if not status.exists() or ") Z " in status.read_text():
            return
        time.sleep(0.1)
    pytest.fail("a process of the engine's group still runs")
