"""Whether the decision's figures hold under other rules of a hit, and where every annotator's evidence is wanted.

The decision rests on one rule, which was fixed before. How far it rests on that rule is said beside it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from chunkproof.audit.arithmetic import Calculator, exact
from chunkproof.compare import as_double
from chunkproof.experiment import decision
from chunkproof.experiment.decision import Units
from chunkproof.experiment.figures import QuestionFigures
from chunkproof.experiment.running import Ran

RULES = {
    "any_at_1": "one code point of a paragraph is enough",
    "any": "the protocol's minimum is enough",
    "any_at_half": "half of a paragraph is wanted",
    "any_at_all": "all of a paragraph is wanted",
    "strict": "the evidence of all annotators is wanted",
}


def make(ran: Ran, policy: str, budget: int, calculator: Calculator) -> dict[str, Any]:
    """The policy minus the baseline under each of RULES, with the winners there, and a sentence on all of them."""
    baseline, deciding = ran.protocol.baseline, ran.protocol.table["decision"]
    units = {rule: _units(ran, budget, rule) for rule in RULES}
    requests = [
        (f"{policy}, {rule}", decision.request(each[policy], each[baseline], deciding["resamples"], deciding["seed"]))
        for rule, each in units.items()
    ]
    rows = []
    for (rule, each), ok in zip(units.items(), calculator.ask(requests), strict=True):
        doubles = [ok["difference"], *ok["interval"]]
        texts = list(map(decision.signed, calculator.printed((double, decision.DECIMALS) for double in doubles)))
        rows.append(
            {
                "rule": rule,
                "winners": decision.winners(each),
                "difference": as_double(doubles[0]),
                "interval": list(map(as_double, doubles[1:])),
                "side": (exact(doubles[1]) > 0) - (exact(doubles[2]) < 0),
                "printed": {"difference": texts[0], "interval": texts[1:]},
            }
        )
    return {"policy": policy, "rows": rows, "sentence": _sentence(policy, baseline, budget, rows)}


def _units(ran: Ran, budget: int, rule: str) -> dict[str, Units]:
    """Of each policy, covered and asked in each paper, under one rule."""
    return {
        policy.name: [
            (sum(_covered(one.at[policy.name, budget], rule) for one in paper.questions), len(paper.questions))
            for paper in ran.papers
            if paper.questions
        ]
        for policy in ran.protocol.policies
    }


def _covered(figures: QuestionFigures, rule: str) -> int:
    minimum = rule.removeprefix("any_at_")
    return figures.any_at[minimum] if minimum != rule else int(getattr(figures, rule))


def _sentence(policy: str, baseline: str, budget: int, rows: Sequence[Mapping[str, Any]]) -> str:
    parts = []
    for row in rows:
        low, high = row["printed"]["interval"]
        winners = " and ".join(row["winners"]) if len(row["winners"]) < 4 else f"{len(row['winners'])} policies"
        parts.append(f"{row['printed']['difference']} ({low} to {high}; {winners} ahead) where {RULES[row['rule']]}")
    here = next(row for row in rows if row["rule"] == "any")
    turned = [RULES[row["rule"]] for row in rows if row["side"] != here["side"]]
    verdict = (
        f"So what it shows about the two is not the same where {', nor where '.join(turned)}"
        if turned
        else "So what it shows about the two does not depend on the rule"
    )
    return f"{policy} minus {baseline} at {budget:,} tokens: {', '.join(parts)}. {verdict}."
