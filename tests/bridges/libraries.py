"""Libraries that the bridges lead to, which may be missing where nobody requires them."""

from __future__ import annotations

import importlib
import os
from typing import Any

import pytest

__all__ = ["library"]


def library(name: str, extra: str) -> Any:
    """Import a library; skip the module without it, or where bridges are required, fail."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        reason = f"{error}: pip install 'plyhouse[{extra}]'"
        if os.environ.get("PLYHOUSE_REQUIRE_BRIDGES") == "1":
            raise AssertionError(reason) from error
        pytest.skip(reason, allow_module_level=True)
