"""Reply lines as the harness reads them: parsing, the compared form, canonical bytes and digests (spec 01, 02).

The harness judges engines, so it shares no code with one: canonical JSON comes from `rfc8785`, or from the standard
library where both write the same bytes and the latter is fifty times faster.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from dataclasses import dataclass
from typing import Any

import rfc8785

Json = Any
"""A JSON value as Python has it: dict, list, str, int, float, bool or None."""

_LONG_NUMBER = re.compile(r'(?<![0-9a-zA-Z"])-?[0-9]{16,}')
_FRACTION = re.compile(r"[0-9][.eE]")
"""What every float is written with; strings may hold it too."""
_MAX_INTEGER = 2**53 - 1


class NotAReply(ValueError):
    """A line on an engine's standard output that is no reply; the message says why."""


@dataclass(frozen=True)
class Reply:
    """One reply: its id (None where the engine could not read one), the compared value and the message of an error."""

    id: str | None
    value: dict[str, Json]
    message: str = ""

    @property
    def ok(self) -> Json:
        """The `ok` value, or None for an error reply."""
        return self.value.get("ok")

    @property
    def code(self) -> str | None:
        """The error's code, or None."""
        error = self.value.get("error")
        return error["code"] if error is not None else None


def _no_constant(name: str) -> Json:
    raise NotAReply(f"it holds {name}, which is not JSON")


def _number(digits: str) -> int | float:
    """5.0 and 5e0 are the number 5 (spec 01)."""
    value = float(digits)
    if math.isinf(value):
        raise NotAReply("it holds a number beyond a double")
    return int(value) if value.is_integer() and abs(value) <= _MAX_INTEGER else value


def parse_reply(line: bytes) -> Reply:
    """Read one line as a reply. The compared value is `{"ok": …}` or `{"error": {"code": …}}`: no id, no message."""
    try:
        data = json.loads(line.decode("utf-8"), parse_constant=_no_constant, parse_float=_number)
    except UnicodeDecodeError as error:
        raise NotAReply("it is not UTF-8") from error
    except (json.JSONDecodeError, RecursionError) as error:
        raise NotAReply("it is not JSON") from error
    if not isinstance(data, dict):
        raise NotAReply("it is not a JSON object")
    extra = set(data) - {"id", "ok", "error"}
    if "id" not in data or extra or ("ok" in data) == ("error" in data):
        raise NotAReply('a reply has an "id" and either "ok" or "error", nothing else')
    name = data["id"]
    if name is not None and not isinstance(name, str):
        raise NotAReply("its id is neither a string nor null")
    if "ok" in data:
        if not isinstance(data["ok"], dict):
            raise NotAReply('its "ok" is not an object')
        return Reply(name, {"ok": data["ok"]})
    refusal = data["error"]
    if not isinstance(refusal, dict) or not isinstance(refusal.get("code"), str):
        raise NotAReply('its "error" has no "code"')
    return Reply(name, {"error": {"code": refusal["code"]}}, str(refusal.get("message", "")))


def _has_float(value: Json) -> bool:
    if isinstance(value, float):
        return True
    if isinstance(value, dict):
        return any(_has_float(item) for item in value.values())
    if isinstance(value, list):
        return any(_has_float(item) for item in value)
    return False


def _as_doubles(value: Json) -> Json:
    """Integers beyond 2^53 − 1 as the doubles they are in JSON."""
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > _MAX_INTEGER:
        return float(value)
    if isinstance(value, dict):
        return {key: _as_doubles(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_as_doubles(item) for item in value]
    return value


def canonical(value: Json) -> bytes:
    """The RFC 8785 bytes of a value. A value that has none (a lone surrogate) raises NotAReply."""
    try:
        text = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False)
        if _LONG_NUMBER.search(text) is None and (_FRACTION.search(text) is None or not _has_float(value)):
            return text.encode("utf-8")
        return rfc8785.dumps(_as_doubles(value))
    except (ValueError, OverflowError, UnicodeEncodeError) as error:
        raise NotAReply("it holds a number or a string that has no canonical form") from error


def digest(value: Json) -> str:
    """The SHA-256 of the canonical bytes, in lower-case hexadecimal."""
    return hashlib.sha256(canonical(value)).hexdigest()


def request_line(request: Json) -> bytes:
    """A request as one line of bytes with its U+000A; lone surrogates are sent as escapes."""
    try:
        text = json.dumps(request, ensure_ascii=False, separators=(",", ":")).encode("utf-8")
    except UnicodeEncodeError:
        text = json.dumps(request, ensure_ascii=True, separators=(",", ":")).encode("ascii")
    return text + b"\n"
