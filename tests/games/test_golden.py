"""A recorded play of every game, so that no change of rules or views goes unseen."""

from __future__ import annotations

from pathlib import Path

import pytest

from plyhouse.games import registry
from plyhouse.games.playthrough import golden_files, write_golden_files

FOLDER = Path(__file__).parent / "golden"
NAMES = sorted(path.name for path in FOLDER.glob("*.txt"))


@pytest.fixture(scope="module")
def expected() -> dict[str, str]:
    """The plays by the names of their files."""
    return golden_files()


def test_every_built_in_game_has_a_recorded_play(expected: dict[str, str]) -> None:
    assert {f"{name}.txt" for name in registry.BUILT_IN} <= set(expected)
    assert set(NAMES) == set(expected)


@pytest.mark.parametrize("name", NAMES)
def test_play_is_as_recorded(name: str, expected: dict[str, str]) -> None:
    recorded = (FOLDER / name).read_text(encoding="utf-8")
    assert expected[name] == recorded


def test_golden_files_can_be_written_anew(tmp_path: Path, expected: dict[str, str]) -> None:
    names = write_golden_files(tmp_path)
    assert sorted(names) == sorted(expected)
    for name in names:
        assert (tmp_path / name).read_text(encoding="utf-8") == expected[name]
