"""Fixtures and recipes: what is read, and how each fault is named."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from chunkproof import datasets, fixtures, layout, resources
from chunkproof.caselines import read_case
from chunkproof.problems import DataMissing, Problem
from chunkproof.recipes import expand
from chunkproof.vectorfiles import VectorFile

Edit = Callable[[str, str, str], None]


@pytest.fixture
def mini(tmp_path: Path) -> Path:
    """A copy of the fixture mini, to be damaged."""
    shutil.copytree(layout.fixtures_dir() / "mini", tmp_path / "mini")
    return tmp_path / "mini"


def test_every_embedded_fixture_loads() -> None:
    assert {"edge", "mini", "squad6"} <= set(fixtures.names())
    for name in fixtures.names():
        try:
            loaded = fixtures.load(name)
        except DataMissing:
            continue
        assert loaded.name == name
        assert loaded.golden_root == layout.golden_dir()


def test_mini_is_what_it_says() -> None:
    mini = fixtures.load("mini")
    assert len(mini.documents) == 3
    assert all(1_200 <= len(document.text.split()) <= 2_000 for document in mini.documents)
    assert len(mini.questions) == 20
    assert {question.document for question in mini.questions} == {0, 1, 2}
    assert [config.name for config in mini.configs] == [
        "fixed-128",
        "fixed-256",
        "fixed-512",
        "fixed-256-o64",
        "recursive-256",
        "semantic-256",
    ]
    assert len(mini.methods) == 14
    assert set(mini.vectors.chunks) == {config.name for config in mini.configs}


def test_a_fixture_by_path_keeps_its_golden_files(mini: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    loaded = fixtures.load(str(mini))
    assert loaded.by_path
    assert loaded.golden_root == mini / "golden"
    assert fixtures.load(str(mini / "fixture.toml")).folder == mini
    monkeypatch.chdir(mini.parent)
    assert fixtures.load("./mini").golden_root == mini / "golden"


def test_texts_are_read_byte_for_byte(mini: Path) -> None:
    path = mini / "documents" / "ferry.md"
    recipe = mini / "fixture.toml"
    path.write_bytes(b"\xef\xbb\xbfone\r\ntwo\rthree" + path.read_bytes()[17:])
    text = recipe.read_text(encoding="utf-8")
    start = text.index("sha256 = ")
    recipe.write_text(text[:start] + text[text.index("\n", start) + 1 :], encoding="utf-8")
    (mini / "questions.jsonl").write_text("", encoding="utf-8")
    assert fixtures.load(str(mini)).documents[0].text.startswith("\ufeffone\r\ntwo\rthree")


@pytest.mark.parametrize(
    ("file", "old", "new", "words"),
    [
        ("fixture.toml", 'spec = "1"', 'spec = "2"', "spec is '2', but this program speaks spec 1"),
        ("fixture.toml", 'spec = "1"', "spec = ", r"fixture.toml is damaged or half-written: .*line 5"),
        ("fixture.toml", 'spec = "1"', "spec = 1", "spec must be a text, not 1"),
        ("fixture.toml", 'name = "mini"', 'name = "other"', "name is 'other', but the folder is called 'mini'"),
        ("fixture.toml", 'kind = "corpus"', 'kind = "soup"', "kind must be one of corpus, cases, papers, not 'soup'"),
        ("fixture.toml", "size = 512", 'size = "512"', r"config 3 \(fixed-512\): size must be an integer, not '512'"),
        ("fixture.toml", "size = 512", "syze = 512", r"config 3 \(fixed-512\): syze is not known here"),
        ("fixture.toml", 'kind = "rrf"', 'kind = "rff"', "kind must be one of bm25, dense, rrf, weighted"),
        ("fixture.toml", 'name = "fixed-512"', 'name = "fixed-256"', "'fixed-256' is there twice"),
        ("fixture.toml", '["recursive-256"]', '["recursive"]', "configs names 'recursive', which is no config"),
        (
            "fixture.toml",
            'file = "documents/ferry.md"',
            'file = "documents/fery.md"',
            "fery.md cannot be read: No such",
        ),
        ("documents/ferry.md", "4.7 km", "4.8 km", "ferry.md is not the text that .* was made for: its SHA-256 is"),
        (
            "questions.jsonl",
            '"1.9 km"',
            '"1.8 km"',
            r"line 1: the answer is '1.8 km', but \d+:\d+ of 'ferry' reads '1.9 km'",
        ),
        (
            "questions.jsonl",
            '"ferry", "question": "When',
            '"fery", "question": "When',
            "line 2: there is no document 'fery'",
        ),
        ("questions.jsonl", '"start": ', '"start": -', "line 1: start and end must be a range of code points"),
        ("questions.jsonl", '"answer": "1.9 km"', '"answer": "1.9 km', "line 1: it is not JSON"),
        ("questions.jsonl", '"departures"', '"narrowest"', "line 2: the question id 'narrowest' is there twice"),
    ],
)
def test_a_fault_is_named_with_its_place(mini: Path, file: str, old: str, new: str, words: str) -> None:
    path = mini / file
    text = path.read_bytes().decode("utf-8")
    assert old in text
    path.write_bytes(text.replace(old, new, 1).encode("utf-8"))
    with pytest.raises(Problem, match=words):
        fixtures.load(str(mini))


def test_a_half_written_file_is_called_so(mini: Path) -> None:
    path = mini / "questions.jsonl"
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(Problem, match=r"line 20: it is not JSON .* the file looks half-written; restore the file"):
        fixtures.load(str(mini))


def test_damaged_vectors_say_what_to_do(mini: Path) -> None:
    path = mini / "vectors" / "questions.arrow"
    path.write_bytes(path.read_bytes()[:1000])
    with pytest.raises(
        Problem, match=r"questions.arrow is damaged .*; delete it, then `chunkproof embed` makes it anew"
    ):
        fixtures.load(str(mini))


def test_the_rows_of_a_document_are_found_in_one_pass() -> None:
    class Counted(tuple[object, ...]):
        looks = 0

        def __getitem__(self, index: object) -> object:  # type: ignore[override]
            Counted.looks += 1
            return super().__getitem__(index)  # type: ignore[index]

    keys = tuple(Counted((name, i, i + 1)) for name in "abc" for i in range(5))
    file = VectorFile("v.arrow", "0" * 64, keys, ())
    assert [file.of_document(name)["rows"] for name in "cabx"] == [[10, 15], [0, 5], [5, 10], [0, 0]]
    assert Counted.looks <= 2 * len(keys)
    assert file == VectorFile("v.arrow", "0" * 64, keys, ())


def test_the_tokenizer_is_looked_for_among_the_data_before_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CHUNKPROOF_DATA", str(tmp_path))
    monkeypatch.setattr(resources, "cache_folder", lambda: Path("/cache"))
    places = list(resources._tokenizer_places())
    assert places.index(tmp_path / "tokenizer.json") < places.index(Path("/cache/tokenizer.json"))
    # Where `chunkproof data fetch` puts it, and where the table of docs/data.md says.
    assert datasets.entry("qwen2.5-tokenizer").path == "tokenizer.json"


def test_a_document_that_is_not_utf8(mini: Path) -> None:
    import hashlib

    path, recipe = mini / "documents" / "ferry.md", mini / "fixture.toml"
    old = hashlib.sha256(path.read_bytes()).hexdigest()
    path.write_bytes(b"ab\xff")
    new = hashlib.sha256(path.read_bytes()).hexdigest()
    recipe.write_text(recipe.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
    with pytest.raises(Problem, match=r"ferry.md is not UTF-8: byte 2 is 0xff"):
        fixtures.load(str(mini))


def test_without_the_data_the_error_says_which_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CHUNKPROOF_DATA", str(tmp_path))
    monkeypatch.setattr("chunkproof.datasets.cache_dir", lambda: tmp_path / "cache")
    with pytest.raises(DataMissing, match=r"squad/dev-v1.1.json .* SHA-256 must be 95aa6a52"):
        fixtures.load("squad6")


# Recipes and cases


def test_recipes_stand_for_any_string() -> None:
    request = {
        "op": "rank",
        "passages": ["a", {"repeat": "ab", "times": 3}],
        "queries": [{"join": ["x", {"repeat": "y", "times": 2}]}],
    }
    assert expand(request) == {"op": "rank", "passages": ["a", "ababab"], "queries": ["xyy"]}
    assert expand({"repeat": {"join": ["a", "b"]}, "times": 0}) == ""


@pytest.mark.parametrize(
    "recipe",
    [
        {"repeat": "a", "times": -1},
        {"repeat": "a", "times": True},
        {"repeat": "a", "times": 1.5},
        {"repeat": 3, "times": 1},
        {"join": "ab"},
        {"join": [1]},
        {"repeat": "ab", "times": 10**12},
    ],
)
def test_a_bad_recipe_is_a_problem(recipe: dict[str, object]) -> None:
    with pytest.raises(Problem):
        expand({"text": recipe})


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ({"why": "x", "op": "info"}, 'a case has an "id"'),
        ({"id": "a", "op": "info"}, "the case 'a' has no \"why\""),
        ({"id": "a", "why": "x"}, 'neither an "op" nor "raw"'),
        ({"id": "a", "why": "x", "raw": "y", "op": "info"}, "a raw case has"),
        ({"id": "a", "why": "x", "raw_base64": "%"}, "raw_base64 is not base64"),
        ({"id": "a", "why": "x", "op": "pieces", "text": {"repeat": "a", "times": "3"}}, "f, line 1: a recipe's"),
    ],
)
def test_a_bad_case_is_named(line: dict[str, object], words: str) -> None:
    with pytest.raises(Problem, match=words):
        read_case(line, "f, line 1")


def test_a_raw_case_keeps_its_bytes() -> None:
    assert read_case({"id": "a", "why": "x", "raw_base64": "/w=="}, "").raw == b"\xff"
    assert read_case({"id": "a", "why": "x", "raw": {"repeat": "[", "times": 3}}, "").raw == b"[[["


def test_an_id_is_used_once(tmp_path: Path) -> None:
    folder = tmp_path / "twice"
    folder.mkdir()
    (folder / "fixture.toml").write_text('name = "twice"\nkind = "cases"\nspec = "1"\n', encoding="utf-8")
    case = json.dumps({"id": "a", "why": "x", "op": "info"}) + "\n"
    (folder / "one.jsonl").write_text(case, encoding="utf-8")
    (folder / "two.jsonl").write_text("\n" + case, encoding="utf-8")
    with pytest.raises(Problem, match=r"two.jsonl, line 2: the id 'a' is already used in one.jsonl, line 1"):
        fixtures.load(str(folder))
