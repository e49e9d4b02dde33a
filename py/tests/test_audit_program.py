"""`chunkproof audit` as people use it: verdicts, exit statuses, forms, pins, sentences, runs; and engines that do not agree."""

from __future__ import annotations

import json
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

from chunkproof import cli, datasets, fixtures
from chunkproof.audit import expressions, guess, runs, runs_read
from chunkproof.audit.evidence import data_digest
from chunkproof.problems import Problem

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = Path(__file__).parent / "wrong" / "engine.py"
TABLE = "| config | method | recall@1 | mrr@10 |\n|---|---|---|---|\n| fixed-256 | bm25 | 0.550 | {} |\n"
HEADER = """fixture = "mini"
{}
[[table]]
name = "retrieval"
file = "t.md"
[table.columns]
config = "config"
method = "method"
"recall@1" = "recall@1"
"mrr@10" = "mrr@10"
"""


def claims(folder: Path, figure: str = "0.623", more: str = "", rows: str = "") -> str:
    (folder / "t.md").write_text(TABLE.format(figure) + rows, encoding="utf-8")
    path = folder / "c.toml"
    path.write_text(HEADER.format(more), encoding="utf-8")
    return str(path)


def audit(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    status = cli.run(["audit", *words])
    out, err = capsys.readouterr()
    return status, out, err


def test_a_right_table_ends_with_nought_and_a_wrong_one_with_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, out, _ = audit(capsys, claims(tmp_path), "--json")
    data = json.loads(out)
    assert status == 0
    assert [data[key] for key in ("reproduced", "differs", "missing", "held")] == [2, 0, 0, True]
    assert len(data["engines"]) == 2
    claim = data["claims"][1]
    assert [claim[key] for key in ("config", "method", "metric", "claimed", "verdict")] == [
        *("fixed-256", "bm25", "mrr@10", "0.623", "reproduced")
    ]
    assert claim["digits"].startswith("0.622")
    status, out, _ = audit(capsys, claims(tmp_path, "0.624"))
    assert status == 1
    assert "✗" in out
    assert "1 reproduced · 1 differs · 0 missing" in out


def test_what_is_missing_fails_unless_it_is_allowed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = claims(tmp_path, rows="| fixed-256 | rerank | 0.9 | 0.9 |\n")
    assert audit(capsys, path, "--no-ties")[0] == 1
    status, out, _ = audit(capsys, path, "--allow-missing", "--format", "junit")
    suite = ET.fromstring(out).find("testsuite")
    assert suite is not None
    assert status == 0
    assert [suite.get(key) for key in ("tests", "failures", "skipped")] == ["4", "0", "2"]


def test_other_data_is_a_failure_that_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    right = data_digest(fixtures.load("mini"))
    assert audit(capsys, claims(tmp_path, more=f'data = "sha256:{right}"'))[0] == 0
    status, out, _ = audit(capsys, claims(tmp_path, more=f'data = "sha256:{"0" * 64}"'), "--format", "md")
    assert status == 1
    assert "pinned to other data: sha256:0000" in out
    assert right in out


def test_engines_that_do_not_agree_give_no_verdict(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wrong = f"{sys.executable} {SCRIPT} lost-left-out"
    status, out, err = audit(capsys, claims(tmp_path), "--engine", "py", "--engine", wrong)
    assert (status, out) == (1, "")
    assert "do not agree on metrics of fixed-256/bm25" in err
    assert "there is no verdict" in err


@pytest.mark.parametrize(
    ("header", "words"),
    [
        ("", "fixture is missing"),
        ('fixture = "mini"', "at least one"),
        ('fixture = "mini"\nspec = "9"', "speaks spec 1"),
        ('fixture = "mini"\ndata = "abc"', "sha256"),
        ('fixture = "mini"\nfigures = 1', "figures is not known"),
        ('fixture = "mini"\n[[table]]\nfile = "t.md"\n[table.columns]\na = "precision"', "'precision'; known are"),
        ('fixture = "mini"\n[[table]]\nfile = "t.md"\n[table.columns]\na = "config"\nb = "mrr@10"', "method"),
        ('fixture = "mini"\n[[sentence]]\nquote = "x"\nsays = "1"', "one of the two"),
        ('fixture = "mini"\n[[sentence]]\nquote = "x"\nsays = "1"\nvalue = "1 +"', "cannot be read"),
        ("fixture = ", "cannot be read as TOML"),
    ],
)
def test_a_header_that_cannot_be_read_is_wrong_use(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], header: str, words: str
) -> None:
    (tmp_path / "c.toml").write_text(header, encoding="utf-8")
    status, _, err = audit(capsys, str(tmp_path / "c.toml"))
    assert status == 2
    assert words in err


def test_claims_are_found_by_name_and_what_is_none_is_wrong_use(capsys: pytest.CaptureFixture[str]) -> None:
    status, _, err = audit(capsys, "nothing-of-the-sort")
    assert status == 2
    assert "squad6-2026" in err
    assert "audit init" in audit(capsys, str(ROOT / "README.md"))[2]


@pytest.mark.parametrize(
    "text",
    [
        *(
            "__import__('os')",
            "cell.__class__",
            "[1]",
            "1 if 1 else 2",
            "'a'",
            "2 ** 9",
            "1 < 'a'",
            "lambda: 1",
            "f'{1}'",
        ),
        *(
            "open('x')",
            "1 / 0",
            "questions(1)",
            "cell('x')",
            "True + 1",
            "not 1",
            "min()",
            "10**99",
            "cell(*[1])",
            "x := 1",
        ),
    ],
)
def test_an_expression_can_do_nothing_but_count(text: str) -> None:
    class Nothing:
        fixture = fixtures.load("mini")
        rows: dict[Any, Any] = {}  # noqa: RUF012

    with pytest.raises(expressions.Unreadable):
        expressions.Evaluator(Nothing())(expressions.parse(text))  # type: ignore[arg-type]


def test_expressions_are_exact() -> None:
    class Twenty:
        fixture = fixtures.load("mini")

    evaluator = expressions.Evaluator(Twenty())  # type: ignore[arg-type]
    assert evaluator(expressions.parse("0.1 + 0.2 == 0.3 and questions / 3 * 3 == 20 and not 1 > 2")) is True
    assert evaluator(expressions.parse("max(1, 2) - abs(-3) + min(0.5, 7)")) == -0.5
    assert evaluator(expressions.parse("1 < 2 <= 2 != 3")) is True


@pytest.mark.parametrize(
    ("column", "meaning"),
    [
        *(("Recall@1", "recall@1"), ("R@20", "recall@20"), ("recall at 5 (%)", "recall@5"), ("Hit Rate@3", "hit@3")),
        *(("MRR", "mrr@10"), ("RR@10", "mrr@10"), ("nDCG@10", "ndcg@10"), ("NDCG", "ndcg@10"), ("# chunks", "chunks")),
        *(
            ("Avg tokens", "mean_tokens"),
            ("Max", "max_tokens"),
            ("Chunker", "config"),
            ("Retriever", "method"),
            ("Latency", ""),
        ),
    ],
)
def test_a_column_is_guessed_by_its_name(column: str, meaning: str) -> None:
    assert guess.meaning_of(column) == meaning


def test_init_lists_what_it_could_not_map_and_never_writes_over(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "x.csv"
    path.write_text("Retriever,R@1 (%),Cost\nBM25,45.0,3\n", encoding="utf-8")
    status, _, err = audit(capsys, "init", str(path), "--fixture", "mini")
    assert status == 0
    assert "no column says which config it is" in err
    assert "not mapped, and so not checked: 'Cost'" in err
    text = (tmp_path / "x.toml").read_text(encoding="utf-8")
    assert '"R@1 (%)" = "percent"' in text
    (tmp_path / "x.toml").write_text(text.replace("FILL IN", "fixed-128"), encoding="utf-8")
    assert audit(capsys, str(tmp_path / "x.toml"))[0] == 0
    assert audit(capsys, "init", str(path))[0] == 2


RUN = "q1 Q0 d1 1 0.9 t\nq1 Q0 d2 2 0.9 t\nq1 Q0 d3 3 0.1 t\nq2 Q0 d4 1 0.7 t\nq2 Q0 d5 2 0.6 t\n"
QRELS = "q1 0 d2 1\nq1 0 d9 1\nq2 0 d4 1\nq3 0 d7 1\n"


def test_a_run_is_judged_exactly_and_by_others(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "run").write_text(RUN, encoding="utf-8")
    (tmp_path / "qrels").write_text(QRELS, encoding="utf-8")
    words = ("runs", str(tmp_path / "run"), "--qrels", str(tmp_path / "qrels"), "--json", "--claim", "MRR@10=0.500")
    status, out, _ = audit(capsys, *words)
    data = json.loads(out)
    figures = {line["metric"]: line for line in data["metrics"]}
    assert status == 0
    assert data["questions"] == 3
    assert figures["recall@1"]["exact"] == "0.3333333"
    assert figures["recall@1"]["ties"] == {"least": "0.3333333", "greatest": "0.5000000"}
    assert figures["recall@5"]["exact"] == figures["recall@5"]["others"]["ir-measures"] == "0.5000000"
    assert any("1 of 3 questions are not in the run" in note for note in data["notes"])
    assert audit(capsys, *words[:-1], "mrr@10=0.501")[0] == 1


def test_our_arithmetic_is_that_of_trec_eval_where_there_are_no_ties(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines, qrels = [], []
    for query in range(12):
        lines += [f"q{query} Q0 d{(query * 7 + rank * 7) % 40} {rank + 1} {40 - rank} t" for rank in range(25)]
        qrels += [f"q{query} 0 d{(query * 3 + place * 11) % 40} 1" for place in range(1 + query % 3)]
    (tmp_path / "run").write_text("\n".join(lines), encoding="utf-8")
    beir = tmp_path / "beir" / "qrels"
    beir.mkdir(parents=True)
    rows = [line.split() for line in qrels]
    (beir / "dev.tsv").write_text(
        "query-id\tcorpus-id\tscore\n" + "\n".join(f"{a}\t{c}\t{d}" for a, _, c, d in rows), "utf-8"
    )
    words = ("runs", str(tmp_path / "run"), "--beir", str(tmp_path / "beir"), "--split", "dev", "--json")
    for line in json.loads(audit(capsys, *words)[1])["metrics"]:
        assert abs(float(line["exact"]) - float(line["others"]["ir-measures"])) < 2e-7
        assert line["ties"]["least"] == line["ties"]["greatest"]
    assert audit(capsys, *words[:4], "--json")[0] == 2


@pytest.mark.parametrize(
    ("run", "qrels", "words"),
    [
        ("q1 Q0 d1 1 0.9", QRELS, "line 1: a run has six columns"),
        ("q1 Q0 d1 1 x t", QRELS, "line 1: the score 'x'"),
        ("q1 Q0 d1 1 nan t", QRELS, "line 1: the score 'nan'"),
        ("q1 Q0 d1 1 2 t\nq1 Q0 d1 2 1 t", QRELS, "line 2: document 'd1' is ranked twice"),
        ("x1 Q0 d1 1 2 t", QRELS, "no question of run is in the qrels"),
        (RUN, "q1 0 d1", "grade 'd1'|no whole number"),
        (RUN, "", "holds no qrels"),
        (RUN, "q1 0 d1 1\nq1 0 d1 0", "line 2: document 'd1' has two grades"),
        ('{"query":"q1"}', QRELS, 'line 1: takes a "query" and its "ranking"'),
        ('{"query":"q1","ranking":["d1","d1"]}', QRELS, "ranked twice"),
        ('{"query":"q1","ranking":[{"id":"a","score":1},"b"]}', QRELS, "some have none"),
        ("{", QRELS, "line 1: is not JSON"),
    ],
)
def test_a_run_that_cannot_be_read_is_refused_by_line(tmp_path: Path, run: str, qrels: str, words: str) -> None:
    (tmp_path / "run").write_text(run, encoding="utf-8")
    (tmp_path / "qrels").write_text(qrels, encoding="utf-8")
    with pytest.raises(Problem, match=words):
        runs_read.read(str(tmp_path / "run"), tmp_path / "qrels", None, "test")


def test_a_claim_about_a_run_takes_known_figures() -> None:
    assert list(runs.claimed(["R@5=0.5", "rr@10=50%"])) == ["recall@5", "mrr@10"]
    for text in ("map=0.5", "mrr@5=0.5", "recall@1=x"):
        with pytest.raises(Problem):
            runs.claimed([text])


def test_readme_and_its_claims_speak_of_the_same_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    if "output of: chunkproof table --fixture atlas" not in text:
        pytest.skip("README shows no table of atlas")
    assert audit(capsys, str(ROOT / "claims" / "readme.toml"), "--no-ties")[0] == 0


def has_squad() -> bool:
    try:
        return bool(datasets.path("squad"))
    except datasets.DataError:
        return False


@pytest.mark.slow
@pytest.mark.skipif(not has_squad(), reason="needs the data set squad: CHUNKPROOF_DATA")
def test_the_published_table_is_reproduced_to_its_last_digit(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = audit(capsys, "squad6-2026", "chunking-chapter-2026", "--json", "--allow-missing")
    table, chapter = json.loads(out)["audits"]
    assert status == 0
    assert [table[key] for key in ("reproduced", "differs", "missing")] == [408, 0, 35]
    assert {claim["reason"] for claim in table["claims"] if claim["verdict"] == "missing"} == {
        "needs recorded reranker scores"
    }
    assert sum(claim["table"] == "chunking" for claim in table["claims"]) == 30
    assert [chapter[key] for key in ("reproduced", "differs", "missing")] == [19, 0, 0]
    assert table["held"] is True
    flagged = [line for line in table["winners"] if "the best recall@1" in line]
    assert flagged
    assert all(claim["ties"]["within"] for claim in table["claims"] if claim["ties"])
