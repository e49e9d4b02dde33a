"""What a terminal is shown while engines answer. Nothing where standard error is no terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from chunkproof.pipeline import Progress


@contextmanager
def counter(title: str) -> Iterator[Progress | None]:
    """A counter of replies; the function to call with how many came, or None."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress as Bar
    from rich.progress import SpinnerColumn, TextColumn, TimeElapsedColumn

    text = TextColumn("{task.description}  {task.completed:,.0f} replies")
    with Bar(SpinnerColumn(), text, TimeElapsedColumn(), console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title)
        yield lambda count: bar.advance(task, count)
