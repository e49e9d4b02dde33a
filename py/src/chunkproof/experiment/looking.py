"""One question looked at closely: what each policy put into the budget, and what of the evidence that shows.

For readable misses and for the picture of a question. Both engines are asked, as in a run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from chunkproof.datasets import cache_dir
from chunkproof.engines import TIMEOUT
from chunkproof.experiment import asking, running
from chunkproof.experiment.asking import Log
from chunkproof.experiment.evidence import Mapped
from chunkproof.experiment.figures import QuestionFigures
from chunkproof.experiment.papers import Paper, Question
from chunkproof.experiment.protocol import Protocol
from chunkproof.experiment.scoring import score
from chunkproof.parity import Command
from chunkproof.problems import Problem


@dataclass(frozen=True)
class Shown:
    """A question's context under one policy and budget."""

    policy: str
    budget: int
    ranges: tuple[tuple[int, int], ...]
    """The context in code points, ascending, none touching another."""
    ranked: tuple[tuple[int, int], ...]
    """The policy's chunks in the order of the ranking, in code points, headings not included."""
    hits: Mapping[int, bool]
    """Whether each evidence paragraph of the union is hit."""
    overlaps: Mapping[int, int]
    """How many code points of each are in the context."""
    extra: int
    figures: QuestionFigures


@dataclass(frozen=True)
class Look:
    """A question, its evidence, and its contexts: for each budget every policy, in the protocol's order."""

    paper: Paper
    question: Question
    evidence: Mapped
    shown: tuple[Shown, ...]


def look(
    paper: Paper,
    questions: Sequence[str],
    protocol: Protocol,
    engines: Sequence[Command],
    timeout: float = TIMEOUT,
) -> list[Look]:
    """Look at questions of one paper, by their ids, with every policy and budget of the protocol (`Protocol.only` picks some).

    Raises Problem for a question that isn't there or isn't scored; EngineFailure and Differs as a run does.
    """
    return look_all([(paper, questions)], protocol, engines, timeout)


def look_all(
    wanted: Sequence[tuple[Paper, Sequence[str]]],
    protocol: Protocol,
    engines: Sequence[Command],
    timeout: float = TIMEOUT,
) -> list[Look]:
    """The same for questions of several papers, with engines that are started once."""
    asked = {id(paper): _asked(paper, questions) for paper, questions in wanted}

    def job(log: Log, paper: Paper) -> list[Look]:
        return _look(log, paper, asked[id(paper)], protocol)

    folder = cache_dir()
    folder.mkdir(parents=True, exist_ok=True)
    papers = [paper for paper, _ in wanted]
    with running.started(engines, folder, timeout) as (each, _):
        return [look for _, looks, _ in running.each_paper(each, papers, range(len(papers)), job) for look in looks]


def _asked(paper: Paper, questions: Sequence[str]) -> list[tuple[Question, Mapped]]:
    found = {question.id: (question, evidence) for question, evidence in asking.scored(paper)}
    for name in questions:
        if name not in found:
            known = any(question.id == name for question in paper.questions)
            why = "has no evidence in the text, so it is not scored" if known else "is not there"
            raise Problem(f"paper {paper.id}: the question {name!r} {why}")
    return [found[name] for name in questions]


def _look(log: Log, paper: Paper, asked: Sequence[tuple[Question, Mapped]], protocol: Protocol) -> list[Look]:
    ids = [question.id for question, _ in asked]
    evidence = [mapped for _, mapped in asked]
    done = asking.cut(log, paper, protocol)
    rankings = asking.rank(log, paper, done, [question.text for question, _ in asked], protocol)
    wished = [wish for wish in asking.wishes(len(asked), protocol) if wish.kind == "budget"]
    filled = list(zip(wished, asking.fill(log, done, rankings, wished, ids), strict=True))
    covered = asking.cover(log, paper, done.outline, filled, evidence, ids, protocol.minimum)
    shown: list[list[Shown]] = [[] for _ in asked]
    for (wish, context), replies in zip(filled, covered, strict=True):
        mapped, chunks = evidence[wish.question], done.chunks[wish.policy]
        best = [chunks[number] for number in rankings[wish.policy][wish.question]]
        shown[wish.question].append(
            Shown(
                wish.policy,
                wish.limit,
                tuple(context.points(done.outline)),
                tuple((done.outline.starts[chunk.first], done.outline.ends[chunk.last - 1]) for chunk in best),
                dict(zip(mapped.union, replies["hits"]["hits"], strict=True)),
                dict(zip(mapped.union, replies["hits"]["overlaps"], strict=True)),
                context.extra,
                score(paper, done.outline, context, mapped, replies),
            )
        )
    return [Look(paper, question, mapped, tuple(each)) for (question, mapped), each in zip(asked, shown, strict=True)]
