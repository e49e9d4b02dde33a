"""Cut answers: the expectation and its spread against other ways to reckon them, and what `table --cuts` prints."""

from __future__ import annotations

import csv
import json
import random
import re
from dataclasses import replace
from fractions import Fraction
from itertools import product
from pathlib import Path

import pytest
from scipy import stats

from chunkproof import cli, cuts, fixtures, layout, parity, table
from chunkproof.parity import Command, FixtureResult
from chunkproof.pipeline import Run
from chunkproof.problems import DataMissing

PY = Command("py", tuple(layout.py_engine()), "py")
TS = Command("ts", tuple(layout.ts_engine()), "ts")
DOCS = Path(__file__).resolve().parents[2] / "docs" / "cuts.md"


def test_the_chance_is_the_formula() -> None:
    stride = Fraction(100)
    assert cuts.chance(1, [0, 0], stride) == 0
    assert cuts.chance(8, [0, 0, 0], stride) == Fraction(7, 100)
    assert cuts.chance(8, [5, 7, 9], stride) == Fraction(2 + 0 + 0, 3) / 100
    assert cuts.chance(900, [0], stride) == 1
    assert cuts.chance(900, [], stride) == 0


@pytest.mark.parametrize("overlap", [0, 3])
def test_the_chance_is_what_counting_every_place_gives(overlap: int) -> None:
    """In an endless text with a window every 10 pieces, of all places where a span can begin, so many are in no window."""
    stride, windows = 10, 50
    ranges = [(index * stride, (index + 1) * stride + overlap) for index in range(windows)]
    for length in range(1, 11 + overlap):
        begins = range(stride, 2 * stride)
        cut = sum(not any(a <= at and at + length <= b for a, b in ranges) for at in begins)
        assert cuts.chance(length, [overlap] * windows, Fraction(stride)) == Fraction(cut, stride), length


def test_the_distribution_is_that_of_all_outcomes() -> None:
    chances = [Fraction(1, 3), Fraction(0), Fraction(1, 7), Fraction(9, 10), Fraction(1)]
    exact = [Fraction(0)] * (len(chances) + 1)
    for outcome in product((False, True), repeat=len(chances)):
        weight = Fraction(1)
        for cut, chance in zip(outcome, chances, strict=True):
            weight *= chance if cut else 1 - chance
        exact[sum(outcome)] += weight
    found = cuts.distribution(chances)
    assert found == pytest.approx([float(each) for each in exact[: len(found)]], abs=1e-15)
    mean = sum(index * each for index, each in enumerate(exact))
    assert mean == sum(chances)
    assert sum((index - mean) ** 2 * each for index, each in enumerate(exact)) == cuts.variance(chances)


def test_the_range_is_that_of_the_binomial_where_chances_are_alike() -> None:
    for count, chance in ((200, 0.03), (200, 0.001), (20, 0.5), (200, 0.9)):
        low, high = cuts.interval([Fraction(chance)] * count)
        known = stats.binom(count, chance)
        assert known.cdf(low - 1) <= 0.025 < known.cdf(low)
        assert known.sf(high) <= 0.025 < known.sf(high - 1)
    assert cuts.interval([]) == (0, 0)
    assert cuts.interval([Fraction(1)] * 3) == (3, 3)


def test_the_range_holds_in_a_simulation() -> None:
    chances = [Fraction(random.Random(7).randrange(1, 30), 100) for _ in range(100)]
    low, high = cuts.interval(chances)
    drawn = random.Random(8)
    seen = [sum(drawn.random() < chance for chance in chances) for _ in range(2_000)]
    assert sum(low <= each <= high for each in seen) >= 0.95 * len(seen) - 30


def chunks_only(name: str) -> FixtureResult:
    """One engine's chunks and what they are held against: all that is counted, but for the questions it calls lost."""
    run = Run("py")
    fixture = fixtures.load(name)
    few = replace(fixture, methods=fixture.methods[:1])
    parity.run_engine(few, PY, run)
    assert run.failure is None
    return parity.judge(few, [run])


@pytest.fixture(scope="module")
def mini() -> FixtureResult:
    return chunks_only("mini")


def test_everything_is_counted_from_the_replies(mini: FixtureResult) -> None:
    for each in cuts.count(mini):
        replies = {item.case: item.value["ok"] for item in mini.runs[0].outcomes if item.stage == "chunks"}
        ranges = {document.id: replies[f"{each.config}/{document.id}"]["chunks"] for document in mini.fixture.documents}
        assert each.chunks == sum(map(len, ranges.values()))
        assert len(each.overlaps) == each.chunks - len(ranges)
        lost = [
            question.id
            for question in mini.fixture.questions
            if not any(
                chunk["start"] <= question.start and question.end <= chunk["end"]
                for chunk in ranges[mini.fixture.documents[question.document].id]
            )
        ]
        assert each.seen == len(lost)
        assert each.inside <= each.boundaries
        if each.config in ("recursive-256", "semantic-256"):
            assert not each.chances
            assert each.inside == 0
        if each.config.startswith("fixed"):
            assert len(each.chances) == 20
            assert each.inside / each.boundaries > 0.9
            assert (max(each.overlaps) > 0) == each.config.endswith("o64")
            assert each.boundaries == (2 if each.config.endswith("o64") else 1) * len(each.overlaps)


def test_an_answers_length_is_in_pieces(mini: FixtureResult) -> None:
    (fixed,) = (each for each in cuts.count(mini) if each.config == "fixed-128")
    pieces = {item.case: item.value["ok"]["pieces"] for item in mini.runs[0].outcomes if item.stage == "pieces"}
    stride = Fraction(sum(map(len, pieces.values())), fixed.chunks)
    for question, chance in zip(mini.fixture.questions, fixed.chances, strict=True):
        own = pieces[mini.fixture.documents[question.document].id]
        touched = sum(piece["start"] < question.end and question.start < piece["end"] for piece in own)
        assert chance == (touched - 1) / stride


def test_every_form_has_the_rows(mini: FixtureResult) -> None:
    made = table.with_cuts(table.make(mini, covered=False), mini, [PY, TS])
    assert made.cuts is not None
    data = json.loads(table.render(made, "json"))
    assert list(data) == ["fixture", "parity", "cuts"]
    assert [list(row) for row in data["cuts"]] == [list(cuts.COLUMNS)] * 6
    lines = table.render(made, "csv").splitlines()
    assert lines[0].startswith("# mini: NOT COVERED")
    assert lines[1].startswith("# seen lies within low … high")
    rows = list(csv.DictReader(lines[2:]))
    assert [row["config"] for row in rows] == [config.name for config in mini.fixture.configs]
    text, markdown = table.render(made, "text"), table.render(made, "md")
    for row in made.cuts:
        cells = [table.NOTHING if row[name] is None else str(row[name]) for name in cuts.COLUMNS]
        assert "| " + " | ".join(cells) + " |" in markdown
        assert any(line.split() == cells for line in text.splitlines())


def test_the_figures_are_those_of_the_exact_fractions(mini: FixtureResult) -> None:
    printed = {row["config"]: row for row in cuts.rows(mini, [PY, TS])}
    assert (printed["fixed-128"]["seen"], printed["fixed-128"]["expected"]) == ("5", "1.41")  # as docs/cuts.md says
    for each in cuts.count(mini):
        row = printed[each.config]
        if not each.fixed:
            assert row["expected"] is row["spread"] is row["low"] is row["high"] is None
            continue
        assert abs(Fraction(str(row["expected"])) - sum(each.chances)) <= Fraction(1, 200)
        assert float(str(row["spread"])) == pytest.approx(float(cuts.variance(each.chances)) ** 0.5, abs=0.005)
        assert (row["low"], row["high"]) == tuple(map(str, cuts.interval(each.chances)))


def shown(fixture: str) -> list[list[str]]:
    """The rows of a fixture's table in docs/cuts.md."""
    part = DOCS.read_text(encoding="utf-8").split(f"`{fixture}`:\n", 1)[1].strip().split("\n\n")[0]
    return [re.split(r" *\| *", line.strip("| ")) for line in part.splitlines()[2:]]


@pytest.mark.parametrize("name", ["atlas", "squad6"])
def test_the_page_shows_what_is_printed(name: str) -> None:
    try:
        result = chunks_only(name)
    except DataMissing as missing:
        pytest.skip(str(missing))
    rows = cuts.rows(result, [PY, TS])
    assert shown(name) == [
        [table.NOTHING if row[column] is None else str(row[column]) for column in cuts.COLUMNS] for row in rows
    ]
    assert cuts.summary(rows).endswith(
        "in 5 of 5 configs of fixed windows" if name == "atlas" else "in 4 of 4 configs of fixed windows"
    )
    if name == "squad6":
        assert {row["config"]: row["seen"] for row in rows} == {
            **{"fixed-128": "5", "fixed-256": "4", "fixed-512": "1", "fixed-256-o64": "0"},
            **{"recursive-256": "0", "semantic-256": "1"},
        }


def test_the_command_prints_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["table", "--fixture", "mini", "--cuts", "--no-parity"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("mini: NOT COVERED BY PARITY")
    assert "inside a sentence %" in said
    assert "recall" not in said
