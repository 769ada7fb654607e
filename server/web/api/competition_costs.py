"""The cost of a competition file on this server, for its author in the browser."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime
from typing import Any, Final

from litestar import Request
from litestar.datastructures import State
from litestar.params import JSONBody

from plyhouse.games.registry import get_game
from plyhouse.protocol.api import competition_calls
from plyhouse.protocol.api.bodies import Costing
from plyhouse.protocol.api.competitions import CompetitionCost, GameCost
from plyhouse.server.competition_rules.dates import milliseconds_of
from plyhouse.server.competition_rules.file import CompetitionFile
from plyhouse.server.competition_rules.formats import FormatError
from plyhouse.server.competition_rules.grade_precision import grade_notes
from plyhouse.server.competition_rules.preview import (
    Measured,
    counted_entries,
    played,
    preview,
    sample,
)
from plyhouse.server.competitions.lifecycle import Competitions
from plyhouse.server.hosting.runners import Hosting
from plyhouse.server.results.scoring import scoring_rule
from plyhouse.server.web.api.access import authorise
from plyhouse.server.web.api.serving import serve
from plyhouse.server.web.error_responses import Problem
from plyhouse.server.web.parameters import service
from plyhouse.storage import competition_sql
from plyhouse.storage.store import Store

_SAMPLING: Final = asyncio.Lock()
"""One sample at a time: they take a core from the clocks of matches, if for a moment."""


@serve(competition_calls.estimate_cost)
async def cost(
    state: State, request: Request[Any, Any, Any], data: JSONBody[Costing]
) -> CompetitionCost:
    """Say all that is wrong with a file, or what its competition would cost here.

    A game that was never played here is played at random for a moment.
    """
    store = service(state, Store)
    await authorise(request, "organise")
    file = await service(state, Competitions).check(data.file)
    control = str(file.time_control)
    measured: dict[str, Measured] = {}
    for game in file.games:
        known = await store.read(competition_sql.measure, game, control)
        if known.matches:
            measured[game] = played(
                game, file.time_control, known.seconds, known.plies, known.matches
            )
        else:
            async with _SAMPLING:
                measured[game] = await asyncio.to_thread(
                    sample, game, file.time_control, time.perf_counter_ns
                )
    most = file.limits.students * file.entries_per_student + len(file.baselines)
    cores = service(state, Hosting).cores if file.hosting_required else 0
    now = datetime.fromtimestamp(store.now() / 1000, UTC)
    begin = file.dates.final or now
    return _view(file, data.entries or most, measured, cores or None, begin)


HANDLERS: Final[tuple[Any, ...]] = (cost,)


def _view(
    file: CompetitionFile,
    entries: int,
    measured: dict[str, Measured],
    cores: int | None,
    begin: datetime,
) -> CompetitionCost:
    try:
        found = preview(file, entries, begin, measured, cores)
    except FormatError as error:
        raise Problem(
            "competition/invalid", f"With {counted_entries(file, entries)}: {error}"
        ) from None
    at_a_time = file.limits.matches_at_a_time
    notes = [
        f"{game} is scored {scoring_rule(get_game(game), file.scored_by(game))}."
        for game in file.games
    ] + grade_notes(file, entries)
    if found is None:
        return CompetitionCost(file.name, entries, True, [], 0, 0.0, at_a_time, None, notes=notes)
    games = [
        GameCost(
            game=each.game,
            matches=each.matches,
            seconds=each.measured.most,
            core_hours=each.most / 3600,
            measured=each.measured.matches,
            source=each.measured.source,
            typical_seconds=each.measured.typical,
            typical_core_hours=each.typical / 3600,
        )
        for each in found.games
    ]
    return CompetitionCost(
        name=file.name,
        entries=entries,
        endless=False,
        games=games,
        matches=found.matches,
        core_hours=found.most,
        at_a_time=found.at_a_time,
        end_ms=milliseconds_of(found.end(found.most)),
        typical_core_hours=found.typical,
        hours=found.hours(found.most),
        typical_hours=found.hours(found.typical),
        typical_end_ms=milliseconds_of(found.end(found.typical)),
        notes=notes,
    )
