"""The report's data: what the program prints and the golden files say, in scripts that hold no markup, in a folder of its own."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import os
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from chunkproof import cli, exact, fixtures, golden, layout, parity, table
from chunkproof.engines import Engine
from chunkproof.experiment import papers
from chunkproof.parity import Command, FixtureResult
from chunkproof.pipeline import METRICS, Run
from chunkproof.problems import Problem
from chunkproof.replies import digest
from chunkproof.report import check, pictures, site, write

PY = Command("py", tuple(layout.py_engine()), "py")
PAGE = {"index.html": "<p>page", "page.css": "p {}", "page.js": "1", "worker.js": "// </script> \u2028"}
Judge = Callable[[str], FixtureResult]


@pytest.fixture(scope="module")
def judge() -> Judge:
    """Parity on a fixture of the Python engine with one that answers alike: here is tested what is made of it."""
    known: dict[str, FixtureResult] = {}

    def judge(name: str) -> FixtureResult:
        if name not in known:
            run, fixture = Run("py"), fixtures.load(name)
            parity.run_engine(fixture, PY, run)
            assert run.failure is None
            other = replace(run, engine="other", info={**run.info, "engine": "other"})
            known[name] = parity.judge(fixture, [run, other])
        return known[name]

    return judge


@pytest.fixture(scope="module")
def mini(judge: Judge) -> FixtureResult:
    return judge("mini")


@pytest.fixture(scope="module")
def shown(mini: FixtureResult) -> dict[str, Any]:
    return site.collect(mini, [PY], golden.check(mini))


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A built page that needs no browser's tools."""
    folder = tmp_path / "page"
    folder.mkdir()
    for name, text in PAGE.items():
        (folder / name).write_text(text, encoding="utf-8")
    monkeypatch.setattr(layout, "page_dir", lambda: folder)
    return folder


def files(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def held_by(script: Path | str, name: str) -> Any:
    """What a script leaves in `window.<name>`, as a JavaScript engine reads it."""
    text = script if isinstance(script, str) else script.read_text(encoding="utf-8")
    program = f"const window = {{}};\n{text}\nprocess.stdout.write(JSON.stringify(window.{name}));"
    done = subprocess.run(["node", "-"], input=program.encode(), capture_output=True, timeout=60, check=True)
    return json.loads(done.stdout)


# What is shown is what the program prints.


def test_the_tables_are_those_that_are_printed(mini: FixtureResult, shown: dict[str, Any]) -> None:
    made = table.make(mini)
    assert shown["table"] == json.loads(table.render(made, "json"))
    assert shown["cuts"] == json.loads(table.render(table.with_cuts(made, mini, [PY]), "json"))
    assert shown["wording"] == {"table": made.heading(), "cuts": table.with_cuts(made, mini, [PY]).remarks()[0]}


def test_the_report_holds_the_json_of_parity_and_table(
    page: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As a user runs it, with both engines: the three commands say the same, word for word."""
    out = tmp_path / "site"
    assert cli.run(["report", "--fixture", "mini", "--out", str(out)]) == 0
    assert f"open {out / 'index.html'}" in capsys.readouterr().out
    seen = held_by(out / "data" / "site.js", "chunkproof")["site"]
    for key, words in {"parity": ["parity"], "table": ["table"], "cuts": ["table", "--cuts"]}.items():
        assert cli.run([*words, "--fixture", "mini", "--json"]) == 0
        assert seen[key] == json.loads(capsys.readouterr().out), key
    assert seen["parity"]["held"]
    assert seen["parity"]["golden"]
    assert held_by(out / "data" / "worker.js", "chunkproofWorker") == PAGE["worker.js"]
    assert not (out / "worker.js").exists()
    made = files(out)
    assert {name: made[name].decode() for name in ("index.html", "page.css", "page.js")} == {
        name: PAGE[name] for name in ("index.html", "page.css", "page.js")
    }
    assert not [path for path in tmp_path.iterdir() if path.name not in ("page", "site")]


def test_texts_cuts_and_losses_are_the_replies(mini: FixtureResult, shown: dict[str, Any]) -> None:
    replies = {(item.stage, item.case): item.value["ok"] for item in mini.runs[0].outcomes}
    assert [config["name"] for config in shown["configs"]] == [config.name for config in mini.fixture.configs]
    for index, document in enumerate(shown["documents"]):
        name, flat = document["id"], shown["pieces"][index]
        ends, tokens = flat[::2], flat[1::2]
        starts = [0, *ends][: len(ends)]
        pieces = [{"start": a, "end": b, "tokens": c} for a, b, c in zip(starts, ends, tokens, strict=True)]
        assert pieces == replies["pieces", name]["pieces"]
        assert ends[-1] == len(document["text"])
        for config, chunks in shown["chunks"].items():
            at = iter(chunks[index])
            ranges = [{"start": a, "end": b, "tokens": c} for a, b, c in zip(at, at, at, strict=True)]
            assert ranges == replies["chunks", f"{config}/{name}"]["chunks"]
        for config, similarities in shown["similarities"].items():
            assert similarities[index] == replies["similarities", f"{config}/{name}"]["similarities"]
            assert shown["thresholds"][config][index] == replies["threshold", f"{config}/{name}"]["threshold"]
    assert shown["similarities"]
    for row in shown["table"]["chunking"]:
        assert str(len(shown["lost"][row["config"]])) == row["lost"]


def test_every_row_names_the_command_that_prints_it(shown: dict[str, Any]) -> None:
    cases = [row["config"] for row in shown["table"]["chunking"]]
    cases += [f"{row['config']}/{row['method']}" for row in shown["table"]["rows"]]
    assert list(shown["repeat"]) == cases
    case = next(case for case in cases if case.endswith("/dense precision=int8"))
    assert shown["repeat"][case] == "chunkproof table --fixture mini --method 'dense precision=int8'"


# Exact figures.


@pytest.mark.parametrize(
    ("fractions", "mean"),
    [
        ([], "0/1"),
        (["1/1", "0/1", "1/1", "0/1"], "2/4"),  # a count of questions, which is not reduced
        (["1/2", "1/2", "0/1"], "1/3"),
        (["1/2", "1/3"], "5/12"),
    ],
)
def test_a_mean_of_fractions(fractions: list[str], mean: str) -> None:
    assert exact.mean_of(fractions) == mean


def test_exact_figures_round_to_the_printed_ones(shown: dict[str, Any]) -> None:
    found = shown["table"]["exact"]
    for row in shown["table"]["rows"]:
        for metric in METRICS:
            figure = found[f"{row['config']}/{row['method']}"][metric]
            # What is printed is the double: 209/400 lies above the double nearest to it, which rounds to 0.522.
            double = float(Fraction(figure["fraction"])) if "fraction" in figure else float(figure["decimal"])
            assert str(Decimal(double).quantize(Decimal("0.001"), ROUND_HALF_UP)) == row[metric]
            assert ("fraction" in figure) == (metric != "ndcg@10")
    for row in shown["table"]["chunking"]:
        tokens, chunks = found[row["config"]]["mean_tokens"]["fraction"].split("/")
        assert chunks == row["chunks"]
        assert f"{int(tokens) / int(chunks):.1f}" == row["mean_tokens"]


# The check: requests in a short form, and what the golden files want.


def test_every_request_gets_a_reply_with_the_golden_digest(mini: FixtureResult) -> None:
    """Written out again as the page does it, with one engine's replies: all of the fixture, nothing left out."""
    asked, values = check.collect(mini)
    assert asked["golden"]
    items = asked["items"]
    assert (len(items), asked["left_out"]) == (mini.compared, 0)
    assert {(item["stage"], item["case"]) for item in items} == {
        (stage, case) for stage, cases in values.items() for case in cases
    }
    assert asked["stages"] == [stage.stage for stage in mini.stages]
    said: dict[str, Any] = {}
    with Engine(list(PY.words), mini.fixture.folder, "py") as engine:
        for stage in asked["stages"]:
            mine = [item for item in items if item["stage"] == stage]
            requests = [(item["case"], whole(item["request"], mini, asked, said)) for item in mine]
            for item, reply in zip(mine, engine.ask(requests), strict=True):
                ok = dict(reply.ok)
                if stage == "rankings":
                    said[item["case"]] = [[entry["passage"] for entry in ranking] for ranking in ok["rankings"]]
                if item["request"]["op"] == "chunk":
                    parts = ("similarities", "threshold")
                    ok = {key: ok[key] for key in ok if (key == stage if stage in parts else key not in parts)}
                assert digest({"ok": ok}) == item["digest"], (stage, item["case"])


def whole(request: Any, result: FixtureResult, asked: dict[str, Any], said: dict[str, Any]) -> Any:
    """A request in full."""
    documents, questions = result.fixture.documents, result.fixture.questions
    if isinstance(request, list):
        return [whole(each, result, asked, said) for each in request]
    if not isinstance(request, dict):
        return request
    match request:
        case {"$document": index}:
            return documents[index].text
        case {"$slices": flat}:
            return [documents[d].text[a:b] for d, a, b in zip(*[iter(flat)] * 3, strict=True)]
        case {"$spans": flat}:
            return [{"document": d, "start": a, "end": b} for d, a, b in zip(*[iter(flat)] * 3, strict=True)]
        case {"$queries": True}:
            return [question.text for question in questions]
        case {"$answers": True}:
            return [{"document": each.document, "start": each.start, "end": each.end} for each in questions]
        case {"$rankings": case}:
            return said[case]
        case {"$vectors": name}:
            return asked["vectors"][name]
    return {key: whole(value, result, asked, said) for key, value in request.items()}


def test_vectors_are_there_once_and_whole(mini: FixtureResult) -> None:
    asked, _ = check.collect(mini)
    used = set()
    for item in asked["items"]:
        request = item["request"]
        for holder in (
            request.get("passage_vectors"),
            request.get("query_vectors"),
            request.get("chunker", {}).get("vectors"),
        ):
            used |= {holder["$vectors"]} if holder else set()
    assert used == set(asked["vectors"])
    contents = [each["int8"] for each in asked["vectors"].values()]
    assert len(set(contents)) == len(contents)
    rows = sum(len(base64.b64decode(each["int8"])) // each["dim"] for each in asked["vectors"].values())
    files = [mini.fixture.vectors.sentences, mini.fixture.vectors.questions, *mini.fixture.vectors.chunks.values()]
    assert rows == sum(len(file.keys) for file in files if file is not None)


def test_the_digests_are_the_golden_ones_not_the_runs(mini: FixtureResult, tmp_path: Path) -> None:
    """A golden file that says something else is what the page will hold its engine against."""
    folder = tmp_path / "mini"
    shutil.copytree(mini.fixture.folder, folder)
    root = layout.golden_dir()
    shutil.copytree(root / "mini", folder / "golden" / "mini")
    lines = (folder / "golden" / "mini" / "threshold.jsonl").read_text(encoding="utf-8").splitlines()
    first = json.loads(lines[0])
    first["ok"]["threshold"] = "3fe0000000000000"
    data = ("\n".join([json.dumps(first, sort_keys=True, separators=(",", ":")), *lines[1:]]) + "\n").encode()
    (folder / "golden" / "mini" / "threshold.jsonl").write_bytes(data)
    manifest = json.loads((root / golden.MANIFEST).read_text(encoding="utf-8"))
    manifest["fixtures"]["mini"]["files"]["threshold.jsonl"]["sha256"] = hashlib.sha256(data).hexdigest()
    (folder / "golden" / golden.MANIFEST).write_text(json.dumps(manifest), encoding="utf-8")
    other = replace(mini, fixture=replace(mini.fixture, folder=folder, by_path=True))
    before, after = (
        {(item["stage"], item["case"]): item["digest"] for item in check.collect(each)[0]["items"]}
        for each in (mini, other)
    )
    assert {key for key in before if before[key] != after[key]} == {("threshold", first["id"])}


def test_without_golden_files_the_digests_are_the_runs(mini: FixtureResult, tmp_path: Path) -> None:
    folder = tmp_path / "mini"
    shutil.copytree(mini.fixture.folder, folder)
    other = replace(mini, fixture=replace(mini.fixture, folder=folder, by_path=True))
    one, two = check.collect(mini)[0], check.collect(other)[0]
    assert not two["golden"]
    assert [item["digest"] for item in two["items"]] == [item["digest"] for item in one["items"]]


def test_cases_are_asked_as_they_are_but_for_files(judge: Judge) -> None:
    edge = judge("edge")
    asked, _ = check.collect(edge)
    values = {(item.stage, item.case): item for item in edge.runs[0].outcomes}
    assert len(asked["items"]) > 800
    assert asked["left_out"] == edge.compared - len(asked["items"])
    for item in asked["items"]:
        outcome = values[item["stage"], item["case"]]
        assert item["request"] == outcome.request
        assert item["digest"] == digest(outcome.value)
        assert '"arrow":' not in json.dumps(item["request"])
    assert site.collect(edge, [PY], golden.check(edge))["table"] is None


def test_a_question_of_a_paper_is_pictured_in_its_code_points(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pictures, "MANY", 2)
    folder = layout.fixtures_dir() / "papers"
    known = {paper.id: paper for paper in papers.load(str(folder)).papers}
    made = pictures.collect(folder, [PY, PY])
    assert len(made) == 2
    for each in made:
        paper = known[each["paper"]]
        assert each["length"] == len(paper.text)
        assert each["question"] in [question.text for question in paper.questions]
        starts = {(paragraph.start, paragraph.end) for paragraph in paper.paragraphs}
        assert each["evidence"]
        assert {tuple(span) for span in each["evidence"]} <= starts
        for shown in each["policies"]:
            assert 0 < shown["tokens"] <= each["budget"]
            assert all(0 <= start < end <= len(paper.text) for start, end in shown["context"])
        first = next(shown for shown in each["policies"] if shown["policy"] == "first")
        assert first["context"][0][0] == 0


# Scripts.


@pytest.mark.parametrize(
    "value",
    [
        "</script><script>alert(1)</script><!--",
        "a\u2028b\u2029c\\u2028",
        {"<img onerror=x>": ["\u202e\u2066", "\\", '"', "'", "\x00\x1f\x7f"]},
        {"__proto__": {"a": 1}, "b": "</script>\u2028"},
        "\ud800 alone",
        "𝒳",
    ],
    ids=["tags", "line separators", "controls", "prototype", "half a pair", "beyond the plane"],
)
def test_a_script_holds_the_value_and_no_markup(value: Any) -> None:
    text = write.script("x", value)
    assert "<" not in text
    assert not {"\u2028", "\u2029"} & set(text)
    assert text.count("\n") == 1
    text.encode("utf-8")
    assert held_by(text, "x") == value


# The folder.


def a_site(out: Path, page: Path, tokenizer: Path | None = None) -> int:
    data = {"site.js": ("chunkproof", {"site": {}})}
    return write.write(out, data, write.page_files(page), tokenizer or page / "page.css")


def test_a_report_replaces_an_earlier_one_and_leaves_none_of_it(page: Path, tmp_path: Path) -> None:
    out = tmp_path / "deep" / "site"
    count = a_site(out, page)
    assert len(files(out)) == count
    (page / "more.txt").write_text("x", encoding="utf-8")
    a_site(out, page)
    assert (out / "more.txt").is_file()
    (page / "more.txt").unlink()
    assert a_site(out, page) == count
    assert not (out / "more.txt").exists()
    assert [path.name for path in out.parent.iterdir()] == ["site"]


def test_an_empty_folder_is_filled(page: Path, tmp_path: Path) -> None:
    (tmp_path / "site").mkdir()
    assert a_site(tmp_path / "site", page) == len(files(tmp_path / "site"))


@pytest.mark.parametrize("place", ["notes.txt", "data/notes.txt"])
@pytest.mark.parametrize("earlier", [False, True], ids=["a folder of somebody's", "an earlier report"])
def test_nothing_that_no_report_wrote_is_overwritten(page: Path, tmp_path: Path, place: str, earlier: bool) -> None:
    out = tmp_path / "site"
    if earlier:
        a_site(out, page)
    (out / place).parent.mkdir(parents=True, exist_ok=True)
    (out / place).write_text("mine", encoding="utf-8")
    before = files(out)
    with pytest.raises(Problem, match=f"{place}, which no report wrote"):
        a_site(out, page)
    assert files(out) == before


def test_the_folder_is_refused_before_an_engine_is_asked(
    page: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parity, "run_fixture", lambda *_: pytest.fail("an engine was asked"))
    (tmp_path / "file").write_text("", encoding="utf-8")
    assert cli.run(["report", "--fixture", "mini", "--out", str(tmp_path / "file")]) == 2
    assert "is no folder" in capsys.readouterr().err
    (page / "page.js").unlink()
    assert cli.run(["report", "--fixture", "mini", "--out", str(tmp_path / "new")]) == 2
    said = capsys.readouterr().err
    assert "page.js is missing" in said
    assert "npm" in said  # the way out, in a checkout and in an installation
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("there", [False, True], ids=["new", "over an earlier one"])
def test_an_interruption_leaves_nothing_half(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, there: bool
) -> None:
    out = tmp_path / "site"
    if there:
        a_site(out, page)
    before = files(tmp_path)

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(shutil, "copyfile", interrupted)
    with pytest.raises(KeyboardInterrupt):
        a_site(out, page)
    assert files(tmp_path) == before


def test_a_failed_exchange_puts_the_earlier_report_back(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "site"
    a_site(out, page)
    before, rename = files(tmp_path), Path.rename

    def fails(self: Path, target: Path) -> Path:
        if self.name == "made":
            raise OSError("no")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", fails)
    with pytest.raises(OSError, match="no"):
        a_site(out, page)
    assert files(tmp_path) == before


def test_where_parity_does_not_hold_there_is_no_report(
    page: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, mini: FixtureResult
) -> None:
    run = mini.runs[0]
    at, right = next((index, item) for index, item in enumerate(run.outcomes) if item.stage == "threshold")
    changed = replace(right, value={"ok": {"threshold": "3fe0000000000000"}})
    wrong = replace(run, engine="ts", outcomes=[*run.outcomes[:at], changed, *run.outcomes[at + 1 :]])
    monkeypatch.setattr(parity, "run_fixture", lambda *_: parity.judge(mini.fixture, [run, wrong]))
    assert cli.run(["report", "--fixture", "mini", "--out", str(tmp_path / "site")]) == 1
    said = capsys.readouterr().err
    assert f"mini/{right.case}" in said
    assert "parity did not hold, so there is no report" in said
    assert not (tmp_path / "site").exists()


@pytest.mark.parametrize("text", ["{", "[]", "{}"])
def test_a_budget_that_is_none_is_refused(
    page: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str
) -> None:
    (tmp_path / "budget.json").write_text(text, encoding="utf-8")
    words = ["report", "--fixture", "mini", "--out", str(tmp_path / "site"), "--budget", str(tmp_path / "budget.json")]
    assert cli.run(words) == 2
    assert "chunkproof budget run --json" in capsys.readouterr().err


def test_a_fixture_whose_data_is_not_at_hand_may_be_left_out(
    page: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CHUNKPROOF_DATA", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    words = ["report", "--fixture", "squad6", "--out", str(tmp_path / "site")]
    assert cli.run([*words, "--if-data"]) == 0
    assert "squad6 is left out" in capsys.readouterr().out
    assert cli.run(words) == 2
    assert not (tmp_path / "site").exists()


@pytest.mark.slow
def test_the_data_of_atlas_is_small(judge: Judge, tmp_path: Path) -> None:
    """Together with the page, under 3 MB compressed; the tokenizer comes only when an engine is needed."""
    atlas = judge("atlas")
    asked, values = check.collect(atlas)
    shown = site.collect(atlas, [PY], golden.check(atlas))
    scripts = {"chunkproof": {"site": shown}, "chunkproofCheck": asked, "chunkproofGolden": values}
    sizes = {name: len(gzip.compress(write.script(name, value).encode())) for name, value in scripts.items()}
    assert sizes["chunkproof"] < 400_000, "this one is loaded first"
    assert sum(sizes.values()) < 2_600_000, sizes
    assert os.fspath(tmp_path) not in json.dumps(shown)
