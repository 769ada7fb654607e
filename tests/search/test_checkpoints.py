"""Checkpoints of trainings: read back, or refused with the reason."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from plyhouse.learning.alphazero_training import AlphaZeroSettings, AlphaZeroTraining
from plyhouse.learning.backgammon_training import BackgammonTraining, Settings
from plyhouse.learning.checkpoints import InvalidTraining, Training
from plyhouse.learning.leduc_training import LeducSettings, LeducTraining
from plyhouse.learning.limit_holdem_training import LimitSettings, LimitTraining

TRAININGS: tuple[tuple[type[Training], Any], ...] = (
    (AlphaZeroTraining, AlphaZeroSettings("tic_tac_toe", channels=2, hidden=4, measured=0)),
    (BackgammonTraining, Settings(hidden=4, rate=0.02)),
    (LeducTraining, LeducSettings(hidden=2, features=2)),
    (LimitTraining, LimitSettings(seed=2, parts=(2, 2, 2), finer=(1, 1, 1), boards=4)),
)


def changed(path: Path, content: bytes, **changes: Any) -> Path:
    """Write a checkpoint with another first line."""
    line, _, data = content.partition(b"\n")
    path.write_bytes(json.dumps(json.loads(line) | changes).encode() + b"\n" + data)
    return path


@pytest.mark.parametrize(("kind", "settings"), TRAININGS)
def test_training_is_the_same_after_a_checkpoint(
    tmp_path: Path, kind: type[Training], settings: Any
) -> None:
    training = kind(settings)
    training.curve.append((1, 0.5, 0.25))
    training.save(tmp_path / "kept")
    again = kind.load(tmp_path / "kept")
    assert (again.settings, again.curve) == (settings, training.curve)
    assert again.head() == training.head()
    for one, other in zip(again.arrays(), training.arrays(), strict=True):
        assert (one.shape, one.dtype) == (other.shape, other.dtype)
        assert (one == other).all()


def test_checkpoint_that_does_not_fit_is_refused_with_the_reason(tmp_path: Path) -> None:
    kind, settings = TRAININGS[1]
    path = tmp_path / "network.toml.training"
    kind(settings).save(path)
    content = path.read_bytes()
    middle = len(content) // 2
    flipped = content[:middle] + bytes([content[middle] ^ 255]) + content[middle + 1 :]
    for damage in (changed(path, content, played=9).read_bytes(), content[:-20], flipped):
        path.write_bytes(damage)
        with pytest.raises(InvalidTraining, match="does not fit its checksum: it is damaged"):
            kind.load(path)
    other = changed(path, content, format="other").read_bytes()
    for stranger in (content[:20], other, b"", b"{}", b"PK\x03\x04" + bytes(50)):
        path.write_bytes(stranger)
        with pytest.raises(InvalidTraining, match="this is not a checkpoint of format"):
            kind.load(path)
