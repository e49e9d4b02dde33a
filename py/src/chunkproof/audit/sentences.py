"""Claims in prose: each quote beside an expression over the tables' figures, recomputed and compared as it is written."""

from __future__ import annotations

import ast

from chunkproof.audit import cells
from chunkproof.audit.arithmetic import exact
from chunkproof.audit.evidence import Evidence
from chunkproof.audit.expressions import Evaluator, Unknown, Unreadable, keys, parse
from chunkproof.audit.header import Header, Sentence
from chunkproof.audit.model import DIFFERS, MISSING, REPRODUCED, Key, Said
from chunkproof.problems import Problem

MORE = 4
"""Decimals that a value is shown with beyond those of the claim."""


def keys_of(header: Header) -> list[Key]:
    """The rows that all sentences speak of. A sentence that cannot be read is refused here, before anything runs."""
    found: list[Key] = []
    for sentence in header.sentences:
        found += keys(_tree(header, sentence))
        if sentence.says:
            _figure(header, sentence)
    return found


def judge(header: Header, evidence: Evidence) -> list[Said]:
    """What came of each sentence."""
    evaluator = Evaluator(evidence)
    return [_judged(header, sentence, evidence, evaluator) for sentence in header.sentences]


def _tree(header: Header, sentence: Sentence) -> ast.expr:
    try:
        return parse(sentence.value or sentence.holds)
    except Unreadable as error:
        raise _fault(header, sentence, str(error)) from error


def _figure(header: Header, sentence: Sentence) -> cells.Figure:
    try:
        return cells.read(sentence.says)
    except cells.Unread as error:
        raise Problem(f"{header.path}: {sentence.place}: says {sentence.says!r}, which {error}") from error


def _fault(header: Header, sentence: Sentence, why: str) -> Problem:
    return Problem(f"{header.path}: {sentence.place}: the expression {sentence.value or sentence.holds!r} {why}")


def _judged(header: Header, sentence: Sentence, evidence: Evidence, evaluator: Evaluator) -> Said:
    expression = " ".join((sentence.value or sentence.holds).split())
    try:
        value = evaluator(_tree(header, sentence))
    except Unreadable as error:
        raise _fault(header, sentence, str(error)) from error
    except Unknown as error:
        return Said(sentence.quote, sentence.says, expression, MISSING, reason=str(error))
    if sentence.holds:
        if not isinstance(value, bool):
            raise _fault(header, sentence, "is a number, where `holds` takes a comparison")
        words = "holds" if value else "does not hold"
        return Said(sentence.quote, "", expression, REPRODUCED if value else DIFFERS, words, words)
    if isinstance(value, bool):
        raise _fault(header, sentence, "is a comparison, where `value` takes a number")
    figure = _figure(header, sentence)
    double = evidence.calculator.double(value)
    decimals = figure.decimals + (2 if figure.percent else 0)
    whole = value.denominator == 1 and exact(double) == value
    text, digits = evidence.calculator.printed([(double, decimals), (double, 0 if whole else decimals + MORE)])
    if figure.percent:
        text = cells.shifted(text, 2)
    verdict = REPRODUCED if text == figure.plain else DIFFERS
    return Said(sentence.quote, sentence.says, expression, verdict, text, digits)
