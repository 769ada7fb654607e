"""Which pairings come next, and whose an early end leaves out."""

from __future__ import annotations

import pytest
from tests.harness.hub_finals import FILE, OLGA, ORGANISER, STAFF, Course

from plyhouse.protocol.api.standings import NextPairing
from plyhouse.protocol.errors import ProtocolError
from plyhouse.server.competitions.upcoming_pairings import unplayed, upcoming
from plyhouse.storage import competition_sql
from plyhouse.storage.rows import Identity


async def test_what_comes_next_is_told_to_those_who_may_know(course: Course) -> None:
    course.hold = True
    text = f'{FILE}board = "anonymous"\n[limits]\nmatches_at_a_time = 2\n{STAFF}'
    names = await course.open(text, 3)
    hub = course.hub

    async def coming(viewer: Identity | None, limit: int = 10) -> list[NextPairing]:
        return await upcoming(hub.boards, hub.tournaments, "Cup", viewer, limit)

    await course.run()

    async def begun() -> bool:
        return len(course.begun) == 2

    await course.until(begun)
    playing = {f"{each.player}/{each.bot}" for each in next(iter(course.begun.values())).players}
    everything = await coming(ORGANISER)
    assert len(everything) == 5 * 4 // 2 - 1, "one of the ten pairings is being played"
    assert {(each.game, each.matches, each.own) for each in everything} == {("pig", 2, False)}
    assert playing not in [set(each.entries) for each in everything]
    for name in names:
        own = f"{name}/bot"
        mine = await coming(await hub.store.authenticate(course.tokens[name]))
        wanted = [set(each.entries) - {own} for each in everything if own in each.entries]
        assert len(mine) == len(wanted)
        assert all(each.own and own in each.entries for each in mine)
        others = [*{other for each in mine for other in each.entries if other != own}]
        assert sorted(others) in (["(another entry)", "staff/b0"], ["(another entry)"])
    for viewer in (None, await hub.store.authenticate(await course._account("eve"))):
        with pytest.raises(ProtocolError):
            await coming(viewer)
    # Ending it now reports the entries whose pairings are left out.
    (left,) = await hub.competitions.unplayed("Cup")
    assert left == "pig: 9 pairings have not begun, of " + ", ".join(
        sorted({each for pair in everything for each in pair.entries})
    )
    await hub.store.write(competition_sql.move, "Cup", "finish", OLGA, hub.store.now())
    await hub.audit_follower.look()
    assert await coming(ORGANISER) == []
    assert await hub.competitions.unplayed("Cup") == []


def test_a_sentence_names_a_few_and_counts_the_others() -> None:
    many = [f"s{number}/x" for number in range(13)]
    assert unplayed("pig", 0, []) == ""
    assert unplayed("pig", 1, many[:2]) == "pig: 1 pairing has not begun, of s0/x, s1/x"
    named = ", ".join(many[:10])
    assert unplayed("pig", 1200, many) == (
        f"pig: 1,200 pairings have not begun, of {named} and 3 more"
    )
