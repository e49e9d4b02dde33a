"""The vectors of a fixture held against its texts: every file must be there and made for what the texts are cut into now."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from chunkproof import fixtures, layout, parity, text
from chunkproof.findings import Findings
from chunkproof.parity import Command
from chunkproof.pipeline import Run
from chunkproof.problems import DataMissing, Problem
from chunkproof.replies import Json
from chunkproof.stages import Select
from chunkproof.tomltable import TomlTable
from chunkproof.vectorfiles import VectorFile, digest_of_texts, open_vectors

Keys = tuple[tuple[Any, ...], ...]


def check_vectors(found: Findings, table: TomlTable, configs: Sequence[str], line: Callable[[str], int]) -> None:
    """Check the files that the table [vectors] names; `line` says where a field of it stands."""
    if found.faults:
        found.notes.append("the vectors are looked at once the rest is mended")
        return
    sound, missing = True, 0
    for name, file in _files(table, configs):
        try:
            missing += open_vectors(found.folder, file) is None
        except Problem as problem:
            sound = False
            found.add(file, 0, str(problem).removeprefix(f"{found.folder / file} "))
        if "{config}" not in table.text("chunks", "{config}") and name == "chunks":
            found.add(
                "fixture.toml", line("chunks"), 'vectors: chunks must hold "{config}": there is a file for each config'
            )
            return
    if not sound:
        return
    if missing:
        found.notes.append(
            f"{missing} vector files are not there yet: `chunkproof embed {found.folder}` makes them; "
            "what needs them is left out until then"
        )
    try:
        fixture = fixtures.load(str(found.folder / "fixture.toml"))
    except DataMissing:
        return
    except Problem as problem:
        found.add("fixture.toml", line(""), str(problem))
        return
    _Made(found, fixture).all()


def _files(table: TomlTable, configs: Sequence[str]) -> list[tuple[str, str]]:
    """The files that the table names, with the field that names each."""
    named = [(name, table.text(name)) for name in ("sentences", "questions") if name in table.table]
    chunks = table.text("chunks", "")
    return named + [("chunks", chunks.replace("{config}", config)) for config in configs if chunks]


class _Made:
    """What vectors were made for, beside what the Python engine cuts the texts into now."""

    def __init__(self, found: Findings, fixture: fixtures.Fixture) -> None:
        self.found, self.fixture = found, fixture
        self.texts = {document.id: document.text for document in fixture.documents}

    def all(self) -> None:
        vectors = self.fixture.vectors
        if vectors.questions is not None:
            asked = self.fixture.questions
            self._compare(vectors.questions, tuple((each.id,) for each in asked), [each.text for each in asked])
        if vectors.sentences is None and not vectors.chunks:
            return
        replies = self._replies("segments")
        if vectors.sentences is not None:
            keys = self._keys(replies, "segments", "", "sentences")
            if not self._compare(vectors.sentences, keys, [each.strip(text.WHITE) for each in self._cut(keys)]):
                self.found.notes.append("the chunks' vectors are looked at once those of the sentences are made anew")
                return
        replies = self._replies("chunks")
        for name, file in vectors.chunks.items():
            cases = [f"{name}/{document}" for document in self.texts]
            if all(("chunks", case) in replies for case in cases):
                keys = self._keys(replies, "chunks", f"{name}/", "chunks")
                self._compare(file, keys, self._cut(keys))

    def _replies(self, stage: str) -> dict[tuple[str, str], Json]:
        run = Run("py")
        command = Command("py", tuple(layout.py_engine()), "py")
        parity.run_engine(self.fixture, command, run, Select(stages=(stage,)))
        if run.failure is not None:
            raise run.failure
        return {(item.stage, item.case): item.value["ok"] for item in run.outcomes if "ok" in item.value}

    def _keys(self, replies: dict[tuple[str, str], Json], stage: str, prefix: str, name: str) -> Keys:
        return tuple(
            (document, each["start"], each["end"])
            for document in self.texts
            for each in replies[stage, f"{prefix}{document}"][name]
        )

    def _cut(self, keys: Keys) -> list[str]:
        return [self.texts[document][start:end] for document, start, end in keys]

    def _compare(self, file: VectorFile, keys: Keys, texts: list[str]) -> bool:
        anew = f"`chunkproof embed {self.found.folder} --replace` makes it anew"
        if file.keys != keys:
            pairs = enumerate(zip(file.keys, keys, strict=False))
            row = next((index for index, (old, new) in pairs if old != new), min(len(file.keys), len(keys)))
            old = file.keys[row] if row < len(file.keys) else "the end"
            new = keys[row] if row < len(keys) else "the end"
            what = (
                f"it was made for other texts: row {row + 1} is {_shown(old)}, where now there is {_shown(new)}; {anew}"
            )
            self.found.add(file.path, 0, what)
            return False
        if file.texts and file.texts != digest_of_texts(texts):
            self.found.add(file.path, 0, f"it was made for other texts, which were cut at the same places; {anew}")
            return False
        return True


def _shown(key: tuple[Any, ...] | str) -> str:
    return key if isinstance(key, str) else " ".join(map(str, key))
