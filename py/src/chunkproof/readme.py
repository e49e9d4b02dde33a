"""Keep what README and the docs show in step with what the program prints.

A block in a Markdown file that begins with ``<!-- output of: COMMAND -->`` and ends with ``<!-- end -->`` holds what
COMMAND prints, as it is if the command prints Markdown, otherwise inside a code fence. ``python -m chunkproof.readme --check``
runs every command and fails where a block differs; ``--write`` puts the new output in.
"""

from __future__ import annotations

import argparse
import difflib
import re
import shlex
import subprocess
import sys
from pathlib import Path

_BLOCK = re.compile(
    r"(?P<head><!-- output of: (?P<command>[^\n]+?) -->\n)(?P<body>.*?)(?P<foot><!-- end -->)", re.DOTALL
)
_FENCE = "```"


def _output(command: str, root: Path) -> str:
    """What the documented command prints; it must begin with ``chunkproof`` and succeed."""
    words = shlex.split(command)
    if words[0] != "chunkproof":
        raise SystemExit(f"readme: `{command}` is not a chunkproof command")
    done = subprocess.run(
        [sys.executable, "-m", "chunkproof.cli", *words[1:]],
        cwd=root,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    if done.returncode != 0:
        raise SystemExit(f"readme: `{command}` ended with {done.returncode}:\n{done.stderr}")
    return done.stdout.rstrip("\n")


def _body(command: str, root: Path) -> str:
    """The block's text for the command: Markdown as it is, anything else fenced."""
    printed = _output(command, root)
    if "--format md" in command:
        return f"\n{printed}\n\n"
    return f"\n{_FENCE}text\n$ {command}\n{printed}\n{_FENCE}\n\n"


def refreshed(text: str, root: Path) -> str:
    """`text` with every block's body replaced by what its command prints now."""
    return _BLOCK.sub(lambda m: m["head"] + _body(m["command"], root) + m["foot"], text)


def main(argv: list[str] | None = None) -> int:
    """Check or rewrite the blocks of the given files (README.md and docs/*.md of the current folder by default)."""
    parser = argparse.ArgumentParser(prog="python -m chunkproof.readme", description=__doc__)
    mode = parser.add_mutually_exclusive_group(required=True)
    mode.add_argument("--check", action="store_true", help="fail where a block is out of step")
    mode.add_argument("--write", action="store_true", help="put the new output in")
    parser.add_argument("files", nargs="*", type=Path)
    options = parser.parse_args(argv)
    root = Path.cwd()
    files = options.files or [root / "README.md", *sorted((root / "docs").glob("*.md"))]
    stale = 0
    for file in files:
        old = file.read_text(encoding="utf-8")
        new = refreshed(old, root)
        if new == old:
            continue
        stale += 1
        if options.write:
            file.write_text(new, encoding="utf-8")
            print(f"readme: {file.name} rewritten")
        else:
            print(f"readme: {file.name} is out of step; run `python -m chunkproof.readme --write`")
            sys.stdout.writelines(
                difflib.unified_diff(
                    old.splitlines(keepends=True), new.splitlines(keepends=True), "written", "printed now"
                )
            )
    return 1 if stale and options.check else 0


if __name__ == "__main__":
    raise SystemExit(main())
