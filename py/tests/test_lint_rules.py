"""What no linter knows: the engine rooms use only the arithmetic and the character classes that the spec names.

spec 03 allows + − × ÷ and sqrt in binary64, and exact integers; spec 04 pins what a letter or white space is. So the platform's
logarithm, a compensated sum, `strip()` or `\\s` must not appear, and neither may anything that makes a room impure.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOMS = (
    "numerics", "text", "pieces", "fixed", "recursive", "semantic", "vectors", "bm25", "fusion", "metrics", "budget", "bootstrap",
)  # fmt: skip
#: Rooms of the engine that have no chapter of their own: what a request may hold.
READERS = ("schema", "matrices")

# Python.

MATH = {"sqrt", "isqrt", "isfinite", "inf", "gcd"}
NUMPY = (
    "average convolve correlate cov cbrt dot einsum exp exp2 expm1 float_power hypot inner interp linalg log log10 log1p log2 "
    "logaddexp matmul mean median nanmean nansum outer percentile power quantile random round std sum tensordot trapezoid "
    "var vdot"
).split()
REDUCTIONS = {"sum", "mean", "prod", "dot", "std", "var", "cumsum", "cumprod", "round"}
RUNTIME_CLASSES = {
    "isspace", "isalpha", "isalnum", "isdigit", "isdecimal", "isnumeric", "isupper", "islower", "istitle", "isprintable",
    "upper", "lower", "casefold", "title", "capitalize", "swapcase", "splitlines",
}  # fmt: skip
WHITE_BY_DEFAULT = {"strip", "lstrip", "rstrip", "split", "rsplit"}
IMPURE_MODULES = {"datetime", "io", "logging", "os", "pathlib", "random", "socket", "subprocess", "sys", "time"}
IMPURE_CALLS = {"open", "print", "input", "exec", "eval"}

#: What is there all the same, and why that gives the same answer on every machine.
ALLOWED = {
    ("text", "_compose", "unicodedata"): "spec 04 rule 5: NFC of code points that every version knows",
    ("text", "nfc", "unicodedata"): "the same",
    ("pieces", "pieces", ".cumsum()"): "integers",
    ("pieces", "_matches", ".cumsum()"): "integers",
    ("pieces", "_totals", ".cumsum()"): "integers",
    ("pieces", "_totals", "sum()"): "lengths",
    ("semantic", "similarities", ".sum()"): "integers",
    ("vectors", "dense", ".sum()"): "integers",
    ("vectors", "dense", "@"): "integers",
    ("vectors", "int8", "round()"): "spec 09 rule 1 wants halves to even, which is what Python's round of a float is",
    ("vectors", "hamming_similarity", "sum()"): "counts",
    ("bm25", "scores", "sum()"): "lengths, which are integers",
    ("bm25", "terms", ".lower()"): "of ASCII alone",
    ("bm25", "_lower", ".lower()"): "of ASCII alone",
    ("bm25", "", ".split()"): "of our own list",
    ("metrics", "", ".split()"): "of our own list",
    ("matrices", "", "import pathlib"): "spec 01, Vectors: a request may name a file",
}


class _Finder(ast.NodeVisitor):
    """Collects what a module does that the rules forbid, as (the outermost function, what)."""

    def __init__(self) -> None:
        self.found: set[tuple[str, str]] = set()
        self.functions: list[str] = []

    def note(self, what: str) -> None:
        self.found.add((self.functions[0] if self.functions else "", what))

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self.functions.append(node.name)
        self.generic_visit(node)
        self.functions.pop()

    def visit_Import(self, node: ast.Import) -> None:
        for name in node.names:
            self._module(name.name)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        self._module(node.module or "")
        for name in node.names:
            if node.module == "math" and name.name not in MATH:
                self.note(f"math.{name.name}")
            if node.module == "numpy" and name.name in NUMPY:
                self.note(f"np.{name.name}")
            if node.module == "unicodedata":
                self.note("unicodedata")

    def _module(self, name: str) -> None:
        if name.split(".")[0] in IMPURE_MODULES:
            self.note(f"import {name}")

    def visit_Global(self, node: ast.Global) -> None:
        self.note("global")

    def visit_Attribute(self, node: ast.Attribute) -> None:
        owner = node.value.id if isinstance(node.value, ast.Name) else ""
        if owner == "math" and node.attr not in MATH:
            self.note(f"math.{node.attr}")
        if owner in ("np", "numpy") and node.attr in NUMPY:
            self.note(f"np.{node.attr}")
        if owner == "unicodedata":
            self.note("unicodedata")
        if node.attr in RUNTIME_CLASSES:
            self.note(f".{node.attr}()")
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        called = node.func
        if isinstance(called, ast.Name) and called.id in {"sum", "round", "pow", *IMPURE_CALLS}:
            self.note(f"{called.id}()")
        if isinstance(called, ast.Attribute):
            owner = called.value.id if isinstance(called.value, ast.Name) else ""
            if called.attr in REDUCTIONS and owner != "numerics":
                self.note(f".{called.attr}()")
            if called.attr in WHITE_BY_DEFAULT and not node.args:
                self.note(f".{called.attr}()")
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        self._operator(node.op, node.left)
        self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self._operator(node.op, node.target)
        self.generic_visit(node)

    def _operator(self, op: ast.operator, left: ast.expr) -> None:
        exact = isinstance(left, ast.Constant) and isinstance(left.value, int)
        exact |= isinstance(left, ast.Call) and isinstance(left.func, ast.Name) and left.func.id == "Fraction"
        if isinstance(op, ast.Pow) and not exact:
            self.note("**")
        if isinstance(op, ast.MatMult):
            self.note("@")

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, str) and (escape := re.search(r"(?<!\\)(?:\\\\)*(\\[swdbSWDB])", node.value)):
            self.note(f"regex {escape[1]}")

    def visit_Expr(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Constant):  # else a docstring
            self.generic_visit(node)


def python_faults(source: str) -> set[tuple[str, str]]:
    finder = _Finder()
    finder.visit(ast.parse(source))
    return finder.found


@pytest.fixture(scope="module")
def python_rooms(checkout: Path) -> dict[str, str]:
    folder = checkout / "py" / "src" / "chunkproof"
    return {room: (folder / f"{room}.py").read_text(encoding="utf-8") for room in (*ROOMS, *READERS)}


@pytest.mark.parametrize("room", [*ROOMS, *READERS])
def test_python_room_keeps_the_rules(python_rooms: dict[str, str], room: str) -> None:
    faults = {(room, *fault) for fault in python_faults(python_rooms[room])}
    assert faults - ALLOWED.keys() == set()


def test_every_exception_is_needed(python_rooms: dict[str, str]) -> None:
    faults = {(room, *fault) for room, source in python_rooms.items() for fault in python_faults(source)}
    assert ALLOWED.keys() - faults == set()


@pytest.mark.parametrize(
    ("source", "what"),
    [
        ("import math\nx = math.log(3)", "math.log"),
        ("x = other.mean()", ".mean()"),
        ("from math import fsum", "math.fsum"),
        ("x = sum(values)", "sum()"),
        ("x = round(v)", "round()"),
        ("x = pow(v, 2)", "pow()"),
        ("x = v ** 2", "**"),
        ("v **= 0.5", "**"),
        ("x = a @ b", "@"),
        ("x = np.mean(v)", "np.mean"),
        ("x = v.sum()", ".sum()"),
        ("x = text.strip()", ".strip()"),
        ("x = text.split()", ".split()"),
        ("x = text.splitlines()", ".splitlines()"),
        ("x = c.isspace()", ".isspace()"),
        ("x = all(map(str.isspace, text))", ".isspace()"),
        ("x = text.lower()", ".lower()"),
        ("x = re.compile(r'a\\s+')", "regex \\s"),
        ("x = re.compile(rf'{a}\\w')", "regex \\w"),
        ("import time", "import time"),
        ("x = open(p)", "open()"),
        ("def f():\n    global x", "global"),
        ("x = unicodedata.category(c)", "unicodedata"),
    ],
)
def test_python_rules_see(source: str, what: str) -> None:
    assert what in {found for _, found in python_faults(source)}


@pytest.mark.parametrize(
    "source", ["x = 10**3", "x = text.strip(' ')", "x = math.sqrt(v)", "'''a docstring with \\\\s'''", "x = r'\\\\s'"]
)
def test_python_rules_let_pass(source: str) -> None:
    assert python_faults(source) == set()


# TypeScript.

TS_FORBIDDEN = {
    "Math": r"\bMath\.(?!(?:sqrt|floor|ceil|trunc|min|max|abs|sign|imul|clz32)\b)\w+",
    "**": r"(?<!\d)(?<!\dn)\s?\*\*=?(?!\s?BigInt\()",
    "trim": r"\.trim(?:Start|End)?\(",
    "case": r"\.to(?:Locale)?(?:Lower|Upper)Case\(",
    "locale": r"\bIntl\b|\.toLocale\w*\(|\.localeCompare\(",
    "digits": r"\.to(?:Fixed|Precision|Exponential)\(",
    "regex class": r"\\[swdbSWDB]|\\p\{",
    "reduce": r"\.reduce(?:Right)?\(",
    "normalize": r"\.normalize\(",
    "impure": r"\b(?:Date|performance|process|console|require|globalThis)\b|\bfrom \"node:|\bimport\(",
}

TS_ALLOWED = {
    ("text", "normalize"): "spec 04 rule 5: NFC of code points that every version knows",
    ("bm25", "case"): "of ASCII alone",
    ("numerics", "**"): "a BigInt",
}


def without_comments(source: str) -> str:
    """TypeScript less its comments. Good enough for these rooms: none has `//` inside a string."""
    return re.sub(r"/\*.*?\*/|(?<!:)//[^\n]*", "", source, flags=re.DOTALL)


def typescript_faults(source: str) -> set[str]:
    code = without_comments(source)
    return {name for name, pattern in TS_FORBIDDEN.items() if re.search(pattern, code)}


@pytest.fixture(scope="module")
def typescript_rooms(checkout: Path) -> dict[str, str]:
    return {room: (checkout / "ts" / "src" / f"{room}.ts").read_text(encoding="utf-8") for room in ROOMS}


@pytest.mark.parametrize("room", ROOMS)
def test_typescript_room_keeps_the_rules(typescript_rooms: dict[str, str], room: str) -> None:
    faults = {(room, fault) for fault in typescript_faults(typescript_rooms[room])}
    assert faults - TS_ALLOWED.keys() == set()


@pytest.mark.parametrize(
    ("source", "what"),
    [
        ("const x = Math.log(3);", "Math"),
        ("const x = Math.round(v);", "Math"),
        ("const x = Math.hypot(a, b);", "Math"),
        ("const x = v ** 2;", "**"),
        ("const x = text.trim();", "trim"),
        ("const x = text.toLowerCase();", "case"),
        ("const x = a.localeCompare(b);", "locale"),
        ("const x = v.toFixed(3);", "digits"),
        ("const x = /a\\s+/u;", "regex class"),
        ("const x = /\\p{L}/u;", "regex class"),
        ("const x = v.reduce((a, b) => a + b);", "reduce"),
        ("const x = Date.now();", "impure"),
        ('import { readFileSync } from "node:fs";', "impure"),
    ],
)
def test_typescript_rules_see(source: str, what: str) -> None:
    assert what in typescript_faults(source)


@pytest.mark.parametrize(
    "source", ["const x = 10n ** BigInt(d);", "// Math.log", "/* text.trim() */", "const x = Math.sqrt(v);"]
)
def test_typescript_rules_let_pass(source: str) -> None:
    assert typescript_faults(source) == set()


# The house: a chapter, a module and a file of the same name, with the functions in the same order.


def in_order(wanted: list[str], found: list[str]) -> bool:
    """Whether the wanted names all occur, in this order; others may stand between them."""
    rest: Iterator[str] = iter(found)
    return all(name in rest for name in wanted)


@pytest.mark.parametrize("room", ROOMS)
def test_rooms_have_the_chapters_functions_in_its_order(
    checkout: Path, python_rooms: dict[str, str], typescript_rooms: dict[str, str], room: str
) -> None:
    (chapter,) = (checkout / "spec").glob(f"[0-9][0-9]-{room}.md")
    section = re.search(
        r"^## Functions\n+(.*?)(?=^## |\Z)", chapter.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
    )
    wanted = re.findall(r"`(\w+)`", section[1]) if section else []
    assert wanted or room == "numerics"  # whose operations the wire chapter lists
    python = re.findall(r"^def (\w+)", python_rooms[room], re.MULTILINE)
    assert in_order(wanted, python), f"{room}.py: {wanted} are not among {python} in this order"
    camel = [re.sub(r"_(\w)", lambda match: match[1].upper(), name) for name in wanted]
    typescript = re.findall(r"^export (?:async )?function\*? (\w+)", typescript_rooms[room], re.MULTILINE)
    assert in_order(camel, typescript), f"{room}.ts: {camel} are not among {typescript} in this order"


#: Neither engine nor harness: these make what is asked about, or measure the rooms themselves.
BESIDE = {"bench_worker", "checkvectors", "datasets", "embed", "minilm"}


def test_the_harness_imports_no_engine_room(checkout: Path) -> None:
    """It starts the Python engine as a process, exactly as it starts the other one."""
    folder = checkout / "py" / "src" / "chunkproof"
    engine = {*ROOMS, *READERS, "__init__", "engine", "errors", "records", "resources"}
    rooms = "|".join([*ROOMS, *READERS, "engine"])
    pattern = re.compile(
        rf"^\s*(?:from chunkproof\.(?:{rooms}) import|import chunkproof\.(?:{rooms})\b"
        rf"|from chunkproof import (?:\w+, )*(?:{rooms})\b)",
        re.MULTILINE,
    )
    strangers = [path for path in sorted(folder.glob("*.py")) if path.stem not in engine | BESIDE]
    assert strangers
    assert [path.name for path in strangers if pattern.search(path.read_text(encoding="utf-8"))] == []
