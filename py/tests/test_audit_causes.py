"""Each known mistake: a table made with it is told apart from the right one, and the audit says which mistake it was."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from pathlib import Path

import pytest
from rank_bm25 import BM25Okapi

from audit_help import CHUNKING, MEANINGS, mini, mini_evidence, of, row_of, table_header, verdicts
from chunkproof import parity
from chunkproof.audit.evidence import Evidence, part_of
from chunkproof.audit.model import DIFFERS, MISSING, REPRODUCED, Key, Value
from chunkproof.parity import Command
from chunkproof.pipeline import METRICS, Run

SCRIPT = Path(__file__).parent / "wrong" / "engine.py"


@pytest.fixture(scope="module")
def evidence() -> Iterator[Evidence]:
    calculator, found = mini_evidence()
    with calculator:
        yield found


def wrong_row(fault: str, config: str, method: str) -> dict[str, str]:
    """The row that an engine with one fault makes, whatever it is that the audit knows of such faults."""
    part = part_of(mini(), [Key(config, method)])
    run = Run("wrong")
    parity.run_engine(part, Command("wrong", (sys.executable, str(SCRIPT), fault), fault), run)
    assert run.failure is None
    return next(
        each.value["ok"] for each in run.outcomes if each.stage == "table" and each.case == f"{config}/{method}"
    )


def explained(evidence: Evidence, rows: Sequence[dict[str, str]], words: str, row: int = 1) -> int:
    """How many figures of a row differ; each of them must be explained by these words."""
    wrong = [each for each in verdicts(evidence, rows) if each.verdict == DIFFERS and each.claim.row == row]
    assert wrong
    for each in wrong:
        assert any(re.search(words, cause) for cause in each.causes), (each.claim.metric, each.causes)
    return len(wrong)


def test_the_right_table_is_reproduced(evidence: Evidence) -> None:
    rows = [row_of(evidence, key.config, key.method) for key in evidence.rows]
    judged = verdicts(evidence, rows)
    assert len(judged) == 56 * 7
    assert {each.verdict for each in judged} == {REPRODUCED}


@pytest.mark.parametrize("metric", METRICS)
def test_one_digit_of_any_figure_is_caught(evidence: Evidence, metric: str) -> None:
    right = row_of(evidence, "fixed-256", "rrf")
    for place, digit in enumerate(right[metric]):
        if digit == ".":
            continue
        for other in "0123456789":
            if other != digit:
                text = right[metric][:place] + other + right[metric][place + 1 :]
                judged = verdicts(evidence, [{**right, metric: text}], explained=False)
                assert [each.claim.metric for each in judged if each.verdict == DIFFERS] == [metric]


def test_one_digit_of_any_figure_of_the_chunks_is_caught(evidence: Evidence) -> None:
    right = {
        "config": "fixed-512",
        "chunks": "14",
        "mean_tokens": "448.4",
        "max_tokens": "512",
        "lost": "3",
        "long": "12",
    }
    header = table_header(CHUNKING)
    assert {each.verdict for each in verdicts(evidence, [right], header)} == {REPRODUCED}
    for column in list(right)[1:]:
        for place, digit in enumerate(right[column]):
            if digit != ".":
                text = right[column][:place] + str((int(digit) + 1) % 10) + right[column][place + 1 :]
                judged = verdicts(evidence, [{**right, column: text}], header, explained=False)
                assert [each.claim.metric for each in judged if each.verdict == DIFFERS] == [column]


@pytest.mark.parametrize(
    ("fault", "config", "method", "words"),
    [
        ("lost-left-out", "fixed-128", "bm25", r"questions without a relevant chunk were left out \(15 of 20\)"),
        (
            "tie-order-reversed",
            "semantic-256",
            "dense precision=binary",
            "equal scores ranked by passage index descending",
        ),
        ("ranks-from-zero", "semantic-256", "rrf k=1", "ranks counted from 0"),
        ("alpha-swapped", "fixed-512", "weighted alpha=0.3", "alpha 0.3 put on BM25"),
        ("touching-is-relevant", "fixed-256", "bm25", "part of the answer counted as relevant"),
    ],
)
def test_an_engine_with_one_fault_is_found_out(
    evidence: Evidence, fault: str, config: str, method: str, words: str
) -> None:
    made = wrong_row(fault, config, method)
    assert explained(evidence, [made], words) >= 1


def test_every_row_of_a_table_without_lost_questions_is_explained(evidence: Evidence) -> None:
    for config in ("fixed-128", "fixed-256", "fixed-512"):
        row = evidence.rows[Key(config, "bm25")]
        kept = [index for index in range(20) if index not in row.metrics["lost"]]
        means = evidence.evaluate(row, row.order, only=kept)["mean"]
        texts = evidence.calculator.printed((means[metric], 3) for metric in METRICS)
        made = {"config": config, "method": "bm25", **dict(zip(METRICS, texts, strict=True))}
        assert explained(evidence, [made], rf"left out \({len(kept)} of 20\)") == 7


def exact_row(evidence: Evidence, key: Key, printed: Callable[[Fraction], str]) -> dict[str, str]:
    values = {metric: evidence.value(key, metric) for metric in METRICS}
    figures = {metric: printed(value.exact) for metric, value in values.items() if isinstance(value, Value)}
    return {"config": key.config, "method": key.method, **figures}


def test_half_to_even(evidence: Evidence) -> None:
    """0.5 lies halfway, and so does 0.125: with no decimals or two they show it."""
    found = 0
    for key in evidence.rows:
        made = exact_row(evidence, key, lambda value: f"{float(value):.0f}")
        right = row_of(evidence, key.config, key.method, 0)
        if made != right:
            found += explained(evidence, [made], "rounded half to even, not half away from zero")
    assert found


def test_truncation(evidence: Evidence) -> None:
    for method in ("rrf", "weighted alpha=0.3"):
        made = exact_row(evidence, Key("fixed-128", method), lambda value: f"0.{int(value * 10_000):04d}")
        explained(evidence, [made], "truncated, not rounded")


def test_the_mean_of_tokens_truncated(evidence: Evidence) -> None:
    found = []
    for config in evidence.fixture.configs:
        value = evidence.value(Key(config.name), "mean_tokens")
        assert isinstance(value, Value)
        made = {"config": config.name, "mean_tokens": f"{int(value.exact * 10) / 10:.1f}"}
        header = table_header({name: name for name in made})
        found += [each for each in verdicts(evidence, [made], header) if each.verdict == DIFFERS]
    assert found
    assert {each.causes[0] for each in found} == {"truncated, not rounded"}


def test_recall_counted_as_hit_rate(evidence: Evidence) -> None:
    row = evidence.rows[Key("fixed-256-o64", "bm25")]
    made = row_of(evidence, "fixed-256-o64", "bm25")
    for metric in METRICS[:5]:
        depth = int(metric[7:])
        hits = sum(bool(set(order[:depth]) & those) for order, those in zip(row.order, row.relevant, strict=True))
        made[metric] = f"{hits / 20:.3f}"
    assert explained(evidence, [made], r"recall counted as hit rate \(\d+ of 20 questions have several") >= 3


def test_hit_rate_is_a_figure_of_its_own(evidence: Evidence) -> None:
    columns = {"config": "config", "method": "method", "hit@1": "hit@1"}
    row = evidence.rows[Key("fixed-256-o64", "bm25")]
    hits = sum(order[0] in those for order, those in zip(row.order, row.relevant, strict=True))
    made = {"config": "fixed-256-o64", "method": "bm25", "hit@1": f"{hits / 20:.2f}"}
    assert [each.verdict for each in verdicts(evidence, [made], table_header(columns))] == [REPRODUCED]


def test_k_off_by_one(evidence: Evidence) -> None:
    row = evidence.rows[Key("fixed-256", "dense precision=binary")]
    made = row_of(evidence, "fixed-256", "dense precision=binary")
    changed = []
    for metric, depth in (("recall@3", 2), ("recall@5", 6), ("recall@10", 9)):
        found = sum(len(set(order[:depth]) & those) for order, those in zip(row.order, row.relevant, strict=True))
        text = f"{found / 20:.3f}"
        changed += [f"recall@{depth}"] if text != made[metric] else []
        made[metric] = text
    assert changed
    explained(evidence, [made], "k off by one: this is recall@")


def test_reciprocal_rank_that_is_not_cut(evidence: Evidence) -> None:
    found = 0
    for key, row in evidence.rows.items():
        ranks = [
            next((rank for rank, passage in enumerate(order, 1) if passage in those), 0)
            for order, those in zip(row.order, row.relevant, strict=True)
        ]
        text = f"{float(sum(Fraction(1, rank) for rank in ranks if rank) / 20):.3f}"
        made = row_of(evidence, key.config, key.method)
        if text != made["mrr@10"]:
            found += explained(evidence, [{**made, "mrr@10": text}], "not cut at 10: this is mrr@20")
    assert found


def test_percent_for_fraction_and_back(evidence: Evidence) -> None:
    right = row_of(evidence, "fixed-128", "rrf")
    explained(evidence, [{**right, "recall@3": "65.0"}], "a percentage where a fraction belongs")
    judged = verdicts(evidence, [{**right, "recall@3": "65.0%"}])
    assert of(judged, "recall@3").verdict == REPRODUCED
    header = table_header(MEANINGS, units={"recall@3": "percent"})
    assert of(verdicts(evidence, [{**right, "recall@3": "65.0"}], header), "recall@3").verdict == REPRODUCED
    wrong = of(verdicts(evidence, [{**right, "recall@3": "0.650"}], header), "recall@3")
    assert wrong.causes == ["a fraction where a percentage belongs"]


def test_columns_that_changed_places(evidence: Evidence) -> None:
    right = row_of(evidence, "fixed-256", "rrf")
    made = {**right, "mrr@10": right["ndcg@10"], "ndcg@10": right["mrr@10"]}
    assert explained(evidence, [made], "the columns '.*' and '.*' changed places") == 2


def test_rows_that_changed_places(evidence: Evidence) -> None:
    one, other = row_of(evidence, "fixed-256", "rrf"), row_of(evidence, "fixed-512", "bm25")
    names = ("config", "method")
    rows = [{**other, **{name: one[name] for name in names}}, {**one, **{name: other[name] for name in names}}]
    assert explained(evidence, rows, "the rows fixed-256/rrf and fixed-512/bm25 changed places") >= 6
    copied = [one, {**one, **{name: other[name] for name in names}}]
    assert explained(evidence, copied, "these are the figures of fixed-256/rrf", row=2) >= 6


def okapi(evidence: Evidence, key: Key, split: Callable[[str], list[str]], **settings: float) -> dict[str, str]:
    """A row whose ranking is rank-bm25's own."""
    row = evidence.rows[key]
    library = BM25Okapi([split(text) for text in row.rank["passages"]], **settings)
    order = []
    for query in row.rank["queries"]:
        scores = library.get_scores(split(query))
        order.append(sorted(range(len(scores)), key=lambda index: (-scores[index], index))[:20])
    means = evidence.evaluate(row, order)["mean"]
    texts = evidence.calculator.printed((means[metric], 3) for metric in METRICS)
    return {"config": key.config, "method": key.method, **dict(zip(METRICS, texts, strict=True))}


def test_the_idf_of_another_library(evidence: Evidence) -> None:
    """rank-bm25 over the spec's own terms."""
    found = 0
    for key in evidence.rows:
        if key.method == "bm25":
            cache: dict[str, list[str]] = {}

            def split(text: str, cache: dict[str, list[str]] = cache) -> list[str]:
                if text not in cache:
                    cache[text] = evidence.calculator.one("terms", {"op": "terms", "text": text})["terms"]
                return cache[text]

            made = okapi(evidence, key, split, k1=1.2, b=0.75)
            if made != row_of(evidence, key.config, key.method):
                found += explained(evidence, [made], "Okapi's idf")
    if not found:
        pytest.skip("on this corpus that idf changes no figure")


def test_no_stop_words_and_words_split_at_spaces(evidence: Evidence) -> None:
    found = 0
    for key in evidence.rows:
        if key.method == "bm25":
            made = okapi(evidence, key, lambda text: text.lower().split(), k1=1.5, b=0.75)
            found += explained(evidence, [made], "rank-bm25 as it comes|split at spaces")
    assert found


def test_what_no_cause_fits_says_so(evidence: Evidence) -> None:
    right = row_of(evidence, "recursive-256", "rrf")
    assert of(verdicts(evidence, [{**right, "mrr@10": "0.123"}]), "mrr@10").causes == []


def test_what_cannot_be_recomputed_says_why(evidence: Evidence) -> None:
    right = row_of(evidence, "recursive-256", "rrf")
    judged = verdicts(evidence, [{**right, "method": "rerank n=10"}, {**right, "config": "fixed-99"}])
    assert {each.verdict for each in judged} == {MISSING}
    assert {each.reason for each in judged} == {"mini has no method 'rerank n=10'", "mini has no config 'fixed-99'"}
    columns = {"config": "config", "method": "method", "mrr@10": "mrr@5"}
    (deep,) = verdicts(evidence, [{**right, "mrr@10": "0.9"}], table_header(columns))
    assert "the spec defines mrr@10 alone" in deep.reason
