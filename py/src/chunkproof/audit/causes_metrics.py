"""Causes in how a right ranking was judged: who counts in the mean, what counts as found, how deep, in which order of ties."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction

from chunkproof.audit import ties
from chunkproof.audit.causes import Cause, Place
from chunkproof.audit.evidence import DEEPEST, Row
from chunkproof.audit.model import Claim
from chunkproof.trec import _passage_names

PerQuestion = Callable[[Sequence[int], set[int]], Fraction]


def tier(place: Place) -> Iterator[Cause]:
    """Every cause of this kind; none for figures of chunks."""
    row = place.row
    if row is None:
        return
    yield from _left_out(place, row)
    yield from _counted(place, row)
    yield from _relevance(place, row)
    yield from _depths(place, row)
    yield from _tie_orders(place, row)


def _left_out(place: Place, row: Row) -> Iterator[Cause]:
    lost = set(row.metrics["lost"])
    kept = [index for index in range(len(row.order)) if index not in lost]
    if not lost or not kept:
        return
    share = f"({len(kept)} of {len(row.order)})"
    ok = place.evidence.evaluate(row, row.order, only=kept)
    yield place.from_metrics(f"questions without a relevant chunk were left out {share}", ok)
    if any(len(relevant) > 1 for relevant in row.relevant):
        yield _recall(
            place,
            row,
            f"recall counted as hit rate, and questions without a relevant chunk left out {share}",
            _hit,
            kept,
        )


def _counted(place: Place, row: Row) -> Iterator[Cause]:
    several = sum(len(relevant) > 1 for relevant in row.relevant)
    if not several:
        return
    share = f"({several} of {len(row.order)} questions have several relevant chunks)"
    every = range(len(row.order))
    yield _recall(place, row, f"recall counted as hit rate {share}", _hit, every)
    yield _recall(place, row, f"recall divided by at most k {share}", _capped, every)


def _relevance(place: Place, row: Row) -> Iterator[Cause]:
    """Another idea of which chunk is relevant."""
    answers, passages = row.evaluate["answers"], row.evaluate["passages"]
    touching = [
        {
            number
            for number, passage in enumerate(passages)
            if passage["document"] == answer["document"]
            and passage["start"] < answer["end"]
            and answer["start"] < passage["end"]
        }
        for answer in answers
    ]
    more = sum(those != relevant for those, relevant in zip(touching, row.relevant, strict=True))
    if more:
        sentence = (
            f"chunks that hold part of the answer counted as relevant ({more} of {len(answers)} questions have such)"
        )
        yield place.from_metrics(sentence, place.evidence.evaluate_as(row, touching, "touching chunks relevant"))
    if any(len(relevant) > 1 for relevant in row.relevant):
        first = [{min(relevant)} if relevant else set() for relevant in row.relevant]
        sentence = "only the first chunk that holds an answer counted as relevant"
        yield place.from_metrics(sentence, place.evidence.evaluate_as(row, first, "first chunks relevant"))


def _recall(
    place: Place, row: Row, sentence: str, per_question: Callable[[int], PerQuestion], questions: Sequence[int]
) -> Cause:
    """A cause that speaks of recall@k, by its own figure of each question."""

    def makes(claim: Claim) -> str | None:
        kind, _, depth = claim.metric.partition("@")
        if kind != "recall" or int(depth) > DEEPEST:
            return None
        return place.text(claim, _mean(row, per_question(int(depth)), questions))

    return Cause(sentence, makes)


def _mean(row: Row, figure: PerQuestion, questions: Sequence[int]) -> Fraction:
    values = [figure(row.order[index], row.relevant[index]) for index in questions]
    return sum(values, Fraction(0)) / max(1, len(values))


def _hit(depth: int) -> PerQuestion:
    return lambda order, relevant: Fraction(bool(relevant.intersection(order[:depth])))


def _capped(depth: int) -> PerQuestion:
    return lambda order, relevant: (
        Fraction(len(relevant.intersection(order[:depth])), min(depth, len(relevant))) if relevant else Fraction(0)
    )


def _share(depth: int) -> PerQuestion:
    return lambda order, relevant: (
        Fraction(len(relevant.intersection(order[:depth])), len(relevant)) if relevant else Fraction(0)
    )


def _reciprocal(depth: int) -> PerQuestion:
    def figure(order: Sequence[int], relevant: set[int]) -> Fraction:
        rank = next((rank for rank, passage in enumerate(order[:depth], 1) if passage in relevant), 0)
        return Fraction(1, rank) if rank else Fraction(0)

    return figure


def _depths(place: Place, row: Row) -> Iterator[Cause]:
    """K off by one, or not cut at all. Each column for itself."""
    every = range(len(row.order))
    for verdict in place.verdicts:
        kind, _, cut = verdict.claim.metric.partition("@")
        if kind not in ("recall", "hit", "mrr", "ndcg"):
            continue
        for depth in dict.fromkeys((int(cut) - 1, int(cut) + 1, *((DEEPEST,) if kind == "mrr" else ()))):
            if not 1 <= depth <= DEEPEST:
                continue
            how = "k off by one" if abs(depth - int(cut)) == 1 else "not cut at 10"
            if kind == "ndcg":
                if depth > int(cut):
                    continue  # the spec's figure ends at ten ranks
                value: Fraction | str = place.evidence.evaluate(row, [order[:depth] for order in row.order])["mean"][
                    "ndcg@10"
                ]
            else:
                figure = {"recall": _share, "hit": _hit, "mrr": _reciprocal}[kind](depth)
                value = _mean(row, figure, every)
            yield _of_one(place, verdict.claim, f"{how}: this is {kind}@{depth}", value)


def _of_one(place: Place, one: Claim, sentence: str, value: Fraction | str) -> Cause:
    return Cause(sentence, lambda claim: place.text(claim, value) if claim is one else None)


def _tie_orders(place: Place, row: Row) -> Iterator[Cause]:
    bounds = ties.bounds(place.evidence, row, place.groups)
    if not bounds.open:
        return
    names = _passage_names(place.evidence.fixture, row.evaluate["passages"])
    place_of = {name: rank for rank, name in enumerate(sorted(names))}
    orders: tuple[tuple[str, Callable[[int, int], object]], ...] = (
        ("equal scores ranked by passage index descending", lambda _, passage: -passage),
        ("equal scores ranked by name descending, as trec_eval does", lambda _, passage: -place_of[names[passage]]),
        ("equal scores ranked by name ascending", lambda _, passage: place_of[names[passage]]),
        (
            "equal scores ranked with the relevant chunks first",
            lambda index, passage: passage not in row.relevant[index],
        ),
        ("equal scores ranked with the relevant chunks last", lambda index, passage: passage in row.relevant[index]),
    )
    for sentence, key in orders:
        yield place.from_metrics(sentence, place.evidence.evaluate(row, ties.reordered(place.groups, key)))


def last_tier(place: Place) -> Iterator[Cause]:
    """Where nothing else fits: some order of equal scores that nobody can name, if any gives the figure."""
    row = place.row
    bounds = None if row is None else ties.bounds(place.evidence, row, place.groups)
    if bounds is None or not bounds.open:
        return
    for verdict in place.verdicts:
        found = ties.range_of(place.evidence, bounds, verdict.claim.metric)
        if found is None or not found.open:
            continue
        least, greatest = (place.text(verdict.claim, double) for double in found.doubles)
        claimed = verdict.claim.figure.plain
        if Fraction(least) <= Fraction(claimed) <= Fraction(greatest):
            sentence = f"another order of equal scores, which can give {least} to {greatest}"
            yield Cause(sentence, lambda claim, one=verdict.claim, claimed=claimed: claimed if claim is one else None)  # type: ignore[misc]
