"""A file of finished pairings, so that an interrupted series can continue.

The first line describes the series: bots and their versions, game, time control and seed.  Every
further line is one pairing.  `PairingLog.open` refuses a file of another series, since it would sum
up results of different games or versions.

Each line is flushed when its pairing ends.  If the process is killed while writing, the incomplete
last line is dropped.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Coroutine, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final, Self, TextIO, TypeVar

import msgspec

from plyhouse.clients.arena.series import PlayedPairing
from plyhouse.clients.arena.tally import MatchResult
from plyhouse.clients.shared.errors import EXIT_USAGE, CommandError
from plyhouse.clients.shared.program_settings import loop_factory

FORMAT: Final = 1


class Entrant(msgspec.Struct, frozen=True):
    """A bot, and which version of it."""

    name: str
    version: str


class Conditions(msgspec.Struct, frozen=True):
    """The first line of the file: everything that decides the results of pairings."""

    plyhouse_pairings: int
    """The format of the file."""
    game: str
    game_version: str
    time_control: str
    illegal_rule: str
    mirrored: bool
    opening_plies: int
    seed: int
    bots: tuple[Entrant, ...]
    """Where something is tested, the last one is the base that each of the others plays."""
    test: dict[str, float | str] | None = None
    """The hypotheses and error rates of a sequential test: who changes them after having seen
    results has none of the error rates."""


class LoggedPairing(msgspec.Struct, frozen=True):
    """One pairing that was played."""

    candidate: int
    """Which bot played against the base; 0 where there is none."""
    index: int
    results: list[MatchResult]


def stored_seed(path: Path) -> int | None:
    """The seed of the series in a file; None where there is no file, or nothing in it."""
    conditions, _ = _read(path)
    return None if conditions is None else conditions.seed


class PairingLog:
    """The file, open to go on with.  Use as a context manager."""

    def __init__(self, file: BinaryIO, played: list[LoggedPairing]) -> None:
        self._file = file
        self.played = played
        """The pairings that were played earlier."""

    @classmethod
    def open(cls, path: Path, conditions: Conditions) -> Self:
        """Open the file, or begin it.

        Raises `CommandError` if it is of another series, damaged, or in use.
        """
        found, _ = _read(path)
        if found is not None:
            _compare(path, found, conditions)
        try:
            file = path.open("r+b" if path.exists() else "x+b")
        except OSError as error:
            raise _unusable(path, error) from error
        try:
            _lock(file, path)
            # Read again: until it was locked, another run may have been writing.
            found, lines = _read(path)
            size = 0
            if found is None:
                file.truncate(0)
                file.write(msgspec.json.encode(conditions) + b"\n")
            else:
                size = _whole(path.read_bytes())
                file.truncate(size)
                file.seek(size)
            file.flush()
        except BaseException:
            file.close()
            raise
        return cls(file, lines)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def add(self, candidate: int, index: int, results: list[MatchResult]) -> None:
        """Write a pairing that has ended."""
        self._file.write(msgspec.json.encode(LoggedPairing(candidate, index, results)) + b"\n")
        self._file.flush()


def _read(path: Path) -> tuple[Conditions | None, list[LoggedPairing]]:
    """Return the contents of a file; empty if it is missing or empty."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return None, []
    except OSError as error:
        raise _unusable(path, error) from error
    whole = content[: _whole(content)].splitlines()
    if not whole:
        if content.strip():
            raise CommandError(f"{path} is no file of --resume; it is left as it is.", EXIT_USAGE)
        return None, []
    try:
        conditions = msgspec.json.decode(whole[0], type=Conditions)
    except (msgspec.DecodeError, RecursionError) as error:
        raise CommandError(
            f"{path} is no file of --resume; it is left as it is.", EXIT_USAGE
        ) from error
    if conditions.plyhouse_pairings != FORMAT:
        raise CommandError(
            f"{path} has format {conditions.plyhouse_pairings}; this release reads {FORMAT}.",
            EXIT_USAGE,
        )
    return conditions, list(_lines(path, whole))


def _lines(path: Path, whole: list[bytes]) -> Iterator[LoggedPairing]:
    decoder = msgspec.json.Decoder(LoggedPairing)
    for number, text in enumerate(whole[1:], 2):
        try:
            yield decoder.decode(text)
        except (msgspec.DecodeError, RecursionError) as error:
            raise CommandError(
                f"{path}, line {number}, is damaged: {error}. Remove the line, and its pairing is "
                "played again.",
                EXIT_USAGE,
            ) from error


def _whole(content: bytes) -> int:
    """How many bytes are whole lines."""
    return content.rfind(b"\n") + 1


def _compare(path: Path, found: Conditions, wanted: Conditions) -> None:
    """Raise `CommandError` with the first difference that matters."""

    def differ(what: str, theirs: object, ours: object) -> CommandError:
        return CommandError(
            f"{path} is of another series: {what} {theirs} there and {ours} here. Name another "
            "file, or play as it says.",
            EXIT_USAGE,
        )

    for field, what in (
        ("game", "the game is"),
        ("time_control", "the time control is"),
        ("illegal_rule", "the rule for illegal actions is"),
        ("mirrored", "mirrored is"),
        ("opening_plies", "the random opening plies are"),
        ("seed", "the seed is"),
    ):
        theirs, ours = getattr(found, field), getattr(wanted, field)
        if theirs != ours:
            raise differ(what, _said(theirs), _said(ours))
    if found.game_version != wanted.game_version:
        raise differ("the rules are", found.game_version[:15], wanted.game_version[:15])
    if found.test != wanted.test:
        raise differ("the test is", _test(found.test), _test(wanted.test))
    if len(found.bots) != len(wanted.bots):
        raise differ("the number of bots is", len(found.bots), len(wanted.bots))
    for one, other in zip(found.bots, wanted.bots, strict=True):
        if one.version != other.version:
            ours = _entrant(other) + (", another version," if one.name == other.name else "")
            raise differ("a bot is", _entrant(one), ours)


def _entrant(entrant: Entrant) -> str:
    return f"{entrant.name} ({entrant.version[:15]})"


def _said(value: object) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return str(value)


def _test(test: dict[str, float | str] | None) -> str:
    if test is None:
        return "none"
    return ", ".join(f"{name} {value}" for name, value in test.items())


def _unusable(path: Path, error: OSError) -> CommandError:
    reason = (error.strerror or "cannot be used").lower()
    return CommandError(f"{path}: {reason}.", EXIT_USAGE)


def _lock(file: BinaryIO, path: Path) -> None:
    """Keep others away; the lock goes when the process does."""
    if os.name != "posix":
        return
    import fcntl

    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise CommandError(
            f"{path} is in use: another series is being played with it.", EXIT_USAGE
        ) from error


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


ResultT = TypeVar("ResultT")


def run(playing: Coroutine[Any, Any, ResultT]) -> ResultT:
    """Play to the end, and return the result; raises the first error of its tasks."""
    try:
        with asyncio.Runner(loop_factory=loop_factory()) as runner:
            return runner.run(playing)
    except ExceptionGroup as group:
        raise _first(group) from None


def _first(group: ExceptionGroup[Exception]) -> Exception:
    """The error that ended a group of tasks; where there are several, they are alike."""
    error = group.exceptions[0]
    return _first(error) if isinstance(error, ExceptionGroup) else error
