"""The budget experiment's decision: Holm, the rule in both directions, the interval's coverage, slices and the ledger."""

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from chunkproof import bootstrap, parity
from chunkproof.audit.arithmetic import Calculator
from chunkproof.experiment import cost, curves, decision, evidence, ledger, slices
from chunkproof.experiment.papers import Annotator, Paper, Paragraph, Question
from chunkproof.problems import Problem


@pytest.fixture(scope="module")
def calculator():
    with Calculator(parity.commands(["py"]), Path.cwd(), 60) as made:
        yield made


# --- Holm and p -------------------------------------------------------------------------------------------------------


def test_holm_by_hand():
    # Sorted: 0.01 · 4, 0.02 · 3, 0.03 · 2 (which is not below the one before), 0.6 · 1.
    values = {"c": Fraction(3, 100), "a": Fraction(1, 100), "d": Fraction(6, 10), "b": Fraction(2, 100)}
    assert decision.holm(values) == {
        "c": Fraction(6, 100),
        "a": Fraction(4, 100),
        "d": Fraction(6, 10),
        "b": Fraction(6, 100),
    }
    assert list(decision.holm(values)) == list(values)


def test_holm_never_falls_and_never_exceeds_one():
    # 0.02 · 3 = 0.06, then 0.025 · 2 = 0.05, which has to wait for the one before; 0.9 · 1.
    found = decision.holm({"a": Fraction(2, 100), "b": Fraction(25, 1000), "c": Fraction(9, 10)})
    assert found["b"] == Fraction(6, 100)
    assert decision.holm({"a": Fraction(6, 10), "b": Fraction(7, 10)}) == {"a": 1, "b": 1}


def test_p_is_exact_where_a_double_is_not():
    assert decision.exact_p(0, 10_000, 10_000) == Fraction(2, 10_001)
    assert decision.exact_p(6_000, 5_000, 10_000) == 1


# --- the rule ---------------------------------------------------------------------------------------------------------


def decided(units, calculator, held_out=True):
    compared = decision.compare(units, "paragraphs", calculator, resamples=1_000)
    made = decision.decide(
        units,
        compared,
        baseline="paragraphs",
        budget=1_000,
        level=Fraction(1, 20),
        held_out=held_out,
        calculator=calculator,
    )
    return compared, made


PARAGRAPHS = [(1, 4), (2, 4), (1, 3), (2, 5), (1, 4), (0, 2), (1, 3), (2, 4)]
BETTER = [(covered + 1, asked) for covered, asked in PARAGRAPHS]
WORSE = [(max(0, covered - 1), asked) for covered, asked in PARAGRAPHS]


def test_a_policy_that_is_better_in_every_paper_is_adopted(calculator):
    _, made = decided({"worse": WORSE, "headed": BETTER, "paragraphs": PARAGRAPHS}, calculator)
    assert made.adopted == "headed"
    assert made.passing == ("headed",)
    assert made.sentence.startswith("Adopt headed in place of paragraphs. At 1,000 tokens headed puts")
    # 18 of 29 less 10 of 29 is 8 / 29 = 0.2759 to four decimals.
    assert "for 18 of 29 questions (0.621), paragraphs for 10 (0.345): a difference of +0.276" in made.sentence


def test_a_policy_that_is_only_worse_keeps_the_baseline(calculator):
    compared, made = decided({"worse": WORSE, "paragraphs": PARAGRAPHS}, calculator)
    assert made.adopted is None
    assert made.sentence.startswith("Keep paragraphs. At 1,000 tokens no other policy")
    assert compared["worse"].p == Fraction(2, 1_001)  # two-sided: far from chance, on the wrong side


def test_an_interval_above_zero_is_not_enough_without_holm(calculator):
    # A p of 0.03 alone passes, and of nine like it none does.
    one = decision.Comparison(
        "a", "3fb0000000000000", ("3f50000000000000", "3fc0000000000000"), 14, 990, 1_000, Fraction(3, 100)
    )
    assert one.adopted(Fraction(1, 20))
    many = decision.holm({str(number): one.p for number in range(9)})
    assert all(value > Fraction(1, 20) for value in many.values())


def test_a_lower_end_of_exactly_zero_is_not_above_it():
    one = decision.Comparison(
        "a", "3fb0000000000000", ("0000000000000000", "3fc0000000000000"), 1, 999, 1_000, Fraction(0)
    )
    assert not one.adopted(Fraction(1, 20))


def test_papers_for_development_decide_nothing(calculator):
    _, made = decided({"headed": BETTER, "paragraphs": PARAGRAPHS}, calculator, held_out=False)
    assert made.sentence.startswith("On these papers, which are not held out and so decide nothing: adopt headed")


# --- the interval -----------------------------------------------------------------------------------------------------


def test_the_interval_is_scipys_on_the_same_resamples():
    """scipy draws with a generator of its own; given our draws it has to find the same distribution."""
    treatment, baseline = np.array(BETTER + WORSE), np.array(PARAGRAPHS * 2)
    n, resamples = len(treatment), 999

    class Drawn:
        """A generator whose integers are the rule's draws."""

        def integers(self, low, high, size):
            assert (low, high) == (0, n)
            return bootstrap._draws(1, 0, size[0], n)

    def difference(places, axis=-1):
        rates = [units[places][..., 0].sum(axis) / units[places][..., 1].sum(axis) for units in (treatment, baseline)]
        return rates[0] - rates[1]

    drawn = bootstrap._draws(1, 0, resamples, n)
    distribution = np.sort(difference(drawn))
    ours = bootstrap.bootstrap(treatment.tolist(), baseline.tolist(), resamples, 1)
    assert ours.interval == (distribution[998 * 25 // 1000], distribution[998 * 975 // 1000])
    theirs = stats.bootstrap(
        (np.arange(n),), difference, n_resamples=resamples, batch=resamples, method="percentile", vectorized=True, rng=0
    )
    # Other draws: the ends agree within the error of a thousand resamples.
    assert ours.interval == pytest.approx(tuple(theirs.confidence_interval), abs=0.04)


@pytest.mark.slow
def test_the_interval_holds_the_true_difference_about_95_times_in_100():
    """Papers of 1 to 8 questions; both policies cover some of them at rates that differ by 0.05 and hang together."""
    random = np.random.default_rng(20)
    truth, runs, papers, inside = 0.05, 400, 120, 0
    for _ in range(runs):
        asked = random.integers(1, 9, papers)
        ease = random.uniform(-0.25, 0.25, papers)
        pairs = [random.binomial(asked, rate + ease) for rate in (0.55, 0.5)]
        units = [list(zip(map(int, covered), map(int, asked), strict=True)) for covered in pairs]
        low, high = bootstrap.bootstrap(*units, 500, 1).interval
        inside += low <= truth <= high
    # 95 % of 400 is 380; three standard errors are 13.
    assert 360 <= inside <= 395


# --- slices -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("Introduction", "introduction"),
        ("Related Work ::: Data", "related work"),
        ("Background and Model", "related work"),
        ("Experiments on our Data", "results"),
        ("Data Analysis", "results"),
        ("System Architecture ::: Results", "method"),
        ("Conclusion", "other"),
        ("", "other"),
    ],
)
def test_section_classes(name, wanted):
    assert slices.section_class(name) == wanted


@pytest.mark.parametrize(
    ("kinds", "wanted"),
    [
        (["extractive", "extractive"], "extractive"),
        (["extractive", "yes_no"], "mixed"),
        (["unanswerable"], "mixed"),
        (["unanswerable", "free_form"], "mixed"),
    ],
)
def test_every_question_is_in_a_slice_of_answers(kinds, wanted):
    """Also one whose annotator marks evidence and says that there is no answer: slices add up to the whole."""
    paper = Paper("p", "", "The sea.", (Paragraph(0, 8, None),), (), ())
    asked = Question("q", "What?", tuple(Annotator(str(i), kind, ("The sea.",)) for i, kind in enumerate(kinds)))
    found = slices.traits(paper, asked, evidence.map_evidence(paper, asked, evidence.Mapper(paper)))
    assert found["answer"] == wanted
    assert all(found[cut] in names for cut, names in slices.CUTS.items())


def question(answer, a, b):
    traits = {"answer": answer, "evidence": "one", "section": "method", "position": "first third"}
    return traits, {"paragraphs": a, "headed": b}


def test_a_slice_with_another_winner_gets_a_paragraph(calculator):
    papers = [
        [question("extractive", 1, 0), question("extractive", 1, 0), question("yes_no", 0, 1)],
        [question("extractive", 1, 1), question("extractive", 1, 0)],
    ]
    overall = {"paragraphs": [(2, 3), (2, 2)], "headed": [(1, 3), (1, 2)]}
    made = {(each.cut, each.name): each for each in slices.make(papers, overall, 1_000, calculator)}
    assert made["answer", "yes_no"].winners == ("headed",)
    assert made["answer", "yes_no"].papers == 1
    said = made["answer", "yes_no"].paragraph
    assert said.startswith("Of the 1 yes/no questions, headed covers 1 at 1,000 tokens and paragraphs, which is ahead")
    assert made["answer", "extractive"].paragraph is None
    assert made["section", "method"].questions == 5
    assert ("answer", "free_form") not in made


# --- cost, curves -----------------------------------------------------------------------------------------------------


def test_cost_takes_the_least_budget_that_was_run(calculator):
    points = {
        "paragraphs": [cost.Point(500, 3, 10, 4_000), cost.Point(1_000, 5, 10, 9_000)],
        "headed": [cost.Point(500, 5, 10, 4_500), cost.Point(1_000, 4, 10, 9_500)],
    }
    rows = {(row["recall"], row["policy"]): row for row in cost.make(points, calculator, cost.price("2.50"))}
    # 900 tokens a question, a thousand questions, 2.50 a million: 2.25.
    assert rows["0.5", "paragraphs"] == {
        "recall": "0.5",
        "policy": "paragraphs",
        "budget": 1_000,
        "tokens": "900.0",
        "price": "2.2500",
    }
    assert rows["0.5", "headed"]["budget"] == 500
    assert rows["0.4", "headed"]["budget"] == 500
    assert not [row for row in rows if row[0] == "0.6"]  # none reaches it


def test_a_price_is_a_number_of_at_least_zero():
    for text in ("free", "-1", "1/0"):
        with pytest.raises(Problem, match="is no price"):
            cost.price(text)


def test_curves_are_one_file_with_the_data_in_words():
    drawn = curves.svg({"paragraphs": [(500, 1, 4), (1_000, 2, 4)], "a<b": [(500, 0, 4), (1_000, 4, 4)]}, "x & y")
    assert "paragraphs: 1 of 4 at 500, 2 of 4 at 1000; a&lt;b: 0 of 4 at 500" in drawn
    assert 'role="img"' in drawn
    assert "x &amp; y" in drawn
    assert "http" not in drawn.replace("http://www.w3.org/2000/svg", "")


# --- the ledger -------------------------------------------------------------------------------------------------------


def line(protocol="p1", data="d", result="r1"):
    return ledger.Line(protocol, data, "toy", {"py": "1"}, result, "2026-01-01")


def test_a_first_and_a_repeated_final_run(tmp_path):
    path = tmp_path / "ledger.jsonl"
    assert ledger.record(line(), path) == ledger.Standing(0, repeated=False)
    assert ledger.record(line(), path) == ledger.Standing(0, repeated=True)
    assert ledger.read(path) == [line(), line()]


def test_another_result_under_the_same_protocol_is_refused_and_not_written(tmp_path):
    path = tmp_path / "ledger.jsonl"
    ledger.record(line(), path)
    with pytest.raises(ledger.Changed, match="r1, this one r2"):
        ledger.record(line(result="r2"), path)
    assert ledger.read(path) == [line()]


def test_final_runs_under_other_protocols_are_counted(tmp_path):
    path = tmp_path / "ledger.jsonl"
    ledger.record(line(), path)
    ledger.record(line("p2", result="r2"), path)
    ledger.record(line("p9", data="other"), path)
    found = ledger.record(line("p3", result="r3"), path)
    assert found == ledger.Standing(2, repeated=False)
    assert "2 final runs under other protocols came before it" in ledger.said(found)
    assert ledger.record(line("p2", result="r2"), path).finals_before == 1  # what came before its first


def test_a_broken_ledger_is_named_by_line(tmp_path):
    path = tmp_path / "ledger.jsonl"
    path.write_text(json.dumps({"protocol": "p"}) + "\n", encoding="utf-8")
    with pytest.raises(Problem, match="line 1 is no line of a ledger"):
        ledger.read(path)
