"""The comparison that is usually made, at the same number of chunks, beside the one at the same number of tokens.

Policies whose chunks are larger get more text for the same k. What that would have led to is said beside what it cost.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from chunkproof.audit.arithmetic import Calculator
from chunkproof.compare import as_double
from chunkproof.experiment import decision
from chunkproof.experiment.decision import Units
from chunkproof.experiment.running import Ran


def make(ran: Ran, at_budget: Mapping[str, Units], budget: int, calculator: Calculator) -> dict[str, Any]:
    """`rows`, one a policy and k, and a sentence for each k: who wins, what it costs, whether the budget says the same.

    The reference `first` has no chunks to rank, so it is on neither side of this comparison.
    """
    rows: list[dict[str, Any]] = []
    said, differs = [], []
    for k in ran.protocol.top_k:
        counts = {}
        for policy in ran.protocol.policies:
            each = [
                one.top[policy.name, k]
                for paper in ran.papers
                for one in paper.questions
                if (policy.name, k) in one.top
            ]
            if each:
                counts[policy.name] = (sum(one.any for one in each), sum(one.tokens for one in each), len(each))
        if not counts:
            continue
        fields = {name: _row(name, k, count, calculator) for name, count in counts.items()}
        rows += fields.values()
        here = [name for name, count in counts.items() if count[0] == max(each[0] for each in counts.values())]
        there = decision.winners({name: each for name, each in at_budget.items() if name in counts})
        other = not set(here) & set(there)
        differs.append({"k": k, "top_k": here, "budget": there, "other_winner": other})
        said.append(_sentence(k, budget, here, there, fields, other=other))
    return {"rows": rows, "winners": differs, "sentences": said}


def _row(name: str, k: int, count: tuple[int, int, int], calculator: Calculator) -> dict[str, Any]:
    covered, tokens, asked = count
    doubles = calculator.ratios([Fraction(covered, asked), Fraction(tokens, asked)])
    texts = calculator.printed([(doubles[0], decision.DECIMALS), (doubles[1], 1)])
    return {
        "policy": name,
        "k": k,
        "questions": asked,
        "covered": {"any": covered},
        "any": as_double(doubles[0]),
        "tokens": as_double(doubles[1]),
        "printed": {"any": texts[0], "tokens": texts[1]},
    }


def _sentence(
    k: int, budget: int, here: list[str], there: list[str], rows: Mapping[str, Mapping[str, Any]], *, other: bool
) -> str:
    best, least = rows[here[0]], min(rows.values(), key=lambda row: row["tokens"])
    facts = (
        f"By the same top-{k}, {' and '.join(here)} would win ({best['printed']['any']}), with contexts of "
        f"{best['printed']['tokens']} tokens on average, where those of {least['policy']} have {least['printed']['tokens']}"
    )
    if other:
        return f"{facts}. At the same {budget:,} tokens the winner is another: {' and '.join(there)}."
    return f"{facts}. At the same {budget:,} tokens the winner is the same."
