"""Runner machines: their reports, their assignments, and the packages that they fetch."""

from __future__ import annotations

from typing import Any, Final

from litestar import Request, Response
from litestar.datastructures import State
from litestar.params import FromPath, JSONBody

from plyhouse.protocol.api import calls
from plyhouse.protocol.api.server import RunnerCapacity
from plyhouse.protocol.hosting.runner_messages import MatchOutput, RunnerPlan, RunnerReport
from plyhouse.server.hosting.runner_reports import Outputs
from plyhouse.server.hosting.runners import Hosting
from plyhouse.server.hosting.uploads import Uploads
from plyhouse.server.web.api.access import authorise
from plyhouse.server.web.api.serving import serve
from plyhouse.server.web.parameters import service
from plyhouse.storage import stored_packages
from plyhouse.storage.store import Store


@serve(calls.runner_sync)
async def sync(
    state: State, request: Request[Any, Any, Any], data: JSONBody[RunnerReport]
) -> RunnerPlan:
    """Report a runner machine's state and findings; the answer has everything that it should do.

    The token needs the scope ``runner``.
    """
    identity = await authorise(request, "runner")
    return await service(state, Hosting).sync(identity, data)


@serve(calls.runner_output)
async def output(
    state: State, request: Request[Any, Any, Any], data: JSONBody[MatchOutput]
) -> None:
    """Tell what a hosted bot printed in a match on this machine; told again, it counts once.

    The token needs the scope ``runner``.
    """
    await authorise(request, "runner")
    await service(state, Outputs).keep(data)


@serve(calls.runner_capacity)
async def capacity(state: State) -> RunnerCapacity:
    """Say how many runner machines there are, and what they have."""
    hosting = service(state, Hosting)
    lacking = sorted(service(state, Uploads).rules.runtimes - hosting.programs)
    return RunnerCapacity(hosting.machines, hosting.cores, lacking)


@serve(calls.package)
async def package(state: State, digest: FromPath[str]) -> Response[bytes]:
    """Return a submitted package, a zip, by its digest; for runners."""
    data = await service(state, Store).read(stored_packages.archive, digest)
    return Response(data, media_type="application/zip")


HANDLERS: Final[tuple[Any, ...]] = (sync, output, capacity, package)
