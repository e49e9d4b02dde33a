"""The exact value behind each printed figure of a table that was rounded, from the replies that the engines agreed on.

Recall and reciprocal rank are fractions (spec 12 rules 3 and 4), so their mean is one too, and nothing is rounded here. A mean
of nDCG is a double that the engines made (rule 6): it is shown as its 16 digits and in decimals, never computed.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from chunkproof.compare import as_double
from chunkproof.parity import FixtureResult
from chunkproof.pipeline import METRICS
from chunkproof.replies import Json

Exact = dict[str, dict[str, dict[str, str]]]
"""By `config` or `config/method`, by column: `{"fraction": "115/200"}`, or `{"hex": …, "decimal": …}` of a double."""


def of_result(result: FixtureResult) -> Exact:
    """The exact means of every config and of every case of the stage `metrics` that was answered."""
    tokens = mean_tokens(result).items()
    chunking = {config: {"mean_tokens": {"fraction": f"{total}/{count}"}} for config, (total, count) in tokens}
    return chunking | {
        item.case: {metric: _mean(metric, item.value["ok"]) for metric in METRICS}
        for item in result.runs[0].outcomes
        if item.stage == "metrics" and "ok" in item.value
    }


def mean_tokens(result: FixtureResult) -> dict[str, tuple[int, int]]:
    """Tokens and chunks of each config, whose quotient is its mean; chunks are at least 1, so that it is a quotient."""
    fixture = result.fixture
    config_of = {f"{config.name}/{each.id}": config.name for config in fixture.configs for each in fixture.documents}
    sums = {config.name: (0, 0) for config in fixture.configs}
    for item in result.runs[0].outcomes:
        if item.stage == "chunks" and "ok" in item.value and item.case in config_of:
            tokens, count = sums[config_of[item.case]]
            chunks = item.value["ok"]["chunks"]
            sums[config_of[item.case]] = tokens + sum(chunk["tokens"] for chunk in chunks), count + len(chunks)
    return {config: (tokens, max(1, count)) for config, (tokens, count) in sums.items()}


def _mean(metric: str, ok: Json) -> dict[str, str]:
    values = [_of_question(metric, each) for each in ok["questions"]]
    try:
        return {"fraction": mean_of(values)}
    except ValueError:  # no fractions, as with nDCG
        digits = ok["mean"][metric]
        double = as_double(digits)
        return {"hex": digits, "decimal": "" if double is None else repr(double)}


def _of_question(metric: str, question: Json) -> str:
    """What an engine said of one question: `1/2`, or the 16 digits of a double."""
    name, _, cutoff = metric.partition("@")
    return str(question["recall"][cutoff] if name == "recall" else question[metric])


def mean_of(fractions: Iterable[str]) -> str:
    """The mean of fractions: over their number where the sum is whole, since that reads as a count, else in lowest terms.

    ValueError where one of them is not written as a fraction.
    """
    values = list(fractions)
    if not all("/" in value for value in values):
        raise ValueError("not all of them are fractions")
    total = sum(map(Fraction, values), Fraction(0))
    if not values:
        return "0/1"
    if total.denominator == 1:
        return f"{total}/{len(values)}"
    mean = total / len(values)
    return f"{mean.numerator}/{mean.denominator}"
