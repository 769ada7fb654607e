"""``make quick AREA=...`` runs the first tier of an area, by the recipe of the Makefile."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests import tiers

ROOT = Path(__file__).resolve().parents[2]


def quick(area: str, tmp_path: Path) -> subprocess.CompletedProcess[str]:
    """Collect what ``make quick`` would run, in an environment that counts as installed."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python").touch()
    (tmp_path / ".dev").touch()
    collect = f"PYTEST={sys.executable} -m pytest --collect-only -q"
    env = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    return subprocess.run(
        ["make", "--silent", "quick", f"AREA={area}", f"VENV={tmp_path}", collect],
        cwd=ROOT,
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("area", ["protocol"])
def test_quick_collects_the_folders_of_its_area_only(area: str, tmp_path: Path) -> None:
    done = quick(area, tmp_path)
    folders = {line.split("/")[1] for line in done.stdout.splitlines() if "::" in line}
    assert folders == set(tiers.AREAS[area]), done.stdout[-500:] + done.stderr[-500:]


def test_quick_names_the_areas_where_one_is_unknown(tmp_path: Path) -> None:
    done = quick("cheese", tmp_path)
    assert done.returncode != 0
    assert "invalid choice: 'cheese'" in done.stderr
    assert all(area in done.stderr for area in tiers.AREAS)
