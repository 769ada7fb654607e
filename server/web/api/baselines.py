"""Baselines of competitions: checked again, or replaced, by organisers."""

from __future__ import annotations

from typing import Any, Final

from litestar import Request
from litestar.datastructures import State
from litestar.params import FromPath, JSONBody

from plyhouse.protocol.api import competition_calls
from plyhouse.protocol.api.bodies import BaselineChange
from plyhouse.protocol.api.submissions import Submission
from plyhouse.server.competitions.lifecycle import Competitions
from plyhouse.server.hosting.runners import Hosting
from plyhouse.server.web.api.access import staff_for
from plyhouse.server.web.api.serving import serve
from plyhouse.server.web.api.submissions import submission_view
from plyhouse.server.web.parameters import service
from plyhouse.storage.rows import By

__all__ = ["HANDLERS"]


@serve(competition_calls.check_baseline)
async def change_baseline(
    state: State,
    request: Request[Any, Any, Any],
    competition: FromPath[str],
    data: JSONBody[BaselineChange],
) -> Submission:
    """Check a reference bot of a competition again, or let another one take its place.

    It waits for its check then. Until then another version plays, if there is one.
    """
    reference = data.reference.strip()
    row, identity = await staff_for(request, competition, "change" if reference else "run")
    made = await service(state, Competitions).baselines.check_again(
        row.id, data.bot, By(identity.player, data.why), replace_by=reference
    )
    return submission_view(service(state, Hosting), made)


HANDLERS: Final[tuple[Any, ...]] = (change_baseline,)
