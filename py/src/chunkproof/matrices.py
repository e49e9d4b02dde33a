"""Matrices of signed bytes as requests carry them: inline in base64, or in an Arrow file (spec 01, Vectors).

Reading a request's shape is one step (`bad_request`, `bad_setting`), getting at the bytes a later one (`bad_vectors`).
"""

import base64
import binascii
import hashlib
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chunkproof.errors import Refused
from chunkproof.schema import Field, Late, integer, members, pair, string

Matrix = NDArray[np.int8]

_INLINE = {"dim": Field(integer(1)), "int8": Field(string)}
_FILE = {
    "arrow": Field(string),
    "sha256": Field(string),
    "column": Field(string),
    "rows": Field(pair(integer()), None),
}


def _bad(message: str) -> Refused:
    return Refused("bad_vectors", message)


@dataclass(frozen=True)
class Inline:
    """Base64 of the rows, one after another."""

    dim: int
    int8: str

    def load(self) -> Matrix:
        """The matrix; `bad_vectors` where the text is not exactly the base64 of whole rows."""
        try:
            raw = base64.b64decode(self.int8.encode("ascii"), validate=True)
        except (UnicodeEncodeError, binascii.Error):
            raise _bad("int8 is not base64") from None
        if base64.b64encode(raw) != self.int8.encode("ascii"):
            raise _bad("int8 is not base64 with padding and with its unused bits zero")
        if len(raw) % self.dim:
            raise _bad(f"{len(raw)} bytes are no multiple of dim {self.dim}")
        return np.frombuffer(raw, np.int8).reshape(-1, self.dim)


@dataclass(frozen=True)
class File:
    """A column of an Arrow IPC file below the engine's working folder."""

    arrow: str
    sha256: str
    column: str
    rows: tuple[int, int] | None

    def load(self) -> Matrix:
        """The matrix; `bad_vectors` where anything about the file is not as the request says."""
        try:
            raw = self._path().read_bytes()
        except (OSError, ValueError):
            raise _bad(f"{self.arrow!r} cannot be read") from None
        found = hashlib.sha256(raw).hexdigest()
        if found != self.sha256:
            raise _bad(f"{self.arrow!r} has SHA-256 {found}, not {self.sha256!r}")
        matrix = _column(raw, self.column)
        start, end = self.rows or (0, len(matrix))
        if not 0 <= start <= end <= len(matrix):
            raise _bad(f"rows {start} to {end} of {len(matrix)}")
        return matrix[start:end]

    def _path(self) -> Path:
        path = PurePosixPath(self.arrow)
        folder = Path.cwd().resolve()
        # Split by hand: a PurePosixPath forgets nothing of "..", but a path of another system may be absolute in its
        # own way.
        if not self.arrow or path.is_absolute() or Path(self.arrow).is_absolute() or ".." in self.arrow.split("/"):
            raise _bad(f"{self.arrow!r} is not a path inside the working folder")
        resolved = (folder / path).resolve()
        if not resolved.is_relative_to(folder):
            raise _bad(f"{self.arrow!r} leads out of the working folder")
        return resolved


def vectors(value: Any, where: str, late: Late) -> Inline | File:
    """The type of a `vectors` field."""
    if isinstance(value, dict) and "arrow" in value:
        return File(**members(value, _FILE, where, late))
    return Inline(**members(value, _INLINE, where, late))


def _column(raw: bytes, name: str) -> Matrix:
    import pyarrow as pa  # not at the top: only requests with files need it

    try:
        reader = pa.ipc.open_file(pa.BufferReader(raw))
        if any(map(_is_compressed, _messages(raw))):
            raise _bad("the file is compressed")
        index = reader.schema.get_field_index(name)
        if index < 0:
            raise _bad(f"the file has no column {name!r}")
        kind = reader.schema.field(index).type
        if not pa.types.is_fixed_size_list(kind) or not pa.types.is_int8(kind.value_type) or kind.list_size < 1:
            raise _bad(f"column {name!r} is {kind}, not FixedSizeList<int8>")
        parts = [np.zeros((0, kind.list_size), np.int8)]
        for batch in range(reader.num_record_batches):
            column = reader.get_batch(batch).column(index)
            values = column.flatten()
            if column.null_count or values.null_count:
                raise _bad(f"column {name!r} has nulls")
            parts.append(values.to_numpy().reshape(-1, kind.list_size))
    except (pa.ArrowException, OSError, ValueError, struct.error, IndexError):
        raise _bad("not an Arrow IPC file") from None
    return np.concatenate(parts)


def _messages(raw: bytes) -> Iterator[bytes]:
    """The metadata of each message of an Arrow file, whose body is a stream of messages."""
    import pyarrow as pa

    stream = pa.ipc.MessageReader.open_stream(pa.BufferReader(raw[8:]))
    while True:
        try:
            yield stream.read_next_message().metadata.to_pybytes()
        except StopIteration:
            return


def _is_compressed(metadata: bytes) -> bool:
    """Whether a message is a record batch with the `compression` field (pyarrow decompresses and does not say so).

    The metadata is a flatbuffer: `Message` has `header_type` in slot 1 and `header` in slot 2, and of a `RecordBatch`
    (type 3) `compression` is slot 3.
    """
    (root,) = struct.unpack_from("<I", metadata)
    header_type = _slot(metadata, root, 1)
    header = _slot(metadata, root, 2)
    if not header_type or metadata[header_type] != 3 or not header:
        return False
    (offset,) = struct.unpack_from("<I", metadata, header)
    return _slot(metadata, header + offset, 3) != 0


def _slot(metadata: bytes, table: int, slot: int) -> int:
    """Where a table's field lies; 0 where it has none."""
    (back,) = struct.unpack_from("<i", metadata, table)
    (size,) = struct.unpack_from("<H", metadata, table - back)
    if 4 + 2 * slot >= size:
        return 0
    (offset,) = struct.unpack_from("<H", metadata, table - back + 4 + 2 * slot)
    return table + offset if offset else 0
