"""The engines as a calculator: everything that decides a verdict is asked of all of them, and they must agree."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from pathlib import Path
from types import TracebackType

from chunkproof.compare import as_double, first_difference, shown_path
from chunkproof.engines import Engine
from chunkproof.parity import Command
from chunkproof.problems import Problem
from chunkproof.replies import Json, canonical

_LARGEST = 2**53 - 1
_EACH = 20_000
"""Figures of one request."""


class Disagreement(Exception):
    """The engines do not agree, so there is no verdict; the message says on what."""


class Calculator:
    """The engines, started once and asked the same. Use as a context manager."""

    def __init__(self, commands: Sequence[Command], folder: Path, timeout: float) -> None:
        self._engines: list[Engine] = []
        self._printed: dict[tuple[str, int], str] = {}
        try:
            for command in commands:
                self._engines.append(Engine(command.words, folder, command.name, timeout))
        except BaseException:
            self._kill()
            raise
        self._pool = ThreadPoolExecutor(len(self._engines))

    def __enter__(self) -> Calculator:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._kill()
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _kill(self) -> None:
        for engine in self._engines:
            engine.kill()

    def ask(self, requests: Sequence[tuple[str, Json]]) -> list[Json]:
        """The `ok` values of requests (label and request), on which all engines agree."""
        if not requests:
            return []
        answers = [each.result() for each in [self._pool.submit(engine.ask, requests) for engine in self._engines]]
        for number, (label, _) in enumerate(requests):
            values = [replies[number].value for replies in answers]
            for engine, value in zip(self._engines[1:], values[1:], strict=True):
                if not _same(value, values[0]):
                    place = shown_path(first_difference(values[0], value))
                    raise Disagreement(f"{self._engines[0].name} and {engine.name} do not agree on {label}, at {place}")
            if answers[0][number].ok is None:
                raise Problem(f"the engines refuse {label}: {answers[0][number].code}, {answers[0][number].message}")
        return [reply.ok for reply in answers[0]]

    def one(self, label: str, request: Json) -> Json:
        """The `ok` value of one request."""
        return self.ask([(label, request)])[0]

    def ratios(self, values: Sequence[Fraction]) -> list[str]:
        """The doubles nearest to fractions (03 rule 4), in hexadecimal. Numerators and denominators are below 2^53."""
        pairs = [[value.numerator, value.denominator] for value in values]
        return self._many("ratios", {"op": "numbers", "kind": "ratio"}, "fractions", pairs, "values")

    def double(self, value: Fraction) -> str:
        """The double nearest to any fraction. What a request has no room for Python divides, which rounds alike."""
        if value >= 0 and max(value.numerator, value.denominator) <= _LARGEST:
            return self.ratios([value])[0]
        return struct.pack(">d", value.numerator / value.denominator).hex()

    def printed(self, wanted: Iterable[tuple[str, int]]) -> list[str]:
        """Doubles in hexadecimal printed with so many decimals each (03 rule 6)."""
        pairs = list(wanted)
        open_pairs = list(dict.fromkeys(pair for pair in pairs if pair not in self._printed))
        for decimals in sorted({each for _, each in open_pairs}):
            doubles = [double for double, each in open_pairs if each == decimals]
            request = {"op": "numbers", "kind": "print", "decimals": decimals}
            texts = self._many("printed figures", request, "values", doubles, "texts")
            self._printed.update({(double, decimals): text for double, text in zip(doubles, texts, strict=True)})
        return [self._printed[pair] for pair in pairs]

    def _many(self, label: str, request: Json, field: str, values: Sequence[Json], name: str) -> list[str]:
        asked = [
            (label, {**request, field: list(values[start : start + _EACH])}) for start in range(0, len(values), _EACH)
        ]
        return [text for ok in self.ask(asked) for text in ok[name]]


def _same(one: Json, other: Json) -> bool:
    """Whether two values have the same canonical bytes; where the standard library writes them alike, they have."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True) or canonical(one) == canonical(other)


def exact(double: str) -> Fraction:
    """The exact value of a double in hexadecimal."""
    value = as_double(double)
    assert value is not None
    return Fraction(value)
