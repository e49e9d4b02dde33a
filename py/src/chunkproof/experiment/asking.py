"""What one engine is asked about one paper: pieces and chunks, rankings, contexts, what they cover.

The engine's own replies lead from each step to the next, and every reply is noted, so that a first difference between engines
shows where it arises. The steps are functions of their own: a robustness check takes them with other counts or rankings.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from chunkproof.engines import Engine, EngineFailure
from chunkproof.experiment.evidence import Mapped, Mapper, map_evidence
from chunkproof.experiment.figures import IndexFigures, PaperFigures, QuestionResult
from chunkproof.experiment.papers import Paper, Question
from chunkproof.experiment.policies import Chunk, Outline, chunks_of, headings, passage
from chunkproof.experiment.protocol import Protocol
from chunkproof.experiment.scoring import Context, score, wanted
from chunkproof.replies import Json, canonical

UNLIMITED = 2**53 - 1
"""The budget of a context that only the number of chunks limits."""


@dataclass
class Log:
    """Every value that an engine replied about a paper, in the order of asking, as canonical bytes."""

    engine: Engine
    paper: str
    labels: list[str] = field(default_factory=list)
    values: list[bytes] = field(default_factory=list)

    def ask(self, requests: Sequence[tuple[str, Json]]) -> list[Json]:
        """The `ok` of every request; a refusal is the engine's failure, since nothing that is asked here is wrong."""
        replies = self.engine.ask([(f"{label} of {self.paper}", request) for label, request in requests])
        for (label, _), reply in zip(requests, replies, strict=True):
            if reply.ok is None:
                what = f"it refuses {label} of {self.paper}: {reply.code}"
                raise EngineFailure(self.engine.name, "malformed", what)
            self.labels.append(label)
            self.values.append(canonical(reply.value))
        return [reply.ok for reply in replies]

    def digest(self) -> str:
        """That of the list of all values."""
        return hashlib.sha256(b"[" + b",".join(self.values) + b"]").hexdigest()


@dataclass(frozen=True)
class Cut:
    """A paper's outline and each policy's chunks."""

    outline: Outline
    chunks: Mapping[str, Sequence[Chunk]]


@dataclass(frozen=True)
class Wish:
    """A context to be filled: of a question (its place among those asked), under a policy and a limit."""

    question: int
    policy: str
    kind: str
    """`budget`, in tokens, or `top`, a number of chunks."""
    limit: int

    def label(self, ids: Sequence[str]) -> str:
        """For reports."""
        limit = f"{self.limit} tokens" if self.kind == "budget" else f"top {self.limit}"
        return f"{self.policy}, {limit}, question {ids[self.question]}"


def cut(log: Log, paper: Paper, protocol: Protocol) -> Cut:
    """Pieces, sentences, chunks and the cost of headings."""
    fixed = [policy for policy in protocol.policies if policy.kind == "fixed"]
    names = headings(paper) if any(policy.kind == "headed" for policy in protocol.policies) else []
    chunkers = [{"kind": "fixed", "size": policy.size, "overlap": policy.overlap} for policy in fixed]
    requests: list[tuple[str, Json]] = [
        ("the pieces", {"op": "pieces", "text": paper.text}),
        ("the sentences", {"op": "segments", "text": paper.text, "paragraphs": "blank_line"}),
    ]
    requests += [
        (f"{policy.name}, the chunks", {"op": "chunk", "text": paper.text, "chunker": chunker})
        for policy, chunker in zip(fixed, chunkers, strict=True)
    ]
    requests += [(f"the pieces of the heading {name!r}", {"op": "pieces", "text": name}) for name in names]
    pieces, segments, *rest = log.ask(requests)
    costs = {
        name: sum(piece["tokens"] for piece in ok["pieces"]) for name, ok in zip(names, rest[len(fixed) :], strict=True)
    }
    starts = [piece["start"] for piece in pieces["pieces"]]
    places = {start: number for number, start in enumerate(starts)}
    outline = Outline(
        starts,
        [piece["end"] for piece in pieces["pieces"]],
        [piece["tokens"] for piece in pieces["pieces"]],
        [places[sentence["start"]] for sentence in segments["sentences"]],
        costs,
    )
    given = {
        policy.name: [(chunk["start"], chunk["end"]) for chunk in ok["chunks"]]
        for policy, ok in zip(fixed, rest, strict=False)
    }
    return Cut(
        outline,
        {policy.name: chunks_of(policy, paper, outline, given.get(policy.name, ())) for policy in protocol.policies},
    )


def rank(log: Log, paper: Paper, done: Cut, queries: Sequence[str], protocol: Protocol) -> dict[str, list[list[int]]]:
    """Of each policy, for each query, all its chunks in the order of their scores. What isn't indexed stays in its order."""
    indexed = [policy.name for policy in protocol.policies if policy.kind != "first"]
    requests = []
    for name in indexed:
        passages = [passage(paper.text, done.outline, chunk) for chunk in done.chunks[name]]
        fields = {"op": "rank", "passages": passages, "queries": list(queries), "method": protocol.rank}
        requests.append((f"{name}, the rankings", {**fields, "depth": max(1, len(passages))}))
    rankings = {name: [list(range(len(chunks)))] * len(queries) for name, chunks in done.chunks.items()}
    for name, ok in zip(indexed, log.ask(requests), strict=True):
        rankings[name] = [[entry["passage"] for entry in ranking] for ranking in ok["rankings"]]
    return rankings


def index(log: Log, paper: Paper, done: Cut, protocol: Protocol) -> dict[str, IndexFigures]:
    """The size of each policy's index. Passages that policies share are asked about once."""
    passages = {
        policy.name: [passage(paper.text, done.outline, chunk) for chunk in done.chunks[policy.name]]
        for policy in protocol.policies
        if policy.kind != "first"
    }
    distinct = {text: "" for texts in passages.values() for text in texts}
    asked: list[tuple[str, Json]] = [
        (f"the terms of passage {number}", {"op": "terms", "text": text}) for number, text in enumerate(distinct)
    ]
    postings = {text: len(set(ok["terms"])) for text, ok in zip(distinct, log.ask(asked), strict=True)}
    sizes = {}
    for policy in protocol.policies:
        texts = passages.get(policy.name, [])
        tokens = sum(done.outline.cost(chunk) for chunk in done.chunks[policy.name]) if texts else 0
        sizes[policy.name] = IndexFigures(len(texts), tokens, sum(postings[text] for text in texts))
    return sizes


def wishes(questions: int, protocol: Protocol) -> list[Wish]:
    """All contexts of a paper: every question under every policy and budget, then by number of chunks."""
    limits = [("budget", limit) for limit in protocol.budgets] + [("top", limit) for limit in protocol.top_k]
    return [
        Wish(question, policy.name, kind, limit)
        for kind, limit in limits
        for policy in protocol.policies
        if kind == "budget" or policy.kind != "first"
        for question in range(questions)
    ]


def fill(
    log: Log, done: Cut, rankings: Mapping[str, list[list[int]]], wishes: Sequence[Wish], ids: Sequence[str]
) -> list[Context]:
    """The contexts. What requests of one paper or policy share is written once; of a top-k only its chunks are sent."""
    tokens = _json(done.outline.tokens)
    chunks = {name: _chunks(each) for name, each in done.chunks.items()}
    ranked = {name: [_json(ranking) for ranking in each] for name, each in rankings.items()}
    requests: list[tuple[str, Json]] = []
    for wish in wishes:
        given, ranking, budget = chunks[wish.policy], ranked[wish.policy][wish.question], wish.limit
        if wish.kind == "top":
            best = rankings[wish.policy][wish.question][: wish.limit]
            given, ranking = _chunks([done.chunks[wish.policy][number] for number in best]), _json(range(len(best)))
            budget = UNLIMITED
        line = b'{"op":"fill","tokens":%s,"chunks":%s,"ranking":%s,"budget":%d}' % (tokens, given, ranking, budget)
        requests.append((f"{wish.label(ids)}: the context", line))
    return [
        Context(
            tuple((run["from"], run["to"]) for run in ok["context"]),
            ok["tokens"],
            ok["extra"],
            ok["chunks"],
            ok["full"],
        )
        for ok in log.ask(requests)
    ]


def cover(
    log: Log,
    paper: Paper,
    outline: Outline,
    filled: Sequence[tuple[Wish, Context]],
    evidence: Sequence[Mapped],
    ids: Sequence[str],
    minimum: int,
) -> list[dict[str, Json]]:
    """For each context the replies about its question's evidence, by what they measure; keys as in `scoring.wanted`."""
    requests: list[tuple[str, Json]] = []
    keys = []
    for wish, context in filled:
        asked = wanted(paper, outline, context, evidence[wish.question], minimum, more=wish.kind == "budget")
        keys.append(list(asked))
        requests += [(f"{wish.label(ids)}: cover {key}", request) for key, request in asked.items()]
    replies = iter(log.ask(requests))
    return [{key: next(replies) for key in each} for each in keys]


def scored(paper: Paper) -> list[tuple[Question, Mapped]]:
    """The questions that are asked, with their evidence."""
    mapper = Mapper(paper)
    mapped = [(question, map_evidence(paper, question, mapper)) for question in paper.questions]
    return [(question, evidence) for question, evidence in mapped if evidence.excluded is None]


def ask_paper(log: Log, paper: Paper, protocol: Protocol) -> PaperFigures:
    """Everything about one paper. A reply of the wrong shape shows as an error that the caller names."""
    asked = scored(paper)
    done = cut(log, paper, protocol)
    sizes = index(log, paper, done, protocol)
    rankings = rank(log, paper, done, [question.text for question, _ in asked], protocol)
    return counted(log, paper, protocol, done, rankings, sizes)


def counted(
    log: Log,
    paper: Paper,
    protocol: Protocol,
    done: Cut,
    rankings: Mapping[str, list[list[int]]],
    sizes: Mapping[str, IndexFigures],
) -> PaperFigures:
    """What comes after cutting and ranking: the contexts, what they cover, and the figures of each question."""
    asked = scored(paper)
    ids = [question.id for question, _ in asked]
    evidence = [mapped for _, mapped in asked]
    wished = wishes(len(asked), protocol)
    filled = list(zip(wished, fill(log, done, rankings, wished, ids), strict=True))
    covered = cover(log, paper, done.outline, filled, evidence, ids, protocol.minimum)
    figures: list[dict[str, dict[tuple[str, int], Any]]] = [{"budget": {}, "top": {}} for _ in ids]
    for (wish, context), replies in zip(filled, covered, strict=True):
        figures[wish.question][wish.kind][wish.policy, wish.limit] = score(
            paper, done.outline, context, evidence[wish.question], replies
        )
    return PaperFigures(
        paper.id,
        paper.sha256,
        log.digest(),
        len(done.outline.tokens),
        done.outline.sums[-1],
        sizes,
        tuple(QuestionResult(name, each["budget"], each["top"]) for name, each in zip(ids, figures, strict=True)),
    )


def _chunks(chunks: Sequence[Chunk]) -> bytes:
    return _json([{"from": chunk.first, "to": chunk.last, "extra": chunk.extra} for chunk in chunks])


def _json(value: Any) -> bytes:
    return json.dumps(list(value), separators=(",", ":")).encode("ascii")
