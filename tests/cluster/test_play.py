"""Matches, logins, seeks and pages on several servers, each with sockets of its own."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx
import pytest
from tests.harness.patience import PATIENCE
from tests.harness.server import BotClient, Server
from tests.harness.small_cluster import SmallCluster, cluster_of, member_of

from plyhouse.clients.builtin_bots.launcher import StartedBots
from plyhouse.games.registry import get_game
from plyhouse.protocol.codec import JSON, MSGPACK
from plyhouse.protocol.messages import (
    Accepted,
    Act,
    Answer,
    Challenge,
    ChallengeClosed,
    Challenged,
    Error,
    Finished,
    MatchMessage,
    MatchSnapshot,
    Ok,
    Turn,
    Unwatch,
    Update,
    Watch,
    Welcome,
)
from plyhouse.server.cluster import member_messages
from plyhouse.server.cluster.nats_server import LocalNats
from plyhouse.server.cluster.remote_matches import RemoteMatch
from plyhouse.server.results.record import stored_record
from plyhouse.server.results.verify import verify
from plyhouse.storage import match_reads, members

pytestmark = [pytest.mark.postgresql]


async def seated(
    places: list[Server], game: str, **seek: Any
) -> tuple[list[BotClient], list[MatchSnapshot]]:
    """Bots on these servers in a running match, in the order of their seats."""
    bots = [await place.bot(f"player{n}", "bot") for n, place in enumerate(places)]
    for bot in bots:
        assert isinstance(await bot.seek(game, count=1, **seek), Ok)
    starts = list(await asyncio.gather(*(bot.start() for bot in bots)))
    both = sorted(zip(bots, starts, strict=True), key=lambda each: each[1].seat or 0)
    return [bot for bot, _ in both], [start for _, start in both]


def _port(bot: BotClient) -> int:
    """Return the port of the server that a bot is connected to."""
    port: int = bot.wire.remote_address[1]  # type: ignore[union-attr]
    return port


async def turn_of(bots: list[BotClient], ply: int) -> tuple[BotClient, Turn]:
    bot = bots[ply % 2]
    return bot, await bot.next(Turn, ply=ply)


@pytest.mark.parametrize("game", ["connect_four", "pig", "leduc_poker"])
async def test_match_between_sockets_of_two_servers_is_played_and_verified(
    cluster: SmallCluster, game: str
) -> None:
    first, second, third = cluster.servers
    bots, starts = await seated([second, third], game)
    ends = await asyncio.gather(
        *(bot.play(start, n) for n, (bot, start) in enumerate(zip(bots, starts, strict=True)))
    )
    assert [end.outcome.termination for end in ends] == ["normal", "normal"]
    stored = await first.hub.store.read(match_reads.stored_match, starts[0].match)
    assert verify(stored_record(stored, get_game(game))).ok
    for server in cluster.servers:
        async with asyncio.timeout(PATIENCE):
            while server.hub.directory.live:  # noqa: ASYNC110 - messages between servers are late
                await asyncio.sleep(0.02)
        matches = [each.matches for each in server.hub.directory.presences.values()]
        assert not any(matches)


async def test_match_runs_where_its_first_seat_is_connected(cluster: SmallCluster) -> None:
    _, second, third = cluster.servers
    bots, starts = await seated([second, third], "connect_four")
    first_seat = next(
        server
        for server in (second, third)
        if any(
            each.matches.get(starts[0].match) == 0
            for each in (p.presence for p in server.hub.seated.values())
        )
    )
    assert starts[0].match in first_seat.hub.directory.own
    assert len(bots) == 2


@pytest.mark.parametrize("to", [0, 2], ids=["leader", "opponent"])
async def test_bot_that_moves_to_another_server_plays_on(cluster: SmallCluster, to: int) -> None:
    first, second, third = cluster.servers
    bots, starts = await seated([second, third], "connect_four")
    for ply in range(4):
        bot, _ = await turn_of(bots, ply)
        assert isinstance(await bot.ask(Act, starts[0].match, ply, "4"), Accepted)
    key = bots[0].session
    here = _port(bots[0])
    target = first if to == 0 else third if here == second.server.port else second
    await bots[0].close()
    moved = await target.client()
    name = starts[0].players[0].player
    welcome = await moved.hello(await second.token(name), "bot", session=key)
    assert isinstance(welcome, Welcome)
    assert [(each.match, each.ply) for each in welcome.matches] == [(starts[0].match, 4)]
    bots[0] = moved
    assert isinstance(await moved.ask(Act, starts[0].match, 4, "1"), Accepted)
    bot, turn = await turn_of(bots, 5)
    assert turn.ply == 5
    assert bot is bots[1]


async def test_second_program_of_a_bot_is_refused_on_any_server(cluster: SmallCluster) -> None:
    _, second, third = cluster.servers
    await second.bot("alice", "one")
    token = await second.token("alice")
    other = await third.client()
    answer = await other.hello(token, "one")
    assert isinstance(answer, Error)
    assert answer.code == "auth/already_connected"
    again = await third.client()
    assert isinstance(await again.hello(token, "one", takeover=True), Welcome)


async def test_spectator_on_a_third_server_sees_every_ply(cluster: SmallCluster) -> None:
    first, second, third = cluster.servers
    bots, starts = await seated([second, third], "tic_tac_toe")
    viewer = await first.client()
    assert isinstance(await viewer.hello("", ""), Welcome)
    shown = await viewer.ask(Watch, starts[0].match)
    assert isinstance(shown, MatchMessage)
    assert shown.snapshot.seat is None
    far = await (third if starts[0].match in second.hub.directory.own else second).client()
    assert isinstance(await far.hello("", ""), Welcome)
    assert isinstance(await far.ask(Watch, starts[0].match), MatchMessage)
    await asyncio.gather(*(b.play(s) for b, s in zip(bots, starts, strict=True)))
    for each in (viewer, far):
        assert (await each.next(Finished)).outcome.termination == "normal"
        assert any(isinstance(message, Update) for message in each.inbox)


async def test_spectators_on_one_server_cost_the_owner_one_message_for_each_ply(
    cluster: SmallCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With one for each, 500 spectators of large boards filled the channel to their server."""
    first, second, _ = cluster.servers
    board, sent = member_of(second.hub).board, []
    post = board.post

    def posting(epoch: int, message: member_messages.MemberMessage) -> None:
        sent.append(message)
        post(epoch, message)

    monkeypatch.setattr(board, "post", posting)
    bots, starts = await seated([second, second], "tic_tac_toe")
    viewers = [await first.client(codec) for codec in (MSGPACK, MSGPACK, JSON)]
    for each in viewers:
        assert isinstance(await each.hello("", ""), Welcome)
        assert isinstance(await each.ask(Watch, starts[0].match), MatchMessage)
    await asyncio.gather(*(b.play(s) for b, s in zip(bots, starts, strict=True)))
    plies = [
        each.message.ply
        for each in sent
        if isinstance(each, member_messages.ToLines) and isinstance(each.message, Update)
    ]
    assert plies == [*range(1, len(plies) + 1)]
    for each in viewers:
        await each.next(Finished)
        assert [one.ply for one in each.inbox if isinstance(one, Update)] == plies


async def test_challenge_reaches_a_bot_on_another_server(cluster: SmallCluster) -> None:
    _, second, third = cluster.servers
    one = await second.bot("alice", "one")
    two = await third.bot("bob", "two", games=["pig"])
    asked = await one.ask(Challenge, "bob/two", "pig", "total:60")
    assert isinstance(asked, Ok), asked
    got = await two.next(Challenged)
    assert isinstance(await two.ask(Answer, got.challenge, True), Ok)
    assert (await one.next(ChallengeClosed)).reason == "accepted"
    starts = await asyncio.gather(one.start(), two.start())
    assert starts[0].match == starts[1].match


async def test_stopped_owner_hands_its_matches_over_and_charges_nobody(
    cluster: SmallCluster,
) -> None:
    _, second, third = cluster.servers
    bots, starts = await seated([second, third], "connect_four")
    match = starts[0].match
    owner = next(each for each in cluster.servers if match in each.hub.directory.own)
    for ply in range(3):
        bot, _ = await turn_of(bots, ply)
        accepted = await bot.ask(Act, match, ply, "4")
        assert isinstance(accepted, Accepted)
    stayed = next(each for each in (second, third) if each is not owner)
    here = [bot for bot in bots if _port(bot) == stayed.server.port]
    gone = next(bot for bot in bots if bot not in here)
    await cluster.stop(owner)
    back = await cluster.servers[0].client()
    seat = bots.index(gone)
    name = starts[0].players[seat].player
    token = await stayed.hub.store.add_token(name, ("play",))
    welcome = await back.hello(token, "bot", session=gone.session)
    assert isinstance(welcome, Welcome), welcome
    assert [each.ply for each in welcome.matches] == [3]
    bots[seat] = back
    live = next(
        each.hub.directory.own[match] for each in cluster.servers if match in each.hub.directory.own
    )
    for ply in range(3, 5):
        answer = await bots[ply % 2].ask(Act, match, ply, "1")
        assert isinstance(answer, Accepted), answer
        assert answer.ledger is not None
        assert answer.ledger.charged_ms < 5_000
    assert live.match.ply == 5


async def test_bot_that_is_back_before_its_match_waits_for_it(
    cluster: SmallCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A new owner in the database may need seconds to restore a match."""
    first, second, third = cluster.servers
    bots, starts = await seated([second, third], "connect_four")
    match = starts[0].match
    owner = next(each for each in cluster.servers if match in each.hub.directory.own)
    left = [each for each in cluster.servers if each is not owner]
    asked, release = asyncio.Event(), asyncio.Event()
    for server in left:
        runner = server.hub.live_matches

        async def stored(pairings: Any = None, read: Any = runner.stored_matches) -> Any:
            asked.set()
            await release.wait()
            return await read(pairings)

        monkeypatch.setattr(runner, "stored_matches", stored)
    seat = next(n for n, bot in enumerate(bots) if owner.server.port == _port(bot))
    token = await first.hub.store.add_token(starts[0].players[seat].player, ("play",))
    await cluster.stop(owner)
    await asked.wait()
    logins = []
    for server in left:  # one of them is the new owner
        back = await server.client()
        hello = back.hello(token, "bot", session=bots[seat].session, takeover=True)
        logins.append(asyncio.create_task(hello))
        await asyncio.sleep(1)  # another server answers at once if it does not wait
    release.set()
    welcome = await logins[-1]
    assert isinstance(welcome, Welcome), welcome
    assert [each.match for each in welcome.matches] == [match]
    live = next(each.hub.directory.own[match] for each in left if match in each.hub.directory.own)
    assert seat not in live.match.attendance.away


async def test_leader_that_followed_a_match_lets_its_other_bot_in(
    cluster: SmallCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It knew the match because of the opponent, before it began to lead."""
    first, second, third = cluster.servers
    bots, starts = await seated([second, third], "connect_four")
    match = starts[0].match
    owner = second if match in second.hub.directory.own else third
    follower = third if owner is second else second
    seat = next(n for n, bot in enumerate(bots) if owner.server.port == _port(bot))
    board, look = member_of(follower.hub).board, cluster_of(owner.hub)._look

    async def wait_to_look() -> None:
        if board.leading:  # so that the follower claims the role
            await look()

    monkeypatch.setattr(cluster_of(owner.hub), "_look", wait_to_look)
    await cluster.stop(first)
    await bots[seat].close()
    back = await follower.client()
    token = await owner.hub.store.add_token(starts[0].players[seat].player, ("play",))
    welcome = await back.hello(token, "bot", session=bots[seat].session)
    assert isinstance(welcome, Welcome), welcome
    assert [each.match for each in welcome.matches] == [match]


@pytest.mark.parametrize("to", ["owner", "another"])
async def test_bot_is_not_charged_for_the_silence_of_its_server(
    cluster: SmallCluster, monkeypatch: pytest.MonkeyPatch, to: str
) -> None:
    """Its server has stopped without a word, which the others do not know yet."""
    first, second, third = cluster.servers
    bots, starts = await seated([second, third], "connect_four", time_control="total:60")
    match = starts[0].match
    owner = second if match in second.hub.directory.own else third
    gateway = third if owner is second else second
    seat = next(n for n, bot in enumerate(bots) if gateway.server.port == _port(bot))
    for ply in range(seat):
        assert isinstance(await (await turn_of(bots, ply))[0].ask(Act, match, ply, "4"), Accepted)
    bot, turn = await turn_of(bots, seat)
    live = owner.hub.directory.own[match]
    async with asyncio.timeout(PATIENCE):
        while live.match.clock.running is None:  # noqa: ASYNC110 - another server reports it
            await asyncio.sleep(0.01)
    monkeypatch.setattr(member_of(owner.hub).board, "silence", lambda _: 3_600 * 10**9)
    # A silent server does not report either that its connection was replaced.
    member_of(owner.hub).board.handle(member_messages.Away, lambda *_: None)
    target = owner if to == "owner" else first
    await asyncio.sleep(1.2)  # longer than a login here takes, which is given back anyway
    back = await target.client()
    token = await first.hub.store.add_token(starts[0].players[seat].player, ("play",))
    assert isinstance(await back.hello(token, "bot", session=bot.session), Welcome)
    answer = await back.ask(Act, match, turn.ply, "1")
    assert isinstance(answer, Accepted), answer
    assert answer.ledger is not None
    assert answer.ledger.stall_ms > 1_000


class TwoOwners:
    """A bot to move in a match on the second server, whose other matches have lost the third."""

    def __init__(self, cluster: SmallCluster, monkeypatch: pytest.MonkeyPatch) -> None:
        self.cluster = cluster
        self.lost: set[str] = set()
        """Its matches on the server that stops."""
        self._monkeypatch = monkeypatch
        self._release = asyncio.Event()

    async def begin(self) -> None:
        """Play until the bot is to move, and stop the third server."""
        first, second, third = self.cluster.servers
        mine, theirs = await third.bot("ada", "bot"), await second.bot("bob", "bot")
        ours: MatchSnapshot | None = None
        while ours is None or not self.lost:
            for bot in (mine, theirs):
                assert isinstance(await bot.seek("connect_four", count=1), Ok)
            start, _ = await asyncio.gather(mine.start(), theirs.start())
            if start.match in third.hub.directory.own:
                self.lost.add(start.match)
            else:
                ours = start
        self.match, self.key = ours.match, mine.session
        self.token = await first.hub.store.add_token("ada", ("play",))
        asked = asyncio.Event()
        for server in (first, second):

            async def stored(
                pairings: Any = None, read: Any = server.hub.live_matches.stored_matches
            ) -> Any:
                asked.set()
                await self._release.wait()
                return await read(pairings)

            self._monkeypatch.setattr(server.hub.live_matches, "stored_matches", stored)
        # The bot is charged for what lies between its turn and the stop, so nothing may.
        movers = [mine, theirs] if ours.seat == 0 else [theirs]
        for ply, bot in enumerate(movers):
            await bot.next(Turn, match=self.match, ply=ply)
            assert isinstance(await bot.ask(Act, self.match, ply, "4"), Accepted)
        self.ply = len(movers)
        await mine.next(Turn, match=self.match, ply=self.ply)
        await self.cluster.stop(third)
        await asked.wait()

    async def log_in(self, server: Server) -> tuple[BotClient, asyncio.Task[Any]]:
        """Begin a login of the bot, which waits for the lost matches when this returns."""
        back, before = await server.client(), set(server.hub.seated)
        hello = asyncio.create_task(back.hello(self.token, "bot", session=self.key, takeover=True))
        # Until the server has let it in, a login that comes later may overtake it.
        async with asyncio.timeout(PATIENCE):
            while not set(server.hub.seated) - before:  # noqa: ASYNC110 - logins set no event
                await asyncio.sleep(0.02)
        return back, hello

    def restore(self) -> None:
        """Let the lost matches be taken over."""
        self._release.set()


@pytest.mark.parametrize("to", ["owner", "another"])
async def test_bot_is_not_charged_while_another_of_its_matches_is_taken_over(
    cluster: SmallCluster, monkeypatch: pytest.MonkeyPatch, to: str
) -> None:
    """Its welcome waits for all matches, also for those whose server has stopped."""
    first, second, _ = cluster.servers
    bot = TwoOwners(cluster, monkeypatch)
    await bot.begin()
    back, hello = await bot.log_in(second if to == "owner" else first)
    await asyncio.sleep(3)  # longer than any login is given back
    bot.restore()
    welcome = await hello
    assert isinstance(welcome, Welcome), welcome
    assert {each.match for each in welcome.matches} == {bot.match, *bot.lost}
    answer = await back.ask(Act, bot.match, bot.ply, "1")
    assert isinstance(answer, Accepted), answer
    assert answer.ledger is not None
    assert answer.ledger.charged_ms < 1_500


async def test_bot_that_logs_in_many_times_is_given_the_time_back_once(
    cluster: SmallCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only the last of its logins waits for matches that are taken over."""
    second = cluster.servers[1]
    bot = TwoOwners(cluster, monkeypatch)
    await bot.begin()
    logins = [await bot.log_in(second) for _ in range(8)]
    await asyncio.sleep(2)  # so that each login could be given back more than `KEPT_SECONDS`
    bot.restore()
    back, hello = logins[-1]
    assert isinstance(await hello, Welcome)
    watchdog = second.hub.watchdog
    begun, stood = second.hub.now(), watchdog.total_ns
    # The bot thinks longer than a login is given back; standstills of the server do not count.
    while second.hub.now() - begun - (watchdog.total_ns - stood) < 3 * 10**9:  # noqa: ASYNC110
        await asyncio.sleep(0.1)
    answer = await back.ask(Act, bot.match, bot.ply, "1")
    assert isinstance(answer, Accepted), answer
    assert answer.ledger is not None
    assert answer.ledger.charged_ms > 1_000
    assert set(member_of(second.hub).board.sessions.values()) <= second.hub.sessions
    await asyncio.gather(*(each for _, each in logins), return_exceptions=True)


async def test_open_seek_survives_the_leader(cluster: SmallCluster) -> None:
    first, second, third = cluster.servers
    one = await second.bot("alice", "one")
    assert isinstance(await one.seek("pig", count=1), Ok)
    await cluster.stop(first)
    two = await third.bot("bob", "two")
    assert isinstance(await two.seek("pig", count=1), Ok)
    starts = await asyncio.gather(one.start(), two.start())
    assert starts[0].match == starts[1].match


async def test_new_leader_starts_the_built_in_bots_of_running_matches(
    database: str, nats: LocalNats
) -> None:
    made = SmallCluster(
        database,
        nats.url,
        builtin_bots=StartedBots,
        # A busy machine may need a minute to start a bot, which the second server does again.
        disconnect_grace=PATIENCE,
        ready_timeout=PATIENCE,
    )
    try:
        first, second = await made.add(), await made.add()
        assert first.hub.builtin_bots is not None
        opponent = await first.hub.builtin_bots.ready("easy")
        person = await second.bot("ada", "")
        assert isinstance(await person.ask(Challenge, opponent, "tic_tac_toe", "total:600"), Ok)
        start = await person.start()
        await made.stop(first)
        finished = await person.play(start)
        assert finished.outcome.termination == "normal"
    finally:
        await made.close()


async def test_every_server_answers_http_with_what_the_leader_knows(
    cluster: SmallCluster,
) -> None:
    _, second, third = cluster.servers
    _, starts = await seated([second, third], "connect_four")
    async with httpx.AsyncClient() as web:
        for server in cluster.servers:
            base = server.server.url
            shown = (await web.get(f"{base}/api/v1/matches/{starts[0].match}")).json()
            assert shown["snapshot"]["match"] == starts[0].match
            status = (await web.get(f"{base}/api/v1/status")).json()
            assert (status["bots"], status["matches"]) == (2, 1)
            assert (await web.get(f"{base}/healthz")).status_code == 200


async def test_forged_headers_of_the_cluster_are_ignored(cluster: SmallCluster) -> None:
    second = cluster.servers[1]
    forged = {"x-plyhouse-cluster": "guess", "x-plyhouse-client": "192.0.2.1"}
    async with httpx.AsyncClient(headers=forged) as web:
        answer = await web.get(f"{second.server.url}/api/v1/status")
    assert answer.status_code == 200
    assert answer.json()["bots"] == 0


async def test_matches_of_other_servers_count_against_the_room_of_a_bot(
    cluster: SmallCluster,
) -> None:
    first, second, third = cluster.servers
    await seated([second, third], "connect_four")
    here = first.hub.directory.presences.values()
    assert [each.max_matches - each.free for each in here] == [1, 1]
    assert all(isinstance(each, RemoteMatch) for each in first.hub.directory.live.values())


async def test_lost_connection_is_noted_in_all_matches_of_the_bot(cluster: SmallCluster) -> None:
    _, second, third = cluster.servers
    owner = await second.bot("alice", "bot", max_matches=2)
    other = await third.bot("bob", "bot", max_matches=2)
    for bot in (owner, other):
        assert isinstance(await bot.seek("connect_four", count=2), Ok)
    matches = [(await owner.start()).match, (await owner.start()).match]
    assert {(await other.start()).match, (await other.start()).match} == set(matches)
    here = [each.hub.directory.own for each in (second, third)]
    await other.close()
    async with asyncio.timeout(PATIENCE):
        while True:
            lives = [own[match] for own in here for match in matches if match in own]
            if len(lives) == 2 and all(live.match.attendance.away for live in lives):
                break
            await asyncio.sleep(0.02)


async def test_match_that_nobody_here_watches_any_more_is_forgotten(
    cluster: SmallCluster,
) -> None:
    _, second, third = cluster.servers
    _, starts = await seated([second, second], "tic_tac_toe")
    viewer = await third.client()
    assert isinstance(await viewer.hello("", ""), Welcome)
    assert isinstance(await viewer.ask(Watch, starts[0].match), MatchMessage)
    assert starts[0].match in third.hub.directory.live
    assert isinstance(await viewer.ask(Unwatch, starts[0].match), Ok)
    assert not third.hub.directory.live
    assert not third.hub.directory.presences


async def test_spectator_that_asks_while_a_match_ends_gets_its_end(
    cluster: SmallCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other server knows the end when the request comes."""
    _, second, third = cluster.servers
    bots, starts = await seated([second, second], "tic_tac_toe")
    places = members.places
    ended = asyncio.Event()
    read = third.hub.store.read

    async def read_then_wait(what: Any, *arguments: Any, **named: Any) -> Any:
        found = await read(what, *arguments, **named)
        if what is places:
            await ended.wait()
        return found

    monkeypatch.setattr(third.hub.store, "read", read_then_wait)
    viewer = await third.client()
    assert isinstance(await viewer.hello("", "", scenes=True), Welcome)
    asked = asyncio.create_task(viewer.ask(Watch, starts[0].match))
    await asyncio.gather(*(b.play(s) for b, s in zip(bots, starts, strict=True)))
    ended.set()
    shown = await asked
    assert isinstance(shown, MatchMessage), shown
    assert shown.snapshot.outcome is not None
    assert shown.snapshot.scene is not None
    async with asyncio.timeout(PATIENCE):
        while third.hub.directory.live:  # noqa: ASYNC110 - another server tells it
            await asyncio.sleep(0.01)
    second.hub.directory.recent.clear()
    again = await third.client()
    assert isinstance(await again.hello("", ""), Welcome)
    stored = await asyncio.wait_for(again.ask(Watch, starts[0].match), PATIENCE)
    assert isinstance(stored, MatchMessage), stored
    assert stored.snapshot.outcome == shown.snapshot.outcome


async def test_spectator_is_sent_away_if_the_owner_ends_a_match_and_stops_unheard(
    cluster: SmallCluster,
) -> None:
    """Its page learns then that the match is over, and shows the record."""
    first, second, third = cluster.servers
    bots, starts = await seated([second, second], "tic_tac_toe")
    viewer = await third.client()
    assert isinstance(await viewer.hello("", ""), Welcome)
    assert isinstance(await viewer.ask(Watch, starts[0].match), MatchMessage)
    for kind in (member_messages.ToLine, member_messages.Gone):
        member_of(third.hub).board.handle(kind, lambda *_: None)
    await asyncio.gather(*(b.play(s) for b, s in zip(bots, starts, strict=True)))
    await cluster.stop(second)
    async with asyncio.timeout(PATIENCE):
        await viewer.until_closed()
    again = await first.client()
    assert isinstance(await again.hello("", ""), Welcome)
    answer = await again.ask(Watch, starts[0].match)
    assert isinstance(answer, MatchMessage)
    assert answer.snapshot.outcome is not None


async def test_pairing_of_two_matches_begins_again_once(
    cluster: SmallCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its server stopped before it had stored the pairing."""
    first, second, third = cluster.servers
    for server in (second, third):
        member_of(server.hub).board.handle(member_messages.Begin, lambda *_: None)
    for number, place in enumerate((second, third)):
        bot = await place.bot(f"player{number}", "bot", max_matches=2)
        assert isinstance(await bot.seek("tic_tac_toe", count=1, mirrored=True), Ok)
    live = first.hub.directory.live
    async with asyncio.timeout(PATIENCE):
        while len(live) < 2:  # noqa: ASYNC110 - another server asks for them
            await asyncio.sleep(0.01)
    (owner,) = {each.owner for each in live.values() if isinstance(each, RemoteMatch)}
    begun = []
    start = first.hub.live_matches.start

    def begin(plan: Any, *rest: Any) -> Any:
        begun.append(plan.id)
        return start(plan, *rest)

    monkeypatch.setattr(first.hub.live_matches, "start", begin)
    await cluster.stop(second if second.hub.store.epoch == owner else third)
    async with asyncio.timeout(PATIENCE):
        while not first.hub.directory.own:  # noqa: ASYNC110 - it looks by itself
            await asyncio.sleep(0.01)
    assert len(begun) == 1
    assert set(first.hub.directory.own) == set(live)
    assert len(live) == 2


async def test_match_whose_end_is_reported_during_a_look_ends_once(
    cluster: SmallCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second, _ = cluster.servers
    hub = first.hub
    member_of(hub).board.handle(member_messages.Over, lambda *_: None)
    bots, starts = await seated([second, second], "tic_tac_toe")
    await asyncio.gather(*(b.play(s) for b, s in zip(bots, starts, strict=True)))
    match = hub.directory.live[starts[0].match]
    assert isinstance(match, RemoteMatch)
    sockets, read, over = member_of(hub).sockets, hub.store.read, []

    async def read_while_the_report_comes(what: Any, *arguments: Any) -> Any:
        found = await read(what, *arguments)
        if what is members.places:
            sockets.forget_match(match)
        return found

    async with cluster_of(hub)._looking:
        monkeypatch.setattr(hub.store, "read", read_while_the_report_comes)
        monkeypatch.setattr(member_of(hub).board, "peers", frozenset({hub.store.epoch}))
        monkeypatch.setattr(cluster_of(hub), "_over", lambda *ended: over.append(ended))
        await cluster_of(hub)._look_for_matches()
    assert match.over
    assert over == []


async def test_request_to_watch_is_answered_although_its_server_stops(
    cluster: SmallCluster,
) -> None:
    """The report of the end comes, but no answer to the request."""
    first, second, _ = cluster.servers
    member_of(second.hub).board.handle(member_messages.Watched, lambda *_: None)
    board, reports = member_of(first.hub).board, []
    report = board._handlers[member_messages.Over]
    board.handle(member_messages.Over, lambda *over: reports.append(over))
    bots, starts = await seated([second, second], "tic_tac_toe")
    viewer = await first.client()
    assert isinstance(await viewer.hello("", ""), Welcome)
    asked = asyncio.create_task(viewer.ask(Watch, starts[0].match))
    match = first.hub.directory.live[starts[0].match]
    assert isinstance(match, RemoteMatch)
    async with asyncio.timeout(PATIENCE):
        while not match.spectators:  # noqa: ASYNC110 - it has to read the database
            await asyncio.sleep(0.01)
        await asyncio.gather(*(b.play(s) for b, s in zip(bots, starts, strict=True)))
        while not reports:  # noqa: ASYNC110 - another server tells it
            await asyncio.sleep(0.01)
    report(*reports[0])
    await cluster.stop(second)
    answer = await asked
    assert isinstance(answer, Error)
    assert answer.code == "match/unknown"
