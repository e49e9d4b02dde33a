"""A fixture of papers as parity runs it: what one engine replies about each paper, stage by stage, and its table (spec 16).

The experiment's own steps ask; here every reply gets its stage and a case, so that a first difference is named, can be asked
again and has a golden value. Terms, contexts and what they cover are too many for golden cases of their own: they are groups.
"""

from __future__ import annotations

from ast import literal_eval
from collections.abc import Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from chunkproof.engines import Engine
from chunkproof.experiment import asking, evidence
from chunkproof.experiment.asking import Log, Wish
from chunkproof.experiment.evidence import map_evidence
from chunkproof.experiment.figures import QuestionFigures
from chunkproof.experiment.papers import Paper
from chunkproof.experiment.protocol import Protocol
from chunkproof.experiment.scoring import score
from chunkproof.experiment.tabling import Tabled, decide, rows
from chunkproof.fixtures import Fixture
from chunkproof.pipeline import Progress, Run
from chunkproof.replies import Json
from chunkproof.stages import Select

_STAGES = {
    **{"pieces": "pieces", "segments": "segments", "chunk": "chunks", "rank": "rankings", "terms": "rankings"},
    **{"fill": "budget", "cover": "budget", "bootstrap": "budget"},
}
"""The stage of each reply. Terms belong to the rankings here, since they are those of passages that were cut before."""
_CUT = ("pieces", "segments", "chunks")
_RANKED = (*_CUT, "rankings")


class _Refused(Exception):
    """The engine refused something, which is noted: nothing follows from it."""


@dataclass
class _Noted(Log):
    """A log whose replies become outcomes of a run."""

    run: Run = field(default_factory=lambda: Run(""))
    select: Select = field(default_factory=Select)
    progress: Progress | None = None
    groups: dict[str, str] = field(default_factory=dict)
    """The group of each context, by its label."""

    def ask(self, requests: Sequence[tuple[str, Json]]) -> list[Json]:
        """As in a log, but a refusal is noted and ends the paper."""
        replies = self.engine.ask([(f"{label} of {self.paper}", request) for label, request in requests], self.progress)
        refused = False
        for number, ((label, request), reply) in enumerate(zip(requests, replies, strict=True)):
            op = "fill" if isinstance(request, bytes) else str(request["op"])
            group, case = self._case(op, label, number)
            shown = request if isinstance(request, dict) and op != "cover" else {"op": op}
            if self.select.wants(_STAGES[op], case):
                self.run.add(_STAGES[op], case, reply.value, shown, group=group)
            refused = refused or reply.ok is None
        if refused:
            raise _Refused
        return [reply.ok for reply in replies]

    def _case(self, op: str, label: str, number: int) -> tuple[str, str]:
        """The golden group, if any, and the case of a request by what the experiment calls it."""
        if op == "terms":
            return f"{self.paper}/terms", f"{self.paper}/terms/{number}"
        if op in ("fill", "cover"):
            what, kind = label.rsplit(": ", 1)
            group, question = self.groups[what].split("\0")
            return group, f"{group}/{question}/{kind.removeprefix('the ').replace(' ', '-')}"
        if op == "pieces" and number:
            heading = literal_eval(label.removeprefix("the pieces of the heading "))
            return "", f"{self.paper}/heading {heading.rstrip()}"
        if op in ("chunk", "rank"):
            return "", f"{self.paper}/{label.rsplit(', ', 1)[0]}"
        return "", self.paper


def run_papers(engine: Engine, fixture: Fixture, run: Run, select: Select, progress: Progress | None = None) -> None:
    """Ask everything about every paper, or as much as the wanted outcomes rest on."""
    assert fixture.protocol is not None
    tabled = _tabled(fixture, select)
    done: list[Tabled] = []
    for paper in fixture.papers:
        if tabled or _wanted(paper, select):
            log = _Noted(engine, paper.id, run=run, select=select, progress=progress)
            try:
                found = _ask(log, paper, fixture.protocol, select)
            except _Refused:
                tabled = False
                continue
            if found is not None:
                done.append(found)
    if tabled:
        decide(engine, done, fixture.protocol, run, select)
        rows(engine, done, fixture.protocol, run, select)
        _evidence(fixture, run, select)


def _tabled(fixture: Fixture, select: Select) -> bool:
    """Whether anything is wanted that rests on all papers."""
    assert fixture.protocol is not None
    names = [policy.name for policy in fixture.protocol.policies]
    cases = ["evidence", *(f"index/{name}" for name in names), *(f"decision/{name}" for name in names)]
    cases += [f"{name}/{budget}" for name in names for budget in fixture.protocol.budgets]
    return any(select.wants_any(("budget", "table"), case) for case in cases)


def _wanted(paper: Paper, select: Select) -> bool:
    """Whether a pattern can be that of one of the paper's cases."""
    return not select.cases or any(
        case.startswith(f"{paper.id}/") or fnmatchcase(paper.id, case.split("/")[0]) or "*" in case.split("/")[0]
        for case in select.cases
    )


def _ask(log: _Noted, paper: Paper, protocol: Protocol, select: Select) -> Tabled | None:
    """The experiment's steps on one paper, the last of them only where something rests on them."""
    asked = asking.scored(paper)
    ids, mapped = [question.id for question, _ in asked], [each for _, each in asked]
    done = asking.cut(log, paper, protocol)
    if select.stages and set(select.stages) <= set(_CUT):
        return None
    sizes = asking.index(log, paper, done, protocol)
    rankings = asking.rank(log, paper, done, [question.text for question, _ in asked], protocol)
    if select.stages and set(select.stages) <= set(_RANKED):
        return None
    wished = asking.wishes(len(asked), protocol)
    log.groups = {wish.label(ids): f"{_group(paper, wish)}\0{ids[wish.question]}" for wish in wished}
    filled = list(zip(wished, asking.fill(log, done, rankings, wished, ids), strict=True))
    covered = asking.cover(log, paper, done.outline, filled, mapped, ids, protocol.minimum)
    figures: list[dict[tuple[str, int], QuestionFigures]] = [{} for _ in ids]
    for (wish, context), replies in zip(filled, covered, strict=True):
        if wish.kind == "budget":
            key = (wish.policy, wish.limit)
            figures[wish.question][key] = score(paper, done.outline, context, mapped[wish.question], replies)
    lost = sum(map_evidence(paper, each).excluded == "unmatched_only" for each in paper.questions)
    return Tabled(figures, sizes, lost)


def _group(paper: Paper, wish: Wish) -> str:
    return f"{paper.id}/{wish.policy}/{'top-' if wish.kind == 'top' else ''}{wish.limit}"


def _evidence(fixture: Fixture, run: Run, select: Select) -> None:
    """How evidence was mapped and what is excluded: counted here, and kept so that a change of it is seen."""
    if select.wants("table", "evidence"):
        steps, excluded, kept = evidence.count(fixture.papers)
        run.add("table", "evidence", {"ok": {**steps, **excluded, "scored": kept}})
