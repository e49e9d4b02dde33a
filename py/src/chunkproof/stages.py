"""The stages in the order in which they are compared, and the spec's place for each question."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase

from chunkproof.replies import Json

STAGES = (
    "wire",
    "numbers",
    "pieces",
    "segments",
    "similarities",
    "threshold",
    "chunks",
    "rankings",
    "metrics",
    "budget",
    "table",
)
"""The first one that differs is the cause. `wire` holds what is refused before an operation is known."""

STAGE_OF_OP = {
    "info": "wire",
    "numbers": "numbers",
    "terms": "numbers",
    "quantize": "numbers",
    "pieces": "pieces",
    "segments": "segments",
    "chunk": "chunks",
    "rank": "rankings",
    "evaluate": "metrics",
    "fill": "budget",
    "cover": "budget",
    "bootstrap": "budget",
}
OPERATIONS = tuple(STAGE_OF_OP)
"""Every operation of the spec (01 § Operations)."""
_RULES_OF_NUMBERS = {
    "ln": 3,
    "ratio": 4,
    "sum": 2,
    "mean": 5,
    "print": 6,
    "percentile": 7,
    "random": 8,
    "sample": 9,
}
_PLACES = {
    "terms": "10-bm25.md § Rule 1 to 3",
    "quantize": "09-vectors.md § Rule 1 to 3",
    "fill": "13-budget.md § Rule 1 to 5",
    "cover": "13-budget.md § Rule 6 and 7",
    "bootstrap": "14-bootstrap.md § Rule 1 to 4",
}
_CHAPTER_OF_METHOD = {"bm25": "10-bm25.md", "dense": "09-vectors.md", "rrf": "11-fusion.md", "weighted": "11-fusion.md"}


@dataclass(frozen=True)
class Select:
    """Which stages and cases are wanted; empty means all. A case may be a pattern with `*`."""

    cases: tuple[str, ...] = ()
    stages: tuple[str, ...] = ()

    @property
    def everything(self) -> bool:
        """Whether nothing is left out."""
        return not self.cases and not self.stages

    def wants(self, stage: str, case: str) -> bool:
        """Whether this outcome is to be compared."""
        if self.stages and stage not in self.stages:
            return False
        return not self.cases or any(case == wanted or fnmatchcase(case, wanted) for wanted in self.cases)

    def wants_any(self, stages: tuple[str, ...], case: str) -> bool:
        """Whether any of these stages of the case is wanted."""
        return any(self.wants(stage, case) for stage in stages)


ALL = Select()
"""Nothing left out."""


def stage_of(op: str) -> str:
    """The stage of an operation; what the spec does not know belongs to the wire."""
    return STAGE_OF_OP.get(op, "wire")


def chapter(stage: str, request: dict[str, Json] | None) -> str:
    """The spec's file and rule for a difference at a stage of a request."""
    if stage == "wire" or request is None:
        return "01-wire.md § The line protocol, Errors"
    place = _PLACES.get(str(request.get("op")))
    if place is not None:
        return place
    if stage == "numbers":
        kind = str(request.get("kind"))
        return (
            f"03-numerics.md § Rule {_RULES_OF_NUMBERS[kind]}"
            if kind in _RULES_OF_NUMBERS
            else "02-records.md § Rule 2"
        )
    if stage == "segments":
        rules = "9 and 13" if request.get("paragraphs") == "newline" else "10 and 14"
        return f"04-text.md § Rule {rules}"
    if stage in ("similarities", "threshold"):
        return f"08-semantic.md § Rule {2 if stage == 'similarities' else 3}"
    if stage == "chunks":
        kind = _kind(request, "chunker")
        names = {"fixed": "06-fixed.md", "recursive": "07-recursive.md", "semantic": "08-semantic.md"}
        return f"{names.get(kind, '01-wire.md')} § Rule"
    if stage == "rankings":
        return f"{_CHAPTER_OF_METHOD.get(_kind(request, 'method'), '11-fusion.md')} § Rule"
    if stage == "table":
        return "03-numerics.md § Rule 4 and 6"
    return {"pieces": "05-pieces.md § Rule", "metrics": "12-metrics.md § Rule"}.get(stage, "README.md")


def _kind(request: dict[str, Json], name: str) -> str:
    part = request.get(name)
    return str(part.get("kind")) if isinstance(part, dict) else ""
