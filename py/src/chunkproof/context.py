"""Where in the text a difference lies: forty characters on either side, with both engines' boundaries marked."""

from __future__ import annotations

from typing import Protocol

from chunkproof.compare import Difference, as_double, at_path, parse_path
from chunkproof.replies import Json

AROUND = 40
MARKS = ("│", "┃")
"""The boundary of the first engine and that of the one that differs from it."""
_NEAR = 80
_RANGES = ("pieces", "chunks", "paragraphs", "sentences")


class Witness(Protocol):
    """The engines once more, to explain a difference; None or False if no answer comes."""

    def ask(self, request: dict[str, Json]) -> Json:
        """The `ok` value of a reply."""

    def agree_alone(self, difference: Difference) -> bool:
        """Whether the engines agree on the case when nothing else is asked of them."""


def context(difference: Difference, witness: Witness) -> list[tuple[str, str]]:
    """Labelled lines that show the place: text with boundaries, the query of a ranking, the sentences of a similarity."""
    request = difference.outcome.request or {}
    path = parse_path(difference.path)
    text = request.get("text")
    if difference.stage in ("pieces", "segments", "chunks") and isinstance(text, str) and len(path) > 2:
        return _boundaries(difference, path, text)
    if difference.stage == "similarities" and isinstance(text, str) and len(path) == 3 and isinstance(path[2], int):
        return [("context", f"between sentences {path[2]} and {path[2] + 1}"), *_joint(request, text, path[2], witness)]
    if difference.stage == "threshold" and isinstance(text, str):
        return _threshold(request, text, witness)
    if difference.stage == "rankings" and len(path) > 2 and isinstance(path[2], int):
        return _ranking(difference, request, path)
    return []


def excerpt(text: str, one: int, other: int) -> str:
    """The text around two boundaries, forty characters before the first and after the last; control characters shown."""
    low, high = sorted((max(0, min(one, len(text))), max(0, min(other, len(text)))))
    before, between, after = text[max(0, low - AROUND) : low], text[low:high], text[high : high + AROUND]
    if len(between) > 2 * _NEAR:
        between = f"{between[:_NEAR]} … {between[-_NEAR:]}"
    first, last = MARKS if one <= other else (MARKS[1], MARKS[0])
    marked = _shown(before) + (f"{first}{_shown(between)}{last}" if low != high else first) + _shown(after)
    return ("…" if low > AROUND else "") + marked + ("…" if high + AROUND < len(text) else "")


def _shown(text: str) -> str:
    return "".join(character if character.isprintable() else _escape(character) for character in text)


def _escape(character: str) -> str:
    names = {"\n": "↵", "\r": "␍", "\t": "␉"}
    return names.get(character, f"<U+{ord(character):04X}>")


def _sides(difference: Difference) -> tuple[tuple[str, Json], tuple[str, Json]]:
    """The first engine and the first whose value is another one, with their whole values."""
    (first, value), *others = difference.whole.items()
    return (first, value), next(((name, other) for name, other in others if other != value), others[0])


def _boundaries(difference: Difference, path: tuple[str | int, ...], text: str) -> list[tuple[str, str]]:
    (first, one), (second, other) = _sides(difference)
    if path[1] not in _RANGES:
        return []
    key = path[3] if len(path) > 3 and path[3] in ("start", "end") else "end"
    here, there = (_edge(value, path[:3], str(key), len(text)) for value in (one, other))
    lines = [("context", excerpt(text, here, there))]
    if here != there:
        lines.append(("", f"{MARKS[0]} {first} {here}   {MARKS[1]} {second} {there}"))
    else:
        lines.append(("", f"{MARKS[0]} both {here}"))
    return lines


def _edge(value: Json, item: tuple[str | int, ...], key: str, length: int) -> int:
    edge = at_path(value, (*item, key))
    return edge if isinstance(edge, int) else length


def _joint(request: dict[str, Json], text: str, index: int, witness: Witness) -> list[tuple[str, str]]:
    chunker = request.get("chunker", {})
    fields = {"paragraphs": chunker["paragraphs"]} if "paragraphs" in chunker else {}
    ok = witness.ask({"op": "segments", "text": text, **fields})
    end = at_path(ok, ("sentences", index, "end"))
    return [("", excerpt(text, end, end))] if isinstance(end, int) else []


def _threshold(request: dict[str, Json], text: str, witness: Witness) -> list[tuple[str, str]]:
    similarities = at_path(witness.ask(request), ("similarities",))
    if not isinstance(similarities, list) or not similarities:
        return []
    percentile = int(request.get("chunker", {}).get("percentile", 25))
    count = len(similarities)
    rank = (count - 1) * percentile // 100
    wanted = sorted(similarities, key=lambda digits: as_double(digits) or 0.0)[rank]
    index = similarities.index(wanted)
    rule = (
        f"the {percentile}th percentile of {count} similarities, by nearest rank: "
        f"index ⌊{count - 1}·{percentile}/100⌋ = {rank} in ascending order"
    )
    return [
        ("rule", rule),
        ("context", f"that similarity is between sentences {index} and {index + 1}"),
        *_joint(request, text, index, witness),
    ]


def _ranking(difference: Difference, request: dict[str, Json], path: tuple[str | int, ...]) -> list[tuple[str, str]]:
    queries, passages = request.get("queries", []), request.get("passages", [])
    lines = [("query", _shown(str(at_path(queries, (path[2],))))[: 2 * AROUND])]
    if len(path) > 3 and isinstance(path[3], int):
        for name, value in _sides(difference):
            passage = at_path(value, (*path[:4], "passage"))
            shown = (
                _shown(str(passages[passage]).strip())[: 2 * AROUND]
                if type(passage) is int and passage < len(passages)
                else ""
            )
            lines.append(("", f"rank {path[3] + 1} of {name}: passage {passage}  {shown}…"))
    return lines
