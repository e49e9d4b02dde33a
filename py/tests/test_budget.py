"""Spec 13: what a token budget holds, and which evidence that shows."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkproof import budget

# fill

TOKENS = [3, 1, 4, 1, 5]


@pytest.mark.parametrize(
    ("chunks", "ranking", "limit", "wanted"),
    [
        # All of it, to the last token.
        ([(0, 2, 0), (2, 5, 0)], [1, 0], 14, ([(0, 5)], 14, 0, 2, False)),
        # One token less: the second chunk's first piece does not fit, so nothing of it does, not even the piece of 1.
        ([(0, 2, 0), (2, 5, 0)], [1, 0], 12, ([(2, 5)], 10, 0, 1, True)),
        ([(0, 2, 0), (2, 5, 0)], [1, 0], 13, ([(0, 1), (2, 5)], 13, 0, 2, True)),
        # The ranking's order counts, not the document's.
        ([(0, 2, 0), (2, 5, 0)], [0, 1], 9, ([(0, 4)], 9, 0, 2, True)),
        # Pieces that are there already cost nothing; the heading does.
        ([(0, 3, 2), (1, 4, 2)], [0, 1], 13, ([(0, 4)], 13, 4, 2, False)),
        # A chunk without new pieces is not counted, and its heading not paid.
        ([(0, 3, 2), (1, 3, 2), (4, 5, 0)], [0, 1, 2], 15, ([(0, 3), (4, 5)], 15, 2, 2, False)),
        # Nor does it end the filling, though its heading alone would not fit.
        ([(0, 3, 0), (1, 3, 99), (3, 4, 0)], [0, 1, 2], 9, ([(0, 4)], 9, 0, 2, False)),
        # A heading that leaves no room for a piece is not paid.
        ([(0, 1, 0), (2, 5, 5)], [0, 1], 11, ([(0, 1)], 3, 0, 1, True)),
        ([(0, 1, 0), (2, 5, 5)], [0, 1], 12, ([(0, 1), (2, 3)], 12, 5, 2, True)),
        # What comes after the chunk that did not fit is not looked at, though it would fit.
        ([(4, 5, 0), (1, 2, 0)], [0, 1], 4, ([], 0, 0, 0, True)),
        # The first chunk may be larger than the budget, and its first piece too.
        ([(0, 5, 1)], [0], 5, ([(0, 2)], 5, 1, 1, True)),
        ([(0, 5, 1)], [0], 3, ([], 0, 0, 0, True)),
        # New pieces on both sides of those that are there.
        ([(1, 3, 0), (0, 5, 0)], [0, 1], 9, ([(0, 4)], 9, 0, 2, True)),
        # Chunks that the ranking does not name are not taken.
        ([(0, 1, 0), (1, 2, 0)], [1], 99, ([(1, 2)], 1, 0, 1, False)),
        ([(0, 5, 0)], [], 1, ([], 0, 0, 0, False)),
        # At the budget exactly, and then a chunk that needs more.
        ([(0, 1, 0), (4, 5, 0)], [0, 1], 3, ([(0, 1)], 3, 0, 1, True)),
    ],
)
def test_fill(chunks, ranking, limit, wanted):
    assert budget.fill(TOKENS, chunks, ranking, limit) == wanted


def test_pieces_without_tokens_fit_a_full_budget():
    tokens = [2, 0, 0, 1]
    assert budget.fill(tokens, [(0, 1, 0), (1, 3, 0)], [0, 1], 2) == ([(0, 3)], 2, 0, 2, False)
    assert budget.fill(tokens, [(0, 1, 0), (1, 4, 0)], [0, 1], 2) == ([(0, 3)], 2, 0, 2, True)
    assert budget.fill(tokens, [(0, 1, 0), (1, 3, 1)], [0, 1], 2) == ([(0, 1)], 2, 0, 1, True)


def test_counts_whose_sum_is_no_double_are_exact():
    huge = 2**53 - 1
    assert budget.fill([huge, 1], [(0, 2, 0)], [0], huge) == ([(0, 1)], huge, 0, 1, True)
    assert budget.fill([1, huge, 1], [(0, 3, huge)], [0], huge) == ([], 0, 0, 0, True)


def test_no_pieces():
    assert budget.fill([], [], [], 1) == ([], 0, 0, 0, False)


@st.composite
def questions(draw):
    tokens = draw(st.lists(st.integers(0, 6), min_size=1, max_size=14))
    ends = st.integers(0, len(tokens))
    runs = st.tuples(ends, ends).filter(lambda run: run[0] != run[1]).map(sorted)
    chunks = draw(st.lists(st.tuples(runs, st.integers(0, 4)).map(lambda c: (*c[0], c[1])), max_size=8))
    ranking = draw(st.permutations(range(len(chunks))))[: draw(st.integers(0, len(chunks)))]
    return tokens, chunks, ranking, draw(st.integers(1, 60))


def naive_fill(tokens, chunks, ranking, limit):
    """The rule, word by word, with sets."""
    context, cost, extra, counted = set(), 0, 0, 0
    full = False
    for chunk in ranking:
        start, end, heading = chunks[chunk]
        new = [piece for piece in range(start, end) if piece not in context]
        if not new:
            continue
        price = heading + sum(tokens[piece] for piece in new)
        if cost + price <= limit:
            context |= set(new)
            cost, extra, counted = cost + price, extra + heading, counted + 1
            continue
        full = True
        if cost + heading + tokens[new[0]] <= limit:
            cost, extra, counted = cost + heading, extra + heading, counted + 1
            for piece in new:
                if cost + tokens[piece] > limit:
                    break
                context.add(piece)
                cost += tokens[piece]
        break
    return context, cost, extra, counted, full


def pieces_of(runs):
    return [piece for start, end in runs for piece in range(start, end)]


@given(questions())
def test_fill_is_the_rule(question):
    found = budget.fill(*question)
    context, *rest = naive_fill(*question)
    assert pieces_of(found.context) == sorted(context)
    assert [found.tokens, found.extra, found.chunks, found.full] == rest


@given(questions())
def test_a_context_keeps_its_budget_and_its_runs_are_maximal(question):
    tokens, _, _, limit = question
    found = budget.fill(*question)
    assert found.tokens <= limit
    assert found.tokens == found.extra + sum(tokens[piece] for piece in pieces_of(found.context))
    borders = [border for run in found.context for border in run]
    assert borders == sorted(set(borders))


@given(questions())
def test_a_full_context_has_no_room_for_what_comes_next(question):
    tokens, chunks, ranking, limit = question
    found = budget.fill(*question)
    context = set(pieces_of(found.context))
    missing = {piece for chunk in ranking for piece in range(*chunks[chunk][:2])} - context
    assert found.full == bool(missing)
    if found.full:
        # Everything before the chunk that did not fit is there; that chunk is the first with a piece missing.
        place = next(i for i, c in enumerate(ranking) if missing & set(range(*chunks[c][:2])))
        start, end, heading = chunks[ranking[place]]
        before = budget.fill(tokens, chunks, ranking[:place], limit)
        assert not before.full
        unpaid = heading if before.chunks == found.chunks else 0
        assert limit - found.tokens < unpaid + tokens[min(missing & set(range(start, end)))]


@given(questions(), st.integers(1, 60))
def test_a_larger_budget_never_shows_less(question, more):
    *rest, limit = question
    assert set(pieces_of(budget.fill(*rest, limit).context)) <= set(pieces_of(budget.fill(*rest, limit + more).context))


def test_chunks_that_overlap_a_thousandfold_take_no_time():
    size, count = 200_000, 20_000
    start = time.monotonic()
    for chunks in (
        [(0, size - i, 0) for i in range(count)],
        [(size - 10 * i - 10, size, 0) for i in range(count)],
        [(i, size - i, 0) for i in range(count, 0, -1)],
    ):
        found = budget.fill([1] * size, chunks, range(count), 10**9)
        assert found.tokens == max(end for _, end, _ in chunks) - min(start for start, _, _ in chunks)
    assert time.monotonic() - start < 10


# cover


@pytest.mark.parametrize(
    ("context", "evidence", "overlap"),
    [
        ([], (0, 5), 0),
        ([(0, 5)], (0, 5), 5),
        ([(0, 5)], (5, 9), 0),
        ([(5, 9)], (0, 5), 0),
        ([(0, 5)], (4, 9), 1),
        ([(5, 9)], (0, 6), 1),
        ([(0, 3), (3, 6)], (1, 5), 4),  # they touch
        ([(4, 9), (0, 6)], (3, 8), 5),  # they overlap, out of order
        ([(0, 9), (2, 4)], (1, 8), 7),  # one within the other
        ([(0, 2), (4, 6), (8, 10)], (1, 9), 4),
        ([(2, 3)] * 5, (0, 9), 1),
        ([(0, 2**53 - 1)], (2**52, 2**53 - 1), 2**52 - 1),
    ],
)
def test_overlaps(context, evidence, overlap):
    assert budget.cover(context, [evidence], 1).overlaps == [overlap]


@pytest.mark.parametrize(
    ("shown", "minimum", "hit"),
    [
        (0, 1, False),
        (1, 1, True),
        (2, 3, False),
        (3, 3, True),
        (4, 9, False),
        (5, 9, True),  # the evidence is shorter than the minimum: all of it is enough
        (2, "half", False),
        (3, "half", True),
        (4, "all", False),
        (5, "all", True),
    ],
)
def test_hits_of_five_code_points(shown, minimum, hit):
    assert budget.cover([(10, 10 + shown)] if shown else [], [(10, 15)], minimum).hits == [hit]


def test_half_of_an_even_length_is_enough():
    assert budget.cover([(0, 2)], [(0, 4)], "half").hits == [True]


RANGES = st.tuples(st.integers(0, 25), st.integers(1, 12)).map(lambda r: (r[0], r[0] + r[1]))


@given(
    st.lists(RANGES, max_size=8),
    st.lists(RANGES, max_size=8),
    st.integers(1, 14) | st.sampled_from(["half", "all"]),
)
def test_cover_is_the_rule_for_every_code_point(context, evidence, minimum):
    shown = {point for start, end in context for point in range(start, end)}
    overlaps = [len(shown & set(range(start, end))) for start, end in evidence]
    found = budget.cover(context, evidence, minimum)
    assert found.overlaps == overlaps
    for overlap, (start, end), hit in zip(overlaps, evidence, found.hits, strict=True):
        length = end - start
        enough = {"half": length / 2, "all": length}.get(minimum, minimum)
        assert hit == (overlap >= min(enough, length))


@given(st.lists(RANGES, max_size=8), RANGES, st.lists(RANGES, min_size=1, max_size=5))
def test_more_context_never_shows_less(context, another, evidence):
    fewer, more = budget.cover(context, evidence, "half"), budget.cover([*context, another], evidence, "half")
    assert all(a <= b for a, b in zip(fewer.overlaps, more.overlaps, strict=True))
    assert all(a <= b for a, b in zip(fewer.hits, more.hits, strict=True))


def test_many_ranges_take_no_time():
    start = time.monotonic()
    count = 100_000
    found = budget.cover([(3 * i, 3 * i + 2) for i in range(count)], [(0, 3 * i + 1) for i in range(count)], "half")
    assert found.overlaps == [2 * i + 1 for i in range(count)]
    assert time.monotonic() - start < 10
