"""`chunkproof fixture check DIR`: everything that is wrong with a fixture's folder, by file and line, not the first fault only.

Each part is read by itself, so that a fault in one does not hide those of another: the recipe and its tables, the texts, the
questions, the vectors. What `fixtures.load` would refuse is refused here, and a few things more.
"""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

from chunkproof import fixtures, recipefields
from chunkproof.caselines import read_case
from chunkproof.checkquestions import Texts, check_questions, json_lines
from chunkproof.checkvectors import check_vectors
from chunkproof.findings import Findings, undecodable
from chunkproof.problems import DataMissing, Problem
from chunkproof.tomlplaces import Places
from chunkproof.tomltable import TomlTable

RECIPE = "fixture.toml"
_AT_LINE = re.compile(r" \(at line (\d+), column \d+\)")


def check(folder: Path, *, fix: bool = False) -> Findings:
    """Look at the whole folder. With `fix`, hashes and places that can be had from the texts alone are written first."""
    if not folder.is_dir():
        raise Problem(f"{folder} is not a folder: `chunkproof fixture new {folder}` makes one")
    if not (folder / RECIPE).is_file():
        raise Problem(f"{folder} is no fixture: it has no {RECIPE}; `chunkproof fixture new` makes one in a new folder")
    mended = []
    if fix:
        from chunkproof.mendfixture import mend

        mended = mend(folder)
    found = Findings(folder, mended=mended)
    _Check(found).all()
    return found


class _Check:
    """One look at a folder, part by part."""

    def __init__(self, found: Findings) -> None:
        self.found, self.folder = found, found.folder

    def all(self) -> None:
        recipe = self._recipe()
        if recipe is None:
            return
        kind = recipe.table.get("kind")
        self._fields(recipe, "", 0, recipefields.PAPERS if kind == "papers" else recipefields.TOP)
        self._head(recipe)
        if kind == "cases":
            self._cases()
        elif kind == "papers":
            self._loads()
        else:
            self._corpus(recipe)

    def _recipe(self) -> TomlTable | None:
        path = self.folder / RECIPE
        data = path.read_bytes()
        try:
            text = data.decode("utf-8")
            table = tomllib.loads(text)
        except UnicodeDecodeError as error:
            self.found.add(RECIPE, *undecodable(data, error))
            return None
        except tomllib.TOMLDecodeError as error:
            at = _AT_LINE.search(str(error))
            line = int(at[1]) if at else len(data.split(b"\n"))
            self.found.add(RECIPE, line, f"it is not TOML: {_AT_LINE.sub('', str(error))}; the rest was not looked at")
            return None
        self.places = Places(text)
        return TomlTable(path, table)

    def _fault(self, table: str, number: int, name: str, what: str) -> None:
        self.found.add(RECIPE, self.places.line(table, number, name), what)

    def _fields(self, part: TomlTable, table: str, number: int, fields: recipefields.Fields) -> None:
        place = f"{part.place}: " if part.place else ""
        for name, what in recipefields.faults(part, fields):
            self._fault(table, number, name, place + what)

    def _tables(self, recipe: TomlTable, name: str) -> list[TomlTable]:
        """The tables of an array; none where the array is no array, which `_fields` has said."""
        try:
            return recipe.list_of(name)
        except Problem:
            return []

    def _sub(self, recipe: TomlTable, name: str, fields: recipefields.Fields) -> TomlTable | None:
        if not isinstance(recipe.table.get(name), dict):
            return None
        part = recipe.sub(name)
        self._fields(part, name, 0, fields)
        return part

    def _head(self, recipe: TomlTable) -> None:
        name, spec = recipe.table.get("name"), recipe.table.get("spec")
        called = self.folder.resolve().name
        if isinstance(name, str) and name and name != called:
            self._fault("", 0, "name", f"name is {name!r}, but the folder is called {called!r}")
        if isinstance(spec, str) and spec and spec.split(".")[0] != str(fixtures.SPEC_MAJOR):
            self._fault("", 0, "spec", f"spec is {spec!r}, but this program speaks spec {fixtures.SPEC_MAJOR}")

    def _cases(self) -> None:
        files = sorted(self.folder.glob("*.jsonl"))
        if not files:
            self._fault("", 0, "kind", "kind is 'cases', but the folder holds no .jsonl file")
        seen: dict[str, str] = {}
        for path in files:
            for number, line in json_lines(path.name, self.found):
                where = f"{path.name}, line {number}"
                try:
                    case = read_case(line, where)
                except Problem as problem:
                    self.found.add(path.name, number, str(problem).removeprefix(f"{where}: "))
                    continue
                if case.id in seen:
                    self.found.add(path.name, number, f"the id {case.id!r} is already used in {seen[case.id]}")
                seen.setdefault(case.id, case.where)
        self.found.summary = f"{len(seen)} cases in {len(files)} files"

    def _corpus(self, recipe: TomlTable) -> None:
        texts = self._source(recipe) if "source" in recipe.table else self._documents(recipe)
        configs = self._configs(recipe)
        self._methods(recipe, configs)
        questions = self._sub(recipe, "questions", recipefields.QUESTIONS)
        count = 0
        if questions is not None and isinstance(questions.table.get("file"), str):
            file = questions.text("file")
            if (self.folder / file).is_file():
                count = check_questions(file, texts, self.found)
            else:
                self._fault("questions", 0, "file", f"questions: there is no file {file}")
        elif "questions" not in recipe.table:
            self.found.notes.append("there are no [questions], so nothing can be retrieved or lost")
        vectors = self._sub(recipe, "vectors", recipefields.VECTORS)
        parts = {"documents": len(texts.known), "questions": count, "configs": len(configs)}
        parts["methods"] = len(self._tables(recipe, "method"))
        self.found.summary = ", ".join(f"{number:,} {_noun(name, number)}" for name, number in parts.items())
        if vectors is not None:
            check_vectors(self.found, vectors, configs, lambda name: self.places.line("vectors", 0, name))
        if not self.found.faults:
            self._loads()

    def _loads(self) -> None:
        """Whatever was overlooked here, the program itself must be able to use the folder."""
        try:
            fixtures.load(str(self.folder / RECIPE))
        except DataMissing:
            return
        except Problem as problem:
            self.found.add(RECIPE, 0, str(problem).removeprefix(f"{self.folder.resolve() / RECIPE}: "))

    def _source(self, recipe: TomlTable) -> Texts:
        try:
            loaded = fixtures.load(str(self.folder / RECIPE))
        except DataMissing as missing:
            self.found.notes.append(f"the texts are not at hand, so questions were not held against them: {missing}")
            return Texts({}, known=(), complete=False)
        except Problem as problem:
            self._fault("source", 0, "", str(problem).removeprefix(f"{self.folder.resolve() / RECIPE}: "))
            return Texts({}, known=(), complete=False)
        texts = {document.id: document.text for document in loaded.documents}
        return Texts(texts, tuple(texts), questions={each.id: each.text for each in loaded.questions})

    def _documents(self, recipe: TomlTable) -> Texts:
        tables = self._tables(recipe, "document")
        if not tables:
            self._fault("", 0, "document", "there is no [[document]]: a corpus has at least one text")
        texts: dict[str, str] = {}
        known: list[str] = []
        listed: set[Path] = set()
        for number, each in enumerate(tables, 1):
            self._fields(each, "document", number, recipefields.DOCUMENT)
            name, file = each.table.get("id"), each.table.get("file")
            if isinstance(name, str) and name in known:
                self._fault("document", number, "id", f"{each.place}: the id {name!r} is there twice")
            elif isinstance(name, str):
                known.append(name)
            if isinstance(file, str) and file:
                listed.add((self.folder / file).resolve())
                text = self._document(each, number, file)
                if text is not None and isinstance(name, str):
                    texts.setdefault(name, text)
        self.found.notes += [
            f"{path.relative_to(self.folder)} is not listed in {RECIPE}, so it is not used"
            for path in self._strays(listed)
        ]
        return Texts(texts, tuple(known))

    def _strays(self, listed: set[Path]) -> Iterator[Path]:
        for path in sorted((self.folder / "documents").rglob("*")):
            if path.is_file() and not path.name.startswith(".") and path.resolve() not in listed:
                yield path

    def _document(self, each: TomlTable, number: int, file: str) -> str | None:
        path = self.folder / file
        if not path.resolve().is_relative_to(self.folder.resolve()):
            self._fault("document", number, "file", f"{each.place}: {file} leads out of the fixture's folder")
            return None
        if not path.is_file():
            near = [other.name for other in path.parent.glob("*")] if path.parent.is_dir() else []
            hint = f"; in that folder are {', '.join(sorted(near))}" if near else ""
            self._fault("document", number, "file", f"{each.place}: there is no file {file}{hint}")
            return None
        data = path.read_bytes()
        hashed, wanted = hashlib.sha256(data).hexdigest(), each.table.get("sha256")
        if wanted is None:
            self.found.notes.append(f'{each.place} has no hash, so a change would go unnoticed: sha256 = "{hashed}"')
        elif isinstance(wanted, str) and wanted != hashed:
            self._fault(
                "document",
                number,
                "sha256",
                f'{each.place}: {file} is another text; if it is meant: sha256 = "{hashed}"',
            )
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError as error:
            self.found.add(file, *undecodable(data, error))
            return None
        if not text.strip():
            self.found.add(file, 1, "it is empty: a document has at least one visible character")
        if text.startswith("\ufeff"):
            self.found.notes.append(f"{file} begins with a byte order mark, which counts as a code point of the text")
        return text

    def _configs(self, recipe: TomlTable) -> list[str]:
        names: list[str] = []
        for number, each in enumerate(self._tables(recipe, "config"), 1):
            self._fields(each, "config", number, recipefields.of_config(each))
            size, overlap = each.table.get("size"), each.table.get("overlap", 0)
            if isinstance(size, int) and isinstance(overlap, int) and overlap >= size > 0:
                self._fault("config", number, "overlap", f"{each.place}: overlap {overlap} must be below size {size}")
            self._once(each, "config", number, names)
        if not names:
            self.found.notes.append("there is no [[config]], so nothing is cut")
        return names

    def _methods(self, recipe: TomlTable, configs: list[str]) -> None:
        names: list[str] = []
        for number, each in enumerate(self._tables(recipe, "method"), 1):
            self._fields(each, "method", number, recipefields.of_method(each))
            only = each.table.get("configs")
            for name in only if isinstance(only, list) else ():
                if isinstance(name, str) and name not in configs:
                    what = f"{each.place}: configs names {name!r}, which is no config of this fixture"
                    self._fault("method", number, "configs", what)
            self._once(each, "method", number, names)
        if not names:
            self.found.notes.append("there is no [[method]], so nothing is ranked")

    def _once(self, each: TomlTable, table: str, number: int, names: list[str]) -> None:
        name = each.table.get("name")
        if isinstance(name, str) and name in names:
            self._fault(table, number, "name", f"{each.place}: the name {name!r} is there twice")
        elif isinstance(name, str):
            names.append(name)


def _noun(plural: str, number: int) -> str:
    return plural.removesuffix("s") if number == 1 else plural
