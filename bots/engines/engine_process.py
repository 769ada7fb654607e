"""Run the program of an engine: lines to it, lines from it, and its end.

The engine is a child of the bot's process and in its process group, so the bot's runner ends both.
Standard error goes where the bot's own goes: to the author.
"""

from __future__ import annotations

import contextlib
import os
import select
import shlex
import shutil
import subprocess
import tempfile
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from plyhouse.bots.engines.errors import EngineError, quoted

__all__ = ["USUAL_ARGUMENTS", "EngineProcess", "Program", "Wait", "find_program"]

GAMES_FOLDERS: Final = ("/usr/games", "/usr/local/games")
"""Where Debian installs engines; the PATH of some accounts lacks them."""

USUAL_ARGUMENTS: Final[dict[tuple[str, str], tuple[str, ...]]] = {
    ("gtp", "gnugo"): ("--mode", "gtp", "--chinese-rules", "--positional-superko"),
    ("gnubg", "gnubg"): ("--tty", "--quiet", "--no-rc"),
    ("uci", "gnuchess"): ("--uci",),
}
"""Arguments by protocol and program, without which the engine would play by other rules or not
speak the protocol.  Arguments of the user follow them."""

PACKAGES: Final = ("fairy-stockfish", "gnubg", "gnuchess", "gnugo", "phalanx", "stockfish")
"""Engines that are Debian packages of the same name."""

NAMESAKES: Final = frozenset({"/usr/games/pachi"})
"""Other programs with the name of an engine: Debian's ``pachi`` is about running and jumping."""


@dataclass(frozen=True, slots=True)
class Program:
    """An engine's command."""

    name: str
    """Name of the program, for messages."""
    command: tuple[str, ...]
    """Path of the program, and its arguments."""
    folder: str = ""
    """Folder in which it starts; empty for the current one."""


def find_program(engine: str, protocol: str) -> Program:
    """Return the command of ``engine``, like ``stockfish`` or ``"/opt/katago gtp -model m.bin"``.

    Raises `EngineError` if there is no such program.

    >>> find_program("no-such-engine", "uci")
    Traceback (most recent call last):
    plyhouse.bots.engines.errors.EngineError: There is no program 'no-such-engine' on the PATH or \
in /usr/games. Install it, or give its path as the engine.
    """
    try:
        words = shlex.split(engine)
    except ValueError as error:
        raise EngineError(
            f"The engine {engine!r} cannot be read: {error}. Check its quotes."
        ) from (error)
    if not words:
        raise EngineError(f"Name the program of the {protocol} engine: it is empty.")
    wanted, *arguments = words
    name = Path(wanted).name
    path = _found(wanted)
    if path is None:
        raise EngineError(_missing(wanted, name))
    usual = USUAL_ARGUMENTS.get((protocol.lower(), name), ())
    return Program(name, (path, *usual, *arguments))


def _found(wanted: str) -> str | None:
    if os.sep in wanted:
        return shutil.which(os.path.abspath(os.path.expanduser(wanted)))
    folders = [*os.environ.get("PATH", os.defpath).split(os.pathsep), *GAMES_FOLDERS]
    for folder in folders:  # one by one: the first may have another program of the name
        found = shutil.which(wanted, path=folder)
        if found is not None and found not in NAMESAKES:
            return found
    return None


def _missing(wanted: str, name: str) -> str:
    if os.sep in wanted:
        path = Path(wanted).expanduser()
        if path.is_file():
            return f"{wanted} is not executable: run chmod +x {wanted}"
        what = "is a folder" if path.is_dir() else "does not exist"
        return f"The engine {wanted} {what}. Give the path of its program."
    fix = f"Install it (Debian: apt-get install {name})" if name in PACKAGES else "Install it"
    return (
        f"There is no program {wanted!r} on the PATH or in /usr/games. {fix}, or give its path as "
        "the engine."
    )


LONGEST_LINE: Final = 64 * 1024
"""Bytes of a line that are kept; the rest of a longer line is dropped."""

LEFTOVERS: Final = 10_000_000
"""Nanoseconds after a deadline in which lines are read that the engine wrote before it."""

GLANCE: Final = 50
"""Milliseconds between two looks at whether the answer is still wanted."""

MOST_UNREAD: Final = 16 * 1024 * 1024
"""Bytes that may wait for an engine that does not read them."""

QUIT_GRACE: Final = 0.2
"""Seconds that an engine may take to quit."""


def _never() -> bool:
    return False


@dataclass(frozen=True, slots=True)
class Wait:
    """The time to wait for an engine, also while it writes."""

    until: int
    """Deadline, in nanoseconds of the engine's clock."""
    over: Callable[[], bool] = _never
    """Returns True once the answer is no longer wanted."""


class EngineProcess:
    """A running engine.

    ``clock_ns`` is the monotonic clock of all deadlines.  With ``temporary_home``, HOME is a
    temporary folder that is removed when the engine closes.
    """

    def __init__(
        self,
        program: Program,
        clock_ns: Callable[[], int] = time.monotonic_ns,
        *,
        temporary_home: bool = False,
    ) -> None:
        self.name = program.name
        self._command = program.command
        self._clock_ns = clock_ns
        self._lines: deque[str] = deque()
        self._partial = b""
        self._last = ""
        self._late = (0, 0)
        """A deadline, and when it was first seen to have passed."""
        self._resources = contextlib.ExitStack()
        environment = os.environ | {"LC_ALL": "C"}  # answers in English, numbers with a point
        if temporary_home:
            folder = tempfile.TemporaryDirectory(prefix="plyhouse-", ignore_cleanup_errors=True)
            environment["HOME"] = self._resources.enter_context(folder)
        try:
            self._process = subprocess.Popen(  # noqa: S603 - the user named the program
                program.command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                bufsize=0,
                env=environment,
                cwd=program.folder or None,
            )
        except OSError as error:
            self._resources.close()
            raise EngineError(
                f"{program.command[0]} cannot be started: {error.strerror}. Is it a program for "
                "this machine?"
            ) from error
        if self._process.stdin is None or self._process.stdout is None:
            raise RuntimeError("a process without its pipes")
        self._stdin = self._process.stdin
        self._unsent = bytearray()
        """Bytes that the engine has not taken yet; `receive` goes on sending them."""
        os.set_blocking(self._stdin.fileno(), False)
        self._output = self._process.stdout.fileno()
        self._poll = select.poll()
        self._poll.register(self._output, select.POLLIN)
        self._writable = select.poll()
        self._writable.register(self._stdin, select.POLLOUT)
        self._both = select.poll()
        self._both.register(self._output, select.POLLIN)
        self._both.register(self._stdin, select.POLLOUT)

    @property
    def pid(self) -> int:
        """Process id."""
        return self._process.pid

    @property
    def running(self) -> bool:
        """False once the program has ended."""
        return self._process.poll() is None

    def send(self, *lines: str) -> None:
        """Send lines without waiting for an engine that does not read.

        `receive` sends the rest.  Raises `EngineError` if the program has ended, or if too much
        waits for it.
        """
        self._unsent += "".join([f"{line}\n" for line in lines]).encode()
        self._flush()
        if len(self._unsent) > MOST_UNREAD:
            self.kill()
            raise EngineError(
                f"{self.name} does not read its input: {len(self._unsent)} bytes wait for it. Let "
                "it read each line that it is sent."
            )

    def _flush(self, *, reads: bool = False) -> None:
        """Send what the engine takes now; raise `EngineError` if it has ended.

        With ``reads``, which says that the caller reads next, output that is left comes before the
        error.
        """
        if self._stdin.closed:
            raise self._ended()
        try:
            while self._unsent:
                del self._unsent[: os.write(self._stdin.fileno(), self._unsent)]
        except BlockingIOError:
            return
        except OSError:
            if not (reads and self._poll.poll(0)):
                raise self._ended() from None

    def receive(self, wait: Wait) -> str | None:
        """Return the next line, without its end; None at the deadline or once the wait is over.

        Raises `EngineError` if the program ends.
        """
        while True:
            if wait.over():
                return None
            left = wait.until - self._clock_ns()
            if left <= 0 and self._is_too_late(wait.until, -left):
                return None
            if self._lines:
                self._last = self._lines.popleft()
                return self._last
            poll = self._both if self._unsent else self._poll
            ready = dict(poll.poll(max(0, min(left // 1_000_000, GLANCE))))
            if self._output in ready:
                self._read()
            elif ready:
                self._flush(reads=True)
            elif left <= 0:
                return None

    def _is_too_late(self, deadline: int, late: int) -> bool:
        """Return whether the time to read what the engine wrote by ``deadline`` is over, too.

        This process may have been stopped while the answer arrived, so it is read even then.  An
        engine that never stops writing gets no more than `LEFTOVERS`.
        """
        if self._late[0] != deadline:
            self._late = (deadline, late)
        return late - self._late[1] > LEFTOVERS

    def has_more(self) -> bool:
        """Return whether the engine has written lines that `receive` has not returned."""
        return bool(self._lines) or bool(self._poll.poll(0))

    def catch_up(self, receive: Callable[[str], object]) -> None:
        """Pass on what the engine has written so far, because nobody waits for it."""
        wait = Wait(self._clock_ns())
        while self.has_more() and (line := self.receive(wait)) is not None:
            receive(line)

    def _read(self) -> None:
        data = os.read(self._output, LONGEST_LINE)
        if not data and not self._partial:
            raise self._ended()
        pieces = (data or b"\n").split(b"\n")
        pieces[0] = self._partial + pieces[0]
        self._partial = pieces.pop()[:LONGEST_LINE]
        self._lines.extend(
            [line[:LONGEST_LINE].decode("utf-8", "replace").rstrip("\r") for line in pieces]
        )

    def _ended(self) -> EngineError:
        from plyhouse.bots.process.launcher import ending_in_words  # late: it imports asyncio

        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(QUIT_GRACE)
        code = self._process.poll()
        how = (
            "closed its standard output" if code is None else f"ended with {ending_in_words(code)}"
        )
        self.close()
        last = f" after it wrote {quoted(self._last)}" if self._last else ""
        return EngineError(
            f"{self.name} {how}{last}. Run `{shlex.join(self._command)}` in a terminal to see why."
        )

    def kill(self) -> None:
        """End the program at once and wait for it."""
        self._process.kill()
        self._unsent.clear()
        self.close()

    def close(self, *farewell: str, grace: float = QUIT_GRACE) -> None:
        """Let the program end within ``grace`` seconds, kill it otherwise, and wait for it."""
        end = time.monotonic() + grace
        if not self._stdin.closed:  # an engine that has ended is closed twice
            self._unsent += "".join([f"{line}\n" for line in farewell]).encode()
            with contextlib.suppress(OSError):
                while self._unsent and (left := end - time.monotonic()) > 0:
                    if self._writable.poll(round(left * 1000)):
                        del self._unsent[: os.write(self._stdin.fileno(), self._unsent)]
        self._unsent.clear()
        with contextlib.suppress(OSError):
            self._stdin.close()
        try:
            self._process.wait(max(0, end - time.monotonic()))
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()
        self._resources.close()
