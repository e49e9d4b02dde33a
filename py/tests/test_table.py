"""The published table: its forms, what it says of itself, and its figures recomputed by tools that others wrote."""

from __future__ import annotations

import csv
import inspect
import json
import sys
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path

import ir_measures
import pytest
import pytrec_eval

from chunkproof import cli, cli_checks, fixtures, layout, parity, table, trec
from chunkproof.compare import as_double
from chunkproof.parity import Command, FixtureResult
from chunkproof.pipeline import METRICS, Run

SCRIPT = Path(__file__).parent / "wrong" / "engine.py"
Scores = dict[str, dict[str, float]]


@pytest.fixture(scope="module")
def result() -> FixtureResult:
    """Parity on mini of the Python engine with one that answers alike: what is tested here is what is made of it."""
    run = Run("py")
    mini = fixtures.load("mini")
    parity.run_engine(mini, Command("py", tuple(layout.py_engine()), "py"), run)
    assert run.failure is None
    return parity.judge(mini, [run, replace(run, engine="other", info={**run.info, "engine": "other"})])


@pytest.fixture(scope="module")
def made(result: FixtureResult) -> table.Table:
    return table.make(result)


@pytest.fixture(scope="module")
def exported(result: FixtureResult, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("trec") / "mini"
    trec.write(result, folder)
    return folder


def test_the_json_has_the_agreed_shape(made: table.Table, result: FixtureResult) -> None:
    data = json.loads(table.render(made, "json"))
    assert data["fixture"] == "mini"
    assert data["parity"]["held"] is True
    assert data["parity"]["digest"] == result.digest()
    assert [row["config"] for row in data["chunking"]] == [config.name for config in result.fixture.configs]
    assert list(data["chunking"][0]) == ["config", "chunks", "mean_tokens", "max_tokens", "lost", "long"]
    assert all(isinstance(value, str) for row in data["chunking"] + data["rows"] for value in row.values())
    assert len(data["rows"]) == 54
    assert list(data["rows"][0]) == ["config", "method", *METRICS]
    assert data["rows"][1]["method"] == "dense precision=int8"
    assert [row["method"] for row in data["rows"][-2:]] == ["rrf k=10", "rrf depth=10"]


def test_every_form_has_every_figure(made: table.Table) -> None:
    text, markdown = table.render(made, "text"), table.render(made, "md")
    lines = table.render(made, "csv").splitlines()
    assert lines[0].startswith("# mini: parity held between ")
    rows = list(csv.DictReader(lines[1:]))
    assert [{key: row[key] for key in table.ROWS} for row in rows] == list(made.rows)
    assert rows[0]["chunks"] == made.chunking[0]["chunks"]
    for row in (*made.rows, *made.chunking):
        cells = [str(value) for value in row.values()]
        assert "| " + " | ".join(cells) + " |" in markdown
        assert any(line.split() == " ".join(cells).split() for line in text.splitlines())
    for form in (text, markdown):
        assert made.digest in form.splitlines()[0]


def test_what_parity_did_not_cover_says_so_first(result: FixtureResult) -> None:
    alone = table.make(parity.judge(result.fixture, result.runs[:1]), covered=False)
    for form, opening in (
        ("text", "mini: NOT COVERED"),
        ("md", "<!-- mini: NOT COVERED"),
        ("csv", "# mini: NOT COVERED"),
    ):
        assert table.render(alone, form).splitlines()[0].startswith(opening)
    assert json.loads(table.render(alone, "json"))["parity"]["held"] is False


def test_a_digest_covers_data_and_replies(result: FixtureResult) -> None:
    run = Run("py", result.runs[0].info, list(result.runs[0].outcomes))
    last = run.outcomes.pop()
    assert parity.judge(result.fixture, [run, run]).digest() != result.digest()
    run.outcomes.append(last)
    assert parity.judge(result.fixture, [run, run]).digest() == result.digest()
    other = replace(result.fixture, hashes={**result.fixture.hashes, "questions.jsonl": "0" * 64})
    assert parity.judge(other, [run, run]).digest() != result.digest()


def test_no_table_where_parity_did_not_hold(capsys: pytest.CaptureFixture[str]) -> None:
    wrong = f"{sys.executable} {SCRIPT} printed-half-even"
    worse = f"{sys.executable} {SCRIPT} lost-left-out"
    assert cli.run(["table", "--fixture", "mini", "--engine", wrong, "--engine", worse, "--format", "csv"]) == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert "parity did not hold, so there is no table" in said.err


def test_one_engine_alone_must_be_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["table", "--fixture", "mini", "--no-parity", "--format", "md"]) == 0
    assert capsys.readouterr().out.startswith("<!-- mini: NOT COVERED BY PARITY")


def test_the_published_tables_come_first_to_hand(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert inspect.signature(cli_checks.table_command).parameters["name"].default == "atlas"
    loaded, _ = parity.default_fixtures()
    names = [fixture.name for fixture in loaded]
    assert names[:4] == ["edge", "mini", "papers", "atlas"]
    monkeypatch.setenv("CHUNKPROOF_DATA", str(tmp_path))
    monkeypatch.setattr("chunkproof.datasets.cache_dir", lambda: tmp_path / "cache")
    loaded, notes = parity.default_fixtures()
    assert "squad6" not in [fixture.name for fixture in loaded]
    assert notes[0].startswith("squad6 is left out: ")


def test_the_table_of_mini_is_printed_if_it_is_asked_for(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(parity, "default_fixtures", lambda: ([fixtures.load("mini")], []))
    cli.run(["parity"])
    assert "recall@1" not in capsys.readouterr().out
    cli.run(["parity", "--fixture", "mini"])
    assert "recall@1" in capsys.readouterr().out


# Recomputed by others. Both tools see nothing but the exported files.


def read_qrels(path: Path) -> dict[str, dict[str, int]]:
    qrels: dict[str, dict[str, int]] = defaultdict(dict)
    for line in path.read_text(encoding="utf-8").splitlines():
        query, _, document, gain = line.split()
        qrels[query][document] = int(gain)
    return qrels


def read_run(path: Path, depth: int = 1000) -> Scores:
    run: Scores = defaultdict(dict)
    for line in path.read_text(encoding="utf-8").splitlines():
        query, _, document, rank, score, _ = line.split()
        if int(rank) <= depth:
            run[query][document] = float(score)
    return run


def means(judged: Mapping[str, Mapping[str, float]], questions: int) -> dict[str, float]:
    total: dict[str, float] = defaultdict(float)
    for figures in judged.values():
        for name, value in figures.items():
            total[name] += value / questions
    return total


def trec_figures(qrels: dict[str, dict[str, int]], run: Scores, shallow: Scores) -> dict[str, dict[str, float]]:
    """trec_eval's figures for each question, under this project's names. Its recip_rank knows no cut: the run is cut."""
    found = pytrec_eval.RelevanceEvaluator(qrels, {"recall.1,3,5,10,20", "ndcg_cut.10"}).evaluate(run)
    first = pytrec_eval.RelevanceEvaluator(qrels, {"recip_rank"}).evaluate(shallow)
    return {
        query: {
            **{f"recall@{k}": values[f"recall_{k}"] for k in (1, 3, 5, 10, 20)},
            "mrr@10": first[query]["recip_rank"],
            "ndcg@10": values["ndcg_cut_10"],
        }
        for query, values in found.items()
    }


def exact(result: FixtureResult, case: str) -> dict[str, float]:
    """The means that the engines replied, as doubles."""
    (metrics,) = (item for item in result.runs[0].outcomes if (item.stage, item.case) == ("metrics", case))
    return {name: as_double(value) or 0.0 for name, value in metrics.value["ok"]["mean"].items()}


def test_pytrec_eval_finds_every_row(result: FixtureResult, made: table.Table, exported: Path) -> None:
    for row in made.rows:
        config, method = str(row["config"]), str(row["method"])
        qrels = read_qrels(exported / f"{config}.qrels")
        assert len(qrels) == 20
        path = exported / f"{config}.{trec.file_name(method)}.run"
        found = means(trec_figures(qrels, read_run(path), read_run(path, 10)), 20)
        wanted = exact(result, f"{config}/{method}")
        for name in METRICS:
            assert found[name] == pytest.approx(wanted[name], abs=1e-12), (config, method, name)
            assert str(Decimal(wanted[name]).quantize(Decimal("0.001"), ROUND_HALF_UP)) == row[name]


def test_ir_measures_finds_every_row(result: FixtureResult, made: table.Table, exported: Path) -> None:
    measures = [ir_measures.parse_measure(f"R@{k}") for k in (1, 3, 5, 10, 20)]
    measures += [ir_measures.parse_measure("RR@10"), ir_measures.parse_measure("nDCG@10")]
    for row in made.rows:
        config, method = str(row["config"]), str(row["method"])
        qrels = ir_measures.read_trec_qrels(str(exported / f"{config}.qrels"))
        run = ir_measures.read_trec_run(str(exported / f"{config}.{trec.file_name(method)}.run"))
        found = ir_measures.calc_aggregate(measures, qrels, run)
        wanted = exact(result, f"{config}/{method}")
        for name, measure in zip(METRICS, measures, strict=True):
            assert found[measure] == pytest.approx(wanted[name], abs=1e-12), (config, method, name)


def test_ties_are_what_the_rank_column_is_for(result: FixtureResult, exported: Path) -> None:
    """With the real scores trec_eval orders ties by document name, descending: some figures differ, all at a tie."""
    differing = 0
    for item in result.runs[0].outcomes:
        if item.stage != "rankings":
            continue
        config, method = item.case.split("/", 1)
        qrels = read_qrels(exported / f"{config}.qrels")
        path = exported / f"{config}.{trec.file_name(method)}.run"
        ours, shallow = read_run(path), read_run(path, 10)
        by_score: Scores = {}
        tied = set()
        for (query, documents), ranking in zip(ours.items(), item.value["ok"]["rankings"], strict=True):
            scores = [as_double(entry["score"]) or 0.0 for entry in ranking]
            by_score[query] = dict(zip(documents, scores, strict=True))
            if len(set(scores)) < len(scores):
                tied.add(query)
        one, other = trec_figures(qrels, ours, shallow), trec_figures(qrels, by_score, by_score)
        for query, figures in one.items():
            if any(figures[name] != other[query][name] for name in METRICS if name != "mrr@10"):
                assert query in tied
                differing += 1
    assert differing > 0


def test_the_files_are_named_after_their_rows(exported: Path, result: FixtureResult) -> None:
    names = {path.name for path in exported.iterdir()}
    assert len(names) == 6 + 54 + 1
    assert "recursive-256.bm25-k1=0.5-b=0.75.run" in names
    assert result.digest() in (exported / "README.txt").read_text(encoding="utf-8")
    line = (exported / "fixed-256.bm25.run").read_text(encoding="utf-8").splitlines()[0].split()
    assert (line[0], line[1], line[3], line[4], line[5]) == ("narrowest", "Q0", "1", "20", "chunkproof")


def test_trec_files_are_not_written_over_anything(result: FixtureResult, exported: Path) -> None:
    from chunkproof.problems import Problem

    with pytest.raises(Problem, match="not an empty folder: nothing was written"):
        trec.write(result, exported)
