"""What follows from a fixture: both engines run the part that the claims speak of, and only what they agree on is evidence."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property

from chunkproof.audit.arithmetic import Calculator, Disagreement, exact
from chunkproof.audit.header import CHUNKING
from chunkproof.audit.model import Key, Value
from chunkproof.fixtures import Config, Fixture, Method
from chunkproof.parity import Command, FixtureResult, run_fixture
from chunkproof.pipeline import METRICS, Progress
from chunkproof.replies import Json, digest
from chunkproof.stages import Select

_STAGES = Select(stages=("chunks", "rankings", "metrics", "table"))
DEEPEST = 20
"""Ranks that a run looks at."""


def data_digest(fixture: Fixture) -> str:
    """What a claims file pins: the digest of the texts, the questions with their answers, and the vectors. Not of the recipe."""
    files = [fixture.vectors.sentences, fixture.vectors.questions, *fixture.vectors.chunks.values()]
    return digest(
        {
            "documents": [[document.id, document.sha256] for document in fixture.documents],
            "questions": [
                [question.id, fixture.documents[question.document].id, question.text, question.start, question.end]
                for question in fixture.questions
            ],
            "vectors": {file.path: file.sha256 for file in files if file is not None},
        }
    )


def part_of(fixture: Fixture, keys: Iterable[Key]) -> Fixture:
    """A fixture with the configs and methods that are asked for and no others.

    A config that only the chunking table names keeps one method, since lost questions are found when rankings are judged.
    """
    wanted = set(keys)
    configs = tuple(config for config in fixture.configs if any(key.config == config.name for key in wanted))
    named = [config.name for config in configs]
    ranked = {key.config for key in wanted if key.method}
    plain = next((method.name for method in fixture.methods if method.kind == "bm25"), "")
    methods: list[Method] = []
    for method in fixture.methods:
        on = [name for name in named if Key(name, method.name) in wanted]
        on += [name for name in named if method.name == plain and name not in ranked]
        if on:
            methods.append(replace(method, configs=tuple(on)))
    return replace(fixture, configs=configs, methods=tuple(methods))


@dataclass
class Row:
    """A ranking method on a config: what was asked of the engines and what they agreed on."""

    config: Config
    method: Method
    rank: dict[str, Json]
    rankings: list[list[dict[str, Json]]]
    evaluate: dict[str, Json]
    metrics: dict[str, Json]

    @property
    def key(self) -> Key:
        """The row of a table that it is."""
        return Key(self.config.name, self.method.name)

    @cached_property
    def relevant(self) -> list[set[int]]:
        """The relevant passages of each question."""
        return [set(question["relevant"]) for question in self.metrics["questions"]]

    @cached_property
    def order(self) -> list[list[int]]:
        """The ranked passages of each question."""
        return [[entry["passage"] for entry in ranking] for ranking in self.rankings]


@dataclass
class Evidence:
    """The agreed replies of a fixture, with the engines at hand for more."""

    fixture: Fixture
    whole: Fixture
    """With every config and method that the recipe has."""
    result: FixtureResult
    calculator: Calculator
    engines: tuple[str, ...]
    rows: dict[Key, Row] = field(default_factory=dict)
    _values: dict[tuple[Key, str], Value | str] = field(default_factory=dict)

    def value(self, key: Key, metric: str) -> Value | str:
        """A figure, or a sentence that says why it cannot be had."""
        if (key, metric) not in self._values:
            self._values[key, metric] = self._chunking(key, metric) if metric in CHUNKING else self._ranked(key, metric)
        return self._values[key, metric]

    def chunks(self, config: str) -> list[dict[str, Json]]:
        """The chunks of a config in the order of documents; each has its document's index."""
        found = []
        for index, document in enumerate(self.fixture.documents):
            for outcome in self.result.runs[0].outcomes:
                if outcome.stage == "chunks" and outcome.case == f"{config}/{document.id}":
                    found += [{"document": index, **chunk} for chunk in outcome.value["ok"]["chunks"]]
        return found

    def lost(self, config: str) -> int | None:
        """How many questions no chunk of a config answers."""
        row = next((row for row in self.rows.values() if row.config.name == config), None)
        return None if row is None else len(row.metrics["lost"])

    def _absent(self, key: Key) -> str:
        """Why there is no such row, or nothing."""
        name = self.fixture.name
        config = next((each for each in self.whole.configs if each.name == key.config), None)
        if config is None:
            return f"{name} has no config {key.config!r}"
        method = next((each for each in self.whole.methods if each.name == key.method), None)
        if key.method and method is None:
            return f"{name} has no method {key.method!r}"
        if key in self.rows if key.method else self._cut(key.config):
            return ""
        notes = [note for note in self.result.notes if note.startswith(f"{key.config}:")]
        return "; ".join(notes) or f"{name} runs no {key.method!r} on {key.config!r}"

    def _cut(self, config: str) -> bool:
        return any(each.stage == "table" and each.case == config for each in self.result.runs[0].outcomes)

    def _chunking(self, key: Key, metric: str) -> Value | str:
        if reason := self._absent(key):
            return reason
        chunks = self.chunks(key.config)
        tokens = [chunk["tokens"] for chunk in chunks]
        table: dict[str, Json] = next(
            (
                each.value["ok"]
                for each in self.result.runs[0].outcomes
                if each.stage == "table" and each.case == key.config
            ),
            {},
        )
        found: int | Fraction | None
        if metric == "mean_tokens":
            found = Fraction(sum(tokens), max(1, len(tokens)))
        elif metric in ("chunks", "max_tokens"):
            found = len(chunks) if metric == "chunks" else max(tokens, default=0)
        elif metric == "lost":
            found = self.lost(key.config)
            if found is None:
                return f"{self.fixture.name} has no method to find lost questions with"
        else:
            found = None if table.get("long") is None else int(table["long"])
            if found is None:
                return f"there are no word-piece counts for the chunks of {key.config!r}"
        return Value(self.calculator.double(Fraction(found)), Fraction(found))

    def _ranked(self, key: Key, metric: str) -> Value | str:
        if reason := self._absent(key):
            return reason
        row = self.rows[key]
        kind, _, depth = metric.partition("@")
        if metric in METRICS:
            double = row.metrics["mean"][metric]
            return Value(double, self.mean(self.figures(row.metrics, metric)))
        if kind not in ("recall", "hit"):
            return f"the spec defines {kind}@10 alone, not {metric}"
        if int(depth) > DEEPEST:
            return f"a run looks at {DEEPEST} ranks, and {metric} needs more"
        if kind == "hit":
            tops = [set(order[: int(depth)]) for order in row.order]
            hits = sum(bool(top & relevant) for top, relevant in zip(tops, row.relevant, strict=True))
            share = Fraction(hits, max(1, len(tops)))
            return Value(self.calculator.double(share), share)
        ok = self.evaluate(row, row.order, [int(depth)])
        return Value(ok["mean"][metric], self.mean(self.figures(ok, metric)))

    def evaluate(
        self,
        row: Row,
        order: Sequence[Sequence[int]],
        cutoffs: Sequence[int] | None = None,
        only: Sequence[int] | None = None,
    ) -> Json:
        """The metrics of other rankings of a row's passages, over all questions or `only` some."""
        request = dict(row.evaluate)
        answers = request["answers"]
        if only is not None:
            order, answers = [order[index] for index in only], [answers[index] for index in only]
        request |= {"rankings": [list(each) for each in order], "answers": answers}
        if cutoffs is not None:
            request["cutoffs"] = list(cutoffs)
        return self.calculator.one(f"the metrics of {row.key}", request)

    def evaluate_as(self, row: Row, relevant: Sequence[set[int]], name: str) -> Json:
        """The metrics of a row's rankings if other passages were relevant.

        A relevant passage of question i becomes one of document i, and every other one of a document that no question asks about;
        those are shared, since nothing but their rank counts.
        """
        other = len(row.order)
        passages = [{"document": other, "start": 0, "end": 1} for _ in range(DEEPEST)]
        rankings = []
        for number, (order, those) in enumerate(zip(row.order, relevant, strict=True)):
            index_of = {passage: len(passages) + place for place, passage in enumerate(sorted(those))}
            passages += [{"document": number, "start": 0, "end": 1} for _ in those]
            rankings.append([index_of.get(passage, rank) for rank, passage in enumerate(order[:DEEPEST])])
        answers = [{"document": number, "start": 0, "end": 1} for number in range(other)]
        request = {**row.evaluate, "passages": passages, "answers": answers, "rankings": rankings}
        return self.calculator.one(f"the metrics of {row.key}, {name}", request)

    def figures(self, metrics: Json, metric: str) -> list[Fraction]:
        """A metric of every question, exactly (nDCG: the double's value)."""
        if metric.startswith("recall@"):
            return [Fraction(question["recall"][metric[7:]]) for question in metrics["questions"]]
        if metric == "mrr@10":
            return [Fraction(question[metric]) for question in metrics["questions"]]
        return [exact(question[metric]) for question in metrics["questions"]]

    @staticmethod
    def mean(values: Sequence[Fraction]) -> Fraction:
        """The exact mean, 0 of nothing."""
        return sum(values, Fraction(0)) / max(1, len(values))


def collect(
    whole: Fixture,
    keys: Iterable[Key],
    commands: Sequence[Command],
    calculator: Calculator,
    timeout: float,
    progress: Progress | None = None,
) -> Evidence:
    """Run what the claims speak of. Disagreement if the engines differ anywhere in it."""
    fixture = part_of(whole, keys)
    result = run_fixture(fixture, commands, _STAGES, timeout, progress)
    if fixture.configs and not result.held:
        raise Disagreement(_why_not(result))
    engines = tuple(
        f"{run.info.get('engine', run.engine)} {run.info.get('version', '')}".strip() for run in result.runs
    )
    evidence = Evidence(fixture, whole, result, calculator, engines)
    outcomes = {(outcome.stage, outcome.case): outcome for outcome in result.runs[0].outcomes}
    for config in fixture.configs:
        for method in fixture.methods:
            case = f"{config.name}/{method.name}"
            ranked, judged = outcomes.get(("rankings", case)), outcomes.get(("metrics", case))
            if ranked is None or judged is None or ranked.request is None or judged.request is None:
                continue
            row = Row(
                config,
                method,
                ranked.request,
                ranked.value["ok"]["rankings"],
                judged.request,
                judged.value["ok"],
            )
            evidence.rows[row.key] = row
    return evidence


def _why_not(result: FixtureResult) -> str:
    name = result.fixture.name
    if result.strangers or result.failures:
        return f"{name}: {[*result.strangers, *map(str, result.failures)][0]}"
    if result.cause is not None:
        cause = result.cause
        return f"{name}: the engines do not agree on {cause.stage} of {cause.case}, at {cause.path}; `chunkproof parity` says more"
    return f"{name}: the engines refuse {result.refusals[0]}" if result.refusals else f"{name}: nothing was compared"
