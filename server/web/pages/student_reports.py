"""The page of a report on a student, with the plot of its results."""

from __future__ import annotations

from typing import Annotated, Any, Final

from litestar import Request, Response, get
from litestar.datastructures import State
from litestar.params import FromPath, FromQuery, QueryParameter

from plyhouse.protocol.api.reports import Report
from plyhouse.protocol.errors import ProtocolError
from plyhouse.server.competitions.reports import Reports
from plyhouse.server.web.api.access import viewer_of
from plyhouse.server.web.pages.rendering import missing, page, plot_answer
from plyhouse.server.web.parameters import service
from plyhouse.server.web.plots import Score, results
from plyhouse.storage import competition_sql
from plyhouse.storage.errors import Unknown
from plyhouse.storage.store import Store

Call = Request[Any, Any, Any]


@get("/competitions/{reference:str}/report", include_in_schema=False)
async def report(
    state: State,
    request: Call,
    reference: FromPath[str],
    student: Annotated[str, QueryParameter(max_length=64)] = "",
    plot: FromQuery[str] = "",
) -> Response[str]:
    """The report on a student: for itself, or for an organiser; with ``plot``, its plot's file."""
    try:
        viewer = await viewer_of(request)
        if viewer is None:
            return page(
                "missing.html", status=401, title="Sign in", text="Sign in to see a report."
            )
        found = await service(state, Reports).report(reference, student, viewer)
    except ProtocolError as error:
        return page("missing.html", status=403, title="Forbidden", text=str(error))
    except Unknown as error:
        return missing(f"{str(error)[:1].upper()}{str(error)[1:]}.")
    row = await service(state, Store).read(competition_sql.find, reference)
    drawn = results(found.display or found.student, _scores(found))
    if plot:
        return plot_answer(drawn, f"{row.name}-{found.student}")
    return page("report.html", row=row, report=found, plot=drawn)


def _scores(found: Report) -> list[Score]:
    """Return the results of a report as they are drawn: baselines, then the others."""
    baselines = [
        Score(
            *(each.name, each.score, each.low, each.high, each.matches),
            *(each.at_least if each.grade else None, each.grade),
        )
        for each in found.baselines
    ]
    known = {each.name for each in baselines}
    others = [
        Score(each.name, each.score, each.low, each.high, each.matches)
        for each in found.opponents
        if each.name not in known
    ]
    return [*baselines, *others]


HANDLERS: Final[tuple[Any, ...]] = (report,)
