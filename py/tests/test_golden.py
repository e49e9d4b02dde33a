"""Golden files: checking, updating after a question, all or nothing, and every kind of damage by name."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from chunkproof import cli, fixtures, golden, layout, parity, regold
from chunkproof.parity import Command, FixtureResult
from chunkproof.pipeline import Run
from chunkproof.stages import Select

HERE = Path(__file__).parent
SCRIPT = HERE / "wrong" / "engine.py"


@pytest.fixture(scope="module")
def answered(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Run]:
    """The right engine's answers, and those of one with a rule of its own, to the cases and to mini."""
    runs = {}
    for name, fixture in (("cases", str(HERE / "wrong" / "cases")), ("mini", "mini")):
        for engine in ("right", "overlap-one-piece-too-long"):
            words = layout.py_engine() if engine == "right" else [sys.executable, str(SCRIPT), engine]
            run = runs[f"{name} {engine}"] = Run("py")
            parity.run_engine(fixtures.load(fixture), Command("py", tuple(words), "py"), run)
            assert run.failure is None
    return runs


@pytest.fixture
def result(tmp_path: Path, answered: dict[str, Run]) -> FixtureResult:
    """Parity on a copy of the cases, whose golden files are its own."""
    return result_of(tmp_path, answered, "cases")


def result_of(tmp_path: Path, answered: dict[str, Run], name: str, engine: str = "right") -> FixtureResult:
    folder = tmp_path / name
    if not folder.exists():
        shutil.copytree(HERE / "wrong" / "cases" if name == "cases" else layout.fixtures_dir() / name, folder)
    run = answered[f"{name} {engine}"]
    return parity.judge(fixtures.load(str(folder)), [run, replace(run, engine="again")])


def update(*results: FixtureResult, reason: str = "first") -> int:
    import datetime

    return regold.write([regold.plan(each) for each in results], reason, datetime.date(2026, 1, 2))


def files(root: Path) -> dict[str, bytes]:
    return {str(path.relative_to(root)): path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()}


def test_first_there_are_none_and_then_they_hold(result: FixtureResult) -> None:
    assert golden.check(result).missing
    assert update(result) == 8
    found = golden.check(result)
    assert found.held
    assert found.cases == 30
    assert regold.plan(result).changes == []
    assert update(result) == 0


def test_the_manifest_says_why_and_by_what(result: FixtureResult) -> None:
    update(result)
    root = result.fixture.golden_root
    manifest = json.loads((root / "MANIFEST.json").read_bytes())
    entry = manifest["fixtures"]["cases"]
    assert (entry["reason"], entry["date"], entry["spec"]) == ("first", "2026-01-02", "1.0.0")
    assert entry["engines"][0]["runtime"].startswith("CPython")
    assert entry["files"]["pieces.jsonl"]["cases"] == 4
    assert [each["reason"] for each in manifest["history"]] == ["first"]
    line = (root / "cases" / "threshold.jsonl").exists()
    assert not line, "a fixture of cases keeps whole replies"
    chunks = (root / "cases" / "chunks.jsonl").read_text(encoding="utf-8").splitlines()
    whole = next(json.loads(text) for text in chunks if "semantic/equal" in text)
    assert set(whole["ok"]) == {"chunks", "similarities", "threshold"}
    assert {path.name for path in root.iterdir()} == {"MANIFEST.json", "cases"}


def test_another_answer_is_a_mismatch(tmp_path: Path, answered: dict[str, Run], result: FixtureResult) -> None:
    update(result)
    wrong = result_of(tmp_path, answered, "cases", "overlap-one-piece-too-long")
    (mismatch,) = golden.check(wrong).mismatches
    assert (mismatch.stage, mismatch.case, mismatch.path) == ("chunks", "fixed/overlap", "ok.chunks[1].start")
    assert mismatch.golden != mismatch.now
    assert golden.agrees_with(wrong, "chunks", "fixed/overlap") == []
    assert golden.agrees_with(result, "chunks", "fixed/overlap") == ["py", "again"]


def test_part_of_a_fixture_is_held_against_its_part(result: FixtureResult) -> None:
    update(result)
    part = Run("py", info=result.runs[0].info)
    select = Select(("pieces/astral",))
    parity.run_engine(result.fixture, Command("py", tuple(layout.py_engine()), "py"), part, select)
    found = golden.check(parity.judge(result.fixture, [part, replace(part, engine="again")], select))
    assert (found.held, found.cases) == (True, 1)


def test_a_corpus_is_kept_compact_and_its_changes_are_shown(tmp_path: Path, answered: dict[str, Run]) -> None:
    right = result_of(tmp_path, answered, "mini")
    update(right)
    folder = right.fixture.golden_root / "mini"
    pieces = json.loads((folder / "pieces.jsonl").read_text(encoding="utf-8").splitlines()[0])["ok"]
    assert sum(pieces["lengths"]) == len(right.fixture.documents[0].text)
    ranking = json.loads((folder / "rankings.jsonl").read_text(encoding="utf-8").splitlines()[0])
    assert set(ranking) == {"id", "ok", "sha256"}
    changes = regold.plan(result_of(tmp_path, answered, "mini", "overlap-one-piece-too-long")).changes
    text = "\n".join(f"{stage} {line}" for stage, line in changes)
    assert "chunks 3 of 18 changed: fixed-256-o64/ferry" in text
    assert "boundaries moved" in text
    assert "table fixed-256-o64 mean_tokens 248.4 → " in text


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda data: data[:-30], "is half-written: its last line, 4, is cut short"),
        (lambda data: data.replace(b'"ok"', b'"ok'), "is damaged: line 1 is not JSON"),
        (
            lambda data: data.replace(b'"start":0', b'"start":1', 1),
            "was changed by something else than `golden update`",
        ),
    ],
)
def test_damage_is_named_with_what_to_do(result: FixtureResult, damage: object, words: str) -> None:
    update(result)
    path = result.fixture.golden_root / "cases" / "pieces.jsonl"
    path.write_bytes(damage(path.read_bytes()))  # type: ignore[operator]
    (fault,) = golden.check(result).faults
    assert words in fault
    assert "pieces.jsonl" in fault
    assert "golden update --reason" in fault
    assert "written anew" in regold.plan(result).changes[0][1]


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('"format": 1', '"format": 2', "is of format 2, and this program writes format 1"),
        ('"spec": "1.0.0"', '"spec": "2.0.0"', "are of spec 2.0.0, and the engines speak spec 1.0.0"),
        ('"history": [', '"history": ', "is damaged or half-written"),
        ('"fixtures": {', '"fixture": {', "has no fixtures or no history"),
    ],
)
def test_a_manifest_of_another_time_is_named(result: FixtureResult, old: str, new: str, words: str) -> None:
    update(result)
    path = result.fixture.golden_root / "MANIFEST.json"
    path.write_text(path.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
    (fault,) = golden.check(result).faults
    assert words in fault


def test_a_missing_or_an_added_file_is_named(result: FixtureResult) -> None:
    update(result)
    folder = result.fixture.golden_root / "cases"
    (folder / "more.jsonl").write_bytes(b"")
    assert "more.jsonl is not in" in golden.check(result).faults[0]
    (folder / "more.jsonl").unlink()
    (folder / "pieces.jsonl").unlink()
    assert "pieces.jsonl cannot be read" in golden.check(result).faults[0]
    shutil.rmtree(folder)
    (folder.parent / "MANIFEST.json").unlink()
    folder.mkdir()
    (folder / "pieces.jsonl").write_bytes(b"")
    assert "an update was interrupted" in golden.check(result).faults[0]


@pytest.mark.parametrize("fails_at", range(1, 5))
def test_all_or_nothing(
    tmp_path: Path, answered: dict[str, Run], result: FixtureResult, monkeypatch: pytest.MonkeyPatch, fails_at: int
) -> None:
    update(result)
    root = result.fixture.golden_root
    before = files(root)
    wrong = result_of(tmp_path, answered, "cases", "overlap-one-piece-too-long")
    count = 0
    real = Path.rename

    def rename(self: Path, target: Path) -> Path:
        nonlocal count
        count += 1
        if count == fails_at:
            raise OSError(28, "No space left on device")
        return real(self, target)

    monkeypatch.setattr(Path, "rename", rename)
    with pytest.raises(OSError, match="No space"):
        update(wrong, reason="second")
    monkeypatch.setattr(Path, "rename", real)
    assert files(root) == before
    assert golden.check(result).held
    update(wrong, reason="second")
    assert golden.check(wrong).held
    assert [each["reason"] for each in golden.read_manifest(root)["history"]] == ["first", "second"]


# The commands


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """`golden update`'s options for a copy of the cases, compared between two runs of the Python engine."""
    shutil.copytree(HERE / "wrong" / "cases", tmp_path / "cases")
    monkeypatch.delenv("CI", raising=False)
    return ["--fixture", str(tmp_path / "cases"), "--engine", "py", "--engine", "py"]


def test_update_asks_first(own: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    root = Path(own[1]) / "golden"
    monkeypatch.setattr("builtins.input", lambda question: print(question) or "n")
    assert cli.run(["golden", "update", *own, "--reason", "first"]) == 0
    said = capsys.readouterr().out
    assert "cases      wire         +3 cases" in said
    assert "All engines agree on all 36 replies. Write 8 files? [y/N]" in said
    assert not root.exists()
    monkeypatch.setattr("builtins.input", lambda question: "y")
    assert cli.run(["golden", "update", *own, "--reason", "first"]) == 0
    assert cli.run(["golden", "check", *own]) == 0
    assert "✓ golden: cases, 30 cases as agreed" in capsys.readouterr().out
    before = files(root)
    assert cli.run(["golden", "update", *own, "--reason", "again", "--yes"]) == 0
    assert "nothing changes" in capsys.readouterr().out
    assert files(root) == before


@pytest.mark.parametrize(
    ("environment", "arguments", "status", "words"),
    [
        ({"CI": "true"}, ["--reason", "x", "--yes"], 2, "not updated under CI"),
        ({}, ["--yes"], 2, "an update needs a reason"),
        ({}, ["--yes", "--reason", "  "], 2, "an update needs a reason"),
        ({}, ["--reason", "x"], 2, "nobody to ask"),
        ({}, ["--yes", "--reason", "x", "--engine", f"{sys.executable} {SCRIPT} utf16-offsets"], 1, "do not agree"),
    ],
)
def test_update_is_refused(
    own: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    environment: dict[str, str],
    arguments: list[str],
    status: int,
    words: str,
) -> None:
    for key, value in environment.items():
        monkeypatch.setenv(key, value)

    def nobody(_: str) -> str:
        raise EOFError

    monkeypatch.setattr("builtins.input", nobody)
    assert cli.run(["golden", "update", *own, *arguments]) == status
    assert words in capsys.readouterr().err
    assert not (Path(own[1]) / "golden").exists()


def test_parity_holds_without_golden_files_where_none_are_due(
    own: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(["parity", *own]) == 0
    last = "✓ parity held; there are no golden files to check cases against"
    assert capsys.readouterr().out.splitlines()[-1] == last
    assert cli.run(["parity", *own, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["golden"], found["golden_missing"]) == (True, ["cases"])


def test_an_embedded_fixture_needs_its_golden_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(layout, "golden_dir", lambda: tmp_path / "none")
    asked = ["parity", "--fixture", "mini", "--stage", "pieces", "--engine", "py", "--engine"]
    assert cli.run([*asked, "py"]) == 1
    said = capsys.readouterr().out
    assert "✗ golden: mini has no golden files yet; look at its replies, then run `chunkproof golden update" in said
    assert said.splitlines()[-1] == "✗ parity held, but the golden files of mini are missing"
    assert cli.run([*asked, f"{sys.executable} -m chunkproof.engine"]) == 0  # somebody's engine, for all we know
    said = capsys.readouterr().out
    assert "· golden: mini has no golden files\n" in said
    assert said.splitlines()[-1] == "✓ parity held; there are no golden files to check mini against"


def test_parity_fails_where_the_golden_files_say_otherwise(own: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["golden", "update", *own, "--reason", "first", "--yes"]) == 0
    wrong = ["--engine", f"{sys.executable} {SCRIPT} stop-word-lost"] * 2
    assert cli.run(["parity", *own[:2], *wrong]) == 1
    said = capsys.readouterr().out
    assert "differs from what was agreed in 1 of 30 cases" in said
    assert "✗ parity held, but not as the golden files have it" in said
