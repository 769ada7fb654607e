"""Trainings that go on in steps, and their checkpoints.

A checkpoint has a line of JSON (format, settings, counters, curve, checksum), and then the arrays
of the training as a compressed NumPy archive.  It is written in one step, so that an interruption
leaves the one before it.
"""

from __future__ import annotations

import hashlib
import io
import json
import zlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from plyhouse.learning.weights import next_mark
from plyhouse.search.files import InvalidFile, write_atomically


class InvalidTraining(InvalidFile):
    """A file that is no checkpoint of a training, or is damaged."""


class Training(ABC):
    """Something in training: ``run`` goes on, ``save`` and ``load`` keep it."""

    form: ClassVar[str]
    """The format of its checkpoints."""
    settings_type: ClassVar[type]
    """A dataclass of numbers, texts and tuples of these, which a training is constructed from."""
    counters: ClassVar[tuple[str, ...]]
    """The attributes that a checkpoint keeps besides arrays: numbers."""

    settings: Any
    played: int
    """Matches, subgames or deals so far."""
    curve: list[tuple[Any, ...]]
    """Points of the learning curve; each begins with ``played``."""

    @abstractmethod
    def __init__(self, settings: Any) -> None:
        """Begin with these settings."""

    def run(self, least: int, progress: Callable[[], None] = lambda: None) -> None:
        """Go on until ``played`` is at least so much; call ``progress`` after each step."""
        while self.played < least:
            self.step()
            self.mark()
            progress()

    @abstractmethod
    def step(self) -> None:
        """Go on by one step."""

    def mark(self) -> None:
        """Add a point to the curve if one is due."""
        return

    def next_point(self, least: int) -> int:
        """Return the ``played`` of the next point of the curve: 1, 2, 5, 10 ... from ``least``."""
        return next_mark(self.curve[-1][0] if self.curve else 0, least)

    @abstractmethod
    def text(self) -> str:
        """Return the result so far as a file."""

    @abstractmethod
    def arrays(self) -> list[NDArray[Any]]:
        """Return the arrays that a checkpoint keeps."""

    def restore(self, arrays: Sequence[NDArray[Any]]) -> None:
        """Continue with the arrays of a checkpoint; fills those of `arrays` in place."""
        for array, kept in zip(self.arrays(), arrays, strict=True):
            array[...] = kept

    def head(self) -> dict[str, Any]:
        """Return the rest of what a checkpoint keeps, for JSON."""
        return {name: getattr(self, name) for name in self.counters}

    @classmethod
    def construct(cls, settings: Any, head: Mapping[str, Any]) -> Self:
        """Return a training to restore; ``head`` is what `head` returned."""
        return cls(settings)

    def save(self, path: str | Path) -> None:
        """Write a checkpoint in one step; raises `OSError`."""
        archive = io.BytesIO()
        np.savez(archive, *self.arrays())
        data = zlib.compress(archive.getbuffer(), 1)
        head = {"format": self.form, "settings": asdict(self.settings), "curve": self.curve}
        head |= self.head()
        head["sha256"] = _digest(head, data)
        write_atomically(path, json.dumps(head).encode() + b"\n" + data)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Return the training of a checkpoint.

        Raises `InvalidTraining` for a file that is none or is damaged, and `OSError`.
        """
        line, _, data = Path(path).read_bytes().partition(b"\n")
        try:
            head = json.loads(line)
            known = head["format"] == cls.form
        except (ValueError, KeyError, TypeError):
            known = False
        if not known:
            raise InvalidTraining(path, f"this is not a checkpoint of format {cls.form!r}")
        if head.pop("sha256", None) != _digest(head, data):
            raise InvalidTraining(
                path, "its content does not fit its checksum: it is damaged, train again"
            )
        head = _with_tuples(head)
        training = cls.construct(cls.settings_type(**head["settings"]), head)
        with np.load(io.BytesIO(zlib.decompress(data)), allow_pickle=False) as archive:
            training.restore([archive[name] for name in archive.files])
        for name in cls.counters:
            setattr(training, name, head[name])
        training.curve = list(head["curve"])
        return training


def _with_tuples(value: Any) -> Any:
    """Return a value of JSON with tuples for its lists."""
    if isinstance(value, dict):
        return {name: _with_tuples(each) for name, each in value.items()}
    return tuple(map(_with_tuples, value)) if isinstance(value, list) else value


def _digest(head: Mapping[str, Any], data: bytes) -> str:
    return hashlib.sha256(json.dumps(head).encode() + b"\n" + data).hexdigest()
