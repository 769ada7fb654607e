"""A recorded play of every game, so that no change of rules or views goes unseen."""

from __future__ import annotations

from pathlib import Path

import pytest

from plyhouse.games import registry
from plyhouse.games.playthrough import golden_files, write_golden_files

FOLDER = Path(__file__).parent / "golden"
EXPECTED = golden_files()


def test_every_built_in_game_has_a_recorded_play() -> None:
    assert {f"{name}.txt" for name in registry.BUILT_IN} <= set(EXPECTED)
    assert {path.name for path in FOLDER.glob("*.txt")} == set(EXPECTED)


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_play_is_as_recorded(name: str) -> None:
    recorded = (FOLDER / name).read_text(encoding="utf-8")
    assert EXPECTED[name] == recorded


def test_golden_files_can_be_written_anew(tmp_path: Path) -> None:
    names = write_golden_files(tmp_path)
    assert sorted(names) == sorted(EXPECTED)
    for name in names:
        assert (tmp_path / name).read_text(encoding="utf-8") == EXPECTED[name]
