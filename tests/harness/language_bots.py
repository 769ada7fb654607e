"""A server process, and programs in other languages that play on it."""

from __future__ import annotations

import json
import socket
import subprocess
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tests.harness.patience import PATIENCE
from tests.harness.zygote import Zygote
from websockets.frames import Frame, Opcode
from websockets.http11 import Request
from websockets.server import ServerProtocol
from websockets.typing import Subprotocol

from plyhouse.protocol.codec import JSON
from plyhouse.protocol.messages import Error


@dataclass
class Server:
    """A server process and the means to make players on it."""

    url: str
    environment: dict[str, str]
    folder: Path
    zygote: Zygote

    @property
    def port(self) -> int:
        return int(self.url.rsplit(":", 1)[1])

    def token(self, player: str) -> str:
        """Make a player and return a token of its."""
        made = self.zygote.run(("admin", "player", "add", player), self.folder, self.environment)
        assert made.code == 0, made.err
        return made.out.strip()


def python_bot(server: Server, token: str, *options: str) -> list[str]:
    run = (str(server.zygote.plyhouse), "bot", "run", "random")
    return [*run, "--server", server.url, "--token", token, *options]


def play(server: Server, *commands: Sequence[str]) -> list[tuple[int, str]]:
    """Run programs side by side to their ends; return the exit code and output of each."""
    running = [
        subprocess.Popen(
            command,
            env=server.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for command in commands
    ]
    try:
        said = [process.communicate(timeout=PATIENCE)[0] for process in running]
        return [(process.returncode, text) for process, text in zip(running, said, strict=True)]
    finally:
        for process in running:
            process.kill()
            process.communicate()


def declines_rated_challenges(server: Server, bot: Sequence[str], name: str, token: str) -> None:
    """Check that a bot, which leaves after a match, declines a rated challenge for a casual one.

    ``token`` is that of a challenger.
    """
    ask = ("--challenge", name, "--game", "connect_four", "--time-control", "move:10")
    with subprocess.Popen(
        bot, env=server.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        try:
            said = f"{name} is not connected"
            until = time.monotonic() + PATIENCE
            while f"{name} is not connected" in said and time.monotonic() < until:
                ((code, said),) = play(server, python_bot(server, token, *ask, "--rated"))
            assert code, said
            assert f"{name} declined" in said
            ((code, said),) = play(server, python_bot(server, token, *ask, "--casual"))
            assert not code, said
            assert process.wait(PATIENCE) == 0
        finally:
            process.kill()


class CuttingProxy(threading.Thread):
    """Passes bytes between a client and a server, and cuts the first connection for good, when
    the server has sent its second turn, just before the client gets it.

    The second connection is not let in, as by a server without its database.
    """

    def __init__(self, port: int) -> None:
        super().__init__(daemon=True)
        self.refused = 0
        self.target = ("127.0.0.1", port)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        self.cuts = 0
        self.turns = 0

    def run(self) -> None:
        with suppress(OSError):  # the listener is closed
            while True:
                client, _ = self.listener.accept()
                if self.cuts and not self.refused:
                    self.refuse(client)
                    continue
                upstream = socket.create_connection(self.target)
                for source, sink, watched in (
                    (client, upstream, False),
                    (upstream, client, True),
                ):
                    threading.Thread(
                        target=self.pump, args=(source, sink, watched), daemon=True
                    ).start()

    def refuse(self, client: socket.socket) -> None:
        """Answer the login of a client with an error, and wait until it goes."""
        wire = ServerProtocol(subprotocols=[Subprotocol("plyhouse.v1+json")])
        with client, suppress(OSError):
            while data := client.recv(65536):
                wire.receive_data(data)
                for event in wire.events_received():
                    if isinstance(event, Request):
                        wire.send_response(wire.accept(event))
                    elif isinstance(event, Frame) and event.opcode is Opcode.TEXT:
                        hello = json.loads(bytes(event.data))
                        error = Error("server/storage", "The server cannot store now.", hello["id"])
                        wire.send_text(str(JSON.encode(error)).encode())
                        self.refused += 1
                for part in wire.data_to_send():
                    client.sendall(part)

    def pump(self, source: socket.socket, sink: socket.socket, watched: bool) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                self.turns += watched and data.count(b'"type":"turn"')
                if self.cuts == 0 and self.turns >= 2:
                    self.cuts = 1
                    break
                sink.sendall(data)
        for end in (source, sink):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()
