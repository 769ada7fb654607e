"""A runner checks what students submit at the time control of their competition."""

from __future__ import annotations

from pathlib import Path

from tests.harness.hosted_server import OLGA, hosted_server, until

from plyhouse.protocol.hosting.package import Rules, digest_of, from_upload, pack
from plyhouse.storage import competition_students, people, submission_checks, submission_sql
from plyhouse.storage.competition_rows import NewMember

CUP = """
name = "{name}"
games = ["coin_guess"]
time_control = "{control}"
"""
SLOW = """
import time
from plyhouse.bots import Bot

class Slow(Bot):
    games = ("coin_guess", "chess")

    def choose(self, turn):
        if turn.match.time_control.startswith("move:"):
            time.sleep(1000)  # too long, however much a busy server gives back
        return turn.legal[0]
"""


async def test_bot_with_constant_time_per_move_enters_where_the_time_control_allows_it(
    tmp_path: Path,
) -> None:
    async with hosted_server(tmp_path) as house:
        store, classes = house.hub.store, house.hub.competitions
        package = from_upload("slow.py", SLOW.encode(), Rules())
        made = {}
        for name, control in (("long", "total:60+1"), ("short", "move:0.3")):
            cup = await classes.open(CUP.format(name=name, control=control), OLGA)
            await store.write(
                competition_students.take_in, cup.id, [NewMember(name, name)], OLGA, store.now()
            )
            player = await store.read(people.player, name)
            bot = await store.ensure_bot(player.id, "slow", "bot")
            made[name] = await store.submissions.add(
                bot.id, "", digest_of(package), pack(package), store.now()
            )

        async def checked() -> bool:
            return not await store.read(submission_checks.waiting)

        async with house.runner():
            await until(checked, lambda: house.said)
        long = await store.read(submission_sql.find, made["long"].id)
        assert (long.status, long.games) == ("ready", ("coin_guess", "chess")), long.report
        assert [each.outcome for each in long.competitions] == ["entered"]
        assert "WARNING keeps to the clock when it is short (move:0.25)" in long.report
        assert "total:60+1 (begun at total:6+0.1 to be quick), of its competitions" in long.report
        assert "chess" not in long.report
        short = await store.read(submission_sql.find, made["short"].id)
        assert short.status == "refused"
        assert "time control: move:0.3, of its competitions, in coin_guess" in short.report
