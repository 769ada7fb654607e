"""Finding opponents: seeks and challenges."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from tests.harness.patience import PATIENCE
from tests.tournaments import begin_round_robin

from plyhouse.games.registry import get_game
from plyhouse.protocol.messages import (
    Answer,
    Challenge,
    ChallengeClosed,
    Challenged,
    Error,
    Finished,
    MatchMessage,
    Ok,
    Resign,
    Unseek,
)
from plyhouse.server.lobby import lobby
from plyhouse.server.lobby.matchmaking import Matchmaker
from plyhouse.server.lobby.ply_quota import OF_A_MATCH
from plyhouse.server.match.terms import Terms
from plyhouse.server.match.time_control import TimeControl
from plyhouse.storage import match_lists
from plyhouse.storage.rows import By

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


async def test_player_without_plies_of_the_day_begins_no_match(open_house: OpenHouse) -> None:
    house = await open_house(max_plies_per_day=1)
    one, two, three = [
        await house.bot(name, games=["pig"], max_matches=1) for name in ("alice", "bob", "carol")
    ]
    for client in (one, two):
        await client.seek("kuhn_poker", count=0)
    starts = await asyncio.gather(one.start(), two.start())
    await asyncio.gather(one.play(starts[0], 1), two.play(starts[1], 2))
    async with asyncio.timeout(PATIENCE):
        while isinstance(answer := await one.seek("pig"), Ok):  # the match is not counted yet
            await one.ask(Unseek, answer.seek)
    assert answer.code == "seek/plies"
    assert "alice has played the 1 plies that this server stores" in answer.message
    assert (await one.ask(Challenge, "carol/bot", "pig", "total:60")).code == "seek/plies"
    made = await three.ask(Challenge, "alice/bot", "pig", "total:60")
    asked = await one.next(Challenged)
    assert asked.challenge == made.challenge
    assert (await one.ask(Answer, asked.challenge, True)).code == "seek/plies"
    await three.seek("kuhn_poker")
    house.hub.lobby._pair()
    assert not house.hub.directory.live, "standing seeks wait, too"


@pytest.mark.parametrize("stored", ["nothing", "details"])
async def test_match_without_plies_takes_plies_of_the_day(
    open_house: OpenHouse, stored: str
) -> None:
    """Two bots that resign at once could fill the disk, with 400 matches a second."""
    enough = OF_A_MATCH + 3 if stored == "nothing" else 150
    house = await open_house(max_plies_per_day=enough)
    clients = [await house.bot(name) for name in ("alice", "bob")]
    for client in clients:
        await client.seek("tic_tac_toe")
    matches = [(await client.start()).match for client in clients]
    detail = "" if stored == "nothing" else "x" * 16_000
    await clients[0].ask(Resign, matches[0], "bot_crash", detail)
    await clients[0].next(Finished)
    async with asyncio.timeout(PATIENCE):
        while isinstance(answer := await clients[1].seek("pig"), Ok):  # it is not counted yet
            await clients[1].ask(Unseek, answer.seek)
    assert answer.code == "seek/plies"


async def test_competition_takes_no_plies_of_the_day(open_house: OpenHouse) -> None:
    house = await open_house(max_plies_per_day=1)
    bots = [await house.bot(name, games=["tic_tac_toe"]) for name in ("alice", "bob")]
    terms = Terms(get_game("tic_tac_toe"), TimeControl.parse("total:60"), True)
    await begin_round_robin(house.hub.competitions, "Cup", terms, By("olga", "a test"))

    async def play(client: Any) -> None:
        await client.play(await client.start())

    await asyncio.gather(*map(play, bots))
    assert isinstance(await bots[0].seek("pig"), Ok)


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


async def test_withdrawn_mirrored_seek_leaves_all_places_to_other_seeks(house: Any) -> None:
    one = await house.bot("alice", max_matches=3)
    mirrored = await one.seek("tic_tac_toe", mirrored=True)
    await one.seek("pig", count=3)
    assert house.hub.lobby._room("alice/bot") == 1
    await one.ask(Unseek, mirrored.seek)
    for name in ("bob", "carol", "dave"):
        other = await house.bot(name, max_matches=1)
        await other.seek("pig")
        await other.next(MatchMessage)
    assert len(house.hub.directory.live) == 3


async def test_fulfilled_mirrored_seek_leaves_all_places_to_other_seeks(house: Any) -> None:
    one, two = await house.bot("alice", max_matches=3), await house.bot("bob", max_matches=2)
    for each in (one, two):
        await each.seek("tic_tac_toe", mirrored=True, count=2)
        if each is one:
            await each.seek("pig")
    for _ in range(2):
        await two.next(MatchMessage)
    three = await house.bot("carol")
    await three.seek("pig")
    assert (await three.next(MatchMessage)).snapshot.game == "pig"
    assert len(house.hub.directory.live) == 3


@pytest.mark.parametrize("full", ["challenger", "opponent"])
async def test_mirrored_challenge_begins_no_more_matches_than_each_side_takes(
    house: Any, full: str
) -> None:
    one, two, three = [
        await house.bot(name, games=["pig"], max_matches=2) for name in ("alice", "bob", "carol")
    ]
    made = await one.ask(Challenge, "bob/bot", "pig", "move:5", mirrored=True)
    busy = one if full == "challenger" else two
    for each in (busy, three):
        await each.seek("pacman(ghosts=random,steps=1)")
        await each.start()
    refused = await two.ask(Answer, made.challenge, True)
    expected = {
        "challenger": ("challenge/offline", "alice/bot plays too many matches now"),
        "opponent": ("seek/limit", "begins 2 of your matches, and you play 1 of 2"),
    }
    code, words = expected[full]
    assert refused.code == code
    assert words in refused.message
    assert {len(each.matches) for each in house.hub.directory.presences.values()} <= {0, 1}


async def test_challenge_is_accepted_by_nobody_who_has_no_place_left(house: Any) -> None:
    one, two = [await house.bot(name, games=["pig"], max_matches=1) for name in ("alice", "bob")]
    made = await one.ask(Challenge, "bob/bot", "pig", "move:5")
    await two.seek("pacman(ghosts=random,steps=1)")
    start = await two.start()
    refused = await two.ask(Answer, made.challenge, True)
    assert refused.code == "seek/limit"
    assert len(house.hub.directory.live) == 1
    await two.play(start, 1)
    assert isinstance(await two.ask(Answer, made.challenge, True), Ok)


async def test_bot_whose_forfeit_is_counted_is_told_to_answer_again(house: Any) -> None:
    one, two = [await house.bot(name, games=["pig"]) for name in ("alice", "bob")]
    made = await one.ask(Challenge, "bob/bot", "pig", "move:5")
    directory = house.hub.directory
    [bob] = [each for each in directory.participants.values() if each.presence.name == "bob/bot"]
    directory.update(bob, under_review=1)
    refused = await two.ask(Answer, made.challenge, True)
    assert (refused.code, "forfeit is being counted" in refused.message) == ("seek/limit", True)
    directory.update(bob, under_review=0)
    assert isinstance(await two.ask(Answer, made.challenge, True), Ok)


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


async def test_challenge_demands_a_level_of_help_of_the_opponent(house: Any) -> None:
    one = await house.bot("alice")
    await house.bot("bob", games=["pig"], version="qwen3, help: rules")
    await house.bot("carol", games=["pig"])
    for opponent, level, fits in (
        ("bob/bot", "rules", True),
        ("bob/bot", "position", False),
        ("carol/bot", "position", False),
    ):
        answer = await one.ask(Challenge, opponent, "pig", "move:5", help=level)
        assert isinstance(answer, Ok) == fits, answer
        if not fits:
            assert (answer.code, answer.fatal) == ("help/required", False)
            assert f"connect it with help={level}" in answer.message


async def test_seek_with_a_level_of_help_fits_only_seeks_with_the_same_one(house: Any) -> None:
    named = {
        name: await house.bot(name, version=version)
        for name, version in (
            ("alice", "help: position"),
            ("bob", "help: position"),
            ("carol", "help: rules"),
            ("dora", ""),
        )
    }
    refused = await named["carol"].seek("pig", help="position")
    assert refused.code == "help/required"
    for name in ("carol", "dora"):  # they meet each other
        await named[name].seek("pig")
    await named["alice"].seek("pig", help="position")
    assert {each.player for each in (await named["dora"].start()).players} == {"carol", "dora"}
    assert house.hub.lobby.open_seeks() == [], "who has no level cannot join it"
    await named["bob"].seek("pig", help="position")
    assert {each.player for each in (await named["bob"].start()).players} == {"alice", "bob"}


async def test_a_game_of_one_seat_begins_at_once(house: Any) -> None:
    client = await house.bot("alice")
    await client.seek("pacman(ghosts=random,steps=2)", rated=True)
    start = await client.start()
    assert (len(start.players), start.seat) == (1, 0)
    await client.play(start, 1)
    assert house.hub.lobby.open_seeks() == []
    (row,) = await house.hub.store.read(
        match_lists.list_matches, match_lists.MatchFilter(status="finished")
    )
    assert (row.termination, len(row.returns), row.rated) == ("normal", 1, True)


async def test_a_standing_seek_plays_alone_again_and_again_until_it_is_withdrawn(
    house: Any,
) -> None:
    client = await house.bot("alice", max_matches=1)
    made = await client.seek("pacman(ghosts=random,steps=1)", count=0)
    seen = set()
    for _ in range(3):
        start = await client.start()
        assert len(house.hub.directory.live) == 1  # no more than there is room for
        seen.add(start.match)
        if len(seen) == 3:
            await client.ask(Unseek, made.seek)
        await client.play(start, 1)
    assert len(seen) == 3
    assert (await client.ask(Unseek, made.seek)).code == "seek/unknown"


async def test_three_meet_by_a_challenge_that_both_others_accept(house: Any) -> None:
    one, two, three = [await house.bot(name, games=["pig"]) for name in ("alice", "bob", "carol")]
    game = "pig(seats=3,target=2)"
    made = await one.ask(Challenge, "carol/bot", game, "move:5", seat=1, others=["bob/bot"])
    asked = {each: await each.next(Challenged) for each in (two, three)}
    assert (asked[three].seat, asked[three].others) == (2, ["bob/bot"])
    assert (asked[two].seat, asked[two].others) == (0, ["carol/bot"])
    assert isinstance(await two.ask(Answer, made.challenge, True), Ok)
    assert isinstance(await two.ask(Answer, made.challenge, True), Ok)  # as often as one likes
    assert not house.hub.directory.live
    assert isinstance(await three.ask(Answer, made.challenge, True), Ok)
    for each, seat in ((one, 1), (two, 0), (three, 2)):
        assert (await each.next(ChallengeClosed)).reason == "accepted"
        found = (await each.next(MatchMessage)).snapshot
        assert (found.seat, [info.player for info in found.players]) == (
            seat,
            ["bob", "alice", "carol"],
        )


async def test_one_of_three_who_declines_or_leaves_ends_the_challenge_for_all(house: Any) -> None:
    one, two, three = [await house.bot(name, games=["pig"]) for name in ("alice", "bob", "carol")]
    for answer in ("declined", "withdrawn"):
        made = await one.ask(Challenge, "bob/bot", "pig(seats=3)", "move:5", others=["carol/bot"])
        for each in (two, three):
            await each.next(Challenged)
        await two.ask(Answer, made.challenge, True)
        if answer == "declined":
            await three.ask(Answer, made.challenge, False, "not now")
        else:
            await three.close()
        for each in (one, two):
            assert (await each.next(ChallengeClosed)).reason == answer
    assert not house.hub.directory.live


async def test_who_accepted_and_plays_something_else_meanwhile_is_waited_for(house: Any) -> None:
    one, two, three = [
        await house.bot(name, games=["pig"], max_matches=1) for name in ("alice", "bob", "carol")
    ]
    made = await one.ask(Challenge, "bob/bot", "pig(seats=3)", "move:5", others=["carol/bot"])
    await two.ask(Answer, made.challenge, True)
    await two.seek("pacman(ghosts=random,steps=1)")
    start = await two.start()
    refused = await three.ask(Answer, made.challenge, True)
    assert (refused.code, "bob/bot plays too many" in refused.message) == (
        "challenge/offline",
        True,
    )
    await two.play(start, 1)
    assert isinstance(await three.ask(Answer, made.challenge, True), Ok)
    assert len((await one.next(MatchMessage)).snapshot.players) == 3


async def test_a_mirrored_challenge_of_three_plays_every_order(house: Any) -> None:
    one, two, three = [await house.bot(name, games=["pig"]) for name in ("alice", "bob", "carol")]
    made = await one.ask(
        *(Challenge, "bob/bot", "pig(seats=3)", "move:5"), mirrored=True, others=["carol/bot"]
    )
    for each in (two, three):
        await each.ask(Answer, made.challenge, True)
    orders = {
        tuple(holder.player for holder in live.seats) for live in house.hub.directory.live.values()
    }
    assert orders == {
        ("alice", "bob", "carol"),
        ("carol", "alice", "bob"),
        ("bob", "carol", "alice"),
    }


@pytest.mark.parametrize(
    ("game", "opponent", "others", "fields", "code", "word"),
    [
        ("pig(seats=3)", "bob/bot", [], {}, "game/unfit", "names 2"),
        ("pig", "bob/bot", ["carol/bot"], {}, "game/unfit", "names 1"),
        ("pacman(ghosts=random)", "bob/bot", [], {}, "game/unfit", "played alone"),
        ("pig(seats=3)", "bob/bot", ["Bob/bot"], {}, "challenge/self", "twice"),
        ("pig(seats=3)", "bob/bot", ["alice/bot"], {}, "challenge/self", "itself"),
        ("pig(seats=3)", "bob/bot", ["bob/two"], {"rated": True}, "challenge/self", "one player"),
        ("pig(seats=3)", "bob/bot", ["carol/bott"], {}, "challenge/offline", "carol/bot?"),
        ("pig(seats=3)", "bob/bot", ["carol/bot"], {"seat": 3}, "protocol/bad_field", "0 to 2"),
    ],
)
async def test_challenges_of_several_that_cannot_be(
    house: Any,
    game: str,
    opponent: str,
    others: list[str],
    fields: dict[str, Any],
    code: str,
    word: str,
) -> None:
    one = await house.bot("alice", games=["pig"])
    for name, bot in (("bob", "bot"), ("bob", "two"), ("carol", "bot")):
        await house.bot(name, bot, games=["pig"])
    answer = await one.ask(Challenge, opponent, game, "move:5", others=others, **fields)
    assert answer.code == code, answer
    assert word in answer.message


async def test_nobody_is_pestered_with_challenges_that_are_withdrawn_again(
    open_house: OpenHouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lobby, "CHALLENGES", (10, 0.001))  # none comes back during the test
    house = await open_house()
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
    monkeypatch.setattr(lobby, "PAIRING_SECONDS", PATIENCE)  # all seeks gather for the same round
    clients = [await house.bot(f"p{number}") for number in range(10)]
    for client in clients:
        await client.seek("pig", count=1)
    rounds = []
    pair = Matchmaker.pair

    def counted(*args: Any) -> Any:
        rounds.append(found := pair(*args))
        return found

    monkeypatch.setattr(Matchmaker, "pair", counted)
    house.hub.lobby._pair()
    begun = {(await client.next(MatchMessage)).snapshot.match for client in clients}
    assert len(begun) == 5
    assert [len(found) for found in rounds] == [2, 2, 1]
