"""What every test may ask for: the checkout, the engines' commands, and one question to one of them."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from chunkproof import layout

Ask = Callable[..., list[dict[str, Any]]]


@pytest.fixture(scope="session")
def checkout() -> Path:
    """The root of the checkout that the tests are part of."""
    return Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def py_engine() -> list[str]:
    return layout.py_engine()


@pytest.fixture(scope="session")
def ts_engine() -> list[str]:
    return layout.ts_engine()


@pytest.fixture(scope="session", params=["py", "ts"])
def engine(request: pytest.FixtureRequest) -> list[str]:
    """Each of the two engines in turn."""
    return layout.py_engine() if request.param == "py" else layout.ts_engine()


@pytest.fixture(scope="session")
def ask() -> Ask:
    """`ask(command, request, …)`: the replies of an engine that is started for these requests alone, in their order."""

    def ask(command: list[str], *requests: dict[str, Any], cwd: Path | None = None) -> list[dict[str, Any]]:
        lines = "".join(json.dumps({"id": str(i)} | request) + "\n" for i, request in enumerate(requests))
        done = subprocess.run(command, input=lines.encode(), capture_output=True, timeout=300, check=True, cwd=cwd)
        replies = {reply.pop("id"): reply for reply in map(json.loads, done.stdout.splitlines())}
        assert len(replies) == len(requests), done.stderr.decode()
        return [replies[str(i)] for i in range(len(requests))]

    return ask
