"""What a request may hold, as tables of fields (spec 01, Values and Settings).

A *type* reads one JSON value: it gives what the engine works with, or refuses the request (`bad_request`). A value of
the right type but outside its range is noted in `late` instead, since `bad_request` anywhere in the request, and then
`bad_text`, come first.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from chunkproof.errors import Refused

Late = list[str]
"""What is wrong with settings: the reply is `bad_setting` if nothing else is wrong with the request."""
Type = Callable[[Any, str, Late], Any]
"""Reads a value; the string says where it stands, for messages."""
REQUIRED: Any = object()
LARGEST = 2**53 - 1


class Field(NamedTuple):
    """A field of an object; without a default it is required."""

    type: Type
    default: Any = REQUIRED


Fields = Mapping[str, Field]


def refuse(where: str, wanted: str) -> Refused:
    """The refusal of a value that is not what is wanted."""
    return Refused("bad_request", f"{where} must be {wanted}")


def string(value: Any, where: str, late: Late) -> str:
    """Any text; lone surrogates are looked for later."""
    if not isinstance(value, str):
        raise refuse(where, "a string")
    return value


def integer(low: int | None = None, high: int | None = None) -> Type:
    """An integer, and a setting if it has a range. 5.0 is 5; what parsed as a double beyond 2^53 − 1 is none."""

    def read(value: Any, where: str, late: Late) -> int:
        if not isinstance(value, float) or not value.is_integer() or abs(value) > LARGEST:
            raise refuse(where, "an integer")
        number = int(value)
        if (low is not None and number < low) or (high is not None and number > high):
            late.append(f"{where} {number} must be {between(low, high)}")
        return number

    return read


def number(low: float | None = None, high: float | None = None) -> Type:
    """A number, and a setting if it has a range."""

    def read(value: Any, where: str, late: Late) -> float:
        if not isinstance(value, float):
            raise refuse(where, "a number")
        if (low is not None and value < low) or (high is not None and value > high):
            late.append(f"{where} {value} must be {between(low, high)}")
        return value

    return read


def between(low: float | None, high: float | None) -> str:
    """A range, in words."""
    return f"at least {low}" if high is None else f"{low} to {high}"


def choice(*names: str) -> Type:
    """One of these names; another is unknown to the spec, so `bad_request`."""

    def read(value: Any, where: str, late: Late) -> str:
        if not isinstance(value, str) or value not in names:
            raise refuse(where, f"one of {', '.join(names)}")
        return value

    return read


def array(item: Type) -> Type:
    """A list whose items are all of one type."""

    def read(value: Any, where: str, late: Late) -> list[Any]:
        if not isinstance(value, list):
            raise refuse(where, "a list")
        return [item(one, where, late) for one in value]

    return read


def integers(value: Any, where: str, late: Late) -> list[int]:
    """A list of integers without a range, read as a whole: a request may hold one for each piece of a text."""
    if not isinstance(value, list):
        raise refuse(where, "a list")
    try:
        whole = all(map(float.is_integer, value))
    except TypeError:  # something that is no number
        whole = False
    if not whole or max(value, default=0) > LARGEST or min(value, default=0) < -LARGEST:
        raise refuse(where, "an integer")
    return list(map(int, value))


def pair(item: Type) -> Type:
    """A list of two items of one type."""
    items = array(item)

    def read(value: Any, where: str, late: Late) -> tuple[Any, Any]:
        found = items(value, where, late)
        if len(found) != 2:
            raise refuse(where, "a list of two")
        return found[0], found[1]

    return read


def cutoffs(value: Any, where: str, late: Late) -> list[int]:
    """Not empty, distinct, each at least 1."""
    found: list[int] = array(integer(1))(value, where, late)
    if not found or len(set(found)) != len(found):
        late.append(f"{where} must be distinct, and at least one")
    return found


def obj(fields: Fields) -> Type:
    """An object with these fields and no others."""

    def read(value: Any, where: str, late: Late) -> dict[str, Any]:
        return members(value, fields, where, late)

    return read


def members(value: Any, fields: Fields, where: str, late: Late) -> dict[str, Any]:
    """The fields of an object, defaults filled in."""
    if not isinstance(value, dict):
        raise refuse(where, "an object")
    for name in value:
        if name not in fields:
            raise Refused("bad_request", f"{where} has an unknown field {name!r}")
    found = {}
    for name, field in fields.items():
        if name in value:
            found[name] = field.type(value[name], name, late)
        elif field.default is REQUIRED:
            raise Refused("bad_request", f"{where} lacks {name}")
        else:
            found[name] = field.default
    return found


def kinds(table: Mapping[str, Fields]) -> Type:
    """An object whose `kind` decides its other fields."""

    def read(value: Any, where: str, late: Late) -> dict[str, Any]:
        return members(value, {"kind": Field(choice(*table)), **table[kind(value, table, where)]}, where, late)

    return read


def kind(value: Any, table: Mapping[str, Fields], where: str) -> str:
    """The `kind` of an object, one of a table's."""
    found = value.get("kind") if isinstance(value, dict) else None
    if not isinstance(found, str) or found not in table:
        raise refuse(where, f"an object with a kind that is one of {', '.join(table)}")
    return found
