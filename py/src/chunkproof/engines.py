"""Engines as processes: start one, ask it, and name exactly what went wrong when it does not behave.

An engine is any command that reads requests on standard input and writes replies on standard output (spec 01). A writer
thread feeds it while a reader thread collects, so neither side can block the other. Whatever an engine does wrong becomes an
`EngineFailure` with a kind, never a stack trace and never a pass.
"""

from __future__ import annotations

import contextlib
import os
import queue
import shlex
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from chunkproof.problems import Problem
from chunkproof.replies import Json, NotAReply, Reply, parse_reply, request_line

LONGEST_LINE = 64 * 1024 * 1024
LONGEST_REPLY = 512 * 1024 * 1024
"""Bytes of a reply line that the harness reads before it gives up on the engine."""
TIMEOUT = 120.0
"""Seconds without any reply, while requests are open, after which an engine hangs."""
KINDS = {
    "start": "could not be started",
    "hang": "hangs",
    "died": "died",
    "silent": "closed its output",
    "noise": "wrote something that is no reply",
    "twice": "answered twice",
    "unknown": "answered a question that nobody asked",
    "too-long": "wrote a reply that is too long",
    "malformed": "gave a reply of the wrong shape",
}

NUMBERED = "engine "
"""What an engine is called before it has said its name, with its place among those given."""
_LONGEST_NAME = 40
_BLOCK = 1 << 16
_live: set[Engine] = set()
_live_lock = threading.Lock()


class EngineFailure(Exception):
    """A named failure of one engine. `kind` is a key of KINDS, `open` the label of the request that was open, if any."""

    def __init__(self, engine: str, kind: str, detail: str, open_request: str = "") -> None:
        self.engine, self.kind, self.detail, self.open = engine, kind, detail, open_request
        waiting = f" (open: {open_request})" if open_request else ""
        super().__init__(f"{engine} {KINDS[kind]}: {detail}{waiting}")


@dataclass
class _Asked:
    """What is on its way: the label of each open wire id, in the order of asking, and the answers so far."""

    open: dict[str, str] = field(default_factory=dict)
    replies: dict[str, Reply] = field(default_factory=dict)


class Engine:
    """A running engine. Use as a context manager; leaving it closes the input and reads what is still written."""

    def __init__(self, command: Sequence[str], folder: Path, name: str = "", timeout: float = TIMEOUT) -> None:
        self.command, self.folder, self.timeout = list(command), folder, timeout
        self.name = name or Path(self.command[0]).name
        self.label: Callable[[str], str] = lambda label: label
        self._count = 0
        self._answered: set[str] = set()
        self._lines: queue.Queue[bytes | EngineFailure | None] = queue.Queue()
        self._to_write: queue.Queue[bytes | None] = queue.Queue()
        self._errors = bytearray()
        self._ended = False
        try:
            self._process = subprocess.Popen(
                self.command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=folder,
                env=_environment(),
                start_new_session=True,
                bufsize=0,
            )
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
            raise EngineFailure(self.name, "start", f"{shlex.join(self.command)}: {reason}") from error
        with _live_lock:
            _live.add(self)
        self._threads = [
            threading.Thread(target=target, daemon=True) for target in (self._write, self._read, self._read_errors)
        ]
        for thread in self._threads:
            thread.start()

    def __enter__(self) -> Engine:
        return self

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        try:
            if kind is None:
                self.close()
        finally:
            self.kill()

    # -- the three threads -------------------------------------------------------------------------------------------

    def _write(self) -> None:
        pipe = self._process.stdin
        assert pipe is not None
        try:
            more = True
            while more and (block := self._to_write.get()) is not None:
                lines = [block]
                size = len(block)
                while (
                    size < _BLOCK and not self._to_write.empty()
                ):  # small lines together: a write for each costs more than they do
                    following = self._to_write.get()
                    more = following is not None
                    if following is None:
                        break
                    lines.append(following)
                    size += len(following)
                view = memoryview(b"".join(lines) if len(lines) > 1 else block)
                while view:
                    view = view[os.write(pipe.fileno(), view[: 1 << 20]) :]
        except (OSError, ValueError):
            pass  # the engine no longer reads: the reader finds out why
        finally:
            with contextlib.suppress(OSError):
                pipe.close()

    def _read(self) -> None:
        pipe = self._process.stdout
        assert pipe is not None
        parts: list[bytes] = []
        size = 0
        try:
            while block := os.read(pipe.fileno(), _BLOCK):
                *lines, rest = block.split(b"\n")
                for line in lines:
                    parts.append(line)
                    self._lines.put(b"".join(parts))
                    parts, size = [], 0
                if rest:
                    parts.append(rest)
                    size += len(rest)
                if size > LONGEST_REPLY:
                    limit = f"more than {LONGEST_REPLY // 2**20} MiB in one line"
                    self._lines.put(EngineFailure(self.name, "too-long", limit))
                    return
        except (OSError, ValueError):
            pass
        last = b"".join(parts)
        if last and _is_reply(last):  # what is cut short by the engine's end counts as its death, not as noise
            self._lines.put(last)
        self._lines.put(None)

    def _read_errors(self) -> None:
        pipe = self._process.stderr
        assert pipe is not None
        try:
            while block := os.read(pipe.fileno(), _BLOCK):
                self._errors = (self._errors + block)[-8192:]
        except (OSError, ValueError):
            pass

    # -- asking ------------------------------------------------------------------------------------------------------

    def ask(self, requests: Sequence[tuple[str, Json]], progress: Callable[[int], None] | None = None) -> list[Reply]:
        """Ask all requests at once, each a (label, request without id); the replies come in the order of the requests.

        The label names the request in a failure. A request may be the bytes of its JSON object, which are sent as they
        are after the id. `progress` is called with 1 for every reply.
        """
        asked, ids = _Asked(), []
        for label, request in requests:
            wire_id = self._next_id()
            ids.append(wire_id)
            asked.open[wire_id] = self.label(label)
            line = _line(wire_id, request)
            if len(line) - 1 > LONGEST_LINE:
                raise Problem(
                    f"{label} makes a request of {len(line):,} bytes; an engine reads no line above {LONGEST_LINE:,} "
                    "(spec 01 rule 5): cut the text into documents"
                )
            self._to_write.put(line)
        while asked.open:
            try:
                reply = self._next_reply(next(iter(asked.open.values())))
            except EngineFailure as failure:
                if failure.kind == "hang":
                    failure = self._hang(failure, ids, asked)
                raise failure from None
            if reply.id is None or reply.id not in asked.open:
                raise self._unasked(reply, next(iter(asked.open.values())))
            del asked.open[reply.id]
            self._answered.add(reply.id)
            asked.replies[reply.id] = reply
            if progress is not None:
                progress(1)
        return [asked.replies[wire_id] for wire_id in ids]

    def ask_raw(self, label: str, line: bytes) -> list[Reply]:
        """Send bytes as they are, as one or more lines, then an `info`; the replies to the bytes, whatever their ids.

        The `info` shows that the engine goes on after a bad line.
        """
        probe, name = self._next_id(), self.label(label)
        self._to_write.put(line + b"\n")
        self._to_write.put(request_line({"id": probe, "op": "info"}))
        wanted, probed = line.count(b"\n") + 1, False
        replies: list[Reply] = []
        while len(replies) < wanted or not probed:
            waiting = name if len(replies) < wanted else f"the info after {name}"
            reply = self._next_reply(waiting)
            if reply.id == probe and not probed:
                probed = True
                self._answered.add(probe)
            elif len(replies) == wanted or (reply.id is not None and reply.id in self._answered):
                raise self._unasked(reply, waiting)
            else:
                replies.append(reply)
        return replies

    def close(self) -> None:
        """Close the input, wait for the end, and fail on anything that is still written on standard output."""
        if self._ended:
            return
        self._to_write.put(None)
        deadline = time.monotonic() + self.timeout
        while True:
            item = self._take(max(0.0, deadline - time.monotonic()), "")
            if item is None:
                break
            reply = self._parse(item, "")
            raise self._unasked(reply, "")
        try:
            self._process.wait(max(0.1, deadline - time.monotonic()))
        except subprocess.TimeoutExpired as error:
            detail = f"still running {self.timeout:g} s after its input was closed"
            raise EngineFailure(self.name, "hang", detail) from error

    def kill(self) -> None:
        """End the engine's whole process group, whatever state it is in."""
        self._ended = True
        with _live_lock:
            _live.discard(self)
        self._to_write.put(None)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        for thread in self._threads:
            thread.join(5)
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            with contextlib.suppress(OSError):
                if pipe is not None:
                    pipe.close()

    # -- what came ---------------------------------------------------------------------------------------------------

    def _next_id(self) -> str:
        self._count += 1
        return f"cp-{self._count}"

    def _take(self, seconds: float, open_request: str) -> bytes | None:
        try:
            item = self._lines.get(timeout=seconds)
        except queue.Empty:
            raise EngineFailure(self.name, "hang", f"no reply within {self.timeout:g} s", open_request) from None
        if isinstance(item, EngineFailure):
            raise EngineFailure(self.name, item.kind, item.detail, open_request)
        return item

    def _next_reply(self, open_request: str) -> Reply:
        item = self._take(self.timeout, open_request)
        if item is None:
            raise self._stopped(open_request)
        return self._parse(item, open_request)

    def _hang(self, failure: EngineFailure, ids: Sequence[str], asked: _Asked) -> EngineFailure:
        """The failure, with whether the engine passed over the request or stands still at it."""
        later = ids[ids.index(next(iter(asked.open))) + 1 :]
        answered = sum(wire_id in asked.replies for wire_id in later)
        if not later:
            return failure
        sent = f"the {len(later):,} request{'s' * (len(later) > 1)} sent after the open one"
        told = (
            f"{answered:,} of {sent} {'was' if answered == 1 else 'were'} answered, so it passed over that one"
            if answered
            else f"none of {sent} was answered either: it stands still"
        )
        return EngineFailure(self.name, "hang", f"{failure.detail}; {told}", failure.open)

    def _parse(self, line: bytes, open_request: str) -> Reply:
        try:
            return parse_reply(line)
        except NotAReply as error:
            shown = line[:80].decode("utf-8", "replace") + ("…" if len(line) > 80 else "")
            raise EngineFailure(self.name, "noise", f"{error}: {shown!r}", open_request) from error

    def _stopped(self, open_request: str) -> EngineFailure:
        try:
            status = self._process.wait(2)
        except subprocess.TimeoutExpired:
            return EngineFailure(self.name, "silent", "its process runs on without an output", open_request)
        self._threads[2].join(1)
        how = f"exit status {status}" if status >= 0 else f"signal {_signal_name(-status)}"
        return EngineFailure(self.name, "died", f"{how}; {_last_words(bytes(self._errors))}", open_request)

    def _unasked(self, reply: Reply, open_request: str) -> EngineFailure:
        if reply.id is not None and reply.id in self._answered:
            return EngineFailure(self.name, "twice", f"a second reply to {reply.id}", open_request)
        shown = "null" if reply.id is None else repr(reply.id)
        return EngineFailure(self.name, "unknown", f"a reply with the id {shown}", open_request)


def _line(wire_id: str, request: Json) -> bytes:
    """A request as a line. What is written already, since it repeats much, only gets its id."""
    if isinstance(request, bytes):
        return b'{"id":"%s",%s\n' % (wire_id.encode("ascii"), request[1:])
    return request_line({"id": wire_id, **request})


def _last_words(errors: bytes) -> str:
    """The end of what was written on standard error, the last line first; lines that only point at one are dropped."""
    lines = [line.strip() for line in errors.decode("utf-8", "replace").splitlines()]
    lines = [line for line in lines if line.strip("^~ ")][-5:]
    if not lines:
        return "nothing on standard error"
    *before, last = lines
    return f"last words: {last}" + (f" (before that: {' / '.join(before)})" if before else "")


def _is_reply(line: bytes) -> bool:
    try:
        parse_reply(line)
    except NotAReply:
        return False
    return True


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return str(number)


def kill_all() -> None:
    """End every engine that is still running: called when the program is interrupted."""
    with _live_lock:
        engines = list(_live)
    for engine in engines:
        engine.kill()


def own_names(given: Sequence[str], infos: Sequence[dict[str, Json]]) -> list[str]:
    """What engines are called in reports: one that only has a number by its `info`, if no other is called so."""
    stated = [info.get("engine") for info in infos]
    names = []
    for name, own in zip(given, stated, strict=True):
        fits = isinstance(own, str) and own.isprintable() and 0 < len(own.strip()) <= _LONGEST_NAME
        unique = stated.count(own) == 1 and own not in given
        names.append(own.strip() if is_number(name) and isinstance(own, str) and fits and unique else name)
    return names


def is_number(name: str) -> bool:
    """Whether an engine is called by its place among those given, for want of a better name."""
    return name.startswith(NUMBERED) and name.removeprefix(NUMBERED).isdigit()


def split_command(text: str) -> list[str]:
    """An engine's command line as a list; quotes as in a shell."""
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise Problem(f"the engine command {text!r} cannot be read: {error}") from error
    if not words:
        raise Problem("an engine command is empty")
    found = [_from_here(word, first=index == 0) for index, word in enumerate(words)]
    if shutil.which(found[0]) is None:
        raise Problem(f"the engine command {words[0]!r} is no program here: name py, ts, or a command that can be run")
    return found


def _from_here(word: str, *, first: bool) -> str:
    """A file named from the current folder, by its full path: the engine is started in the fixture's folder."""
    if word.startswith("-") or (first and "/" not in word) or not Path(word).is_file():
        return word
    return str(Path(word).absolute())


def _environment() -> dict[str, str]:
    """This program's environment, with the folders of PYTHONPATH by their full paths for the same reason."""
    environment = dict(os.environ)
    if path := environment.get("PYTHONPATH"):
        environment["PYTHONPATH"] = os.pathsep.join(
            str(Path(part).absolute()) for part in path.split(os.pathsep) if part
        )
    return environment
