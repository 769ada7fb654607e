"""Runner machines: what they say and are told, and the packages that they fetch."""

from __future__ import annotations

from typing import Any, Final

from litestar import Request, Response, get, post
from litestar.datastructures import State
from litestar.params import FromPath, JSONBody
from msgspec import Struct

from plyhouse.server.house.runner_messages import RunnerSays, RunnerTold
from plyhouse.server.web.api.access import authorise, first
from plyhouse.server.web.parameters import hub_of

__all__ = ["HANDLERS"]

HERE: Final = "/api/v1/runner"
MAX_SAID: Final = 1 << 20
"""Longest body of what a runner says, in bytes: it carries reports of checks."""

_SECURED: Final[dict[str, Any]] = {
    "tags": ["runner"],
    "security": [{"token": []}],
    "guards": [first("runner")],
}


@post(HERE + "/sync", **_SECURED, status_code=200, request_max_body_size=MAX_SAID)
async def sync(
    state: State, request: Request[Any, Any, Any], data: JSONBody[RunnerSays]
) -> RunnerTold:
    """Say what a runner machine is, has and has found out; answers all that it shall do.

    The token needs the scope ``runner``.
    """
    hub = hub_of(state)
    identity = await authorise(request, hub, "runner")
    return await hub.hosting.sync(identity, data)


class Capacity(Struct):
    """What runs bots that are handed in."""

    machines: int
    """Runners that were heard of lately."""
    cores: int
    """Their processors for bots."""


@get(HERE + "/capacity", tags=["runner"])
async def capacity(state: State) -> Capacity:
    """Say how many runner machines there are, and what they have."""
    hosting = hub_of(state).hosting
    return Capacity(hosting.machines, hosting.cores)


@get(HERE + "/packages/{digest:str}", **_SECURED)
async def package(state: State, digest: FromPath[str]) -> Response[bytes]:
    """Hand out a package that was handed in, a zip, by its digest; for runners."""
    data = await hub_of(state).store.submissions.archive(digest)
    return Response(data, media_type="application/zip")


HANDLERS: Final[tuple[Any, ...]] = (sync, capacity, package)
