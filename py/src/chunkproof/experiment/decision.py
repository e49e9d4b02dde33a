"""The decision: which policy, if any, is to replace the baseline, by a rule that was fixed before any figure was seen.

Every comparison is a paired bootstrap over papers (spec 14), asked of all engines; Holm's correction and the rule are
exact, since p is a fraction of two integers. Nothing here adds or divides in floating point.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from chunkproof.audit.arithmetic import Calculator, exact

Units = Sequence[tuple[int, int]]
"""Of each paper: questions covered, and questions. The same papers in the same order for every policy."""
RESAMPLES = 10_000
SEED = 1
DECIMALS = 3


@dataclass(frozen=True)
class Comparison:
    """A policy minus the baseline. Doubles are hexadecimal, as the engines gave them."""

    policy: str
    difference: str
    interval: tuple[str, str]
    at_most_zero: int
    at_least_zero: int
    resamples: int
    holm: Fraction
    """p after Holm's correction over all policies but the baseline."""

    @property
    def p(self) -> Fraction:
        """Spec 14 rule 4, before it is rounded to a double."""
        return exact_p(self.at_most_zero, self.at_least_zero, self.resamples)

    def adopted(self, level: Fraction) -> bool:
        """The rule: the interval's lower end is above 0, and Holm's p is below the level."""
        return exact(self.interval[0]) > 0 and self.holm < level


def exact_p(at_most_zero: int, at_least_zero: int, resamples: int) -> Fraction:
    """P = min(1, 2·(1 + min(#≤0, #≥0)) / (R + 1)) as a fraction."""
    return min(Fraction(1), Fraction(2 * (1 + min(at_most_zero, at_least_zero)), resamples + 1))


def holm(values: Mapping[str, Fraction]) -> dict[str, Fraction]:
    """Holm's step-down correction: the i-th least of m values times m − i, never below one before it, at most 1."""
    corrected: dict[str, Fraction] = {}
    greatest = Fraction(0)
    for done, name in enumerate(sorted(values, key=lambda name: values[name])):
        greatest = max(greatest, min(Fraction(1), (len(values) - done) * values[name]))
        corrected[name] = greatest
    return {name: corrected[name] for name in values}


def request(treatment: Units, baseline: Units, resamples: int = RESAMPLES, seed: int = SEED) -> dict[str, object]:
    """What an engine is asked for one comparison."""
    pairs = [[list(unit) for unit in units] for units in (treatment, baseline)]
    return {"op": "bootstrap", "treatment": pairs[0], "baseline": pairs[1], "resamples": resamples, "seed": seed}


def compare(
    units: Mapping[str, Units], baseline: str, calculator: Calculator, resamples: int = RESAMPLES, seed: int = SEED
) -> dict[str, Comparison]:
    """Every policy but the baseline, compared with it over the same draws, in the order given."""
    names = [name for name in units if name != baseline]
    asked = [(f"{name} against {baseline}", request(units[name], units[baseline], resamples, seed)) for name in names]
    found = dict(zip(names, calculator.ask(asked), strict=True))
    values = {name: exact_p(ok["at_most_zero"], ok["at_least_zero"], resamples) for name, ok in found.items()}
    corrected = holm(values)
    return {
        name: Comparison(
            name,
            ok["difference"],
            (ok["interval"][0], ok["interval"][1]),
            ok["at_most_zero"],
            ok["at_least_zero"],
            resamples,
            corrected[name],
        )
        for name, ok in found.items()
    }


def total(units: Units) -> tuple[int, int]:
    """Questions covered and questions, of all papers."""
    return sum(covered for covered, _ in units), sum(questions for _, questions in units)


def rate(units: Units) -> Fraction:
    """Σ covered ÷ Σ questions, exactly; 0 where there is no question."""
    covered, questions = total(units)
    return Fraction(covered, questions) if questions else Fraction(0)


def winners(units: Mapping[str, Units]) -> list[str]:
    """The policies that cover most questions: several where they cover as many."""
    most = max(total(each)[0] for each in units.values())
    return [name for name, each in units.items() if total(each)[0] == most]


@dataclass(frozen=True)
class Decision:
    """What the rule says, in a sentence that is made of the figures alone."""

    adopted: str | None
    """The policy to adopt; None: keep the baseline."""
    passing: tuple[str, ...]
    """Every policy that passes the rule, the one with the largest difference first."""
    sentence: str


def decide(
    units: Mapping[str, Units],
    compared: Mapping[str, Comparison],
    *,
    baseline: str,
    budget: int,
    level: Fraction,
    held_out: bool,
    calculator: Calculator,
) -> Decision:
    """Adopt the policy of largest difference among those that pass the rule, else keep the baseline."""
    order = sorted(compared.values(), key=lambda each: exact(each.difference), reverse=True)
    passing = tuple(each.policy for each in order if each.adopted(level))
    if not order:
        return Decision(None, (), f"Keep {baseline}: no other policy was compared with it.")
    best = compared[passing[0]] if passing else order[0]
    figures = _figures(best, units[best.policy], units[baseline], baseline, calculator)
    where = "" if held_out else "On these papers, which are not held out and so decide nothing: "
    family = f"{len(compared)} {'policies' if len(compared) > 1 else 'policy'}"
    if passing:
        others = [f"{name} passes it too" for name in passing[1:]]
        more = f" The rule is also passed by {_listed(passing[1:])}." if others else ""
        sentence = f"{where}adopt {best.policy} in place of {baseline}. At {budget:,} tokens {figures}"
        return Decision(best.policy, passing, _capital(f"{sentence}, corrected for {family}.{more}"))
    printed_level = calculator.printed([(calculator.double(level), 2)])[0]
    sentence = (
        f"{where}keep {baseline}. At {budget:,} tokens no other policy has an interval above 0 and Holm's p below "
        f"{printed_level}; the one with the largest difference: {figures}, corrected for {family}."
    )
    return Decision(None, (), _capital(sentence))


def _figures(best: Comparison, treatment: Units, baseline: Units, name: str, calculator: Calculator) -> str:
    """The comparison in words."""
    (covered, questions), (before, _) = total(treatment), total(baseline)
    difference, low, high = calculator.printed((each, DECIMALS) for each in (best.difference, *best.interval))
    rates = [_decimal(rate(each), calculator) for each in (treatment, baseline)]
    p = calculator.printed([(calculator.double(best.holm), 4)])[0]
    return (
        f"{best.policy} puts the whole evidence of an annotator into the context for {covered:,} of {questions:,} questions "
        f"({rates[0]}), {name} for {before:,} ({rates[1]}): a difference of {signed(difference)} with the 95 % interval "
        f"{signed(low)} to {signed(high)} over {len(treatment):,} papers, Holm's p {p}"
    )


def _decimal(value: Fraction, calculator: Calculator) -> str:
    return calculator.printed([(calculator.double(value), DECIMALS)])[0]


def signed(text: str) -> str:
    """A printed difference with its sign: a true minus, a plus, or none for what is printed as zero."""
    if text.startswith("-"):
        return f"−{text[1:]}"
    return f"+{text}" if text.strip("0.") else text


def _listed(names: Iterable[str]) -> str:
    *before, last = names
    return f"{', '.join(before)} and {last}" if before else last


def _capital(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]
