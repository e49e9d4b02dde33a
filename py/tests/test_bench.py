"""The bench runs and reports every figure; how large they are is no test's business."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from chunkproof import bench
from chunkproof.problems import Problem

TINY = {"size_mb": 0.02, "sample_kb": 4, "repeats": 1, "words": (200, 2000), "passages": 5, "questions": 3}


@pytest.fixture(scope="module")
def figures() -> bench.Figures:
    pytest.importorskip("langchain_text_splitters", reason="the comparison needs langchain-text-splitters")
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("CHUNKPROOF_DATA", raising=False)
        found = bench.measure(bench.Plan(**TINY))  # type: ignore[arg-type]
    json.dumps(found, allow_nan=False)
    return found


def test_nothing_is_missing(figures: bench.Figures) -> None:
    assert figures["missing"] == {}


def test_every_part_reports_both_languages(figures: bench.Figures) -> None:
    for part in bench.PARTS:
        assert set(figures[part]) == {"py", "ts"}, part
    for name in bench.LANGUAGES:
        assert set(figures["scan"][name]) >= {"scan_mb_s", "cold_mb_s", "warm_mb_s", "cold_of_scan", "warm_of_scan"}
        assert set(figures["langchain"][name]) >= {"langchain_mb_s", "cold_of_langchain", "warm_of_langchain"}
        assert set(figures["sizes"][name]["last_of_first"]) == {"cold", "warm"}
        assert set(figures["memory"][name]) >= {"peak", "peak_of_text", "held_of_text"}
        assert set(figures["word"][name]["mixed"]) == {"200", "2000", "last_of_first"}
        assert set(figures["rank"][name]) == {"bm25", "dense", "rrf"}
    assert figures["scan"]["py"]["pieces"] == figures["scan"]["ts"]["pieces"]


def test_every_aim_is_listed(figures: bench.Figures) -> None:
    assert len(figures["aims"]) == len(bench.AIMS)
    values = [row[name] for row in figures["aims"] for name in bench.LANGUAGES]
    assert all(value is None or isinstance(value, float) for value in values)


def test_the_invented_text_is_the_same_every_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CHUNKPROOF_DATA", raising=False)
    one, two = bench.corpus(0.01), bench.corpus(0.01)
    assert one.name == "invented"
    assert one.text == two.text
    assert one.size >= 10_000
    paragraphs = one.text.split("\n\n")
    assert len(set(paragraphs)) == len(paragraphs)


def test_qasper_is_read_from_the_data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / bench.QASPER
    path.parent.mkdir()
    paper = {"full_text": [{"section_name": "A", "paragraphs": ["One.", "Two."]}, {"paragraphs": ["Three."]}]}
    path.write_text(json.dumps({"1": paper}))
    monkeypatch.setenv("CHUNKPROOF_DATA", str(tmp_path))
    found = bench.corpus(1)
    assert found.text == "One.\n\nTwo.\n\nThree."
    assert found.first(1e-5) == "One."


def test_the_figures_print(
    figures: bench.Figures, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bench, "measure", lambda plan, tell: {**figures, "missing": {"ts": "no node"}})
    assert bench.run() == 0
    said = capsys.readouterr().out
    assert "pieces, warm: times the plain scan's speed" in said
    assert "not measured: ts: no node" in said
    assert bench.run(as_json=True) == 0
    assert json.loads(capsys.readouterr().out)["corpus"] == figures["corpus"]


def test_an_unknown_part_is_a_problem() -> None:
    with pytest.raises(Problem, match="no part sky"):
        bench.measure(bench.Plan(("sky",), 0.01))
