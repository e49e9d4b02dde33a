"""`chunkproof budget`: the run as a user starts it, its four forms, and what it refuses.

Both engines run over three of the invented papers, once for all tests here; the same question asked again comes from the cache.
"""

import contextlib
import csv
import io
import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from chunkproof import cli, layout
from chunkproof.experiment import ledger, publish, render
from chunkproof.problems import Problem
from chunkproof.replies import digest

POLICIES = ["fixed-128", "fixed-256-o64", "paragraphs", "headed", "first"]
PAPERS = layout.fixtures_dir() / "papers"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Three papers in a folder, a protocol of five policies and two budgets, and a cache of their own."""
    made = tmp_path_factory.mktemp("budget")
    papers = json.loads((PAPERS / "papers.json").read_text(encoding="utf-8"))
    (made / "mine").mkdir()
    few = {name: papers[name] for name in ("lagoon", "bread", "glosses")}
    (made / "mine" / "papers.json").write_text(json.dumps(few), encoding="utf-8")
    text = (Path(render.__file__).with_name("protocol.toml")).read_text(encoding="utf-8")
    head, *tables = text.split("[[policies]]\n")
    kept = [table for table in tables if re.search('name = "(.*?)"', table).group(1) in POLICIES]
    head = head.replace("budgets = [500, 1000, 2000]", "budgets = [500, 1000]").replace(
        "resamples = 10000", "resamples = 500"
    )
    (made / "p.toml").write_text("[[policies]]\n".join([head, *kept]), encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(made / "cache"))
        yield made


def run(folder, capsys, *words):
    """The exit status, standard output, standard error."""
    return cli.run([*budget_run(folder), *map(str, words)]), *capsys.readouterr()


def budget_run(folder):
    return ["budget", "run", "--dataset", str(folder / "mine"), "--protocol", str(folder / "p.toml")]


@pytest.fixture(scope="module")
def summary(folder):
    """What `--json` prints."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        status = cli.run([*budget_run(folder), "--json", "--price", "2.50"])
    assert status == 0
    return json.loads(out.getvalue())


# --- what it says -----------------------------------------------------------------------------------------------------


def test_counts_and_rows(summary):
    assert summary["papers"] == 3
    assert summary["questions"] == summary["scored"] + sum(summary["excluded"].values())
    assert [(row["policy"], row["budget"]) for row in summary["rows"]] == [
        (policy, budget) for budget in (500, 1000) for policy in POLICIES
    ]
    assert summary["held"]
    assert not summary["final"]
    assert set(summary["index"]) == set(POLICIES)
    assert summary["index"]["paragraphs"]["tokens"] < summary["index"]["headed"]["tokens"]


def test_rows_are_counts_over_questions(summary):
    for row in summary["rows"]:
        assert row["questions"] == summary["scored"]
        assert row["any"] == row["covered"]["any"] / row["questions"]
        assert row["tokens"] == row["totals"]["tokens"] / row["questions"] <= row["budget"]
        assert row["covered"]["strict"] <= row["covered"]["any"]
        assert row["any_at_all"] <= row["any"] <= row["any_at_1"]
        assert row["covered"]["any_missed"] <= row["covered"]["any"]
        low, high = row["any_rate_interval"]
        assert 0 <= low <= row["any"] <= high <= 1


def test_the_digest_of_every_paper_is_told(summary):
    """Where two runs differ, these say in which papers."""
    assert len(summary["paper_digests"]) == summary["papers"]
    assert all(re.fullmatch("[0-9a-f]{64}", each) for each in summary["paper_digests"].values())
    whole = {"protocol": summary["protocol"]["digest"], "papers": list(map(list, summary["paper_digests"].items()))}
    assert digest(whole) == summary["run"]


def test_verdicts_stand_at_the_budget_of_the_decision_alone(summary):
    said = {(row["policy"], row["budget"]): row["verdict"] for row in summary["rows"]}
    assert said["paragraphs", 1000] == "baseline"
    assert {said[policy, 500] for policy in POLICIES} == {None}
    adopted = [policy for policy in POLICIES if said[policy, 1000] == "adopt"]
    assert adopted == [policy for policy in POLICIES if policy in summary["decision"]["passing"]]


def test_the_rule_of_a_hit_is_varied(summary):
    rows = {(row["policy"], row["budget"]): row for row in summary["rows"]}
    found = summary["sensitivity"]
    policy = found["policy"]
    assert policy == summary["decision"]["adopt"] or summary["decision"]["adopt"] is None
    for each in found["rows"]:
        rates = {name: rows[name, 1000][each["rule"]] for name in POLICIES}
        assert each["difference"] == pytest.approx(rates[policy] - rates["paragraphs"], abs=1e-12)
        assert each["winners"] == [name for name in POLICIES if rates[name] == max(rates.values())]
    sides = {each["side"] for each in found["rows"]}
    assert ("does not depend on the rule" in found["sentence"]) is (len(sides) == 1)


def test_slices_add_up_to_the_whole(summary):
    whole = {row["policy"]: row["covered"]["any"] for row in summary["rows"] if row["budget"] == 1000}
    for cut in ("answer", "evidence", "section", "position"):
        parts = [each for each in summary["slices"] if each["cut"] == cut]
        assert sum(each["questions"] for each in parts) == summary["scored"]
        for policy in POLICIES:
            assert sum(each["covered"][policy] for each in parts) == whole[policy]


def test_the_same_top_k_says_who_would_have_won(summary):
    found = summary["top_k"]
    assert {row["policy"] for row in found["rows"]} == set(POLICIES) - {"first"}
    for each, sentence in zip(found["winners"], found["sentences"], strict=True):
        rows = [row for row in found["rows"] if row["k"] == each["k"]]
        assert each["top_k"] == [row["policy"] for row in rows if row["any"] == max(row["any"] for row in rows)]
        assert ("the winner is another" in sentence) is each["other_winner"]


def test_a_price_is_labelled_hypothetical(summary):
    assert summary["cost"]["hypothetical"]
    assert summary["cost"]["price_per_million"] == "2.5"
    assert "at 2.5 per million tokens, per 1,000 questions: a hypothetical price" in render.render(summary, "text")


# --- four forms of one result -----------------------------------------------------------------------------------------


def test_the_forms_agree(summary, folder, capsys):
    printed = {(row["policy"], row["budget"]): row["printed"] for row in summary["rows"]}
    as_csv = run(folder, capsys, "--format", "csv")[1]
    assert as_csv == render.render(summary, "csv")  # no form has the price but the table of costs
    lines = [line for line in as_csv.splitlines() if not line.startswith("#")]
    rows = list(csv.DictReader(io.StringIO("\n".join(lines))))
    assert len(rows) == len(printed)
    for row in rows:
        figures = printed[row["policy"], int(row["budget"])]
        for name in ("any", "strict", "any_share", "precision", "chunks", "tokens", "any_at_half", "strict_missed"):
            assert row[name] == figures[name]
        assert [row["any_rate_interval_low"], row["any_rate_interval_high"]] == figures["any_rate_interval"]
        if figures["difference"] is not None:
            assert float(row["difference"]) == float(figures["difference"].replace("−", "-"))
        assert int(row["index_chunks"]) == summary["index"][row["policy"]]["chunks"]
    for form, start in (("text", "{policy} "), ("md", "| {policy} |")):
        text = render.render(summary, form)
        assert summary["decision"]["sentence"] in text
        assert summary["digest"] in text
        assert summary["protocol"]["digest"] in text
        part = text[text.index("Budget 1,000 tokens") :]
        for policy in POLICIES:
            line = next(line for line in part.splitlines() if line.startswith(start.format(policy=policy)))
            words = re.split(r"[ |]+", line.strip(" |"))
            assert words[1] == printed[policy, 1000]["any"]
            assert printed[policy, 1000]["precision"] in words


def test_curves_and_folder(folder, capsys):
    status, _, _ = run(folder, capsys, "--curves", folder / "c.svg", "--out", folder / "out")
    assert status == 0
    drawn = ET.parse(folder / "c.svg").getroot()
    assert len([each for each in drawn.iter() if each.tag.endswith("}g")]) == 2 * len(POLICIES)  # a line, and its key
    data = json.loads((folder / "out" / "budget.json").read_text(encoding="utf-8"))
    assert {point["budget"] for point in data["curves"]} >= {250, 4000}
    at = {(row["policy"], row["budget"]): row for row in data["rows"]}
    for point in data["curves"]:  # what both have is the same
        if (point["policy"], point["budget"]) in at:
            row = at[point["policy"], point["budget"]]
            assert (point["any"], point["any_rate_interval"]) == (row["any"], row["any_rate_interval"])
    assert sorted(path.name for path in (folder / "out").iterdir()) == [
        "budget.csv",
        "budget.json",
        "budget.md",
        "budget.txt",
    ]


def test_what_one_engine_computed_says_so(summary):
    said = render.render({**summary, "held": False, "engines": ["mine 1"]}, "text")
    assert "NOT COVERED BY PARITY, computed by mine 1 alone" in said.splitlines()[0]


# --- the final run ----------------------------------------------------------------------------------------------------


def test_a_final_run_is_written_down_and_has_to_repeat_itself(folder, capsys):
    book = folder / "ledger.jsonl"
    status, text, _ = run(folder, capsys, "--final", "--ledger", book)
    assert status == 0
    assert "This is the first final run under this protocol." in text
    assert "not held out" not in text
    status, text, _ = run(folder, capsys, "--final", "--ledger", book)
    assert status == 0
    assert "was made before under this protocol, and gave the same digest" in text
    lines = ledger.read(book)
    assert len(lines) == 2
    assert lines[0] == lines[1]
    # Had it been another result, the run would fail and leave the ledger as it is.
    book.write_text(book.read_text(encoding="utf-8").replace(lines[0].result, "0" * 64), encoding="utf-8")
    status, _, err = run(folder, capsys, "--final", "--ledger", book)
    assert status == 1
    assert "one of the two is wrong" in err
    assert len(ledger.read(book)) == 2


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["--papers", "2"], "--papers"),
        (["--budgets", "500"], "--budgets"),
        (["--policy", "headed"], "--policy"),
        (["--without-abstract"], "--without-abstract"),
    ],
)
def test_a_final_run_is_whole(folder, capsys, words, named):
    status, _, err = run(folder, capsys, "--final", *words)
    assert status == 2
    assert f"leave out {named}" in err


# --- what is refused --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--budgets", "0"], "0 must be a whole number from 1"),
        (["--budgets", "1000,-5"], "-5 must be a whole number from 1"),
        (["--budgets", "many"], "'many' is no whole number"),
        (["--budgets", "500,500"], "twice"),
        (["--policy", "fixed-1"], "there is no policy 'fixed-1'"),
        (["--papers", "4"], "4 papers can't be drawn from 3"),
        (["--format", "html"], "there is no format 'html'"),
        (["--price", "cheap"], "is no price"),
    ],
)
def test_wrong_use_is_one_sentence(folder, capsys, words, said):
    status, out, err = run(folder, capsys, *words)
    assert (status, out) == (2, "")
    assert said in err
    assert err.count("\n") == 1


def test_a_file_that_is_cut_in_half(folder, capsys):
    whole = (PAPERS / "papers.json").read_text(encoding="utf-8")
    (folder / "half.json").write_text(whole[: len(whole) // 2], encoding="utf-8")
    assert cli.run(["budget", "run", "--dataset", str(folder / "half.json")]) == 2
    assert "half.json" in capsys.readouterr().err


# --- the section of a document ----------------------------------------------------------------------------------------


def test_the_section_is_written_between_its_markers(summary, tmp_path):
    page = tmp_path / "budget.md"
    page.write_text(
        "Before.\n<!-- budget development: begin, generated -->\nold\n<!-- budget development: end -->\nAfter.\n",
        encoding="utf-8",
    )
    publish.write(page, summary)
    text = page.read_text(encoding="utf-8")
    assert text.startswith("Before.\n")
    assert text.endswith("\nAfter.\n")
    assert "\nold\n" not in text
    assert summary["digest"] in text
    assert summary["decision"]["sentence"] in text
    publish.write(page, summary)
    assert page.read_text(encoding="utf-8") == text


def test_a_document_without_markers_is_left_alone(summary, tmp_path):
    page = tmp_path / "budget.md"
    page.write_text("Nothing.\n", encoding="utf-8")
    with pytest.raises(Problem, match="the result is written between them"):
        publish.write(page, summary)
    assert page.read_text(encoding="utf-8") == "Nothing.\n"
