"""The calls of OpenEnv: a websocket with episodes, and HTTP for what needs none.

It follows OpenEnv 0.10 in its mode ``simulation``.  Each websocket at ``/ws`` has an environment of
its own.  As on OpenEnv's own server, HTTP keeps no episode: ``POST /reset`` shows a first position.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import msgspec
from litestar import Litestar, Response, WebSocket, get, post, websocket
from litestar.exceptions import WebSocketDisconnect
from litestar.handlers import HTTPRouteHandler
from litestar.openapi.config import OpenAPIConfig
from litestar.openapi.plugins import JsonRenderPlugin
from litestar.params import JSONBody
from msgspec import Meta, Struct

from plyhouse.bots.api import Bot
from plyhouse.clients.openenv.environment import Action, Environment, Observation, Refused, State
from plyhouse.games.base import Game
from plyhouse.games.rules import rules_text
from plyhouse.protocol.installed import installed_version


class Reset(Struct, frozen=True):
    """The fields of a reset; OpenEnv allows others, which are ignored."""

    seed: Annotated[int, Meta(ge=0)] | None = None
    episode_id: Annotated[str, Meta(max_length=255)] | None = None
    seat: int | None = None


class Step(Struct, frozen=True):
    """The body of a step over HTTP."""

    action: Action


class _Message(Struct, frozen=True):
    type: str = ""
    data: dict[str, Any] = {}


def _descriptions(game: Game) -> list[HTTPRouteHandler]:
    """Return the handlers that say what the environment is, and that it is there."""

    @get("/health", sync_to_thread=False)
    def health() -> dict[str, str]:
        return {"status": "healthy"}

    @get("/metadata", sync_to_thread=False)
    def metadata() -> dict[str, Any]:
        return {
            "name": game.spec,
            "description": f"{game.info.title}, one seat against built-in bots of Plyhouse",
            "readme_content": rules_text(game),
            "version": installed_version(),
        }

    @get("/schema", sync_to_thread=False)
    def schema() -> dict[str, Any]:
        kinds = {"action": Action, "observation": Observation, "state": State}
        return {name: msgspec.json.schema(kind) for name, kind in kinds.items()}

    @get("/state", sync_to_thread=False)
    def state() -> State:
        return State(game=game.spec)

    @post("/mcp", status_code=200)
    async def mcp() -> dict[str, Any]:
        error = {"code": -32601, "message": "This environment has no tools: see `plyhouse mcp`."}
        return {"jsonrpc": "2.0", "id": None, "error": error}

    return [health, metadata, schema, state, mcp]


def application(game: Game, opponent: Callable[[], Bot], sessions: int) -> Litestar:
    """Return the application that serves at most so many episodes at once."""
    busy = 0

    @post("/reset", status_code=200)
    async def reset(data: JSONBody[Reset | None] = None) -> Response[Any]:
        try:
            wanted = data or Reset()
            found = await Environment(game, opponent).reset(wanted.seed, None, wanted.seat)
        except Refused as error:
            return Response({"detail": str(error)}, status_code=422)
        return Response(found)

    @post("/step", status_code=200)
    async def step(data: JSONBody[Step]) -> Response[Any]:
        detail = "HTTP keeps no episode: open a websocket at /ws, and send reset and step there."
        return Response({"detail": detail}, status_code=409)

    @websocket("/ws")
    async def episodes(socket: WebSocket[Any, Any, Any]) -> None:
        nonlocal busy
        await socket.accept()
        if busy >= sessions:
            await socket.send_text(_error(f"{busy} sessions are open.", "CAPACITY_REACHED"))
            await socket.close()
            return
        busy += 1
        try:
            environment = Environment(game, opponent)
            while (answer := await _answer(environment, await socket.receive_text())) is not None:
                await socket.send_text(answer)
            await socket.close()
        except WebSocketDisconnect:
            pass
        finally:
            busy -= 1

    return Litestar(
        [*_descriptions(game), reset, step, episodes],
        openapi_config=OpenAPIConfig(
            title=f"OpenEnv: {game.spec}",
            version=installed_version(),
            path="/",
            render_plugins=[JsonRenderPlugin(path="/openapi.json")],
        ),
    )


async def _answer(environment: Environment, text: str) -> str | None:
    """Return the answer to a message; None for the last one."""
    try:
        message = msgspec.convert(msgspec.json.decode(text), _Message)
        match message.type:
            case "reset":
                wanted = msgspec.convert(message.data, Reset)
                found = await environment.reset(wanted.seed, wanted.episode_id, wanted.seat)
                return _told("observation", found)
            case "step":
                action = msgspec.convert(message.data, Action)
                return _told("observation", await environment.step(action.action))
            case "state":
                return _told("state", environment.state)
            case "close":
                return None
        return _error(f"Unknown message type: {message.type[:64]}", "UNKNOWN_TYPE")
    except msgspec.ValidationError as error:
        return _error(str(error), "VALIDATION_ERROR")
    except msgspec.DecodeError as error:
        return _error(f"Invalid JSON: {error}", "INVALID_JSON")
    except Refused as error:
        return _error(str(error), "EXECUTION_ERROR")


def _told(kind: str, data: Struct) -> str:
    return msgspec.json.encode({"type": kind, "data": data}).decode()


def _error(message: str, code: str) -> str:
    return msgspec.json.encode(
        {"type": "error", "data": {"message": message, "code": code}}
    ).decode()
