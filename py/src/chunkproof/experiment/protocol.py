"""The protocol: everything that was fixed before a run, in one TOML file, and the digest that is on every output."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from chunkproof.problems import Problem
from chunkproof.replies import digest
from chunkproof.tomltable import TomlTable

SHIPPED = Path(__file__).with_name("protocol.toml")
CURVE_BUDGETS = (250, 500, 750, 1000, 1500, 2000, 3000, 4000)
"""Budgets in tokens of the curves, which are run on demand."""
KINDS = ("fixed", "paragraphs", "headed", "sentences", "first")
_LARGEST = 2**53 - 1
_FIELDS = ("name", "budgets", "top_k", "minimum", "baseline", "rank", "decision", "develop", "final", "policies")


@dataclass(frozen=True)
class Policy:
    """How a paper is cut. `size` and `overlap` are tokens of `fixed`; `neighbours` sentences on each side of `sentences`."""

    name: str
    kind: str
    size: int = 0
    overlap: int = 0
    neighbours: int = 0


@dataclass(frozen=True)
class Protocol:
    """A protocol as it stands in its file, or with other budgets, which make it another one."""

    table: dict[str, Any]
    policies: tuple[Policy, ...]
    budgets: tuple[int, ...]
    top_k: tuple[int, ...]
    minimum: int
    """Code points of a paragraph that the context has to show, or all of a shorter one."""

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of the canonical JSON of the table: comments and layout don't count."""
        return digest(self.table)

    @property
    def rank(self) -> dict[str, Any]:
        """The method of the `rank` request."""
        return dict(self.table["rank"])

    @property
    def baseline(self) -> str:
        """The policy that all others are compared with."""
        return str(self.table["baseline"])

    def with_budgets(self, budgets: Sequence[int]) -> Protocol:
        """The same protocol with other budgets; its digest is another unless they are the same."""
        checked = _whole(budgets, "--budgets")
        return replace(self, table={**self.table, "budgets": list(checked)}, budgets=checked)

    def without_top_k(self) -> Protocol:
        """The same protocol without the contexts of the same top-k, which curves have no use for."""
        return replace(self, table={**self.table, "top_k": []}, top_k=())

    def only(self, names: Sequence[str]) -> Protocol:
        """The same protocol with some of its policies, in its order."""
        if strange := [name for name in names if name not in {policy.name for policy in self.policies}]:
            known = ", ".join(policy.name for policy in self.policies)
            raise Problem(f"there is no policy {strange[0]!r}; the protocol has {known}")
        tables = [each for each in self.table["policies"] if each["name"] in names]
        kept = tuple(policy for policy in self.policies if policy.name in names)
        return replace(self, table={**self.table, "policies": tables}, policies=kept)


def load(path: Path = SHIPPED) -> Protocol:
    """The protocol of a TOML file; a fault in it is named by its place."""
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise Problem(f"{path} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise Problem(f"{path} is no TOML: {error}") from error
    checked = TomlTable(path, table)
    checked.only(*_FIELDS)
    policies = tuple(_policy(each) for each in checked.list_of("policies"))
    names = [policy.name for policy in policies]
    if len(set(names)) < len(names) or not names:
        raise checked.fault("policies", "must be one or more, each with a name of its own")
    if checked.text("baseline") not in names:
        raise checked.fault("baseline", f"must be one of {', '.join(names)}")
    for part in ("rank", "decision", "develop", "final"):
        checked.sub(part)
    (minimum,) = _whole([checked.integer("minimum")], f"{path}: minimum")
    budgets = _whole(table.get("budgets"), f"{path}: budgets")
    top_k = table.get("top_k", [])
    return Protocol(table, policies, budgets, _whole(top_k, f"{path}: top_k") if top_k else (), minimum)


def _policy(table: TomlTable) -> Policy:
    kind = table.one_of("kind", KINDS)
    fields = {"fixed": ("size", "overlap"), "sentences": ("neighbours",)}.get(kind, ())
    table.only("name", "kind", *fields)
    policy = Policy(table.text("name"), kind, **{name: table.integer(name) for name in fields})
    if kind == "fixed" and not 0 <= policy.overlap < policy.size:
        raise table.fault("overlap", f"must be from 0 to {policy.size - 1} for a size of {policy.size}")
    if policy.neighbours < 0:
        raise table.fault("neighbours", "must be at least 0")
    return policy


def _whole(values: Any, where: str) -> tuple[int, ...]:
    """Distinct whole numbers of at least 1, as they stand."""
    if not isinstance(values, (list, tuple)) or not values:
        raise Problem(f"{where} must be one or more whole numbers")
    for value in values:
        if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= _LARGEST:
            raise Problem(f"{where}: {value!r} must be a whole number from 1 to 2^53 - 1")
    if len(set(values)) < len(values):
        raise Problem(f"{where} must not name a number twice")
    return tuple(values)
