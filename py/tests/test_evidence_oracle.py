"""The oracle of spec 16 beside `chunkproof budget`: every count and every double of five invented papers.

Together they have most kinds of trouble that labels can have. What the oracle has as an exact fraction is rounded once
to compare.
"""

import contextlib
import io
import json
import sys

import pytest

from chunkproof import cli, layout
from evidence_oracle import BUDGETS, OTHERS, POLICIES, TOP, oracle

PAPERS = ["bread", "ferries", "frost", "looms", "placenames"]
THIRDS = ["first third", "middle third", "last third"]


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    """What the oracle works out, and what `--json` prints."""
    made = tmp_path_factory.mktemp("oracle")
    papers = json.loads((layout.fixtures_dir() / "papers" / "papers.json").read_text(encoding="utf-8"))
    few = {name: papers[name] for name in PAPERS}
    (made / "papers.json").write_text(json.dumps(few), encoding="utf-8")
    engine = [sys.executable, "-m", "chunkproof.engine"]
    out = io.StringIO()
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(out):
        patch.setenv("XDG_CACHE_HOME", str(made / "cache"))
        assert cli.run(["budget", "run", "--dataset", str(made), "--json"]) == 0
    return oracle(list(few.values()), engine), json.loads(out.getvalue())


def test_mapping_exclusions_and_indexes(both):
    ours, theirs = both
    assert {step: ours["evidence"][step] for step in theirs["evidence"]} == theirs["evidence"]
    assert sum(ours["evidence"].values()) == theirs["labels"]["strings"]
    for name in ("paragraphs_left_out", "papers_without_sections"):
        assert ours["excluded"][name] == theirs[name]
    assert {reason: ours["excluded"][reason] for reason in theirs["excluded"]} == theirs["excluded"]
    assert ours["scored"] == theirs["scored"]
    for policy, index in theirs["index"].items():
        assert {name: ours["index"][policy, name] for name in index} == index


@pytest.mark.parametrize("policy", POLICIES)
def test_rows(both, policy):
    ours, theirs = both
    rows = {row["budget"]: row for row in theirs["rows"] if row["policy"] == policy}
    assert set(rows) == set(BUDGETS)
    for budget, row in rows.items():
        means = ours["means"][policy, budget]
        assert {name: float(mean) for name, mean in means.items()} == {name: row[name] for name in means}
        never = theirs["scored"] + theirs["excluded"]["unmatched_only"]
        for name, covered in row["covered"].items():
            assert covered == means[name] * (never if name.endswith("_missed") else row["questions"])
        for name, total in row["totals"].items():
            assert total == means[name] * row["questions"]


@pytest.mark.parametrize("policy", OTHERS)
@pytest.mark.parametrize(("measure", "prefix"), [("any", ""), ("strict", "strict_")])
def test_differences(both, policy, measure, prefix):
    ours, theirs = both
    for row in (row for row in theirs["rows"] if row["policy"] == policy):
        tested = ours["tests"][row["budget"], measure][policy]
        assert row[f"{prefix}difference"] == tested["difference"]
        assert row[f"{prefix}interval"] == tested["interval"]
        assert row[f"{prefix}p"] == float(tested["p"])
        assert row[f"{prefix}holm"] == float(tested["holm"])


def test_slices(both):
    ours, theirs = both
    seen = set()
    for row in theirs["slices"]:
        key = row["cut"], THIRDS.index(row["name"]) if row["name"] in THIRDS else row["name"]
        seen.add(key)
        assert row["questions"] == ours["slices"][(*key, "questions")]
        assert row["covered"] == {policy: ours["slices"][(*key, policy)] for policy in POLICIES}
    assert seen == {(cut, name) for cut, name, _ in ours["slices"]}


def test_top_k(both):
    ours, theirs = both
    rows = {(row["policy"], f"top-{row['k']}"): row for row in theirs["top_k"]["rows"]}
    assert len(rows) == len(TOP) * (len(POLICIES) - 1)
    for key, row in rows.items():
        assert (row["any"], row["tokens"]) == (float(ours["means"][key]["any"]), float(ours["means"][key]["tokens"]))
        assert row["covered"]["any"] == ours["means"][key]["any"] * row["questions"]
