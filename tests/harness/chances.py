"""Dice, cards and choices of tests that do not differ from run to run."""

from __future__ import annotations

import random

import pytest

from plyhouse.server.match.chance import Chance


def repeat_dice(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the servers of this process draw the same dice and cards in every match."""
    monkeypatch.setattr(Chance, "uniform", lambda _, counter: random.Random(counter).random())


def own_chances(rng: random.Random, number: int) -> list[random.Random]:
    """Return generators, one for each player: who draws first differs from run to run."""
    return [random.Random(rng.random()) for _ in range(number)]
