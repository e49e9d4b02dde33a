"""Vector files as the harness needs them: which rows belong to which document, and how an engine is pointed to them.

The vectors themselves are never read here: a request names the file, its SHA-256 and a range of rows (spec 01, Vectors).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from chunkproof.problems import Problem

COLUMN = "vector"
METADATA = b"chunkproof"
"""The key of the schema's metadata that says, as JSON, what the vectors were made by and of."""
TEXTS = "texts_sha256"
"""Its field for the texts that were embedded, row by row; files made before it was written lack it."""


@dataclass(frozen=True)
class VectorFile:
    """An Arrow file in a fixture: `path` from the fixture's folder, its hash, and the keys of its rows in order.

    A key is (document, start, end) for sentences and chunks, (id,) for questions. `wordpieces` is empty where not stored,
    and so is `texts`, the digest of what was embedded.
    """

    path: str
    sha256: str
    keys: tuple[tuple[Any, ...], ...]
    wordpieces: tuple[int, ...]
    texts: str = ""

    def reference(self, first: int = 0, end: int | None = None) -> dict[str, Any]:
        """The vectors of some rows as a request names them; half-open, all by default."""
        rows = [first, len(self.keys) if end is None else end]
        return {"arrow": self.path, "sha256": self.sha256, "column": COLUMN, "rows": rows}

    def of_document(self, name: str) -> dict[str, Any]:
        """The vectors of a document's rows, which stand together."""
        return self.reference(*self._rows.get(name, (0, 0)))

    @cached_property
    def _rows(self) -> dict[Any, tuple[int, int]]:
        """The first row of every document and the one after its last, found in one pass."""
        rows: dict[Any, tuple[int, int]] = {}
        for index, key in enumerate(self.keys):
            rows[key[0]] = (rows.get(key[0], (index, 0))[0], index + 1)
        return rows


def digest_of_texts(texts: Sequence[str]) -> str:
    """The SHA-256 of a list of texts, written as a JSON array."""
    return hashlib.sha256(json.dumps(list(texts)).encode("ascii")).hexdigest()


def open_vectors(folder: Path, name: str) -> VectorFile | None:
    """Read the keys of a vector file; None if it is not there."""
    path = folder / name
    if not name or not path.is_file():
        return None
    import pyarrow as pa
    import pyarrow.ipc

    try:
        data = path.read_bytes()
        with pa.ipc.open_file(pa.BufferReader(data)) as reader:
            table = reader.read_all()
        columns = ["id"] if "id" in table.column_names else ["document", "start", "end"]
        keys = tuple(zip(*(table.column(column).to_pylist() for column in columns), strict=True))
        counts = table.column("wordpieces").to_pylist() if "wordpieces" in table.column_names else []
        table.column(COLUMN)
        said = json.loads((table.schema.metadata or {}).get(METADATA, b"{}"))
    except (pa.ArrowException, KeyError, OSError, ValueError) as error:
        raise Problem(
            f"{path} is damaged or no vector file ({error}); delete it, then `chunkproof embed` makes it anew"
        ) from error
    return VectorFile(name, hashlib.sha256(data).hexdigest(), keys, tuple(counts), str(said.get(TEXTS, "")))
