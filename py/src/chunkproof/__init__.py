"""chunkproof: cut a text the same way in two languages, and prove it.

The rooms are modules of the same names as the spec's chapters: `chunkproof.fixed`, `chunkproof.recursive`, … Each is
imported when it is first used, so that `import chunkproof` costs nothing.
"""

import importlib
from types import ModuleType

__version__ = "0.1.0"
SPEC_VERSION = "1.0.0"

_ROOMS = (
    "bm25", "engine", "errors", "fixed", "fusion", "metrics", "numerics", "pieces", "records", "recursive", "resources",
    "semantic", "text", "vectors",
)  # fmt: skip


def __getattr__(name: str) -> ModuleType:
    if name in _ROOMS:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_ROOMS})
