"""Where the package's parts are: the other engine, the spec, fixtures, golden files.

A wheel carries them in `chunkproof/_data`. In a checkout they are at its root, and there they win over the packaged
copies, so that `chunkproof golden update` writes to the files that are committed. The engines themselves always come from the
installed package, so that `chunkproof engine py` and `chunkproof engine ts` are of one version; an editable
install takes them from its own checkout.

Only the harness uses this module. An engine knows no folders: a request carries what it needs.
"""

from __future__ import annotations

import functools
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

#: The oldest Node whose JavaScript the bundled engine is written for.
NODE = 20

_PACKAGE = Path(__file__).resolve().parent
_PACKAGED = _PACKAGE / "_data"


class EngineMissing(Exception):
    """The TypeScript engine can't be started here; the message is one sentence that says why and what to do."""


def checkout(start: Path | None = None) -> Path | None:
    """The root of the chunkproof checkout that `start` (by default the current folder) lies in, or None.

    A checkout is a folder with `spec/` and a `pyproject.toml` of the project named chunkproof.
    """
    here = (start or Path.cwd()).resolve()
    return next((folder for folder in (here, *here.parents) if _is_checkout(folder)), None)


@functools.cache
def _is_checkout(folder: Path) -> bool:
    project = folder / "pyproject.toml"
    if not (folder / "spec").is_dir() or not project.is_file():
        return False
    try:
        table = tomllib.loads(project.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    described = table.get("project")
    return isinstance(described, dict) and described.get("name") == "chunkproof"


def _own_checkout() -> Path | None:
    """The checkout that this very file lies in: of an editable install, or of `PYTHONPATH=py/src`."""
    return checkout(_PACKAGE) if _PACKAGE.parent.name == "src" else None


def _folder(name: str) -> Path:
    here = checkout()
    if here is not None:
        return here / name
    packaged = _PACKAGED / name
    own = _own_checkout()
    return own / name if own is not None and not packaged.is_dir() else packaged


def fixtures_dir() -> Path:
    """The folder whose subfolders are the embedded fixtures."""
    return _folder("fixtures")


def golden_dir() -> Path:
    """The folder of the golden files; only that of a checkout is meant to be written to."""
    return _folder("golden")


def golden_is_ours() -> bool:
    """Whether `golden_dir` is that of a checkout, and so may be written to."""
    return checkout() is not None or golden_dir().parent != _PACKAGED


def spec_dir() -> Path:
    """The folder of the spec's chapters."""
    return _folder("spec")


def claims_dir() -> Path:
    """The folder of published claims that `chunkproof audit` knows by name."""
    return _folder("claims")


def page_dir() -> Path:
    """The folder of the report's built page, of the same version as this package."""
    packaged, own = _PACKAGED / "page", _own_checkout()
    return own / "ts" / "dist" / "page" if own is not None and not packaged.is_dir() else packaged


def page_mend() -> str:
    """What builds that folder here."""
    own = _own_checkout()
    if own is not None:
        return f"run `npm ci && npm run build` in {own / 'ts'}"
    return f"install Node {NODE} or later with npm, then install chunkproof again"


def py_engine() -> list[str]:
    """The command that runs the Python engine: this interpreter, this package."""
    return [sys.executable, "-m", "chunkproof.engine"]


def ts_engine() -> list[str]:
    """The command that runs the TypeScript engine.

    Raises EngineMissing if the package was built without it, or if Node is missing or too old.
    """
    engine = _engine_file()
    node = shutil.which("node")
    if node is None:
        raise EngineMissing(f"the TypeScript engine needs Node {NODE} or later, and there is no `node` on PATH")
    version = _node_version(node)
    if version is not None and version < NODE:
        raise EngineMissing(f"the TypeScript engine needs Node {NODE} or later, and {node} is Node {version}")
    return [node, str(engine)]


def _engine_file() -> Path:
    packaged = _PACKAGED / "engine.mjs"
    if packaged.is_file():
        return packaged
    own = _own_checkout()
    if own is None:
        raise EngineMissing(
            "this chunkproof was installed without its TypeScript engine, since Node was not there when it was built: "
            f"install Node {NODE} or later with npm, then install chunkproof again"
        )
    built = own / "ts" / "dist" / "engine.mjs"
    if not built.is_file():
        raise EngineMissing(f"the TypeScript engine is not built: run `npm ci && npm run build` in {own / 'ts'}")
    return built


@functools.cache
def _node_version(node: str) -> int | None:
    """The major version of a Node, or None where it does not say (then the engine's own failure will)."""
    try:
        said = subprocess.run([node, "--version"], capture_output=True, text=True, timeout=20, check=True).stdout
        return int(said.strip().lstrip("v").split(".")[0])
    except (OSError, ValueError, subprocess.SubprocessError):
        return None
