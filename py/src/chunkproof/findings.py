"""What `fixture check` finds: faults and notes, each at a file and a line."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Fault:
    """Something that is wrong; `line` is 0 where a file has none."""

    file: Path
    line: int
    what: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.what}" if self.line else f"{self.file}: {self.what}"


@dataclass
class Findings:
    """What is wrong, what is worth saying, and what was mended; files are named as the folder was."""

    folder: Path
    faults: list[Fault] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    mended: list[Fault] = field(default_factory=list)
    summary: str = ""

    def add(self, file: str, line: int, what: str) -> None:
        """Note a fault of a file of the folder."""
        self.faults.append(Fault(self.folder / file, line, what))


def line_of(data: bytes, position: int) -> int:
    """The number of the line that a byte stands in."""
    return data.count(b"\n", 0, position) + 1


def undecodable(data: bytes, error: UnicodeDecodeError) -> tuple[int, str]:
    """The line and the sentence for bytes that are not UTF-8."""
    line = line_of(data, error.start)
    return line, f"it is not UTF-8: byte {error.start:,} is {data[error.start]:#04x}; save the file as UTF-8"
