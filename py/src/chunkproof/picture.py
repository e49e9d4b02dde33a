"""The picture of docs/cuts.md: a stretch of a text cut three ways, and an answer that one of them cuts in two.

`python -m chunkproof.picture --out docs/cuts.svg`. All that it shows comes from an engine's replies on a fixture; the drawing is
plain SVG that follows the reader's light or dark scheme.
"""

from __future__ import annotations

import argparse
import re
import struct
from html import escape
from pathlib import Path
from typing import Any

from chunkproof import fixtures, layout
from chunkproof.engines import Engine

WIDTH, LEFT, RIGHT = 960, 128, 24
TRACKS = ("fixed-256", "recursive-256", "semantic-256")
STYLE = """
  text { font: 13px system-ui, sans-serif; fill: #1f2430 }
  .small { font-size: 11px; fill: #5a6275 } .quote { font: 14px Georgia, serif }
  .a { fill: #cfdcf2; stroke: #51709f } .b { fill: #e9eef8; stroke: #51709f }
  .answer { fill: #f0b429; fill-opacity: .55 } .cut { fill: url(#hatch); stroke: #b3261e; stroke-width: 1.5 }
  .line { fill: none; stroke: #51709f; stroke-width: 1.5 } .theta { stroke: #b3261e; stroke-dasharray: 5 4 }
  .break { stroke: #b3261e; stroke-width: 1 } .page { fill: #ffffff }
  @media (prefers-color-scheme: dark) {
    text { fill: #e8eaf0 } .small { fill: #a9b1c4 } .page { fill: #14171f }
    .a { fill: #31466b; stroke: #8fb0e6 } .b { fill: #222f47; stroke: #8fb0e6 }
    .line { stroke: #8fb0e6 } .theta, .break { stroke: #ff8a80 } .cut { stroke: #ff8a80 }
  }
"""


def _double(digits: str) -> float:
    """A double of a reply, for drawing."""
    return float(struct.unpack(">d", bytes.fromhex(digits))[0])


class _Scene:
    """One document's chunks under three chunkers, and the window of it that is drawn."""

    def __init__(self, fixture: fixtures.Fixture, question: fixtures.Question) -> None:
        document = fixture.documents[question.document]
        self.text, self.question = document.text, question
        self.chunks: dict[str, list[dict[str, Any]]] = {}
        with Engine(layout.py_engine(), fixture.folder, "py") as engine:
            for config in fixture.configs:
                if config.name not in TRACKS:
                    continue
                chunker = dict(config.chunker)
                if config.kind == "semantic":
                    assert fixture.vectors.sentences is not None
                    chunker["vectors"] = fixture.vectors.sentences.of_document(document.id)
                (reply,) = engine.ask([("picture", {"op": "chunk", "text": self.text, "chunker": chunker})])
                assert reply.ok is not None
                self.chunks[config.name] = reply.ok["chunks"]
                if config.kind == "semantic":
                    self.similarities = [_double(value) for value in reply.ok["similarities"]]
                    self.threshold = _double(reply.ok["threshold"])
            (reply,) = engine.ask(
                [("picture", {"op": "segments", "text": self.text, "paragraphs": fixture.paragraphs})]
            )
            assert reply.ok is not None
            self.sentences = reply.ok["sentences"]
        middle = (question.start + question.end) // 2
        self.low, self.high = max(0, middle - 1500), min(len(self.text), middle + 1500)

    def x(self, offset: int) -> float:
        """Where a code point of the document stands on the sheet."""
        share = (min(max(offset, self.low), self.high) - self.low) / (self.high - self.low)
        return LEFT + share * (WIDTH - LEFT - RIGHT)

    def holds(self, track: str) -> bool:
        """Whether some chunk of the track holds the whole answer."""
        return any(c["start"] <= self.question.start and self.question.end <= c["end"] for c in self.chunks[track])


def _tracks(scene: _Scene, top: int) -> list[str]:
    out = []
    for row, track in enumerate(TRACKS):
        y = top + 52 * row
        whole = scene.holds(track)
        out.append(f'<text x="12" y="{y + 17}">{track}</text>')
        out.append(f'<text class="small" x="12" y="{y + 31}">{"answer whole" if whole else "answer cut: lost"}</text>')
        for number, chunk in enumerate(scene.chunks[track]):
            if chunk["end"] <= scene.low or chunk["start"] >= scene.high:
                continue
            x, width = scene.x(chunk["start"]), scene.x(chunk["end"]) - scene.x(chunk["start"])
            out.append(f'<rect class="{"ab"[number % 2]}" x="{x:.1f}" y="{y}" width="{width:.1f}" height="34" rx="4"/>')
            if width > 30:
                out.append(f'<text class="small" x="{x + 6:.1f}" y="{y + 14}">{chunk["tokens"]}</text>')
        x, end = scene.x(scene.question.start), scene.x(scene.question.end)
        out.append(
            f'<rect class="{"answer" if whole else "cut"}" x="{x:.1f}" y="{y}" width="{end - x:.1f}" height="34"/>'
        )
    return out


def _similarities(scene: _Scene, top: int) -> list[str]:
    height = 56

    def y(similarity: float) -> float:
        return top + height * (1 - max(0.0, min(1.0, similarity)))

    joints = [
        (scene.x(sentence["start"]), value)
        for sentence, value in zip(scene.sentences[1:], scene.similarities, strict=True)
        if scene.low < sentence["start"] < scene.high
    ]
    points = " ".join(f"{x:.1f},{y(s):.1f}" for x, s in joints)
    theta = y(scene.threshold)
    out = [f'<text x="12" y="{top + 14}">similarity</text>']
    out.append(f'<text class="small" x="12" y="{top + 28}">of a sentence to</text>')
    out.append(f'<text class="small" x="12" y="{top + 41}">the one before</text>')
    out += [
        f'<line class="break" x1="{x:.1f}" y1="{y(s):.1f}" x2="{x:.1f}" y2="{top - 8}"/>'
        for x, s in joints
        if s <= scene.threshold
    ]
    out.append(f'<polyline class="line" points="{points}"/>')
    out.append(f'<line class="theta" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{theta:.1f}" y2="{theta:.1f}"/>')
    out.append(f'<text class="small" x="{LEFT + 4}" y="{top + height + 16}">'
               "dashed: the threshold, the document's 25th percentile; a break where the line touches it</text>")  # fmt: skip
    return out


def _quote(scene: _Scene, y: int) -> list[str]:
    """The answer in its sentence, with a bar where the fixed chunker cuts it."""
    q = scene.question
    start, end = max(0, q.start - 40), min(len(scene.text), q.end + 30)
    edges = {c["end"] for c in scene.chunks[TRACKS[0]] if q.start < c["end"] < q.end}
    shown = "".join(("│" if at in edges else "") + scene.text[at] for at in range(start, end))
    words, lines = re.sub(r"\s+", " ", f"… {shown.strip()} …").split(" "), [""]
    for word in words:
        if len(lines[-1]) + len(word) > 118:
            lines.append("")
        lines[-1] += (" " if lines[-1] else "") + word
    return [
        f'<text class="quote" x="{24}" y="{y + 20 * number}">{escape(line)}</text>' for number, line in enumerate(lines)
    ]


def svg(fixture: fixtures.Fixture, question: fixtures.Question) -> str:
    """The picture of one question of a fixture."""
    scene = _Scene(fixture, question)
    quote = _quote(scene, 62)
    top = 62 + 20 * len(quote)
    height = top + 52 * len(TRACKS) + 100
    title = f"One text, cut three ways: “{question.text}”"
    body = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{escape(title)}">',
        f"<style>{STYLE}</style>",
        '<defs><pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
        '<line x1="0" y1="0" x2="0" y2="6" stroke="#b3261e" stroke-width="2.5"/></pattern></defs>',
        f'<rect class="page" width="{WIDTH}" height="{height}"/>',
        f'<text x="24" y="30" font-weight="600">{escape(question.text)}</text>',
        *quote,
        *_tracks(scene, top),
        *_similarities(scene, top + 52 * len(TRACKS) + 12),
        "</svg>",
    ]
    return "\n".join(body) + "\n"


def main(argv: list[str] | None = None) -> int:
    """Draw one question's picture."""
    parser = argparse.ArgumentParser(prog="python -m chunkproof.picture", description=__doc__)
    parser.add_argument("--fixture", default="atlas")
    parser.add_argument(
        "--question", help="its id; by default the first that the first track loses and the others hold"
    )
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args(argv)
    fixture = fixtures.load(options.fixture)
    for question in fixture.questions:
        if options.question == question.id or (not options.question and _telling(fixture, question)):
            options.out.write_text(svg(fixture, question), encoding="utf-8")
            print(f"{options.out}: {question.id}")
            return 0
    print("no such question")
    return 1


def _telling(fixture: fixtures.Fixture, question: fixtures.Question) -> bool:
    scene = _Scene(fixture, question)
    return [scene.holds(track) for track in TRACKS] == [False, True, True]


if __name__ == "__main__":
    raise SystemExit(main())
