"""Challenges to bots that play in a final."""

from __future__ import annotations

from typing import Any

import httpx

from plyhouse.protocol.messages import Challenge, Error, MatchMessage, Ok

FILE = """
name = "Cup"
games = ["tic_tac_toe"]
time_control = "total:60"
[[baselines]]
bot = "tutor/bot"
grade = "pass"
hidden = true
"""
HERE = "/api/v1/competitions"
TERMS = "tic_tac_toe", "total:86400"


async def test_bot_with_matches_of_a_final_takes_no_challenges(open_house: Any) -> None:
    """A rival could hold its places by long matches, and so the final, for a day."""
    house = await open_house()
    rival = await house.bot("eve")
    tutor = await house.bot("tutor", games=["tic_tac_toe"], max_matches=8)
    headers = {"Authorization": f"Bearer {await house.token('olga', 'organise')}"}
    async with httpx.AsyncClient(base_url=house.server.url, headers=headers) as olga:
        answer = await olga.post(HERE, json={"file": FILE})
        assert answer.status_code == 201, answer.text
        answer = await olga.post(f"{HERE}/cup/students", json={"csv": "name\nada\nbob"})
        bots = []
        for row in answer.json():
            bots.append(await house.client())
            await bots[-1].hello(row["token"], "bot", games=["tic_tac_toe"], max_matches=2)
        assert isinstance(await rival.ask(Challenge, "ada/bot", *TERMS), Ok)
        await olga.post(f"{HERE}/cup/freeze", json={})
        await olga.post(f"{HERE}/cup/run", json={})
        await bots[0].next(MatchMessage)
        refused = await rival.ask(Challenge, "ada/bot", *TERMS)
        assert isinstance(refused, Error)
        assert (refused.code, refused.message) == (
            "challenge/not_accepting",
            "ada/bot takes no challenges now: ask again later.",
        )
        hidden = await rival.ask(Challenge, "tutor/bot", *TERMS)
        assert isinstance(hidden, Ok), "a refusal would say that it is a baseline"
        await olga.post(f"{HERE}/cup/pause", json={"why": "the night"})
        assert isinstance(await rival.ask(Challenge, "bob/bot", *TERMS), Ok)
    for client in (rival, tutor, *bots):
        await client.close()
