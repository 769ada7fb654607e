"""A stand-in for the endpoint of a chat model, and what it answers."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Reply:
    """One answer over HTTP."""

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    wait: float = 0.0


def says(text: str, reason: str = "stop", **message: Any) -> Reply:
    """An answer in OpenAI's form."""
    choice = {"message": {"role": "assistant", "content": text, **message}, "finish_reason": reason}
    used = {"prompt_tokens": 100, "completion_tokens": 10}
    return Reply(body=json.dumps({"choices": [choice], "usage": used}).encode())


def says_as_anthropic(text: str, reason: str = "end_turn") -> Reply:
    """An answer in Anthropic's form."""
    found = {
        "content": [{"type": "text", "text": text}],
        "stop_reason": reason,
        "usage": {"input_tokens": 100, "output_tokens": 10},
    }
    return Reply(body=json.dumps(found).encode())


Script = Callable[[dict[str, Any]], Reply]


class StandIn:
    """An endpoint that answers as a script says, and keeps what it was asked."""

    def __init__(self, script: Script) -> None:
        self.asked: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.paths: list[str] = []
        endpoint = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                endpoint.asked.append(body)
                endpoint.headers.append({k.lower(): v for k, v in self.headers.items()})
                endpoint.paths.append(self.path)
                reply = script(body)
                time.sleep(reply.wait)
                try:
                    self.send_response(reply.status)
                    for name, value in reply.headers.items():
                        self.send_header(name, value)
                    self.send_header("content-length", str(len(reply.body)))
                    self.end_headers()
                    self.wfile.write(reply.body)
                except OSError:
                    return  # the bot waits no longer

            def log_message(self, *_: Any) -> None:
                return

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def serve(self) -> None:
        self._server.serve_forever(poll_interval=0.01)

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@contextmanager
def stand_in(script: Script) -> Iterator[StandIn]:
    """Serve a script at an address of this machine."""
    made = StandIn(script)
    thread = threading.Thread(target=made.serve, daemon=True)
    thread.start()
    try:
        yield made
    finally:
        made.close()
        thread.join()


def in_turn(*replies: Reply) -> Script:
    """Answer with these, the last one again and again."""
    left = list(replies)
    return lambda _: left.pop(0) if len(left) > 1 else left[0]
