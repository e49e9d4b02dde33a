"""The site as files: data as scripts, since a page opened from a folder may load nothing else, and the built page beside them.

The folder is written whole and then renamed to its place; an interruption leaves what was there before. One that holds anything
that no report wrote is left alone.
"""

from __future__ import annotations

import json
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from chunkproof import __version__, layout
from chunkproof.problems import Problem
from chunkproof.replies import Json

MARKER = "chunkproof-report.json"
"""Its presence says that a folder is a report's, its list which files are."""
WORKER = "worker.js"
_ESCAPED = re.compile("[<\u2028\u2029\ud800-\udfff]")
"""What ends a script or a line of it early, and what UTF-8 cannot hold."""


def script(name: str, value: Json) -> str:
    """A statement that sets `window.<name>`; the literal means the value in HTML and JavaScript of any age."""
    text = literal(value)
    if '"__proto__":' in text:  # in a literal that would set a prototype
        text = f"JSON.parse({literal(text)})"
    return f"window.{name} = {text};\n"


def literal(value: Json) -> str:
    """JSON that is JavaScript too, and holds no tag."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return _ESCAPED.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def page_files(folder: Path | None = None) -> dict[str, Path]:
    """The files of the built page by name."""
    folder = layout.page_dir() if folder is None else folder
    files = {path.name: path for path in sorted(folder.iterdir()) if path.is_file()} if folder.is_dir() else {}
    missing = [name for name in ("index.html", "page.css", "page.js", WORKER) if name not in files]
    if missing:
        raise Problem(f"the report's page is not built, {folder / missing[0]} is missing: {layout.page_mend()}")
    return files


def refuse_foreign(out: Path) -> None:
    """Problem where a report may not be written: something is there, and no report wrote it."""
    if not out.exists() and not out.is_symlink():
        return
    if not out.is_dir():
        raise Problem(f"{out} is there already and is no folder: name another with --out")
    there = {path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_symlink() or not path.is_dir()}
    strangers = sorted(there - _written(out))
    if strangers:
        raise Problem(
            f"{out} holds {strangers[0]}, which no report wrote, so nothing was written: name a new folder with --out"
        )


def _written(out: Path) -> set[str]:
    """The files that an earlier report says it wrote here."""
    try:
        said = json.loads((out / MARKER).read_text(encoding="utf-8"))
        return {MARKER, *map(str, said["files"])}
    except (OSError, ValueError, KeyError, TypeError):
        return set()


def write(out: Path, data: Mapping[str, tuple[str, Json]], page: Mapping[str, Path], tokenizer: Path) -> int:
    """Write the site into `out`; how many files. `data` maps a script's file to the name that it sets and the value."""
    refuse_foreign(out)
    target = out.resolve()
    target.parent.mkdir(parents=True, exist_ok=True)
    aside = Path(tempfile.mkdtemp(prefix=f".{target.name}-", suffix=".partial", dir=target.parent))
    try:
        made = aside / "made"  # not `aside` itself, which nobody else may read
        (made / "data").mkdir(parents=True)
        files = list(_fill(made, data, page, tokenizer))
        marker = {"made_by": f"chunkproof {__version__}", "files": sorted(files)}
        (made / MARKER).write_text(json.dumps(marker, indent=1) + "\n", encoding="utf-8")
        _exchange(made, target, aside / "before")
    finally:
        shutil.rmtree(aside, ignore_errors=True)
    return len(files) + 1


def _fill(made: Path, data: Mapping[str, tuple[str, Json]], page: Mapping[str, Path], tokenizer: Path) -> Iterator[str]:
    """Write every file but the marker; their names."""
    scripts = dict(data)
    scripts[WORKER] = ("chunkproofWorker", page[WORKER].read_text(encoding="utf-8"))
    scripts["tokenizer.js"] = ("chunkproofTokenizer", tokenizer.read_text(encoding="utf-8"))
    for name, (variable, value) in scripts.items():
        (made / "data" / name).write_text(script(variable, value), encoding="utf-8", newline="\n")
        yield f"data/{name}"
    for name, path in page.items():
        if name != WORKER:
            shutil.copyfile(path, made / name)
            yield name


def _exchange(made: Path, target: Path, before: Path) -> None:
    """Put the new folder where the old one is; if that fails, the old one is back."""
    if target.is_dir():
        target.rename(before)
    try:
        made.rename(target)
    except BaseException:
        if before.is_dir():
            before.rename(target)
        raise
