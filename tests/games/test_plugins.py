"""Games and bots of installed packages, found by their entry points."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from plyhouse.games.plugins import entry_points


def install(folder: Path, name: str, text: str) -> None:
    """Put the metadata of a package with these entry points into a folder."""
    inside = folder / f"{name}-1.0.dist-info"
    inside.mkdir(parents=True)
    (inside / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (inside / "entry_points.txt").write_text(text)


def test_entry_points_of_group_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path, "chomp", "[plyhouse.games]\nchomp = chomp:Chomp\n")
    monkeypatch.setattr(sys, "path", [str(tmp_path / "missing"), str(tmp_path)])
    assert entry_points("plyhouse.games") == [("chomp", "chomp:Chomp")]
    assert entry_points("plyhouse.bots") == []


def test_entry_points_of_first_installation_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for place, target in (("first", "chomp:Chomp"), ("second", "old:Chomp")):
        install(tmp_path / place, "chomp", f"[plyhouse.games]\nchomp = {target}\n")
    monkeypatch.setattr(sys, "path", [str(tmp_path / "first"), str(tmp_path / "second")])
    assert entry_points("plyhouse.games") == [("chomp", "chomp:Chomp")]
