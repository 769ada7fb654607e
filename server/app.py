"""The ASGI application: websockets to the hub, everything else to the web API."""

from __future__ import annotations

import re
from collections.abc import Callable, Coroutine, MutableMapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from plyhouse.protocol.codec import SUBPROTOCOLS
from plyhouse.server.gateway.hub import Hub
from plyhouse.server.jobs.fair_queue import VISITOR
from plyhouse.server.web.application import create_api
from plyhouse.server.web.forwarding import Follower, Forwarder, restored
from plyhouse.server.web.metrics import WorkerMetrics
from plyhouse.server.web.parameters import with_slashes
from plyhouse.server.web.request_limits import (
    ALLOWANCE,
    Allowance,
    Pacer,
    refuse_busy,
    send_problem,
)
from plyhouse.server.web.security_headers import with_safety
from plyhouse.server.wire.websocket import Receive, Scope, Send, refuse, websocket_endpoint

if TYPE_CHECKING:
    from plyhouse.server.mcp.endpoint import Endpoint

WEBSOCKET_PATH = "/ws"
MCP_PATH = "/mcp"
NO_MCP = (
    "This server has no endpoint for language models. Its operator can install the extra 'mcp' "
    "(pip install 'plyhouse[mcp]') and start it with --mcp."
)
NO_UPGRADE = (
    f"{WEBSOCKET_PATH} is for websockets, and the header 'Upgrade: websocket' did not arrive. If "
    "a proxy stands before the server, its operator must let it pass Upgrade and Connection on."
)

UPGRADE = ((b"upgrade", b"websocket"), (b"connection", b"Upgrade"))

BAD_HOST = "The header 'Host' is not a name or address with a port from 0 to 65535."
_HOST = re.compile(r"(\[[\da-f:.]+\]|[\w.-]*)(:\d*)?", re.ASCII | re.IGNORECASE)


def create_app() -> Application:
    """Return the ASGI application; `Application.serve` gives it its hub."""
    return Application()


class Application:
    """The ASGI application of one server.

    It is made before its hub, because making it takes longer than clocks should wait.
    """

    def __init__(self) -> None:
        self._api = create_api()
        self._bots: Any = None
        self._allowance: Allowance | None = None
        self._pacer: Pacer | None = None
        self._hub: Hub | None = None
        self._follower: Follower | None = None
        self._agents: Endpoint | None = None
        self.trust: Callable[[str], None] = lambda _: None
        """Called with the address of each other server of the cluster that passes requests on."""

    def serve(self, hub: Hub, metrics: WorkerMetrics | None = None) -> None:
        """Connect the application with a hub; ``metrics`` are its own by default."""
        services = (
            hub,
            hub.config,
            hub.store,
            hub.directory,
            hub.live_matches,
            hub.lobby,
            hub.registration,
            hub.browser_sessions,
            hub.privacy,
            hub.audit_follower,
            hub.erasure,
            hub.tournaments,
            hub.competitions,
            hub.boards,
            hub.reports,
            hub.exports,
            hub.bot_profiles,
            hub.hosting,
            hub.hosted_play,
            hub.uploads,
            hub.outputs,
            hub.reviews,
            hub.trees,
            hub.helpers,
            metrics or WorkerMetrics(hub),
        )
        self._api.state["services"] = {type(each): each for each in services}
        config = hub.config
        self._allowance = Allowance(config.http_burst, config.http_per_second, hub.now)
        self._pacer = Pacer(lambda: bool(hub.directory.live))
        self._bots = websocket_endpoint(SUBPROTOCOLS, hub.attach)
        self._hub = hub
        if config.cluster:
            self._follower = Follower(
                self._api,
                Forwarder(lambda: hub.member.leader_address),
                answer=self._answer,
                learn_rules=hub.audit_follower.look,
            )

    async def serve_agents(self, hub: Hub) -> None:
        """Serve language models at `MCP_PATH`; raises `ImportError` without the extra."""
        from plyhouse.server.mcp.agents import Agents
        from plyhouse.server.mcp.endpoint import Endpoint

        agents = Agents(lambda address: hub.connect(peer=f"{address}:0"), hub.now)
        endpoint = Endpoint(agents, self)
        await endpoint.open()
        self._agents = endpoint

    async def close(self) -> None:
        """Disconnect agents, and close the connections to other servers."""
        if self._agents is not None:
            await self._agents.close()
        if self._follower is not None:
            await self._follower.close()

    def _leads(self) -> bool:
        return self._hub is None or self._hub.member.leads

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or serve one connection."""
        if scope["type"] != "websocket":
            secret = "" if self._hub is None else self._hub.secret
            peer = scope.get("client")
            scope, passed_on = restored(with_slashes(scope), secret)
            if passed_on and peer and peer[1]:  # port 0: a proxy said so, and is trusted already
                self.trust(peer[0])
            if scope.get("method") == "HEAD":
                scope, send = {**scope, "method": "GET"}, _without_body(send)
            send = with_safety(scope, send)
            if self._allowance is not None:
                VISITOR.set(self._allowance.payer(scope))
                scope[ALLOWANCE] = self._allowance
                if wait := self._allowance.wait(scope):
                    await refuse_busy(send, wait)
                    return
            if not _names_host(scope):
                await send_problem(send, 400, "http/400", BAD_HOST)
                return
            if scope["path"].rstrip("/") == WEBSOCKET_PATH:
                await send_problem(send, 426, "http/426", NO_UPGRADE, headers=UPGRADE)
                return
            if self._follower is None or passed_on or self._leads():
                await self._answer(scope, receive, send)
            else:
                await self._follower(scope, receive, send)
        elif scope["path"] == WEBSOCKET_PATH and self._bots is not None:
            await self._bots(scope, receive, send)
        else:
            await refuse(scope, send, 404, "match/unknown", f"Bots connect to {WEBSOCKET_PATH}.")

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request here."""
        answer: Coroutine[Any, Any, None]
        if scope["path"].rstrip("/") != MCP_PATH:
            answer = self._api(scope, receive, send)  # type: ignore[arg-type]
        elif self._agents is None:
            await send_problem(send, 404, "mcp/off", NO_MCP)
            return
        else:
            answer = self._agents(scope, receive, send)
        await (answer if self._pacer is None else self._pacer.run(answer))


def _names_host(scope: Scope) -> bool:
    """Return whether a request has a proper ``Host``, or none; handlers fail with another one."""
    host = next((value for name, value in scope["headers"] if name == b"host"), b"")
    text = host.decode("latin-1")
    try:
        _ = urlsplit(f"//{text}").port
    except ValueError:
        return False
    return _HOST.fullmatch(text) is not None


def _without_body(send: Send) -> Send:
    """Leave the body out of an answer: what HEAD gets is the head of the answer to GET."""

    async def head(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.body":
            message = {**message, "body": b""}
        await send(message)

    return head
