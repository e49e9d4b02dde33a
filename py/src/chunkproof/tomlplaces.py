"""In which line of a TOML file a table or a field stands: the standard reader tells values, not places.

Reads what people write: headers `[a]` and `[[a]]`, and `key = …` at the start of a line. What is written otherwise (an inline
table, a dotted key) is given the line of the nearest header above it.
"""

from __future__ import annotations

import re
from collections import Counter

_HEADER = re.compile(r"\s*\[(\[)?\s*([A-Za-z0-9_.\- ]+?)\s*\]\]?\s*(#.*)?$")
_KEY = re.compile(r"\s*([A-Za-z0-9_-]+)\s*=")
_LONG = re.compile(r'"""|\'\'\'')


class Places:
    """The lines of a TOML text. A table is known by its name and, in an array of tables, its number from 1 (else 0)."""

    def __init__(self, text: str) -> None:
        self._headers: dict[tuple[str, int], int] = {}
        self._keys: dict[tuple[str, int, str], int] = {}
        seen: Counter[str] = Counter()
        table, number, inside = "", 0, ""
        for line, content in enumerate(text.split("\n"), 1):
            opened = bool(inside)
            for mark in _LONG.findall(content.split("#")[0] if not inside else content):
                inside = "" if inside == mark else inside or mark
            if opened:
                continue
            if header := _HEADER.match(content):
                table, number = header[2].replace(" ", ""), 0
                if header[1]:
                    seen[table] += 1
                    number = seen[table]
                self._headers.setdefault((table, number), line)
            elif key := _KEY.match(content):
                self._keys.setdefault((table, number, key[1]), line)

    def header(self, table: str, number: int = 0) -> int:
        """The line of a table's header; of the first of its name if this one has none, and 1 if none has."""
        found = self._headers.get((table, number)) or self._headers.get((table, 1)) or self._keys.get(("", 0, table))
        return found or 1

    def exact(self, table: str, number: int, key: str) -> int | None:
        """The line in which a field of a table is set, or None."""
        return self._keys.get((table, number, key))

    def line(self, table: str, number: int, key: str) -> int:
        """The line of a field, else that of its table."""
        return self.exact(table, number, key) or (self.header(table, number) if table else 1)
