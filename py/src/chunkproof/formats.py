"""Which of a command's forms of output is wanted."""

from __future__ import annotations

from collections.abc import Sequence

from chunkproof.problems import Problem


def form_of(form: str, there: Sequence[str], *, as_json: bool) -> str:
    """The form that `--format` and `--json` ask for; Problem where it is none of those there are, or they differ."""
    if form not in there:
        raise Problem(f"there is no format {form!r}; there are: {', '.join(there)}")
    if as_json and form not in (there[0], "json"):
        raise Problem(f"--json and --format {form} ask for two formats: leave one out")
    return "json" if as_json else form
