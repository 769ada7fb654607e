"""The tuning example runs, and prints what it promises."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "tune_othello.py"

if not EXAMPLE.is_file():
    pytest.skip("the examples are not here", allow_module_level=True)


def test_weights_are_tuned_and_compared(capsys: pytest.CaptureFixture[str]) -> None:
    spec = importlib.util.spec_from_file_location("tune_othello", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.main(["--matches", "5", "--pairs", "2", "--depth", "1"])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("logistic regression converged after")
    assert lines[2].split() == ["feature", "plain", "fitted", "learned"]
    assert [line.split()[0] for line in lines[3:10]] == [
        "discs",
        "corners",
        "slanting",
        "beside",
        "edges",
        "mobility",
        "turn",
    ]
    assert len(lines) == 16
