"""What the experiment counts: the figures of a question under a policy, of a policy's index, of a paper (spec 16).

Everything is an integer or an exact fraction `(h, n)` of integers with n ≥ 1. What is a double (a mean, an interval) or printed is
made by the engines from these.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Fraction = tuple[int, int]
"""h of n, n ≥ 1; not in lowest terms."""
MINIMUMS = ("1", "half", "all")
"""The other minimums of a hit, beside the protocol's: the keys of `QuestionFigures.any_at`."""


@dataclass(frozen=True)
class QuestionFigures:
    """How a question fared under one policy and one limit. Rates are 0 or 1."""

    any: int
    """Whether all text paragraphs of some annotator are hit; what maps to no paragraph is dropped."""
    strict: int
    """Whether all paragraphs of the union over annotators are hit."""
    any_missed: int
    """The same, with evidence that maps to no paragraph counted as never hit."""
    strict_missed: int
    any_share: Fraction
    """Paragraphs hit of the annotator of whom the greatest share is."""
    strict_share: Fraction
    """Paragraphs hit of the union."""
    any_tokens: Fraction
    """Evidence tokens in the context, of the annotator of whom the greatest share is."""
    strict_tokens: Fraction
    precision: Fraction
    """Tokens of the context that are evidence (of the union), of all its tokens, headings included; 0/1 where it is empty."""
    chunks: int
    tokens: int
    full: bool
    any_at: Mapping[str, int] = field(default_factory=dict)
    """`any` under each of MINIMUMS; empty for contexts of the same top-k."""

    def to_json(self) -> dict[str, Any]:
        """As JSON; `from_json` reads it."""
        return {name: _plain(getattr(self, name)) for name in self.__dataclass_fields__}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> QuestionFigures:
        """What `to_json` wrote."""
        values: dict[str, Any] = {key: tuple(each) if isinstance(each, list) else each for key, each in data.items()}
        return cls(**values)


@dataclass(frozen=True)
class IndexFigures:
    """The size of a policy's index of one paper. The reference `first` has none: all are 0."""

    chunks: int
    tokens: int
    """Of all chunks, overlaps and headings counted each time."""
    postings: int
    """Distinct terms, added over the chunks."""


@dataclass(frozen=True)
class QuestionResult:
    """A question that is scored, under every policy."""

    id: str
    at: Mapping[tuple[str, int], QuestionFigures]
    """By policy and budget in tokens."""
    top: Mapping[tuple[str, int], QuestionFigures] = field(default_factory=dict)
    """By policy and k: the k best chunks, whatever they cost. The reference `first` has no chunks to rank and isn't here."""


@dataclass(frozen=True)
class PaperFigures:
    """What a paper gave. `digest` is that of the list of all values that an engine replied about it."""

    id: str
    sha256: str
    digest: str
    pieces: int
    tokens: int
    index: Mapping[str, IndexFigures]
    questions: tuple[QuestionResult, ...]
    """Those that are scored, in the file's order; the excluded ones are not asked."""

    def to_json(self) -> dict[str, Any]:
        """As JSON; `from_json` reads it."""
        return {
            "id": self.id,
            "sha256": self.sha256,
            "digest": self.digest,
            "pieces": self.pieces,
            "tokens": self.tokens,
            "index": {name: [each.chunks, each.tokens, each.postings] for name, each in self.index.items()},
            "questions": [
                {"id": question.id, "at": _rows(question.at), "top": _rows(question.top)} for question in self.questions
            ],
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> PaperFigures:
        """What `to_json` wrote. Raises KeyError, TypeError or ValueError on anything else."""
        return cls(
            **{name: data[name] for name in ("id", "sha256", "digest", "pieces", "tokens")},
            index={name: IndexFigures(*sizes) for name, sizes in data["index"].items()},
            questions=tuple(
                QuestionResult(item["id"], _figures(item["at"]), _figures(item["top"])) for item in data["questions"]
            ),
        )


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return list(value)
    return dict(value) if isinstance(value, Mapping) else value


def _rows(figures: Mapping[tuple[str, int], QuestionFigures]) -> list[list[Any]]:
    return [[policy, limit, each.to_json()] for (policy, limit), each in figures.items()]


def _figures(rows: list[list[Any]]) -> dict[tuple[str, int], QuestionFigures]:
    return {(policy, limit): QuestionFigures.from_json(each) for policy, limit, each in rows}
