"""A third engine, written from the spec alone: `info` and `pieces`, with nothing but Python's standard library.

Run it as `python third_engine.py SPEC TOKENIZER`, the folder `spec/` and Qwen2.5's `tokenizer.json`. Numbers such as
"05 rule 2" are the spec's chapters and rules.
"""

import json
import re
import sys
import unicodedata
from itertools import pairwise
from pathlib import Path

SPEC, TOKENIZER = map(Path, sys.argv[1:])
TABLES = json.loads((SPEC / "unicode-18.0.json").read_text(encoding="utf-8"))
MODEL = json.loads(TOKENIZER.read_text(encoding="utf-8"))["model"]
SHA256 = "c0382117ea329cdf097041132f6d735924b697924d6f6fc3945713e96ce87539"
OPS = "info pieces segments chunk rank evaluate terms quantize fill cover bootstrap numbers".split()


def members(table):
    """A table of 04, as the inside of a regular expression's [...]."""
    return "".join(f"\\U{low:08x}-\\U{high:08x}" for low, high in TABLES[table])


# 05 rule 2: the pattern, alternatives a to g. The classes are the spec's, never the runtime's own.
L, N = members("letter"), members("number")
W = "\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
PATTERN = re.compile(
    f"'(?:[sSſtTmMdD]|[rR][eE]|[vV][eE]|[lL][lL])|[^\r\n{L}{N}]?[{L}]+|[{N}]| ?[^{W}{L}{N}]+[\r\n]*"
    f"|[{W}]*[\r\n]+|[{W}]+(?![^{W}])|[{W}]+"
)
KNOWN, JOINING = re.compile(f"[{members('nfc_assigned')}]"), re.compile(f"[{members('nfc_joining')}]")

# The tokenizer's ByteLevel step: printable bytes stand for themselves, the others for U+0100 onward.
PLAIN = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
BYTES = {b: chr(b) for b in PLAIN} | {b: chr(0x100 + i) for i, b in enumerate(sorted({*range(256)} - PLAIN))}
RANKS = {tuple(m.split(" ") if isinstance(m, str) else m): rank for rank, m in enumerate(MODEL["merges"])}


def tokens(match):
    """05 rule 4: merge the neighbours of lowest rank, from the left, until no two can be merged."""
    parts = [BYTES[b] for b in match.encode()]
    while len(parts) > 1:
        rank, pair = min((RANKS.get(pair, len(RANKS)), pair) for pair in set(pairwise(parts)))
        if rank == len(RANKS):
            break
        merged, i = [], 0
        while i < len(parts):
            step = 2 if tuple(parts[i : i + 2]) == pair else 1
            merged.append("".join(parts[i : i + step]))
            i += step
        parts = merged
    return len(parts)


def normal(text):
    """04 rules 5 to 8: a text's NFC, and where those of its positions that are positions of the text lie there."""
    begins = [i for i, c in enumerate(text) if i == 0 or not JOINING.match(c) or not KNOWN.match(text[i - 1])]
    made, at, places = [], 0, {0: 0}
    for start, end in pairwise([*begins, len(text)]):
        segment = text[start:end]
        form = unicodedata.normalize("NFC", segment) if KNOWN.match(segment) else segment
        places |= {at + i: start + i for i in range(len(form))} if form == segment else {at: start}
        made.append(form)
        at += len(form)
    return "".join(made), places | {at: len(text)}


def pieces(text):
    """05 rules 2 and 3: a match that ends at no position of the text is joined with the next."""
    form, places = normal(text)
    found, start, cost = [], 0, 0
    for match in PATTERN.finditer(form):
        cost += tokens(match.group())
        if match.end() in places:
            found.append({"start": start, "end": places[match.end()], "tokens": cost})
            start, cost = places[match.end()], 0
    return {"pieces": found}


INFO = {
    "engine": "third",
    "version": "1",
    "spec": "1.0.0",
    "runtime": f"Python {sys.version.split()[0]}",
    "unicode": TABLES["unicode"],
    "tokenizer": f"sha256:{SHA256}",
    "ops": ["info", "pieces"],
}


class Refused(Exception):
    """An error reply: its code, and a message for people."""


def unique(pairs):
    """An object's fields. 02 rule 1: a key twice is no JSON here."""
    if len({key for key, _ in pairs}) < len(pairs):
        raise ValueError("an object lists a key twice")
    return dict(pairs)


def constant(name):
    """02 rule 1: NaN and Infinity are no JSON."""
    raise ValueError(f"{name} is not JSON")


def answer(request):
    """01, errors: `bad_request` first, then `bad_text`, then what this engine lacks."""
    op, keys = request.get("op"), request.keys()
    if op not in OPS or (op == "info" and keys != {"id", "op"}):
        raise Refused("bad_request", "an operation or a field that the spec does not have")
    if op == "info":
        return INFO
    if op != "pieces":
        raise Refused("unsupported", f"this engine has no {op}")
    if keys != {"id", "op", "text"} or not isinstance(request["text"], str):
        raise Refused("bad_request", "pieces takes a text and nothing else")
    if re.search("[\ud800-\udfff]", request["text"]):
        raise Refused("bad_text", "a lone surrogate")
    return pieces(request["text"])


for line in sys.stdin.buffer:
    reply = {"id": None}
    try:
        request = json.loads(line.decode("utf-8"), object_pairs_hook=unique, parse_constant=constant)
        if not isinstance(request, dict) or not isinstance(request.get("id"), str):
            raise ValueError("not an object with an id")
        request["id"].encode("utf-8")  # a lone surrogate makes an id that could not be read
        reply["id"] = request["id"]
        reply["ok"] = answer(request)
    except Refused as refused:
        reply["error"] = dict(zip(("code", "message"), refused.args, strict=True))
    except (ValueError, RecursionError) as error:
        reply["error"] = {"code": "bad_request", "message": str(error)}
    print(json.dumps(reply), flush=True)
