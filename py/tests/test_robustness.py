"""Whether the order of the policies holds with other counts, another ranking and another text: what varies, and what is said."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from chunkproof import cli, datasets, layout, minilm
from chunkproof.audit.arithmetic import Calculator
from chunkproof.engines import Engine
from chunkproof.experiment import asking, dense, protocol, render, robustness, running, wordpieces
from chunkproof.experiment.asking import Log
from chunkproof.experiment.decision import Units
from chunkproof.experiment.evidence import map_evidence
from chunkproof.experiment.papers import Annotator, Paper, Question, is_white, load, without_abstract
from chunkproof.experiment.policies import Outline
from chunkproof.experiment.protocol import Policy, Protocol
from chunkproof.experiment.robustness import Outcome, Robustness
from chunkproof.experiment.running import Differs, Ran
from chunkproof.experiment.varied import with_headings
from chunkproof.minilm import Embedded
from chunkproof.parity import Command, commands
from chunkproof.problems import Problem
from chunkproof.replies import digest

WRONG = Path(__file__).parent / "wrong" / "budget_engine.py"
ALL = load(str(layout.fixtures_dir() / "papers")).papers
BUDGET = 150


def asked_about_the_abstract(paper: Paper) -> Paper:
    """The paper with one more question, whose evidence is the abstract."""
    question = Question("abstract", "What is the paper about?", (Annotator("1", "free_form", (paper.paragraph(0),)),))
    return replace(paper, questions=(*paper.questions, question))


FEW = tuple(asked_about_the_abstract(paper) for paper in ALL if paper.id in ("moss", "bread", "looms"))


def small(*names: str) -> Protocol:
    """The protocol with few policies, at a budget that no paper fits into."""
    full = protocol.load().only(names or ("fixed-128", "fixed-128-o32", "paragraphs", "headed", "first"))
    deciding = {**full.table["decision"], "budget": BUDGET, "resamples": 200}
    return replace(full, table={**full.table, "decision": deciding}).with_budgets([BUDGET]).without_top_k()


class Toy:
    """An embedder that needs no model: a vector out of the text's hash. It may stop as an interruption does."""

    def __init__(self, stop_after: int | None = None) -> None:
        self.stop_after = stop_after
        self.seen: list[str] = []

    def embed(self, texts: Sequence[str]) -> list[Embedded]:
        if self.stop_after is not None and len(self.seen) >= self.stop_after:
            raise KeyboardInterrupt
        self.seen += texts
        return [Embedded(self._vector(text), len(text)) for text in texts]

    @staticmethod
    def _vector(text: str) -> minilm.Floats:
        raw = hashlib.shake_128(text.encode()).digest(minilm.DIMENSION)
        return np.frombuffer(raw, np.uint8).astype(np.float32) - 127.5

    def provenance(self) -> dict[str, str | int]:
        return {"model": "toy"}


def needs(*names: str) -> None:
    """Skip where a file of the model is not at hand, which in CI is a failure."""
    missing = [name for name in names if datasets.find(name) is None]
    if "minilm" in names:
        missing += [each for each in ("onnx", "onnxruntime", "safetensors") if importlib.util.find_spec(each) is None]
    if missing and os.environ.get("CI"):
        pytest.fail(f"{', '.join(missing)} must be there in CI")
    if missing:
        pytest.skip(f"{', '.join(missing)} not at hand (docs/data.md)")


@pytest.fixture(scope="module")
def engines() -> list[Command]:
    return commands([])


@pytest.fixture(scope="module")
def py() -> Iterator[Engine]:
    with Engine(layout.py_engine(), Path.cwd(), "py") as engine:
        yield engine


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """An empty folder for what runs keep, and a cache of vectors that is empty too."""
    made = tmp_path_factory.mktemp("kept")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("chunkproof.embed.datasets.cache_dir", lambda: made / "cache")
        yield made


@pytest.fixture(scope="module")
def ran(engines: list[Command], folder: Path) -> Ran:
    return running.run(FEW, small(), engines, folder)


@pytest.fixture(scope="module")
def found(ran: Ran, engines: list[Command], folder: Path) -> Robustness:
    return robustness.run(FEW, ran, engines, folder, model=Toy())


@pytest.fixture(scope="module")
def calculator(engines: list[Command]) -> Iterator[Calculator]:
    with Calculator(engines, Path.cwd(), 60) as made:
        yield made


# --- other counts -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("paper", FEW, ids=lambda paper: paper.id)
def test_windows_from_an_engines_counts_are_those_that_it_cuts(paper: Paper, py: Engine) -> None:
    # Windows of one and two tokens have pieces that are larger than they are.
    sizes = [(1, 0), (2, 1), (7, 6), (40, 10), (128, 0), (128, 32), (512, 128)]
    policies = tuple(Policy(f"{size}-{overlap}", "fixed", size, overlap) for size, overlap in sizes)
    done = asking.cut(Log(py, paper.id), paper, replace(protocol.load(), policies=policies))
    for policy in policies:
        runs = [(chunk.first, chunk.last) for chunk in done.chunks[policy.name]]
        assert wordpieces.windows(done.outline, policy.size, policy.overlap) == runs


def test_a_piece_that_costs_nothing_may_end_one_window_and_begin_the_next() -> None:
    outline = Outline(range(6), range(1, 7), [1, 0, 2, 0, 0, 1])
    assert wordpieces.windows(outline, 2, 0) == [(0, 2), (1, 5), (3, 6)]


def test_a_word_piece_is_counted_where_it_starts() -> None:
    # Pieces [0, 4), [4, 9), [9, 10), [10, 14): the second has the starts 4 and 7, the third none.
    assert wordpieces.assigned([0, 4, 7, 10, 11, 12], [0, 4, 9, 10]) == [1, 2, 0, 3]


def test_word_pieces_of_all_pieces_are_those_of_the_text(py: Engine) -> None:
    needs("minilm-tokenizer")
    counting = wordpieces.WordPieces()
    tokenizer = minilm.tokenizer(datasets.path("minilm-tokenizer"))
    odd = replace(FEW[0], text=f"🦜 Zu\u0308rich, naïve 東京 ½\u00ad x.\n\n{FEW[0].text}", paragraphs=(), sections=())
    for paper in (*FEW, odd):
        done = counting.cut(Log(py, paper.id), paper, small("fixed-128-o32"))
        assert sum(done.outline.tokens) == len(tokenizer.encode(paper.text).ids) - 2  # without [CLS] and [SEP]
        assert [done.outline.cost(chunk) for chunk in done.chunks["fixed-128-o32"][:-1]] != []
        assert all(done.outline.cost(chunk) <= 128 for chunk in done.chunks["fixed-128-o32"])


def test_what_a_heading_costs_is_counted_in_word_pieces_too(py: Engine) -> None:
    needs("minilm-tokenizer")
    counting = wordpieces.WordPieces()
    done = counting.cut(Log(py, FEW[0].id), FEW[0], small("headed"))
    assert {chunk.extra for chunk in done.chunks["headed"]} == {
        len(counting.starts(chunk.heading)) for chunk in done.chunks["headed"]
    }


# --- another text -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("paper", ALL, ids=lambda paper: paper.id)
def test_headings_in_the_text_move_paragraphs_and_nothing_else(paper: Paper) -> None:
    made = with_headings(paper)
    numbers = range(len(paper.paragraphs))
    assert [made.paragraph(number) for number in numbers] == [paper.paragraph(number) for number in numbers]
    assert [each.section for each in made.paragraphs] == [each.section for each in paper.paragraphs]
    for question in paper.questions:
        assert map_evidence(made, question) == map_evidence(paper, question)
    # What lies between two paragraphs is the heading of the second, or a blank line alone.
    ends = [0, *(each.end for each in made.paragraphs)]
    for number, place in enumerate(made.paragraphs):
        opens = number == 0 or paper.paragraphs[number - 1].section != place.section
        heading = paper.heading(number) if opens else ""
        before = made.text[ends[number] : place.start]
        assert before == ("" if number == 0 else "\n\n") + ("" if is_white(heading) else f"{heading}\n\n")
    assert made.text[ends[-1] :] == ""


# --- another ranking --------------------------------------------------------------------------------------------------


def test_vectors_are_made_once_and_an_interrupted_run_goes_on(
    py: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("chunkproof.embed.datasets.cache_dir", lambda: tmp_path / "cache")
    given = (FEW[:2], small("paragraphs", "fixed-128"), [[py]])
    stopped = Toy(stop_after=16)
    with pytest.raises(KeyboardInterrupt):
        dense.embedded(*given, model=stopped)
    rest = Toy()
    vectors, digests = dense.embedded(*given, model=rest)
    assert len(stopped.seen) == 16
    assert not set(stopped.seen) & set(rest.seen)
    assert sorted(stopped.seen + rest.seen) == sorted(vectors.rows)
    again = Toy(stop_after=0)
    assert dense.embedded(*given, model=again)[1] == digests


def test_an_engine_that_ranks_vectors_otherwise_is_reported(ran: Ran, engines: list[Command], folder: Path) -> None:
    wrong = Command("wrong", (sys.executable, str(WRONG), "dense-upside-down"), "wrong")
    alone, of_it = (FEW[0],), replace(ran, papers=ran.papers[:1])
    message = rf"dense: paper {FEW[0].id}, .*, the dense rankings: py says .*, wrong says"
    with pytest.raises(Differs, match=message):
        robustness.run(alone, of_it, [engines[0], wrong], folder / "mixed", model=Toy())


# --- what is compared, and what is said -------------------------------------------------------------------------------


def test_the_baseline_and_the_best_two_are_compared(ran: Ran) -> None:
    units = robustness._units(ran)
    rates = {name: sum(covered for covered, _ in each) for name, each in units.items()}
    others = sorted(("fixed-128", "fixed-128-o32", "headed"), key=lambda name: -rates[name])[:2]
    assert [name for name in robustness.compared(ran) if name != "paragraphs"] == sorted(others, key=list(rates).index)
    assert "first" not in robustness.compared(ran)


def test_a_fixed_policy_comes_with_two_that_are_none(ran: Ran) -> None:
    kinds = {"fixed-128": 0, "fixed-128-o32": 0, "paragraphs": 0, "headed": 1, "first": 1}
    covering = [
        replace(
            paper,
            questions=tuple(
                replace(one, at={key: replace(each, any=kinds[key[0]]) for key, each in one.at.items()})
                for one in paper.questions
            ),
        )
        for paper in ran.papers
    ]
    as_sentences = tuple(
        replace(policy, kind="sentences") if policy.name == "fixed-128" else policy for policy in ran.protocol.policies
    )
    changed = replace(ran, papers=tuple(covering), protocol=replace(ran.protocol, policies=as_sentences))
    assert robustness.compared(changed) == ["fixed-128", "fixed-128-o32", "paragraphs", "headed"]


def test_every_setting_is_run_over_its_own_questions(found: Robustness) -> None:
    outcomes = {each.setting: each for each in found.outcomes}
    assert list(outcomes) == [robustness.DECIDED, *robustness.SETTINGS]
    assert outcomes["dense"].note.startswith("MiniLM reads the first 254 word pieces of a passage; of the passages ")
    asked = {name: _asked(each.units["paragraphs"]) for name, each in outcomes.items() if not each.reason}
    whole = sum(len(asking.scored(paper)) for paper in FEW)
    assert asked["as decided"] == asked["dense"] == asked["headings in the text"] == whole
    assert (
        asked["without the abstract"] == sum(len(asking.scored(without_abstract(paper))) for paper in FEW) == whole - 3
    )
    for policy in found.protocol.policies:
        same = outcomes["headings in the text"].units[policy.name] is outcomes["as decided"].units[policy.name]
        assert same is (policy.kind != "fixed")
    needs("minilm-tokenizer")
    assert asked["word pieces"] == whole


def _asked(units: Units) -> int:
    return sum(questions for _, questions in units)


def test_a_second_run_takes_papers_and_vectors_over(
    ran: Ran, engines: list[Command], folder: Path, found: Robustness, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    real = Log.ask
    monkeypatch.setattr(Log, "ask", lambda log, requests: asked.extend(op for op, _ in requests) or real(log, requests))
    assert robustness.run(FEW, ran, engines, folder, model=Toy(stop_after=0)) == found
    assert not [label for label in asked if "context" in label or "rankings" in label]


def test_papers_that_only_an_abstract_answers_have_no_figure_without_it(
    engines: list[Command], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(robustness, "SETTINGS", {"without the abstract": "without the abstract"})
    alone = (replace(FEW[0], questions=FEW[0].questions[-1:]),)
    ran = running.run(alone, small("paragraphs", "headed"), engines[:1], folder)
    found = robustness.run(alone, ran, engines[:1], folder)
    assert found.outcomes[1:] == (Outcome("without the abstract", {}, "no question is scored"),)


def test_what_is_not_at_hand_is_named_in_its_row_and_the_rest_is_run(
    ran: Ran,
    engines: list[Command],
    folder: Path,
    found: Robustness,
    monkeypatch: pytest.MonkeyPatch,
    calculator: Calculator,
) -> None:
    def none(name: str) -> Path:
        raise datasets.MissingData(f"{name} is not on this machine.")

    monkeypatch.setitem(sys.modules, "onnx", None)
    monkeypatch.setattr(datasets, "path", none)
    made = robustness.make(robustness.run(FEW, ran, engines, folder), calculator)
    pieces, vectors = made["rows"][1:3]
    assert pieces == {"setting": "word pieces", "not_run": "minilm-tokenizer is not on this machine."}
    assert vectors["not_run"].endswith("python -m pip install 'chunkproof[embed]'")
    assert "There is no figure counted in word pieces: minilm-tokenizer is not on this machine. " in made["sentence"]
    assert f"There is no figure with dense retrieval: {vectors['not_run']}." in made["sentence"]
    others = [each for each in found.outcomes if each.setting not in ("word pieces", "dense")]
    assert [row["covered"] for row in made["rows"] if "not_run" not in row] == [
        {name: sum(covered for covered, _ in each.units[name]) for name in each.units} for each in others
    ]


def test_the_order_holds_unless_two_change_places() -> None:
    decided = {"a": Fraction(1, 2), "b": Fraction(1, 3), "c": Fraction(1, 3)}
    assert robustness.holds(decided, {"a": Fraction(1, 5), "b": Fraction(1, 5), "c": Fraction(0)})
    assert robustness.holds(decided, {"a": Fraction(1, 2), "b": Fraction(0), "c": Fraction(1, 4)})
    assert not robustness.holds(decided, {"a": Fraction(1, 4), "b": Fraction(1, 3), "c": Fraction(0)})


def test_the_table_and_the_sentence(calculator: Calculator) -> None:
    def units(**covered: int) -> dict[str, Units]:
        return {name.replace("_", "-"): [(count, 5), (count, 5)] for name, count in covered.items()}

    given = Robustness(
        small("fixed-128", "paragraphs", "headed"),
        (
            Outcome("as decided", units(fixed_128=3, paragraphs=1, headed=2)),
            Outcome("word pieces", units(fixed_128=4, paragraphs=2, headed=2)),
            Outcome("dense", {}, "the weights are not there."),
            Outcome("without the abstract", units(fixed_128=2, paragraphs=1, headed=3)),
            Outcome("headings in the text", units(fixed_128=2, paragraphs=1, headed=2)),
        ),
    )
    made = robustness.make(given, calculator)
    assert made["sentence"] == (
        "At 150 tokens the order of the policies is fixed-128 > headed > paragraphs. It holds counted in word pieces and with "
        "headings in the text of fixed windows. It does not hold without the abstract, where it is headed > fixed-128 > "
        "paragraphs. An interval of a difference from paragraphs is not on the side of 0 where it is as decided: headed counted in "
        "word pieces (0.000, 0.000 to 0.000). There is no figure with dense retrieval: the weights are not there."
    )
    steady = replace(given, outcomes=(given.outcomes[0], replace(given.outcomes[0], setting="dense")))
    assert robustness.make(steady, calculator)["sentence"] == (
        "At 150 tokens the order of the policies is fixed-128 > headed > paragraphs. It holds with dense retrieval. "
        "Every interval of a difference from paragraphs is on the side of 0 where it is as decided."
    )
    assert made["rows"][0]["side"] == {"fixed-128": 1, "headed": 1}
    assert [row.get("holds") for row in made["rows"]] == [True, True, None, False, True]
    assert made["rows"][0]["covered"] == {"fixed-128": 6, "paragraphs": 2, "headed": 4}
    assert made["rows"][0]["any"] == {"fixed-128": 0.6, "paragraphs": 0.2, "headed": 0.4}
    title, heads, body = render._robustness(made)
    assert title == "Robustness, any at 150 tokens"
    assert heads == [
        *("setting", "questions", "fixed-128", "paragraphs", "headed"),
        *("fixed-128, difference", "headed, difference", "order", "holds"),
    ]
    difference = ["+0.400 (+0.400 to +0.400)", "+0.200 (+0.200 to +0.200)"]
    assert body[0] == [
        "as decided", "10", "0.600", "0.200", "0.400", *difference, "fixed-128 > headed > paragraphs", "–"
    ]  # fmt: skip
    assert body[1][-2:] == ["fixed-128 > paragraphs = headed", "yes"]
    assert body[2] == ["dense", *"––––––", "not run: the weights are not there.", "–"]
    assert body[4][-2:] == ["fixed-128 = headed > paragraphs", "yes"]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (protocol.load().with_budgets([500]), "give 1000 among --budgets too"),
        (protocol.load().only(["paragraphs", "first"]), "name one with --policy"),
    ],
)
def test_nothing_to_compare_is_refused_before_the_run(given: Protocol, said: str) -> None:
    with pytest.raises(Problem, match=said):
        robustness.check(given)


def test_a_user_gets_the_table_and_the_same_digest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One short paper, in words and as JSON, with the real vectors where the model is at hand."""
    at_hand = {name: datasets.find(name) for name in ("minilm", "minilm-tokenizer")}
    if all(at_hand.values()):  # not unpacked a second time
        monkeypatch.setattr(datasets, "path", at_hand.__getitem__)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    fewer = protocol.SHIPPED.read_text(encoding="utf-8").replace("resamples = 10000", "resamples = 200")
    (tmp_path / "p.toml").write_text(fewer, encoding="utf-8")
    papers = json.loads((layout.fixtures_dir() / "papers" / "papers.json").read_text(encoding="utf-8"))
    (tmp_path / "papers.json").write_text(json.dumps({"moss": papers["moss"]}), encoding="utf-8")
    words = ["budget", "run", "--dataset", str(tmp_path), "--protocol", str(tmp_path / "p.toml"), "--budgets", "1000"]
    assert cli.run([*words, "--policy", "fixed-128", "--robustness", "--json"]) == 0
    made = json.loads(capsys.readouterr().out)
    parts = ("run", "data", "rows", "decision")  # what the result is, whatever else was looked at
    assert made["digest"] == digest({name: made[name] for name in parts})
    assert made["robustness"]["policies"] == ["fixed-128", "paragraphs"]
    for form in ("text", "md"):
        shown = render.render(made, form)
        assert "Robustness, any at 1,000 tokens" in shown
        assert made["robustness"]["sentence"] in shown
    assert made["robustness"]["sentence"] in render.render(made, "csv")
    needs("minilm", "minilm-tokenizer")
    assert not [row for row in made["robustness"]["rows"] if "not_run" in row]
