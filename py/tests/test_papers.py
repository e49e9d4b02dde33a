"""Papers as one text with ranges beside it, from QASPER's form and from a user's own; what is wrong with a file is named."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from chunkproof.experiment import papers
from chunkproof.experiment.papers import Annotator, Dataset, Paper, Paragraph, Section
from chunkproof.problems import DataMissing, Problem

FIXTURE = "fixtures/papers/papers.json"
QASPER = {"train": (888, 2593, 2675), "validation": (281, 1005, 1764)}
needs_qasper = pytest.mark.skipif(not os.environ.get("CHUNKPROOF_DATA"), reason="CHUNKPROOF_DATA names no folder")


@pytest.fixture(scope="module")
def invented(checkout: Path) -> Dataset:
    """The papers that come with chunkproof."""
    return papers.load(str(checkout / "fixtures" / "papers"))


@pytest.fixture(scope="module")
def raw(checkout: Path) -> dict[str, Any]:
    """The same as JSON."""
    read: dict[str, Any] = json.loads((checkout / FIXTURE).read_text(encoding="utf-8"))
    return read


def of(dataset: Dataset, name: str) -> Paper:
    return next(paper for paper in dataset.papers if paper.id == name)


def in_form(tmp_path: Path, **changes: Any) -> Dataset:
    """A paper in QASPER's form, changed; a value of None takes the field away."""
    paper: dict[str, Any] = {
        "title": "T",
        "abstract": "In short.",
        "full_text": [{"section_name": "One", "paragraphs": ["First.", "Second."]}],
        "qas": [
            {
                "question": "Why?",
                "question_id": "q",
                "answers": [{"answer": {"unanswerable": False, "free_form_answer": "So.", "evidence": ["First."]}}],
            }
        ],
    } | changes
    path = tmp_path / "papers.json"
    path.write_text(json.dumps({"p": {key: value for key, value in paper.items() if value is not None}}))
    return papers.load(str(path))


def round_trip(paper: Paper, given: dict[str, Any]) -> None:
    """The text is what its paragraphs make, each is sliced out of it as it was given, and nothing else is left out."""
    texts: list[tuple[str, int | None]] = [(given["abstract"], None)]
    for number, section in enumerate(given["full_text"]):
        texts += [(text, number) for text in section["paragraphs"]]
    kept = [each for each in texts if not papers.is_white(each[0])]
    sliced = [(paper.text[each.start : each.end], each.section) for each in paper.paragraphs]
    assert sliced == kept
    assert paper.text == "\n\n".join(text for text, _ in kept)
    assert paper.left_out == len(texts) - len(kept)
    assert [each.name for each in paper.sections] == [each["section_name"] or "" for each in given["full_text"]]


# Text and ranges


def test_every_paragraph_of_the_invented_papers_is_sliced_as_it_was_given(
    invented: Dataset, raw: dict[str, Any]
) -> None:
    assert [paper.id for paper in invented.papers] == list(raw)
    for paper in invented.papers:
        round_trip(paper, raw[paper.id])
    assert (len(invented.papers), invented.questions) == (14, 60)
    assert sum(len(paper.paragraphs) for paper in invented.papers) == 322
    assert sum(len(paper.sections) for paper in invented.papers) == 167


@needs_qasper
@pytest.mark.parametrize("split", QASPER)
def test_every_paragraph_of_qasper_is_sliced_as_it_was_given(split: str) -> None:
    dataset = papers.load("qasper", split)
    file = (
        Path(os.environ["CHUNKPROOF_DATA"]) / "qasper" / f"qasper-{'dev' if split == 'validation' else split}-v0.3.json"
    )
    given = json.loads(file.read_text(encoding="utf-8"))
    answers = sum(len(question.annotators) for paper in dataset.papers for question in paper.questions)
    assert (len(dataset.papers), dataset.questions, answers) == QASPER[split]
    assert [paper.id for paper in dataset.papers] == list(given)
    for paper in dataset.papers:
        round_trip(paper, given[paper.id])


def test_the_abstract_is_the_first_paragraph_and_has_no_section(invented: Dataset) -> None:
    for paper in invented.papers:
        assert paper.paragraphs[0].section is None
        assert paper.heading(0) == "Abstract"
        assert all(each.section is not None for each in paper.paragraphs[1:])


def test_offsets_are_code_points_beyond_the_sixteen_bits_too(tmp_path: Path) -> None:
    sections = [{"section_name": "𝔖", "paragraphs": ["😀😀", "b"]}]
    (paper,) = in_form(tmp_path, abstract="𝔘", full_text=sections, qas=[]).papers
    assert paper.paragraphs == (Paragraph(0, 1, None), Paragraph(3, 5, 0), Paragraph(7, 8, 0))
    assert paper.sections == (Section("𝔖"),)


def test_white_space_is_the_specs(tmp_path: Path) -> None:
    white = ["", " \n", "\u00a0", "\u0085", "\u1680", "\u202f", "\u3000"]
    visible = ["\u200b", "\ufeff", "\u001c", "\u180e"]  # Python strips U+001C, JavaScript U+FEFF
    (paper,) = in_form(tmp_path, full_text=[{"section_name": "A", "paragraphs": white + visible}]).papers
    assert [paper.paragraph(number) for number in range(1, len(paper.paragraphs))] == visible
    assert paper.left_out == len(white)


def test_a_paragraph_with_a_blank_line_inside_stays_one(invented: Dataset) -> None:
    assert sum("\n\n" in paper.paragraph(n) for paper in invented.papers for n in range(len(paper.paragraphs))) == 1


def test_sections_without_text_are_counted(invented: Dataset, tmp_path: Path) -> None:
    assert sum(paper.empty_sections for paper in invented.papers) == 5
    empty = [{"section_name": "A", "paragraphs": []}, {"section_name": None, "paragraphs": [" "]}]
    (paper,) = in_form(tmp_path, full_text=empty).papers
    assert (paper.empty_sections, paper.left_out, paper.without_sections) == (2, 1, True)
    assert paper.sections[1].name == ""


def test_without_its_abstract_a_paper_is_another_text(invented: Dataset) -> None:
    for paper in invented.papers:
        bare = papers.without_abstract(paper)
        assert bare.text == paper.text[paper.paragraphs[1].start :]
        assert bare.paragraphs[0] == Paragraph(0, paper.paragraphs[1].end - paper.paragraphs[1].start, 0)
        assert bare.sha256 != paper.sha256
        assert not bare.has_abstract


def test_the_hash_of_a_paper_covers_what_results_rest_on(tmp_path: Path) -> None:
    def sha256(**changes: Any) -> str:
        return in_form(tmp_path, **changes).papers[0].sha256

    sections = [{"section_name": "One", "paragraphs": ["First.", "Second."]}]
    assert sha256(title="Other") == sha256()
    changed: list[dict[str, Any]] = [
        {"abstract": "In short!"},
        {"full_text": [{**sections[0], "section_name": "Two"}]},
        {"full_text": [*sections, {"section_name": "Two", "paragraphs": ["Third."]}]},
        {"qas": []},
    ]
    assert len({sha256(), *(sha256(**each) for each in changed)}) == 5


# Questions


def test_answers_have_their_kind_and_their_evidence(invented: Dataset) -> None:
    answers = [each for paper in invented.papers for question in paper.questions for each in question.annotators]
    kinds = {kind: sum(each.kind == kind for each in answers) for kind in papers.KINDS}
    assert kinds == {"extractive": 33, "yes_no": 16, "free_form": 25, "unanswerable": 6}
    assert sum(len(each.strings) for each in answers) == 94
    assert sum(len(question.annotators) == 2 for paper in invented.papers for question in paper.questions) == 20


def test_a_yes_no_answer_may_be_no(tmp_path: Path) -> None:
    answer = {"unanswerable": False, "extractive_spans": [], "yes_no": False, "free_form_answer": "", "evidence": []}
    asked = {"question": "?", "question_id": "q", "answers": [{"answer": answer, "annotation_id": "a"}]}
    assert in_form(tmp_path, qas=[asked]).papers[0].questions[0].annotators == (Annotator("a", "yes_no", ()),)


def test_papers_are_drawn_with_the_seed_and_keep_their_order(invented: Dataset) -> None:
    drawn = papers.select(invented.papers, 5, 13)
    places = [invented.papers.index(paper) for paper in drawn]
    assert len(set(places)) == 5
    assert places == sorted(places)
    assert drawn == papers.select(invented.papers, 5, 13)
    assert any(papers.select(invented.papers, 5, seed) != drawn for seed in range(3))
    assert papers.select(invented.papers, 14, 1) == invented.papers


@pytest.mark.parametrize(("count", "seed"), [(0, 1), (15, 1), (1, -1), (1, 2**32)])
def test_no_more_papers_are_drawn_than_there_are(invented: Dataset, count: int, seed: int) -> None:
    with pytest.raises(Problem, match=r"can't be drawn|is not in 0"):
        papers.select(invented.papers, count, seed)


# What is wrong is named


def test_a_file_cut_in_half_is_refused(checkout: Path, tmp_path: Path) -> None:
    data = (checkout / FIXTURE).read_bytes()
    path = tmp_path / "half.json"
    path.write_bytes(data[: len(data) // 2])
    with pytest.raises(Problem, match=r"half\.json is damaged or cut off: .* line \d+"):
        papers.load(str(path))


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "damaged or cut off"),
        (b"[]", "not in QASPER's form"),
        (b"{}", "holds no paper"),
        (b'{"p": "\xff"}', "not UTF-8: byte 7"),
        (b'{"p": 1}', "paper p is no JSON object"),
        (b'{"p": {}, "p": {}}', "the key 'p' twice"),
        (b"[" * 100_000, "damaged or cut off"),
    ],
)
def test_what_is_no_file_of_papers_is_refused(tmp_path: Path, data: bytes, said: str) -> None:
    path = tmp_path / "papers.json"
    path.write_bytes(data)
    with pytest.raises(Problem, match=said):
        papers.load(str(path))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"full_text": None}, "paper p: 'full_text' is missing or is not a list"),
        ({"full_text": {}}, "paper p: 'full_text' is missing or is not a list"),
        ({"full_text": [{"section_name": "One"}]}, "paper p, section 1: 'paragraphs' is missing"),
        ({"full_text": [{"paragraphs": ["a", 1]}]}, "paper p, section 1: a paragraph is no text"),
        ({"full_text": [], "abstract": " "}, "paper p has no text at all"),
        ({"abstract": 7}, "paper p: 'abstract' is missing or is not a text"),
        ({"qas": None}, "paper p: 'qas' is missing"),
        ({"qas": [{"question": "?"}]}, "paper p, a question: 'question_id' is missing"),
        ({"qas": [{"question_id": "q", "answers": []}]}, "question q: 'question' is missing"),
        ({"qas": [{"question_id": "q", "question": "?", "answers": [{}]}]}, "question q: 'answer' is missing"),
        (
            {"qas": [{"question_id": "q", "question": "?", "answers": [{"answer": {"evidence": "First."}}]}]},
            "question q: 'evidence' is missing or is not a list",
        ),
        (
            {"qas": [{"question_id": "q", "question": "?", "answers": [{"answer": {"evidence": [0]}}]}]},
            "question q: evidence is a list of texts",
        ),
        ({"qas": [{"question_id": "q", "question": "?", "answers": []}] * 2}, "the question id 'q' is there twice"),
        ({"abstract": "half of \ud83d"}, "paper p has half of a surrogate pair"),
    ],
)
def test_a_fault_in_a_paper_is_named_with_its_place(tmp_path: Path, changes: dict[str, Any], said: str) -> None:
    with pytest.raises(Problem, match=said):
        in_form(tmp_path, **changes)


def test_a_paper_of_an_abstract_alone_is_kept_and_known(tmp_path: Path) -> None:
    (paper,) = in_form(tmp_path, full_text=[]).papers
    assert (paper.text, paper.without_sections) == ("In short.", True)


def test_a_paper_without_an_abstract_is_kept_and_known(tmp_path: Path) -> None:
    for absent in (None, ""):
        (paper,) = in_form(tmp_path, abstract=absent).papers
        assert (paper.text, paper.has_abstract, paper.left_out) == ("First.\n\nSecond.", False, 0)


def test_a_data_set_that_is_not_there_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(Problem, match="there is no data set 'qaspar'"):
        papers.load("qaspar")
    with pytest.raises(Problem, match=r"holds neither papers\.json"):
        papers.load(str(tmp_path))
    with pytest.raises(Problem, match="no split 'test'; it has train and validation"):
        papers.load("qasper", "test")
    monkeypatch.setenv("CHUNKPROOF_DATA", str(tmp_path))
    monkeypatch.setattr("chunkproof.datasets.cache_dir", lambda: tmp_path)
    with pytest.raises(DataMissing, match=r"qasper/qasper-train-v0\.3\.json"):
        papers.load("qasper", "train")


# A user's own documents


def own(tmp_path: Path, documents: str, questions: str) -> Dataset:
    (tmp_path / "documents.jsonl").write_text(documents, encoding="utf-8")
    (tmp_path / "questions.jsonl").write_text(questions, encoding="utf-8")
    return papers.load(str(tmp_path))


LEASE = '{"id": "lease", "sections": [{"name": "Rent", "paragraphs": ["It is due in May.", "It is 5."]}]}\n'
DUE = '{"id": "q", "document": "lease", "question": "When?", "answers": [{"evidence": ["It is due in May."]}]}\n'


def test_own_documents_are_read_as_papers_are(tmp_path: Path) -> None:
    dataset = own(tmp_path, LEASE + '\n{"id": "b", "title": "B", "abstract": "Short.", "sections": []}', DUE)
    lease, second = dataset.papers
    assert (lease.id, lease.text, lease.has_abstract) == ("lease", "It is due in May.\n\nIt is 5.", False)
    assert lease.questions[0].annotators == (Annotator("1", "free_form", ("It is due in May.",)),)
    assert (second.title, second.text, second.without_sections, second.questions) == ("B", "Short.", True, ())
    assert (dataset.name, dataset.split) == (tmp_path.name, "")


def test_the_hash_of_own_documents_is_of_both_files(tmp_path: Path) -> None:
    assert len({own(tmp_path, *each).sha256 for each in ((LEASE, DUE), (LEASE, ""), (LEASE + "\n", DUE))}) == 3


@pytest.mark.parametrize(
    ("documents", "questions", "said"),
    [
        (LEASE[:40], DUE, r"documents\.jsonl, line 1: it is not JSON .* half-written"),
        (LEASE + LEASE, DUE, r"documents\.jsonl, line 2: the document 'lease' is there twice"),
        ('{"id": "lease"}', DUE, r"documents\.jsonl, line 1: 'sections' is missing"),
        ('{"id": "lease", "sections": [{"name": "A"}]}', DUE, "line 1, section 1: 'paragraphs' is missing"),
        ('{"id": "lease", "sections": [[]]}', DUE, "line 1, section 1 is no JSON object"),
        ("", DUE, "there is no document 'lease'"),
        (LEASE, DUE[:50], r"questions\.jsonl, line 1: it is not JSON"),
        (LEASE, DUE.replace("lease", "deed"), r"questions\.jsonl, line 1: there is no document 'deed'"),
        (LEASE, DUE.replace('"id"', '"name"'), r"questions\.jsonl, line 1: 'id' is missing"),
        (LEASE, DUE.replace('{"evidence', '{"kind": "maybe", "evidence'), "the kind 'maybe' is none of extractive"),
        (LEASE, DUE.replace('["It is due in May."]', "[5]"), r"questions\.jsonl, line 1: evidence is a list of texts"),
        (LEASE, DUE + DUE, "the question id 'q' is there twice"),
    ],
)
def test_a_fault_in_own_documents_is_named_with_its_line(
    tmp_path: Path, documents: str, questions: str, said: str
) -> None:
    with pytest.raises(Problem, match=said):
        own(tmp_path, documents, questions)


def test_own_documents_need_questions(tmp_path: Path) -> None:
    (tmp_path / "documents.jsonl").write_text(LEASE)
    with pytest.raises(Problem, match=r"questions\.jsonl cannot be read"):
        papers.load(str(tmp_path))
