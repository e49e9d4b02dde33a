"""Random requests: both engines agree, and an engine that does not is found and its fault made small."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

pytest.importorskip("hypothesis", reason="fuzz needs hypothesis")

from chunkproof import fuzz, fuzz_checks, fuzz_requests
from chunkproof.problems import Problem
from chunkproof.stages import OPERATIONS

SEED = 23
EXAMPLES = 300

# The Python engine with one fault a mode, in front of its replies.
WRONG = """
import json, subprocess, sys
engine = subprocess.Popen([sys.executable, "-m", "chunkproof.engine"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
for line in sys.stdin.buffer:
    engine.stdin.write(line)
    engine.stdin.flush()
    reply = json.loads(engine.stdout.readline())
    try:
        request = json.loads(line)
    except ValueError:
        request = {}
    ok = reply.get("ok", {})
    if sys.argv[1] == "utf16" and request.get("op") == "pieces":
        for piece in ok.get("pieces", []):
            for key in ("start", "end"):
                piece[key] = len(request["text"][: piece[key]].encode("utf-16-le")) // 2
    if sys.argv[1] == "dies" and request.get("op") == "terms":
        sys.exit(3)
    if sys.argv[1] == "lacks" and request.get("op") != "info":
        reply = {"id": reply["id"], "error": {"code": "unsupported", "message": "not here"}}
    print(json.dumps(reply), flush=True)
"""


@pytest.fixture
def wrong(tmp_path: Path) -> list[str]:
    script = tmp_path / "wrong.py"
    script.write_text(WRONG)
    return [sys.executable, str(script)]


@pytest.fixture
def right() -> list[str]:
    return [sys.executable, "-m", "chunkproof.engine"]


def test_both_engines_agree_on_a_few_hundred_requests() -> None:
    found = fuzz.find(SEED, examples=EXAMPLES)
    said = "\n".join(f"{d.group}: {d.reason}\n{d.line()}" for d in found.differences)
    assert not found.differences, said
    assert found.requests >= EXAMPLES
    assert found.unsupported == 0


def test_offsets_in_utf16_are_found_and_shrunk_to_one_character(right: list[str], wrong: list[str]) -> None:
    found = fuzz.find(SEED, examples=200, engines=[right, [*wrong, "utf16"]], only=["pieces"])
    [difference] = found.differences
    text = difference.request["text"]
    assert len(text) == 1
    assert ord(text) > 0xFFFF
    assert difference.reason == "at ok.pieces[0].end: engine 1 1, engine 2 2"
    case = json.loads(difference.line())
    assert case["id"].startswith("fuzz/pieces-")
    assert case["why"].startswith("why?")
    assert {key: case[key] for key in ("op", "text")} == {"op": "pieces", "text": text}


def test_a_fault_that_all_engines_share_breaks_an_invariant(wrong: list[str]) -> None:
    found = fuzz.find(SEED, examples=200, engines=[[*wrong, "utf16"]], only=["pieces"])
    [difference] = found.differences
    assert difference.reason == "the ranges end at 2, the text at 1"


def test_an_engine_that_dies_is_a_difference_and_is_started_again(right: list[str], wrong: list[str]) -> None:
    found = fuzz.find(SEED, examples=40, engines=[right, [*wrong, "dies"]], only=["terms", "quantize"])
    [difference] = found.differences
    assert difference.group == "terms"
    assert difference.request["text"] == ""
    assert difference.reason.startswith("engine 2 failed: died: exit status 3")


def test_what_an_engine_lacks_is_not_compared(right: list[str], wrong: list[str]) -> None:
    found = fuzz.find(SEED, examples=20, engines=[right, [*wrong, "lacks"]], only=["evaluate"])
    assert not found.differences
    assert found.unsupported >= 20


def test_a_seed_makes_the_same_requests(right: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    runs: list[list[str]] = []
    ask = fuzz.Panel.ask

    def noting(panel: fuzz.Panel, name: str, request: fuzz.Request) -> object:
        runs[-1].append(json.dumps(request))
        return ask(panel, name, request)

    monkeypatch.setattr(fuzz.Panel, "ask", noting)
    for seed in (1, 1, 2):
        runs.append([])
        fuzz.find(seed, examples=24, engines=[right], only=["chunk", "rank", "bad"])
    assert runs[0] == runs[1] != runs[2]


def test_what_engines_say_of_themselves_is_not_compared() -> None:
    with fuzz.Panel(fuzz.commands_of(None), Path.cwd()) as panel:
        panel.examine({"op": "info"}, sound=False)


def test_run_writes_cases_and_answers_with_a_status(
    right: list[str], wrong: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "new.jsonl"
    engines = [right, [*wrong, "utf16"]]
    assert fuzz.run(SEED, examples=100, engines=engines, out=out, only=["pieces"]) == 1
    assert "✗ fuzz: pieces: at ok.pieces[0].end" in capsys.readouterr().out
    [case] = map(json.loads, out.read_text().splitlines())
    assert case["op"] == "pieces"
    assert fuzz.run(SEED, examples=10, engines=[right], only=["quantize"], as_json=True) == 0
    assert json.loads(capsys.readouterr().out)["differences"] == []


def test_wrong_use_is_a_problem(right: list[str]) -> None:
    with pytest.raises(Problem, match="a time or a number"):
        fuzz.find(1, engines=[right])
    with pytest.raises(Problem, match="no group"):
        fuzz.find(1, examples=1, engines=[right], only=["nothing"])
    with pytest.raises(Problem, match="does not answer info"):
        fuzz.find(1, examples=1, engines=[["no-such-engine-anywhere"]])


def test_every_operation_of_the_wire_has_a_group() -> None:
    ops = {name.split("/")[0] for name in fuzz_requests.groups(lambda request: None)}
    assert ops >= {*OPERATIONS, "bad"} - {"info"}
    assert set(fuzz_checks.CHECKS) <= ops


FILL = {"op": "fill", "tokens": [3, 1, 2], "ranking": [0], "budget": 9, "chunks": [{"from": 0, "to": 2, "extra": 2}]}
FILLED = {"context": [{"from": 0, "to": 2}], "tokens": 6, "extra": 2, "chunks": 1, "full": False}
COVER = {
    "op": "cover",
    "context": [{"start": 4, "end": 9}, {"start": 0, "end": 6}],
    "evidence": [{"start": 1, "end": 9}],
    "minimum": "all",
}
BOOTSTRAP = {"op": "bootstrap", "treatment": [[1, 2]], "baseline": [[1, 4]], "resamples": 10}
QUARTER = "3fd0000000000000"
BOOTSTRAPPED = {
    "difference": QUARTER,
    "interval": [QUARTER, QUARTER],
    "p": "3fc745d1745d1746",
    "at_most_zero": 0,
    "at_least_zero": 10,
}


@pytest.mark.parametrize(
    ("request_", "ok"),
    [(FILL, FILLED), (COVER, {"overlaps": [8], "hits": [True]}), (BOOTSTRAP, BOOTSTRAPPED)],
)
def test_an_invariant_holds_of_the_right_reply(request_: fuzz.Request, ok: object) -> None:
    assert fuzz_checks.problem(request_, {"ok": ok}, lambda request: None) is None


@pytest.mark.parametrize(
    ("request_", "ok", "says"),
    [
        ({"op": "pieces", "text": "ab"}, {"pieces": [{"start": 0, "end": 1, "tokens": 1}]}, "end at 1, the text at 2"),
        ({"op": "terms", "text": "the"}, {"terms": ["the"]}, "stop word"),
        ({"op": "quantize", "vectors": [[1]], "to": "int8"}, {"vectors": [[128]]}, "out of range"),
        (
            {"op": "numbers", "kind": "print", "values": ["3ff0147ae147ae14"], "decimals": 2},
            {"texts": ["1.01"]},
            "is exact",
        ),
        ({"op": "evaluate", "passages": [], "answers": [], "rankings": []}, {}, "not the shape"),
        (
            {"op": "rank", "passages": ["a", "b"], "queries": ["c"], "method": {"kind": "bm25"}},
            {"rankings": [[{"passage": 1, "score": "0" * 16}, {"passage": 0, "score": "0" * 16}]]},
            "out of order",
        ),
        (FILL, {**FILLED, "tokens": 11}, "above the budget 9"),
        (FILL, {**FILLED, "context": [{"from": 0, "to": 1}, {"from": 1, "to": 2}]}, "maximal runs"),
        (FILL, {**FILLED, "tokens": 7}, "not that of the context"),
        (FILL, {**FILLED, "context": [{"from": 0, "to": 1}], "tokens": 5}, "cut before piece 1, which fits"),
        (FILL, {**FILLED, "context": [{"from": 1, "to": 2}], "tokens": 3}, "cut within"),
        (FILL, {**FILLED, "context": [{"from": 0, "to": 3}], "tokens": 8}, "no chunk up to the last"),
        (FILL, {**FILLED, "chunks": 2}, "1 chunks with headings of 2"),
        (FILL, {**FILLED, "full": True}, "full where nothing is left out"),
        (COVER, {"overlaps": [9], "hits": [True]}, "8 of its code points"),
        (COVER, {"overlaps": [8], "hits": [False]}, "`hits` says False"),
        (COVER, {"overlaps": [], "hits": []}, "not one overlap"),
        (BOOTSTRAP, {**BOOTSTRAPPED, "at_most_zero": 1, "p": "3fd745d1745d1746"}, "interval from 0.25 with 1"),
        (BOOTSTRAP, {**BOOTSTRAPPED, "at_least_zero": 9}, "of 10"),
        (BOOTSTRAP, {**BOOTSTRAPPED, "p": "3ff0000000000000"}, "a p that"),
        (BOOTSTRAP, {**BOOTSTRAPPED, "difference": "3fe0000000000000"}, "one unit"),
        (BOOTSTRAP, {**BOOTSTRAPPED, "interval": ["8" + "0" * 15] * 2}, "−0"),
        ({"op": "numbers", "kind": "mean", "fractions": [[1, 10]] * 10}, {"value": "3fb9999999999999"}, "mean 1/10"),
    ],
)
def test_an_invariant_names_what_is_wrong(request_: fuzz.Request, ok: object, says: str) -> None:
    assert says in str(fuzz_checks.problem(request_, {"ok": ok}, lambda request: None))
