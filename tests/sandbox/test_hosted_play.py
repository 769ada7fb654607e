"""A person plays against a submitted bot, with a real server, runner and sandbox."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.harness.hosted_server import PIG, hosted_server, until
from tests.harness.patience import PATIENCE

from plyhouse.protocol.messages import Challenge, MatchMessage, Ok, Ready, Welcome
from plyhouse.server.hosting import hosted_play

GAME = "tic_tac_toe"


async def test_a_person_plays_against_what_an_author_has_handed_in_and_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hosted_play, "PATIENCE_NS", hosted_play.IDLE_NS)  # the machine is busy
    async with hosted_server(tmp_path) as house:
        for name in ("ada", "bob"):
            await house.submit(name, PIG, "mine", GAME)
        tokens = {name: await house.token(name) for name in ("ada", "bob", "zoe")}

        async def asked(what: str, where: str, who: str, **body: Any) -> Any:
            headers = {"Authorization": f"Bearer {tokens[who]}"}
            async with httpx.AsyncClient(base_url=house.server.url, timeout=PATIENCE) as web:
                answer = await web.request(what, f"/api/v1/{where}", json=body, headers=headers)
            return answer.json().get("code", answer.json()) if answer.content else None

        wish = {"opponent": "ada/mine", "game": GAME}
        assert await asked("POST", "hosted-bots", "zoe", **wish) == "hosted/closed"
        assert await asked("PUT", "bots/ada/mine/open", "zoe", open=True) == "auth/scope"
        for name in ("ada", "bob"):
            assert await asked("PUT", f"bots/{name}/mine/open", name, open=True) == {"open": True}
        assert await asked("POST", "hosted-bots", "zoe", **wish) == "hosted/no_runner"
        other = {**wish, "game": "connect_four"}
        assert await asked("POST", "hosted-bots", "zoe", **other) == "challenge/not_accepting"

        async with house.runner():

            async def there() -> bool:
                return bool(house.hub.hosting.machines)

            await until(there)
            assert await asked("POST", "hosted-bots", "zoe", **wish) == {"opponent": "ada/mine"}
            zoe = await house.client()
            assert isinstance(await zoe.hello(tokens["zoe"]), Welcome)
            answer = await zoe.ask(Challenge, "ada/mine", GAME, "total:60", seat=1)
            assert isinstance(answer, Ok), answer
            snapshot = (await zoe.next(MatchMessage)).snapshot
            assert [each.bot for each in snapshot.players] == ["mine", ""]
            await zoe.ask(Ready, snapshot.match)
            assert (await zoe.play(snapshot)).outcome.termination == "normal"
            # One at a time for each person; and when nobody plays it any more, it is gone.
            bob = {**wish, "opponent": "bob/mine"}
            assert await asked("POST", "hosted-bots", "zoe", **bob) == "hosted/limit"

            async def gone() -> bool:
                return house.hub.directory.find("ada/mine") is None

            with monkeypatch.context() as at_once:
                at_once.setattr(hosted_play, "IDLE_NS", 0)
                await until(gone, lambda: house.said)
            assert await asked("POST", "hosted-bots", "zoe", **bob) == {"opponent": "bob/mine"}
