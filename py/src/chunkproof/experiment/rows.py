"""The rows of a summary: one a policy and budget, counted in integers, with every double asked of the engines."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from chunkproof.audit.arithmetic import Calculator
from chunkproof.compare import as_double
from chunkproof.experiment import decision
from chunkproof.experiment.decision import Comparison, Units
from chunkproof.experiment.figures import MINIMUMS, QuestionFigures
from chunkproof.experiment.running import Ran

MEASURES = ("any", "strict")
SHARES = ("any_share", "strict_share", "any_tokens", "strict_tokens", "precision")
DECIMALS = {"chunks": 1, "tokens": 1}
"""Decimals of what is printed, where they are not 3."""


class Doubles:
    """Figures wanted of the engines, asked all at once: by key a double in hexadecimal."""

    def __init__(self, calculator: Calculator) -> None:
        self.calculator = calculator
        self._ratios: dict[Any, Fraction] = {}
        self._means: dict[Any, list[list[int]]] = {}
        self.found: dict[Any, str] = {}

    def ratio(self, key: Any, over: int, under: int) -> None:
        """A quotient of integers, 0 where the lower one is 0."""
        self._ratios[key] = Fraction(over, under) if under else Fraction(0)

    def mean(self, key: Any, fractions: Sequence[tuple[int, int]]) -> None:
        """A mean of fractions (03 rule 5)."""
        self._means[key] = [list(each) for each in fractions]

    def ask(self) -> dict[Any, str]:
        """All that is wanted."""
        self.found.update(zip(self._ratios, self.calculator.ratios(list(self._ratios.values())), strict=True))
        request = {"op": "numbers", "kind": "mean"}
        asked = [(f"the mean of {key}", {**request, "fractions": each}) for key, each in self._means.items()]
        replies = self.calculator.ask(asked)
        self.found.update({key: ok["value"] for key, ok in zip(self._means, replies, strict=True)})
        self._ratios, self._means = {}, {}
        return self.found


def figures_of(ran: Ran, policy: str, budget: int) -> Iterator[list[QuestionFigures]]:
    """Paper by paper, the figures of its questions under a policy and budget."""
    for paper in ran.papers:
        yield [question.at[policy, budget] for question in paper.questions]


def units_of(ran: Ran, budget: int, measure: str) -> dict[str, Units]:
    """Of each policy: covered questions and questions of each paper that has a scored one."""
    return {
        policy.name: [
            (sum(getattr(each, measure) for each in paper), len(paper))
            for paper in figures_of(ran, policy.name, budget)
            if paper
        ]
        for policy in ran.protocol.policies
    }


def make(
    ran: Ran, calculator: Calculator, unmatched_only: int
) -> tuple[list[dict[str, Any]], dict[tuple[str, int], dict[str, Comparison]], dict[tuple[str, int], dict[str, Units]]]:
    """The rows, with what they were compared by and the units of it, by measure and budget."""
    deciding, protocol = ran.protocol.table["decision"], ran.protocol
    doubles = Doubles(calculator)
    counts: dict[tuple[str, int], dict[str, Any]] = {}
    for budget in protocol.budgets:
        for policy in protocol.policies:
            figures = [each for paper in figures_of(ran, policy.name, budget) for each in paper]
            counts[policy.name, budget] = _count((policy.name, budget), figures, unmatched_only, doubles)
    found = doubles.ask()
    units, compared, spans = {}, {}, {}
    for measure in MEASURES:
        for budget in protocol.budgets:
            units[measure, budget] = units_of(ran, budget, measure)
            if not any(units[measure, budget].values()):
                continue
            compared[measure, budget] = decision.compare(
                units[measure, budget], protocol.baseline, calculator, deciding["resamples"], deciding["seed"]
            )
            spans[measure, budget] = intervals(units[measure, budget], deciding, calculator)
    rows = []
    for (policy_name, budget), count in counts.items():
        values = {name: found[policy_name, budget, name] for name in count.pop("names")}
        row: dict[str, Any] = {"policy": policy_name, "budget": budget, **count, **values}
        for measure in MEASURES:
            prefix = "" if measure == deciding["measure"] else f"{measure}_"
            row |= _compared(prefix, compared.get((measure, budget), {}).get(policy_name), calculator)
            row[f"{measure}_rate_interval"] = spans.get((measure, budget), {}).get(policy_name)
        rows.append(finished(row, calculator))
    return rows, compared, units


def _count(
    key: tuple[str, int], figures: Sequence[QuestionFigures], unmatched_only: int, doubles: Doubles
) -> dict[str, Any]:
    """The integers of a row; what is a double is asked for under (policy, budget, name)."""
    asked, names = len(figures), []

    def ratio(name: str, value: Callable[[QuestionFigures], int], more: int = 0) -> int:
        names.append(name)
        total = sum(value(each) for each in figures)
        doubles.ratio((*key, name), total, asked + more)
        return total

    covered = {measure: ratio(measure, lambda each, name=measure: getattr(each, name)) for measure in MEASURES}  # type: ignore[misc]
    for measure in MEASURES:  # a question whose every string maps to nothing counts here, as never covered
        name = f"{measure}_missed"
        covered[name] = ratio(name, lambda each, name=name: getattr(each, name), unmatched_only)  # type: ignore[misc]
    for minimum in MINIMUMS:
        ratio(f"any_at_{minimum}", lambda each, name=minimum: each.any_at[name])  # type: ignore[misc]
    for name in SHARES:
        names.append(name)
        doubles.mean((*key, name), [getattr(each, name) for each in figures])
    tokens = ratio("tokens", lambda each: each.tokens)
    ratio("chunks", lambda each: each.chunks)
    full = ratio("full", lambda each: each.full)
    totals = {"tokens": tokens, "full": full}
    return {"questions": asked, "covered": covered, "totals": totals, "names": names}


def intervals(units: Mapping[str, Units], deciding: Mapping[str, Any], calculator: Calculator) -> dict[str, list[str]]:
    """The 95 % interval of each policy's own rate: its difference from a policy that never covers anything."""
    asked = [
        (
            f"the rate of {name}",
            decision.request(each, [(0, n) for _, n in each], deciding["resamples"], deciding["seed"]),
        )
        for name, each in units.items()
    ]
    return {name: ok["interval"] for name, ok in zip(units, calculator.ask(asked), strict=True)}


def _compared(prefix: str, found: Comparison | None, calculator: Calculator) -> dict[str, Any]:
    if found is None:
        return {f"{prefix}{name}": None for name in ("difference", "interval", "p", "holm")}
    p, corrected = calculator.ratios([found.p, found.holm])
    return {
        f"{prefix}difference": found.difference,
        f"{prefix}interval": list(found.interval),
        f"{prefix}p": p,
        f"{prefix}holm": corrected,
    }


def finished(row: dict[str, Any], calculator: Calculator) -> dict[str, Any]:
    """The row with numbers for hexadecimal doubles, and each of them printed."""
    printed: dict[str, Any] = {}
    for name, value in row.items():
        if name in ("policy", "budget") or isinstance(value, (int, dict)):
            continue
        decimals = DECIMALS.get(name, 4 if name.removeprefix("strict_") in ("p", "holm") else 3)
        many = [value] if isinstance(value, str) else value
        texts = calculator.printed((each, decimals) for each in many) if many is not None else None
        if name.removeprefix("strict_") in ("difference", "interval") and texts is not None:
            texts = list(map(decision.signed, texts))
        printed[name] = texts[0] if isinstance(value, str) and texts else texts
        row[name] = number(value) if isinstance(value, str) else None if many is None else list(map(number, many))
    return {**row, "printed": printed}


def number(double: str) -> float | int:
    """A double in hexadecimal as a JSON number."""
    value = as_double(double)
    assert value is not None
    return int(value) if value.is_integer() else value


def verdicts(
    rows: Sequence[dict[str, Any]],
    compared: Mapping[tuple[str, int], Mapping[str, Comparison]],
    deciding: Mapping[str, Any],
    baseline: str,
) -> None:
    """`verdict` of each row: at the budget of the decision by its rule, None at any other."""
    level = Fraction(deciding["level"])
    found = compared.get((deciding["measure"], deciding["budget"]), {})
    for row in rows:
        row["verdict"] = None
        if row["budget"] == deciding["budget"]:
            passed = row["policy"] in found and found[row["policy"]].adopted(level)
            row["verdict"] = "baseline" if row["policy"] == baseline else "adopt" if passed else f"keep {baseline}"
