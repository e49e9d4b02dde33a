"""Expressions of sentences: figures of a table, numbers, + − × ÷ and comparisons, in exact arithmetic. Nothing else is evaluated.

Python's own parser reads them; every node that is not listed here is refused, so an expression can do nothing but count.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from fractions import Fraction

from chunkproof.audit.evidence import Evidence
from chunkproof.audit.header import CHUNKING, is_metric
from chunkproof.audit.model import Key

LONGEST = 2_000
"""Characters."""
_LARGEST = 10**60
Number = Fraction | bool
_OPERATORS: dict[type, Callable[[Fraction, Fraction], Fraction]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}
_COMPARISONS: dict[type, Callable[[Fraction, Fraction], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_FUNCTIONS = ("cell", "answers_in", "greatest", "abs", "min", "max")


class Unreadable(ValueError):
    """An expression that cannot be read; the message says where and why."""


class Unknown(ValueError):
    """An expression that speaks of something that cannot be recomputed; the message says why."""


def parse(text: str) -> ast.expr:
    """The tree of an expression."""
    text = " ".join(text.split())
    if len(text) > LONGEST:
        raise Unreadable(f"is longer than {LONGEST} characters")
    try:
        tree = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise Unreadable(f"cannot be read: {error}") from error
    return tree


def keys(tree: ast.expr) -> list[Key]:
    """The rows that an expression speaks of, for the run that it needs."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            words = [word.value for word in node.args if isinstance(word, ast.Constant) and isinstance(word.value, str)]
            if node.func.id == "cell" and words and words[0] in ("chunking", "retrieval"):
                words = words[1:]
            if words:
                ranked = len(words) > 1 and not is_metric(words[1]) and node.func.id != "answers_in"
                found.append(Key(words[0], words[1] if ranked else ""))
    return found


def cells_in(tree: ast.expr) -> int:
    """How many figures of the table stand in an expression."""
    return sum(isinstance(node, ast.Call) and isinstance(node.func, ast.Name) for node in ast.walk(tree))


class Evaluator:
    """Evaluates expressions over what is known of a fixture."""

    def __init__(self, evidence: Evidence) -> None:
        self._evidence = evidence

    def __call__(self, node: ast.expr) -> Number:
        """The value of a tree."""
        value = self._of(node)
        if not isinstance(value, bool) and max(abs(value.numerator), value.denominator) > _LARGEST**4:
            raise Unreadable("makes a number that is too long")
        return value

    def _of(self, node: ast.expr) -> Number:
        if isinstance(node, ast.Constant):
            return self._constant(node)
        if isinstance(node, ast.Name):
            return self._name(node)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd | ast.Not):
            inner = self(node.operand)
            if isinstance(node.op, ast.Not):
                return not self._truth(node.operand, inner)
            return -self._number(node.operand, inner) if isinstance(node.op, ast.USub) else inner
        if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
            left, right = (self._number(part, self(part)) for part in (node.left, node.right))
            if isinstance(node.op, ast.Div) and right == 0:
                raise Unreadable(f"divides by zero at {ast.unparse(node.right)!r}")
            return _OPERATORS[type(node.op)](left, right)
        if isinstance(node, ast.Compare):
            return self._compare(node)
        if isinstance(node, ast.BoolOp):
            truths = [self._truth(part, self(part)) for part in node.values]
            return all(truths) if isinstance(node.op, ast.And) else any(truths)
        if isinstance(node, ast.Call):
            return self._call(node)
        raise Unreadable(f"may hold figures, numbers, + - * / and comparisons, not {ast.unparse(node)!r}")

    def _constant(self, node: ast.Constant) -> Number:
        if isinstance(node.value, bool):
            return node.value
        if isinstance(node.value, int | float) and abs(node.value) < _LARGEST:
            return Fraction(str(node.value))
        raise Unreadable(f"may hold numbers, not {ast.unparse(node)}")

    def _name(self, node: ast.Name) -> Number:
        if node.id == "questions":
            return Fraction(len(self._evidence.fixture.questions))
        if node.id == "documents":
            return Fraction(len(self._evidence.fixture.documents))
        raise Unreadable(f"knows no {node.id!r}; there are questions, documents and {', '.join(_FUNCTIONS)}")

    def _compare(self, node: ast.Compare) -> bool:
        parts = [self._number(part, self(part)) for part in (node.left, *node.comparators)]
        for kind, left, right in zip(node.ops, parts, parts[1:], strict=False):
            if type(kind) not in _COMPARISONS:
                raise Unreadable(f"cannot compare in this way: {ast.unparse(node)!r}")
            if not _COMPARISONS[type(kind)](left, right):
                return False
        return True

    @staticmethod
    def _number(node: ast.expr, value: Number) -> Fraction:
        if isinstance(value, bool):
            raise Unreadable(f"takes the comparison {ast.unparse(node)!r} for a number")
        return value

    @staticmethod
    def _truth(node: ast.expr, value: Number) -> bool:
        if not isinstance(value, bool):
            raise Unreadable(f"takes the number {ast.unparse(node)!r} for a comparison")
        return value

    def _call(self, node: ast.Call) -> Fraction:
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if name not in _FUNCTIONS or node.keywords:
            raise Unreadable(
                f"knows no {ast.unparse(node.func)!r}; there are questions, documents and {', '.join(_FUNCTIONS)}"
            )
        if name in ("abs", "min", "max"):
            values = [self._number(part, self(part)) for part in node.args]
            if not values or (name == "abs" and len(values) != 1):
                raise Unreadable(f"gives {name} {len(values)} numbers")
            return abs(values[0]) if name == "abs" else min(values) if name == "min" else max(values)
        words: list[str] = []
        numbers: list[Fraction] = []
        for part in node.args:
            if isinstance(part, ast.Constant) and isinstance(part.value, str):
                words.append(part.value)
            else:
                numbers.append(self._number(part, self(part)))
        return {"cell": self._cell, "answers_in": self._answers_in, "greatest": self._greatest}[name](words, numbers)

    def _cell(self, words: list[str], numbers: list[Fraction]) -> Fraction:
        """`cell("chunking", config, figure)` or `cell("retrieval", config, method, figure)`."""
        shapes = {"chunking": 3, "retrieval": 4}
        if not words or numbers or len(words) != shapes.get(words[0]) or not is_metric(words[-1]):
            raise Unreadable('takes cell("chunking", config, figure) and cell("retrieval", config, method, figure)')
        if (words[-1] in CHUNKING) != (words[0] == "chunking"):
            raise Unreadable(f"{words[-1]!r} is no figure of the {words[0]} table")
        found = self._evidence.value(Key(words[1], words[2] if len(words) == 4 else ""), words[-1])
        if isinstance(found, str):
            raise Unknown(found)
        return found.exact

    def _answers_in(self, words: list[str], numbers: list[Fraction]) -> Fraction:
        """`answers_in(config, n)`: of how many questions the answer sits whole in exactly n chunks."""
        if len(words) != 1 or len(numbers) != 1:
            raise Unreadable("takes answers_in(config, how many chunks)")
        row = next((row for row in self._evidence.rows.values() if row.config.name == words[0]), None)
        if row is None:
            raise Unknown(f"{self._evidence.fixture.name} has no config {words[0]!r}")
        return Fraction(sum(len(relevant) == numbers[0] for relevant in row.relevant))

    def _greatest(self, words: list[str], numbers: list[Fraction]) -> Fraction:
        """`greatest(config, method, figure, n)`: the greatest figure of a question whose answer sits in exactly n chunks."""
        if len(words) != 3 or len(numbers) != 1 or not is_metric(words[2]):
            raise Unreadable("takes greatest(config, method, figure, how many chunks)")
        key = Key(words[0], words[1])
        found = self._evidence.value(key, words[2])
        if isinstance(found, str):
            raise Unknown(found)
        row = self._evidence.rows[key]
        if words[2] not in row.metrics["mean"]:
            raise Unreadable(f"has no {words[2]!r} of each question")
        figures = self._evidence.figures(row.metrics, words[2])
        those = [figure for figure, relevant in zip(figures, row.relevant, strict=True) if len(relevant) == numbers[0]]
        if not those:
            raise Unknown(f"no question has its answer in {numbers[0]} chunks of {words[0]}")
        return max(those)
