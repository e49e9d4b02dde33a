"""A table of a TOML file whose fields are read with a check; each fault names the file, the table and the field."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chunkproof.problems import Problem

_MISSING: Any = object()


@dataclass(frozen=True)
class TomlTable:
    """A table and where it stands, for example `config 2 (fixed-256)`."""

    path: Path
    table: dict[str, Any]
    place: str = ""

    def fault(self, name: str, what: str) -> Problem:
        """A problem with a field of this table."""
        place = f"{self.place}: " if self.place else ""
        return Problem(f"{self.path}: {place}{name} {what}")

    def _get(self, name: str, kinds: type | tuple[type, ...], wanted: str, default: Any) -> Any:
        if name not in self.table:
            if default is _MISSING:
                raise self.fault(name, f"is missing; it must be {wanted}")
            return default
        value = self.table[name]
        if not isinstance(value, kinds) or (isinstance(value, bool) and kinds is int):
            raise self.fault(name, f"must be {wanted}, not {value!r}")
        return value

    def text(self, name: str, default: str = _MISSING) -> str:
        """A string."""
        return str(self._get(name, str, "a text", default))

    def integer(self, name: str, default: int = _MISSING) -> int:
        """An integer."""
        return int(self._get(name, int, "an integer", default))

    def flag(self, name: str, default: bool = _MISSING) -> bool:
        """True or false."""
        return bool(self._get(name, bool, "true or false", default))

    def one_of(self, name: str, choices: Sequence[str], default: str = _MISSING) -> str:
        """One of a few words."""
        value = self.text(name, default)
        if value not in choices:
            raise self.fault(name, f"must be one of {', '.join(choices)}, not {value!r}")
        return value

    def texts(self, name: str) -> list[str]:
        """A list of strings."""
        value = self._get(name, list, "a list of texts", _MISSING)
        if not all(isinstance(item, str) for item in value):
            raise self.fault(name, "must be a list of texts")
        return list(value)

    def sub(self, name: str) -> TomlTable:
        """A table within this one."""
        return TomlTable(self.path, self._get(name, dict, f"a table, [{name}]", _MISSING), name)

    def list_of(self, name: str) -> list[TomlTable]:
        """The tables of an array, `[[name]]`; none if there is none."""
        tables = self._get(name, list, f"a list of tables, [[{name}]]", [])
        recipes = []
        for number, table in enumerate(tables, 1):
            if not isinstance(table, dict):
                raise self.fault(name, f"must be a list of tables, [[{name}]]")
            called = table.get("name", table.get("id"))
            place = f"{name} {number}" + (f" ({called})" if isinstance(called, str) else "")
            recipes.append(TomlTable(self.path, table, place))
        return recipes

    def only(self, *names: str) -> None:
        """Refuse a field that is none of these."""
        if stranger := next((name for name in self.table if name not in names), None):
            raise self.fault(stranger, f"is not known here; known are {', '.join(names)}")
