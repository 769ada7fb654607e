"""The notebooks run, and their stored outputs are those of a run."""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

from tests.harness.class_results import Cup
from tests.harness.server import Server

from plyhouse.server.config import ServerConfig
from plyhouse.server.serve import running_server

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "examples" / "notebooks"
MOST_BYTES = 100_000


def test_notebooks_run_and_have_the_outputs_of_a_run(tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "tests.harness.notebooks", tmp_path], cwd=ROOT, check=True
    )
    names = sorted(path.name for path in FOLDER.glob("*.ipynb"))
    assert names == sorted(path.name for path in tmp_path.iterdir())
    for name in names:
        stored, fresh = (folder.joinpath(name).read_text("utf-8") for folder in (FOLDER, tmp_path))
        assert stored == fresh, f"{name}: python -m tests.harness.notebooks examples/notebooks"
        assert len(stored) < MOST_BYTES


def same_fields(one: Any, other: Any) -> bool:
    """Compare the fields of data, without what they hold; of lists, those of the first elements.

    What one of them lacks, such as Nash shares where no circle of wins needs them, has no fields.
    """
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(map(same_fields, one.values(), other.values()))
    if isinstance(one, list) and isinstance(other, list):
        return all(map(same_fields, one[:1], other[:1]))
    return None in (one, other) or not any(isinstance(each, dict | list) for each in (one, other))


async def test_an_export_has_the_fields_of_the_export_in_the_notebook() -> None:
    stored = json.loads((FOLDER / "standings.json").read_text(encoding="utf-8"))
    config = ServerConfig(port=0, database="sqlite:///:memory:")
    async with running_server(config) as server, AsyncExitStack() as stack:
        cup = Cup(Server(server, stack), rounds=1)
        await cup.hold()
        fresh = await cup.get("/export/json", "olga")
    assert same_fields(fresh, stored)
    assert {line["entry"] for line in fresh["standings"]} == {
        line["entry"] for line in stored["standings"]
    }
