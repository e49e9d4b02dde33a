"""Spec 01: the protocol, what is refused and in which order."""

import base64
import hashlib
import io
import json
import os
import struct
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest

from chunkproof import engine, pieces

INLINE = {"dim": 2, "int8": "AQI="}
SPAN = {"document": 0, "start": 0, "end": 1}


def talk(*lines):
    """The replies to raw lines, in order."""
    source, sink = io.BytesIO(b"\n".join(lines)), io.BytesIO()
    engine.serve(source, sink)
    return [json.loads(line) for line in sink.getvalue().splitlines()]


def ask(op, **fields):
    (reply,) = talk(json.dumps({"id": "q", "op": op, **fields}).encode())
    assert reply["id"] == "q"
    return reply["ok"] if "ok" in reply else reply["error"]["code"]


def double(value):
    return struct.pack(">d", value).hex()


def matrix(rows):
    array = np.array(rows, np.int8)
    return {"dim": array.shape[1], "int8": base64.b64encode(array.tobytes()).decode()}


# The process


def test_as_a_process_it_answers_each_line_before_the_next():
    with subprocess.Popen(
        [sys.executable, "-m", "chunkproof.engine"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        for name in ("a", "b"):
            process.stdin.write(json.dumps({"id": name, "op": "pieces", "text": "One two"}).encode() + b"\n")
            process.stdin.flush()
            reply = json.loads(process.stdout.readline())
            assert reply["id"] == name
            assert reply["ok"]["pieces"][1] == {"start": 3, "end": 7, "tokens": 1}
        process.stdin.close()
        assert process.stdout.read() == b""
        assert process.wait(60) == 0


def test_it_refuses_to_start_with_another_tokenizer(tmp_path):
    other = tmp_path / "tokenizer.json"
    other.write_text("{}")
    script = "import sys; from chunkproof import engine, resources; resources._PACKAGE = resources.Path('/nowhere')\n"
    done = subprocess.run(
        [sys.executable, "-c", script + "resources._CHECKOUT = resources._CHECKOUT / 'x'; resources.unicode_tables = dict\n"
         "sys.exit(engine.main())"],
        env={**os.environ, "CHUNKPROOF_TOKENIZER": str(other)}, capture_output=True, text=True, input="",
    )  # fmt: skip
    assert done.returncode == 1
    assert "SHA-256" in done.stderr
    assert done.stdout == ""


def test_import_is_light():
    heavy = (
        "import sys, chunkproof; print([m for m in ('numpy', 'regex', 'tokenizers', 'pyarrow') if m in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", heavy], capture_output=True, text=True).stdout == "[]\n"


# Lines


def test_bad_lines_get_a_reply_each_and_the_engine_goes_on():
    replies = talk(
        b"", b"nonsense", b"\xff", b"[1]", b'{"op":"info"}', b'{"id":1,"op":"info"}', b'{"id":"z","op":"info"}\r'
    )
    assert [r["id"] for r in replies] == [None] * 6 + ["z"]
    assert [r["error"]["code"] for r in replies[:-1]] == ["bad_request"] * 6


def test_the_last_line_may_lack_its_end_and_no_line_is_no_request():
    assert len(talk(b'{"id":"1","op":"info"}')) == 1
    assert len(talk(b'{"id":"1","op":"info"}', b"")) == 1
    assert talk() == []


def line_of(length):
    head, tail = b'{"id":"big","op":"numbers","kind":"canonical","values":[]', b"}"
    return head + b" " * (length - len(head) - len(tail)) + tail


def test_a_line_of_64_mib_is_read_and_a_longer_one_skipped():
    limit = engine.LONGEST_LINE
    assert limit == 67_108_864
    replies = talk(line_of(limit), line_of(limit + 1), b'{"id":"next","op":"info"}', line_of(limit + 1))
    assert [r["id"] for r in replies] == ["big", None, "next", None]
    assert [r.get("error", {}).get("code") for r in replies] == [None, "bad_request", None, "bad_request"]


def test_depth_is_refused_with_the_id_at_any_depth():
    for deep in (64, 500, 100_000):
        line = b'{"id":"d","op":"pieces","text":' + b"[" * deep + b"]" * deep + b"}"
        (reply,) = talk(line)
        assert (reply["id"], reply["error"]["code"]) == ("d", "bad_request")


@pytest.mark.parametrize(
    ("line", "name"),
    [
        (b'{"id":"a","op":"terms","text":"a","text":"b"}', "a"),
        (b'{"op":"terms","op":"terms","text":"a","id":"a"}', "a"),
        (b'{"id":"a","op":"rank","method":{"kind":"bm25","kind":"bm25"}}', "a"),
        (b'{"id":"a","op":"evaluate","passages":[{"id":1,"id":2}]}', "a"),
        (b'{"id":"a","op":"numbers","kind":"canonical","values":[1e400]}', "a"),
        (b'{"id":"\\u0061","op":"nothing","x":-1e400}', "a"),
        (b'{"id":"a","op":"info","id":"a"}', None),
        (b'{"id":"a","op":"info","i\\u0064":"b"}', None),
        (b'{"id":"a","id":"b","op":"numbers","kind":"canonical","values":[1e400]}', None),
        (b'{"id":1e400,"op":"info"}', None),
        (b'{"id":1,"op":"info","x":1e400}', None),
        (b'{"id":"\\ud800","op":"info","x":1e400}', None),
        (b'{"op":"info","x":{"id":"a"},"y":1e400}', None),
        (b'[{"id":"a","id":"a"}]', None),
        (b'{"id":"a","op":"info","x":1e400', None),
        (b'{"id":"a","op":"info","op":"info",}', None),
        (b'{"id":"a","op":"info","x":1e400,"y":NaN}', None),
        (b'{"id":"a","op":"info","x":1e400,"y":"\xff"}', None),
    ],
)
def test_a_line_keeps_its_id_where_its_grammar_is_json(line, name):
    refused, following = talk(line, b'{"id":"next","op":"info"}')
    assert (refused["id"], refused["error"]["code"]) == (name, "bad_request")
    assert following["id"] == "next"


def test_an_id_may_be_any_text():
    for name in ("", "é\n🦜", 'a"b'):
        (reply,) = talk(json.dumps({"id": name, "op": "info"}).encode())
        assert reply["id"] == name


def test_an_id_with_a_lone_surrogate():
    (reply,) = talk(b'{"id":"\\ud800","op":"info"}')
    assert (reply["id"], reply["error"]["code"]) == (None, "bad_text")


# Refusals, and their order

CHUNK = {"text": "a", "chunker": {"kind": "fixed", "size": 1}}
RANK = {"passages": ["a"], "queries": ["a"], "method": {"kind": "bm25"}}
DENSE = RANK | {"method": {"kind": "dense"}, "passage_vectors": INLINE, "query_vectors": INLINE}
EVALUATE = {"passages": [SPAN], "answers": [SPAN], "rankings": [[0]]}
RUN = {"from": 0, "to": 2, "extra": 1}
FILL = {"tokens": [1, 2], "chunks": [RUN], "ranking": [0], "budget": 9}
RANGE = {"start": 0, "end": 2}
COVER = {"context": [RANGE], "evidence": [RANGE], "minimum": 1}
BOOTSTRAP = {"treatment": [[1, 2]], "baseline": [[0.5, 2]]}

REFUSED = {
    "bad_request": [
        ("nothing", {}),
        ("pieces", {}),
        ("pieces", {"text": 1}),
        ("pieces", {"text": None}),
        ("pieces", {"text": "a", "more": 1}),
        ("info", {"text": "a"}),
        ("segments", {"text": "a", "paragraphs": "none"}),
        ("segments", {"text": "a", "paragraphs": None}),
        *(("chunk", {"text": "a", "chunker": c}) for c in (
            None, [], {}, {"kind": "fixed"}, {"kind": "none", "size": 1}, {"kind": 1, "size": 1},
            {"kind": "fixed", "size": 1.5}, {"kind": "fixed", "size": True}, {"kind": "fixed", "size": "5"},
            {"kind": "fixed", "size": None}, {"kind": "fixed", "size": 2**53},
            {"kind": "fixed", "size": 1, "paragraphs": "newline"},
            {"kind": "recursive", "size": 1, "overlap": 0}, {"kind": "semantic", "size": 1},
            {"kind": "semantic", "size": 1, "vectors": {"dim": 2}}, {"kind": "semantic", "size": 1, "vectors": []},
            {"kind": "semantic", "size": 1, "vectors": {**INLINE, "rows": [0, 1]}},
            {"kind": "semantic", "size": 1, "vectors": {"arrow": "x", "sha256": "y"}},
            {"kind": "semantic", "size": 1, "vectors": {"arrow": "x", "sha256": "y", "column": "c", "rows": [0]}},
        )),
        ("rank", RANK | {"passage_vectors": INLINE}),
        ("rank", RANK | {"method": {"kind": "bm25", "precision": "int8"}}),
        ("rank", RANK | {"method": {"kind": "dense"}}),
        ("rank", DENSE | {"method": {"kind": "dense", "precision": "int2"}}),
        ("rank", DENSE | {"method": {"kind": "rrf", "k1": 1}}),
        ("rank", RANK | {"passages": "a"}),
        ("rank", RANK | {"queries": [1]}),
        ("evaluate", EVALUATE | {"rankings": []}),
        ("evaluate", EVALUATE | {"rankings": [[0, 0]]}),
        ("evaluate", EVALUATE | {"rankings": [[1]]}),
        ("evaluate", EVALUATE | {"rankings": [[-1]]}),
        ("evaluate", EVALUATE | {"passages": [SPAN | {"end": 0}]}),
        ("evaluate", EVALUATE | {"answers": [SPAN | {"start": -1}]}),
        ("evaluate", EVALUATE | {"answers": [SPAN | {"document": -1}]}),
        ("evaluate", EVALUATE | {"cutoffs": [1.5]}),
        ("quantize", {"vectors": [[]], "to": "int8"}),
        ("quantize", {"vectors": [[1]], "to": "int2"}),
        ("quantize", {"vectors": [1], "to": "int8"}),
        *(("fill", FILL | change) for change in (
            {"tokens": [1, -1]}, {"tokens": [1, 1.5]}, {"tokens": 1}, {"tokens": []}, {"chunks": [RUN | {"extra": -1}]},
            {"chunks": [RUN | {"from": 2}]}, {"chunks": [RUN | {"from": 3}]}, {"chunks": [RUN | {"from": -1}]},
            {"chunks": [RUN | {"to": 3}]}, {"chunks": [RUN, RUN | {"to": 0}]}, {"chunks": [[0, 2, 1]]},
            {"chunks": [{"from": 0, "to": 2}]}, {"chunks": [RUN | {"tokens": 3}]}, {"chunks": []}, {"ranking": [0, 0]},
            {"ranking": [1]}, {"ranking": [-1]}, {"ranking": [[0]]}, {"budget": 1.5}, {"budget": None}, {"budget": 2**53},
            {"tokens": [1, -1], "budget": 0}, {"ranking": [0, 0], "budget": 0}, {"depth": 1},
        )),
        ("fill", {name: FILL[name] for name in ("tokens", "chunks", "ranking")}),
        *(("cover", COVER | change) for change in (
            {"context": [RANGE | {"start": -1}]}, {"context": [RANGE | {"start": 2}]}, {"evidence": [RANGE | {"end": 0}]},
            {"evidence": [RANGE, RANGE | {"start": -1}]}, {"evidence": [[0, 2]]}, {"evidence": [SPAN]}, {"context": None},
            {"minimum": "most"}, {"minimum": "1"}, {"minimum": "\ud800"}, {"minimum": 1.5}, {"minimum": True}, {"minimum": None},
            {"minimum": 2**53}, {"minimum": 0, "context": [RANGE | {"end": 0}]},
        )),
        ("cover", {name: COVER[name] for name in ("context", "evidence")}),
        *(("bootstrap", BOOTSTRAP | change) for change in (
            {"treatment": []}, {"treatment": [], "baseline": []}, {"baseline": [[1, 1], [1, 1]]}, {"treatment": [[1]]},
            {"treatment": [[1, 2, 3]]}, {"treatment": [1, 2]}, {"treatment": [[1, 1.5]]}, {"treatment": [["1", 1]]},
            {"treatment": [[-0.5, 1]]}, {"baseline": [[1, -1]]}, {"baseline": [[1, 2**53]]}, {"baseline": [[True, 1]]},
            {"resamples": 1.5}, {"resamples": None}, {"seed": "1"}, {"treatment": [], "resamples": 0}, {"runs": 1},
        )),
        ("bootstrap", {"treatment": [[1, 2]]}),
        ("numbers", {"kind": "mean"}),
        ("numbers", {"kind": "mean", "fractions": [[1, 2, 3]]}),
        ("numbers", {"kind": "mean", "fractions": [], "values": []}),
        ("numbers", {}),
        ("numbers", {"kind": "exp"}),
        ("numbers", {"kind": "ln", "fractions": [[1]]}),
        ("numbers", {"kind": "ln", "fractions": [[1, 1.5]]}),
        ("numbers", {"kind": "sum", "values": ["7ff0000000000000"]}),
        ("numbers", {"kind": "sum", "values": [1]}),
        ("numbers", {"kind": "canonical", "values": ["1"]}),
    ],
    "bad_text": [
        ("pieces", {"text": "a\ud800"}),
        ("rank", RANK | {"queries": ["\udfff"]}),
        ("chunk", {"text": "\ud800", "chunker": {"kind": "fixed", "size": 0}}),
        ("rank", DENSE | {"query_vectors": {"dim": 2, "int8": "\ud800"}}),
    ],
    "bad_setting": [
        *(("chunk", {"text": "a", "chunker": {"kind": "fixed", **c}}) for c in (
            {"size": 0}, {"size": -1}, {"size": 5, "overlap": 5}, {"size": 5, "overlap": 6}, {"size": 5, "overlap": -1},
        )),
        ("chunk", {"text": "a", "chunker": {"kind": "semantic", "size": 1, "percentile": 101, "vectors": {"dim": 2, "int8": "!"}}}),
        ("chunk", {"text": "a", "chunker": {"kind": "semantic", "size": 1, "vectors": {"dim": 0, "int8": ""}}}),
        ("rank", RANK | {"depth": 0}),
        ("rank", RANK | {"method": {"kind": "bm25", "k1": -1}}),
        ("rank", RANK | {"method": {"kind": "bm25", "b": 1.5}}),
        ("rank", RANK | {"passages": ["x1 x1", "x2"], "queries": ["x1"], "method": {"kind": "bm25", "k1": 1.7e308}}),
        ("rank", DENSE | {"method": {"kind": "rrf", "k": -1}, "query_vectors": {"dim": 3, "int8": "AQI="}}),
        ("rank", DENSE | {"method": {"kind": "weighted", "alpha": 2}}),
        ("rank", DENSE | {"method": {"kind": "weighted", "pool": 0}}),
        ("evaluate", EVALUATE | {"cutoffs": []}),
        ("evaluate", EVALUATE | {"cutoffs": [1, 1.0]}),
        ("evaluate", EVALUATE | {"cutoffs": [0]}),
        ("fill", FILL | {"budget": 0}),
        ("fill", FILL | {"budget": -1}),
        ("cover", COVER | {"minimum": 0}),
        ("cover", COVER | {"minimum": -1}),
        *(("bootstrap", BOOTSTRAP | change) for change in (
            {"resamples": 0}, {"resamples": 1_000_001}, {"seed": -1}, {"seed": 2**32},
            {"treatment": [[1.7e308, 1]] * 2, "baseline": [[0, 1]] * 2},
        )),
        ("numbers", {"kind": "mean", "fractions": [[1, 1], [1, 0]]}),
        ("numbers", {"kind": "mean", "fractions": [[-1, 1]]}),
        ("numbers", {"kind": "ln", "fractions": [[0, 1]]}),
        ("numbers", {"kind": "ratio", "fractions": [[1, 0]]}),
        ("numbers", {"kind": "sum", "values": ["7fefffffffffffff"] * 2}),
        ("numbers", {"kind": "print", "values": [], "decimals": 101}),
        ("numbers", {"kind": "percentile", "values": [], "percentile": -1}),
        ("numbers", {"kind": "random", "seed": 2**32, "count": 1}),
        ("numbers", {"kind": "random", "seed": 0, "count": 1_000_001}),
        ("numbers", {"kind": "sample", "seed": 0, "population": 3, "count": 4}),
    ],
    "bad_vectors": [
        *(("chunk", {"text": "a", "chunker": {"kind": "semantic", "size": 1, "vectors": v}}) for v in (
            {"dim": 2, "int8": "AQI"}, {"dim": 2, "int8": "AQ I="}, {"dim": 2, "int8": "AQI=\n"}, {"dim": 2, "int8": "AQJ="},
            {"dim": 2, "int8": "AQ-_"}, {"dim": 2, "int8": "é"}, {"dim": 3, "int8": "AQI="}, {"dim": 1, "int8": "AQI="},
            {"dim": 1, "int8": ""},
        )),
        ("rank", DENSE | {"query_vectors": {"dim": 1, "int8": "AQ=="}}),
        ("rank", {**DENSE, "passages": [], "queries": [], "passage_vectors": {"dim": 2, "int8": ""},
                  "query_vectors": {"dim": 1, "int8": ""}}),
        ("rank", DENSE | {"queries": []}),
        ("quantize", {"vectors": [[1, 2], [1]], "to": "int8"}),
        ("quantize", {"vectors": [[1e308]], "to": "binary"}),
    ],
}  # fmt: skip


@pytest.mark.parametrize(
    ("code", "op", "fields"), [(code, op, fields) for code, cases in REFUSED.items() for op, fields in cases]
)
def test_refused(code, op, fields):
    assert ask(op, **fields) == code


def test_a_fault_is_internal_and_ends_nothing(monkeypatch, capsys):
    monkeypatch.setattr(pieces, "pieces", lambda _: 1 // 0)
    assert ask("pieces", text="a") == "internal"
    assert "ZeroDivisionError" in capsys.readouterr().err


# Answers


def test_info():
    found = ask("info")
    assert found["engine"] == "chunkproof-py"
    assert (found["spec"], found["unicode"]) == ("1.0.0", "18.0.0")
    assert found["tokenizer"] == "sha256:c0382117ea329cdf097041132f6d735924b697924d6f6fc3945713e96ce87539"
    assert (
        found["ops"] == "info pieces segments chunk rank evaluate terms quantize fill cover bootstrap numbers".split()
    )


def test_5_point_0_is_5_and_there_is_no_upper_limit():
    sizes = ('"size":5', '"size":5.0', '"size":5e0', '"size":9007199254740991')
    lines = [b'{"id":"1","op":"chunk","text":"a b c","chunker":{"kind":"fixed",%s}}' % size.encode() for size in sizes]
    assert all(reply["ok"] == {"chunks": [{"start": 0, "end": 5, "tokens": 3}]} for reply in talk(*lines))


def test_pieces_segments_and_chunks():
    assert ask("pieces", text="") == {"pieces": []}
    assert ask("segments", text="One.\nTwo", paragraphs="newline") == {
        "paragraphs": [{"start": 0, "end": 5}, {"start": 5, "end": 8}],
        "sentences": [{"start": 0, "end": 5}, {"start": 5, "end": 8}],
    }
    document = "Owls hunt mice. Foxes raid hens. Bread needs yeast. Cakes need sugar."
    vectors = matrix([[127, 0], [127, 30], [0, 127], [1, 127]])
    assert ask("chunk", text=document, chunker={"kind": "semantic", "size": 12, "vectors": vectors}) == {
        "chunks": [{"start": 0, "end": 32, "tokens": 12}, {"start": 32, "end": 69, "tokens": 9}],
        "similarities": ["3fef249572bf904d", "3fcd6d2668646008", "3fefffbefdbe07aa"],
        "threshold": "3fcd6d2668646008",
    }
    assert (
        ask("chunk", text="a", chunker={"kind": "semantic", "size": 1, "vectors": matrix([[1]])})["threshold"] is None
    )


def test_long_lists_are_written_in_blocks():
    found = ask("pieces", text="a " * 6000)["pieces"]
    assert len(found) == 6001
    assert found[-1] == {"start": 11999, "end": 12000, "tokens": 1}


def test_rank():
    passages, queries = ["calm sea", "sea wind", "wind"], ["sea", ""]
    bm25 = ask("rank", passages=passages, queries=queries, method={"kind": "bm25"}, depth=2)["rankings"]
    assert [[e["passage"] for e in ranking] for ranking in bm25] == [[0, 1], [0, 1]]
    rows = {"passage_vectors": matrix([[1, 0], [0, 1], [1, 1]]), "query_vectors": matrix([[0, 9], [0, 0]])}
    for method, best in (
        ({"kind": "dense"}, [1, 2, 0]),
        ({"kind": "dense", "precision": "binary"}, [1, 2, 0]),
        ({"kind": "rrf"}, [1, 0, 2]),
        ({"kind": "weighted", "alpha": 1}, [1, 2, 0]),
    ):
        found = ask("rank", passages=passages, queries=queries, method=method, **rows)["rankings"]
        assert [e["passage"] for e in found[0]] == best
        assert [e["passage"] for e in found[1]] == [0, 1, 2]
    assert ask("rank", passages=[], queries=["a"], method={"kind": "bm25"}) == {"rankings": [[]]}
    assert ask("rank", passages=["a"], queries=[], method={"kind": "bm25"}) == {"rankings": []}


def test_evaluate():
    passages = [{"document": 0, "start": s, "end": s + 5} for s in (0, 3, 9)]
    answers = [{"document": 0, "start": 3, "end": 5}, {"document": 0, "start": 4, "end": 12}]
    found = ask("evaluate", passages=passages, answers=answers, rankings=[[2, 1, 0], [0]], cutoffs=[1, 2])
    assert found["lost"] == [1]
    assert found["questions"][0] == {
        "relevant": [0, 1],
        "recall": {"1": "0/1", "2": "1/2"},
        "mrr@10": "1/2",
        "ndcg@10": double((0.6309297535714575 + 0.5) / (1 + 0.6309297535714575)),
    }
    assert found["mean"]["recall@2"] == "3fd0000000000000"
    assert set(found["mean"]) == {"recall@1", "recall@2", "mrr@10", "ndcg@10"}


def test_fill_cover_and_bootstrap():
    chunks = [{"from": 0, "to": 2, "extra": 1}, {"from": 1, "to": 4, "extra": 0}]
    fields = {"tokens": [1, 2, 3, 4], "chunks": chunks, "ranking": [0, 1]}
    assert ask("fill", **fields, budget=11) == {
        "context": [{"from": 0, "to": 4}], "tokens": 11, "extra": 1, "chunks": 2, "full": False,
    }  # fmt: skip
    assert ask("fill", **fields, budget=9)["context"] == [{"from": 0, "to": 3}]
    assert ask("fill", **fields | {"ranking": []}, budget=9) == {
        "context": [], "tokens": 0, "extra": 0, "chunks": 0, "full": False,
    }  # fmt: skip
    ranges = [{"start": 5, "end": 9}, {"start": 0, "end": 2}]
    evidence = [{"start": 1, "end": 6}, {"start": 2, "end": 5}]
    for minimum, hits in ((1, [True, False]), (2, [True, False]), (3, [False, False]), ("half", [False, False])):
        assert ask("cover", context=ranges, evidence=evidence, minimum=minimum) == {"overlaps": [2, 0], "hits": hits}
    assert ask("cover", context=[], evidence=[], minimum="all") == {"overlaps": [], "hits": []}
    found = ask("bootstrap", treatment=[[3, 4]], baseline=[[0.5, 2]])
    assert found == {
        "difference": double(0.5), "interval": [double(0.5)] * 2, "p": double(2 / 10001), "at_most_zero": 0,
        "at_least_zero": 10000,
    }  # fmt: skip
    assert ask("bootstrap", treatment=[[3, 4]], baseline=[[0.5, 2]], resamples=10_000, seed=1) == found


def test_terms_quantize_numbers():
    assert ask("terms", text="The Sea, the sea") == {"terms": ["sea", "sea"]}
    assert ask("quantize", vectors=[[46, 23], [0, -0.0]], to="int8") == {"vectors": [[127, 64], [0, 0]]}
    assert ask("quantize", vectors=[[46, -23]], to="int4") == {"vectors": [[7, -4]]}
    assert ask("quantize", vectors=[[46, -23]], to="binary") == {"vectors": [[1, 0]]}
    assert ask("quantize", vectors=[], to="binary") == {"vectors": []}
    assert ask("numbers", kind="ln", fractions=[[156, 19]]) == {"values": [double(2.1054170280830964)]}
    assert ask("numbers", kind="ratio", fractions=[[1, 2]]) == {"values": ["3fe0000000000000"]}
    assert ask("numbers", kind="sum", values=["8000000000000000"]) == {"value": "0" * 16}
    assert ask("numbers", kind="print", values=["3FE0000000000000"], decimals=0) == {"texts": ["1"]}
    assert ask("numbers", kind="percentile", values=[], percentile=25) == {"value": None}
    assert ask("numbers", kind="mean", fractions=[[1, 2], [2, 6]]) == {"value": double(5 / 12)}
    assert ask("numbers", kind="mean", fractions=[[2**53 - 1, 1], [0, 5]]) == {"value": double(2**52 - 0.5)}
    assert ask("numbers", kind="mean", fractions=[]) == {"value": "0" * 16}
    assert ask("numbers", kind="random", seed=0, count=1) == {"values": [double(0.26642920868471265)]}
    assert ask("numbers", kind="sample", seed=23, population=3, count=3) == {"indices": [0, 1, 2]}
    assert ask("numbers", kind="canonical", values=[-0.0, 1e-7, 2**70]) == {
        "texts": ["0", "1e-7", "1.1805916207174113e+21"]
    }


# Vectors in files


def arrow(path, rows=((1, 2), (3, 4)), *, compression=None, kind=None, batches=1, stream=False):
    array = pa.array(rows, kind or pa.list_(pa.int8(), 2))
    table = pa.table({"v": array})
    make = pa.ipc.new_stream if stream else pa.ipc.new_file
    with make(str(path), table.schema, options=pa.ipc.IpcWriteOptions(compression=compression)) as writer:
        for _ in range(batches):
            writer.write_table(table)
    return {"arrow": path.name, "sha256": hashlib.sha256(path.read_bytes()).hexdigest(), "column": "v"}


def load(vectors, count):
    return ask("rank", passages=[""] * count, queries=[], method={"kind": "dense"}, passage_vectors=vectors,
               query_vectors={"dim": 2, "int8": ""})  # fmt: skip


@pytest.fixture
def folder(tmp_path, monkeypatch):
    inside = tmp_path / "inside"
    inside.mkdir()
    monkeypatch.chdir(inside)
    return inside


def test_a_file_is_read_whole_or_by_rows(folder):
    vectors = arrow(folder / "v.arrow", batches=3)
    assert load(vectors, 6) == {"rankings": []}
    assert load(vectors | {"rows": [1, 4]}, 3) == {"rankings": []}
    assert load(vectors | {"rows": [6, 6]}, 0) == {"rankings": []}
    assert load(vectors, 5) == "bad_vectors"


def test_a_file_answers_like_the_same_bytes_inline(folder):
    vectors = arrow(folder / "v.arrow", [[5, -3], [127, -128], [0, 1]])
    fields = {"passages": ["", ""], "queries": [""], "method": {"kind": "dense"}, "query_vectors": matrix([[2, 1]])}
    inline = ask("rank", passage_vectors=matrix([[127, -128], [0, 1]]), **fields)
    assert ask("rank", passage_vectors=vectors | {"rows": [1, 3]}, **fields) == inline


def test_files_that_are_not_as_said(folder):
    good = arrow(folder / "v.arrow")
    for change in (
        {"sha256": "0" * 64}, {"sha256": good["sha256"].upper()}, {"column": "w"},
        {"rows": [2, 1]}, {"rows": [0, 3]}, {"rows": [-1, 1]},
        {"arrow": "none.arrow"}, {"arrow": ""}, {"arrow": "."}, {"arrow": "v\0"}, {"arrow": str(folder / "v.arrow")},
        {"arrow": "../inside/v.arrow"}, {"arrow": "x/../v.arrow"},
    ):  # fmt: skip
        assert load(good | change, 2) == "bad_vectors", change
    for make in (
        {"compression": "zstd"}, {"compression": "lz4"}, {"stream": True}, {"rows": [[1, 2], None]}, {"rows": [[1, None], [1, 2]]},
        {"kind": pa.list_(pa.int16(), 2)}, {"kind": pa.list_(pa.int8())},
    ):  # fmt: skip
        assert load(arrow(folder / "bad.arrow", **make), 2) == "bad_vectors", make
    (folder / "junk").write_bytes(b"ARROW1")
    junk = {"arrow": "junk", "sha256": hashlib.sha256(b"ARROW1").hexdigest(), "column": "v"}
    assert load(junk, 0) == "bad_vectors"


def test_a_link_may_not_lead_out(folder):
    vectors = arrow(folder.parent / "v.arrow")
    (folder / "v.arrow").symlink_to(folder.parent / "v.arrow")
    assert load(vectors, 2) == "bad_vectors"
    (folder / "w.arrow").write_bytes((folder.parent / "v.arrow").read_bytes())
    (folder / "link.arrow").symlink_to("w.arrow")
    assert load(vectors | {"arrow": "link.arrow"}, 2) == {"rankings": []}
