from __future__ import annotations

import doctest
import importlib

import pytest


@pytest.mark.parametrize("name", ["registry", "testing"])
def test_examples_in_docstrings_are_true(name: str) -> None:
    module = importlib.import_module(f"plyhouse.games.{name}")
    tried = doctest.testmod(module)
    assert tried.attempted > 0
    assert tried.failed == 0
