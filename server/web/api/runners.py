"""Runner machines: what they say and are told, and the packages that they fetch."""

from __future__ import annotations

from typing import Any, Final

from litestar import Request, Response, get, post
from litestar.datastructures import State
from litestar.params import FromPath, JSONBody

from plyhouse.protocol.api.server import RunnerCapacity
from plyhouse.server.hosting.runner_messages import MatchOutput, RunnerSays, RunnerTold
from plyhouse.server.web.api.access import authorise, first
from plyhouse.server.web.parameters import hub_of

__all__ = ["HANDLERS"]

HERE: Final = "/api/v1/runner"
MAX_SAID: Final = 1 << 20
"""Longest body of what a runner says, in bytes: it carries reports of checks."""
MAX_OUTPUT: Final = 256 << 10
"""Longest body of what a bot printed in a match, in bytes."""

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


@post(HERE + "/output", **_SECURED, status_code=204, request_max_body_size=MAX_OUTPUT)
async def output(
    state: State, request: Request[Any, Any, Any], data: JSONBody[MatchOutput]
) -> None:
    """Tell what a hosted bot printed in a match on this machine; told again, it counts once.

    The token needs the scope ``runner``.
    """
    hub = hub_of(state)
    await authorise(request, hub, "runner")
    await hub.outputs.keep(data)


@get(HERE + "/capacity", tags=["runner"])
async def capacity(state: State) -> RunnerCapacity:
    """Say how many runner machines there are, and what they have."""
    hub = hub_of(state)
    hosting = hub.hosting
    lacking = sorted(hub.uploads.rules.runtimes - hosting.programs)
    return RunnerCapacity(hosting.machines, hosting.cores, lacking)


@get(HERE + "/packages/{digest:str}", **_SECURED)
async def package(state: State, digest: FromPath[str]) -> Response[bytes]:
    """Hand out a package that was handed in, a zip, by its digest; for runners."""
    data = await hub_of(state).store.submissions.archive(digest)
    return Response(data, media_type="application/zip")


HANDLERS: Final[tuple[Any, ...]] = (sync, output, capacity, package)
