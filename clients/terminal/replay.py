"""Positions of a match as a server keeps them."""

from __future__ import annotations

from typing import Any

from plyhouse.clients.terminal.course import Course, Told
from plyhouse.clients.terminal.line import House

__all__ = ["earlier", "whole"]


async def whole(house: House, course: Course) -> None:
    """Give a course that is over its positions, and what happened; raises `Refusal`."""
    first = 0
    while True:
        replay = await _part(house, course, first)
        for frame in replay["frames"]:
            course.scenes[frame["ply"]] = frame["scene"]
            for event in frame["events"]:
                at = event["ply"] + (event["seat"] >= 0)
                milliseconds = event.get("ms")
                seconds = None if milliseconds is None else milliseconds / 1000
                course.told.append(
                    Told(at, event["seat"], event.get("action") or "(hidden)", seconds)
                )
        if not replay["frames"] or course.last >= replay["plies"]:
            break
        first = course.last + 1


async def earlier(house: House, course: Course) -> None:
    """Give a course the positions that it has missed; raises `Refusal`.

    What happened until then was told with the match; here are only the drawings.
    """
    while missing := [ply for ply in range(course.last) if ply not in course.scenes]:
        frames = (await _part(house, course, missing[0]))["frames"]
        found = {frame["ply"]: frame["scene"] for frame in frames}
        if missing[0] not in found:
            break
        course.scenes = found | course.scenes


async def _part(house: House, course: Course, first: int) -> dict[str, Any]:
    query = f"?first={first}"
    part: dict[str, Any] = await house.call("GET", "matches", course.match, "replay", query=query)
    return part
