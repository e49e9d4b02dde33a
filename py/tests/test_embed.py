"""The embedder against a second computation of it, and what `embed` writes, keeps and refuses."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest

from chunkproof import datasets, embed, minilm
from chunkproof.minilm import Embedded
from chunkproof.problems import Problem

Doubles = npt.NDArray[np.float64]


# The model


@pytest.fixture(scope="module")
def model() -> minilm.MiniLM:
    for module in ("onnx", "onnxruntime", "safetensors"):
        pytest.importorskip(module, reason=f"{module} is not installed (the extra `embed`)")
    try:
        return minilm.MiniLM()
    except datasets.MissingData as missing:
        pytest.skip(str(missing))


def forward(tensors: dict[str, Doubles], texts: Sequence[Sequence[int]]) -> list[Doubles]:
    """The whole model in binary64, straight from its description, sharing nothing with the graph but the weights.

    The word pieces of all texts stand one after another; only attention and the mean look at a text's own.
    """
    from scipy.special import erf

    def dense(x: Doubles, name: str) -> Doubles:
        return x @ tensors[f"{name}.weight"].T + tensors[f"{name}.bias"]

    def norm(x: Doubles, name: str) -> Doubles:
        centred = x - x.mean(axis=-1, keepdims=True)
        spread = np.sqrt((centred**2).mean(axis=-1, keepdims=True) + 1e-12)
        return centred / spread * tensors[f"{name}.weight"] + tensors[f"{name}.bias"]

    def attention(query: Doubles, key: Doubles, value: Doubles) -> Doubles:
        q, k, v = (each.reshape(-1, 12, 32).transpose(1, 0, 2) for each in (query, key, value))
        scores = q @ k.transpose(0, 2, 1) / np.sqrt(32)
        weight = np.exp(scores - scores.max(axis=-1, keepdims=True))
        return (weight / weight.sum(axis=-1, keepdims=True) @ v).transpose(1, 0, 2).reshape(-1, 384)

    borders = np.cumsum([0, *map(len, texts)])
    own = [slice(start, end) for start, end in pairwise(borders)]
    x = tensors["embeddings.word_embeddings.weight"][np.concatenate(texts)]
    x += tensors["embeddings.position_embeddings.weight"][np.concatenate([np.arange(len(ids)) for ids in texts])]
    x = norm(x + tensors["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm")
    for layer in range(6):
        name = f"encoder.layer.{layer}"
        q, k, v = (dense(x, f"{name}.attention.self.{part}") for part in ("query", "key", "value"))
        mixed = np.concatenate([attention(q[at], k[at], v[at]) for at in own])
        x = norm(x + dense(mixed, f"{name}.attention.output.dense"), f"{name}.attention.output.LayerNorm")
        inner = dense(x, f"{name}.intermediate.dense")
        inner *= 0.5 * (1 + erf(inner / np.sqrt(2)))
        x = norm(x + dense(inner, f"{name}.output.dense"), f"{name}.output.LayerNorm")
    means = [x[at].mean(axis=0) for at in own]
    return [mean / np.sqrt((mean**2).sum()) for mean in means]


def prose(checkout: Path, count: int) -> list[str]:
    """Sentences of the project's own spec: its paragraphs, tables and rules, with their odd characters."""
    found: list[str] = []
    for chapter in sorted((checkout / "spec").glob("*.md")):
        text = re.sub(r"```.*?```", "", chapter.read_text(encoding="utf-8"), flags=re.DOTALL)
        found += [each.strip() for each in re.split(r"(?<=[.:;])\s+|\n+", text) if len(each.strip()) > 20]
    return list(dict.fromkeys(found))[:count]


def test_a_binary64_forward_pass_gives_the_same_int8_vectors(model: minilm.MiniLM, checkout: Path) -> None:
    pytest.importorskip("scipy.special", reason="scipy is not installed")
    sentences = prose(checkout, 296)
    sentences += [" ".join(sentences[:40]), "", "Ωμέγα, 東京 and naïve 😀\u0301!", "x" * 300]  # too long, empty, odd
    assert len(sentences) == 300
    tensors = {name: each.astype(np.float64) for name, each in minilm.weights(datasets.path("minilm")).items()}
    tokenizer = minilm.tokenizer(datasets.path("minilm-tokenizer"))
    exact = forward(tensors, [minilm.word_pieces(tokenizer, each)[0] for each in sentences])
    made = model.embed(sentences)
    differ = np.count_nonzero(minilm.int8(exact) != minilm.int8([each.vector for each in made]))
    assert differ <= embed.TOLERANCE * 300 * minilm.DIMENSION
    assert made[296].wordpieces > minilm.LIMIT
    assert made[297].wordpieces == 2  # [CLS] and [SEP]
    np.testing.assert_allclose([np.linalg.norm(each.vector) for each in made], 1, rtol=1e-6)


def test_a_text_is_cut_to_the_limit_with_both_marks_kept(model: minilm.MiniLM) -> None:
    tokenizer = minilm.tokenizer(datasets.path("minilm-tokenizer"))
    for words, kept in ((253, 255), (254, 256), (255, 256), (1000, 256)):
        ids, whole = minilm.word_pieces(tokenizer, "tea " * words)
        assert (whole, len(ids), ids[0], ids[-1]) == (words + 2, kept, 101, 102)


def test_a_vector_depends_on_its_text_alone(model: minilm.MiniLM) -> None:
    texts = ["A kettle.", "The water in the kettle boils before the tea is poured. " * 9, "Hot.", "A kettle."]
    together = model.embed(texts)
    one_by_one = [model.embed([text])[0] for text in reversed(texts)][::-1]
    for a, b in zip(together, one_by_one, strict=True):
        assert a.vector.tobytes() == b.vector.tobytes()
        assert a.wordpieces == b.wordpieces


def test_int8_rounds_halves_to_even_after_the_product() -> None:
    assert minilm.int8([[46, 23], [254, 1], [254, 3], [0, 0], [-2, 1]]).tolist() == [
        [127, 64],
        [127, 0],
        [127, 2],
        [0, 0],
        [-127, 64],
    ]


# The files


class Toy:
    """An embedder that needs no model: a vector out of the text's hash. `broken` components are off by one."""

    def __init__(self, broken: int = 0, stop_after: int | None = None, version: str = "1") -> None:
        self.broken, self.stop_after, self.version = broken, stop_after, version
        self.seen: list[str] = []

    def embed(self, texts: Sequence[str]) -> list[Embedded]:
        if self.stop_after is not None and len(self.seen) >= self.stop_after:
            raise KeyboardInterrupt
        self.seen += texts
        return [Embedded(self._vector(text), len(text.split()) + 2) for text in texts]

    def _vector(self, text: str) -> npt.NDArray[np.float32]:
        raw = hashlib.shake_128(text.encode()).digest(minilm.DIMENSION)
        vector = np.frombuffer(raw, np.uint8).astype(np.float32) % 251 - 125
        vector[0] = 127
        changed = min(self.broken, minilm.DIMENSION - 1)
        vector[1 : 1 + changed] += 1
        self.broken -= changed
        return vector

    def provenance(self) -> dict[str, str | int]:
        return {"model": "toy", "version": self.version}


TEXT = "".join(
    f"A kettle sings for {i} minutes. The tea of day {i} is hot.\n\nRain falls on {i} roofs! All {i} mind. Is it {i}?\n\n"
    for i in range(10, 20)
)
RECIPE = """
name = "toy"
kind = "corpus"
title = "A toy"
licence = "CC0-1.0"
spec = "1"
paragraphs = "newline"
embedded = true
[[document]]
id = "one"
file = "one.md"
[[document]]
id = "two"
file = "two.md"
[questions]
file = "questions.jsonl"
[[config]]
name = "fixed-16"
kind = "fixed"
size = 16
[[config]]
name = "semantic-32"
kind = "semantic"
size = 32
[[method]]
name = "bm25"
kind = "bm25"
[vectors]
sentences = "vectors/sentences-newline.arrow"
questions = "vectors/questions.arrow"
chunks = "vectors/chunks-{config}.arrow"
"""


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A fixture of two short texts, and an empty cache."""
    monkeypatch.setattr(datasets, "cache_dir", lambda: tmp_path / "cache")
    folder = tmp_path / "toy"
    folder.mkdir()
    (folder / "fixture.toml").write_text(RECIPE, encoding="utf-8")
    (folder / "one.md").write_text(TEXT, encoding="utf-8")
    (folder / "two.md").write_text("Snow 😀 melts. " + TEXT.replace("1", "2"), encoding="utf-8")
    (folder / "questions.jsonl").write_text(
        '{"id": "q", "document": "one", "question": "What sings?", "answer": "kettle", "start": 2, "end": 8}\n'
    )
    return folder


def vectors(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in sorted((folder / "vectors").glob("*"))}


def test_files_have_keys_counts_vectors_and_what_they_were_made_by(toy: Path) -> None:
    report = embed.embed(str(toy), model=Toy())
    assert report.ok
    assert [file.state for file in report.files] == ["new"] * 4
    texts = {name: (toy / f"{name}.md").read_text(encoding="utf-8") for name in ("one", "two")}
    sentences = embed.read(toy / "vectors/sentences-newline.arrow")
    assert sentences.column_names == ["document", "start", "end", "vector"]
    assert sentences.schema.field("vector").type == pa.list_(pa.int8(), minilm.DIMENSION)
    rows = list(zip(*(sentences.column(name).to_pylist() for name in ("document", "start", "end")), strict=True))
    for name, text in texts.items():
        assert "".join(text[a:b] for document, a, b in rows if document == name) == text
    name, start, end = rows[1]
    expected = minilm.int8(Toy()._vector(texts[name][start:end].strip()))[0]
    assert sentences.column("vector").to_pylist()[1] == expected.tolist()
    chunks = embed.read(toy / "vectors/chunks-fixed-16.arrow")
    assert chunks.column_names == ["document", "start", "end", "wordpieces", "vector"]
    first = texts["one"][chunks.column("start")[0].as_py() : chunks.column("end")[0].as_py()]
    assert chunks.column("wordpieces")[0].as_py() == len(first.split()) + 2
    assert chunks.column("vector").to_pylist()[0] == minilm.int8(Toy()._vector(first))[0].tolist()
    assert embed.read(toy / "vectors/questions.arrow").column("id").to_pylist() == ["q"]
    said = embed.provenance(chunks)
    assert (said["model"], said["version"]) == ("toy", "1")
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", said["date"])


def test_what_is_there_is_compared_and_kept(toy: Path) -> None:
    embed.embed(str(toy), model=Toy())
    before = vectors(toy)
    report = embed.embed(str(toy), model=Toy(version="2"))
    assert report.ok
    assert (report.differ, {file.state for file in report.files}) == (0, {"same"})
    few = int(embed.TOLERANCE * report.components)
    report = embed.embed(str(toy), model=Toy(broken=few, version="3"))
    assert report.ok
    assert report.differ >= few > 0
    assert f"{report.differ:,} of {report.components:,} components differ" in str(report)
    assert vectors(toy) == before


def test_too_many_differences_are_refused_unless_replaced(toy: Path) -> None:
    embed.embed(str(toy), model=Toy())
    before = vectors(toy)
    (toy / "vectors/questions.arrow").unlink()
    report = embed.embed(str(toy), model=Toy(broken=300, version="2"))
    assert not report.ok
    assert "--replace" in report.refused
    assert report.differ > embed.TOLERANCE * report.components
    assert vectors(toy) == {name: data for name, data in before.items() if name != "questions.arrow"}
    report = embed.embed(str(toy), model=Toy(broken=300, version="2"), replace=True)
    assert report.ok
    assert {file.state for file in report.files} <= {"new", "same", "replaced"}
    assert embed.embed(str(toy), model=Toy(version="2")).differ == 0
    assert embed.provenance(embed.read(toy / "vectors/sentences-newline.arrow"))["version"] == "2"


def test_a_changed_text_makes_its_files_stale(toy: Path) -> None:
    embed.embed(str(toy), model=Toy())
    before = vectors(toy)
    (toy / "one.md").write_text(TEXT + "Other.", encoding="utf-8")
    report = embed.embed(str(toy), model=Toy())
    assert not report.ok
    assert "sentences-newline.arrow" in report.refused
    assert vectors(toy) == before
    assert embed.embed(str(toy), model=Toy(), replace=True).ok
    assert {file.state for file in embed.embed(str(toy), model=Toy()).files} == {"same"}


def test_an_interrupted_run_goes_on_where_it_was(toy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embed, "BATCH", 4)
    whole = Toy(version="other")
    embed.embed(str(toy), model=whole)
    for file in (toy / "vectors").iterdir():
        file.unlink()
    stopped, resumed, again = Toy(stop_after=8), Toy(), Toy()
    with pytest.raises(KeyboardInterrupt):
        embed.embed(str(toy), model=stopped)
    assert not any((toy / "vectors").iterdir())
    assert embed.embed(str(toy), model=resumed).ok
    assert len(stopped.seen) == 8
    assert sorted(stopped.seen + resumed.seen) == sorted(whole.seen)
    embed.embed(str(toy), model=again)
    assert again.seen == []
    embed.embed(str(toy), model=again, fresh=True)
    assert sorted(again.seen) == sorted(whole.seen)


def test_a_damaged_cache_is_named_and_an_unwritable_one_does_without(toy: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    cache.mkdir()
    (cache / "vectors.sqlite").write_bytes(b"this is no database, and long enough to be looked at as one" * 20)
    with pytest.raises(Problem, match=r"vectors\.sqlite is damaged"):
        embed.embed(str(toy), model=Toy())
    (cache / "vectors.sqlite").unlink()
    cache.rmdir()
    cache.write_text("a file where the folder should be")
    assert embed.embed(str(toy), model=Toy()).ok


def test_sentences_under_both_rules_if_the_recipe_asks(toy: Path) -> None:
    recipe = toy / "fixture.toml"
    recipe.write_text(recipe.read_text() + 'sentences_rules = ["newline", "blank_line"]\n')
    assert embed.embed(str(toy), model=Toy()).ok
    assert {"sentences-newline.arrow", "sentences-blank_line.arrow"} <= set(vectors(toy))


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("[vectors]", "[other]", "vectors is missing"),
        ('kind = "semantic"', 'kind = "semantic"\nparagraphs = "blank_line"', "another paragraph rule"),
        ("[vectors]", '[vectors]\nsentences_rules = ["blank_line"]', "sentences_rules"),
    ],
)
def test_a_recipe_that_cannot_be_embedded_is_a_problem(toy: Path, old: str, new: str, said: str) -> None:
    recipe = toy / "fixture.toml"
    recipe.write_text(recipe.read_text().replace(old, new))
    with pytest.raises(Problem, match=said):
        embed.embed(str(toy), model=Toy())


def test_the_report_is_the_same_for_people_and_programs(toy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = embed.embed(str(toy), model=Toy(), progress=True)
    said: dict[str, Any] = report.as_json()
    assert (said["ok"], said["refused"], said["components"]) == (True, None, 0)
    assert all(file["path"] in str(report) for file in said["files"])
    out, err = capsys.readouterr()
    assert out == ""
    assert "sentences" in err


def test_squad6_has_the_published_word_piece_counts(checkout: Path) -> None:
    folder = checkout / "fixtures" / "squad6" / "vectors"
    counted = {}
    for config in ("fixed-128", "fixed-256", "fixed-512", "fixed-256-o64", "recursive-256", "semantic-256"):
        counts = embed.read(folder / f"chunks-{config}.arrow").column("wordpieces").to_pylist()
        counted[config] = len(counts), sum(count > minilm.LIMIT for count in counts)
    assert list(counted.values()) == [(296, 0), (150, 55), (77, 73), (197, 75), (208, 7), (351, 9)]
    said = embed.provenance(embed.read(folder / "questions.arrow"))
    assert said["weights_sha256"] == datasets.entry("minilm").sha256
    assert said["tokenizer_sha256"] == datasets.entry("minilm-tokenizer").sha256
