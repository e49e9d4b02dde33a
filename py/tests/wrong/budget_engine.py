"""The real Python engine with one fault of the budget's operations: `python budget_engine.py FAULT`."""

from __future__ import annotations

import sys
from typing import Any

from engine import change

from chunkproof import engine


def upside_down(request: dict[str, Any], ok: dict[str, Any]) -> dict[str, Any]:
    """Dense rankings from the last passage to the first."""
    dense = request["method"]["kind"] == "dense"
    return {"rankings": [ranking[::-1] for ranking in ok["rankings"]]} if dense else ok


FAULTS = {
    "piece-too-many": ("fill", lambda request, ok: {**ok, "tokens": ok["tokens"] + (request["budget"] == 12)}),
    "hit-by-touching": ("cover", lambda request, ok: {**ok, "hits": [True for _ in ok["hits"]]}),
    "no-context": ("fill", lambda request, ok: {key: value for key, value in ok.items() if key != "context"}),
    "dense-upside-down": ("rank", upside_down),
}

if __name__ == "__main__":
    change(*FAULTS[sys.argv[1]])
    sys.exit(engine.main())
