"""Long texts written short: `{"repeat": T, "times": n}` and `{"join": [T, …]}` in place of any string (spec README)."""

from __future__ import annotations

from chunkproof.problems import Problem
from chunkproof.replies import Json

LONGEST = 128 * 1024 * 1024
"""Code points that a recipe may grow to: twice the longest line that an engine reads."""


def expand(value: Json) -> Json:
    """The value with every recipe in it, at any depth, replaced by its text."""
    if isinstance(value, dict):
        if set(value) == {"repeat", "times"} or set(value) == {"join"}:
            return text_of(value)
        return {key: expand(item) for key, item in value.items()}
    if isinstance(value, list):
        return [expand(item) for item in value]
    return value


def text_of(recipe: Json) -> str:
    """The text of a string or a recipe."""
    if isinstance(recipe, str):
        return recipe
    if isinstance(recipe, dict) and set(recipe) == {"repeat", "times"}:
        times = recipe["times"]
        if isinstance(times, bool) or not isinstance(times, int) or times < 0:
            raise Problem(f'a recipe\'s "times" must be an integer of at least 0, not {times!r}')
        unit = text_of(recipe["repeat"])
        if len(unit) * times > LONGEST:
            raise Problem(
                f"a recipe makes a text of {len(unit) * times:,} code points; at most {LONGEST:,} are allowed"
            )
        return unit * times
    if isinstance(recipe, dict) and set(recipe) == {"join"}:
        parts = recipe["join"]
        if not isinstance(parts, list):
            raise Problem('a recipe\'s "join" must be a list')
        text = "".join(text_of(part) for part in parts)
        if len(text) > LONGEST:
            raise Problem(f"a recipe makes a text of {len(text):,} code points; at most {LONGEST:,} are allowed")
        return text
    raise Problem('a recipe is a string, {"repeat": T, "times": n} or {"join": [T, …]}')
