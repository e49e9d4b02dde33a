"""The budget experiment on a paper small enough to count by hand, and on a longer one that no budget holds whole."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from chunkproof.engines import Engine, EngineFailure
from chunkproof.experiment import asking, looking, protocol, running
from chunkproof.experiment.figures import IndexFigures, PaperFigures, QuestionFigures
from chunkproof.experiment.papers import Annotator, Paper, Paragraph, Question, Section
from chunkproof.experiment.policies import paragraph_runs, passage
from chunkproof.parity import Command, commands
from chunkproof.problems import Problem

WRONG = Path(__file__).parent / "wrong" / "budget_engine.py"
BIRDS = "Birds sing at dawn. They rest at noon."
FISH = "Fish swim in the sea."
WOLVES = "Wolves hunt in the snow. Wolves howl at night. Wolves sleep."
# Tokens: `Birds`, `Wolves` without a blank before it and ` howl` are 2, all else 1, a full stop with the line ends after it too.
# So sentences have 6 + 5 | 6 | 7 + 6 + 3 tokens.
# Pieces: 0-4 5-9 | 10-15 | 16-21 22-26 27-29. Code points: [0, 38), [40, 61), [63, 123).


def paper_of(texts: list[tuple[str, int | None]], sections: tuple[str, ...], *questions: Question) -> Paper:
    """A paper as its paragraphs, each with its section."""
    places, at = [], 0
    for text, section in texts:
        places.append(Paragraph(at, at + len(text), section))
        at += len(text) + 2
    return Paper(
        "toy", "Toy", "\n\n".join(text for text, _ in texts), tuple(places), tuple(map(Section, sections)), questions
    )


def asked(name: str, text: str, *evidence: tuple[str, ...]) -> Question:
    """A question with the evidence of each annotator."""
    answers = tuple(Annotator(str(number), "free_form", strings) for number, strings in enumerate(evidence))
    return Question(name, text, answers)


TOY = paper_of(
    [(BIRDS, None), (FISH, 0), (WOLVES, 1)],
    ("The sea", ""),
    asked("howl", "Where do wolves howl?", (WOLVES,), (WOLVES, FISH, "Bears dance.")),
    replace(asked("none", "Why?"), annotators=(Annotator("a", "unanswerable", ()),)),
)
LETTER = "On day {} we wrote to Zürich about {} antidisestablishmentarians. Nobody answered! "
LONG = paper_of(
    [(LETTER.format(number, number * 7919) * 6, number // 4) for number in range(24)],
    tuple(f"Part {n}, in which letters are written" for n in range(6)),
    asked("q", "Who answered on day 11?", ("nowhere",)),
)  # fmt: skip
SMALL = protocol.load().with_budgets([12, 40])


@pytest.fixture(scope="module")
def engines() -> list[Command]:
    """The two engines of this package."""
    return commands([])


@pytest.fixture(scope="module")
def toy(engines: list[Command], tmp_path_factory: pytest.TempPathFactory) -> PaperFigures:
    """What both engines say about the toy paper."""
    ran = running.run([TOY], replace(SMALL, top_k=(1,)), engines, tmp_path_factory.mktemp("cache"))
    return ran.papers[0]


def wrong(fault: str) -> Command:
    return Command(f"wrong {fault}", (sys.executable, str(WRONG), fault), fault)


def of(toy: PaperFigures, policy: str, budget: int) -> QuestionFigures:
    return toy.questions[0].at[policy, budget]


def test_an_unanswerable_question_is_not_asked(toy: PaperFigures) -> None:
    assert [question.id for question in toy.questions] == ["howl"]


def test_paragraphs_cut_before_the_last_pieces_of_the_evidence(toy: PaperFigures) -> None:
    # Only the wolves match: 16 tokens, of which 12 fit, up to ` night` at 108: 45 of 60 code points, over half and under all.
    assert of(toy, "paragraphs", 12) == QuestionFigures(
        any=0,
        strict=0,
        any_missed=0,
        strict_missed=0,
        any_share=(0, 1),
        strict_share=(0, 2),
        any_tokens=(12, 16),
        strict_tokens=(12, 22),
        precision=(12, 12),
        chunks=1,
        tokens=12,
        full=True,
        any_at={"1": 1, "half": 1, "all": 0},
    )


def test_the_first_tokens_reach_the_fish(toy: PaperFigures) -> None:
    # 11 tokens of birds and `Fish`. The second annotator has 1 of 22 tokens, the first none of 16.
    figures = of(toy, "first", 12)
    assert (figures.tokens, figures.full, figures.precision) == (12, True, (1, 12))
    assert figures.any_tokens == (1, 22)
    assert figures.any_at == {"1": 0, "half": 0, "all": 0}


def test_windows_that_share_sentences_pay_for_them_once(toy: PaperFigures) -> None:
    # `Wolves howl at night. Wolves sleep.` scores best: 9 tokens; of the next window the first sentence is new, 3 tokens of it fit.
    figures = of(toy, "sentence-windows", 12)
    assert (figures.tokens, figures.chunks, figures.full, figures.any_tokens) == (12, 2, True, (12, 16))


def test_headings_cost_budget_and_an_empty_name_costs_nothing(toy: PaperFigures) -> None:
    # `Abstract` and `The sea` with their line ends are 2 and 3 tokens.
    plain, headed = of(toy, "paragraphs", 40), of(toy, "headed", 40)
    assert (plain.tokens, plain.precision, plain.full) == (33, (22, 33), False)
    assert (headed.tokens, headed.precision, headed.full) == (38, (22, 38), False)


def test_what_maps_to_nothing_is_counted_both_ways(toy: PaperFigures) -> None:
    # The first annotator has no such string, so any is covered either way; the union has one.
    figures = of(toy, "paragraphs", 40)
    assert (figures.any, figures.any_missed, figures.strict, figures.strict_missed) == (1, 1, 1, 0)


def test_a_top_k_takes_whole_chunks(toy: PaperFigures) -> None:
    figures = toy.questions[0].top["paragraphs", 1]
    assert (figures.any, figures.strict, figures.strict_share, figures.tokens, figures.full) == (
        1,
        0,
        (1, 2),
        16,
        False,
    )
    assert ("first", 1) not in toy.questions[0].top


def test_an_index_counts_overlaps_and_headings_each_time(toy: PaperFigures) -> None:
    assert toy.index["paragraphs"] == IndexFigures(3, 33, 5 + 3 + 6)
    assert toy.index["headed"] == IndexFigures(3, 38, 6 + 3 + 6)
    assert toy.index["sentence-windows"] == IndexFigures(6, 2 * 11 + 6 + 13 + 16 + 9, 2 * 5 + 3 + 5 + 6 + 4)
    assert toy.index["first"] == IndexFigures(0, 0, 0)


def test_figures_survive_the_cache(toy: PaperFigures) -> None:
    assert PaperFigures.from_json(json.loads(json.dumps(toy.to_json()))) == toy


@pytest.fixture(scope="module")
def cut(engines: list[Command]) -> asking.Cut:
    """How the long paper is cut."""
    with Engine(engines[0].words, Path.cwd(), "py") as engine:
        return asking.cut(asking.Log(engine, LONG.id), LONG, protocol.load())


def test_chunks_are_runs_of_pieces_that_lead_back_to_the_text(cut: asking.Cut) -> None:
    outline = cut.outline
    assert list(outline.ends[:-1]) == list(outline.starts[1:])
    for name, chunks in cut.chunks.items():
        texts = [passage(LONG.text, outline, chunk).removeprefix(chunk.heading) for chunk in chunks]
        assert all(text in LONG.text for text in texts), name
        assert chunks[0].first == 0, name
        assert chunks[-1].last == len(outline.tokens), name
    for name in ("fixed-128", "paragraphs", "headed"):
        assert (
            "".join(LONG.text[outline.starts[c.first] : outline.ends[c.last - 1]] for c in cut.chunks[name])
            == LONG.text
        )


def test_windows_stay_within_their_paragraph(cut: asking.Cut) -> None:
    runs = paragraph_runs(LONG, cut.outline)
    for window in cut.chunks["sentence-windows"]:
        assert any(first <= window.first < window.last <= last for first, last in runs)
    assert len(cut.chunks["sentence-windows"]) == 24 * 12


def test_a_paragraph_whose_piece_is_the_next_ones_makes_no_chunk() -> None:
    # `.` and the line ends up to `x` are one piece, which holds the first code point of both paragraphs.
    paper = paper_of([(".", None), ("\nx", 0)], ("A",))
    with Engine(commands([])[0].words, Path.cwd(), "py") as engine:
        chunks = asking.cut(asking.Log(engine, "p"), paper, protocol.load()).chunks
    assert [(chunk.first, chunk.last) for chunk in chunks["paragraphs"]] == [(0, 2)]
    assert [chunk.heading for chunk in chunks["headed"]] == ["A\n"]


@pytest.mark.parametrize("budget", [40, 333])
def test_every_policy_comes_within_a_piece_of_the_budget(engines: list[Command], budget: int) -> None:
    paper = replace(LONG, questions=(asked("q", "Who answered on day 11?", (LONG.paragraph(11),)),))
    (look,) = looking.look(paper, ["q"], protocol.load().with_budgets([budget]), engines)
    assert len(look.shown) == 10
    for shown in look.shown:
        left = budget - shown.figures.tokens
        assert left >= 0, shown.policy
        # The dearest piece is 7 tokens; a heading that does not fit with a piece leaves at most its own 9 more.
        assert left < 7 + (9 if shown.policy == "headed" else 0), shown.policy
        assert shown.figures.full


def test_a_look_shows_the_context_in_code_points(engines: list[Command]) -> None:
    (look,) = looking.look(TOY, ["howl"], SMALL.only(["paragraphs"]), engines)
    short, whole = look.shown
    assert short.ranges == ((63, 108),)
    assert short.ranked[0] == (63, 123)
    assert (short.overlaps, short.hits) == ({1: 0, 2: 45}, {1: False, 2: False})
    assert whole.ranges == ((0, 123),)
    with pytest.raises(Problem, match="'none' has no evidence in the text"):
        looking.look(TOY, ["none"], SMALL, engines)


def test_a_run_that_was_interrupted_goes_on(engines: list[Command], tmp_path: Path) -> None:
    papers = [replace(TOY, id=name) for name in "abc"]
    seen: list[str] = []

    def stop(paper: str) -> None:
        seen.append(paper)
        if paper == "b":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        running.run(papers, SMALL, engines, tmp_path, progress=stop)
    again = running.run(papers, SMALL, engines, tmp_path)
    fresh = running.run(papers, SMALL, engines, tmp_path / "other")
    assert seen == ["a", "b"]
    assert (again.resumed, fresh.resumed) == (2, 0)
    assert (again.papers, again.digest) == (fresh.papers, fresh.digest)


def test_nothing_is_resumed_under_another_protocol_or_from_a_damaged_file(
    engines: list[Command], tmp_path: Path
) -> None:
    first = running.run([TOY], SMALL, engines, tmp_path)
    other = running.run([TOY], SMALL.with_budgets([40]), engines, tmp_path)
    assert (other.resumed, other.digest == first.digest) == (0, False)
    for kept in tmp_path.glob("*/*.json"):
        kept.write_text(kept.read_text()[:-50])
    assert running.run([TOY], SMALL, engines, tmp_path).resumed == 0


def test_a_difference_names_paper_policy_and_question(engines: list[Command], tmp_path: Path) -> None:
    with pytest.raises(
        running.Differs, match=r"paper toy, fixed-128, 12 tokens, question howl: the context: py says .*12"
    ):
        running.run([TOY], SMALL, [engines[0], wrong("piece-too-many")], tmp_path)
    with pytest.raises(running.Differs, match=r"paper toy, .*question howl: cover hits: py says .*false.*wrong .*true"):
        running.run([TOY], SMALL, [engines[0], wrong("hit-by-touching")], tmp_path)
    assert not list(tmp_path.glob("*/*.json")), "nothing is kept of what the engines do not agree on"


def test_a_reply_of_the_wrong_shape_is_the_engines_failure(engines: list[Command], tmp_path: Path) -> None:
    with pytest.raises(
        EngineFailure,
        match=r"wrong no-context gave a reply of the wrong shape: paper toy, after .*: the context: KeyError",
    ):
        running.run([TOY], SMALL, [engines[0], wrong("no-context")], tmp_path)


def test_a_protocol_is_checked() -> None:
    shipped = protocol.load()
    assert [policy.name for policy in shipped.policies][-4:] == ["paragraphs", "headed", "sentence-windows", "first"]
    assert shipped.with_budgets([500, 1000, 2000]).digest == shipped.digest
    assert shipped.with_budgets([500]).digest != shipped.digest
    with pytest.raises(Problem, match="--budgets: 0 must be a whole number from 1"):
        shipped.with_budgets([0])
    with pytest.raises(Problem, match="there is no policy 'fixed-64'"):
        shipped.only(["fixed-64"])


def test_a_fault_of_a_protocol_is_named_by_its_place(tmp_path: Path) -> None:
    path = tmp_path / "protocol.toml"
    path.write_text(protocol.SHIPPED.read_text().replace("overlap = 32", "overlap = 128"))
    with pytest.raises(Problem, match=r"policies 2 \(fixed-128-o32\): overlap must be from 0 to 127"):
        protocol.load(path)
