"""Fetch positions of a match from a server."""

from __future__ import annotations

from plyhouse.clients.terminal.followed_match import FollowedMatch, Told
from plyhouse.clients.terminal.interfaces import ServerApi
from plyhouse.clients.terminal.sentences import action_text
from plyhouse.protocol.api import calls
from plyhouse.protocol.api.matches import Replay
from plyhouse.protocol.api.routes import PAGE

__all__ = ["earlier", "whole"]


async def whole(house: ServerApi, course: FollowedMatch) -> None:
    """Fetch all positions and events of a finished match; raises `Refusal`."""
    first = 0
    while True:
        replay = await _part(house, course, first)
        for frame in replay.frames:
            course.scenes[frame.ply] = frame.scene
            for event in frame.events:
                at = event.ply + (event.seat >= 0)
                seconds = None if event.ms is None else event.ms / 1000
                course.told.append(Told(at, event.seat, action_text(event), seconds))
        if not replay.frames or course.last >= replay.plies:
            break
        first = course.last + 1


async def earlier(house: ServerApi, course: FollowedMatch) -> None:
    """Fetch the scenes of positions that were missed; raises `Refusal`.

    The snapshot of the match already has their events.
    """
    while missing := [ply for ply in range(course.last) if ply not in course.scenes]:
        frames = (await _part(house, course, missing[0])).frames
        found = {frame.ply: frame.scene for frame in frames}
        if missing[0] not in found:
            break
        course.scenes = found | course.scenes


async def _part(house: ServerApi, course: FollowedMatch, first: int) -> Replay:
    return await house.ask(calls.replay(course.match, first=first, limit=PAGE))
