"""What `parity` says of several fixtures together, in words for the exit status and as the JSON of `parity --json`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from chunkproof import table, verdict
from chunkproof.golden import Check
from chunkproof.parity import FixtureResult


@dataclass
class Tally:
    """Fixture by fixture, whether parity held and whether the golden files have it so.

    `own` says that the engines are those of this package: then golden files of its own fixtures have to be there.
    """

    own: bool = True
    held: bool = True
    golden: bool = True
    unchecked: list[str] = field(default_factory=list)
    """Fixtures without golden files, where that is no fault."""
    absent: list[str] = field(default_factory=list)
    """And where it is one."""

    @property
    def good(self) -> bool:
        """Whether all is as it should be."""
        return self.held and self.golden and not self.absent

    def needs_golden(self, result: FixtureResult) -> bool:
        """Whether this fixture without golden files is a fault."""
        return self.own and not result.fixture.by_path

    def add(self, result: FixtureResult, found: Check | None, *, asked: bool = False) -> None:
        """Count a fixture in; `asked` for requests of the user, which have no golden files."""
        self.held = self.held and result.held
        if result.held and not asked and (found is None or found.missing):
            (self.absent if self.needs_golden(result) else self.unchecked).append(result.fixture.name)
        elif found is not None:
            self.golden = self.golden and found.held

    def as_data(self, fixtures: Sequence[dict[str, Any]], notes: Sequence[str]) -> dict[str, Any]:
        """The whole outcome as `parity --json` prints it."""
        return {
            "held": self.held,
            "golden": self.golden and not self.absent,
            "golden_missing": self.absent + self.unchecked,
            "fixtures": list(fixtures),
            "notes": list(notes),
        }


def as_data(result: FixtureResult, found: Check | None) -> dict[str, Any]:
    """One fixture's part of `parity --json`: with its table, where two engines computed all of it."""
    data = verdict.as_data(result, found)
    if result.covers_table and result.select.everything:
        data["table"] = table.as_data(table.make(result))
    return data
