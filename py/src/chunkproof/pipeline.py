"""What one engine is asked about a fixture, and what it answered, stage by stage.

Each engine runs its own pipeline: its chunks make its passages, its rankings its metrics, its metrics its figures. So a first
difference shows where it arises and what follows from it shows downstream. The harness does no arithmetic on floats: means are
made and figures printed by the engines too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from chunkproof.caselines import Case
from chunkproof.engines import Engine, EngineFailure
from chunkproof.fixtures import CUTOFFS, Config, Fixture, Method
from chunkproof.problems import Problem
from chunkproof.replies import Json, Reply, canonical
from chunkproof.stages import Select, stage_of

METRICS = (*(f"recall@{k}" for k in CUTOFFS), "mrr@10", "ndcg@10")
"""The figures of a retrieval row, in the order of the published table."""
DECIMALS = 3
Progress = Callable[[int], None]
_CHUNK_STAGES = ("similarities", "threshold", "chunks")
_RANK_STAGES = ("rankings", "metrics", "table")


@dataclass(frozen=True)
class Outcome:
    """One compared value: `{"ok": …}` or `{"error": {"code": …}}` of a case at a stage, and what was asked to get it."""

    stage: str
    case: str
    value: dict[str, Json]
    request: dict[str, Json] | None = None
    why: str = ""
    group: str = ""
    """The golden case that this is a part of, where a case of its own would be too small."""

    @property
    def refused(self) -> bool:
        """Whether this is an error reply."""
        return "error" in self.value


@dataclass
class Run:
    """Everything that one engine answered about one fixture; `failure` if it stopped half-way."""

    engine: str
    info: dict[str, Json] = field(default_factory=dict)
    outcomes: list[Outcome] = field(default_factory=list)
    failure: EngineFailure | None = None
    problem: Problem | None = None
    """What could not be asked at all, which is no engine's fault."""
    skipped: list[str] = field(default_factory=list)
    whole: dict[str, dict[str, Json]] = field(default_factory=dict)

    def add(
        self, stage: str, case: str, value: dict[str, Json], request: Json = None, why: str = "", group: str = ""
    ) -> None:
        """Note an outcome."""
        self.outcomes.append(Outcome(stage, case, value, request, why, group))


def run_cases(
    engine: Engine, cases: Sequence[Case], run: Run, select: Select, progress: Progress | None = None
) -> None:
    """Ask every wanted case: the well-formed ones at once, the broken lines one by one, each followed by an `info`."""
    wanted = [case for case in cases if _case_wanted(case, select)]
    answers: dict[str, Json] = {}
    plain = [case for case in wanted if case.request is not None]
    for case, reply in zip(plain, engine.ask([(case.id, case.request) for case in plain], progress), strict=True):
        answers[case.id] = {"ok": {}} if case.op == "info" and reply.code is None else reply.value
    for case in wanted:
        if case.raw is not None:
            replies = [{"reply_id": reply.id, **reply.value} for reply in engine.ask_raw(case.id, case.raw)]
            answers[case.id] = replies[0] if len(replies) == 1 else {"replies": sorted(replies, key=canonical)}
            if progress is not None:
                progress(1)
    for case in wanted:
        run.whole[case.id] = answers[case.id]
        _split(run, stage_of(case.op), case.id, answers[case.id], case.request, case.why, select)


def _case_wanted(case: Case, select: Select) -> bool:
    stage = stage_of(case.op)
    return select.wants_any(_CHUNK_STAGES, case.id) if stage == "chunks" else select.wants(stage, case.id)


def _split(run: Run, stage: str, case: str, value: dict[str, Json], request: Json, why: str, select: Select) -> None:
    """Note a reply at its stage; what a semantic reply says beside the chunks belongs to stages of its own."""
    ok = value.get("ok")
    if stage != "chunks" or not isinstance(ok, dict):
        if select.wants(stage, case):
            run.add(stage, case, value, request, why)
        return
    for part in ("similarities", "threshold"):
        if part in ok and select.wants(part, case):
            run.add(part, case, {"ok": {part: ok[part]}}, request, why)
    if select.wants("chunks", case):
        rest = {key: item for key, item in ok.items() if key not in ("similarities", "threshold")}
        run.add("chunks", case, {"ok": rest}, request, why)


def run_corpus(engine: Engine, fixture: Fixture, run: Run, select: Select, progress: Progress | None = None) -> None:
    """Run the whole pipeline of a corpus, or as much of it as the wanted outcomes rest on."""
    _Corpus(engine, fixture, run, select, progress).all()


@dataclass
class _Row:
    """A config on its way to the table."""

    config: Config
    passages: list[tuple[int, int, int]]
    tokens: list[int]
    means: dict[str, dict[str, str]] = field(default_factory=dict)
    lost: int | None = None


@dataclass
class _Corpus:
    engine: Engine
    fixture: Fixture
    run: Run
    select: Select
    progress: Progress | None

    def all(self) -> None:
        """Every stage in order."""
        self._texts("pieces", {})
        self._texts("segments", {"paragraphs": self.fixture.paragraphs})
        rows = self._chunks()
        for row in rows:
            self._retrieval(row)
        if any(self.select.stages == () or stage in self.select.stages for stage in ("table",)):
            self._table(rows)

    def _ask(self, asked: list[tuple[str, Json]]) -> list[Reply]:
        return self.engine.ask(asked, self.progress)

    def _texts(self, op: str, fields: dict[str, Json]) -> None:
        documents = [document for document in self.fixture.documents if self.select.wants(op, document.id)]
        asked = [{"op": op, "text": document.text, **fields} for document in documents]
        labels = [f"{op} of {document.id}" for document in documents]
        for document, request, reply in zip(
            documents, asked, self._ask(list(zip(labels, asked, strict=True))), strict=True
        ):
            self.run.add(op, document.id, reply.value, request)

    def _needs(self, config: Config) -> bool:
        """Whether anything after the chunks of a config is wanted."""
        cases = [config.name, *(f"{config.name}/{method.name}" for method in self.fixture.methods)]
        return any(self.select.wants_any(_RANK_STAGES, case) for case in cases)

    def _chunks(self) -> list[_Row]:
        rows = []
        for config in self.fixture.configs:
            if config.kind == "semantic" and self.fixture.vectors.sentences is None:
                self.run.skipped.append(f"{config.name}: no sentence vectors ({self._how()})")
                continue
            cases = [f"{config.name}/{document.id}" for document in self.fixture.documents]
            whole = self._needs(config)
            if not whole and not any(self.select.wants_any(_CHUNK_STAGES, case) for case in cases):
                continue
            row = self._chunks_of(config, cases, whole)
            if row is not None and whole:
                rows.append(row)
        return rows

    def _chunks_of(self, config: Config, cases: list[str], whole: bool) -> _Row | None:
        asked: list[tuple[str, Json]] = []
        for case, document in zip(cases, self.fixture.documents, strict=True):
            chunker = dict(config.chunker)
            if config.kind == "semantic":
                assert self.fixture.vectors.sentences is not None
                chunker["vectors"] = self.fixture.vectors.sentences.of_document(document.id)
            if whole or self.select.wants_any(_CHUNK_STAGES, case):
                asked.append((case, {"op": "chunk", "text": document.text, "chunker": chunker}))
        row: _Row | None = _Row(config, [], [])
        for (case, request), reply in zip(asked, self._ask(asked), strict=True):
            _split(self.run, "chunks", case, reply.value, request, "", self.select)
            if reply.ok is None:
                row = None  # nothing follows from a refusal
            elif row is not None:
                index = cases.index(case)
                for start, end, tokens in self._ranges(case, reply.ok.get("chunks")):
                    row.passages.append((index, start, end))
                    row.tokens.append(tokens)
        return row

    def _ranges(self, case: str, chunks: Json) -> list[tuple[int, int, int]]:
        keys = ("start", "end", "tokens")
        if isinstance(chunks, list) and all(
            isinstance(chunk, dict) and all(type(chunk.get(key)) is int for key in keys) for chunk in chunks
        ):
            return [(chunk["start"], chunk["end"], chunk["tokens"]) for chunk in chunks]
        raise self._malformed(f"the chunks of {case} are no list of ranges with token counts")

    def _malformed(self, what: str) -> EngineFailure:
        return EngineFailure(self.engine.name, "malformed", what)

    def _vectors_of(self, row: _Row) -> dict[str, Json] | None:
        """The chunk and question vectors of a config, if they were made for exactly these chunks."""
        chunks, questions = self.fixture.vectors.chunks.get(row.config.name), self.fixture.vectors.questions
        if chunks is None or questions is None:
            return None
        ids = [document.id for document in self.fixture.documents]
        if chunks.keys != tuple((ids[index], start, end) for index, start, end in row.passages):
            return None
        if questions.keys != tuple((question.id,) for question in self.fixture.questions):
            return None
        return {"passage_vectors": chunks.reference(), "query_vectors": questions.reference()}

    def _retrieval(self, row: _Row) -> None:
        vectors = self._vectors_of(row)
        if not self.fixture.questions:
            return  # nothing to rank for: a mean over no questions would read like a bad one
        asked: list[tuple[Method, dict[str, Json]]] = []
        left_out = 0
        for method in self.fixture.methods:
            case = f"{row.config.name}/{method.name}"
            first = not asked and self.select.wants("table", row.config.name)
            if not method.runs_on(row.config) or not (first or self.select.wants_any(_RANK_STAGES, case)):
                continue
            if method.needs_vectors and vectors is None:
                left_out += 1
                continue
            asked.append((method, self._rank_request(row, method, vectors)))
        if left_out:
            there = (
                "no vectors for these chunks" if row.config.name in self.fixture.vectors.chunks else "no vectors yet"
            )
            self.run.skipped.append(f"{row.config.name}: {there}, which {left_out} methods need ({self._how()})")
        labels = [f"{row.config.name}/{method.name}" for method, _ in asked]
        requests = [request for _, request in asked]
        replies = self._ask(list(zip(labels, requests, strict=True)))
        scored: list[tuple[str, str, dict[str, Json]]] = []
        for case, (method, request), reply in zip(labels, asked, replies, strict=True):
            _split(self.run, "rankings", case, reply.value, request, "", self.select)
            if reply.ok is not None:
                scored.append((method.name, case, self._evaluate_request(row, case, reply.ok.get("rankings"))))
        evaluated = self._ask([(f"the metrics of {case}", request) for _, case, request in scored])
        for (name, case, request), reply in zip(scored, evaluated, strict=True):
            _split(self.run, "metrics", case, reply.value, request, "", self.select)
            if reply.ok is not None:
                self._note_metrics(row, name, case, reply.ok)

    def _how(self) -> str:
        return f"`chunkproof embed {self.fixture.asked or self.fixture.name}` makes them"

    def _rank_request(self, row: _Row, method: Method, vectors: dict[str, Json] | None) -> dict[str, Json]:
        texts = self.fixture.documents
        return {
            "op": "rank",
            "passages": [texts[index].text[max(0, start) : max(0, end)] for index, start, end in row.passages],
            "queries": [question.text for question in self.fixture.questions],
            "method": {"kind": method.kind, **method.settings},
            "depth": max(*CUTOFFS, 10),
            **(vectors if vectors is not None and method.needs_vectors else {}),
        }

    def _evaluate_request(self, row: _Row, case: str, rankings: Json) -> dict[str, Json]:
        try:
            lists = [[entry["passage"] for entry in ranking] for ranking in rankings]
        except (TypeError, KeyError) as error:
            raise self._malformed(f"the rankings of {case} are no lists of passages") from error
        return {
            "op": "evaluate",
            "passages": [{"document": index, "start": start, "end": end} for index, start, end in row.passages],
            "answers": [
                {"document": question.document, "start": question.start, "end": question.end}
                for question in self.fixture.questions
            ],
            "rankings": lists,
            "cutoffs": list(CUTOFFS),
        }

    def _note_metrics(self, row: _Row, name: str, case: str, ok: dict[str, Json]) -> None:
        mean, lost = ok.get("mean"), ok.get("lost")
        if (
            not isinstance(mean, dict)
            or not isinstance(lost, list)
            or not all(isinstance(mean.get(metric), str) for metric in METRICS)
        ):
            raise self._malformed(f"the metrics of {case} have no means or no list of lost questions")
        row.means[name] = {metric: mean[metric] for metric in METRICS}
        if row.lost is None:
            row.lost = len(lost)

    def _table(self, rows: list[_Row]) -> None:
        """The rows as they are printed: the chunking rows under the config's name, the others under config/method."""
        if not rows:
            return
        fractions = [[sum(row.tokens), max(1, len(row.tokens))] for row in rows]
        means = self._numbers("the mean tokens", {"kind": "ratio", "fractions": fractions}, "values", len(rows))
        if not means:
            return  # an engine without `numbers` prints no table
        texts = self._numbers("the mean tokens", {"kind": "print", "values": means, "decimals": 1}, "texts", len(rows))
        for row, text in zip(rows, texts, strict=True):
            if self.select.wants("table", row.config.name):
                self.run.add("table", row.config.name, {"ok": self._chunking(row, text)})
        # As published: every method that runs on all configs, config by config, then those that run on a few.
        few = {method.name for method in self.fixture.methods if method.configs is not None}
        cells = [
            (row, name, metric)
            for last in (False, True)
            for row in rows
            for name in row.means
            if (name in few) == last
            for metric in METRICS
        ]
        values = [row.means[name][metric] for row, name, metric in cells]
        request = {"kind": "print", "values": values, "decimals": DECIMALS}
        figures: dict[str, dict[str, str]] = {}
        for (row, name, metric), text in zip(
            cells, self._numbers("the figures", request, "texts", len(cells)), strict=True
        ):
            figures.setdefault(f"{row.config.name}/{name}", {"config": row.config.name, "method": name})[metric] = text
        for case, figure in figures.items():
            if self.select.wants("table", case):
                self.run.add("table", case, {"ok": figure})

    def _numbers(self, label: str, fields: dict[str, Json], name: str, count: int) -> list[str]:
        (reply,) = self._ask([(label, {"op": "numbers", **fields})])
        if reply.code == "unsupported":
            return []
        values = reply.ok.get(name) if reply.ok is not None else None
        if not isinstance(values, list) or len(values) != count or not all(isinstance(value, str) for value in values):
            raise self._malformed(f"{label} were asked for as `numbers` {fields['kind']}, {count} of them")
        return values

    def _chunking(self, row: _Row, mean: str) -> dict[str, Any]:
        chunks = self.fixture.vectors.chunks.get(row.config.name)
        ids = [document.id for document in self.fixture.documents]
        same = chunks is not None and chunks.keys == tuple(
            (ids[index], start, end) for index, start, end in row.passages
        )
        long = None
        if same and chunks is not None and chunks.wordpieces:
            long = str(sum(count > self.fixture.wordpiece_limit for count in chunks.wordpieces))
        return {
            "config": row.config.name,
            "chunks": str(len(row.passages)),
            "mean_tokens": mean,
            "max_tokens": str(max(row.tokens, default=0)),
            "lost": None if row.lost is None else str(row.lost),
            "long": long,
        }
