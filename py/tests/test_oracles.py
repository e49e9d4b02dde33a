"""Oracles that others wrote: where their definition is this spec's, their figures are ours; where not, the test says so."""

from __future__ import annotations

import json
import math
import random
import shutil
import struct
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

Ask = Callable[..., list[dict[str, Any]]]

VOCABULARY = (
    "owl fox hen mouse bread yeast cake sugar moon river stone bridge lamp ferry letter crow barley mill".split()
)


def number(digits: str) -> float:
    return float(struct.unpack(">d", bytes.fromhex(digits))[0])


def digits(value: float) -> str:
    return struct.pack(">d", value).hex()


def collection(seed: int) -> tuple[list[str], list[str]]:
    """Passages of different lengths and queries that use some of their words more than once."""
    source = random.Random(seed)
    passages = [" ".join(source.choices(VOCABULARY, k=source.randint(1, 30))) for _ in range(source.randint(2, 40))]
    return passages, [" ".join(source.choices(VOCABULARY, k=source.randint(1, 6))) for _ in range(10)]


def scores(ask: Ask, engine: list[str], passages: list[str], queries: list[str], **settings: float) -> np.ndarray:
    """The score of each passage (columns) for each query (rows), by passage index."""
    method = {"kind": "bm25", **settings}
    request = {"op": "rank", "passages": passages, "queries": queries, "method": method, "depth": len(passages)}
    [reply] = ask(engine, request)
    found = np.zeros((len(queries), len(passages)))
    for row, ranking in enumerate(reply["ok"]["rankings"]):
        for entry in ranking:
            found[row, entry["passage"]] = number(entry["score"])
    return found


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("k1", "b"), [(1.2, 0.75), (0.5, 0.0), (2.0, 1.0)])
def test_bm25_scores_are_those_of_bm25s(ask: Ask, engine: list[str], seed: int, k1: float, b: float) -> None:
    """bm25s's `lucene` has the same idf, and leaves out the factor k1 + 1, as Lucene has since version 8. It counts in float32."""
    import bm25s

    passages, queries = collection(seed)
    terms = [reply["ok"]["terms"] for reply in ask(engine, *({"op": "terms", "text": p} for p in passages))]
    theirs = bm25s.BM25(method="lucene", k1=k1, b=b)
    theirs.index(terms, show_progress=False)
    ours = scores(ask, engine, passages, queries, k1=k1, b=b)
    for row, query in enumerate(queries):
        distinct = list(dict.fromkeys(query.split()))
        known = [term for term in distinct if any(term in passage for passage in terms)]
        want = theirs.get_scores(known) * (k1 + 1) if known else np.zeros(len(passages))
        np.testing.assert_allclose(ours[row], want, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_bm25_scores_are_those_of_rank_bm25_with_this_idf(ask: Ask, engine: list[str], seed: int) -> None:
    """rank-bm25's Okapi has the same term weight; its idf goes below 0 and is then floored, so ours is put in its place."""
    from rank_bm25 import BM25Okapi

    passages, queries = collection(seed)
    theirs = BM25Okapi([p.split() for p in passages], k1=1.2, b=0.75)
    count = len(passages)
    df = {term: sum(term in p.split() for p in passages) for term in theirs.idf}
    theirs.idf = {term: math.log(1 + (count - n + 0.5) / (n + 0.5)) for term, n in df.items()}
    ours = scores(ask, engine, passages, queries)
    for row, query in enumerate(queries):
        np.testing.assert_allclose(ours[row], theirs.get_scores(list(dict.fromkeys(query.split()))), rtol=1e-12)


def test_a_word_asked_twice_counts_once_here_and_twice_there(ask: Ask, engine: list[str]) -> None:
    from rank_bm25 import BM25Okapi

    passages = ["owl fox", "hen", "mouse mouse"]
    theirs = BM25Okapi([p.split() for p in passages], k1=1.2, b=0.75)
    once, twice = scores(ask, engine, passages, ["owl", "owl owl"])
    assert (once == twice).all()
    assert (theirs.get_scores(["owl", "owl"]) == 2 * theirs.get_scores(["owl"])).all()


@pytest.mark.parametrize("seed", range(4))
def test_percentile_is_numpys_lower(ask: Ask, engine: list[str], seed: int) -> None:
    """`method="lower"` takes the value at ⌊(n − 1)·p/100⌋ too, but from p/100 as a double: where the product should be whole it
    can be one index lower, and there numpy is not asked."""
    source = random.Random(seed)
    values = [source.uniform(-1, 1) for _ in range(source.randint(1, 400))]
    asked = [p for p in range(101) if (len(values) - 1) * p % 100 or p in (0, 100)]
    travelling = [digits(v) for v in values]
    replies = ask(
        engine, *({"op": "numbers", "kind": "percentile", "values": travelling, "percentile": p} for p in asked)
    )
    ours = [number(reply["ok"]["value"]) for reply in replies]
    assert ours == [float(np.percentile(values, p, method="lower")) for p in asked]


def test_the_threshold_is_no_interpolated_percentile(ask: Ask, engine: list[str]) -> None:
    request = {"op": "numbers", "kind": "percentile", "values": [digits(0.0), digits(1.0)], "percentile": 25}
    [reply] = ask(engine, request)
    assert number(reply["ok"]["value"]) == 0.0
    assert np.percentile([0.0, 1.0], 25) == 0.25


def judged(seed: int) -> dict[str, Any]:
    """An `evaluate` request with random passages, answers and rankings, some of them short, some answers lost."""
    source = random.Random(seed)

    def span(longest: int) -> dict[str, int]:
        start = source.randrange(60)
        return {"document": source.randrange(3), "start": start, "end": start + source.randint(1, longest)}

    passages = [span(40) for _ in range(60)]
    answers = [span(4) for _ in range(30)]
    rankings = [source.sample(range(60), source.choice([60, 20, 7])) for _ in answers]
    return {"op": "evaluate", "passages": passages, "answers": answers, "rankings": rankings}


def held(request: dict[str, Any], answer: dict[str, int]) -> list[int]:
    return [
        i
        for i, p in enumerate(request["passages"])
        if p["document"] == answer["document"] and p["start"] <= answer["start"] and answer["end"] <= p["end"]
    ]


@pytest.mark.parametrize("seed", range(3))
def test_metrics_are_those_of_trec_eval(ask: Ask, engine: list[str], seed: int) -> None:
    """pytrec_eval takes scores, not ranks: they are made from the ranks, all different, so its order of ties cannot show."""
    import pytrec_eval

    request = judged(seed)
    [reply] = ask(engine, request)
    qrels, run = {}, {}
    for i, (answer, ranking) in enumerate(zip(request["answers"], request["rankings"], strict=True)):
        qrels[str(i)] = {str(p): 1 for p in held(request, answer)}
        run[str(i)] = {str(p): float(len(ranking) - rank) for rank, p in enumerate(ranking)}
    kept = {i: judgements for i, judgements in qrels.items() if judgements}  # it knows no lost question
    measures = {"recall.1,3,5,10,20", "recip_rank", "ndcg_cut.10"}
    theirs = pytrec_eval.RelevanceEvaluator(kept, measures).evaluate({i: run[i] for i in kept})
    ok = reply["ok"]
    assert ok["lost"] == [i for i in range(len(qrels)) if str(i) not in kept]
    assert ok["lost"]
    for i, question in enumerate(ok["questions"]):
        want = theirs.get(str(i), {})
        for k, share in question["recall"].items():
            numerator, denominator = map(int, share.split("/"))
            assert numerator / denominator == pytest.approx(want.get(f"recall_{k}", 0.0), abs=1e-12)
        numerator, denominator = map(int, question["mrr@10"].split("/"))
        whole = want.get("recip_rank", 0.0)  # not cut at 10 there
        assert numerator / denominator == pytest.approx(whole if whole >= 0.1 else 0.0, abs=1e-12)
        assert number(question["ndcg@10"]) == pytest.approx(want.get("ndcg_cut_10", 0.0), abs=1e-12)
    for name, key in [("recall@5", "recall_5"), ("ndcg@10", "ndcg_cut_10")]:
        mean = sum(q[key] for q in theirs.values()) / len(qrels)  # lost questions count 0 here
        assert number(ok["mean"][name]) == pytest.approx(mean, abs=1e-12)


@pytest.mark.parametrize("seed", range(2))
def test_means_are_those_of_ir_measures(ask: Ask, engine: list[str], seed: int) -> None:
    import ir_measures
    from ir_measures import RR, R, nDCG

    request = judged(seed + 10)
    [reply] = ask(engine, request)
    lost = reply["ok"]["lost"]
    answers, rankings = request["answers"], request["rankings"]
    qrels = [ir_measures.Qrel(str(i), str(p), 1) for i, a in enumerate(answers) for p in held(request, a)]
    run = [
        ir_measures.ScoredDoc(str(i), str(p), float(-rank))
        for i, ranking in enumerate(rankings)
        if i not in lost
        for rank, p in enumerate(ranking)
    ]
    theirs = ir_measures.calc_aggregate([R @ 1, R @ 10, R @ 20, RR @ 10, nDCG @ 10], qrels, run)
    share = (len(answers) - len(lost)) / len(answers)
    names = {"recall@1": R @ 1, "recall@10": R @ 10, "recall@20": R @ 20, "mrr@10": RR @ 10, "ndcg@10": nDCG @ 10}
    for name, measure in names.items():
        assert number(reply["ok"]["mean"][name]) == pytest.approx(theirs[measure] * share, abs=1e-12), name


def test_cosine_is_scipys(ask: Ask, engine: list[str]) -> None:
    import base64

    from scipy.spatial.distance import cosine

    source = np.random.default_rng(5)
    passages, queries = source.integers(-127, 128, (20, 24)), source.integers(-127, 128, (5, 24))

    def travelling(rows: np.ndarray) -> dict[str, Any]:
        return {"dim": 24, "int8": base64.b64encode(rows.astype(np.int8).tobytes()).decode()}

    request = {
        "op": "rank",
        "passages": ["x"] * 20,
        "queries": ["y"] * 5,
        "method": {"kind": "dense"},
        "passage_vectors": travelling(passages),
        "query_vectors": travelling(queries),
    }
    [reply] = ask(engine, request)
    for query, ranking in zip(queries, reply["ok"]["rankings"], strict=True):
        for entry in ranking:
            near = 1 - cosine(query.astype(float), passages[entry["passage"]].astype(float))
            assert number(entry["score"]) == pytest.approx(near, abs=1e-12)


# -- LangChain: a comparison, not an oracle (docs/how-it-compares.md shows the same text) -----------------------------------

TEXT = "Owls hunt at night. They eat mice.\n\nFoxes hunt at dawn. They eat hens, eggs and the odd beetle.\n\nBread needs yeast."
SIZE = 12
LANGCHAIN = [
    "Owls hunt at night. They eat mice.",
    "Foxes hunt at dawn. They eat hens,",
    "eggs and the odd beetle.",
    "Bread needs yeast.",
]
CHUNKPROOF = [
    "Owls hunt at night. They eat mice.\n\n",
    "Foxes hunt at dawn.",
    " They eat hens, eggs and the odd beetle.\n\n",
    "Bread needs yeast.",
]
EMOJI = "🦉🦊🐔🐭🦉🦊🐔🐭"


def langchain_py(text: str, size: int) -> list[str]:
    from langchain_text_splitters import RecursiveCharacterTextSplitter
    from tokenizers import Tokenizer

    from chunkproof.resources import tokenizer_path

    tokenizer = Tokenizer.from_file(str(tokenizer_path()))
    splitter = RecursiveCharacterTextSplitter(
        chunk_size=size,
        chunk_overlap=0,
        length_function=lambda part: len(tokenizer.encode(part, add_special_tokens=False).ids),
    )
    return splitter.split_text(text)


JS = """
import fs from "node:fs";
import { RecursiveCharacterTextSplitter } from "@langchain/textsplitters";
import { Tokenizer } from "@huggingface/tokenizers";
const [file, text, size] = process.argv.slice(2);
const tokenizer = new Tokenizer(JSON.parse(fs.readFileSync(file, "utf8")), {});
const lengthFunction = (part) => tokenizer.encode(part, { add_special_tokens: false }).ids.length;
const splitter = new RecursiveCharacterTextSplitter({ chunkSize: Number(size), chunkOverlap: 0, lengthFunction });
process.stdout.write(JSON.stringify(await splitter.splitText(JSON.parse(text))));
"""


def langchain_js(checkout: Path, text: str, size: int) -> list[str]:
    from chunkproof.resources import tokenizer_path

    node, folder = shutil.which("node"), checkout / "ts"
    if node is None or not (folder / "node_modules/@langchain/textsplitters").is_dir():
        pytest.skip("LangChain JS is not installed: npm ci in ts/")
    command = [node, "--input-type=module", "-", str(tokenizer_path()), json.dumps(text), str(size)]
    done = subprocess.run(command, input=JS, cwd=folder, capture_output=True, text=True, timeout=120, check=True)
    return list(json.loads(done.stdout))


def test_langchain_cuts_inside_a_sentence_and_drops_white_space(ask: Ask, engine: list[str], checkout: Path) -> None:
    """It asks the next smaller separator, a space, and fills up; this spec asks for sentences first, and drops nothing."""
    assert langchain_py(TEXT, SIZE) == LANGCHAIN
    assert langchain_js(checkout, TEXT, SIZE) == LANGCHAIN
    [reply] = ask(engine, {"op": "chunk", "text": TEXT, "chunker": {"kind": "recursive", "size": SIZE}})
    ours = [TEXT[chunk["start"] : chunk["end"]] for chunk in reply["ok"]["chunks"]]
    assert ours == CHUNKPROOF
    assert "".join(ours) == TEXT
    assert len("".join(LANGCHAIN)) < len(TEXT)


def test_langchain_cuts_elsewhere_in_its_own_two_languages(ask: Ask, engine: list[str], checkout: Path) -> None:
    """Without a separator Python falls back to code points, JavaScript to UTF-16 units; each strips its own white space."""
    assert langchain_py(EMOJI, 4) == ["🦉🦊🐔🐭", "🦉🦊🐔🐭"]
    assert langchain_js(checkout, EMOJI, 4) == ["🦉🦊", "🐔🐭", "🦉🦊", "🐔🐭"]
    assert langchain_py("\ufeffOwls.\x85", 50) == ["\ufeffOwls."]
    assert langchain_js(checkout, "\ufeffOwls.\x85", 50) == ["Owls.\x85"]
    [reply] = ask(engine, {"op": "chunk", "text": EMOJI, "chunker": {"kind": "recursive", "size": 4}})
    assert [chunk["end"] for chunk in reply["ok"]["chunks"]] == [
        8
    ]  # one piece: the pattern never cuts a run of symbols
