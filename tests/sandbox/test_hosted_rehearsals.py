"""A lecturer rehearses a hosted final before its date: on the server, with what is there now."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.harness.hosted_server import OLGA, PIG, hosted_server, until

from plyhouse.storage import competition_sql, competition_students, match_lists, suspensions
from plyhouse.storage.competition_rows import NewMember
from plyhouse.storage.errors import CompetitionRefusal

CUP = """
name = "Cup"
games = ["tic_tac_toe"]
time_control = "total:60"
board = "public"
[dates]
freeze = 2099-01-01T00:00:00Z
[hosting]
required = true
[limits]
absent_minutes = 0
"""
BROKEN = PIG.replace(
    "        seen.append", "        raise ValueError('not yet')\n        seen.append"
)


async def test_a_hosted_final_is_rehearsed_before_the_deadline_and_counts_for_nothing(
    tmp_path: Path,
) -> None:
    settings = {"suspend_after": 1, "suspend_window": 1}
    async with hosted_server(tmp_path, **settings) as house:
        hub, store = house.hub, house.hub.store
        olga = await hub.store.add_player("olga")
        cup = await hub.competitions.open(CUP, OLGA)
        with pytest.raises(CompetitionRefusal, match="nobody could be compared"):
            await hub.competitions.rehearse("Cup", OLGA)
        members = [NewMember(name, name) for name in ("ada", "bob", "cyd")]
        joined = await hub.store.write(
            competition_students.take_in, cup.id, members, OLGA, hub.store.now()
        )
        house._players.update(each.account for each in joined)
        await house.submit("ada", PIG, "mine", "tic_tac_toe")
        await house.submit("bob", BROKEN, "mine", "tic_tac_toe")
        token = next(each.token for each in joined if each.account == "cyd")
        cyd = await house.client()
        await cyd.hello(token, "own", games=["tic_tac_toe"], max_matches=2)

        async def over() -> bool:
            return (await store.read(competition_sql.find, "Cup (rehearsal)")).status == "finished"

        rehearsal, left_out = await hub.competitions.rehearse("Cup", OLGA)
        assert (rehearsal.name, rehearsal.rehearses) == ("Cup (rehearsal)", cup.id)
        assert left_out == ["cyd/own"]
        assert (
            await store.read(competition_sql.find, "Cup")
        ).status == "open"  # Everybody may still submit.
        with pytest.raises(
            CompetitionRefusal, match=r"'Cup \(rehearsal\)' already, which is running"
        ):
            await hub.competitions.rehearse("Cup", OLGA)
        async with house.runner():
            await until(over, lambda: house.said)
        # The broken bot lost both, and its author is informed; nothing else follows from it.
        rows = await hub.store.read(match_lists.list_matches, match_lists.MatchFilter())
        assert [row.termination for row in rows] == ["bot_crash", "bot_crash"]
        assert not any(row.rated for row in rows)
        (bob,) = [
            each
            for each in await store.read(competition_sql.entries_of, cup.id)
            if each.player == "bob"
        ]
        assert bob.version_id is not None
        assert await hub.store.read(suspensions.reason_of, bob.version_id) == ""
        # Only its staff and each author see it, however public the competition's board is.
        for scopes, seen in ((frozenset(("organise",)), 2), (frozenset(("play",)), 0)):
            sight = await hub.privacy.sight_of(olga.id, scopes)
            listed = await hub.store.read(
                match_lists.list_matches, match_lists.MatchFilter(closed=frozenset(sight.closed))
            )
            assert len(listed) == seen
        with pytest.raises(CompetitionRefusal, match="is a rehearsal itself"):
            await hub.competitions.rehearse("Cup (rehearsal)", OLGA)
        # It is deleted like any other, and the next one can begin.
        await store.write(competition_sql.move, "Cup (rehearsal)", "delete", OLGA, store.now())
        again, _ = await hub.competitions.rehearse("Cup", OLGA)
        assert again.id != rehearsal.id
