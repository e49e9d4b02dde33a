"""One audit from its claims file to its verdicts."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from chunkproof import fixtures
from chunkproof.audit import causes, causes_metrics, causes_print, causes_rank, claims, precision, sentences, ties
from chunkproof.audit.arithmetic import Calculator
from chunkproof.audit.cells import shifted
from chunkproof.audit.evidence import Evidence, collect, data_digest
from chunkproof.audit.header import Header
from chunkproof.audit.model import DIFFERS, MISSING, REPRODUCED, Audit, Claim, Key, Value, Verdict
from chunkproof.parity import Command
from chunkproof.pipeline import Progress
from chunkproof.problems import Problem

TIERS = (causes_print.tier, causes_metrics.tier, causes_rank.tier, causes_metrics.last_tier)
MORE = 4
"""Decimals that a value is shown with beyond those of the claim."""


def audit(
    header: Header,
    commands: Sequence[Command],
    timeout: float,
    *,
    with_ties: bool = True,
    progress: Progress | None = None,
) -> Audit:
    """Read the claims, recompute what they speak of, compare and explain."""
    found, notes = claims.gather(header)
    spoken = sentences.keys_of(header)
    compared = [Key(*row.split("/", 1)) for each in header.comparisons for row in each.rows]
    fixture = fixtures.load(header.fixture)
    if fixture.kind != "corpus":
        raise Problem(f"{fixture.name} is a fixture of {fixture.kind}: only a corpus has figures to compare with")
    wanted = [*(claim.key for claim in found if not claim.reason), *spoken, *compared]
    with Calculator(commands, fixture.folder, timeout) as calculator:
        evidence = collect(fixture, wanted, commands, calculator, timeout, progress)
        done = Audit(
            str(header.path),
            header.title,
            fixture.name,
            evidence.engines,
            data_digest(fixture),
            header.data,
            notes=notes,
        )
        done.notes += [note for note in evidence.result.notes if note not in notes]
        done.verdicts = judge(evidence, found)
        causes.explain(evidence, done.verdicts, TIERS)
        if with_ties:
            done.winners = _ties(evidence, done.verdicts)
        done.apart = precision.look(evidence, precision.wanted(evidence, found, header.comparisons), header.seed)
        done.sentences = sentences.judge(header, evidence)
    return done


def judge(evidence: Evidence, found: Sequence[Claim]) -> list[Verdict]:
    """Whether each claim is what the engines print with as many decimals."""
    values = [claim.reason or evidence.value(claim.key, claim.metric) for claim in found]
    asked = []
    for claim, value in zip(found, values, strict=True):
        if isinstance(value, Value):
            whole = claim.decimals == 0 and value.exact.denominator == 1
            asked += [(value.double, claim.decimals), (value.double, 0 if whole else claim.decimals + MORE)]
    texts = iter(evidence.calculator.printed(asked))
    verdicts = []
    for claim, value in zip(found, values, strict=True):
        if isinstance(value, str):
            verdicts.append(Verdict(claim, MISSING, reason=value))
            continue
        text, digits = next(texts), next(texts)
        if claim.percent:
            text, digits = shifted(text, 2), shifted(digits, 2)
        verdict = REPRODUCED if text == claim.figure.plain else DIFFERS
        verdicts.append(Verdict(claim, verdict, text, digits, value.double))
    return verdicts


def _ties(evidence: Evidence, verdicts: Sequence[Verdict]) -> list[str]:
    """Note the range of every figure that ties leave open; the columns whose winner is open."""
    by_key: dict[Key, list[Verdict]] = {}
    for verdict in verdicts:
        if verdict.double and verdict.claim.key in evidence.rows:
            by_key.setdefault(verdict.claim.key, []).append(verdict)
    ranges: dict[tuple[Key, str], ties.Range] = {}
    for key, those in by_key.items():
        row = evidence.rows[key]
        bounds = ties.bounds(evidence, row, ties.groups(evidence, row))
        for metric in dict.fromkeys(verdict.claim.metric for verdict in those):
            found = ties.range_of(evidence, bounds, metric)
            if found is not None:
                ranges[key, metric] = found
        for verdict in those:
            found = ranges.get((key, verdict.claim.metric))
            if found is not None and found.open:
                least, greatest = (causes.printed(evidence, verdict.claim, double) for double in found.doubles)
                verdict.tied = ties.tied((least, greatest), verdict.claim.figure.plain, found.exact)
    return _winners(evidence, verdicts, ranges)


def _winners(evidence: Evidence, verdicts: Sequence[Verdict], ranges: dict[tuple[Key, str], ties.Range]) -> list[str]:
    flagged = []
    columns = dict.fromkeys((each.claim.table, each.claim.metric) for each in verdicts)
    for table, metric in columns:
        keys = dict.fromkeys(
            each.claim.key for each in verdicts if each.claim.table == table and (each.claim.key, metric) in ranges
        )
        values: dict[Key, Fraction] = {}
        for key in keys:
            value = evidence.value(key, metric)
            if isinstance(value, Value):
                values[key] = value.exact
        sentence = ties.open_winners(table, metric, {key: ranges[key, metric] for key in keys}, values)
        flagged += [sentence] if sentence else []
    return flagged
