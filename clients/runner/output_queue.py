"""The output and failures of bots in their matches, kept until the server has them.

Output is written to the disk at once, so it survives this program. Each program has its own folder
with a lock, and takes over the folders of programs that have ended.  The beginning and the end of a
bot's output in a match are kept.

Lines are written by an event loop; a `Parcel` is not written any more, and can be read and removed
by a thread.

Reports of a runner, kept until the server has taken them.

A request has room for a fixed number of reports (`runner_messages`); the rest goes with the next
ones.  If the server refuses a request because of its reports, the runner sends halves of them until
it finds the refused report, and drops that one.  It sends a request again if the answer was lost:
the server counts flags and verdicts once by their subject, troubles once by their ids.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import secrets
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import msgspec
from msgspec import structs

from plyhouse.bots.process.author_log import AuthorLine
from plyhouse.bots.process.ply_cost import CostOfPly
from plyhouse.protocol.hosting.runner_messages import (
    MAX_CHECKED,
    MAX_COSTS,
    MAX_FLAGS,
    MAX_TROUBLES,
    CheckDone,
    FlagFell,
    MatchOutput,
    OutputLine,
    PlyCost,
    Trouble,
)

HEAD: Final = 24 << 10
"""Bytes of the first lines of a match that are kept."""
TAIL: Final = 20 << 10
"""Bytes of the last lines that are kept at least, and at most twice as many."""
LINE: Final = 12 << 10
"""Bytes of a line, a note or a traceback with its position; of longer ones the middle is left
out."""
MOST: Final = 2 << 20
"""Characters that a bot may print in a match before no more of it is looked at."""
MOST_NOTES: Final = 1000
"""Notes and tracebacks in a match before no more of them is looked at: each is written at once."""
BUFFER: Final = 8 << 10
"""Bytes that wait in memory: a bot that prints a line at a time must not keep the disk busy."""
SETTLED: Final = 2.0
"""Seconds after a match in which its bot's process may still print."""
LEFT: Final = 30.0
"""Seconds in which a bot that ended may go on here with the same match."""
MOST_PARCELS: Final = 1000
"""Matches that wait for the server; the oldest is dropped for another one."""
MOST_OVER: Final = 4096
"""Matches that are over and of which nothing more is taken."""
LOCK: Final = "lock"
CUT: Final = "\n[...]\n"


class _About(msgspec.Struct, frozen=True):
    """The match and bot of a part: its file ``NUMBER.about``."""

    match: str
    bot: int


class _Mark(msgspec.Struct, frozen=True):
    """A line in a tail: how much was left out so far, in bytes."""

    cut: int


@dataclass(slots=True, eq=False)
class _Part:
    """The output of one bot in one match, while it plays."""

    about: _About
    stem: Path
    head: int = 0
    tail: int = 0
    before: int = 0
    """Bytes of lines in the tail before this one, which goes next."""
    cut: int = 0
    printed: int = 0
    """Characters so far."""
    noted: int = 0
    """Lines so far that it did not print itself."""
    costs: int = 0
    ply: int | None = None
    """The time of the last line."""
    buffer: bytearray = field(default_factory=bytearray)
    """For the head, or else for the tail."""
    due: float | None = None
    """When it counts as whole; None while the match runs."""

    def file(self, kind: str) -> Path:
        return self.stem.with_name(f"{self.stem.name}.{kind}")

    def write(self, data: bytes) -> None:
        """Add a line, removing others for it if necessary."""
        if not self.tail and self.head + len(data) <= HEAD:
            self.head += len(data)
        else:
            if not self.tail or self.tail + len(data) > TAIL:
                self.flush()
                if self.tail:
                    self.cut += self.before
                    self.before, self.tail = self.tail, 0
                    self.file("tail").replace(self.file("older"))
                self.buffer += msgspec.json.encode(_Mark(self.cut)) + b"\n"
            self.tail += len(data)
        self.buffer += data
        if len(self.buffer) > BUFFER:
            self.flush()

    def flush(self) -> None:
        """Write what waits to the disk."""
        if self.buffer:
            _append(self.file("tail" if self.tail else "head"), bytes(self.buffer))
            self.buffer.clear()


@dataclass(frozen=True, slots=True)
class Parcel:
    """A part to be sent."""

    folder: Path
    number: str

    @property
    def age(self) -> float:
        """When it was begun; what is gone counts as old."""
        with contextlib.suppress(OSError):
            return (self.folder / f"{self.number}.about").stat().st_mtime
        return 0.0

    def read(self) -> MatchOutput | None:
        """Return the unsent part; None if it cannot be read."""
        try:
            about = msgspec.json.decode(self._bytes("about"), type=_About)
        except msgspec.MsgspecError:
            return None
        head, older, tail = map(self._bytes, ("head", "older", "tail"))
        first = _lines(head)
        return MatchOutput(
            match=about.match,
            bot=about.bot,
            part=f"{self.folder.name}-{self.number}",
            lines=[*first, *_lines(older), *_lines(tail)],
            costs=_costs(self._bytes("costs")),
            cut=_cut(head + older + tail),
            cut_at=len(first),
        )

    def remove(self) -> None:
        """Remove a part that was sent, or that the server does not want."""
        for kind in ("head", "older", "tail", "costs", "about"):
            (self.folder / f"{self.number}.{kind}").unlink(missing_ok=True)

    def _bytes(self, kind: str) -> bytes:
        try:
            return (self.folder / f"{self.number}.{kind}").read_bytes()
        except OSError:
            return b""


@dataclass(slots=True)
class OutputQueue:
    """The unsent output of the bots of one machine; see the module.

    ``now`` gives seconds that only ever grow.
    """

    top: Path
    now: Callable[[], float] = time.monotonic
    _folder: Path = field(init=False)
    _locks: dict[Path, int] = field(default_factory=dict, init=False)
    """Open files whose locks say that a folder is ours."""
    _parts: dict[tuple[int, str], _Part] = field(default_factory=dict, init=False)
    _over: dict[tuple[int, str], None] = field(default_factory=dict, init=False)
    _waiting: dict[Parcel, None] = field(default_factory=dict, init=False)
    _count: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        self.top.mkdir(parents=True, exist_ok=True, mode=0o700)
        name = secrets.token_hex(8)
        draft = self.top / f".{name}"  # nobody takes it over before it is locked
        draft.mkdir(mode=0o700)
        lock = _locked(draft)
        self._folder = self.top / name
        draft.rename(self._folder)
        if lock is not None:
            self._locks[self._folder] = lock

    # ------------------------------------------------------------------------- writing

    def line(self, bot: int, line: AuthorLine) -> None:
        """Keep what a bot printed, or what is said of it."""
        part = self._part(bot, line.match)
        if part is None:
            return
        if line.kind == "print":
            part.printed += max(1, len(line.text))  # empty lines are work, too
        else:
            part.noted += 1
        if part.printed > MOST if line.kind == "print" else part.noted > MOST_NOTES:
            part.cut += len(line.text)
        else:
            part.write(_encoded(line))
            if line.ply != part.ply or line.kind != "print":
                part.ply = line.ply
                part.flush()

    def cost(self, bot: int, cost: CostOfPly) -> None:
        """Keep what a ply has cost."""
        part = self._part(bot, cost.match)
        if part is not None and part.costs < MAX_COSTS:
            part.costs += 1
            one = PlyCost(cost.ply, cost.wall, cost.cpu, cost.waited)
            _append(part.file("costs"), msgspec.json.encode(one) + b"\n")

    def over(self, bot: int, match: str) -> None:
        """A match of a bot has ended."""
        part = self._parts.get((bot, match))
        if part is not None:
            part.flush()
            part.due = self.now() + SETTLED
            self._over[bot, match] = None
            if len(self._over) > MOST_OVER:
                del self._over[next(iter(self._over))]

    def left(self, bot: int) -> None:
        """A bot is not run here any more, for now or for good."""
        for (each, _), part in self._parts.items():
            if each == bot and part.due is None:
                part.due = self.now() + LEFT

    def _part(self, bot: int, match: str) -> _Part | None:
        """Where it is written; None outside of matches, and after their end."""
        if not match:
            return None
        part = self._parts.get((bot, match))
        if part is not None:
            if (bot, match) not in self._over:
                part.due = None  # it has come back
            return part
        if (bot, match) in self._over:
            return None
        self._count += 1
        part = _Part(_About(match, bot), self._folder / str(self._count))
        _append(part.file("about"), msgspec.json.encode(part.about))
        self._parts[bot, match] = part
        return part

    # ------------------------------------------------------------------------- telling

    def due(self, *, everything: bool = False) -> list[Parcel]:
        """Return the parts to send, oldest first; ``everything`` includes unfinished ones."""
        now = self.now()
        for key, part in tuple(self._parts.items()):
            part.flush()
            if everything or (part.due is not None and part.due <= now):
                if part.printed > MOST or part.noted > MOST_NOTES:
                    part.buffer += msgspec.json.encode(_Mark(part.cut)) + b"\n"
                    part.flush()
                del self._parts[key]
                self._waiting[Parcel(self._folder, part.stem.name)] = None
        while len(self._waiting) > MOST_PARCELS:
            self.done(next(iter(self._waiting)))
        return list(self._waiting)

    def done(self, parcel: Parcel) -> None:
        """Remove a part that was sent, or never will be."""
        self._waiting.pop(parcel, None)
        parcel.remove()
        if parcel.folder != self._folder and all(
            each.folder != parcel.folder for each in self._waiting
        ):
            self._drop(parcel.folder)

    def take_over(self) -> None:
        """Take over unsent output of programs that have ended."""
        with contextlib.suppress(OSError):
            for folder in sorted(self.top.iterdir()):
                if folder.name.startswith(".") or folder in self._locks:
                    continue
                lock = _locked(folder)
                if lock is None:
                    continue  # its program lives
                self._locks[folder] = lock
                found = [Parcel(folder, each.stem) for each in folder.glob("*.about")]
                self._waiting.update(dict.fromkeys(sorted(found, key=lambda each: each.age)))
                if not found:
                    self._drop(folder)

    def close(self) -> None:
        """Leave what is still to be told to the next program."""
        for part in self._parts.values():
            part.flush()
        if not self._parts and all(each.folder != self._folder for each in self._waiting):
            self._drop(self._folder)
        for lock in self._locks.values():
            os.close(lock)
        self._locks.clear()

    def _drop(self, folder: Path) -> None:
        shutil.rmtree(folder, ignore_errors=True)
        lock = self._locks.pop(folder, None)
        if lock is not None:
            os.close(lock)


def _locked(folder: Path) -> int | None:
    """Lock a folder for as long as this program runs; None if another one has."""
    try:
        lock = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError:
        return None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(lock)
        return None
    return lock


def _append(file: Path, data: bytes) -> None:
    with file.open("ab") as opened:
        opened.write(data)


def _encoded(line: AuthorLine) -> bytes:
    """A line as it is kept, the middle left out if it is too long.

    >>> _encoded(AuthorLine("m", 3, "print", "hello")).decode().rstrip()
    '[3,"print","hello"]'
    """
    text = line.text.encode("utf-8", "replace").decode("utf-8")  # no halves of surrogates
    data = msgspec.json.encode(OutputLine(line.ply, line.kind, text))
    while len(data) >= LINE:
        # The end of a traceback with its position is the most informative part.
        rest = len(text) * LINE // len(data) - 2 * len(CUT)
        text = text[: rest // 4] + CUT + text[-(rest - rest // 4) :]
        data = msgspec.json.encode(OutputLine(line.ply, line.kind, text))
    return data + b"\n"


def _cut(tail: bytes) -> int:
    """How much was left out, which the last mark says."""
    cut = 0
    for line in tail.split(b"\n"):
        if line.startswith(b"{"):
            with contextlib.suppress(msgspec.MsgspecError):
                cut = msgspec.json.decode(line, type=_Mark).cut
    return cut


def _lines(data: bytes) -> list[OutputLine]:
    """Whole lines: what was being written when the program was killed is none."""
    found = []
    for line in data.split(b"\n"):
        with contextlib.suppress(msgspec.MsgspecError):
            found.append(msgspec.json.decode(line, type=OutputLine))
    return found


def _costs(data: bytes) -> list[PlyCost]:
    found = []
    for line in data.split(b"\n"):
        with contextlib.suppress(msgspec.MsgspecError):
            found.append(msgspec.json.decode(line, type=PlyCost))
    return found


Report = CheckDone | Trouble | FlagFell

MOST_TROUBLES: Final = 1000
"""Troubles that wait for a server that is away; the oldest is dropped for another one."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Reports for one request."""

    flags: list[FlagFell]
    checked: list[CheckDone]
    troubles: list[Trouble]

    def __len__(self) -> int:
        return len(self.flags) + len(self.checked) + len(self.troubles)

    @property
    def first(self) -> Report:
        """Return the first report; raise `IndexError` if there is none."""
        reports: list[Report] = [*self.flags, *self.checked, *self.troubles]
        return reports[0]


@dataclass(slots=True)
class ReportQueue:
    """Reports that the server has not taken yet."""

    _flags: list[FlagFell] = field(default_factory=list)
    _checked: list[CheckDone] = field(default_factory=list)
    _troubles: list[Trouble] = field(default_factory=list)
    _most: int | None = None
    """Reports in the next request, while a refused one is being looked for."""

    def __len__(self) -> int:
        return len(self._flags) + len(self._checked) + len(self._troubles)

    def add(self, report: Report) -> None:
        """Have a report sent with one of the next requests."""
        match report:
            case FlagFell():
                self._flags.append(report)
            case CheckDone():
                self._checked.append(report)
            case Trouble():
                self._troubles.append(structs.replace(report, id=secrets.token_hex(8)))
                del self._troubles[:-MOST_TROUBLES]

    def batch(self) -> Batch:
        """The reports of the next request: flags first, as the server waits for them."""
        room = len(self) if self._most is None else self._most
        flags = self._flags[: min(room, MAX_FLAGS)]
        room -= len(flags)
        checked = self._checked[: min(room, MAX_CHECKED)]
        room -= len(checked)
        return Batch(flags, checked, self._troubles[: min(room, MAX_TROUBLES)])

    def taken(self, batch: Batch) -> None:
        """The server has taken these reports."""
        gone = set(map(id, (*batch.flags, *batch.checked, *batch.troubles)))
        self._flags = [each for each in self._flags if id(each) not in gone]
        self._checked = [each for each in self._checked if id(each) not in gone]
        self._troubles = [each for each in self._troubles if id(each) not in gone]
        self._most = None

    def refused(self, batch: Batch) -> Report | None:
        """The server cannot read one of these reports; return it if it is known, and dropped."""
        if len(batch) > 1:
            self._most = len(batch) // 2
            return None
        self.taken(batch)
        return batch.first
