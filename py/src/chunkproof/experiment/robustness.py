"""Whether the order of the policies holds where one thing is otherwise than was decided (spec 16 § Robustness).

Compared are the baseline and the two best of the others: those that are no reference (`first`) and cover most questions at the
decision's budget, by its measure; of equal ones the earlier in the protocol. Where neither is a fixed one the best fixed one
comes with them, since one setting is about those alone. Every setting is compared within itself, on its own questions.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from chunkproof.audit.arithmetic import Calculator, exact
from chunkproof.datasets import cache_dir
from chunkproof.embed import Embedder
from chunkproof.engines import TIMEOUT, Engine
from chunkproof.experiment import decision, dense, rows, running
from chunkproof.experiment.decision import Units
from chunkproof.experiment.papers import Paper, without_abstract
from chunkproof.experiment.protocol import Protocol
from chunkproof.experiment.running import Differs, Ran, Way
from chunkproof.experiment.varied import ask_varied, with_headings
from chunkproof.experiment.wordpieces import WordPieces
from chunkproof.minilm import LIMIT
from chunkproof.parity import Command
from chunkproof.problems import Problem
from chunkproof.replies import Json

DECIDED = "as decided"
SETTINGS = {
    "word pieces": "counted in word pieces",
    "dense": "with dense retrieval",
    "without the abstract": "without the abstract",
    "headings in the text": "with headings in the text of fixed windows",
}
"""The other settings, with what sentences call them."""
BEST = 2


@dataclass(frozen=True)
class Outcome:
    """What a setting gave: covered and asked in each paper, by policy; or why it could not be run."""

    setting: str
    units: Mapping[str, Units]
    reason: str = ""
    note: str = ""


@dataclass(frozen=True)
class Robustness:
    """The policies that were compared, in the protocol's order, and every setting's outcome, that of the decision first."""

    protocol: Protocol
    outcomes: tuple[Outcome, ...]


def check(protocol: Protocol) -> None:
    """Problem where there would be nothing to compare, before hours are spent on it."""
    budget = protocol.table["decision"]["budget"]
    if budget not in protocol.budgets:
        raise Problem(f"--robustness looks at the budget of the decision: give {budget} among --budgets too")
    if not any(policy.kind != "first" for policy in protocol.policies if policy.name != protocol.baseline):
        raise Problem(f"--robustness compares other policies with {protocol.baseline}: name one with --policy")


def compared(ran: Ran) -> list[str]:
    """The policies that are compared, in the protocol's order."""
    deciding = ran.protocol.table["decision"]
    units = rows.units_of(ran, deciding["budget"], deciding["measure"])
    others = [each for each in ran.protocol.policies if each.kind != "first" and each.name != ran.protocol.baseline]
    order = sorted(others, key=lambda policy: decision.rate(units[policy.name]), reverse=True)
    best = order[:BEST]
    if all(policy.kind != "fixed" for policy in best):
        best += [policy for policy in order if policy.kind == "fixed"][:1]
    names = {ran.protocol.baseline, *(policy.name for policy in best)}
    return [policy.name for policy in ran.protocol.policies if policy.name in names]


def run(
    papers: Sequence[Paper],
    ran: Ran,
    engines: Sequence[Command],
    cache: Path | None = None,
    timeout: float = TIMEOUT,
    model: Embedder | None = None,
) -> Robustness:
    """Ask all engines again in every setting; one that can't be run is kept with the reason.

    `model` makes vectors in MiniLM's place. Raises EngineFailure and Differs, which names the setting.
    """
    deciding = ran.protocol.table["decision"]
    protocol = ran.protocol.only(compared(ran)).with_budgets([deciding["budget"]]).without_top_k()
    folder = cache if cache is not None else cache_dir() / "budget"
    folder.mkdir(parents=True, exist_ok=True)
    decided = {policy.name: _units(ran)[policy.name] for policy in protocol.policies}
    outcomes = [Outcome(DECIDED, decided)]
    with running.started(engines, folder, timeout, running.processes(papers)) as (processes, infos):
        settings = _Settings(papers, protocol, processes, infos, folder, model)
        for setting in SETTINGS:
            try:
                found = settings.outcome(setting, decided)
                outcomes.append(found if any(found.units.values()) else Outcome(setting, {}, "no question is scored"))
            except Differs as error:
                raise Differs(f"{setting}: {error}") from error
            except Problem as problem:
                outcomes.append(Outcome(setting, {}, " ".join(str(problem).split())))
    return Robustness(protocol, tuple(outcomes))


@dataclass(frozen=True)
class _Settings:
    """The settings, each run over the same papers by engines that are started."""

    papers: Sequence[Paper]
    protocol: Protocol
    engines: Sequence[Sequence[Engine]]
    infos: tuple[dict[str, Json], ...]
    folder: Path
    model: Embedder | None

    def outcome(self, setting: str, decided: Mapping[str, Units]) -> Outcome:
        """That of a setting. Raises Problem where it can't be run."""
        if setting == "word pieces":
            counting = WordPieces()
            way = _way(setting, lambda log, paper, given: ask_varied(log, paper, given, cutter=counting.cut))
            return Outcome(setting, self._run(setting, self.papers, self.protocol, way))
        if setting == "dense":
            return self._dense(setting)
        if setting == "without the abstract":
            if not any(paper.has_abstract for paper in self.papers):
                raise Problem("no paper has an abstract")
            papers = [without_abstract(paper) for paper in self.papers]
            return Outcome(setting, self._run(setting, papers, self.protocol, _way("text", ask_varied)))
        fixed = [policy.name for policy in self.protocol.policies if policy.kind == "fixed"]
        if not fixed:
            raise Problem("no policy has fixed windows")
        papers = [with_headings(paper) for paper in self.papers]
        found = self._run(setting, papers, self.protocol.only(fixed), _way("text", ask_varied))
        return Outcome(setting, {name: found.get(name, each) for name, each in decided.items()})

    def _dense(self, setting: str) -> Outcome:
        vectors, digests = dense.embedded(self.papers, self.protocol, self.engines, self.model)
        way = _way(
            setting,
            lambda log, paper, given: ask_varied(log, paper, given, ranker=vectors.rank),
            lambda paper: digests.get(paper.id, ""),
        )
        longer = _listed([f"{more:,} of {count:,} ({name})" for name, (more, count) in vectors.longer.items()])
        note = f"MiniLM reads the first {LIMIT - 2} word pieces of a passage; of the passages {longer} are longer."
        return Outcome(setting, self._run(setting, self.papers, self.protocol, way), note=note)

    def _run(self, setting: str, papers: Sequence[Paper], protocol: Protocol, way: Way) -> dict[str, Units]:
        with running.bar(len(papers), f"robustness, {setting}") as progress:
            return _units(running.run_with(self.engines, self.infos, papers, protocol, self.folder, progress, way))


def _way(name: str, ask: Callable[..., Any], of_paper: Callable[[Paper], Json] = lambda paper: "") -> Way:
    return Way(ask, lambda paper: [name, of_paper(paper), _modules()])


def _modules() -> str:
    """The hash of what varies a run: figures that other code counted are not taken over."""
    total = hashlib.sha256()
    for name in ("dense", "varied", "wordpieces"):
        total.update(Path(__file__).with_name(f"{name}.py").read_bytes())
    return total.hexdigest()


def _units(ran: Ran) -> dict[str, Units]:
    deciding = ran.protocol.table["decision"]
    return rows.units_of(ran, deciding["budget"], deciding["measure"])


# --- what it comes to -------------------------------------------------------------------------------------------------


def make(found: Robustness, calculator: Calculator) -> dict[str, Any]:
    """The summary's section: a row a setting, and a sentence on all of them. Every double is asked of all engines."""
    protocol = found.protocol
    deciding = protocol.table["decision"]
    decided = _rates(found.outcomes[0])
    made: dict[str, Any] = {
        "budget": deciding["budget"],
        "measure": deciding["measure"],
        "baseline": protocol.baseline,
        "policies": [policy.name for policy in protocol.policies],
        "rows": [_row(each, decided, protocol, calculator) for each in found.outcomes],
    }
    return {**made, "sentence": _sentence(made)}


def _rates(outcome: Outcome) -> dict[str, Fraction]:
    return {name: decision.rate(each) for name, each in outcome.units.items()}


def ordered(rates: Mapping[str, Fraction]) -> list[str]:
    """The policies from the highest rate to the lowest, those of equal rates as given."""
    return sorted(rates, key=lambda name: rates[name], reverse=True)


def holds(decided: Mapping[str, Fraction], here: Mapping[str, Fraction]) -> bool:
    """Whether no two policies change places: of any two, the one that covers more as decided covers no less here."""
    return all(here[a] >= here[b] for a in decided for b in decided if decided[a] > decided[b])


def _row(
    outcome: Outcome, decided: Mapping[str, Fraction], protocol: Protocol, calculator: Calculator
) -> dict[str, Any]:
    if outcome.reason:
        return {"setting": outcome.setting, "not_run": outcome.reason}
    deciding, baseline = protocol.table["decision"], protocol.baseline
    units, rates = outcome.units, _rates(outcome)
    order = ordered(rates)
    names = [name for name in units if name != baseline]
    doubles = dict(zip(rates, calculator.ratios(list(rates.values())), strict=True))
    printed: dict[str, Any] = {
        deciding["measure"]: dict(
            zip(rates, calculator.printed((each, decision.DECIMALS) for each in doubles.values()), strict=True)
        ),
        "order": "".join(
            name if number == 0 else f" {'=' if rates[name] == rates[order[number - 1]] else '>'} {name}"
            for number, name in enumerate(order)
        ),
        "difference": {},
        "interval": {},
    }
    row: dict[str, Any] = {
        "setting": outcome.setting,
        "papers": len(units[baseline]),
        "questions": decision.total(units[baseline])[1],
        "covered": {name: decision.total(each)[0] for name, each in units.items()},
        deciding["measure"]: {name: rows.number(each) for name, each in doubles.items()},
        "difference": {},
        "interval": {},
        "side": {},
        "order": order,
        "holds": holds(decided, rates),
        "note": outcome.note,
        "printed": printed,
    }
    if not units[baseline]:
        return row
    asked = [
        (
            f"{outcome.setting}, {name}",
            decision.request(units[name], units[baseline], deciding["resamples"], deciding["seed"]),
        )
        for name in names
    ]
    for name, ok in zip(names, calculator.ask(asked), strict=True):
        low, high = ok["interval"]
        texts = calculator.printed((each, decision.DECIMALS) for each in (ok["difference"], low, high))
        signed = list(map(decision.signed, texts))
        row["difference"][name], row["interval"][name] = (
            rows.number(ok["difference"]),
            [rows.number(low), rows.number(high)],
        )
        row["side"][name] = (exact(low) > 0) - (exact(high) < 0)
        printed["difference"][name], printed["interval"][name] = signed[0], signed[1:]
    return row


def _sentence(made: Mapping[str, Any]) -> str:
    decided, *others = made["rows"]
    if not decided["questions"]:
        return "No question is scored, so there is no order that could hold."
    ran = [row for row in others if "not_run" not in row]
    held = [SETTINGS[row["setting"]] for row in ran if row["holds"]]
    said = [f"At {made['budget']:,} tokens the order of the policies is {decided['printed']['order']}"]
    if held:
        said.append(f"It holds {_listed(held)}")
    said += [
        f"It does not hold {SETTINGS[row['setting']]}, where it is {row['printed']['order']}"
        for row in ran
        if not row["holds"]
    ]
    said.append(_sides(made, decided, ran))
    said += [f"There is no figure {SETTINGS[row['setting']]}: {row['not_run']}" for row in others if "not_run" in row]
    notes = [row["note"] for row in ran if row["note"]]
    return " ".join([*(f"{each.removesuffix('.')}." for each in said), *notes])


def _sides(made: Mapping[str, Any], decided: Mapping[str, Any], ran: Sequence[Mapping[str, Any]]) -> str:
    """Which differences from the baseline are not on the side of 0, or on both, where they are as decided."""
    turned = []
    for row in ran:
        for name, side in row["side"].items():
            if side != decided["side"][name]:
                low, high = row["printed"]["interval"][name]
                figures = f"{row['printed']['difference'][name]}, {low} to {high}"
                turned.append(f"{name} {SETTINGS[row['setting']]} ({figures})")
    if not turned:
        return f"Every interval of a difference from {made['baseline']} is on the side of 0 where it is as decided"
    return f"An interval of a difference from {made['baseline']} is not on the side of 0 where it is as decided: {_listed(turned)}"


def _listed(names: Sequence[str]) -> str:
    *before, last = names
    return f"{', '.join(before)} and {last}" if before else last
