"""What an audit says: a table on a terminal, Markdown for a pull request, JSON for programs, JUnit XML for CI."""

from __future__ import annotations

import io
import json
import sys
from collections import Counter
from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from chunkproof.audit.model import DIFFERS, MISSING, REPRODUCED, Apart, Audit, Said, Verdict

FORMATS = ("text", "md", "json", "junit")
MARKS = {REPRODUCED: "✓", DIFFERS: "✗", MISSING: "–"}
_STYLES = {REPRODUCED: "green", DIFFERS: "bold red", MISSING: "yellow"}
_MANY = 1_000
"""Claims above which only those that are not plainly reproduced are listed."""
_NOTES = 20


def render(audits: Sequence[Audit], form: str, allow_missing: bool) -> str:
    """The audits in one of FORMATS, ending in a line end."""
    if form == "json":
        data = [as_data(each, allow_missing) for each in audits]
        return json.dumps(data[0] if len(data) == 1 else {"audits": data}, ensure_ascii=False, indent=1) + "\n"
    if form == "junit":
        from chunkproof.audit.junit import junit

        return junit(audits, allow_missing)
    one = _markdown if form == "md" else _text
    return "\n".join(one(each) for each in audits)


def show(audits: Sequence[Audit]) -> None:
    """The text form on standard output, in colour where that is a terminal."""
    console = Console(highlight=False, markup=False, emoji=False)
    for each in audits:
        if console.is_terminal:
            _draw(each, console)
        else:
            sys.stdout.write(_text(each) + "\n")


# -- what all forms say ------------------------------------------------------------------------------------------------


def summary(audit: Audit) -> str:
    """The last line: how many of each."""
    parts = [f"{audit.count(REPRODUCED):,} reproduced", f"{audit.count(DIFFERS):,} differs"]
    missing = audit.count(MISSING)
    if missing:
        reasons = Counter(each.reason for each in audit.verdicts if each.verdict == MISSING)
        reasons.update(each.reason for each in audit.sentences if each.verdict == MISSING)
        shown = "; ".join(f"{reason} ({count})" if len(reasons) > 1 else reason for reason, count in reasons.items())
        parts.append(f"{missing:,} can't be recomputed: {shown}")
    else:
        parts.append("0 missing")
    return " · ".join(parts)


def short(digest: str) -> str:
    """A digest as people compare it."""
    return f"{digest[:8]}…{digest[-2:]}"


def heading(audit: Audit) -> str:
    """Whose claims, over which data, computed by whom."""
    by = " and ".join(audit.engines)
    agree = (
        "both engines agree"
        if len(audit.engines) == 2
        else "all engines agree"
        if audit.engines[1:]
        else "ONE ENGINE ALONE"
    )
    return f"{audit.path}   fixture {audit.fixture}   {agree} ({by}), data {short(audit.data)}"


def other_data(audit: Audit) -> str:
    """What is wrong with the data, or nothing."""
    if not audit.other_data:
        return ""
    return f"the claims are pinned to other data: sha256:{audit.pinned}, but what is here is sha256:{audit.data}"


def why(verdict: Verdict) -> str:
    """What is said beside a verdict."""
    parts = []
    if verdict.verdict == MISSING:
        parts.append(f"can't be recomputed: {verdict.reason}")
    if verdict.verdict == DIFFERS:
        parts.append(f"explained by: {' or: '.join(verdict.causes)}" if verdict.causes else "no known cause fits")
    if verdict.tied is not None and verdict.tied.least != verdict.tied.greatest:
        parts.append(f"ties: {verdict.tied.least} … {verdict.tied.greatest} over all orders of equal scores")
    return "; ".join(parts)


def apart(each: Apart) -> str:
    """A comparison of two rows in a sentence."""
    low, high = (
        text.replace("-", "−") if text.startswith("-") else f"+{text}" if text.strip("0.") else text
        for text in each.interval
    )
    what = "best of table: " if each.best else ""
    if each.alike:
        return f"{each.metric}: {what}{each.better} and {each.worse} have the same figure ({low} … {high})"
    told = "told apart by" if each.told else "within what"
    end = "questions" if each.told else "questions can tell"
    return (
        f"{each.metric}: {what}{each.better} over {each.worse} by {each.difference}: {told} {each.questions} {end} "
        f"({low} … {high}, p {each.p})"
    )


def listed(audit: Audit) -> list[Verdict]:
    """The claims that are shown one by one."""
    if len(audit.verdicts) <= _MANY:
        return audit.verdicts
    return [each for each in audit.verdicts if each.verdict != REPRODUCED][:_MANY]


def notes(audit: Audit) -> list[str]:
    """The notes, not more than people read."""
    more = len(audit.notes) - _NOTES
    return audit.notes[:_NOTES] + ([f"and {more:,} notes more (--format json has all)"] if more > 0 else [])


# -- text --------------------------------------------------------------------------------------------------------------


def _text(audit: Audit) -> str:
    out = io.StringIO()
    _draw(audit, Console(file=out, width=400, no_color=True, highlight=False, markup=False, emoji=False))
    return "\n".join(line.rstrip() for line in out.getvalue().rstrip("\n").split("\n")) + "\n"


def _draw(audit: Audit, console: Console) -> None:
    console.print(Text(heading(audit), style="bold"), soft_wrap=True)
    if wrong := other_data(audit):
        console.print(Text(f"✗ {wrong}", style="bold red"), soft_wrap=True)
    console.print()
    if audit.verdicts:
        drawn = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), show_header=False)
        for ratio in (None, None, None, None, None, 1):
            drawn.add_column(no_wrap=ratio is None, overflow="fold", ratio=ratio)
        for each in listed(audit):
            drawn.add_row(
                f"  {each.claim.key.config}" + (f" · {each.claim.key.method}" if each.claim.key.method else ""),
                each.claim.metric,
                each.claim.figure.text,
                Text(MARKS[each.verdict], style=_STYLES[each.verdict]),
                each.digits,
                why(each),
            )
        console.print(drawn)
        left = len(audit.verdicts) - len(listed(audit))
        if left:
            console.print(f"  and {left:,} more, not listed one by one (--format json has all)")
        console.print()
    for said in audit.sentences:
        console.print(
            Text(f"  {MARKS[said.verdict]} ", style=_STYLES[said.verdict]) + Text(_sentence(said)), soft_wrap=True
        )
    if audit.sentences:
        console.print()
    for line in (*audit.winners, *map(apart, audit.apart)):
        console.print(Text(f"  {line}"), soft_wrap=True)
    if audit.winners or audit.apart:
        console.print()
    for note in notes(audit):
        console.print(Text(f"  · {note}"), soft_wrap=True)
    if audit.notes:
        console.print()
    console.print(Text(f"  {summary(audit)}", style="bold"), soft_wrap=True)


def _sentence(said: Said) -> str:
    claimed = f"{said.says} is {said.expression}" if said.says else said.expression
    end = f"can't be recomputed: {said.reason}" if said.verdict == MISSING else said.digits
    return f"“{said.quote}”: {claimed}: {end}"


# -- Markdown ----------------------------------------------------------------------------------------------------------


def _markdown(audit: Audit) -> str:
    lines = [f"### {audit.title or audit.path}", "", heading(audit).replace("   ", ", "), ""]
    if wrong := other_data(audit):
        lines += [f"**✗ {wrong}**", ""]
    if audit.verdicts:
        lines += ["| row | figure | claimed | | recomputed | |", "| --- | --- | ---: | --- | ---: | --- |"]
        for each in listed(audit):
            cells = (
                str(each.claim.key),
                each.claim.metric,
                each.claim.figure.text,
                MARKS[each.verdict],
                each.digits,
                why(each),
            )
            lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
        left = len(audit.verdicts) - len(listed(audit))
        lines += ["", f"and {left:,} more", ""] if left else [""]
    lines += [f"- {MARKS[said.verdict]} {_sentence(said)}" for said in audit.sentences]
    lines += [""] if audit.sentences else []
    lines += [f"- {line}" for line in (*audit.winners, *map(apart, audit.apart), *notes(audit))]
    lines += [""] if audit.winners or audit.apart or audit.notes else []
    return "\n".join([*lines, f"**{summary(audit)}**", ""])


# -- JSON --------------------------------------------------------------------------------------------------------------


def as_data(audit: Audit, allow_missing: bool) -> dict[str, Any]:
    """The audit as programs read it."""
    return {
        "reproduced": audit.count(REPRODUCED),
        "differs": audit.count(DIFFERS),
        "missing": audit.count(MISSING),
        "held": audit.held(allow_missing),
        "file": audit.path,
        "title": audit.title,
        "fixture": audit.fixture,
        "engines": list(audit.engines),
        "data": {"sha256": audit.data, "pinned": audit.pinned or None, "same": not audit.other_data},
        "claims": [_claim(each) for each in audit.verdicts],
        "sentences": [
            {
                "quote": each.quote,
                "claimed": each.says or None,
                "expression": each.expression,
                "verdict": each.verdict,
                "recomputed": each.recomputed or None,
                "digits": each.digits or None,
                "reason": each.reason or None,
            }
            for each in audit.sentences
        ],
        "winners": list(audit.winners),
        "differences": [
            {
                "metric": each.metric,
                "better": str(each.better),
                "worse": str(each.worse),
                "best_of_table": each.best,
                "difference": each.difference,
                "interval": list(each.interval),
                "p": each.p,
                "told_apart": each.told,
            }
            for each in audit.apart
        ],
        "notes": list(audit.notes),
    }


def _claim(each: Verdict) -> dict[str, Any]:
    claim = each.claim
    tied = each.tied
    return {
        "table": claim.table,
        "row": claim.row,
        "line": claim.line,
        "column": claim.column,
        "config": claim.key.config,
        "method": claim.key.method or None,
        "metric": claim.metric,
        "claimed": claim.figure.text,
        "verdict": each.verdict,
        "recomputed": each.recomputed or None,
        "digits": each.digits or None,
        "double": each.double or None,
        "reason": each.reason or None,
        "explained_by": list(each.causes),
        "ties": None if tied is None else {"least": tied.least, "greatest": tied.greatest, "within": tied.within},
    }
