"""Round robins that an organiser starts, and what the API shows of a server."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Any

import httpx
import pytest
from tests.harness.patience import PATIENCE
from tests.tournaments import begin_round_robin, results

from plyhouse.games.registry import get_game
from plyhouse.protocol.messages import Finished, MatchMessage, Ready, Resign, Seek, Turn
from plyhouse.server.accounts.registration import OWN_CHANGES
from plyhouse.server.competition_rules.file_reader import InvalidCompetition
from plyhouse.server.competition_rules.file_template import round_robin_text
from plyhouse.server.match.terms import Terms
from plyhouse.server.match.time_control import TimeControl
from plyhouse.server.results.record import read_record, stored_record
from plyhouse.server.results.verify import verify
from plyhouse.storage import competition_sql, match_lists, match_reads
from plyhouse.storage.rows import By

OpenHouse = Callable[..., Awaitable[Any]]


@pytest.fixture
async def api(house: Any) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(base_url=house.server.url) as client:
        yield client


async def play_everything(client: Any, matches: int) -> None:
    for _ in range(matches):
        await client.play(await client.start(), 1)


async def organise(
    house: Any, api: httpx.AsyncClient, entries: Sequence[str] = ("*",), **terms: Any
) -> Any:
    """Open a round robin without students; return the answer, and the token of its organiser."""
    token = await house.token("olga", "organise")
    values: dict[str, Any] = {"game": "pig", "time_control": "total:60", "rounds": 1} | terms
    text = round_robin_text("Cup", rated=True, **({"mirrored": True} | values))
    headers = {"Authorization": f"Bearer {token}"}
    body = {"file": text, "entries": list(entries)}
    return await api.post("/api/v1/competitions", headers=headers, json=body)


async def waited_for(house: Any, made: Any) -> list[str]:
    """Return what the only game of a competition waits for."""
    view = await house.hub.competitions.view(made["competition"])
    return list(view.games[0].waiting_for)


async def played_out(house: Any, competition: str) -> Any:
    async with asyncio.timeout(PATIENCE):
        while True:
            view = await house.hub.tournaments.view(competition)
            if view.row.status == "finished":
                return view


async def test_round_robin_is_played_to_its_table(house: Any, api: httpx.AsyncClient) -> None:
    bots = [
        await house.bot(name, games=["kuhn_poker"], max_matches=2)
        for name in ("alice", "bob", "carol")
    ]
    answer = await organise(house, api, game="kuhn_poker")
    assert answer.status_code == 201, answer.text
    made = answer.json()
    here = f"/api/v1/competitions/{made['name']}"
    assert (await house.hub.tournaments.view(made["competition"])).planned == 6
    entered = (await api.get(f"{here}/board")).json()
    assert [each["entry"] for each in entered] == ["alice/bot", "bob/bot", "carol/bot"]
    await asyncio.gather(*(play_everything(bot, 4) for bot in bots))
    assert (await played_out(house, made["competition"])).finished == 6
    assert [each["matches"] for each in (await api.get(f"{here}/board")).json()] == [4, 4, 4]
    listed = (await api.get("/api/v1/competitions")).json()
    assert [each["name"] for each in listed] == ["Cup"]
    matches = (await api.get("/api/v1/matches", params={"competition": "Cup"})).json()
    assert len({each["pairing"] for each in matches}) == 3


async def test_final_with_a_date_waits_for_it(house: Any, api: httpx.AsyncClient) -> None:
    for name in ("alice", "bob"):
        await house.bot(name, games=["pig"])
    text = round_robin_text("Cup", "pig", "total:60", rounds=1, mirrored=False, rated=False)
    dated = f"{text}\n[dates]\nfinal = 2099-01-31T18:00:00+01:00\n"
    row = await house.hub.competitions.open(dated, BY, entries=["alice/bot", "bob/bot"])
    assert (row.status, row.games[0].tournament_id) == ("frozen", None)
    await house.hub.competitions.run(row.id, BY)
    assert (await house.hub.tournaments.view(row.id)).planned == 1


async def test_entries_are_named_without_students_only(house: Any) -> None:
    text = round_robin_text("Cup", "pig", "total:60", rounds=1, mirrored=False, rated=False)
    with pytest.raises(InvalidCompetition, match="write students = 0"):
        await house.hub.competitions.open(
            text.replace("students = 0", "students = 9"), BY, entries=["alice/bot", "bob/bot"]
        )


async def test_a_cheat_learns_nothing_from_the_twin_of_a_mirrored_pairing(house: Any) -> None:
    """Both matches of a pairing run at once: with shared deals a bot would read in the one which
    card its opponent holds in the other (once 104 of 104 in Kuhn poker)."""
    bots = [await house.bot(name, games=["kuhn_poker"], max_matches=40) for name in ("eve", "bob")]
    terms = Terms(get_game("kuhn_poker"), TimeControl.parse("total:60"), True, True)
    made = (
        await begin_round_robin(
            house.hub.competitions, "Cup", terms, By("olga", "a test"), rounds=20
        )
    ).id
    await asyncio.gather(*(play_everything(bot, 40) for bot in bots))
    await played_out(house, made)
    deals: dict[str, list[list[str]]] = {}
    for header in await house.hub.store.read(
        match_lists.list_matches, match_lists.MatchFilter(tournament_ids=(made,)), limit=100
    ):
        stored = await house.hub.store.read(match_reads.stored_match, header.id)
        record = stored_record(stored, terms.game)
        assert record.chance.stream == f"match:{record.match}"
        dealt = [event.text for event in record.events if event.kind == "chance"]
        deals.setdefault(record.pairing, []).append(dealt)
    assert len(deals) == 20
    # Eve's cards in seat 0 of one match are Bob's in seat 0 of the other.
    guessed = [one[:1] == two[:1] for one, two in deals.values()]
    assert sum(guessed) < 17, "three cards: right by chance a third of the time"


async def test_matches_share_their_chance_only_where_nobody_could_tell(house: Any) -> None:
    await house.bot("alice", games=["pig"])
    await house.bot("bob", games=["pig"])
    directory = house.hub.directory
    seated = [directory.find(name).bot_id for name in ("alice/bot", "bob/bot")]
    terms = Terms(get_game("pig"), TimeControl.parse("total:60"), False, True)
    with pytest.raises(ValueError, match="alice/bot could remember or tell"):
        house.hub.live_matches.begin(terms, [seated, seated[::-1]], seed=bytes(32))
    assert not directory.own


async def test_a_void_match_of_a_competition_is_played_again(house: Any) -> None:
    bots = [await house.bot(name, games=["pig"]) for name in ("alice", "bob")]
    terms = Terms(get_game("pig"), TimeControl.parse("total:60"), True, False)
    made = (await begin_round_robin(house.hub.competitions, "Cup", terms, By("olga", "a test"))).id
    for client in bots:
        await client.next(MatchMessage)
    (live,) = house.hub.directory.own.values()
    live.input(live.match.tick, live.match.deadline())  # neither is ready: nobody alone is to blame
    for client in bots:
        end = await client.next(Finished)
        assert end.outcome.termination == "aborted"
        client.inbox.clear()
    first, second = await asyncio.gather(*(bot.next(MatchMessage) for bot in bots))
    assert first.snapshot.pairing.endswith("~1")
    await asyncio.gather(
        *(
            bot.ask(Ready, shown.snapshot.match)
            for bot, shown in zip(bots, (first, second), strict=True)
        )
    )
    await bots[0].ask(Resign, first.snapshot.match)
    await bots[1].next(Finished, match=first.snapshot.match)
    view = await played_out(house, made)
    assert [line.games for line in await results(house.hub.store, made)] == [1, 1]
    assert (view.planned, view.created) == (2, 2)


async def test_what_is_void_again_and_again_ends_after_all(open_house: OpenHouse) -> None:
    house = await open_house(ready_timeout=0.1)
    bots = [await house.bot(name, games=["pig"]) for name in ("alice", "bob")]
    terms = Terms(get_game("pig"), TimeControl.parse("total:60"), True, False)
    made = (await begin_round_robin(house.hub.competitions, "Cup", terms, By("olga", "a test"))).id
    view = await played_out(house, made)
    assert view.created == 4
    assert [line.games for line in await results(house.hub.store, made)] == [0, 0]
    assert len(bots) == 2


async def test_planned_matches_are_the_whole_schedule_at_any_time(
    house: Any, api: httpx.AsyncClient
) -> None:
    bots = [await house.bot(name, games=["kuhn_poker"], max_matches=2) for name in ("alice", "bob")]
    game = Terms(get_game("kuhn_poker"), TimeControl.parse("total:60"), True, True)
    made = (
        await begin_round_robin(house.hub.competitions, "Cup", game, By("olga", "a test"), rounds=2)
    ).id
    seen = {(await house.hub.tournaments.view(made)).planned}

    async def watch() -> None:
        while (view := await house.hub.tournaments.view(made)).row.status != "finished":
            seen.add(view.planned)

    await asyncio.gather(watch(), *(play_everything(bot, 4) for bot in bots))
    seen.add((await house.hub.tournaments.view(made)).planned)
    assert seen == {4}


async def test_competition_waits_for_absent_bots_and_names_its_entries(
    house: Any, api: httpx.AsyncClient
) -> None:
    one = await house.bot("alice", games=["pig"])
    two = await house.bot("bob", games=["pig"])
    await two.close()
    answer = await organise(house, api, ["alice/bot", "bob/bot"], mirrored=False)
    made = answer.json()
    assert (await house.hub.tournaments.view(made["competition"])).created == 0
    assert await waited_for(house, made) == ["bob/bot is not connected."]
    back = await house.client()
    await back.hello(await house.token("bob"), "bot", games=["pig"])
    starts = await asyncio.gather(one.start(), back.start())
    assert starts[0].rated
    await one.ask(Resign, starts[0].match)
    await played_out(house, made["competition"])
    assert (await results(house.hub.store, made["competition"]))[0].player == "bob"


async def test_competition_says_which_bots_cannot_play_their_pairings(
    house: Any, api: httpx.AsyncClient
) -> None:
    await house.bot("alice", games=["pig"], max_matches=1)
    await house.bot("bob", games=["coin_guess"])
    made = (await organise(house, api, ["alice/bot", "bob/bot"])).json()
    first, second = sorted(await waited_for(house, made))
    assert first.startswith("alice/bot plays 1 match at a time, but the 2 of a mirrored pairing")
    assert "--workers 2" in first
    assert second.startswith("bob/bot is connected, but not for pig")


async def test_competition_says_which_bots_are_busy_elsewhere(
    house: Any, api: httpx.AsyncClient
) -> None:
    """A bot that is always in some other match would otherwise hold up a final unseen."""
    one = await house.bot("alice", games=["pig"], max_matches=2)
    other = await house.bot("carol", games=["pig"])
    await house.bot("bob", games=["pig"], max_matches=4)
    seek = {"time_control": "total:3600", "rated": False, "mirrored": False}
    await one.ask(Seek, "pig", **seek)
    await other.ask(Seek, "pig", **seek)
    match = (await asyncio.gather(one.start(), other.start()))[0].match
    made = (await organise(house, api, ["alice/bot", "bob/bot"])).json()
    assert await waited_for(house, made) == [
        "alice/bot is busy: it plays 1 other match, of 2 at a time, and the 2 of a mirrored "
        f"pairing are played together: {match}."
    ]
    await one.ask(Resign, match)
    await one.start()
    assert await waited_for(house, made) == [], "its own matches are not other ones"


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"entries": ["alice/nobody", "bob/bot"]}, "bots of alice: alice/bot"),
        ({"entries": ["zed/bot"]}, "no player 'zed'"),
        ({"entries": ["alice/bot"]}, "1 entries"),
        ({"entries": ["alice/bot", "alice/bot"]}, "listed twice"),
        ({"game": "pigg"}, "did you mean pig"),
        ({"time_control": "soon"}, "move:1"),
        ({"rounds": 0}, "rounds"),
    ],
)
async def test_impossible_competitions_say_why(
    house: Any, api: httpx.AsyncClient, change: dict[str, Any], word: str
) -> None:
    await house.bot("alice", games=["pig"])
    await house.bot("bob", games=["pig"])
    answer = await organise(house, api, **change)
    assert answer.status_code in (400, 404, 409)
    assert word in answer.text
    assert (await api.get("/api/v1/competitions")).json() == []


async def test_organising_needs_the_scope(house: Any, api: httpx.AsyncClient) -> None:
    body = {"file": "", "entries": ["*"]}
    cases = [
        ({}, 401, "auth/required"),
        ({"Authorization": "Bearer ply_wrong"}, 401, "auth/bad_token"),
        ({"Authorization": f"Bearer {await house.token('alice')}"}, 403, "auth/scope"),
    ]
    for headers, status, code in cases:
        answer = await api.post("/api/v1/competitions", headers=headers, json=body)
        assert (answer.status_code, answer.json()["code"]) == (status, code)


async def test_results_and_records_are_read_over_the_api(
    house: Any, api: httpx.AsyncClient
) -> None:
    one, two = await house.bot("alice"), await house.bot("bob")
    for client in (one, two):
        await client.seek("connect_four", rated=True)
    starts = await asyncio.gather(one.start(), two.start())
    await asyncio.gather(one.play(starts[0], 1), two.play(starts[1], 2))
    match = starts[0].match
    await house.hub.ratings.settle()
    record = await api.get(f"/api/v1/matches/{match}/record")
    assert verify(read_record(record.content)).ok
    shown = (await api.get(f"/api/v1/matches/{match}")).json()
    assert shown["status"] == "finished"
    assert shown["termination"] == "normal"
    board = (await api.get("/api/v1/leaderboards/connect_four")).json()
    assert board["game"] == "connect_four"
    assert [line["rank"] for line in board["standings"]] == [1, 2]
    assert board["standings"][0]["low"] < board["standings"][0]["rating"]
    player = (await api.get("/api/v1/players/alice")).json()
    assert player["online"] == ["alice/bot"]
    assert player["matches"][0]["match"] == match
    assert (await api.get("/api/v1/leaderboards")).json() == ["connect_four"]
    page = await api.get("/")
    assert "alice/bot" in page.text


async def test_running_match_with_hidden_information_shows_only_what_is_public(
    house: Any, api: httpx.AsyncClient
) -> None:
    (mover, other), (match, _) = await house.pair("kuhn_poker")
    await mover.next(Turn)
    closed = await api.get(f"/api/v1/matches/{match.match}/record")
    assert (closed.status_code, closed.json()["code"]) == (409, "match/not_over")
    shown = (await api.get(f"/api/v1/matches/{match.match}")).json()
    assert shown["status"] == "running"
    snapshot = shown["snapshot"]
    assert snapshot["seat"] is None
    assert all("action" not in event for event in snapshot["events"])
    await mover.ask(Resign, match.match)
    await other.next(Finished)
    opened = await api.get(f"/api/v1/matches/{match.match}/record")
    assert opened.json()["chance"]["seed"]


async def test_seed_stays_secret_until_the_whole_pairing_is_over(
    house: Any, api: httpx.AsyncClient
) -> None:
    one = await house.bot("alice", max_matches=4)
    two = await house.bot("bob", max_matches=4)
    for client in (one, two):
        await client.seek("pig", mirrored=True)
    starts = [await one.start(), await one.start()]
    for _ in range(2):
        await two.start()
    await one.ask(Resign, starts[0].match)
    await one.next(Finished)
    early = (await api.get(f"/api/v1/matches/{starts[0].match}/record")).json()
    assert early["chance"]["seed"] is None
    await one.ask(Resign, starts[1].match)
    await one.next(Finished)
    late = (await api.get(f"/api/v1/matches/{starts[0].match}/record")).json()
    assert late["chance"]["seed"]


@pytest.mark.parametrize(
    ("path", "status", "code"),
    [
        ("/api/v1/leaderboards/pigg", 404, "game/unknown"),
        ("/api/v1/matches/nosuch", 404, "storage/unknown"),
        ("/api/v1/matches/nosuch/record", 404, "storage/unknown"),
        ("/api/v1/matches?limit=0", 400, "http/400"),
        ("/api/v1/matches?status=odd", 404, "storage/unknown"),
        ("/api/v1/players/nobody", 404, "storage/unknown"),
        ("/api/v1/competitions/nosuch/board", 404, "storage/unknown"),
        ("/nothing", 404, "http/404"),
        ("/api/v1/leaderboards/pig?offset=99999999999999999999999", 400, "http/400"),
        ("/api/v1/matches/nosuch/replay?first=99999999999999999999999", 400, "http/400"),
    ],
)
async def test_errors_of_the_api_have_codes_and_sentences(
    api: httpx.AsyncClient, path: str, status: int, code: str
) -> None:
    answer = await api.get(path)
    body = answer.json()
    assert (answer.status_code, body["status"], body["code"]) == (status, status, code)
    assert answer.headers["content-type"] == "application/problem+json"
    assert body["detail"].endswith((".", "?"))


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        (b"", 400, "The request needs a body: a JSON object."),
        (b"{", 400, "The body could not be read: input data was truncated."),
        (
            b"{bad",
            400,
            "The body could not be read: JSON is malformed: object keys must be strings (byte 1).",
        ),
        (b"[]", 400, "The body is not as it should be: expected `object`, got `array`."),
        (b" " * 70_000, 413, "The body is too long: at most 65536 bytes are read."),
    ],
)
async def test_bodies_that_cannot_be_read_are_refused_in_a_sentence(
    api: httpx.AsyncClient, body: bytes, status: int, words: str
) -> None:
    answer = await api.post("/api/v1/players", content=body)
    assert (answer.status_code, answer.json()["detail"]) == (status, words)


async def test_a_method_that_a_path_does_not_have_is_refused_in_a_sentence(
    api: httpx.AsyncClient,
) -> None:
    answer = await api.delete("/api/v1/games")
    assert answer.status_code == 405
    assert answer.json()["detail"] == (
        "DELETE is not possible at /api/v1/games; see /api for what is."
    )


@pytest.mark.parametrize(
    "path", ["/", "/matches", "/matches/none", "/docs", "/api", "/api/v1/games", "/web/style.css"]
)
async def test_head_is_answered_like_get_without_a_body(api: httpx.AsyncClient, path: str) -> None:
    whole, head = await api.get(path), await api.head(path)
    assert head.content == b""
    assert head.status_code == whole.status_code
    for name in ("content-type", "content-length", "content-security-policy", "location"):
        assert head.headers.get(name) == whole.headers.get(name)


async def test_accounts_over_the_api_follow_the_registration(
    house: Any, api: httpx.AsyncClient, open_house: OpenHouse
) -> None:
    closed = await api.post("/api/v1/players", json={"player": "alice"})
    assert (closed.status_code, closed.json()["code"]) == (403, "auth/registration_closed")
    other = await open_house(registration="open")
    async with httpx.AsyncClient(base_url=other.server.url) as client:
        made = await client.post("/api/v1/players", json={"player": "alice"})
        assert made.status_code == 201
        assert (await other.hub.store.authenticate(made.json()["token"])).player == "alice"
        again = await client.post("/api/v1/players", json={"player": "alice"})
        assert (again.status_code, again.json()["code"]) == (409, "auth/name_taken")


async def test_description_of_the_api_needs_no_other_host(api: httpx.AsyncClient) -> None:
    schema = (await api.get("/api/openapi.json")).json()
    assert "/api/v1/leaderboards/{game}" in schema["paths"]
    for path in ("/api", "/"):
        page = await api.get(path)
        assert page.headers["content-type"].startswith("text/html")
        assert not re.search(r"<script(?! defer src=\"/web/)", page.text)
        assert not re.search(r'(?:src|href)="(?:https?:)?//', page.text)
    assert "GET /api/v1/matches" in (await api.get("/api")).text
    assert (await api.get("/docs")).headers["location"] == "/api"


async def test_health_and_games(house: Any, api: httpx.AsyncClient) -> None:
    await house.bot("alice")
    health = (await api.get("/api/v1/health")).json()
    assert health["status"] == "ok"
    assert (health["bots"], health["matches"]) == (1, 0)
    games = {each["name"]: each for each in (await api.get("/api/v1/games")).json()}
    assert games["kuhn_poker"]["information"] == "imperfect"
    assert [each["name"] for each in games["connect_four"]["parameters"]]
    for game in games.values():
        fields = [field["name"] for field in game["observation"]["fields"]]
        assert fields == list(game["observation"]["schema"]["properties"])
        assert list(game["example"]["observation"]) == fields


async def test_a_game_of_one_seat_is_played_alone_and_its_score_kept(
    house: Any, api: httpx.AsyncClient
) -> None:
    spec = "pacman(ghosts=random,steps=20)"
    bots = [await house.bot(name, games=["pacman"], max_matches=2) for name in ("alice", "bob")]
    game = Terms(get_game(spec), TimeControl.parse("total:60"), True, True)
    made = (
        await begin_round_robin(
            house.hub.competitions, "Alone", game, By("olga", "a test"), rounds=2
        )
    ).id

    await asyncio.gather(*(play_everything(bot, 2) for bot in bots))
    await played_out(house, made)
    assert [line.games for line in await results(house.hub.store, made)] == [2, 2]
    matches = (await api.get("/api/v1/matches", params={"competition": made})).json()
    assert {len(each["seats"]) for each in matches} == {1}
    returned: dict[str, list[float]] = {}
    for each in matches:
        returned.setdefault(each["seats"][0]["player"], []).append(each["seats"][0]["returned"])
    await house.hub.ratings.settle()
    board = (await api.get(f"/api/v1/leaderboards/{spec}")).json()
    assert board["scoring"] == "returns"
    means = {line["player"]: line["mean_return"] for line in board["standings"]}
    assert means == {player: sum(values) / 2 for player, values in returned.items()}
    assert list(means.values()) == sorted(means.values(), reverse=True)
    assert [line["rank"] for line in board["standings"]] == [1, 2]
    assert {(line["games"], line["wins"]) for line in board["standings"]} == {(2, 0)}


BY = By("olga", "a test")


async def test_a_paused_competition_begins_nothing_until_it_is_resumed(house: Any) -> None:
    bots = [await house.bot(name, games=["kuhn_poker"], max_matches=1) for name in ("alice", "bob")]
    game = Terms(get_game("kuhn_poker"), TimeControl.parse("total:60"), True, False)
    houses, store = house.hub.tournaments, house.hub.store
    made = (await begin_round_robin(house.hub.competitions, "Cup", game, BY, rounds=2)).id
    first = await asyncio.gather(*(bot.start() for bot in bots))
    await store.write(competition_sql.move, made, "pause", BY, store.now())
    await house.hub.audit_follower.look()
    await asyncio.gather(*(b.play(s, 1) for b, s in zip(bots, first, strict=True)))
    view = await houses.view(made)
    assert (view.row.status, view.created) == ("paused", 1)
    assert view.waiting_for == ["The competition is paused."]
    assert not house.hub.directory.own
    await store.write(competition_sql.move, "cup", "resume", BY, store.now())
    await house.hub.audit_follower.look()
    await asyncio.gather(*(play_everything(bot, 1) for bot in bots))
    async with asyncio.timeout(PATIENCE):
        while (await houses.view(made)).row.status != "finished":  # noqa: ASYNC110
            await asyncio.sleep(0.01)


async def test_who_withdraws_plays_no_more_and_the_table_stays(
    house: Any, api: httpx.AsyncClient
) -> None:
    names = ("alice", "bob", "carol")
    bots = [await house.bot(name, games=["kuhn_poker"], max_matches=2) for name in names[:2]]
    carol = await house.hub.store.add_player("carol")
    await house.hub.store.ensure_bot(carol.id, "bot")
    game = Terms(get_game("kuhn_poker"), TimeControl.parse("total:60"), True, True)
    entries = [f"{name}/bot" for name in names]
    made = (
        await begin_round_robin(
            house.hub.competitions, "Cup", game, By("olga", "a test"), entries=entries
        )
    ).id
    await asyncio.gather(*(play_everything(bot, 2) for bot in bots))
    assert (await house.hub.tournaments.view(made)).row.status == "running"
    here = f"/api/v1/competitions/{made}"
    token = await house.hub.store.add_token(carol.id, ("play",))
    headers = {"Authorization": f"Bearer {token}"}
    for who in ("alice/bot", "carol"):
        refused = await api.post(f"{here}/withdraw", headers=headers, json={"who": who})
        assert refused.json()["code"] == "auth/role", "a player withdraws its own entries only"
    answer = await api.post(f"{here}/withdraw", headers=headers, json={"who": "Carol/bot"})
    assert [each["entry"] for each in answer.json()] == ["carol/bot"], answer.text
    assert (await played_out(house, made)).finished == 2
    assert [(line.player, line.games) for line in await results(house.hub.store, made)][2] == (
        "carol",
        0,
    )
    board = (await api.get(f"{here}/board")).json()
    assert {each["entry"]: each["status"] for each in board}["carol/bot"] == "withdrawn"
    again = [
        await api.post(f"{here}/withdraw", headers=headers, json={"who": "carol/bot"})
        for _ in range(OWN_CHANGES[0])
    ]
    assert again[0].json() == [], "it has left already"
    assert again[-1].json()["code"] == "auth/rate"


async def test_a_deleted_competition_is_gone_and_its_matches_stay(
    house: Any, api: httpx.AsyncClient
) -> None:
    bots = [await house.bot(name, games=["kuhn_poker"], max_matches=1) for name in ("alice", "bob")]
    game = Terms(get_game("kuhn_poker"), TimeControl.parse("total:60"), True, False)
    made = (
        await begin_round_robin(house.hub.competitions, "Cup", game, By("olga", "a test"), rounds=3)
    ).id
    starts = await asyncio.gather(*(bot.start() for bot in bots))
    await house.hub.store.write(competition_sql.move, made, "delete", BY, house.hub.store.now())
    await house.hub.audit_follower.look()
    await asyncio.gather(*(b.play(s, 1) for b, s in zip(bots, starts, strict=True)))
    assert (await api.get(f"/api/v1/competitions/{made}/board")).status_code == 404
    assert (await api.get("/api/v1/competitions")).json() == []
    assert (await api.get(f"/api/v1/matches/{starts[0].match}")).json()["status"] == "finished"
    assert not house.hub.directory.own


async def test_a_server_that_leads_no_more_asks_no_format_and_stops(house: Any) -> None:
    """It asked again in each turn of its loop, and left such a question behind when it stopped."""
    for name in ("alice", "bob", "carol"):
        await house.bot(name, games=["pig"])
    text = round_robin_text("Cup", "pig", "total:60", rounds=1, mirrored=False, rated=False)
    text = f'{text}\n[format]\nname = "knockout"\n'
    entries = ["alice/bot", "bob/bot", "carol/bot"]
    row = await house.hub.competitions.open(text, BY, entries=entries)
    tournaments = house.hub.tournaments
    game = (await house.hub.store.read(competition_sql.find, row.id)).games[0].tournament_id
    running = tournaments.running(game)
    async with asyncio.timeout(PATIENCE):
        while running.asking:  # noqa: ASYNC110
            await asyncio.sleep(0.001)
    house.hub.directory.lead(False)
    running.withdraw(next(iter(running.names)))
    await tournaments.changed(game)
    for _ in range(20):
        await asyncio.sleep(0)
    assert running.queue.stale
    assert not tournaments._tasks
    house.hub.directory.lead(True)  # as a new leader, once it has restored everything
    async with asyncio.timeout(PATIENCE):
        while running.queue.stale:  # noqa: ASYNC110
            await asyncio.sleep(0.001)
