"""`fixture check` names every fault by file and line, all at once, and `--fix` mends only what follows from the texts."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from chunkproof import checkfixture, cli, embed, fixtures, layout, minilm, newfixture
from chunkproof.minilm import Embedded
from chunkproof.problems import Problem
from chunkproof.tomlplaces import Places


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """A new fixture with the example, to be damaged."""
    newfixture.new(tmp_path / "own")
    return tmp_path / "own"


@pytest.fixture
def mini(tmp_path: Path) -> Path:
    shutil.copytree(layout.fixtures_dir() / "mini", tmp_path / "mini")
    return tmp_path / "mini"


def edit(path: Path, old: str, new: str) -> int:
    """Replace a text that stands once or more by another, once; the line in which it stood."""
    data = path.read_bytes().decode("utf-8")
    assert old in data
    path.write_bytes(data.replace(old, new, 1).encode("utf-8"))
    return data[: data.index(old)].count("\n") + 1


def faults(folder: Path) -> list[str]:
    return [str(each).removeprefix(f"{folder}/") for each in checkfixture.check(folder).faults]


def test_sound_folders_have_no_fault(own: Path) -> None:
    assert faults(own) == []
    for name in ("edge", "mini"):
        assert faults(layout.fixtures_dir() / name) == []


@pytest.mark.parametrize(
    ("file", "old", "new", "words"),
    [
        ("fixture.toml", 'spec = "1"', "spec = ", "it is not TOML: Invalid value"),
        ("fixture.toml", 'spec = "1"', 'spec = "2"', "spec is '2', but this program speaks spec 1"),
        ("fixture.toml", 'spec = "1"', 'sppec = "1"', "sppec is not known here; is spec meant?"),
        ("fixture.toml", 'name = "own"', 'name = "other"', "name is 'other', but the folder is called 'own'"),
        ("fixture.toml", 'kind = "corpus"', 'kind = "soup"', "kind must be one of corpus, cases, papers, not 'soup'"),
        ("fixture.toml", "size = 256", 'size = "256"', "config 1 (fixed-256): size must be an integer, not '256'"),
        ("fixture.toml", "size = 256", "size = 0", "config 1 (fixed-256): size must be an integer, at least 1, not 0"),
        ("fixture.toml", "size = 256", "syze = 256", "config 1 (fixed-256): syze is not known here; is size meant?"),
        ("fixture.toml", "overlap = 64", "overlap = 256", "overlap 256 must be below size 256"),
        (
            "fixture.toml",
            "percentile = 25",
            "percentile = 101",
            "percentile must be an integer, at least 0 and at most 100",
        ),
        ("fixture.toml", "alpha = 0.5", "alpha = 1.5", "alpha must be a number, at least 0.0 and at most 1.0, not 1.5"),
        ("fixture.toml", "alpha = 0.5", "alpha = true", "alpha must be a number, not True"),
        ("fixture.toml", 'kind = "rrf"', 'kind = "rff"', "kind must be one of bm25, dense, rrf, weighted, not 'rff'"),
        ("fixture.toml", 'kind = "rrf"', 'kind = "rrf"\nconfigs = ["x"]', "configs names 'x', which is no config"),
        ("fixture.toml", 'name = "fixed-256-o64"', 'name = "fixed-256"', "the name 'fixed-256' is there twice"),
        ("fixture.toml", 'precision = "int8"', 'precision = "int2"', "must be one of int8, int4, binary, not 'int2'"),
        (
            "fixture.toml",
            "example.md",
            "exampel.md",
            "there is no file documents/exampel.md; in that folder are example.md",
        ),
        ("fixture.toml", 'file = "questions', 'file = "question', "questions: there is no file question.jsonl"),
        ("fixture.toml", 'sentences = "', 'sentence = "', "sentence is not known here; is sentences meant?"),
        ("fixture.toml", "chunks-{config}", "chunks", 'chunks must hold "{config}"'),
        ("questions.jsonl", '"start": 18', '"start": 19', "does not hold"),
        (
            "questions.jsonl",
            '"document": "example"',
            '"document": "exmple"',
            "no document 'exmple'; is 'example' meant?",
        ),
        ("questions.jsonl", '"question": "By', '"qestion": "By', '"question" is missing; is it meant by "qestion"?'),
        (
            "questions.jsonl",
            '"id": "example/rope"',
            '"id": "example/winter"',
            "the id 'example/winter' is already used in line 1",
        ),
        ("questions.jsonl", '"id": "example/rope"', '"id": ""', '"id" must be a text that is not empty'),
        (
            "questions.jsonl",
            '"id": "example/rope"',
            '"id" "example/rope"',
            "it is not JSON: Expecting ':' delimiter, at character 7",
        ),
    ],
)
def test_a_fault_is_named_with_file_and_line(own: Path, file: str, old: str, new: str, words: str) -> None:
    if words == "does not hold":
        question = json.loads((own / file).read_text(encoding="utf-8").splitlines()[0])
        old, new = f'"start": {question["start"]}', f'"start": {question["start"] + 1}'
        words = f'not the answer; the answer stands once: {old}, "end": {question["end"]}'
    line = edit(own / file, old, new)
    found = faults(own)
    assert len(found) >= 1
    assert any(each.startswith(f"{file}:") and words in each for each in found), found
    lines = {int(each.split(":")[1]) for each in found if words in each}
    assert lines & {line, line + new.count("\n"), line - 2}, (found, line)  # a missing part is named at its table


def test_all_faults_are_named_at_once(own: Path) -> None:
    recipe, questions = own / "fixture.toml", own / "questions.jsonl"
    edits = [
        ("licence = ", "license = ", "license is not known here; is licence meant?"),
        ("overlap = 64", "overlap = -1", "config 2 (fixed-256-o64): overlap must be"),
        ("alpha = 0.5", "alpha = -1", "method 4 (weighted alpha=0.5): alpha must be"),
    ]
    wanted = [f"fixture.toml:{edit(recipe, old, new)}: {words}" for old, new, words in edits]
    edit(own / "documents/example.md", "town quay", "old quay")
    hashed = hashlib.sha256((own / "documents/example.md").read_bytes()).hexdigest()
    wanted.append(f'document 1 (example): documents/example.md is another text; if it is meant: sha256 = "{hashed}"')
    for number, line in enumerate(questions.read_text(encoding="utf-8").splitlines(), 1):
        wanted.append(f"questions.jsonl:{number}: {json.loads(line)['start']} to")
    with questions.open("a", encoding="utf-8") as file:
        file.write('{"id": "more"}\n[]\n')
    wanted += [f'questions.jsonl:4: "{name}" is missing' for name in ("document", "question")]
    wanted.append("questions.jsonl:5: it is not a JSON object")
    found = faults(own)
    for words in wanted:
        assert any(words in each for each in found), (words, found)
    assert cli.run(["fixture", "check", str(own)]) == 1


def test_texts_that_are_no_texts(own: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = own / "documents" / "example.md"
    path.write_bytes(b"one\ntwo\xff\n")
    assert "documents/example.md:2: it is not UTF-8: byte 7 is 0xff; save the file as UTF-8" in faults(own)
    path.write_bytes(b" \n\n")
    assert "documents/example.md:1: it is empty: a document has at least one visible character" in faults(own)
    (own / "fixture.toml").write_bytes(b'name = "own"\n# \xff\n')
    assert faults(own) == ["fixture.toml:2: it is not UTF-8: byte 15 is 0xff; save the file as UTF-8"]
    assert cli.run(["fixture", "check", str(own), "--json"]) == 1
    data = json.loads(capsys.readouterr().out)
    assert data["faults"][0]["line"] == 2
    assert not data["ok"]


def test_an_answer_is_looked_for(own: Path) -> None:
    lines = [
        {"answer": "the"},
        {"answer": "THAT  OF 15:10"},
        {"answer": "not there"},
        {"answer": "a rope", "start": 0, "end": 99_999},
        {"answer": "a rope", "start": 0, "end": True},
        {"answer": ""},
    ]
    named = [{"id": str(index), "document": "example", "question": "?", **line} for index, line in enumerate(lines)]
    (own / "questions.jsonl").write_text("".join(json.dumps(line) + "\n" for line in named), encoding="utf-8")
    found = [each.removeprefix("questions.jsonl:") for each in faults(own)]
    assert "stands 11 times, choose: " in found[0]
    assert found[0].endswith("times more")
    assert "does not stand in 'example'; is this meant, at 174: \"that of 15:10\"" in found[1]
    assert found[2].endswith("'not there' does not stand in 'example'")
    assert all("must be a range of code points within 'example'" in each for each in found[3:5])
    assert "\"answer\" must be a text that is not empty, not ''" in found[5]


def test_what_is_only_worth_saying_is_no_fault(own: Path) -> None:
    (own / "documents" / "stray.md").write_text("x", encoding="utf-8")
    text = (own / "fixture.toml").read_text(encoding="utf-8")
    start = text.index('sha256 = "')
    (own / "fixture.toml").write_text(text[:start] + text[text.index("\n", start) + 1 :], encoding="utf-8")
    (own / "questions.jsonl").write_text("", encoding="utf-8")
    found = checkfixture.check(own)
    assert found.faults == []
    hashed = hashlib.sha256((own / "documents/example.md").read_bytes()).hexdigest()
    for words in (f'sha256 = "{hashed}"', "stray.md is not listed", "has no question yet", "`chunkproof embed "):
        assert any(words in note for note in found.notes), found.notes


def test_a_folder_must_be_a_fixture(tmp_path: Path) -> None:
    with pytest.raises(Problem, match="is not a folder: `chunkproof fixture new"):
        checkfixture.check(tmp_path / "none")
    with pytest.raises(Problem, match=r"is no fixture: it has no fixture\.toml"):
        checkfixture.check(tmp_path)


def test_cases_are_checked_too(tmp_path: Path) -> None:
    folder = tmp_path / "cases"
    folder.mkdir()
    (folder / "fixture.toml").write_text('name = "cases"\nkind = "cases"\nspec = "1"\n', encoding="utf-8")
    assert faults(folder) == ["fixture.toml:2: kind is 'cases', but the folder holds no .jsonl file"]
    lines = ['{"id":"a","why":"x","op":"info"}', '{"id":"a","why":"x","op":"info"}', '{"id":"b","op":"info"}', "{"]
    (folder / "a.jsonl").write_text("\n".join(lines), encoding="utf-8")
    found = faults(folder)
    assert [each.split(": ")[0] for each in found] == ["a.jsonl:2", "a.jsonl:3", "a.jsonl:4"]


# Mending


def test_fix_writes_hashes_and_places_and_nothing_else(own: Path) -> None:
    before = (own / "fixture.toml").read_text(encoding="utf-8"), (own / "questions.jsonl").read_text(encoding="utf-8")
    assert checkfixture.check(own, fix=True).mended == []
    edit(own / "documents/example.md", "# The ferry", "# The small ferry")
    edit(own / "questions.jsonl", '"id": "example/rope"', '"kind": "é", "id": "example/rope"')
    found = checkfixture.check(own, fix=True)
    assert found.faults == []
    assert [each.what.split(" of ")[0] for each in found.mended] == ["wrote the hash", *["wrote start and end"] * 3]
    recipe, questions = ((own / name).read_text(encoding="utf-8") for name in ("fixture.toml", "questions.jsonl"))
    old, new = before[0].splitlines(), recipe.splitlines()
    changed = [(a, b) for a, b in zip(old, new, strict=True) if a != b]
    assert len(changed) == 1
    assert changed[0][1].startswith('sha256 = "')
    for a, b in zip(before[1].splitlines(), questions.splitlines(), strict=True):
        was, now = json.loads(a), json.loads(b)
        assert now["start"] == was["start"] + len("small ")
        assert now.pop("kind", "é") == "é"
        assert {**now, "start": 0, "end": 0} == {**was, "start": 0, "end": 0}
    assert "é" in questions
    assert fixtures.load(str(own)).questions[0].start == json.loads(questions.splitlines()[0])["start"]


def test_fix_adds_a_hash_where_there_is_none_and_keeps_line_ends(own: Path) -> None:
    recipe = own / "fixture.toml"
    text = recipe.read_text(encoding="utf-8")
    start = text.index('sha256 = "')
    text = text[:start] + text[text.index("\n", start) + 1 :]
    recipe.write_bytes(text.replace("\n", "\r\n").encode("utf-8"))
    assert len(checkfixture.check(own, fix=True).mended) == 1
    data = recipe.read_bytes().decode("utf-8")
    assert data.count("\n") == data.count("\r\n") == text.count("\n") + 1
    assert checkfixture.check(own).faults == []


def test_fix_leaves_alone_what_it_cannot_read(own: Path) -> None:
    (own / "fixture.toml").write_text("name = \n", encoding="utf-8")
    assert checkfixture.check(own, fix=True).mended == []
    assert (own / "fixture.toml").read_text(encoding="utf-8") == "name = \n"


# Vectors


class Toy:
    """An embedder that makes any vectors."""

    def embed(self, texts: Sequence[str]) -> list[Embedded]:
        found = []
        for text in texts:
            seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big")
            vector = np.random.default_rng(seed).normal(size=minilm.DIMENSION).astype(np.float32)
            found.append(Embedded(vector, len(text.split()) + 2))
        return found

    def provenance(self) -> dict[str, str | int]:
        return {"model": "toy of test_fixture_check"}


def test_vectors_are_held_against_the_texts(own: Path) -> None:
    assert embed.embed(str(own), model=Toy()).ok
    found = checkfixture.check(own)
    assert found.faults == found.notes == []
    assert embed.provenance(embed.read(own / "vectors/questions.arrow"))["texts_sha256"]

    edit(own / "documents/example.md", "blankets for thirty", "blankets for ninety-nine people")
    edit(own / "questions.jsonl", "Which is the last", "What is the last")
    checkfixture.check(own, fix=True)
    found = checkfixture.check(own)
    said = [str(each).removeprefix(f"{own}/") for each in found.faults]
    assert said[0].startswith(
        "vectors/questions.arrow: it was made for other texts, which were cut at the same places; "
    )
    assert said[1].startswith("vectors/sentences.arrow: it was made for other texts: row ")
    assert all(f"`chunkproof embed {own} --replace` makes it anew" in each for each in said)
    assert len(said) == 2
    assert embed.embed(str(own), model=Toy(), replace=True).ok
    assert faults(own) == []


def test_chunks_of_another_size_are_stale(own: Path) -> None:
    assert embed.embed(str(own), model=Toy()).ok
    edit(own / "fixture.toml", "size = 256", "size = 40")
    (said,) = faults(own)
    assert said.startswith("vectors/chunks-fixed-256.arrow: it was made for other texts: row 1 is example 0 ")


def test_damaged_vectors_are_named_all(mini: Path) -> None:
    for name in ("questions", "chunks-fixed-128"):
        path = mini / "vectors" / f"{name}.arrow"
        path.write_bytes(path.read_bytes()[:1000])
    found = faults(mini)
    assert [each.split(": ")[0] for each in found] == ["vectors/questions.arrow", "vectors/chunks-fixed-128.arrow"]
    assert all("is damaged or no vector file" in each and "chunkproof embed" in each for each in found)


# Lines of TOML


def test_places_of_tables_and_fields() -> None:
    text = """a = 1 # [no]
[[x]]
k = '''
[[x]]
k = 2
'''
 [[ x ]] # second
  k = 3
[y]
k = "[[x]]"
"""
    places = Places(text)
    assert places.line("", 0, "a") == 1
    assert [places.header("x", 1), places.header("x", 2), places.header("y")] == [2, 7, 9]
    assert [places.line("x", 1, "k"), places.line("x", 2, "k"), places.line("y", 0, "k")] == [3, 8, 10]
    assert places.line("x", 2, "none") == 7
    assert places.exact("x", 2, "none") is None
    assert places.line("z", 1, "k") == 1
