"""What is in a data set before anything is run: counts, lengths, artefacts, and how evidence maps to paragraphs.

Everything is counted in integers here; shares are the engines'. Nothing of this decides anything.
"""

from __future__ import annotations

import io
import json
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from typing import Any

import regex
from rich.console import Console
from rich.table import Table as RichTable

from chunkproof.audit.arithmetic import Calculator
from chunkproof.experiment.evidence import EXCLUDED, STEPS, Mapped, Mapper, fold, map_evidence, strip
from chunkproof.experiment.papers import KINDS, WHITE, Dataset, Paper, Question
from chunkproof.experiment.policies import Outline, paragraph_runs

FORMATS = ("text", "json")
PERCENTILES = (0, 10, 25, 50, 75, 90, 100)
SHORT = 25
"""Code points below which a paragraph is hardly one: a rest of a formula, a list's number."""
BUDGETS = (500, 1000, 2000, 4000)
_PLACES = 3
"""Places that are named of each artefact, and examples of each step."""
_AT_ONCE = 20
"""Papers whose pieces are asked for in one go."""
_JOINED = regex.compile(r"[\p{Ll})][.!?]\p{Lu}\p{Ll}")
_BLANK = regex.compile(r"(?:\r\n|\r(?!\n)|\n)" f"[{regex.escape(WHITE)}]*" r"[\r\n]")
"""Two line ends in one run of white space (04), CR LF being one."""

ARTEFACTS = {
    "paper_without_sections": ("papers", "the abstract is all there is"),
    "paper_without_abstract": ("papers", "no abstract"),
    "paper_without_questions": ("papers", "nothing is asked about it"),
    "section_without_text": ("sections", "no paragraph that is more than white space"),
    "section_without_name": ("sections", "the name is empty"),
    "subsection": ("sections", "` ::: ` in the name"),
    "repeated": ("paragraphs", "equals an earlier one of its paper"),
    "repeated_but_for_white_space": ("paragraphs", "equals an earlier one once white space is folded"),
    "white_at_ends": ("paragraphs", "white space at an end"),
    "line_end_inside": ("paragraphs", "a line end inside: several lines, or merged paragraphs"),
    "blank_line_inside": ("paragraphs", "a blank line inside: merged paragraphs"),
    "joined_sentences": ("paragraphs", "a full stop between a small and a capital letter: merged paragraphs or items"),
    "short": ("paragraphs", f"below {SHORT} code points"),
    "evidence_named_twice": ("answers", "two strings are the same paragraph"),
    "answer_without_evidence": ("answers", "an answer, and no string of evidence"),
    "unanswerable_with_evidence": ("answers", "no answer, and a string of evidence"),
    "answerable_to_some": ("questions", "some annotators found it unanswerable, some did not"),
    "disjoint": ("questions", "two annotators whose evidence has no paragraph in common"),
    "section_name_alone": ("answers", "a section's name, and no text beside it"),
    "float_beside_text": ("answers", "a float beside text"),
    "unmatched_beside_text": ("answers", "a string that is in no paragraph, beside text"),
    "repeated_evidence": ("strings", "its paragraph stands in the paper more than once; the first is taken"),
    "of_another_paper": ("strings", "in no paragraph here, and one of another paper"),
    "other_normal_form": ("strings", "in no paragraph, but for its Unicode normal form"),
}
"""What is looked for: of what it is a share, and what it means."""


class _Counted:
    """Artefacts as they are met, with the first places."""

    def __init__(self) -> None:
        self.totals: Counter[str] = Counter()
        self.counts: Counter[str] = Counter()
        self.places: dict[str, list[str]] = {}

    def note(self, what: str, place: str, *, when: bool = True) -> None:
        if when:
            self.counts[what] += 1
            places = self.places.setdefault(what, [])
            if len(places) < _PLACES:
                places.append(place)


def make(dataset: Dataset, papers: Sequence[Paper], calculator: Calculator, *, tokens: bool = False) -> dict[str, Any]:
    """All of it as JSON. With `tokens` the lengths in tokens too, for which the engines cut every text into pieces."""
    counted, steps, reasons = _Counted(), Counter[str](), Counter[str | None]()
    examples: dict[str, list[dict[str, Any]]] = {}
    lost: list[tuple[Paper, Question, str]] = []
    evidence_sizes = []
    for paper in papers:
        _paper(paper, counted)
        mapper = Mapper(paper)
        again = _repeated(paper)
        for question in paper.questions:
            mapped = map_evidence(paper, question, mapper)
            steps += mapped.steps
            reasons[mapped.excluded] += 1
            _question(paper, question, mapped, counted)
            if mapped.excluded is None:
                evidence_sizes.append(len(mapped.union))
            for string in (each for answer in question.annotators for each in answer.strings):
                step, index = mapper.find(string)
                counted.totals["strings"] += 1
                counted.note("repeated_evidence", f"{paper.id}, {question.id}", when=index in again)
                _example(examples, step, paper, question, string, index)
                if step == "none":
                    lost.append((paper, question, string))
    _lost(papers, lost, counted)
    lengths = _lengths(papers, evidence_sizes)
    if tokens:
        lengths |= _in_tokens(papers, calculator)
    kinds = Counter(answer.kind for paper in papers for question in paper.questions for answer in question.annotators)
    text_strings = sum(steps.values()) - steps["float"]
    return {
        "dataset": {"name": dataset.name, "split": dataset.split, "sha256": dataset.sha256},
        **{
            name: counted.totals[name]
            for name in ("papers", "sections", "paragraphs", "questions", "answers", "strings")
        },
        "paragraphs_left_out": sum(paper.left_out for paper in papers),
        "scored": reasons[None],
        "excluded": {why: reasons[why] for why in EXCLUDED},
        "answers_by_kind": {kind: kinds[kind] for kind in KINDS},
        "evidence": {step: steps[step] for step in STEPS},
        "text_strings": text_strings,
        "percent": _percents(steps, text_strings, calculator),
        "lengths": lengths,
        "artefacts": {
            what: {
                "of": of,
                "total": counted.totals[of],
                "count": counted.counts[what],
                "first": counted.places.get(what, []),
            }
            for what, (of, _) in ARTEFACTS.items()
        },
        "examples": {step: examples[step] for step in STEPS if step in examples},
    }


# Counting


def _paper(paper: Paper, counted: _Counted) -> None:
    filled = {each.section for each in paper.paragraphs}
    counted.totals.update(papers=1, sections=len(paper.sections), paragraphs=len(paper.paragraphs))
    counted.note("paper_without_sections", paper.id, when=paper.without_sections)
    counted.note("paper_without_abstract", paper.id, when=not paper.has_abstract)
    counted.note("paper_without_questions", paper.id, when=not paper.questions)
    for number, section in enumerate(paper.sections):
        place = f"{paper.id}, section {number + 1}"
        counted.note("section_without_text", place, when=number not in filled)
        counted.note("section_without_name", place, when=not section.name)
        counted.note("subsection", place, when=" ::: " in section.name)
    exact: set[str] = set()
    folded: set[str] = set()
    for number in range(len(paper.paragraphs)):
        text, place = paper.paragraph(number), f"{paper.id}, paragraph {number}"
        inner, flat = strip(text), fold(text)
        counted.note("repeated", place, when=text in exact)
        counted.note("repeated_but_for_white_space", place, when=flat in folded and text not in exact)
        counted.note("white_at_ends", place, when=inner != text)
        counted.note("line_end_inside", place, when="\n" in inner or "\r" in inner)
        counted.note("blank_line_inside", place, when=_BLANK.search(inner) is not None)
        counted.note("joined_sentences", place, when=_JOINED.search(text) is not None)
        counted.note("short", place, when=len(text) < SHORT)
        exact.add(text)
        folded.add(flat)


def _question(paper: Paper, question: Question, mapped: Mapped, counted: _Counted) -> None:
    place = f"{paper.id}, {question.id}"
    counted.totals.update(questions=1, answers=len(question.annotators))
    for answer, found in zip(question.annotators, mapped.annotators, strict=True):
        placed = len(answer.strings) - found.unmatched - found.floats - found.section_names
        counted.note("evidence_named_twice", place, when=placed > len(found.paragraphs))
        counted.note("answer_without_evidence", place, when=not answer.strings and not found.unanswerable)
        counted.note("unanswerable_with_evidence", place, when=bool(answer.strings) and found.unanswerable)
        counted.note("section_name_alone", place, when=bool(found.section_names) and not found.paragraphs)
        counted.note("float_beside_text", place, when=bool(found.floats and found.paragraphs))
        counted.note("unmatched_beside_text", place, when=bool(found.unmatched and found.paragraphs))
    verdicts = {found.unanswerable for found in mapped.annotators}
    counted.note("answerable_to_some", place, when=len(verdicts) == 2)
    sets = [set(found.paragraphs) for found in mapped.scored]
    apart = any(not one & other for number, one in enumerate(sets) for other in sets[:number])
    counted.note("disjoint", place, when=apart)


def _repeated(paper: Paper) -> set[int]:
    """The paragraphs that are the first of several equal ones."""
    texts = [paper.paragraph(number) for number in range(len(paper.paragraphs))]
    counts = Counter(texts)
    return {number for number, text in enumerate(texts) if counts[text] > 1}


def _example(
    examples: dict[str, list[dict[str, Any]]],
    step: str,
    paper: Paper,
    question: Question,
    string: str,
    index: int | None,
) -> None:
    kept = [] if step == "exact" else examples.setdefault(step, [])
    if step != "exact" and len(kept) < _PLACES:
        kept.append({"paper": paper.id, "question": question.id, "string": string, "paragraph": index})


def _lost(papers: Sequence[Paper], lost: Sequence[tuple[Paper, Question, str]], counted: _Counted) -> None:
    """What strings that are in no paragraph may be instead."""
    if not lost:
        return
    wanted = {fold(string) for _, _, string in lost}
    homes: dict[str, set[str]] = {}
    for paper in papers:
        for number in range(len(paper.paragraphs)):
            if (text := fold(paper.paragraph(number))) in wanted:
                homes.setdefault(text, set()).add(paper.id)
    for paper, question, string in lost:
        place = f"{paper.id}, {question.id}"
        counted.note("of_another_paper", place, when=bool(homes.get(fold(string), set()) - {paper.id}))
        forms = {unicodedata.normalize("NFC", fold(paper.paragraph(n))) for n in range(len(paper.paragraphs))}
        counted.note("other_normal_form", place, when=unicodedata.normalize("NFC", fold(string)) in forms)


# Lengths


def spread(values: Iterable[int]) -> dict[str, Any]:
    """How many, their sum, and the values at PERCENTILES by nearest rank: index ⌊(n − 1) · p / 100⌋ in ascending order."""
    ordered = sorted(values)
    at = {str(p): ordered[(len(ordered) - 1) * p // 100] for p in PERCENTILES} if ordered else {}
    return {"count": len(ordered), "sum": sum(ordered), "percentiles": at}


def _lengths(papers: Sequence[Paper], evidence_sizes: Sequence[int]) -> dict[str, Any]:
    return {
        "code points of a paper": spread(len(paper.text) for paper in papers),
        "code points of a paragraph": spread(each.end - each.start for paper in papers for each in paper.paragraphs),
        "sections of a paper": spread(len(paper.sections) for paper in papers),
        "paragraphs of a paper": spread(len(paper.paragraphs) for paper in papers),
        "questions of a paper": spread(len(paper.questions) for paper in papers),
        "annotators of a question": spread(len(each.annotators) for paper in papers for each in paper.questions),
        "evidence paragraphs of a scored question": spread(evidence_sizes),
    }


def _in_tokens(papers: Sequence[Paper], calculator: Calculator) -> dict[str, Any]:
    """Of papers and of paragraphs, each with its run of pieces; and how many papers a budget holds whole."""
    wholes, parts = [], []
    for start in range(0, len(papers), _AT_ONCE):
        some = papers[start : start + _AT_ONCE]
        asked = [(f"the pieces of {paper.id}", {"op": "pieces", "text": paper.text}) for paper in some]
        for paper, ok in zip(some, calculator.ask(asked), strict=True):
            pieces = ok["pieces"]
            starts, ends, counts = ([piece[key] for piece in pieces] for key in ("start", "end", "tokens"))
            outline = Outline(starts, ends, counts)
            wholes.append(outline.sums[-1])
            parts += [outline.sums[last] - outline.sums[first] for first, last in paragraph_runs(paper, outline)]
    return {
        "tokens of a paper": spread(wholes) | {"held_whole": {str(b): sum(n <= b for n in wholes) for b in BUDGETS}},
        "tokens of a paragraph": spread(parts),
    }


def _percents(steps: Counter[str], text_strings: int, calculator: Calculator) -> dict[str, str]:
    """Of the strings of text, each step's; of all strings, the floats'. As the engines print them, one decimal."""
    shares = {step: Fraction(100 * steps[step], max(1, text_strings)) for step in STEPS if step != "float"}
    shares["float"] = Fraction(100 * steps["float"], max(1, sum(steps.values())))
    doubles = calculator.ratios(list(shares.values()))
    return dict(zip(shares, calculator.printed([(double, 1) for double in doubles]), strict=True))


# Printing


def render(found: dict[str, Any], form: str) -> str:
    """What `make` gave, in one of FORMATS, ending in a line end."""
    if form == "json":
        return json.dumps(found, ensure_ascii=False, indent=1) + "\n"
    out = io.StringIO()
    console = Console(file=out, width=200, no_color=True, highlight=False, markup=False, emoji=False)
    for title, heads, rows in _tables(found):
        out.write(f"{title}\n\n")
        drawn = RichTable(box=None, pad_edge=False, header_style="")
        for number, head in enumerate(heads):
            words = number == 0 or head in ("of", "meaning", "first", "string", "what it is")
            drawn.add_column(head, justify="left" if words else "right", overflow="fold")
        for row in rows:
            drawn.add_row(*row)
        console.print(drawn)
        out.write("\n")
    return "\n".join(line.rstrip() for line in out.getvalue().rstrip("\n").split("\n")) + "\n"


def visible(text: str, limit: int = 100) -> str:
    """A text for a terminal: what can't be seen as its escape, cut in the middle."""
    half = limit // 2
    cut = text if len(text) <= limit else f"{text[:half]} … {text[-half:]}"
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode("ascii") for each in cut)


def _tables(found: dict[str, Any]) -> Iterator[tuple[str, Sequence[str], list[list[str]]]]:
    data = found["dataset"]
    counts = ("papers", "sections", "paragraphs", "paragraphs_left_out", "questions", "scored", "answers", "strings")
    rows = [[name.replace("_", " "), f"{found[name]:,}"] for name in counts]
    rows += [[f"excluded: {why.replace('_', ' ')}", f"{count:,}"] for why, count in found["excluded"].items()]
    rows += [[f"answers: {kind.replace('_', ' ')}", f"{count:,}"] for kind, count in found["answers_by_kind"].items()]
    yield f"{data['name']} {data['split']}".strip() + f", SHA-256 {data['sha256']}", ("what", "count"), rows
    steps = found["evidence"].items()
    of = {step: "all strings" if step == "float" else "strings of text" for step in STEPS}
    yield (
        "Evidence by step",
        ("step", "strings", "%", "of"),
        [[step.replace("_", " "), f"{count:,}", found["percent"][step], of[step]] for step, count in steps],
    )
    yield (
        "Lengths (percentiles by nearest rank)",
        ("of", "count", "sum", *("least" if p == 0 else "most" if p == 100 else f"{p} %" for p in PERCENTILES)),
        [
            [name, f"{each['count']:,}", f"{each['sum']:,}", *(f"{value:,}" for value in each["percentiles"].values())]
            for name, each in found["lengths"].items()
        ],
    )
    held = found["lengths"].get("tokens of a paper", {}).get("held_whole", {})
    if held:
        whole = [[f"{int(budget):,}", f"{count:,}"] for budget, count in held.items()]
        yield "Papers that a budget holds whole", ("tokens", "papers"), whole
    yield (
        "Artefacts",
        ("what", "count", "total", "of", "meaning", "first"),
        [
            [
                what.replace("_", " "),
                f"{each['count']:,}",
                f"{each['total']:,}",
                each["of"],
                ARTEFACTS[what][1],
                "".join(visible(place) for place in each["first"][:1]),
            ]
            for what, each in found["artefacts"].items()
        ],
    )
    examples = [
        [step.replace("_", " "), visible(f"{each['paper']}, {each['question']}"), visible(each["string"])]
        for step, some in found["examples"].items()
        for each in some
    ]
    if examples:
        yield "Evidence that equals no paragraph to the code point", ("step", "first", "string"), examples
