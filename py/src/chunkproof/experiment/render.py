"""A summary as text, Markdown, CSV and JSON. Every form shows the figures that the JSON has under `printed`."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table as RichTable

from chunkproof.experiment.summary import Summary

FORMATS = ("text", "md", "csv", "json")
NOTHING = "–"
COLUMNS = {
    "policy": "policy",
    "budget": "budget",
    "any": "any",
    "any_rate_interval": "95 %",
    "strict": "strict",
    "any_share": "any, share",
    "strict_share": "strict, share",
    "any_tokens": "any, tokens",
    "strict_tokens": "strict, tokens",
    "precision": "precision",
    "chunks": "chunks used",
    "tokens": "tokens used",
    "full": "full",
    "difference": "difference",
    "interval": "its 95 %",
    "holm": "Holm's p",
    "verdict": "verdict",
}
SENSITIVE = {
    "policy": "policy",
    "any_at_1": "1 point",
    "any": "min(100, length)",
    "any_at_half": "half",
    "any_at_all": "all of it",
    "any_missed": "any, unmatched never hit",
    "strict_missed": "strict, unmatched never hit",
}
WORDS = ("policy", "verdict", "cut", "slice", "ahead", "setting", "order", "holds")
"""Columns that are words."""
LIMITS = (
    "Evidence labels are incomplete: a paragraph that nobody marked may answer as well.",
    "Recall of evidence is not the quality of an answer.",
)


def render(summary: Summary, form: str) -> str:
    """The summary in one of FORMATS, ending in a line end."""
    return {"text": _text, "md": markdown, "csv": _csv, "json": _json}[form](summary)


def heading(summary: Summary) -> str:
    """What held, or that nothing was proved."""
    data, engines = summary["dataset"], " and ".join(summary["engines"])
    name = f"{data['name']} {data['split']}".strip()
    held = f"{engines} agree" if summary["held"] else f"NOT COVERED BY PARITY, computed by {engines} alone"
    final = "final run" if summary["final"] else "not a final run"
    protocol = summary["protocol"]
    return (
        f"{name}, {final}: {held}, digest {summary['digest']}, protocol {protocol['name']} {protocol['digest']}, "
        f"data {summary['data']}"
    )


def counts(summary: Summary) -> str:
    """Papers, questions, what was left out and how evidence was mapped, in words."""
    out, steps, labels = summary["excluded"], summary["evidence"], summary["labels"]
    excluded = ", ".join(f"{count:,} {name.replace('_', ' ')}" for name, count in out.items())
    mapped = ", ".join(f"{count:,} {name.replace('_', ' ')}" for name, count in steps.items())
    return (
        f"{summary['papers']:,} papers, {summary['questions']:,} questions, {summary['scored']:,} scored; "
        f"excluded: {excluded}. {labels['strings']:,} strings of evidence by step: {mapped}. Left out of a set that has text "
        f"beside them: {labels['float_beside_text']:,} of floats, {labels['section_name_beside_text']:,} section names, "
        f"{labels['unmatched_beside_text']:,} unmatched."
    )


Section = tuple[str, Sequence[str], Sequence[Sequence[str]]]
"""A title, headings, and rows of cells."""


def sections(summary: Summary) -> Iterator[Section]:
    """The tables in order."""
    rows = summary["rows"]
    for budget in dict.fromkeys(row["budget"] for row in rows):
        here = [row for row in rows if row["budget"] == budget]
        names = [name for name in COLUMNS if name != "budget"]
        yield (
            f"Budget {budget:,} tokens",
            [COLUMNS[name] for name in names],
            [[_cell(row, name) for name in names] for row in here],
        )
    decided = summary.get("decision", {}).get("budget")
    here = [row for row in rows if row["budget"] == decided]
    if here:
        yield (
            f"Any at {decided:,} tokens under other rules of a hit",
            list(SENSITIVE.values()),
            [[_cell(row, name) for name in SENSITIVE] for row in here],
        )
    sizes = summary["index"].items()
    yield (
        "Index size",
        ["policy", "chunks", "tokens", "postings"],
        [[name, *(f"{size[each]:,}" for each in ("chunks", "tokens", "postings"))] for name, size in sizes],
    )
    yield from _more(summary)


def _more(summary: Summary) -> Iterator[Section]:
    """Slices, the same top-k, robustness, cost."""
    found = summary.get("slices") or []
    if found:
        names = list(found[0]["printed"])
        body = [
            [each["cut"], each["name"].replace("_", "/" if "yes" in each["name"] else " "), f"{each['questions']:,}"]
            + [each["printed"][name] for name in names]
            + [", ".join(each["winners"]) if len(each["winners"]) < len(names) else "all alike"]
            for each in found
        ]
        yield (
            f"Slices, any at {summary['decision']['budget']:,} tokens",
            ["cut", "slice", "questions", *names, "ahead"],
            body,
        )
    top = (summary.get("top_k") or {}).get("rows") or []
    if top:
        ks = list(dict.fromkeys(row["k"] for row in top))
        by_policy: dict[str, list[str]] = {}
        for row in top:
            by_policy.setdefault(row["policy"], []).extend([row["printed"]["any"], row["printed"]["tokens"]])
        heads = [head for k in ks for head in (f"any, top-{k}", f"tokens, top-{k}")]
        yield "The same number of chunks", ["policy", *heads], [[name, *cells] for name, cells in by_policy.items()]
    if "robustness" in summary:
        yield _robustness(summary["robustness"])
    yield from _cost(summary["cost"])


def _robustness(found: Mapping[str, Any]) -> Section:
    """A row a setting: the rates, the differences from the baseline, and whether the order holds. What was not run says why."""
    names, measure = found["policies"], found["measure"]
    others = [name for name in names if name != found["baseline"]]
    body = []
    for row in found["rows"]:
        if "not_run" in row:
            blank = [NOTHING] * (1 + len(names) + len(others))
            body.append([row["setting"], *blank, f"not run: {row['not_run']}", NOTHING])
            continue
        printed, holds = row["printed"], "yes" if row["holds"] else "no"
        differences = [
            f"{printed['difference'][name]} ({' to '.join(printed['interval'][name])})" if row["papers"] else NOTHING
            for name in others
        ]
        rates = [printed[measure][name] for name in names]
        holds = NOTHING if row is found["rows"][0] else holds
        body.append([row["setting"], f"{row['questions']:,}", *rates, *differences, printed["order"], holds])
    heads = ["setting", "questions", *names, *(f"{name}, difference" for name in others), "order", "holds"]
    return f"Robustness, {measure} at {found['budget']:,} tokens", heads, body


def _cost(cost: Mapping[str, Any]) -> Iterator[Section]:
    """A row a policy, a column a recall: the tokens used at the least budget run that reaches it; then the same as a price."""
    targets = list(dict.fromkeys(row["recall"] for row in cost["rows"]))
    parts = {"tokens": "Tokens used for a recall (any), at the least budget run that reaches it"}
    if cost["price_per_million"] is not None:
        parts["price"] = (
            f"The same at {cost['price_per_million']} per million tokens, {cost['unit']}: a hypothetical price"
        )
    for name, title in parts.items():
        by_policy: dict[str, list[str]] = {}
        for row in cost["rows"]:
            by_policy.setdefault(row["policy"], []).append(row[name] or NOTHING)
        if targets:
            yield title, ["policy", *targets], [[policy, *cells] for policy, cells in by_policy.items()]


def remarks(summary: Summary) -> list[str]:
    """What is said in sentences: the decision, slices with another winner, the same top-k, robustness, notes and limits."""
    said = [summary["decision"]["sentence"]] if "decision" in summary else ["No question has evidence in the text."]
    said += [summary["sensitivity"]["sentence"]] if "sensitivity" in summary else []
    said += [each["paragraph"] for each in summary.get("slices") or [] if each["paragraph"]]
    said += (summary.get("top_k") or {}).get("sentences") or []
    said += [summary["robustness"]["sentence"]] if "robustness" in summary else []
    return [*said, *summary["notes"], *LIMITS]


def _cell(row: Mapping[str, Any], name: str) -> str:
    value = row["printed"].get(name, row.get(name))
    if value is None:
        return NOTHING
    if isinstance(value, list):
        return " to ".join(value)
    return f"{value:,}" if isinstance(value, int) else str(value)


def _json(summary: Summary) -> str:
    return json.dumps(summary, ensure_ascii=False, indent=1) + "\n"


def _text(summary: Summary) -> str:
    out = io.StringIO()
    console = Console(file=out, width=1000, no_color=True, highlight=False, markup=False, emoji=False)
    out.write(f"{heading(summary)}\n{counts(summary)}\n\n")
    for title, heads, rows in sections(summary):
        out.write(f"{title}\n")
        drawn = RichTable(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="")
        for head in heads:
            drawn.add_column(head, justify="left" if head in WORDS else "right", no_wrap=True)
        for row in rows:
            drawn.add_row(*row)
        console.print(drawn)
        out.write("\n")
    out.write("".join(f"{remark}\n" for remark in remarks(summary)))
    return "\n".join(line.rstrip() for line in out.getvalue().rstrip("\n").split("\n")) + "\n"


def markdown(summary: Summary) -> str:
    """As Markdown, the decision first."""
    first, *others = remarks(summary)
    lines = [f"<!-- {heading(summary)} -->", "", f"**{first}**", "", counts(summary), ""]
    for title, heads, rows in sections(summary):
        lines += [f"*{title}.*", "", f"| {' | '.join(heads)} |"]
        lines.append("| " + " | ".join("---" if head in WORDS else "---:" for head in heads) + " |")
        lines += [f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |" for row in rows]
        lines.append("")
    lines += [f"- {remark}" for remark in others]
    return "\n".join(lines) + "\n"


def _csv(summary: Summary) -> str:
    """One row a policy and budget, with the sizes of its index; the rest stands above as comments."""
    out = io.StringIO()
    for line in (heading(summary), counts(summary), *remarks(summary)):
        out.write(f"# {line}\n")
    writer = csv.writer(out, lineterminator="\n")
    figures = [name for name in (*COLUMNS, *SENSITIVE) if name != "policy"]
    figures = [
        *dict.fromkeys(figures),
        "p",
        "strict_rate_interval",
        "strict_difference",
        "strict_interval",
        "strict_holm",
    ]
    flat = [part for name in figures for part in _parts(name)]
    writer.writerow(["policy", *flat, "index_chunks", "index_tokens", "index_postings"])
    for row in summary["rows"]:
        cells = [part for name in figures for part in _values(row, name)]
        writer.writerow([row["policy"], *cells, *summary["index"][row["policy"]].values()])
    return out.getvalue()


def _parts(name: str) -> list[str]:
    return [f"{name}_low", f"{name}_high"] if name.endswith("interval") else [name]


def _values(row: Mapping[str, Any], name: str) -> list[str]:
    """What a row has in the columns of a figure, as machines read it: a minus is a hyphen, nothing is empty."""
    value = row["printed"].get(name, row.get(name))
    if name.endswith("interval"):
        value = value or ["", ""]
        return [text.replace("−", "-") for text in value]
    return ["" if value is None else str(value).replace("−", "-")]
