"""The files that a series writes while it is played: finished pairings, to resume, and records."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from plyhouse.clients.arena.event_loop import loop_factory
from plyhouse.clients.arena.pairing_log import Conditions, LoggedPairing, PairingLog
from plyhouse.clients.arena.series import PlayedPairing
from plyhouse.clients.shared.errors import EXIT_USAGE, CommandError

__all__ = ["SeriesPaths", "SeriesWriter", "kept", "run"]


@dataclass(frozen=True)
class SeriesPaths:
    """Where to write; None writes nothing."""

    save: Path | None = None
    """Records, to be replayed and verified."""
    resume: Path | None = None
    """Pairings, to go on with."""


class SeriesWriter:
    """Writes what was played."""

    def __init__(self, ledger: PairingLog | None, records: TextIO | None) -> None:
        self._ledger = ledger
        self._records = records
        self._waiting: dict[int, PlayedPairing] = {}
        self._written = 0

    @property
    def played(self) -> list[LoggedPairing]:
        """The pairings that were played earlier."""
        return [] if self._ledger is None else self._ledger.played

    def add(self, candidate: int, index: int, played: PlayedPairing) -> None:
        """Keep a pairing.

        A new file gets its records in the order of the pairings, so that the same series gives the
        same file.  A continued file gets each record at once, so that an interruption loses none.
        """
        if self._records is not None and self._ledger is not None:
            self._write(played)
            self._records.flush()
        elif self._records is not None:
            self._waiting[index] = played
            while self._written in self._waiting:
                self._write(self._waiting.pop(self._written))
                self._written += 1
        if self._ledger is not None:
            self._ledger.add(candidate, index, played.results)

    def _write(self, played: PlayedPairing) -> None:
        if self._records is not None:
            self._records.writelines(f"{record}\n" for record in played.records)


@contextmanager
def kept(files: SeriesPaths, conditions: Conditions | None) -> Iterator[SeriesWriter]:
    """Open the files.  ``conditions`` are needed if there is one to go on with.

    Raises `CommandError` for a file that cannot be written, or that is of another series.
    """
    with ExitStack() as stack:
        ledger = None
        if files.resume is not None and conditions is not None:
            ledger = stack.enter_context(PairingLog.open(files.resume, conditions))
        records: TextIO | None = None
        if files.save is not None:
            try:
                if ledger is not None and ledger.played:
                    records = stack.enter_context(files.save.open("a", encoding="utf-8"))
                else:
                    records = stack.enter_context(files.save.open("w", encoding="utf-8"))
            except OSError as error:
                reason = (error.strerror or "cannot be written").lower()
                raise CommandError(f"{files.save}: {reason}.", EXIT_USAGE) from error
        yield SeriesWriter(ledger, records)


def run(playing: Coroutine[Any, Any, None]) -> None:
    """Play to the end; raises the first error of its tasks."""
    try:
        with asyncio.Runner(loop_factory=loop_factory()) as runner:
            runner.run(playing)
    except ExceptionGroup as group:
        raise _first(group) from None


def _first(group: ExceptionGroup[Exception]) -> Exception:
    """The error that ended a group of tasks; where there are several, they are alike."""
    error = group.exceptions[0]
    return _first(error) if isinstance(error, ExceptionGroup) else error
