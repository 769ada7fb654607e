"""Engines that this machine has."""

from __future__ import annotations

import os

import pytest

from plyhouse.bots.engines.engine_process import find_program
from plyhouse.bots.engines.errors import EngineError

__all__ = ["require_engine"]

REQUIRED = os.environ.get("PLYHOUSE_REQUIRE_ENGINES", "") not in ("", "0")
"""True if a missing engine is a failure."""


def require_engine(name: str) -> None:
    """Skip the test if an engine is missing, or fail it if the machine must have it."""
    try:
        find_program(name, "uci")
    except EngineError as error:
        (pytest.fail if REQUIRED else pytest.skip)(str(error))
