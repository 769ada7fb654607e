"""Phrases between players: to people alone, not too often, and not where they could be signals."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from tests.harness.patience import PATIENCE
from tests.harness.server import BotClient, Server

from plyhouse.protocol.messages import MatchMessage, Ok, Ping, Said, Say, Watch
from plyhouse.server.gateway import match_requests


async def seated(house: Server, count: int, game: str) -> tuple[str, list[BotClient]]:
    """Return a match and the people in it, in the order of their seats; the last is a program."""
    names = ["ann", "ben", "cyd"][:count]
    people = [await house.bot(name, scenes=name != names[-1]) for name in names]
    for each in people:
        await each.seek(game)
    found = await asyncio.gather(*(each.start() for each in people))
    return found[0].match, people


async def heard(client: BotClient) -> list[Said]:
    """Return what has been said to a client so far."""
    await client.ask(Ping)
    return [message for message in client.inbox if isinstance(message, Said)]


async def test_phrase_reaches_people_at_the_board_and_spectators(house: Server) -> None:
    match, (ann, ben) = await seated(house, 2, "tic_tac_toe")
    watcher = await house.bot("cyd", scenes=True)
    assert isinstance(await watcher.ask(Watch, match), MatchMessage)
    assert isinstance(await ben.ask(Say, match, "good_luck"), Ok)
    said = await ann.next(Said)
    assert (said.match, said.phrase) == (match, "good_luck")
    assert await watcher.next(Said) == said
    assert await heard(ben) == []  # a program that wants no scenes


async def test_fourth_phrase_at_once_is_refused(
    open_house: Callable[..., Awaitable[Server]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(match_requests, "SECONDS_PER_PHRASE", PATIENCE)
    house = await open_house()
    match, (ann, _) = await seated(house, 2, "tic_tac_toe")
    answers = [await ann.ask(Say, match, "oops") for _ in range(4)]
    assert [isinstance(each, Ok) for each in answers] == [True, True, True, False]
    assert answers[3].code == "match/too_many_phrases"


async def test_phrase_is_refused_among_three_with_hidden_information(house: Server) -> None:
    match, (ann, *_) = await seated(house, 3, "liars_dice(seats=3)")
    assert (await ann.ask(Say, match, "thanks")).code == "match/no_phrases"


async def test_phrase_of_a_spectator_is_refused(house: Server) -> None:
    match, _ = await seated(house, 2, "tic_tac_toe")
    watcher = await house.bot("cyd", scenes=True)
    assert (await watcher.ask(Say, match, "thanks")).code == "match/not_yours"
