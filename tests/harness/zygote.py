"""A process that forks commands: they neither start an interpreter nor import everything.

Most of what a short command costs is just that, and these tests run hundreds of them.  The zygote
is a separate process, without threads and without the tests' modules, so its children behave like
newly started processes.

`Zygote.folder` holds two programs, ``plyhouse`` and ``python``.  Each passes its arguments, folder,
environment and open files to the zygote, forwards signals to the process that the zygote forks for
it, and ends as that process ends.  ``python`` becomes a real interpreter unless it is to run a file
or one of the modules that `tests.harness.zygote_client` lists.

Fork servers of boxes come from a second zygote, which has imported no more than they do by
themselves.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import gc
import importlib
import io
import marshal
import os
import pkgutil
import runpy
import selectors
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import httpx
from httpx._transports import default

BOT = "plyhouse.bots.process"
"""The package whose module ``__main__`` serves a bot; it inherits two files."""
FORK_SERVER = "plyhouse.bots.sandbox.fork_server"
"""The module that serves boxes; it inherits a file."""

PATIENCE = 120.0
"""Seconds after which a command counts as hanging."""


@dataclass(frozen=True)
class Done:
    """The result of a command."""

    code: int
    out: str
    err: str


def clean_environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment without the developer's settings, which would change what commands do.

    Matches of this machine have more time than their second an action: a machine that is at work
    for others may let a bot stand still that long, and its flag would fall.
    """
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PLYHOUSE_")}
    if "PLYHOUSE_PURE" in os.environ:
        kept["PLYHOUSE_PURE"] = os.environ["PLYHOUSE_PURE"]
    ours = {"COLUMNS": "100", "PLYHOUSE_MATCH_TIME_CONTROL": "move:60"}
    return {**kept, **ours, **(extra or {})}


def share_certificates() -> None:
    """Let the HTTP clients of this process, and of what it forks, share certificate authorities.

    Each would read all of them, as much work as a small test, though ours speak plain HTTP.
    """
    shared = functools.cache(httpx.create_ssl_context)
    setattr(default, "create_ssl_context", shared)  # noqa: B010  (typed)


def do_not_wait_for_disks() -> None:
    """Let the databases of this process, and of what it forks, wait for the disk only seldom.

    A quarter of the time of the server's tests is such waiting.  No test cuts the power, and what a
    program has written outlives its own end either way.
    """
    from plyhouse.storage import urls

    urls.FULL_SYNC = not urls.FULL_SYNC


class Zygote:
    """The side of the tests."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="zygote-"))
        client = Path(__file__).with_name("zygote_client.py").read_text("utf-8")
        self.plyhouse = self.folder / "plyhouse"
        self.plyhouse.write_text(f"#!{sys.executable} -IS\n{client}", "utf-8")
        self.plyhouse.chmod(0o755)
        (self.folder / "python").symlink_to("plyhouse")
        self._process = subprocess.Popen(
            [sys.executable, __file__, self.folder / "socket"],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert self._process.stdout is not None
        assert self._process.stdout.readline() == b"listening\n"

    def run(
        self,
        arguments: Sequence[str],
        folder: Path,
        environment: Mapping[str, str],
        stdin: str | bytes = "",
    ) -> Done:
        """Run ``plyhouse`` with these arguments in a folder; raises `subprocess.TimeoutExpired`."""
        typed = stdin.encode() if isinstance(stdin, str) else stdin
        assert len(typed) < 65536, "more than a pipe holds"
        request = marshal.dumps(("plyhouse", list(arguments), str(folder), dict(environment)))
        with (
            tempfile.TemporaryFile() as out,
            tempfile.TemporaryFile() as err,
            socket.socket(socket.AF_UNIX) as connection,
        ):
            reading, writing = os.pipe()
            os.write(writing, typed)
            os.close(writing)
            connection.settimeout(PATIENCE)
            connection.connect(str(self.folder / "socket"))
            size = len(request).to_bytes(4, "big")
            socket.send_fds(connection, [size], [reading, out.fileno(), err.fileno()])
            os.close(reading)
            connection.sendall(request)
            try:
                _, code = connection.makefile("rb")  # its process id, and how it ended
            except TimeoutError:  # the zygote kills what nobody waits for
                raise subprocess.TimeoutExpired(list(arguments), PATIENCE) from None
            texts = []
            for file in (out, err):
                file.seek(0)
                texts.append(file.read().decode().replace("\r\n", "\n"))
        return Done(int(code), *texts)

    def close(self) -> None:
        """Let it leave."""
        self._process.communicate(timeout=PATIENCE)
        shutil.rmtree(self.folder)


@functools.cache
def shared_zygote() -> Zygote:
    """Return the zygote of this process."""
    made = Zygote(clean_environment())
    atexit.register(made.close)
    return made


def forked_command() -> list[str]:
    """The beginning of a command line of a ``plyhouse`` that the zygote forks."""
    return [str(shared_zygote().plyhouse)]


def command() -> list[str]:
    """The beginning of a command line of ``plyhouse`` with its own interpreter.

    For tests that look at the process itself: its id, its children, how it is killed.
    """
    return [sys.executable, "-m", "plyhouse.clients.cli.main"]


class _Forking:
    """The side of the process."""

    def __init__(self, listener: socket.socket, prepare: Callable[[], None] | None = None) -> None:
        self._listener = listener
        self._prepare = prepare
        """Called once before the first fork; None for all zygotes but that of fork servers."""
        self._programs = "" if prepare else os.path.dirname(listener.getsockname())
        self._commands: dict[int, socket.socket] = {}
        self._bots: set[int] = set()
        """When a bot ends, its children are killed, as its launcher would do."""
        self._ended, self._told = socket.socketpair()
        for each in (self._listener, self._ended, self._told):
            each.setblocking(False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(self._told.fileno(), warn_on_full_buffer=False)
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._listener, selectors.EVENT_READ, self._fork)
        self._selector.register(self._ended, selectors.EVENT_READ, self._reap)
        self._selector.register(sys.stdin, selectors.EVENT_READ, sys.exit)

    def serve(self) -> None:
        """Fork what is asked for, until standard input ends."""
        while True:
            for key, _ in self._selector.select():
                key.data()

    def _fork(self) -> None:
        if self._prepare is not None:
            self._prepare()
        connection, _ = self._listener.accept()
        connection.setblocking(True)
        header, files, _, _ = socket.recv_fds(connection, 4, 5)
        size = int.from_bytes(header, "big")
        with connection.makefile("rb") as stream:
            request = stream.read(size)
        if not header or len(request) < size:  # the client was killed before it had asked
            connection.close()
            for file in files:
                os.close(file)
            return
        child = os.fork()
        if child == 0:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            for each in (
                connection,
                self._listener,
                self._ended,
                self._told,
                *self._commands.values(),
            ):
                each.close()
            self._selector.close()
            _be_the_command(self._programs, files, *marshal.loads(request))
        if len(files) == 5:
            self._bots.add(child)
        for file in files:
            os.close(file)
        with contextlib.suppress(OSError):  # a client that was killed is noticed below
            connection.sendall(b"%d\n" % child)
        self._commands[child] = connection
        self._selector.register(connection, selectors.EVENT_READ, lambda: self._kill(child))

    def _kill(self, child: int) -> None:
        """Kill a command whose client was killed."""
        if child not in self._commands:  # it has ended in the same moment
            return
        self._selector.unregister(self._commands[child])
        try:
            os.killpg(child, signal.SIGKILL)
        except ProcessLookupError:  # it has no session of its own yet
            os.kill(child, signal.SIGKILL)

    def _reap(self) -> None:
        with contextlib.suppress(BlockingIOError):
            self._ended.recv(4096)
        while True:
            try:
                child, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if not child:
                return
            if child in self._bots:
                self._bots.remove(child)
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(child, signal.SIGKILL)
            connection = self._commands.pop(child)
            with contextlib.suppress(KeyError):
                self._selector.unregister(connection)
            with contextlib.suppress(OSError):
                connection.sendall(b"%d\n" % os.waitstatus_to_exitcode(status))
            connection.close()


def _be_the_command(
    programs: str,
    files: Sequence[int],
    name: str,
    words: list[str],
    folder: str,
    environment: dict[str, str],
) -> NoReturn:
    """In the forked process: end with the command's exit code."""
    code = 1
    try:
        os.setsid()
        for number, file in enumerate(files[:3]):
            os.dup2(file, number)
            os.close(file)
        os.environ.clear()
        os.environ.update(environment)
        sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115  (for good)
        unbuffered = "-u" in words[:2] or bool(environment.get("PYTHONUNBUFFERED"))
        sys.stdout, sys.stderr = _writer(1, unbuffered), _writer(2, unbuffered)
        sys.__stdin__, sys.__stdout__, sys.__stderr__ = sys.stdin, sys.stdout, sys.stderr  # type: ignore[misc]
        os.chdir(folder)
        tempfile.tempdir = None  # which is chosen by the environment
        importlib.invalidate_caches()
        if programs:
            sys.executable = f"{programs}/python"  # so that what it starts comes back to us
        sys.path[0] = folder
        if name == "plyhouse":
            words = ["-m", "plyhouse.clients.cli.main", *words]
        while words[0] in ("-I", "-P", "-u"):
            if words.pop(0) != "-u":
                del sys.path[0]
        if words[0] == "-m":
            sys.argv = words[1:]
            module = importlib.import_module(words[1])
            if words[1] == BOT:
                sys.argv[1:3] = map(str, files[3:])  # where it finds what it inherits here
                module = importlib.import_module(f"{BOT}.__main__")
            elif words[1] == FORK_SERVER:
                sys.argv[1] = str(files[3])
            code = module.main() or 0
        else:
            sys.argv = words
            runpy.run_path(words[0], run_name="__main__")
            code = 0
    except SystemExit as left:
        if isinstance(left.code, str):
            print(left.code, file=sys.stderr)  # noqa: T201  (as the interpreter does)
        code = left.code if isinstance(left.code, int) else int(left.code is not None)
    except BaseException:
        traceback.print_exc()
    finally:
        try:
            sys.stdout.flush()
            sys.stderr.flush()
        finally:
            os._exit(code)


def _writer(number: int, unbuffered: bool) -> io.TextIOWrapper:
    """A text file as the interpreter makes it for its standard output or error output."""
    return io.TextIOWrapper(
        io.FileIO(number, "w", closefd=False) if unbuffered else open(number, "wb", closefd=False),
        encoding="utf-8",
        errors="strict" if number == 1 else "backslashreplace",
        line_buffering=number == 2 or os.isatty(number),
        write_through=unbuffered,
    )


def _listening(address: str) -> socket.socket:
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(address)
    listener.listen(64)
    return listener


@functools.cache
def _prepare_boxes() -> None:
    """Do what each fork server would do first; few workers of the tests need one."""
    ours = sys.path.pop(0)  # it lets bots read the rest of the path
    importlib.import_module(FORK_SERVER).prepare()
    sys.path.insert(0, ours)
    gc.collect()
    gc.freeze()


def _main(address: str) -> None:
    boxes = _listening(os.path.join(os.path.dirname(address), "boxes"))
    listener = _listening(address)
    if os.fork() == 0:
        listener.close()
        _Forking(boxes, _prepare_boxes).serve()
    boxes.close()
    print("listening", flush=True)  # noqa: T201  (clients can connect, and wait for the imports)
    import plyhouse.clients.cli
    import plyhouse.server.gateway.hub
    from plyhouse.server.web.application import create_api

    for module in pkgutil.walk_packages(plyhouse.clients.cli.__path__, "plyhouse.clients.cli."):
        importlib.import_module(module.name)
    for name in (
        f"{BOT}.__main__",
        "plyhouse.bots.process.async_turns",
        "plyhouse.bots.reference",
        "plyhouse.clients.arena.process",
        "plyhouse.clients.builtin_bots.process",
        "plyhouse.server.jobs.helper_processes",
    ):
        importlib.import_module(name)
    create_api()  # finds the routes, which takes most of the time of a server's start
    share_certificates()
    do_not_wait_for_disks()
    httpx.Client().close()
    gc.freeze()
    _Forking(listener).serve()


if __name__ == "__main__":
    _main(sys.argv[1])
