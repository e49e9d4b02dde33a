"""`chunkproof fuzz`: requests at random, both engines asked, what differs shrunk to the smallest request.

A run goes in rounds. A round makes a few dozen requests of one group (an operation, a kind of chunker, a method, or bad
input), asks every engine, compares the canonical replies and checks the invariants of `fuzz_checks`. Where something is
wrong, hypothesis makes the request smaller for as long as it stays wrong; the smallest becomes a line for
`fixtures/edge`, and its group rests from then on, so that one fault is reported once. The same seed makes the same
requests in the same order.
"""

from __future__ import annotations

import base64
import hashlib
import json
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from rich.console import Console

from chunkproof import layout
from chunkproof.engines import NUMBERED, Engine, EngineFailure, own_names, split_command
from chunkproof.problems import Problem
from chunkproof.recipes import expand
from chunkproof.replies import NotAReply, Reply, canonical

if TYPE_CHECKING:
    from hypothesis import strategies as st

Request = dict[str, Any]
Command = str | Sequence[str]

ROUND = 40
"""Requests a round, before the time is looked at again."""
ROUNDS = {"long": 4}
"""Smaller rounds, where a request takes long."""
TIMEOUT = 30.0
"""Seconds after which an engine that has not answered one request hangs: the texts are small."""
WHY = "why? say what this case shows and which reading of the spec it rules out"


class WrongError(Exception):
    """A request on which the engines differ, or whose reply breaks an invariant."""

    def __init__(self, request: Request, reason: str, replies: dict[str, Any]) -> None:
        self.request, self.reason, self.replies = request, reason, replies
        super().__init__(reason)


@dataclass
class Difference:
    """A finding: its group, the smallest request, what is wrong with it, and what each engine replied."""

    group: str
    request: Request
    reason: str
    replies: dict[str, Any]

    def line(self) -> str:
        """The request as a case for `fixtures/edge`, one line of JSON."""
        digest = hashlib.sha256(canonical(_sendable(self.request))).hexdigest()
        slug = self.group.replace("/", "-").replace("_", "-")
        return json.dumps({"id": f"fuzz/{slug}-{digest[:8]}", "why": WHY, **self.request}, ensure_ascii=True)


def _sendable(value: Any) -> Any:
    """The value with its strings escaped, since a lone surrogate has no canonical form."""
    return json.loads(json.dumps({"request": json.dumps(value, sort_keys=True)}))


@dataclass
class Found:
    """A whole run: requests made, differences, seconds."""

    seed: int
    requests: int = 0
    unsupported: int = 0
    seconds: float = 0.0
    differences: list[Difference] = field(default_factory=list)


class Panel:
    """The engines of a run as long-lived processes; one that died is started again for the next request."""

    def __init__(self, commands: dict[str, list[str]], folder: Path) -> None:
        self._commands, self._folder = commands, folder
        self._engines: dict[str, Engine] = {}
        self.asked = 0
        self.unsupported = 0

    def __enter__(self) -> Panel:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with ExitStack() as stack:
            for engine in self._engines.values():
                stack.callback(engine.kill)

    @property
    def names(self) -> list[str]:
        """The engines in the order of asking; the first one also answers `look`."""
        return list(self._commands)

    def ask(self, name: str, request: Request) -> Reply | str:
        """One engine's reply, or what it did instead of replying."""
        try:
            if name not in self._engines:
                self._engines[name] = Engine(self._commands[name], self._folder, name, TIMEOUT)
            engine = self._engines[name]
            if "raw_base64" in request:
                return engine.ask_raw("the line", base64.b64decode(request["raw_base64"]))[0]
            return engine.ask([("the request", expand(request))])[0]
        except EngineFailure as failure:
            broken = self._engines.pop(name, None)
            if broken is not None:
                broken.kill()
            return f"{failure.kind}: {failure.detail}"

    def greet(self) -> None:
        """Ask each engine for its `info`, so that one that can't be started is a problem and no difference.

        From then on an engine that had only a number is called as it calls itself, if no other is called so.
        """
        infos = []
        for name in self.names:
            reply = self.ask(name, {"op": "info"})
            if isinstance(reply, str) or reply.ok is None:
                raise Problem(f"the engine {name} ({' '.join(self._commands[name])}) does not answer info: {reply}")
            infos.append(reply.ok)
        names = dict(zip(self.names, own_names(self.names, infos), strict=True))
        self._commands = {names[name]: words for name, words in self._commands.items()}
        self._engines = {names[name]: engine for name, engine in self._engines.items()}

    def look(self, request: Request) -> Any:
        """The first engine's `ok` value, or None."""
        reply = self.ask(self.names[0], request)
        return reply.ok if isinstance(reply, Reply) else None

    def examine(self, request: Request, sound: bool) -> None:
        """Ask every engine; raise Wrong if replies differ, or, for a sound request, an invariant is broken."""
        from chunkproof import fuzz_checks

        self.asked += 1
        replies = {name: self.ask(name, request) for name in self.names}
        shown = {name: reply if isinstance(reply, str) else reply.value for name, reply in replies.items()}
        failed = [name for name, reply in replies.items() if isinstance(reply, str)]
        if failed:
            raise WrongError(request, f"{failed[0]} failed: {replies[failed[0]]}", shown)
        answers = {name: reply for name, reply in replies.items() if isinstance(reply, Reply)}
        able = {name: reply for name, reply in answers.items() if reply.code != "unsupported"}
        self.unsupported += len(answers) - len(able)
        if not able:
            return
        try:
            forms = {
                name: (reply.id if "raw_base64" in request else "", canonical(_compared(reply)))
                for name, reply in able.items()
            }
        except NotAReply as error:
            raise WrongError(request, str(error), shown) from error
        if len(set(forms.values())) > 1:
            raise WrongError(request, first_difference(list(able.items())), shown)
        name, reply = next(iter(able.items()))
        internal = "an internal fault of the engine" if reply.code == "internal" else None
        look = self.look if len(able) == len(answers) else _looking_at(self, name)
        wrong = internal or (fuzz_checks.problem(expand(request), reply.value, look) if sound else None)
        if wrong:
            raise WrongError(request, wrong, shown)


def _compared(reply: Reply) -> dict[str, Any]:
    """What is compared of a reply. An engine says of itself what it likes: of `info`, only that it was answered."""
    return {"ok": {}} if "engine" in (reply.ok or {}) else reply.value


def _looking_at(panel: Panel, name: str) -> Callable[[Request], Any]:
    def look(request: Request) -> Any:
        reply = panel.ask(name, request)
        return reply.ok if isinstance(reply, Reply) else None

    return look


def first_difference(replies: list[tuple[str, Reply]]) -> str:
    """The path at which two replies part, with both values."""
    (one, first), *others = replies
    for other, second in others:
        path, a, b = _parting(_compared(first), _compared(second), "")
        if path is not None:
            return f"at {path or 'the top'}: {one} {_short(a)}, {other} {_short(b)}"
        if first.id != second.id:
            return f"at id: {one} {first.id!r}, {other} {second.id!r}"
    return "the canonical bytes differ"


def _parting(a: Any, b: Any, path: str) -> tuple[str | None, Any, Any]:
    if isinstance(a, dict) and isinstance(b, dict):
        if a.keys() != b.keys():
            return path, a, b
        for key in a:
            found = _parting(a[key], b[key], f"{path}.{key}".lstrip("."))
            if found[0] is not None:
                return found
        return None, a, b
    if isinstance(a, list) and isinstance(b, list):
        for index, (x, y) in enumerate(zip(a, b, strict=False)):
            found = _parting(x, y, f"{path}[{index}]")
            if found[0] is not None:
                return found
        return (None, a, b) if len(a) == len(b) else (f"{path}.length", len(a), len(b))
    return (None, a, b) if a == b and isinstance(a, bool) == isinstance(b, bool) else (path, a, b)


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=True)
    return text if len(text) <= 120 else text[:117] + "…"


def _round(panel: Panel, strategy: st.SearchStrategy[Request], sound: bool, seed: int, count: int) -> WrongError | None:
    """Examine `count` requests; the smallest wrong one, or None."""
    import hypothesis
    from hypothesis import HealthCheck, Phase, Verbosity

    last: Request = {}

    def examine(request: Request) -> None:
        nonlocal last
        last = request
        panel.examine(request, sound)

    limits = hypothesis.settings(
        max_examples=count,
        database=None,
        deadline=None,
        derandomize=False,
        phases=(Phase.generate, Phase.shrink),
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
        verbosity=Verbosity.quiet,
    )
    test = hypothesis.seed(seed)(limits(hypothesis.given(strategy)(examine)))
    try:
        test()
    except WrongError as wrong:
        return wrong
    except hypothesis.errors.Flaky as flaky:
        kept = [error for error in getattr(flaky, "exceptions", ()) if isinstance(error, WrongError)]
        if not kept:
            return WrongError(last, "an engine answers the same request differently at another time", {})
        return WrongError(kept[0].request, f"not every time: {kept[0].reason}", kept[0].replies)
    return None


def commands_of(engines: Sequence[Command] | None) -> dict[str, list[str]]:
    """Each engine's short name and command: `py`, `ts` or any command; by default these two."""
    named: dict[str, list[str]] = {}
    for command in ("py", "ts") if engines is None else engines:
        if command in ("py", "ts"):
            try:
                name, words = str(command), layout.py_engine() if command == "py" else layout.ts_engine()
            except layout.EngineMissing as missing:
                raise Problem(str(missing)) from missing
        else:
            words = split_command(command) if isinstance(command, str) else list(command)
            name = f"{NUMBERED}{len(named) + 1}"
        named[name if name not in named else f"{NUMBERED}{len(named) + 1}"] = words
    if not named:
        raise Problem("fuzz needs at least one engine")
    return named


def find(
    seed: int,
    minutes: float | None = None,
    engines: Sequence[Command] | None = None,
    examples: int | None = None,
    only: Sequence[str] | None = None,
    tell: Callable[[Found], None] | None = None,
) -> Found:
    """Look for differences until the time is up or `examples` requests were made, whichever comes first.

    `only` keeps the groups whose names begin with one of its entries. `tell` is called after each round.
    """
    try:
        from chunkproof import fuzz_requests
    except ImportError as error:
        raise Problem("fuzz needs hypothesis: python -m pip install 'chunkproof[fuzz]'") from error

    if minutes is None and examples is None:
        raise Problem("fuzz needs a time or a number of requests")
    begun = time.monotonic()
    found = Found(seed)
    with Panel(commands_of(engines), Path.cwd()) as panel:
        panel.greet()
        groups = fuzz_requests.groups(panel.look, layout.spec_dir() / "unicode-18.0.json")
        open_groups = [name for name in groups if only is None or name.startswith(tuple(only))]
        if not open_groups:
            raise Problem(f"no group is named so; there are: {', '.join(groups)}")
        share = ROUND if examples is None else max(1, min(ROUND, -(-examples // len(open_groups))))
        number = 0
        while open_groups:
            name = open_groups[number % len(open_groups)]
            count = min(share, ROUNDS.get(name, ROUND))
            if examples is not None:
                count = min(count, examples - found.requests)
            before = panel.asked
            wrong = _round(panel, groups[name], not name.startswith("bad/"), seed * 1_000_003 + number, count)
            # A strategy may run out of different requests before `count`: then the round counts as full all the same.
            found.requests += max(count, panel.asked - before) if wrong is None else panel.asked - before
            found.unsupported = panel.unsupported
            found.seconds = time.monotonic() - begun
            if wrong is not None:
                found.differences.append(Difference(name, wrong.request, wrong.reason, wrong.replies))
                open_groups.remove(name)
            else:
                number += 1
            if tell is not None:
                tell(found)
            if examples is not None and found.requests >= examples:
                break
            if minutes is not None and found.seconds >= minutes * 60:
                break
    return found


def run(
    seed: int,
    minutes: float | None = None,
    engines: Sequence[Command] | None = None,
    examples: int | None = None,
    out: Path | None = None,
    only: Sequence[str] | None = None,
    as_json: bool = False,
) -> int:
    """Fuzz and say what was found; the exit status: 0 nothing, 1 a difference.

    The lines for `fixtures/edge` are printed, or appended to `out`. Progress goes to a terminal's standard error.
    """
    screen = Console(stderr=True)
    live = screen.is_terminal

    def tell(found: Found) -> None:
        if live:
            print(
                f"\r{found.requests:,} requests, {len(found.differences)} differences",
                end="",
                file=sys.stderr,
                flush=True,
            )

    found = find(seed, minutes, engines, examples, only, tell)
    if live:
        print(file=sys.stderr)
    if out is not None and found.differences:
        with out.open("a", encoding="utf-8") as file:
            file.writelines(difference.line() + "\n" for difference in found.differences)
    if as_json:
        print(json.dumps(summary(found)))
    else:
        _print(found, out)
    return 1 if found.differences else 0


def summary(found: Found) -> dict[str, Any]:
    """A run as a program reads it."""
    return {
        "seed": found.seed,
        "requests": found.requests,
        "unsupported": found.unsupported,
        "seconds": round(found.seconds, 1),
        "differences": [
            {"group": d.group, "reason": d.reason, "case": json.loads(d.line()), "replies": d.replies}
            for d in found.differences
        ],
    }


def _print(found: Found, out: Path | None) -> None:
    if not found.differences:
        print(f"✓ fuzz: {found.requests:,} requests from seed {found.seed} in {found.seconds:.0f} s, no difference")
    for difference in found.differences:
        print(f"✗ fuzz: {difference.group}: {difference.reason}")
        for name, reply in difference.replies.items():
            print(f"  {name:8} {_short(reply)}")
        print(difference.line() if out is None else f"  written to {out}")
    if found.unsupported:
        print(f"  {found.unsupported:,} replies were `unsupported` and compared with nothing")
