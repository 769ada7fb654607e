"""A server that the command line started."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.cli.conftest import Plyhouse, clean_environment, forked_command

READY = "Plyhouse is listening on "


@dataclass
class Server:
    process: subprocess.Popen[str]
    url: str
    folder: Path

    @property
    def database(self) -> str:
        """For commands that name it ``club.db`` in their folder, from another folder."""
        return f"sqlite:///{self.folder / 'club.db'}"


def start(
    folder: Path,
    *options: str,
    env: dict[str, str] | None = None,
    program: Sequence[str] | None = None,
) -> Server:
    process = subprocess.Popen(
        [*(program or forked_command()), "serve", "--port", "0", *options],
        cwd=folder,
        env=clean_environment(env),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    line = process.stdout.readline()
    if not line.startswith(READY):
        process.kill()
        pytest.fail(process.communicate()[1])
    return Server(process, line.removeprefix(READY).strip(), folder)


def stop(server: Server) -> int:
    server.process.send_signal(signal.SIGINT)
    try:
        _, err = server.process.communicate(timeout=100)
    except subprocess.TimeoutExpired:
        server.process.kill()
        raise
    assert "Traceback" not in err, err
    return server.process.returncode


def token(plyhouse: Plyhouse, server: Server, name: str, *more: str) -> str:
    done = plyhouse("admin", "player", "add", name, "--database", server.database, *more)
    assert done.code == 0, done.err
    return done.out.strip()
