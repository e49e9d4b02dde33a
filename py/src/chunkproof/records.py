"""Which lines are JSON at all, and which bytes a reply has when it is compared or digested (spec 02)."""

import hashlib
import json
import math
import re
from typing import Any, Never

import rfc8785

from chunkproof.errors import Refused


class Unreadable(Refused):
    """A line that is not JSON by 02 rule 1; so neither is its id readable."""

    def __init__(self, message: str) -> None:
        super().__init__("bad_request", message)


class Unacceptable(Refused):
    """A line that is JSON by its grammar and yet refused; its id counts as read. `head` is the outermost object."""

    def __init__(self, message: str, head: Any) -> None:
        super().__init__("bad_request", message)
        self.head = head if isinstance(head, dict) else {}


def read(line: bytes) -> Any:
    """Rule 1: the value of a line. Every number is a float; lone surrogates are kept, for the caller to refuse.

    Raises Unreadable; or Unacceptable where a key stands twice, a number is beyond binary64, or the nesting is more
    than the parser can follow.
    """
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Unreadable(f"not UTF-8 at byte {error.start}") from None
    del line  # a request may be as large as memory allows: keep one copy, not two
    faults: list[str] = []

    def number(digits: str) -> float:
        value = float(digits)
        if not math.isfinite(value):
            faults.append(f"{digits[:40]} is beyond binary64")
        return value + 0.0

    def members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) != len(pairs):
            faults.append("an object lists a key twice")
            if [key for key, _ in pairs].count("id") > 1:
                found["id"] = None  # which one is meant cannot be read
        return found

    # Python's `int` of many digits is slow and limited, and 5.0 is the number 5: so every number is read as a double. Where
    # no whole number can be −0 or beyond binary64, `float` alone reads them, many times faster.
    whole = number if "-0" in text or _many_digits(text) else float
    decoder = json.JSONDecoder(
        object_pairs_hook=members, parse_int=whole, parse_float=number, parse_constant=_constant
    )  # fmt: skip
    try:
        value = decoder.decode(text)
    except json.JSONDecodeError as error:
        raise Unreadable(f"not JSON at {error.pos}: {error.msg}") from None
    except RecursionError:
        raise Unacceptable("nested deeper than 64", _outermost(text)) from None
    if faults:
        raise Unacceptable(faults[0], value)
    return value


def _many_digits(text: str) -> bool:
    """Whether 309 digits may stand in a row; fewer are below 10^308. Such a row fills one of these blocks whole."""
    return any(text[at : at + 150].isdigit() for at in range(0, len(text), 150))


def _constant(name: str) -> Never:
    raise Unreadable(f"{name} is not JSON")


_TOKEN = re.compile(
    r"[ \t\n\r]*(?:(?P<mark>[\[\]{},:])"
    r'|(?P<string>"[^"\\\x00-\x1f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*)*")'
    r"|(?P<number>-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)|(?P<word>true|false|null))"
)


def _outermost(text: str) -> dict[str, Any]:
    """Checks a deeply nested line without recursion, and gives its outermost object's strings (so also its id)."""
    head: dict[str, Any] = {}
    keys: list[set[str] | None] = []  # of each open object; None for a list
    key = ""
    expected = "value"
    at, end = 0, len(text.rstrip(" \t\n\r"))
    while at < end:
        token = _TOKEN.match(text, at)
        if token is None:
            raise Unreadable(f"not JSON at {at}")
        at = token.end()
        mark = token["mark"] or ""
        if expected == "value" or (expected == "value or ]" and mark != "]"):
            if mark in ("[", "{"):
                keys.append(set() if mark == "{" else None)
                expected = "key or }" if mark == "{" else "value or ]"
                continue
            if mark:
                raise Unreadable(f"not JSON at {at}")
            if token["string"] and len(keys) == 1 and keys[0] is not None:
                head[key] = json.loads(token["string"])
        elif expected == "key" or (expected == "key or }" and mark != "}"):
            inside = keys[-1]
            if not token["string"] or inside is None:
                raise Unreadable(f"not JSON at {at}")
            name = json.loads(token["string"])
            if len(keys) == 1:
                key = name if name not in inside else ""  # of two ids none counts as read
                if not key:
                    head.pop(name, None)
            inside.add(name)
            expected = ":"
            continue
        elif expected == ":":
            if mark != ":":
                raise Unreadable(f"not JSON at {at}")
            expected = "value"
            continue
        elif mark == "," and keys and expected == "next":
            expected = "value" if keys[-1] is None else "key"
            continue
        elif keys and mark == ("]" if keys[-1] is None else "}"):
            keys.pop()
        else:
            raise Unreadable(f"not JSON at {at}")
        expected = "next" if keys else "end"
    if expected != "end":
        raise Unreadable("not JSON: it ends too early")
    return head


def canonical(value: Any) -> bytes:
    """Rule 2: RFC 8785 (JSON Canonicalization Scheme)."""
    return rfc8785.dumps(value)


def digest(value: Any) -> str:
    """Rule 3: the lower-case hexadecimal SHA-256 of the canonical bytes."""
    return hashlib.sha256(canonical(value)).hexdigest()
