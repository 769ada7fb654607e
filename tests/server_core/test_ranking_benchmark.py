"""The benchmark of ratings runs, and prints the tables that the documentation shows."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def run(*tables: str) -> str:
    script = str(ROOT / "benchmarks" / "ranking.py")
    command = [sys.executable, script, "--quick", "--tables", *tables]
    return subprocess.run(command, capture_output=True, encoding="utf-8", check=True).stdout


def test_the_simulated_tables_can_be_made_again() -> None:
    out = run("1", "2", "3", "5", "6")
    page = (ROOT / "benchmarks" / "NOTES.md").read_text(encoding="utf-8")
    names = ("Plyhouse", "Elo K=16", "Glicko-2", "TrueSkill-style", "nearness", "any-time")
    for name in (*names, "fit from nothing", "one +1000"):
        assert name in out
        assert name in page


def test_the_table_of_real_matches_can_be_made_again() -> None:
    """With the game of the shortest matches; backgammon's alone take a minute."""
    assert "\nkuhn_poker " in run("4", "--games", "kuhn_poker")
