"""Engines as processes, requests of any kind, the report of a difference, and the command line around them."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from chunkproof import cli, fixtures, layout, parity, verdict
from chunkproof.caselines import Case
from chunkproof.compare import Difference, compare, first_difference, shown_path, ulps
from chunkproof.context import excerpt
from chunkproof.engines import Engine, EngineFailure
from chunkproof.parity import Command
from chunkproof.pipeline import Run
from chunkproof.problems import Problem
from chunkproof.replies import Json, NotAReply, canonical, parse_reply
from chunkproof.stages import OPERATIONS, STAGE_OF_OP, STAGES, Select, chapter

WRONG = Path(__file__).parent / "wrong"
SCRIPT = WRONG / "engine.py"
INFO = '{"engine":"tiny","version":"1","spec":"1.0.0","unicode":"18.0.0","tokenizer":"sha256:0","ops":[]}'
# An engine of a few lines: every request but info is answered with its own op, or as the environment says.
TINY = f"""
import json, sys
for line in sys.stdin:
    request = json.loads(line)
    ok = json.loads('{INFO}') if request["op"] == "info" else {{"op": request["op"], "n": ANSWER}}
    print(json.dumps({{"id": request["id"], "ok": ok}}), flush=True)
"""


def tiny(name: str, answer: str = "1", own: str = "tiny") -> Command:
    script = TINY.replace("ANSWER", answer).replace('"tiny"', f'"{own}"')
    return Command(name, (sys.executable, "-c", script), name)


class Silent:
    """A witness that explains nothing."""

    def ask(self, request: dict[str, Json]) -> Json:
        return None

    def agree_alone(self, difference: Difference) -> bool:
        return False


def reported(kind: str, *answers: list[tuple[str, str, dict[str, Json], dict[str, Json]]]) -> str:
    """The report of engines that gave these answers, each a stage, a case, a value and the request."""
    runs = [Run(name) for name in ("one", "two", "three")[: len(answers)]]
    for run, given in zip(runs, answers, strict=True):
        for stage, case, value, request in given:
            run.add(stage, case, value, request)
    result = parity.judge(fixtures.Fixture("made", kind, Path.cwd(), True), runs)
    return verdict.report(result, [], Silent(), [])


def cases(*requests: dict[str, object]) -> fixtures.Fixture:
    made = tuple(Case(f"case/{i}", f"why {i}", dict(request), None, "") for i, request in enumerate(requests))
    return fixtures.Fixture("made", "cases", Path.cwd(), True, cases=made)


def chunkproof(*arguments: str, **options: object) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-m", "chunkproof.cli", *arguments]
    return subprocess.run(words, capture_output=True, text=True, timeout=300, **options)  # type: ignore[call-overload,no-any-return]


# Replies


@pytest.mark.parametrize(
    "line",
    [
        b"hello",
        b"[]",
        b'{"id":"1"}',
        b'{"id":1,"ok":{}}',
        b'{"id":"1","ok":{},"error":{"code":"internal"}}',
        b'{"id":"1","ok":3}',
        b'{"id":"1","error":"bad_text"}',
        b'{"id":"1","ok":{},"time":3}',
        b'{"id":"1","ok":{"value":NaN}}',
        b'{"id":"1","ok":{"value":1e999}}',
        b'\xff{"id":"1","ok":{}}',
    ],
)
def test_what_is_no_reply(line: bytes) -> None:
    with pytest.raises(NotAReply):
        parse_reply(line)


def test_the_compared_form_has_no_id_and_no_message() -> None:
    one = parse_reply(b'{"id":"1","error":{"code":"bad_text","message":"a"}}')
    two = parse_reply(b' {"error" : {"message":"b","code":"bad_text"}, "id":"2"}\r')
    assert one.value == two.value == {"error": {"code": "bad_text"}}


def test_canonical_bytes() -> None:
    assert canonical(parse_reply(b'{"id":"1","ok":{"b":5.0,"a":[1e1,-0.0],"c":"\\u00e9\\u001f\\n"}}').value) == (
        '{"ok":{"a":[10,0],"b":5,"c":"é\\u001f\\n"}}'.encode()
    )
    assert canonical({"v": 1e-7, "w": 1e21, "x": 10**20}) == b'{"v":1e-7,"w":1e+21,"x":100000000000000000000}'
    with pytest.raises(NotAReply):
        canonical("\ud800")


# Comparing


def test_true_is_not_one() -> None:
    assert first_difference({"a": 1}, {"a": True}) == ("a",)


def test_the_first_difference_reads_ranges_in_order() -> None:
    one = {"ok": {"chunks": [{"end": 5, "start": 0, "tokens": 1}, {"end": 9, "start": 5, "tokens": 2}]}}
    two = {"ok": {"chunks": [{"end": 5, "start": 0, "tokens": 1}, {"end": 8, "start": 4, "tokens": 2}]}}
    assert shown_path(first_difference(one, two)) == "ok.chunks[1].start"
    assert shown_path(first_difference({"ok": [1]}, {"ok": [1, 2]})) == "ok[1]"


def test_ulps_over_zero() -> None:
    assert ulps("0000000000000001", "8000000000000001") == -2
    assert ulps("3ff0000000000000", "3ff0000000000001") == 1


def test_an_excerpt_marks_both_boundaries() -> None:
    text = "x" * 50 + "One two\nthree" + "y" * 50
    assert excerpt(text, 53, 57) == "…" + "x" * 37 + "One│ two┃↵three" + "y" * 34 + "…"
    assert excerpt(text, 57, 53) == "…" + "x" * 37 + "One┃ two│↵three" + "y" * 34 + "…"
    assert excerpt("abc", 1, 1) == "a│bc"


def test_three_engines_and_one_that_differs() -> None:
    engines = [tiny("a"), tiny("b"), tiny("c", "2")]
    result = parity.run_fixture(cases({"op": "pieces"}, {"op": "rank"}), engines)
    assert not result.held
    assert result.cause is not None
    assert (result.cause.stage, result.cause.path) == ("pieces", "ok.n")
    assert result.cause.values == {"a": 1, "b": 1, "c": 2}


def test_a_case_that_one_engine_did_not_answer_is_a_difference() -> None:
    one, two = Run("one"), Run("two")
    one.add("metrics", "x", {"ok": {}})
    assert [stage.stage for stage in compare([one, two]) if stage.differences] == ["metrics"]


def test_an_answer_beside_an_error_is_called_an_answer() -> None:
    request = {"op": "fill", "budget": 1}
    answer, refusal = {"ok": {"n": 1}}, {"error": {"code": "bad_setting"}}
    for values in ((answer, refusal), (refusal, answer)):
        said = reported("cases", *([("budget", "x", value, request)] for value in values))
        assert "(answered, no error)\n" in said
        assert '{"code": "bad_setting"}\n' in said
        assert "  spec       13-budget.md § Rule 1 to 5; 01-wire.md § Errors\n" in said
        assert "absent" not in said
    said = reported("cases", *([("budget", "x", value, request)] for value in (answer, {"ok": {"n": 2}}, refusal)))
    assert "  at         ok.n\n  one        1\n  two        2\n  three      (the error bad_setting)\n" in said


def test_stages_that_differ_too_are_explained() -> None:
    one = [(stage, "x", {"ok": {"n": 1}}, {"op": "pieces"}) for stage in ("pieces", "chunks", "rankings")]
    two = [(stage, case, {"ok": {"n": 2}}, request) for stage, case, _, request in one]
    assert "  follows    probably caused by the above: chunks (1), rankings (1)\n" in reported("corpus", one, two)
    assert "  others     also differ, independent of it: chunks (1), rankings (1)\n" in reported("cases", one, two)


def test_every_operation_has_a_stage_and_a_place_in_the_spec() -> None:
    wire = (layout.spec_dir() / "01-wire.md").read_text(encoding="utf-8")
    assert sorted(OPERATIONS) == sorted(re.findall(r"^### `([a-z]+)`", wire, re.MULTILINE))
    assert set(STAGE_OF_OP.values()) <= set(STAGES)
    kinds = {"chunk": ("chunker", "fixed"), "rank": ("method", "dense")}
    for op in OPERATIONS:
        part, kind = kinds.get(op, ("", ""))
        place = chapter(STAGE_OF_OP[op], {"op": op, "kind": "mean", part: {"kind": kind}})
        assert (layout.spec_dir() / place.split(" § ")[0]).is_file()
        assert place != "README.md"
    assert chapter("numbers", {"op": "numbers", "kind": "mean"}) == "03-numerics.md § Rule 5"


def test_what_info_does_not_list_is_named() -> None:
    """Also where no case asked for it: nobody should take silence for parity."""
    some = [op for op in OPERATIONS if op != "cover"]
    part = tiny("engine 2", own="part")
    script = part.words[-1].replace('"ops":[]', f'"ops":{json.dumps(some)}')
    engines = [tiny("all", own="all"), Command(part.name, (*part.words[:-1], script), part.shown)]
    result = parity.run_fixture(cases({"op": "pieces"}), engines)
    assert result.held
    assert result.unlisted == {"all": [op for op in OPERATIONS if op != "info"], "part": ["cover"]}
    assert "\n  not in the info of part: cover" in verdict.held_line(result)
    assert verdict.held_sentence(["part"], []) == "✓ parity held for the operations that part lists"
    assert verdict.held_sentence([], []) == "✓ parity held"


def test_the_two_engines_list_every_operation() -> None:
    engines = [Command("py", tuple(layout.py_engine()), "py"), Command("ts", tuple(layout.ts_engine()), "ts")]
    assert parity.run_fixture(cases({"op": "terms", "text": "a"}), engines).unlisted == {}


def test_an_engine_is_called_as_it_calls_itself() -> None:
    asked = cases({"op": "pieces"})
    result = parity.run_fixture(asked, [tiny("engine 1", own="owl"), tiny("engine 2", "2", "fox")])
    assert result.cause is not None
    assert result.cause.values == {"owl": 1, "fox": 2}
    same = parity.run_fixture(asked, [tiny("engine 1"), tiny("engine 2", "2")])
    assert same.cause is not None
    assert same.cause.values == {"engine 1": 1, "engine 2": 2}
    for taken in ("py", "x" * 99, ""):
        result = parity.run_fixture(asked, [tiny("py"), tiny("engine 2", "2", taken)])
        assert [run.engine for run in result.runs] == ["py", "engine 2"]


def test_a_failure_bears_the_engines_own_name() -> None:
    dies = tiny("engine 2", "[][0]", "fox")
    result = parity.run_fixture(cases({"op": "pieces"}), [tiny("py"), dies])
    said = verdict.report(result, [tiny("py"), dies], Silent(), [])
    assert (
        "✗ made: engine fox died: exit status 1; last words: IndexError: list index out of range (before that: " in said
    )
    assert "  command    engine 2\n" in said


def test_nothing_compared_is_no_parity() -> None:
    result = parity.run_fixture(cases({"op": "pieces"}), [tiny("a"), tiny("b")], Select(("nowhere",)))
    assert not result.held
    assert "nothing was compared" in verdict.report(result, [], None, [])  # type: ignore[arg-type]


# Engines


def failure_of(code: str, timeout: float = 60.0) -> EngineFailure:
    with (
        pytest.raises(EngineFailure) as caught,
        Engine([sys.executable, "-c", code], Path.cwd(), "e", timeout) as engine,
    ):
        engine.ask([("the first", {"op": "info"}), ("the second", {"op": "info"})])
    return caught.value


def test_an_engine_that_is_not_there() -> None:
    with pytest.raises(EngineFailure, match="could not be started") as caught:
        Engine(["/nowhere/engine"], Path.cwd())
    assert caught.value.kind == "start"


def test_the_first_open_request_is_named() -> None:
    failure = failure_of('print(\'{"id":"cp-1","ok":{}}\', flush=True); raise SystemExit("out of memory")')
    assert (failure.kind, failure.open) == ("died", "the second")
    assert failure.detail == "exit status 1; last words: out of memory"


def test_last_words_begin_with_the_last_line_and_point_at_nothing() -> None:
    words = "  File x.py, line 3\\n    a / b\\n    ~~^~~\\nZeroDivisionError: division\\n\\n        ^^^^^\\n"
    failure = failure_of(f"import sys; sys.stderr.write('{words}'); sys.exit(3)")
    told = "last words: ZeroDivisionError: division (before that: File x.py, line 3 / a / b)"
    assert failure.detail == f"exit status 3; {told}"


@pytest.mark.parametrize(
    ("answered", "told"),
    [
        (
            [1, 3, 4],
            "no reply within 1 s; 2 of the 2 requests sent after the open one were answered, so it passed over that one",
        ),
        (
            [1, 3],
            "no reply within 1 s; 1 of the 2 requests sent after the open one was answered, so it passed over that one",
        ),
        (
            [1],
            "no reply within 1 s; none of the 2 requests sent after the open one was answered either: it stands still",
        ),
        ([1, 2, 3], "no reply within 1 s"),
    ],
)
def test_a_dropped_reply_is_told_from_standing_still(answered: list[int], told: str) -> None:
    code = f'import time\nfor i in {answered}: print(\'{{"id":"cp-%d","ok":{{}}}}\' % i, flush=True)\ntime.sleep(60)'
    with (
        pytest.raises(EngineFailure) as caught,
        Engine([sys.executable, "-c", code], Path.cwd(), "e", 1) as engine,
    ):
        engine.ask([(str(number), {"op": "info"}) for number in (1, 2, 3, 4)])
    assert caught.value.detail == told
    assert caught.value.open == ("4" if answered == [1, 2, 3] else "2")


def test_a_signal_is_named() -> None:
    assert "signal SIGKILL" in failure_of("import os, signal; os.kill(os.getpid(), signal.SIGKILL)").detail


def test_an_engine_that_does_not_end() -> None:
    code = 'import time\nfor i in \'12\': print(\'{"id":"cp-%s","ok":{}}\' % i, flush=True)\ntime.sleep(600)'
    failure = failure_of(code, timeout=2)
    assert failure.kind == "hang"
    assert failure.open == ""


def test_a_request_larger_than_the_pipe_does_not_block() -> None:
    """The engine writes much before it reads on, while the harness writes much too."""
    code = """
import sys
for line in sys.stdin:
    number = line.split('"')[3]
    print('{"id":"%s","ok":{"text":"%s"}}' % (number, "y" * 500_000), flush=True)
"""
    with Engine([sys.executable, "-c", code], Path.cwd(), "e", 60) as engine:
        replies = engine.ask([(str(i), {"op": "pieces", "text": "x" * 500_000}) for i in range(8)])
    assert [len(reply.ok["text"]) for reply in replies] == [500_000] * 8


def test_a_command_is_read_as_a_shell_would(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my engine.py").touch()
    assert parity.engine_command("python3 'my engine.py' --fast") == [
        "python3",
        str(tmp_path / "my engine.py"),
        "--fast",
    ]
    for text in ("", "'open"):
        with pytest.raises(Problem):
            parity.engine_command(text)


# Any requests


def test_requests_are_sent_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    lines = [
        b'{"id":"a","op":"pieces","text":"One two"}',
        b'{"id":"a","op":"pieces","text":"again"}',
        b'{"id":"b","op":"pieces","text":"a key twice","text":"x"}',
        b'{"op":"pieces","text":"no id: it gets one"}',
        b"not JSON",
        b"\xff\xfe",
        b'{"id":"c","op":"numbers","kind":"sum","values":[NaN]}',
        b'{"id":"d","why":"A case.","op":"pieces","text":{"repeat":"ab ","times":3}}',
        b'{"id":"e","op":"info"}',
        b"",
        b'{"id":"f","op":"chunk","text":"x","chunker":{"kind":"fixed","size":0}}',
    ]
    path.write_bytes(b"\n".join(lines))
    done = chunkproof("parity", "--requests", str(path), "--engine", "py", "--engine", "py", "--json")
    assert done.returncode == 0, done.stdout
    (found,) = json.loads(done.stdout)["fixtures"]
    assert {stage["stage"]: stage["cases"] for stage in found["stages"]} == {"wire": 6, "pieces": 4, "chunks": 1}


# The command line


def test_a_failed_run_says_what_to_type(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(WRONG.parent)
    engine = f"{sys.executable} wrong/engine.py utf16-offsets"
    assert cli.run(["parity", "--fixture", "wrong/cases", "--engine", "py", "--engine", engine]) == 1
    said = capsys.readouterr().out
    for part in (
        "differ in 1 of 9 stages of cases",
        "  stage      pieces\n",
        "  case       cases/pieces/astral\n",
        "  spec       05-pieces.md",
        "  at         ok.pieces[1].end\n",
        "  py         3\n  engine 2   4\n",
        "  why        An astral character is one code point",
        "  context    a😀b│ ┃c\n",
        f"--engine '{engine}' --case pieces/astral --stage pieces\n",
        "✗ parity did not hold",
    ):
        assert part in said
    repeat = ["parity", "--fixture", "wrong/cases", "--engine", "py", "--engine", engine, "--case", "pieces/astral"]
    assert cli.run([*repeat, "--stage", "pieces"]) == 1
    assert "differ in 1 of 1 stages" in capsys.readouterr().out


def test_a_leak_of_state_is_called_so(capsys: pytest.CaptureFixture[str]) -> None:
    leaky = f"{sys.executable} {SCRIPT} leak-of-state"
    arguments = ["parity", "--fixture", str(WRONG / "cases"), "--engine", "py", "--engine"]
    assert cli.run([*arguments, leaky]) == 1
    words = "asked alone they agree: an engine keeps something from one request to the next"
    assert words in capsys.readouterr().out
    assert cli.run([*arguments, f"{sys.executable} {SCRIPT} end-off-by-one"]) == 1
    assert words not in capsys.readouterr().out


def test_a_case_may_bear_its_fixtures_name(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["parity", "--fixture", str(WRONG / "cases"), "--engine", "py", "--engine", "py"]
    assert cli.run([*arguments, "--case", "cases/rank/*", "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)["fixtures"]
    assert found["stages"] == [{"stage": "rankings", "cases": 3, "differ": []}]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["parity", "--fixture", "nowhere"], "there is no fixture 'nowhere'"),
        (["parity", "--stage", "soup"], "there is no stage 'soup'; there are: wire, numbers, "),
        (["parity", "--requests", "nowhere.jsonl"], "nowhere.jsonl cannot be read"),
        (["engine", "rs"], "there is no engine 'rs'"),
        (["chunk", "nowhere.md", "--kind", "fixed", "--size", "4"], "nowhere.md cannot be read"),
        (["chunk", __file__, "--kind", "fixed", "--size", "0"], "bad_setting"),
        (["chunk", __file__, "--kind", "round", "--size", "4"], "bad_request"),
        (["table", "--fixture", "mini", "--format", "pdf"], "there is no format 'pdf'"),
        (["table", "--fixture", "mini", "--format", "csv", "--json"], "ask for two formats: leave one out"),
        (["parity", "--engine", "py", "--engine", "pyy --fast"], "the engine command 'pyy' is no program here"),
        (["table", "--fixture", str(WRONG / "cases")], "only a corpus has a table"),
        (["nothing"], "nothing"),
    ],
)
def test_wrong_use_is_one_sentence(arguments: list[str], words: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert cli.run(arguments) == 2
    said = capfd.readouterr()
    assert words in said.err
    assert "Traceback" not in said.err + said.out


@pytest.mark.parametrize("engine", ["py", "ts"])
def test_chunk_shows_or_prints_json(engine: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "t.md"
    path.write_bytes("Hello thére.\r\n\r\nNext 😀 one.".encode())
    arguments = ["chunk", str(path), "--kind", "fixed", "--size", "4", "--engine", engine]
    assert cli.run([*arguments, "--json"]) == 0
    chunks = json.loads(capsys.readouterr().out)["chunks"]
    assert chunks[0]["start"] == 0
    assert chunks[-1]["end"] == 27
    assert cli.run(arguments) == 0
    assert f"── 1 of {len(chunks)} · [0, " in capsys.readouterr().out


def test_an_interrupted_run_leaves_no_engine(tmp_path: Path) -> None:
    note = tmp_path / "pid"
    script = f"import os, time; open({str(note)!r}, 'w').write(str(os.getpid())); time.sleep(600)"
    engine = f'{sys.executable} -c "{script}"'
    words = [sys.executable, "-m", "chunkproof.cli", "parity", "--fixture", str(WRONG / "cases")]
    process = subprocess.Popen([*words, "--engine", engine, "--engine", "py"], stderr=subprocess.PIPE)
    for _ in range(300):
        if note.exists() and note.read_text():
            break
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert err == b"chunkproof: interrupted\n"
    with pytest.raises(ProcessLookupError):
        os.kill(int(note.read_text()), 0)


@pytest.mark.parametrize("name", ["py", "ts"])
def test_the_engine_command_runs_from_any_folder(name: str, tmp_path: Path) -> None:
    done = chunkproof("engine", name, input='{"id":"1","op":"info"}\n', cwd=tmp_path)
    assert json.loads(done.stdout)["ok"]["engine"] == f"chunkproof-{name}"


def test_the_two_engines_agree_on_the_cases_of_the_wrong_ones() -> None:
    engines = [Command("py", tuple(layout.py_engine()), "py"), Command("ts", tuple(layout.ts_engine()), "ts")]
    assert parity.run_fixture(fixtures.load(str(WRONG / "cases")), engines).held


def test_an_engine_may_lack_operations_that_it_does_not_list(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`unsupported` is no difference where `info` says so, counts as nothing compared, and publishes no table."""
    half = tmp_path / "half.py"
    half.write_text(
        "import json, sys\n"
        "from chunkproof import engine\n"
        "for line in sys.stdin:\n"
        "    request = json.loads(line)\n"
        "    if request['op'] in ('info', 'pieces', 'chunk'):\n"
        "        reply = json.loads(''.join(engine.answer(json.loads(line, parse_int=float))))\n"
        "    else:\n"
        "        reply = {'id': request['id'], 'error': {'code': 'unsupported', 'message': ''}}\n"
        "    if request['op'] == 'info':\n"
        "        reply['ok']['ops'] = ['info', 'pieces', 'chunk']\n"
        "    print(json.dumps(reply), flush=True)\n",
        encoding="utf-8",
    )
    command = f"{sys.executable} {half}"
    cli.run(["parity", "--fixture", "mini", "--engine", command, "--json"])
    (found,) = json.loads(capsys.readouterr().out)["fixtures"]
    assert found["lacking"]["engine 2"] > 0
    assert found["held"]
    assert found["digest"] is None
    assert "table" not in found
    assert {stage["stage"] for stage in found["stages"] if stage["cases"]} >= {"pieces", "chunks"}
    assert found["unlisted"]["engine 2"] == [op for op in OPERATIONS if op not in ("info", "pieces", "chunk")]
    assert cli.run(["parity", "--fixture", "mini", "--stage", "pieces", "--engine", command]) == 0
    said = capsys.readouterr().out
    assert "\n  not in the info of engine 2: numbers, terms, quantize, segments, rank, " in said
    assert "· golden: mini has no golden files" in said or "✓ golden: mini" in said
    assert said.splitlines()[-1].startswith("✓ parity held for the operations that engine 2 lists")
    half.write_text(half.read_text(encoding="utf-8").replace("'chunk']", "'chunk', 'segments']"), encoding="utf-8")
    assert cli.run(["parity", "--fixture", "mini", "--stage", "segments", "--engine", command]) == 1
    assert "unsupported" in capsys.readouterr().out


def test_an_engine_beside_itself_publishes_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["table", "--fixture", "mini", "--engine", "py", "--engine", "py", "--format", "md"]) == 0
    assert capsys.readouterr().out.startswith("<!-- mini: NOT COVERED BY PARITY")


def test_a_request_that_no_engine_would_read_is_the_askers_fault(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("chunkproof.engines.LONGEST_LINE", 1000)
    path = tmp_path / "long.txt"
    path.write_text("word " * 400, encoding="utf-8")
    assert cli.run(["chunk", str(path), "--kind", "fixed", "--size", "5"]) == 2
    assert "cut the text into documents" in capsys.readouterr().err
