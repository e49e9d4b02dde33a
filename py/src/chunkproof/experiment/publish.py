"""The result section of a document, generated from a summary between two markers, so that no figure is typed."""

from __future__ import annotations

import re
from pathlib import Path

from chunkproof.experiment import render
from chunkproof.experiment.summary import Summary
from chunkproof.problems import Problem

_MARK = "budget {name}"


def section(summary: Summary) -> str:
    """What stands between the markers."""
    data = summary["dataset"]
    name = f"{data['name']} {data['split']}".strip()
    lines = [
        f"Papers: {name}. Digest of the result: `{summary['digest']}`; of the protocol: "
        f"`{summary['protocol']['digest']}`; of the data: `{summary['data']}`. Engines: {', '.join(summary['engines'])}"
        f"{', which agree on every value' if summary['held'] else ', alone: nothing is proved'}.",
        "",
        *render.markdown(summary).splitlines()[2:],
    ]
    return "\n".join(lines) + "\n"


def name_of(summary: Summary) -> str:
    """The section of a summary: `final`, or `development`."""
    return "final" if summary["final"] else "development"


def write(path: Path, summary: Summary) -> None:
    """Put the section between its markers in the file. `Problem` where it doesn't have them, once and in order."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise Problem(f"{path} cannot be read: {error.strerror}") from error
    mark = _MARK.format(name=name_of(summary))
    begin, end = f"<!-- {mark}: begin, generated -->", f"<!-- {mark}: end -->"
    found = re.findall(f"{re.escape(begin)}.*?{re.escape(end)}", text, re.DOTALL)
    if len(found) != 1:
        raise Problem(f"{path} must have the lines {begin!r} and {end!r} once: the result is written between them")
    made = f"{begin}\n{section(summary)}{end}"
    path.write_text(text.replace(found[0], made), encoding="utf-8", newline="\n")
