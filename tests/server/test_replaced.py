"""Messages to students about versions that another one has replaced."""

from __future__ import annotations

from typing import Any

from tests.harness.finals import Course, weaker_resigns

from plyhouse.protocol.messages import Error

FILE = """
name = "Cup"
games = ["connect_four"]
time_control = "total:60"
board = "public"
"""
NAMES = ["s0", "s1", "s2"]
LATE = "2999-01-01T00:00:00Z"


async def test_matches_of_a_replaced_version_are_marked_in_the_api(house: Any) -> None:
    cup = Course(house, FILE)
    await cup.freeze("connect_four", *NAMES)
    await cup.play(weaker_resigns(NAMES))
    async with cup.web("olga") as api:
        listed = (await api.get("/api/v1/matches?competition=Cup")).json()
        assert [each["replaced"] for each in listed] == [False] * 6
        await api.post(f"{cup.here}/extend", json={"student": "s1", "until": LATE})
        await cup.bots["s1"].close()
        client = await house.client()
        fields = {"games": ["connect_four"], "max_matches": 50, "version": "2"}
        assert not isinstance(await client.hello(cup.tokens["s1"], "bot", **fields), Error)
        listed = (await api.get("/api/v1/matches?competition=Cup")).json()
        assert not any(each["replaced"] for each in listed), "they count until the rerun"
        rerun = await api.post(f"{cup.here}/rerun", json={"anyway": True})
        assert rerun.status_code == 200, rerun.text
        listed = (await api.get("/api/v1/matches?competition=Cup&status=finished")).json()
        assert len(listed) == 6
        for each in listed:
            assert each["replaced"] == ("s1" in [seat["player"] for seat in each["seats"]])
            assert each["void_reason"] is None
        old = next(each["match"] for each in listed if each["replaced"])
        assert (await api.get(f"/api/v1/matches/{old}")).json()["replaced"] is True
        assert "no longer counts" in (await api.get(f"/matches/{old}")).text
        kept = next(each["match"] for each in listed if not each["replaced"])
        assert "no longer counts" not in (await api.get(f"/matches/{kept}")).text
