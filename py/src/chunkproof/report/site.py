"""What the page shows: texts, cuts and figures of a run in which parity held, as its replies and the program's JSON have them.

Offsets are code points, half-open. Long lists of ranges are flat, since they are most of the site's size.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import Any

from chunkproof import __version__, cuts, tally
from chunkproof import table as tables
from chunkproof.fixtures import Fixture
from chunkproof.golden import Check
from chunkproof.parity import Command, FixtureResult
from chunkproof.problems import Problem
from chunkproof.replies import Json
from chunkproof.tally import Tally

_Replies = dict[tuple[str, str], Json]


def collect(
    result: FixtureResult,
    engines: Sequence[Command],
    found: Check | None,
    budget: Json = None,
    pictures: Sequence[dict[str, Any]] = (),
) -> dict[str, Any]:
    """The site of a fixture. `found` is what the golden files say of the same run.

    `budget` is the JSON of an experiment, `pictures` are of its questions.
    """
    fixture = result.fixture
    counted = Tally()
    counted.add(result, found)
    site: dict[str, Any] = {
        "fixture": fixture.name,
        "title": fixture.title,
        "version": __version__,
        "spec": str(result.runs[0].info.get("spec", "")),
        "documents": [{"id": each.id, "text": each.text} for each in fixture.documents],
        "questions": [
            {"id": each.id, "document": each.document, "text": each.text, "start": each.start, "end": each.end}
            for each in fixture.questions
        ],
        **_cut(result),
        "table": None,
        "cuts": None,
        "parity": counted.as_data([tally.as_data(result, found)], []),
        "repeat": {},
        "wording": {},
        "budget": budget,
        "budget_picture": pictures or None,
    }
    return site | (_figures(result, engines) if fixture.kind == "corpus" else {})


def _figures(result: FixtureResult, engines: Sequence[Command]) -> dict[str, Any]:
    """The JSON of `table` and of `table --cuts`, the sentences that they print, and the command behind each row."""
    made = tables.make(result)
    cut = tables.with_cuts(made, result, engines)
    return {
        "table": tables.as_data(made),
        "cuts": tables.as_data(cut),
        "repeat": _repeat(result.fixture, made),
        "wording": {"table": made.heading(), "cuts": cuts.summary(cut.cuts or ())},
    }


def _repeat(fixture: Fixture, made: tables.Table) -> dict[str, str]:
    """The command that recomputes a row: of chunking under the config, of retrieval under `config/method`."""
    command = ["chunkproof", "table", "--fixture", fixture.asked or fixture.name]
    chunking = {str(row["config"]): shlex.join(command) for row in made.chunking}
    return chunking | {
        f"{row['config']}/{row['method']}": shlex.join([*command, "--method", str(row["method"])]) for row in made.rows
    }


def _cut(result: FixtureResult) -> dict[str, Any]:
    """Pieces, sentences, chunks, and what the semantic chunker rested on, by document; lost questions by config."""
    fixture = result.fixture
    replies: _Replies = {
        (item.stage, item.case): item.value["ok"] for item in result.runs[0].outcomes if "ok" in item.value
    }
    ids = [document.id for document in fixture.documents]
    configs = [
        config for config in fixture.configs if all(("chunks", f"{config.name}/{name}") in replies for name in ids)
    ]
    semantic = [config.name for config in configs if config.kind == "semantic"]
    losses = {config.name: _lost(fixture, replies, config.name) for config in configs}
    return {
        "configs": [{"name": each.name, "kind": each.kind, "chunker": each.chunker} for each in configs],
        "pieces": [_pieces(name, replies["pieces", name]["pieces"]) for name in ids if ("pieces", name) in replies],
        "sentences": [
            _flat(replies["segments", name]["sentences"], "start", "end")
            for name in ids
            if ("segments", name) in replies
        ],
        "chunks": {
            config.name: [
                _flat(replies["chunks", f"{config.name}/{name}"]["chunks"], "start", "end", "tokens") for name in ids
            ]
            for config in configs
        },
        "similarities": {
            config: [replies.get(("similarities", f"{config}/{name}"), {}).get("similarities", []) for name in ids]
            for config in semantic
        },
        "thresholds": {
            config: [replies.get(("threshold", f"{config}/{name}"), {}).get("threshold") for name in ids]
            for config in semantic
        },
        "lost": {config: lost for config, lost in losses.items() if lost is not None},
    }


def _flat(ranges: Sequence[dict[str, int]], *keys: str) -> list[int]:
    return [each[key] for each in ranges for key in keys]


def _pieces(document: str, pieces: Sequence[dict[str, int]]) -> list[int]:
    """Ends and tokens alone: each piece starts where the one before ends (spec 05)."""
    ends = [0, *(piece["end"] for piece in pieces)]
    if [piece["start"] for piece in pieces] != ends[:-1]:
        raise Problem(f"the pieces of {document} leave gaps, so they cannot be shown: mend the engines first")
    return _flat(pieces, "end", "tokens")


def _lost(fixture: Fixture, replies: _Replies, config: str) -> list[int] | None:
    """The questions that the engines call lost (spec 12 rule 2), the same for every method; None if nothing was ranked."""
    found = (replies.get(("metrics", f"{config}/{method.name}")) for method in fixture.methods)
    return next((list(each["lost"]) for each in found if each is not None), None)
