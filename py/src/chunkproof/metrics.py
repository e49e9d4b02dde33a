"""When a passage answers a question, and the figures of the table, exactly (spec 12)."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from chunkproof import numerics

CUTOFFS = (1, 3, 5, 10, 20)
DEPTH = 10
"""Of mrr@10 and ndcg@10."""
_DISCOUNTS = (
    "3ff0000000000000 3fe430939835353d 3fe0000000000000 3fdb903469050f73 3fd8c23246dc0a9f "
    "3fd6cc193acea9b5 3fd5555555555555 3fd430939835353d 3fd34413509f79ff 3fd28009c1dd6454"
)
DISCOUNTS = tuple(map(numerics.from_hex, _DISCOUNTS.split()))
"""Rule 5: c(1) … c(10), the doubles nearest to 1/log2(r + 1)."""


class Span(NamedTuple):
    """A passage's or an answer's range in a document; documents are numbered."""

    document: int
    start: int
    end: int


@dataclass(frozen=True)
class Question:
    """One question's figures. `recall` maps each cutoff to its fraction."""

    relevant: list[int]
    recall: dict[int, Fraction]
    mrr: Fraction
    ndcg: float


@dataclass(frozen=True)
class Evaluation:
    """All questions' figures and their means: `recall@k` for each cutoff, `mrr@10`, `ndcg@10`."""

    lost: list[int]
    questions: list[Question]
    mean: dict[str, float]


class _Document:
    """The passages of one document by start, with a tree of the greatest end below each node."""

    def __init__(self, passages: list[tuple[int, int, int]]) -> None:
        passages.sort()
        self.starts = [start for start, _, _ in passages]
        self.numbers = [number for _, number, _ in passages]
        self.leaves = 1 << (len(passages) - 1).bit_length()
        self.greatest = [-1] * self.leaves + [end for _, _, end in passages]
        self.greatest += [-1] * (2 * self.leaves - len(self.greatest))
        for node in range(self.leaves - 1, 0, -1):
            self.greatest[node] = max(self.greatest[2 * node], self.greatest[2 * node + 1])

    def holding(self, start: int, end: int) -> list[int]:
        """Passages that start at or before `start` and end at or after `end`: a walk down the tree to these alone."""
        count = bisect_right(self.starts, start)
        found = []
        nodes = [(1, 0, self.leaves)]
        while nodes:
            node, low, width = nodes.pop()
            if low >= count or self.greatest[node] < end:
                continue
            if width == 1:
                found.append(self.numbers[low])
            else:
                half = width // 2
                nodes += (2 * node, low, half), (2 * node + 1, low + half, half)
        return sorted(found)


def relevant(passages: Sequence[tuple[int, int, int]], answers: Iterable[tuple[int, int, int]]) -> list[list[int]]:
    """Rule 1: for each answer the passages of its document that hold the whole of it, ascending."""
    by_document: defaultdict[int, list[tuple[int, int, int]]] = defaultdict(list)
    for number, (document, start, end) in enumerate(passages):
        by_document[document].append((start, number, end))
    documents = {document: _Document(spans) for document, spans in by_document.items()}
    return [
        documents[document].holding(start, end) if document in documents else [] for document, start, end in answers
    ]  # fmt: skip


def ranks(ranking: Sequence[int], relevant: Sequence[int]) -> list[int]:
    """The ranks, from 1, at which a ranking names a relevant passage; ascending."""
    wanted = set(relevant)
    return [rank for rank, passage in enumerate(ranking, 1) if passage in wanted]


def recall(ranking: Sequence[int], relevant: Sequence[int], k: int) -> Fraction:
    """Rule 3: the share of the relevant passages among the first k; 0 where there are none."""
    return _recall(ranks(ranking[:k], relevant), len(relevant), k)


def _recall(hits: list[int], size: int, k: int) -> Fraction:
    return Fraction(bisect_right(hits, k), size) if size else Fraction(0)


def reciprocal_rank(ranking: Sequence[int], relevant: Sequence[int]) -> Fraction:
    """Rule 4: 1/r of the first relevant passage within the first 10, else 0."""
    return _reciprocal_rank(ranks(ranking[:DEPTH], relevant))


def _reciprocal_rank(hits: list[int]) -> Fraction:
    return Fraction(1, hits[0]) if hits and hits[0] <= DEPTH else Fraction(0)


def ndcg(ranking: Sequence[int], relevant: Sequence[int]) -> float:
    """Rule 5: the discounted gain of the first 10 ÷ that of the best possible ranking; 0 where nothing is relevant."""
    return _ndcg(ranks(ranking[:DEPTH], relevant), len(relevant))


def _ndcg(hits: list[int], size: int) -> float:
    if not size:
        return 0.0
    gain = numerics.add(DISCOUNTS[rank - 1] for rank in hits if rank <= DEPTH)
    return gain / numerics.add(DISCOUNTS[: min(DEPTH, size)])


def evaluate(
    passages: Sequence[tuple[int, int, int]],
    answers: Sequence[tuple[int, int, int]],
    rankings: Sequence[Sequence[int]],
    cutoffs: Sequence[int] = CUTOFFS,
) -> Evaluation:
    """Rules 2 and 6: every question's figures, those lost, and the means over all of them.

    `passages` and `answers` are (document, start, end); `rankings` lists passage indices, one list an answer.
    """
    questions = []
    lost = []
    for number, (held, ranking) in enumerate(zip(relevant(passages, answers), rankings, strict=True)):
        if not held:
            lost.append(number)
        hits = ranks(ranking, held) if held else []
        recalls = {k: _recall(hits, len(held), k) for k in cutoffs}
        questions.append(Question(held, recalls, _reciprocal_rank(hits), _ndcg(hits, len(held))))
    mean = {f"recall@{k}": numerics.mean(question.recall[k] for question in questions) for k in cutoffs}
    mean["mrr@10"] = numerics.mean(question.mrr for question in questions)
    mean["ndcg@10"] = numerics.add(question.ndcg for question in questions) / len(questions) if questions else 0.0
    return Evaluation(lost, questions, mean)
