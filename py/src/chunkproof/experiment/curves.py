"""Recall over budget, one line a policy, as one SVG file that needs nothing else.

A plotting library would bring a font, a renderer and a version that changes the bytes; what is drawn here is a few lines
whose places are exact fractions, so the same figures always give the same file. The title and description carry the data
for those who do not see it; dashes and marks tell the lines apart without colour.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from xml.sax.saxutils import escape

_WIDTH, _HEIGHT, _LEFT, _TOP, _RIGHT, _BOTTOM = 880, 520, 64, 48, 210, 64
_INNER, _TALL = _WIDTH - _LEFT - _RIGHT, _HEIGHT - _TOP - _BOTTOM
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#6b6b6b")
_DASHES = ("", "7 3", "2 3", "9 3 2 3")
_STYLE = """
svg{background:#fff;color:#1a1a1a;font:13px system-ui,sans-serif}
text{fill:currentColor}.grid{stroke:currentColor;stroke-opacity:.15}.line{fill:none;stroke-width:1.8}
.paragraphs .line{stroke-width:3.4}.leader{stroke:currentColor;stroke-opacity:.35}
@media (prefers-color-scheme:dark){svg{background:#16181c;color:#ececec}}
"""

Curve = Sequence[tuple[int, int, int]]
"""Points of one policy, by budget: the budget in tokens, questions covered, questions."""


def svg(curves: Mapping[str, Curve], title: str, measure: str = "any") -> str:
    """The file. `title` says what was run; `measure` is `any` or `strict`."""
    budgets = sorted({budget for points in curves.values() for budget, _, _ in points})
    what = "the whole evidence of an annotator" if measure == "any" else "the evidence of all annotators"
    heading = f"Share of questions with {what} in the context, by budget"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-labelledby="t d">',
        f'<title id="t">{escape(f"{heading}. {title}")}</title>',
        f'<desc id="d">{escape(_described(curves))}</desc>',
        f"<style>{_STYLE}</style>",
        f'<text x="{_LEFT}" y="22" font-weight="600">{escape(heading)}</text>',
        f'<text x="{_LEFT}" y="39" font-size="11">{escape(title)}</text>',
        *_axes(budgets),
        *_lines(curves, budgets),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _described(curves: Mapping[str, Curve]) -> str:
    """The data in words."""
    said = []
    for name, points in curves.items():
        said.append(f"{name}: " + ", ".join(f"{covered} of {asked} at {budget}" for budget, covered, asked in points))
    return "; ".join(said) + "."


def _place(value: Fraction) -> str:
    """A coordinate to a tenth of a pixel, rounded exactly."""
    tenths = round(value * 10)
    return f"{tenths // 10}.{tenths % 10}"


def _x(budget: int, budgets: Sequence[int]) -> Fraction:
    """Budgets are equally far apart, whatever they are: most of what happens is at the small ones."""
    return Fraction(_LEFT) + Fraction(_INNER * budgets.index(budget), max(1, len(budgets) - 1))


def _y(covered: int, asked: int) -> Fraction:
    return _TOP + _TALL * (1 - Fraction(covered, asked or 1))


def _axes(budgets: Sequence[int]) -> list[str]:
    parts = []
    for tenth in range(0, 11, 2):
        y = _place(_y(tenth, 10))
        parts.append(f'<path class="grid" d="M{_LEFT} {y}H{_LEFT + _INNER}"/>')
        parts.append(f'<text x="{_LEFT - 8}" y="{y}" dy="4" text-anchor="end">{tenth * 10} %</text>')
    for budget in budgets:
        x = _place(_x(budget, budgets))
        parts.append(f'<text x="{x}" y="{_TOP + _TALL + 20}" text-anchor="middle">{budget:,}</text>')
    middle = _LEFT + _INNER // 2
    parts.append(f'<text x="{middle}" y="{_HEIGHT - 14}" text-anchor="middle">budget in tokens</text>')
    return parts


def _lines(curves: Mapping[str, Curve], budgets: Sequence[int]) -> list[str]:
    """The lines, and their names at the right end, moved apart where they would lie on one another."""
    parts, ends = [], []
    for number, (name, points) in enumerate(curves.items()):
        colour, dash = _COLOURS[number % len(_COLOURS)], _DASHES[number % len(_DASHES)]
        places = [(_place(_x(budget, budgets)), _place(_y(covered, asked))) for budget, covered, asked in points]
        style = f'stroke="{colour}"' + (f' stroke-dasharray="{dash}"' if dash else "")
        marks = "".join(f'<circle cx="{x}" cy="{y}" r="3" fill="{colour}"/>' for x, y in places)
        line = f'<path class="line" {style} d="M{"L".join(f"{x} {y}" for x, y in places)}"/>'
        parts.append(f'<g class="{escape(name)}">{line}{marks}</g>')
        ends.append((_y(*points[-1][1:]), name, style, places[-1]))
    free = Fraction(_TOP - 12)
    for y, name, style, (end_x, end_y) in sorted(ends):
        free = max(y, free + 16)
        right = _LEFT + _INNER + 22
        parts.append(f'<path class="leader" d="M{end_x} {end_y}L{right} {_place(free)}"/>')
        key = f'<path class="line" {style} d="M{right} {_place(free)}h26"/>'
        parts.append(f'<g class="{escape(name)}">{key}</g>')
        parts.append(f'<text x="{right + 32}" y="{_place(free)}" dy="4">{escape(name)}</text>')
    return parts
