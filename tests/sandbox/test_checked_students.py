"""A runner checks what students submit at the time control of their competition."""

from __future__ import annotations

from pathlib import Path

from tests.sandbox.hosted_house import OLGA, hosted_house, until

from plyhouse.protocol.package import Rules, digest_of, from_upload, pack
from plyhouse.storage import class_people
from plyhouse.storage.class_rows import NewMember

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
        time.sleep(0.6)
        return turn.legal[0]
"""


async def test_bot_with_constant_time_per_move_enters_where_the_time_control_allows_it(
    tmp_path: Path,
) -> None:
    async with hosted_house(tmp_path) as house:
        store, classes = house.hub.store, house.hub.courses
        package = from_upload("slow.py", SLOW.encode(), Rules())
        made = {}
        for name, control in (("long", "total:60+1"), ("short", "move:0.3")):
            cup = await classes.open(CUP.format(name=name, control=control), OLGA)
            await store.write(
                class_people.take_in, cup.id, [NewMember(name, name)], OLGA, store.now()
            )
            player = await store.player(name)
            bot = await store.ensure_bot(player.id, "slow", "bot")
            made[name] = await store.submissions.submit(
                bot.id, "", digest_of(package), pack(package), store.now()
            )

        async def checked() -> bool:
            return not await store.submissions.waiting()

        async with house.runner():
            await until(checked, lambda: house.said)
        long = await store.submissions.get(made["long"].id)
        assert (long.status, long.games) == ("ready", ("coin_guess", "chess")), long.report
        assert [each.outcome for each in long.competitions] == ["entered"]
        assert "WARNING keeps to the clock when it is short (move:0.25)" in long.report
        assert "total:60+1 (begun at total:6+0.1 to be quick), of its competitions" in long.report
        assert "chess" not in long.report
        short = await store.submissions.get(made["short"].id)
        assert short.status == "refused"
        assert "time control: move:0.3, of its competitions, in coin_guess" in short.report
