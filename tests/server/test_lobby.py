"""Finding opponents: seeks and challenges."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from plyhouse.protocol.messages import (
    Answer,
    Challenge,
    ChallengeClosed,
    Challenged,
    Error,
    MatchMessage,
    Ok,
    Unseek,
)
from plyhouse.server.house import lobby
from plyhouse.server.house.matchmaking import Matchmaker

OpenHouse = Callable[..., Awaitable[Any]]


@pytest.mark.parametrize(
    ("game", "time_control", "code", "word"),
    [
        ("connect_for", "move:1", "game/unknown", "connect_four"),
        ("pig(target=1000000)", "move:1", "game/bad_parameter", "target"),
        ("/etc/passwd.py:Game", "move:1", "game/unknown", "name of a game"),
        ("pig", "blitz", "time_control/invalid", "move:1"),
        ("pig", "move:999999", "time_control/invalid", "too long"),
    ],
)
async def test_bad_seeks_say_what_would_be_right(
    house: Any, game: str, time_control: str, code: str, word: str
) -> None:
    client = await house.bot("alice")
    answer = await client.seek(game, time_control)
    assert isinstance(answer, Error)
    assert (answer.code, answer.fatal) == (code, False)
    assert word in answer.message


async def test_seeks_are_withdrawn_and_not_repeated(house: Any) -> None:
    client, other = await house.bot("alice"), await house.bot("bob")
    made = await client.seek("pig")
    assert (await client.seek("pig")).code == "seek/duplicate"
    assert (await other.ask(Unseek, made.seek)).code == "seek/unknown"
    assert isinstance(await client.ask(Unseek, made.seek), Ok)
    assert (await client.ask(Unseek, made.seek)).code == "seek/unknown"
    await other.seek("pig")
    assert len(house.hub.directory.live) == 0


async def test_too_many_seeks_are_refused(open_house: OpenHouse) -> None:
    house = await open_house(max_seeks_per_bot=1)
    client = await house.bot("alice")
    await client.seek("pig")
    assert (await client.seek("tic_tac_toe")).code == "seek/limit"


async def test_rated_pairing_never_pairs_own_bots(house: Any) -> None:
    one, two = await house.bot("alice", "one"), await house.bot("alice", "two")
    for client in (one, two):
        await client.seek("pig", rated=True)
    third = await house.bot("bob")
    await third.seek("pig", rated=True)
    match = (await third.next(MatchMessage)).snapshot
    assert {each.player for each in match.players} == {"alice", "bob"}
    for client in (one, two):  # casual games among one's own bots are fine
        await client.seek("pig", "move:9")
    casual = (await two.next(MatchMessage)).snapshot
    while casual.match == match.match:
        casual = (await two.next(MatchMessage)).snapshot
    assert [each.player for each in casual.players] == ["alice", "alice"]


async def test_rated_pairing_of_own_bots_where_the_host_allows_it(open_house: OpenHouse) -> None:
    house = await open_house(allow_own_bots=True)
    one, two = await house.bot("alice", "one"), await house.bot("alice", "two")
    for client in (one, two):
        await client.seek("pig", rated=True)
    assert (await one.next(MatchMessage)).snapshot.rated


async def test_a_standing_seek_gives_one_match_after_the_other(house: Any) -> None:
    one, two = await house.bot("alice", max_matches=1), await house.bot("bob", max_matches=1)
    for client in (one, two):
        await client.seek("kuhn_poker", count=0)
    seen = set()
    for _ in range(3):
        starts = await asyncio.gather(one.start(), two.start())
        assert len(house.hub.directory.live) == 1
        await asyncio.gather(one.play(starts[0], 1), two.play(starts[1], 2))
        seen.add(starts[0].match)
    assert len(seen) == 3


async def test_mirrored_seek_needs_room_for_both_matches(house: Any) -> None:
    client = await house.bot("alice", max_matches=1)
    answer = await client.seek("pig", mirrored=True)
    assert answer.code == "seek/limit"
    assert "max_matches" in answer.message


async def test_challenge_is_accepted_and_gives_the_seat_asked_for(house: Any) -> None:
    one, two = await house.bot("alice"), await house.bot("bob", games=["pig"])
    made = await one.ask(Challenge, "bob/bot", "pig", "move:5", seat=1)
    asked = await two.next(Challenged)
    assert asked.challenge == made.challenge
    assert asked.opponent == "alice/bot"
    assert asked.seat == 0
    assert isinstance(await two.ask(Answer, asked.challenge, True), Ok)
    assert (await one.next(ChallengeClosed)).reason == "accepted"
    assert (await one.next(MatchMessage)).snapshot.seat == 1
    assert (await two.ask(Answer, asked.challenge, True)).code == "challenge/unknown"


async def test_challenge_is_declined_or_withdrawn_with_a_reason(house: Any) -> None:
    one, two = await house.bot("alice"), await house.bot("bob", games=["pig"])
    await one.ask(Challenge, "bob/bot", "pig", "move:5")
    asked = await two.next(Challenged)
    await two.ask(Answer, asked.challenge, False, "not now")
    closed = await one.next(ChallengeClosed)
    assert (closed.reason, closed.detail) == ("declined", "not now")
    await two.next(ChallengeClosed)
    await one.ask(Challenge, "bob/bot", "pig", "move:5")
    await one.close()
    assert (await two.next(ChallengeClosed)).reason == "withdrawn"


async def test_unanswered_challenge_expires(open_house: OpenHouse) -> None:
    house = await open_house(challenge_timeout=0.1)
    one, two = await house.bot("alice"), await house.bot("bob", games=["pig"])
    await one.ask(Challenge, "bob/bot", "pig", "move:5")
    assert (await one.next(ChallengeClosed)).reason == "expired"
    assert (await two.next(ChallengeClosed)).reason == "expired"


async def test_challenges_that_cannot_be(house: Any) -> None:
    one = await house.bot("alice", games=["pig"])
    await house.bot("alice", "second", games=["pig"])
    await house.bot("bob", games=["tic_tac_toe"])
    cases = {
        ("bob/bott", "pig", False): "challenge/offline",
        ("alice/bot", "pig", False): "challenge/self",
        ("alice/second", "pig", True): "challenge/self",
        ("bob/bot", "pig", False): "challenge/not_accepting",
        ("bob/bot", "pig(seats=3)", False): "game/unfit",
    }
    for (opponent, game, rated), code in cases.items():
        answer = await one.ask(Challenge, opponent, game, "move:5", rated=rated)
        assert answer.code == code, answer
    assert (await one.ask(Challenge, "bob/bott", "pig", "move:5")).message.endswith("bob/bot?")


async def test_nobody_is_pestered_with_challenges_that_are_withdrawn_again(house: Any) -> None:
    one, two = await house.bot("alice"), await house.bot("bob", games=["pig"])
    refused = None
    for _ in range(lobby.CHALLENGES[0] + 1):
        made = await one.ask(Challenge, "bob/bot", "pig", "move:5")
        if made.re is not None and getattr(made, "code", "") == "seek/limit":
            refused = made
            break
        await one.ask(Answer, made.challenge, False)
    assert refused is not None
    assert "too often: wait" in refused.message
    other = await house.bot("carol")
    assert isinstance(await other.ask(Challenge, "bob/bot", "pig", "move:5"), Ok)
    await two.next(Challenged, opponent="carol/bot")


async def test_challenges_that_are_accepted_may_go_on(house: Any) -> None:
    one = await house.bot("alice", max_matches=32)
    two = await house.bot("bob", games=["pig"], max_matches=32)
    for _ in range(lobby.CHALLENGES[0] + 2):
        made = await one.ask(Challenge, "bob/bot", "pig", "move:5")
        assert isinstance(made, Ok), made
        assert isinstance(await two.ask(Answer, made.challenge, True), Ok)


async def test_many_who_wait_are_paired_little_by_little(
    house: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The event loop serves others between the parts, and nobody is forgotten after the first."""
    monkeypatch.setattr(lobby, "BEGUN_AT_ONCE", 2)
    monkeypatch.setattr(lobby, "PAIRING_SECONDS", 0.2)  # all seeks gather for the same round
    clients = [await house.bot(f"p{number}") for number in range(10)]
    for client in clients:
        await client.seek("pig", count=1)
    rounds = []
    pair = Matchmaker.pair

    def counted(*args: Any) -> Any:
        rounds.append(found := pair(*args))
        return found

    monkeypatch.setattr(Matchmaker, "pair", counted)
    begun = {(await client.next(MatchMessage)).snapshot.match for client in clients}
    assert len(begun) == 5
    assert [len(found) for found in rounds] == [2, 2, 1]
