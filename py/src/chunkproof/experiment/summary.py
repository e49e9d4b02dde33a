"""What a run comes to, as the JSON that every other form is made of.

Counting is done here, in integers; every mean, rate and interval is asked of all engines, and so is every printed figure. A
figure is a JSON number (the engines' double), and stands beside it under `printed` as tables show it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from chunkproof.audit.arithmetic import Calculator, exact
from chunkproof.experiment import cost, decision, evidence, rows, sensitivity, slices, topk
from chunkproof.experiment.decision import Comparison, Units
from chunkproof.experiment.papers import Dataset, Paper
from chunkproof.experiment.running import Ran
from chunkproof.replies import digest

if TYPE_CHECKING:
    from chunkproof.experiment.robustness import Robustness

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
    robustness: Robustness | None = None

    @property
    def data(self) -> str:
        """The digest of the papers' texts and questions, in order."""
        return digest([[paper.id, paper.sha256] for paper in self.papers])


def make(subject: Subject, calculator: Calculator) -> Summary:
    """The whole summary. `Disagreement` where the engines do not agree on a figure."""
    steps, excluded, scored = evidence.count(subject.papers)
    protocol = subject.ran.protocol
    deciding = protocol.table["decision"]
    made_rows, compared, units = rows.make(subject.ran, calculator, excluded["unmatched_only"])
    rows.verdicts(made_rows, compared, deciding, protocol.baseline)
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
        "rows": made_rows,
    }
    key = (deciding["measure"], deciding["budget"])
    if scored and key in units:
        made["decision"] = _decision(subject, units[key], compared[key], calculator)
        leading = _leading(made["decision"], compared[key])
        if leading is not None:
            made["sensitivity"] = sensitivity.make(subject.ran, leading, key[1], calculator)
        made["slices"] = _slices(subject, units[key], calculator)
        made["top_k"] = topk.make(subject.ran, units[key], deciding["budget"], calculator)
    elif scored:
        made["decision"] = {
            "adopt": None,
            "sentence": f"Nothing is decided: {key[1]:,} tokens are not among the budgets.",
        }
    if subject.curves is not None:
        made["curves"] = _curves(subject.curves, calculator)
    if subject.robustness is not None:
        from chunkproof.experiment import robustness  # not above: it loads what vectors need

        made["robustness"] = robustness.make(subject.robustness, calculator)
    made["cost"] = _cost(subject, calculator)
    made["paper_digests"] = {paper.id: paper.digest for paper in subject.ran.papers}
    made["notes"] = list(subject.notes)
    made["digest"] = digest({name: made[name] for name in ("run", "data", "rows", "decision") if name in made})
    return made


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


def _leading(decided: Mapping[str, Any], compared: Mapping[str, Comparison]) -> str | None:
    """The policy that the decision speaks of: the one adopted, else the one of largest difference."""
    return decided["adopt"] or max(compared, key=lambda name: exact(compared[name].difference), default=None)


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
                measure: dict(zip(found.covered, map(rows.number, shares), strict=True)),
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
        for measure in rows.MEASURES:
            units = rows.units_of(ran, budget, measure)
            if not any(units.values()):
                continue
            intervals = rows.intervals(units, deciding, calculator)
            for name, each in units.items():
                covered, asked = decision.total(each)
                point = points.setdefault((name, budget), {"policy": name, "budget": budget, "questions": asked})
                point.setdefault("covered", {})[measure] = covered
                point[measure] = calculator.ratios([Fraction(covered, asked)])[0]
                point[f"{measure}_rate_interval"] = intervals[name]
    return [rows.finished(point, calculator) for point in points.values()]


def _cost(subject: Subject, calculator: Calculator) -> dict[str, Any]:
    """Tokens needed for a recall, from the curves where they were run, else from the rows."""
    ran = subject.curves if subject.curves is not None else subject.ran
    points: dict[str, list[cost.Point]] = {}
    for policy in ran.protocol.policies:
        points[policy.name] = []
        for budget in sorted(ran.protocol.budgets):
            each = [one for paper in rows.figures_of(ran, policy.name, budget) for one in paper]
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
