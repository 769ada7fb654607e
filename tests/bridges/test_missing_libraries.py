"""Bridges without their libraries: the error says what to install."""

from __future__ import annotations

import importlib
import sys

import pytest


@pytest.mark.parametrize(
    ("module", "library"),
    [
        ("pettingzoo_env", "gymnasium"),
        ("pettingzoo_env", "pettingzoo"),
        ("gymnasium_env", "gymnasium"),
        ("gymnasium_env", "pettingzoo"),
    ],
)
def test_bridge_without_its_library_names_the_extra(
    module: str, library: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("pettingzoo_env", "gymnasium_env"):
        monkeypatch.delitem(sys.modules, f"plyhouse.games.bridges.{name}", raising=False)
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(ImportError, match=r"pip install 'plyhouse\[pettingzoo\]'"):
        importlib.import_module(f"plyhouse.games.bridges.{module}")
