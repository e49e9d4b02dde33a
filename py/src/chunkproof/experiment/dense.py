"""Dense retrieval in place of BM25: MiniLM's int8 vectors of passages and questions, ranked by 09 (spec 16 § Robustness).

Passages come from the engines, which have to agree on them; vectors from the model or the user's cache, where each is kept by the
hash of text and model as it is made, so that an interrupted run goes on where it was; rankings from the engines again.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from chunkproof import minilm
from chunkproof.embed import Embedder, embedding
from chunkproof.engines import Engine
from chunkproof.experiment import asking
from chunkproof.experiment.asking import Cut, Log
from chunkproof.experiment.papers import Paper
from chunkproof.experiment.policies import passage
from chunkproof.experiment.protocol import Protocol
from chunkproof.experiment.running import bar, each_paper
from chunkproof.replies import Json

METHOD = {"kind": "dense", "precision": "int8"}
Passages = dict[str, list[str]]
"""The passages of a paper, by policy, in order."""


@dataclass(frozen=True)
class Vectors:
    """The int8 vectors of texts: `rows` says which row of the matrix is a text's."""

    matrix: minilm.Int8
    rows: Mapping[str, int]
    longer: Mapping[str, tuple[int, int]]
    """Of each policy: passages of which the model reads only a part, and passages."""

    def of(self, texts: Sequence[str]) -> dict[str, Json]:
        """As a request has them inline."""
        own = np.ascontiguousarray(self.matrix[[self.rows[text] for text in texts]])
        return {"dim": self.matrix.shape[1], "int8": base64.b64encode(own.tobytes()).decode("ascii")}

    def digest(self, texts: Sequence[str]) -> str:
        """The hash of some texts' vectors."""
        return hashlib.sha256(self.matrix[[self.rows[text] for text in texts]].tobytes()).hexdigest()

    def rank(
        self, log: Log, paper: Paper, done: Cut, queries: Sequence[str], protocol: Protocol
    ) -> dict[str, list[list[int]]]:
        """As `asking.rank`, by the similarity of vectors."""
        rankings = {name: [list(range(len(chunks)))] * len(queries) for name, chunks in done.chunks.items()}
        requests: list[tuple[str, Json]] = []
        indexed = _passages(paper, done, protocol)
        asked = self.of(queries)
        for name, texts in indexed.items():
            fields = {"op": "rank", "passages": texts, "queries": list(queries), "method": METHOD}
            vectors = {"passage_vectors": self.of(texts), "query_vectors": asked}
            requests.append((f"{name}, the dense rankings", {**fields, **vectors, "depth": max(1, len(texts))}))
        for name, ok in zip(indexed, log.ask(requests), strict=True):
            rankings[name] = [[entry["passage"] for entry in ranking] for ranking in ok["rankings"]]
        return rankings


def embedded(
    papers: Sequence[Paper],
    protocol: Protocol,
    engines: Sequence[Sequence[Engine]],
    model: Embedder | None = None,
) -> tuple[Vectors, dict[str, str]]:
    """The vectors of all passages and questions that are scored, and for each paper, by id, the hash of its own.

    Raises Problem without the extra `embed` or its weights, before anything is asked of the engines; EngineFailure and Differs.
    """
    made_by = model or minilm.MiniLM()
    found = _cut(papers, protocol, engines)
    queries = {paper.id: [question.text for question, _ in asking.scored(paper)] for paper in papers}
    each = {name: [*queries[name], *(text for texts in by.values() for text in texts)] for name, by in found.items()}
    distinct = list(dict.fromkeys(text for texts in each.values() for text in texts))
    with embedding(made_by) as vectors_of:
        matrix, counts = vectors_of(distinct, "vectors")
    rows = {text: number for number, text in enumerate(distinct)}
    longer = {}
    for policy in [policy.name for policy in protocol.policies if policy.kind != "first"]:
        texts = [text for by in found.values() for text in by[policy]]
        longer[policy] = (sum(counts[rows[text]] > minilm.LIMIT for text in texts), len(texts))
    vectors = Vectors(matrix, rows, longer)
    return vectors, {name: vectors.digest(texts) for name, texts in each.items()}


def _cut(papers: Sequence[Paper], protocol: Protocol, engines: Sequence[Sequence[Engine]]) -> dict[str, Passages]:
    """The passages of each paper that has a scored question, on which all engines agree."""
    numbers = [number for number, paper in enumerate(papers) if asking.scored(paper)]

    def job(log: Log, paper: Paper) -> Passages:
        return _passages(paper, asking.cut(log, paper, protocol), protocol)

    with bar(len(numbers), "passages") as progress:
        found = {}
        for number, passages, _ in each_paper(engines, papers, numbers, job):
            found[papers[number].id] = passages
            progress(papers[number].id)
    return found


def _passages(paper: Paper, done: Cut, protocol: Protocol) -> Passages:
    return {
        policy.name: [passage(paper.text, done.outline, chunk) for chunk in done.chunks[policy.name]]
        for policy in protocol.policies
        if policy.kind != "first"
    }
