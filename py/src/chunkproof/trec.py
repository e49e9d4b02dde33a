"""TREC run and qrels files, so that anyone can recompute a table with trec_eval, pytrec_eval or ir-measures.

trec_eval orders a run by its score column and breaks ties by document name, so the score written here is made from our rank:
other tools then keep our order. A lost question has no relevant chunk, and trec_eval leaves a question without qrels out of its
means; it therefore gets one relevant document that no run holds, which counts 0 everywhere, as in the table.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from chunkproof.fixtures import Fixture
from chunkproof.parity import FixtureResult
from chunkproof.problems import Problem
from chunkproof.replies import Json

LOST = "lost"
TAG = "chunkproof"


def file_name(label: str) -> str:
    """A label as part of a file name: `dense precision=int8` becomes `dense-precision=int8`."""
    return re.sub(r"[^\w.=+-]+", "-", label)


def files(result: FixtureResult) -> dict[str, str]:
    """The files of a corpus run by name: `<config>.qrels`, `<config>.<method>.run`, and a README that explains them."""
    made: dict[str, str] = {}
    outcomes = {(outcome.stage, outcome.case): outcome for outcome in result.runs[0].outcomes}
    for config in result.fixture.configs:
        for method in result.fixture.methods:
            case = f"{config.name}/{method.name}"
            ranked, scored = outcomes.get(("rankings", case)), outcomes.get(("metrics", case))
            if ranked is None or scored is None or ranked.refused or scored.refused or scored.request is None:
                continue
            names = _passage_names(result.fixture, scored.request["passages"])
            made.setdefault(
                f"{file_name(config.name)}.qrels",
                "".join(_qrels(result.fixture, names, scored.value["ok"]["questions"])),
            )
            made[f"{file_name(config.name)}.{file_name(method.name)}.run"] = "".join(
                _run(result.fixture, names, ranked.value["ok"]["rankings"])
            )
    made["README.txt"] = _readme(result)
    return made


def write(result: FixtureResult, folder: Path) -> int:
    """Write the files into a folder that is new or empty; how many."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise Problem(f"{folder} is there already and is not an empty folder: nothing was written")
    made = files(result)
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in made.items():
        (folder / name).write_text(text, encoding="utf-8", newline="\n")
    return len(made)


def _word(text: str) -> str:
    """A name without white space, as the columns of these files need it."""
    return re.sub(r"\s+", "_", text)


def _passage_names(fixture: Fixture, passages: list[dict[str, int]]) -> list[str]:
    return [f"{_word(fixture.documents[p['document']].id)}:{p['start']}-{p['end']}" for p in passages]


def _qrels(fixture: Fixture, names: list[str], judged: list[Json]) -> Iterator[str]:
    for question, judgement in zip(fixture.questions, judged, strict=True):
        for passage in judgement["relevant"]:
            yield f"{_word(question.id)} 0 {names[passage]} 1\n"
        if not judgement["relevant"]:
            yield f"{_word(question.id)} 0 {LOST}:{_word(question.id)} 1\n"


def _run(fixture: Fixture, names: list[str], rankings: list[Json]) -> Iterator[str]:
    for question, ranking in zip(fixture.questions, rankings, strict=True):
        for rank, entry in enumerate(ranking, 1):
            score = len(ranking) - rank + 1
            yield f"{_word(question.id)} Q0 {names[entry['passage']]} {rank} {score} {TAG}\n"


def _readme(result: FixtureResult) -> str:
    return (
        f"Runs and qrels of the fixture {result.fixture.name}, digest {result.digest()}.\n\n"
        "A passage is named DOCUMENT:START-END, in code points. The score column is made from the rank, since other tools\n"
        "order by score and break ties by name. A question whose answer no chunk holds has one relevant document that no run\n"
        "holds, so that it counts 0 in every mean. Measures: recall at 1, 3, 5, 10, 20; the reciprocal rank within the first\n"
        "10 (ir-measures: RR@10; with trec_eval's recip_rank cut the runs at rank 10); nDCG at 10 with gains of 1.\n"
    )
