"""The benchmark of other servers runs, and every server plays the same matches to the same ends."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PEERS = ROOT / "benchmarks" / "peers"


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
@pytest.mark.skipif(
    not (PEERS / "node_modules").is_dir(),
    reason="the peers are not installed: npm ci --ignore-scripts --prefix benchmarks/peers",
)
def test_two_matches_are_played_on_every_server_and_measured() -> None:
    few = ("--matches", "2", "--rounds", "1", "--pace", "1")
    done = subprocess.run(
        [sys.executable, ROOT / "benchmarks" / "peers.py", *few],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    _, table = done.stdout.split("server   ", 1)
    rows = table.splitlines()[1:]
    assert [row[:22].strip() for row in rows] == [
        "boardgame.io, memory",
        "boardgame.io, files",
        "Colyseus",
        "Plyhouse, normal",
        "Plyhouse, full",
    ]
    for row in rows:
        rate, cost, p50, p99, size = (float(each.replace(",", "")) for each in row[22:].split()[:5])
        assert min(rate, cost, p50, p99) > 0
        assert (size > 0) == ("nothing" not in row)
