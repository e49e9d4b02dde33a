"""The spec's executable examples, read out of its Markdown and asked of both engines.

The replies in the spec were worked out by hand or by a program of their own. Where an engine gives another one, the rule
decides who is right.
"""

from __future__ import annotations

import json
import subprocess
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from markdown_it import MarkdownIt

from chunkproof import layout
from chunkproof.recipes import expand

SPEC = Path(__file__).resolve().parents[2] / "spec"
# The chapters that define requests; 15 is a list of what differs elsewhere.
CHAPTERS = {path.stem[3:]: path for path in sorted(SPEC.glob("[01][0-9]-*.md")) if path.stem != "15-differences"}


@dataclass(frozen=True)
class Example:
    """One example: `request` as an object, or `line` as it is to be sent, and the reply that is right."""

    slug: str
    why: str
    request: dict[str, Any] | None
    line: str
    reply: dict[str, Any]


def read(path: Path) -> list[Example]:
    """The examples of a chapter: each level-three heading under the level-two heading `Examples`, to the last detail."""
    examples: list[Example] = []
    inside, slug, why, blocks = False, "", "", dict[str, str]()

    def done() -> None:
        if not slug:
            return
        assert set(blocks) in ({"json request", "json reply"}, {"text line", "json reply"}), (slug, set(blocks))
        assert why, f"{slug} has no Why"
        request = json.loads(blocks["json request"]) if "json request" in blocks else None
        examples.append(Example(slug, why, request, blocks.get("text line", ""), json.loads(blocks["json reply"])))

    tokens = MarkdownIt("commonmark").parse(path.read_text(encoding="utf-8"))
    for token, following in zip(tokens, [*tokens[1:], None], strict=True):
        if token.type == "heading_open" and following is not None:
            done()
            slug, why, blocks = "", "", {}
            if token.tag == "h2":
                inside = following.content == "Examples"
            elif token.tag == "h3" and inside:
                slug = following.content
        elif (
            slug and token.type == "paragraph_open" and following is not None and following.content.startswith("*Why:*")
        ):
            why = following.content.removeprefix("*Why:*").strip()
        elif slug and token.type == "fence":
            assert token.info not in blocks, f"{slug} has two blocks {token.info!r}"
            blocks[token.info] = token.content.removesuffix("\n")
    done()
    return examples


EXAMPLES = {chapter: read(path) for chapter, path in CHAPTERS.items()}
ALL = {example.slug: example for examples in EXAMPLES.values() for example in examples}


def compared(reply: dict[str, Any]) -> Any:
    """A reply as the spec writes it: the value of `ok`, or the error's code alone."""
    return reply["ok"] if "ok" in reply else {"error": reply["error"]["code"]}


@pytest.fixture(scope="module")
def answers() -> dict[str, dict[str, Any]]:
    """By engine and slug: the compared form of the reply to every example that is a request."""
    asked = {slug: expand(example.request) for slug, example in ALL.items() if example.request is not None}
    lines = "".join(
        json.dumps({"id": slug} | request) + "\n" for slug, request in asked.items() if isinstance(request, dict)
    )
    found: dict[str, dict[str, Any]] = {}
    for name, command in (("py", layout.py_engine()), ("ts", layout.ts_engine())):
        done = subprocess.run(command, input=lines.encode(), capture_output=True, timeout=300, check=True)
        replies = [json.loads(line) for line in done.stdout.decode().split("\n")[:-1]]
        assert Counter(reply["id"] for reply in replies) == Counter(list(asked)), done.stderr.decode()
        found[name] = {reply["id"]: compared(reply) for reply in replies}
    return found


@pytest.mark.parametrize("chapter", EXAMPLES)
def test_every_chapter_has_examples(chapter: str) -> None:
    slugs = [example.slug for example in EXAMPLES[chapter]]
    assert len(slugs) >= 8
    assert all(slug.startswith(f"{chapter}/") for slug in slugs)


def test_slugs_are_unique() -> None:
    counts = Counter(example.slug for examples in EXAMPLES.values() for example in examples)
    assert [slug for slug, count in counts.items() if count > 1] == []


def test_the_twelve_chapters_are_there() -> None:
    assert {path.name[:2] for path in CHAPTERS.values()} >= {f"{number:02}" for number in range(1, 13)}


@pytest.mark.parametrize("slug", [slug for slug, example in ALL.items() if example.request is not None])
@pytest.mark.parametrize("name", ["py", "ts"])
def test_request(answers: dict[str, dict[str, Any]], name: str, slug: str) -> None:
    assert answers[name][slug] == ALL[slug].reply, ALL[slug].why


@pytest.mark.parametrize("slug", [slug for slug, example in ALL.items() if example.request is None])
def test_line(engine: list[str], slug: str) -> None:
    line = ALL[slug].line.encode() + b"\n"
    done = subprocess.run(engine, input=line, capture_output=True, timeout=60, check=True)
    (reply,) = [json.loads(line) for line in done.stdout.decode().split("\n")[:-1]]
    assert compared(reply) == ALL[slug].reply, ALL[slug].why
