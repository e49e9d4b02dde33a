"""A second implementation of spec 16, written from its sentences: slow, plain, and without a line of the harness.

One engine is asked for pieces, sentences, windows, rankings and terms. All else is counted here, and exactly.
"""

import json
import re
import subprocess
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

FIXED = {f"fixed-{size}": (size, 0) for size in (128, 256, 512)}
FIXED |= {f"fixed-{size}-o{size // 4}": (size, size // 4) for size in (128, 256, 512)}
POLICIES = [*sorted(FIXED), "paragraphs", "headed", "sentence-windows", "first"]
OTHERS = [policy for policy in POLICIES if policy != "paragraphs"]
BUDGETS, TOP = (500, 1000, 2000), (3, 5, 10)
WHITE = "\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))
CLASSES = {
    "introduction": ["introduction"],
    "related work": ["related", "background", "previous work"],
    "results": ["result", "experiment", "evaluation", "analysis", "discussion"],
    "method": ["method", "model", "approach", "architecture", "data", "corpus", "system"],
}
ENOUGH: dict[str, Callable[[int, int], bool]] = {  # by the code points shown and the paragraph's length
    "any": lambda shown, length: shown >= min(100, length),
    "any_at_1": lambda shown, length: shown >= 1,
    "any_at_half": lambda shown, length: 2 * shown >= length,
    "any_at_all": lambda shown, length: shown == length,
}

Chunk = tuple[int, int, str]  # the run of pieces, and what is prepended
Context = tuple[set[int], int, int, bool]  # pieces, their cost with headings, chunks counted, full
Figures = dict[str, Fraction]


def ask(engine: subprocess.Popen[str], op: str, **fields: Any) -> Any:
    """The wire, a request at a time."""
    print(json.dumps({"id": "1", "op": op, **fields}), file=engine.stdin, flush=True)
    return json.loads(next(iter(engine.stdout or ())))["ok"]


class Paragraph:
    """A range of the text; `section` is None for the abstract."""

    def __init__(self, section: str | None, text: str, start: int, pieces: list[dict[str, int]]) -> None:
        self.section, self.text, self.start, end = section, text, start, start + len(text)
        shared = [min(piece["end"], end) - max(piece["start"], start) for piece in pieces]
        self.shared = {i: points for i, points in enumerate(shared) if points > 0}
        self.own = {i for i, piece in enumerate(pieces) if start <= piece["start"] < end}

    def enough(self, context: set[int]) -> set[str]:
        shown = sum(points for piece, points in self.shared.items() if piece in context)
        return {name for name, rule in ENOUGH.items() if rule(shown, len(self.text))}


class Paper:
    """Rules 1 to 9: the text, its pieces, and the chunks of each policy."""

    def __init__(self, engine: subprocess.Popen[str], source: dict[str, Any]) -> None:
        self.engine = engine
        self.names = [section["section_name"] or "" for section in source["full_text"]]
        given: list[tuple[str | None, str]] = [(None, source["abstract"])]
        given += [(part["section_name"] or "", text) for part in source["full_text"] for text in part["paragraphs"]]
        kept = [(name, text) for name, text in given if text.strip(WHITE)]
        self.left_out = len(given) - len(kept) - (not source["abstract"])
        self.text = "\n\n".join(text for _, text in kept)
        pieces = ask(engine, "pieces", text=self.text)["pieces"]
        self.starts = [piece["start"] for piece in pieces]
        self.ends = [piece["end"] for piece in pieces]
        self.tokens = [piece["tokens"] for piece in pieces]
        self.paragraphs: list[Paragraph] = []
        position = 0
        for name, text in kept:
            self.paragraphs.append(Paragraph(name, text, position, pieces))
            position += len(text) + 2

    def chunks(self, policy: str) -> list[Chunk]:
        if policy == "first":
            return [(0, len(self.starts), "")]
        if policy in FIXED:
            chunker = {"kind": "fixed", "size": FIXED[policy][0], "overlap": FIXED[policy][1]}
            windows = ask(self.engine, "chunk", text=self.text, chunker=chunker)["chunks"]
            return [(self.starts.index(window["start"]), self.ends.index(window["end"]) + 1, "") for window in windows]
        firsts = [bisect_right(self.starts, paragraph.start) - 1 for paragraph in self.paragraphs]
        names = ["Abstract" if paragraph.section is None else paragraph.section for paragraph in self.paragraphs]
        runs = zip(firsts, [*firsts[1:], len(self.starts)], names, strict=True)
        headed = [(a, b, name + "\n" if name else "") for a, b, name in runs if a < b]
        if policy in ("paragraphs", "headed"):
            return [(a, b, name if policy == "headed" else "") for a, b, name in headed]
        sentences = ask(self.engine, "segments", text=self.text, paragraphs="blank_line")["sentences"]
        begins = [self.starts.index(sentence["start"]) for sentence in sentences]
        windows = []
        for a, b, _ in headed:
            borders = [a, *[begin for begin in begins if a < begin < b], b, b]
            windows += [(borders[max(i - 1, 0)], borders[i + 2], "") for i in range(len(borders) - 2)]
        return windows

    def tokens_of(self, heading: str) -> int:
        return sum(piece["tokens"] for piece in ask(self.engine, "pieces", text=heading)["pieces"])

    def cost(self, pieces: set[int]) -> int:
        return sum(self.tokens[piece] for piece in pieces)


def fold(text: str) -> str:
    return re.sub(f"[{WHITE}]+", " ", text.strip(WHITE))


def mapped(paper: Paper, string: str) -> tuple[str, int | None]:
    """Rules 13 and 14: the step and, where it leads to one, the first paragraph that fits."""
    if "FLOAT SELECTED" in string:
        return "float", None
    texts = [paragraph.text for paragraph in paper.paragraphs]
    same: dict[str, Callable[[str], str]] = {"exact": str, "stripped": lambda text: text.strip(WHITE), "folded": fold}
    for step, form in same.items():
        if form(string) in (forms := [form(text) for text in texts]):
            return step, forms.index(form(string))
    if not fold(string):
        return "none", None
    if fold(string) in map(fold, paper.names) or (fold(string) == "Abstract" and paper.paragraphs[0].section is None):
        return "section_name", None
    inside = [i for i, text in enumerate(texts) if fold(string) in fold(text)]
    return ("inside", inside[0]) if inside else ("none", None)


def answered(answer: dict[str, Any]) -> str:
    if answer["unanswerable"] or answer["extractive_spans"]:
        return "unanswerable" if answer["unanswerable"] else "extractive"
    return "free_form" if answer["yes_no"] is None else "yes_no"


def section_class(paragraph: Paragraph) -> str:
    name = (paragraph.section or "").split(" ::: ")[0].lower()
    return next((kind for kind, words in CLASSES.items() if any(word in name for word in words)), "other")


class Question:
    """Rules 15 to 17 and 24 to 27; `sets` has each annotator's evidence and whether a string of it maps to nothing."""

    def __init__(self, paper: Paper, source: dict[str, Any], evidence: Counter[str]) -> None:
        self.text = source["question"]
        self.sets: list[tuple[set[int], bool]] = []
        kinds, steps = set(), set()
        answers = [answer["answer"] for answer in source["answers"]]
        for answer in answers:
            results = [mapped(paper, string) for string in answer["evidence"]]
            evidence.update(step for step, _ in results)
            steps.update(step for step, _ in results)
            found = {index for _, index in results if index is not None}
            if found:
                self.sets.append((found, ("none", None) in results))
                kinds.add(answered(answer))
        self.union = {index for found, _ in self.sets for index in found}
        self.union_missed = "none" in steps
        reasons = {
            "unanswerable": bool(answers) and all(answer["unanswerable"] for answer in answers),
            "unmatched_only": not self.union and "none" in steps,
            "float_only": not self.union and "float" in steps and "section_name" not in steps,
            "no_text_evidence": not self.union,
        }
        self.excluded = next((reason for reason, applies in reasons.items() if applies), None)
        if not self.excluded:
            classes = {section_class(paper.paragraphs[index]) for index in self.union}
            self.slices = {
                "answer": min(kinds) if len(kinds) == 1 and kinds != {"unanswerable"} else "mixed",
                "evidence": "one" if len(self.union) == 1 else "several",
                "section": min(classes) if len(classes) == 1 else "several",
                "position": 3 * paper.paragraphs[min(self.union)].start // len(paper.text),
            }


def fill(paper: Paper, chunks: list[Chunk], extras: list[int], ranking: list[int], budget: int) -> Context:
    """13 rules 1 to 5; the chunk fits whole if all its new pieces fit one by one."""
    context: set[int] = set()
    cost = counted = 0
    for index in ranking:
        new = [piece for piece in range(*chunks[index][:2]) if piece not in context]
        if new and cost + extras[index] + paper.tokens[new[0]] > budget:
            return context, cost, counted, True
        if new:
            cost, counted = cost + extras[index], counted + 1
        for piece in new:
            if cost + paper.tokens[piece] > budget:
                return context, cost, counted, True
            context.add(piece)
            cost += paper.tokens[piece]
    return context, cost, counted, False


def figures(paper: Paper, question: Question, filled: Context) -> Figures:
    """Rules 18 to 22 for one question."""
    context, cost, counted, full = filled
    enough = {index: paper.paragraphs[index].enough(context) for index in question.union}
    hits = {name: {index for index in question.union if name in enough[index]} for name in ENOUGH}
    hit = hits["any"]

    def own(evidence: set[int]) -> set[int]:
        return {piece for index in evidence for piece in paper.paragraphs[index].own}

    def shares(name: str, evidence: set[int]) -> Figures:
        tokens = Fraction(paper.cost(own(evidence) & context), paper.cost(own(evidence)) or 1)
        return {f"{name}_share": Fraction(len(evidence & hit), len(evidence)), f"{name}_tokens": tokens}

    each = [shares("any", found) for found, _ in question.sets]
    return {
        **{name: Fraction(any(found <= those for found, _ in question.sets)) for name, those in hits.items()},
        "strict": Fraction(question.union <= hit),
        "any_missed": Fraction(any(found <= hit and not missed for found, missed in question.sets)),
        "strict_missed": Fraction(question.union <= hit and not question.union_missed),
        **{name: max(one[name] for one in each) for name in each[0]},
        **shares("strict", question.union),
        "precision": Fraction(paper.cost(own(question.union) & context), cost or 1),
        **{"tokens": Fraction(cost), "chunks": Fraction(counted), "full": Fraction(full)},
    }


def random_stream(seed: int) -> Iterator[float]:  # 03 rule 8
    while True:
        seed = (seed + 0x6D2B79F5) % 2**32
        x = (seed ^ seed >> 15) * (seed | 1) % 2**32
        x ^= (x + (x ^ x >> 7) * (x | 61)) % 2**32
        yield (x ^ x >> 14) / 2**32


def decide(sums: dict[str, list[int]], sizes: list[int], draws: list[list[int]]) -> dict[str, dict[str, Any]]:
    """Rules 29 and 30, and 14; sums of integers are exact, so only quotients and their differences are rounded."""
    totals = [sum(map(sizes.__getitem__, draw)) for draw in draws]
    rates = {
        policy: [sum(map(own.__getitem__, draw)) / total for draw, total in zip(draws, totals, strict=True)]
        for policy, own in sums.items()
    }
    tested: dict[str, dict[str, Any]] = {}
    for policy in OTHERS:
        values = sorted(a - b for a, b in zip(rates[policy], rates["paragraphs"], strict=True))
        least = min(sum(value <= 0 for value in values), sum(value >= 0 for value in values))
        tested[policy] = {
            "difference": sum(sums[policy]) / sum(sizes) - sum(sums["paragraphs"]) / sum(sizes),
            "interval": [values[(len(draws) - 1) * part // 1000] for part in (25, 975)],
            "p": min(Fraction(1), Fraction(2 * (1 + least), len(draws) + 1)),
        }
    corrected = Fraction(0)
    for i, policy in enumerate(sorted(OTHERS, key=lambda policy: tested[policy]["p"])):
        corrected = max(corrected, min(Fraction(1), tested[policy]["p"] * (len(OTHERS) - i)))
        tested[policy]["holm"] = corrected
    return tested


def oracle(papers: list[dict[str, Any]], command: list[str], budgets: tuple[int, ...] = BUDGETS) -> dict[str, Any]:
    """All figures, still exact: means by policy and budget, or by policy and `top-k`."""
    engine = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8")
    counts: dict[str, Counter[Any]] = {name: Counter() for name in ("evidence", "excluded", "index", "slices")}
    results: dict[tuple[str, Any], list[Figures]] = {}
    owners: list[int] = []  # the paper of each question that is not excluded
    for number, source in enumerate(papers):
        paper = Paper(engine, source)
        counts["excluded"].update(
            paragraphs_left_out=paper.left_out,
            papers_without_sections=all(each.section is None for each in paper.paragraphs),
        )
        questions = [Question(paper, question, counts["evidence"]) for question in source["qas"]]
        counts["excluded"].update(question.excluded for question in questions)
        questions = [question for question in questions if not question.excluded]
        owners += [number] * len(questions)
        counts["slices"].update((*item, "questions") for question in questions for item in question.slices.items())
        for policy in POLICIES:
            chunks = paper.chunks(policy)
            extras = [paper.tokens_of(heading) for _, _, heading in chunks]
            rankings = [[0] for _ in questions]
            if policy != "first":
                passages = [name + paper.text[paper.starts[a] : paper.ends[b - 1]] for a, b, name in chunks]
                tokens = sum(extras) + sum(sum(paper.tokens[a:b]) for a, b, _ in chunks)
                postings = sum(len(set(ask(engine, "terms", text=passage)["terms"])) for passage in passages)
                index = {"chunks": len(chunks), "tokens": tokens, "postings": postings}
                counts["index"].update({(policy, name): number for name, number in index.items()})
                asked = {"passages": passages, "queries": [question.text for question in questions]}
                reply = ask(engine, "rank", **asked, method={"kind": "bm25", "k1": 1.2, "b": 0.75}, depth=len(passages))
                rankings = [[entry["passage"] for entry in ranking] for ranking in reply["rankings"]]
            for question, ranking in zip(questions, rankings, strict=True):
                contexts = {budget: fill(paper, chunks, extras, ranking, budget) for budget in budgets}
                if policy != "first":
                    contexts |= {f"top-{k}": fill(paper, chunks, extras, ranking[:k], 2**53) for k in TOP}
                for name, context in contexts.items():
                    results.setdefault((policy, name), []).append(figures(paper, question, context))
                covered = int(results[policy, 1000][-1]["any"])
                counts["slices"].update({(*item, policy): covered for item in question.slices.items()})
    engine.communicate()
    means: dict[tuple[str, Any], Figures] = {}
    for key, rows in results.items():
        never = len(rows) + counts["excluded"]["unmatched_only"]  # the questions of the kind *never hit*
        sizes = {name: never if name.endswith("_missed") else len(rows) for name in rows[0]}
        means[key] = {name: sum((row[name] for row in rows), Fraction(0)) / size for name, size in sizes.items()}
    units, stream, tests = Counter(owners), random_stream(1), {}
    draws = [[int(next(stream) * len(units)) for _ in units] for _ in range(10_000)]
    for budget, name in [(budget, name) for budget in BUDGETS for name in ("any", "strict")]:
        sums = {policy: dict.fromkeys(units, 0) for policy in POLICIES}
        for policy in POLICIES:
            for owner, row in zip(owners, results[policy, budget], strict=True):
                sums[policy][owner] += int(row[name])
        lists = {policy: list(values.values()) for policy, values in sums.items()}
        tests[budget, name] = decide(lists, list(units.values()), draws)
    return counts | {"means": means, "tests": tests, "scored": len(owners)}
