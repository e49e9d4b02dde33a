"""The embedder all-MiniLM-L6-v2 from its official float32 weights, run by onnxruntime over a graph built here.

A text becomes at most 256 word pieces, `[CLS]` and `[SEP]` among them; its vector is the mean of the last layer over
them, at unit length. Each text is run by itself, without padding, on one thread: so its vector depends on nothing but
the text, the weights and the machine's arithmetic, however many run side by side. Another machine may round otherwise in
the last bits, which is why vectors are committed as data and are no part of what engines are compared on.

Needs the extra `embed` (onnx, onnxruntime, safetensors), which is imported only when a model is loaded.
"""

from __future__ import annotations

import math
import os
import platform
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from chunkproof import datasets
from chunkproof.problems import Problem

if TYPE_CHECKING:
    import onnx

NAME = "all-MiniLM-L6-v2"
DIMENSION = 384
#: The most word pieces of a text that count for its vector, `[CLS]` and `[SEP]` included.
LIMIT = 256

_LAYERS = 6
_HEADS = 12
_EPSILON = 1e-12
_OPSET = 17

Floats = npt.NDArray[np.float32]
Int8 = npt.NDArray[np.int8]
Weights = dict[str, Floats]


@dataclass(frozen=True)
class Embedded:
    """A text's vector (float32, unit length) and the word pieces of the whole text, `[CLS]` and `[SEP]` included."""

    vector: Floats
    wordpieces: int


class MiniLM:
    """The model, loaded. Raises Problem without the extra `embed`, or without the weights or with others."""

    def __init__(self, workers: int | None = None) -> None:
        try:
            import onnx  # noqa: F401
            import onnxruntime
            import safetensors  # noqa: F401
        except ImportError as error:
            raise Problem(
                f"embedding needs {error.name}, which is not installed: python -m pip install 'chunkproof[embed]'"
            ) from error
        self._tokenizer = tokenizer(datasets.path("minilm-tokenizer"))
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        model = graph(weights(datasets.path("minilm")))
        self._session = onnxruntime.InferenceSession(
            model.SerializeToString(), options, providers=["CPUExecutionProvider"]
        )
        self._workers = workers or _cores()

    def embed(self, texts: Sequence[str]) -> list[Embedded]:
        """The vectors of the texts, in their order."""
        with ThreadPoolExecutor(self._workers) as threads:
            return list(threads.map(self._embed, texts))

    def _embed(self, text: str) -> Embedded:
        ids = word_pieces(self._tokenizer, text)
        vector = self._session.run(None, {"ids": np.array(ids[0], dtype=np.int64)[np.newaxis]})[0][0]
        return Embedded(vector, ids[1])

    @staticmethod
    def provenance() -> dict[str, str | int]:
        """What a vector was made with: stored beside the vectors, and part of the cache's key."""
        return {
            "model": NAME,
            "weights_sha256": datasets.entry("minilm").sha256,
            "tokenizer_sha256": datasets.entry("minilm-tokenizer").sha256,
            "wordpiece_limit": LIMIT,
            "pooling": "mean, unit length, int8 by 09 rule 1",
            "onnxruntime": metadata.version("onnxruntime"),
            "opset": _OPSET,
            "tokenizers": metadata.version("tokenizers"),
            "runtime": f"{platform.python_implementation()} {platform.python_version()}",
            "machine": f"{platform.system()} {platform.machine()}",
            "cpu": _cpu(),
        }


def int8(vectors: npt.ArrayLike) -> Int8:
    """Vectors, one a row, as int8 (spec 09 rule 1): (v × 127) ÷ m in binary64, halves to even; zeros where m = 0."""
    exact = np.atleast_2d(np.asarray(vectors, dtype=np.float64))
    largest = np.abs(exact).max(axis=1, keepdims=True)
    scaled: Int8 = np.rint(exact * 127 / np.where(largest == 0, 1, largest)).astype(np.int8)
    return scaled


def tokenizer(file: Path) -> Any:
    """The word-piece tokenizer, without the padding and the limit of 128 that its file has."""
    from tokenizers import Tokenizer

    loaded = Tokenizer.from_file(str(file))
    loaded.no_padding()
    loaded.no_truncation()
    return loaded


def word_pieces(tokenizer: Any, text: str) -> tuple[list[int], int]:
    """A text's word-piece ids, cut to `LIMIT` with `[SEP]` kept at the end, and how many the whole text has."""
    ids: list[int] = tokenizer.encode(text).ids
    return (ids if len(ids) <= LIMIT else [*ids[: LIMIT - 1], ids[-1]]), len(ids)


def weights(file: Path) -> Weights:
    """The model's tensors by name."""
    from safetensors.numpy import load_file

    loaded: Weights = load_file(file)
    return loaded


def graph(tensors: Weights) -> onnx.ModelProto:
    """The ONNX graph: `ids` (int64, texts × word pieces) to `vectors` (float32, texts × 384, unit length).

    There is no attention mask, since every word piece of a row counts: rows are never padded.
    """
    from onnx import TensorProto, checker, helper, numpy_helper

    nodes: list[Any] = []
    constants: dict[str, Any] = {}

    def constant(name: str, value: npt.ArrayLike, dtype: Any = np.float32) -> str:
        constants[name] = numpy_helper.from_array(np.ascontiguousarray(value, dtype=dtype), name)
        return name

    def node(op: str, *inputs: str, **attributes: Any) -> str:
        name = f"{op}_{len(nodes)}"
        nodes.append(helper.make_node(op, list(inputs), [name], name=name, **attributes))
        return name

    def dense(x: str, name: str) -> str:
        product = node("MatMul", x, constant(f"{name}.weight", tensors[f"{name}.weight"].T))
        return node("Add", product, constant(f"{name}.bias", tensors[f"{name}.bias"]))

    def norm(x: str, name: str) -> str:
        scale, bias = (constant(f"{name}.{part}", tensors[f"{name}.{part}"]) for part in ("weight", "bias"))
        return node("LayerNormalization", x, scale, bias, axis=-1, epsilon=_EPSILON)

    def heads(x: str, order: list[int]) -> str:
        split = constant("split", [0, 0, _HEADS, DIMENSION // _HEADS], np.int64)
        return node("Transpose", node("Reshape", x, split), perm=order)

    words = node("Gather", constant("words", tensors["embeddings.word_embeddings.weight"]), "ids")
    table = constant("places", tensors["embeddings.position_embeddings.weight"])
    first, length = constant("first", [0], np.int64), node("Shape", "ids", start=1)
    places = node("Slice", table, first, length)
    kind = constant("kind", tensors["embeddings.token_type_embeddings.weight"][0])
    x = norm(node("Add", node("Add", words, kind), places), "embeddings.LayerNorm")
    for layer in range(_LAYERS):
        name = f"encoder.layer.{layer}."
        query = heads(dense(x, f"{name}attention.self.query"), [0, 2, 1, 3])
        key = heads(dense(x, f"{name}attention.self.key"), [0, 2, 3, 1])
        value = heads(dense(x, f"{name}attention.self.value"), [0, 2, 1, 3])
        scores = node("Div", node("MatMul", query, key), constant("scale", math.sqrt(DIMENSION // _HEADS)))
        mixed = node("Transpose", node("MatMul", node("Softmax", scores, axis=-1), value), perm=[0, 2, 1, 3])
        joined = node("Reshape", mixed, constant("join", [0, 0, DIMENSION], np.int64))
        x = norm(node("Add", dense(joined, f"{name}attention.output.dense"), x), f"{name}attention.output.LayerNorm")
        inner = dense(x, f"{name}intermediate.dense")
        error = node("Erf", node("Div", inner, constant("root", math.sqrt(2))))
        gelu = node("Mul", node("Mul", inner, node("Add", error, constant("unit", 1))), constant("half", 0.5))
        x = norm(node("Add", dense(gelu, f"{name}output.dense"), x), f"{name}output.LayerNorm")
    mean = node("ReduceMean", x, axes=[1], keepdims=0)
    nodes.append(helper.make_node("LpNormalization", [mean], ["vectors"], axis=-1, p=2))

    ids = helper.make_tensor_value_info("ids", TensorProto.INT64, ["texts", "pieces"])
    vectors = helper.make_tensor_value_info("vectors", TensorProto.FLOAT, ["texts", DIMENSION])
    body = helper.make_graph(nodes, NAME, [ids], [vectors], list(constants.values()))
    model = helper.make_model(body, opset_imports=[helper.make_opsetid("", _OPSET)], ir_version=8)
    checker.check_model(model)
    return model


def _cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _cpu() -> str:
    """The processor's name and its widest vector instructions, where the system says: they decide the last bits."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError):
        return platform.processor() or "unknown"
    said = dict(line.replace("\t", "").split(":", 1) for line in reversed(lines) if ":" in line)
    flags = said.get("flags", "").split()
    widest = next((flag for flag in ("avx512_vnni", "avx512f", "avx2", "avx", "asimd") if flag in flags), "")
    return f"{said.get('model name', platform.machine()).strip()} {widest}".strip()
