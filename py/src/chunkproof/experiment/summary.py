"""What a run comes to, as the JSON that every other form is made of.

Counting is done here, in integers; every mean, rate and interval is asked of all engines, and so is every printed figure. A
figure is a JSON number (the engines' double), and stands beside it under `printed` as tables show it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from chunkproof.audit.arithmetic import Calculator
from chunkproof.compare import as_double
from chunkproof.experiment import cost, decision, evidence, slices, topk
from chunkproof.experiment.decision import Comparison, Units
from chunkproof.experiment.figures import MINIMUMS, QuestionFigures
from chunkproof.experiment.papers import Dataset, Paper
from chunkproof.experiment.running import Ran
from chunkproof.replies import digest

MEASURES = ("any", "strict")
SHARES = ("any_share", "strict_share", "any_tokens", "strict_tokens", "precision")
DECIMALS = {"chunks": 1, "tokens": 1}
"""Decimals of what is printed, where they are not 3."""
Summary = dict[str, Any]


@dataclass(frozen=True)
class Subject:
    """What was run: the data, the papers of it, what the engines gave, and what else is known of the run."""

    dataset: Dataset
    papers: Sequence[Paper]
    ran: Ran
    curves: Ran | None = None
    final: bool = False
    notes: tuple[str, ...] = ()
    price: Fraction | None = None

    @property
    def data(self) -> str:
        """The digest of the papers' texts and questions, in order."""
        return digest([[paper.id, paper.sha256] for paper in self.papers])


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


def make(subject: Subject, calculator: Calculator) -> Summary:
    """The whole summary. `Disagreement` where the engines do not agree on a figure."""
    steps, excluded, scored = evidence.count(subject.papers)
    protocol = subject.ran.protocol
    deciding = protocol.table["decision"]
    rows, compared, units = _rows(subject.ran, calculator, excluded["unmatched_only"])
    _verdicts(rows, compared, deciding, protocol.baseline)
    made: Summary = {
        "dataset": {"name": subject.dataset.name, "split": subject.dataset.split, "sha256": subject.dataset.sha256},
        "protocol": {"name": protocol.table["name"], "digest": protocol.digest, "baseline": protocol.baseline},
        "final": subject.final,
        "held": len(subject.ran.infos) > 1,
        "engines": [f"{info.get('engine')} {info.get('version')}" for info in subject.ran.infos],
        "data": subject.data,
        "run": subject.ran.digest,
        "papers": len(subject.papers),
        "questions": sum(len(paper.questions) for paper in subject.papers),
        "scored": scored,
        "excluded": excluded,
        "evidence": steps,
        "labels": _labels(subject.papers),
        "papers_without_sections": sum(paper.without_sections for paper in subject.papers),
        "paragraphs_left_out": sum(paper.left_out for paper in subject.papers),
        "index": _index(subject.ran),
        "rows": rows,
    }
    key = (deciding["measure"], deciding["budget"])
    if scored and key in units:
        made["decision"] = _decision(subject, units[key], compared[key], calculator)
        made["slices"] = _slices(subject, units[key], calculator)
        made["top_k"] = topk.make(subject.ran, units[key], deciding["budget"], calculator)
    elif scored:
        made["decision"] = {
            "adopt": None,
            "sentence": f"Nothing is decided: {key[1]:,} tokens are not among the budgets.",
        }
    if subject.curves is not None:
        made["curves"] = _curves(subject.curves, calculator)
    made["cost"] = _cost(subject, calculator)
    made["notes"] = list(subject.notes)
    made["digest"] = digest({name: made[name] for name in ("run", "data", "rows", "decision") if name in made})
    return made


# --- rows -------------------------------------------------------------------------------------------------------------


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


def _rows(
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
    units, compared, intervals = {}, {}, {}
    for measure in MEASURES:
        for budget in protocol.budgets:
            units[measure, budget] = units_of(ran, budget, measure)
            if not any(units[measure, budget].values()):
                continue
            compared[measure, budget] = decision.compare(
                units[measure, budget], protocol.baseline, calculator, deciding["resamples"], deciding["seed"]
            )
            intervals[measure, budget] = _intervals(units[measure, budget], deciding, calculator)
    rows = []
    for (policy_name, budget), count in counts.items():
        values = {name: found[policy_name, budget, name] for name in count.pop("names")}
        row: dict[str, Any] = {"policy": policy_name, "budget": budget, **count, **values}
        for measure in MEASURES:
            prefix = "" if measure == deciding["measure"] else f"{measure}_"
            row |= _compared(prefix, compared.get((measure, budget), {}).get(policy_name), calculator)
            row[f"{measure}_rate_interval"] = intervals.get((measure, budget), {}).get(policy_name)
        rows.append(_finished(row, calculator))
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


def _intervals(units: Mapping[str, Units], deciding: Mapping[str, Any], calculator: Calculator) -> dict[str, list[str]]:
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


def _finished(row: dict[str, Any], calculator: Calculator) -> dict[str, Any]:
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


def _verdicts(
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


# --- the other parts ---------------------------------------------------------------------------------------------------


def _index(ran: Ran) -> dict[str, dict[str, int]]:
    sizes = {}
    for policy in ran.protocol.policies:
        each = [paper.index[policy.name] for paper in ran.papers]
        sizes[policy.name] = {
            "chunks": sum(size.chunks for size in each),
            "tokens": sum(size.tokens for size in each),
            "postings": sum(size.postings for size in each),
        }
    return sizes


def _labels(papers: Sequence[Paper]) -> dict[str, int]:
    """Strings of evidence, and those left out of a set that has text beside them."""
    total = floats = names = unmatched = 0
    for paper in papers:
        mapper = evidence.Mapper(paper)
        for question in paper.questions:
            total += sum(len(each.strings) for each in question.annotators)
            for found in evidence.map_evidence(paper, question, mapper).scored:
                floats += found.floats
                names += found.section_names
                unmatched += found.unmatched
    return {
        "strings": total,
        "float_beside_text": floats,
        "section_name_beside_text": names,
        "unmatched_beside_text": unmatched,
    }


def _decision(
    subject: Subject, units: Mapping[str, Units], compared: Mapping[str, Comparison], calculator: Calculator
) -> dict[str, Any]:
    protocol = subject.ran.protocol
    deciding = protocol.table["decision"]
    made = decision.decide(
        units,
        compared,
        baseline=protocol.baseline,
        budget=deciding["budget"],
        level=Fraction(deciding["level"]),
        held_out=subject.final,
        calculator=calculator,
    )
    return {
        "measure": deciding["measure"],
        "budget": deciding["budget"],
        "adopt": made.adopted,
        "passing": list(made.passing),
        "winners": decision.winners(units),
        "sentence": made.sentence,
    }


def _slices(subject: Subject, units: Mapping[str, Units], calculator: Calculator) -> list[dict[str, Any]]:
    deciding = subject.ran.protocol.table["decision"]
    budget, measure = deciding["budget"], deciding["measure"]
    questions = []
    for paper, figures in zip(subject.papers, subject.ran.papers, strict=True):
        mapper, by_id = evidence.Mapper(paper), {each.id: each for each in paper.questions}
        each = []
        for result in figures.questions:
            question = by_id[result.id]
            traits = slices.traits(paper, question, evidence.map_evidence(paper, question, mapper))
            each.append((traits, {policy: getattr(result.at[policy, budget], measure) for policy in units}))
        questions.append(each)
    made = []
    for found in slices.make(questions, units, budget, calculator):
        shares = calculator.ratios([Fraction(count, found.questions) for count in found.covered.values()])
        made.append(
            {
                "cut": found.cut,
                "name": found.name,
                "papers": found.papers,
                "questions": found.questions,
                "covered": dict(found.covered),
                measure: dict(zip(found.covered, map(number, shares), strict=True)),
                "printed": dict(
                    zip(found.covered, calculator.printed((share, decision.DECIMALS) for share in shares), strict=True)
                ),
                "winners": list(found.winners),
                "paragraph": found.paragraph,
            }
        )
    return made


def _curves(ran: Ran, calculator: Calculator) -> list[dict[str, Any]]:
    """Rates with their intervals at each budget of the curves."""
    deciding = ran.protocol.table["decision"]
    points: dict[tuple[str, int], dict[str, Any]] = {}
    for budget in ran.protocol.budgets:
        for measure in MEASURES:
            units = units_of(ran, budget, measure)
            if not any(units.values()):
                continue
            intervals = _intervals(units, deciding, calculator)
            for name, each in units.items():
                covered, asked = decision.total(each)
                point = points.setdefault((name, budget), {"policy": name, "budget": budget, "questions": asked})
                point.setdefault("covered", {})[measure] = covered
                point[measure] = calculator.ratios([Fraction(covered, asked)])[0]
                point[f"{measure}_rate_interval"] = intervals[name]
    return [_finished(point, calculator) for point in points.values()]


def _cost(subject: Subject, calculator: Calculator) -> dict[str, Any]:
    """Tokens needed for a recall, from the curves where they were run, else from the rows."""
    ran = subject.curves if subject.curves is not None else subject.ran
    points: dict[str, list[cost.Point]] = {}
    for policy in ran.protocol.policies:
        points[policy.name] = []
        for budget in sorted(ran.protocol.budgets):
            each = [one for paper in figures_of(ran, policy.name, budget) for one in paper]
            covered = sum(one.any for one in each)
            points[policy.name].append(cost.Point(budget, covered, len(each), sum(one.tokens for one in each)))
    price = None if subject.price is None else cost.shown(subject.price)
    return {
        "budgets": sorted(ran.protocol.budgets),
        "price_per_million": price,
        "hypothetical": True,
        "unit": f"per {cost.QUESTIONS:,} questions",
        "rows": cost.make(points, calculator, subject.price),
    }
