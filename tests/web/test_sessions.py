"""Sessions of browsers: cookies, requests of other pages, passwords, guests and their limits."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
import pytest_asyncio
from tests.harness.clocks import FakeClock
from tests.harness.patience import PATIENCE
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from plyhouse.protocol.codec import JSON
from plyhouse.protocol.errors import ProtocolError
from plyhouse.protocol.messages import (
    Challenge,
    Error,
    Finished,
    Hello,
    MatchMessage,
    Ok,
    Ready,
    Resign,
    Seek,
    Welcome,
)
from plyhouse.server.accounts import browser_sessions, passwords
from plyhouse.server.accounts.guesses import Guesses
from plyhouse.server.competition_rules.file_template import round_robin_text
from plyhouse.server.config import ServerConfig
from plyhouse.server.serve import running_server
from plyhouse.storage import people, people_changes, sessions
from plyhouse.storage.errors import TokenRevoked
from plyhouse.storage.rows import By

from .browser import Page
from .conftest import House

SCRYPT = "scrypt"
PASSWORD = "correct horse battery"
BY = By("olga", "a test")


@pytest.fixture(autouse=True)
def cheap(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hashes that cost next to nothing; their costs are a test of their own."""
    monkeypatch.setattr(passwords, "LOG_N", 4)
    monkeypatch.setattr(passwords, "P", 1)


@pytest_asyncio.fixture(loop_scope="session")
async def web(house: House) -> AsyncIterator[httpx.AsyncClient]:
    """A browser at a page of the server."""
    async with browser(house) as opened:
        yield opened


def browser(house: House, **headers: str) -> httpx.AsyncClient:
    sent = {"origin": house.url, "sec-fetch-site": "same-origin", **headers}
    return httpx.AsyncClient(base_url=f"{house.url}/api/v1", headers=sent)


async def open_house(**settings: Any) -> Any:
    return running_server(ServerConfig(port=0, database="sqlite:///:memory:", **settings))


def cookie_of(answer: httpx.Response) -> str:
    return answer.headers["set-cookie"]


async def hello(
    house: House, web: httpx.AsyncClient, *, origin: str | None = None, **fields: Any
) -> tuple[Any, Any]:
    """Open a websocket as a page of a browser does, and log in; the wire and the answer."""
    cookies = "; ".join(f"{name}={value}" for name, value in web.cookies.items())
    wire = await connect(
        f"ws://127.0.0.1:{house.port}/ws",
        subprotocols=[JSON.subprotocol],  # type: ignore[list-item]
        additional_headers={"cookie": cookies} if cookies else {},
        origin=house.url if origin is None else origin or None,  # type: ignore[arg-type]
        compression=None,
        proxy=None,
    )
    await wire.send(JSON.encode(Hello(1, "", signed_in=True, **fields)))
    return wire, JSON.decode_server(await wire.recv())


async def until_closed(wire: Any) -> list[Any]:
    """Return everything until the server closes the connection."""
    frames = []
    async with asyncio.timeout(PATIENCE):
        try:
            while True:
                frames.append(json.loads(await wire.recv()))
        except ConnectionClosed:
            return frames


async def ask(wire: Any, message: Any) -> Any:
    """Send a request over a websocket; its answer."""
    await wire.send(JSON.encode(message))
    while True:
        answer = JSON.decode_server(await wire.recv())
        if getattr(answer, "re", None) == message.id:
            return answer


async def test_no_script_and_no_other_site_gets_at_the_cookie(
    house: House, web: httpx.AsyncClient
) -> None:
    answer = await web.post("/session", json={"token": await house.token("ann")})
    assert answer.json()["player"] == "ann"
    name, *flags = cookie_of(answer).split("; ")
    assert name.startswith(f"plyhouse-{house.port}=")
    assert set(flags) == {"HttpOnly", "Max-Age=2592000", "Path=/", "SameSite=Lax"}
    secret = name.partition("=")[2]
    assert secret not in answer.text
    assert answer.headers["cache-control"] == "no-store"
    assert (await web.get("/session")).json()["player"] == "ann"
    ended = await web.delete("/session")
    assert "Max-Age=0" in cookie_of(ended)
    # The session is over on the server, too, and not only forgotten by the browser.
    web.cookies.set(f"plyhouse-{house.port}", secret)
    assert (await web.get("/session")).json()["player"] == ""


async def test_over_tls_the_cookie_never_leaves_it() -> None:
    async with await open_house(proxies="127.0.0.1", guests=True) as server:
        house = House(server)
        headers = {
            "host": "games.example.org",
            "origin": "https://games.example.org",
            "x-forwarded-proto": "https",
            "x-forwarded-for": "203.0.113.7",
        }
        async with browser(house, **headers) as web:
            answer = await web.post("/session/guest")
            assert answer.status_code == 200, answer.text
            assert cookie_of(answer).startswith("__Host-plyhouse=")
            assert "; Secure" in cookie_of(answer)
            # One that was set without TLS counts for nothing over it.
            secret = cookie_of(answer).partition("=")[2].partition(";")[0]
            web.cookies.clear()
            sent = {"cookie": f"plyhouse={secret}"}
            assert (await web.get("/session", headers=sent)).json()["player"] == ""
            sent = {"cookie": f"__Host-plyhouse={secret}"}
            assert (await web.get("/session", headers=sent)).json()["guest"]


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"origin": ""},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"origin": "http://127.0.0.1:1"},
    ],
)
async def test_requests_of_other_pages_are_refused(house: House, headers: dict[str, str]) -> None:
    """They carry the cookie, because the browser adds it to every request."""
    async with browser(house) as web:
        await web.post("/session", json={"token": await house.token("ann")})
        web.headers.update(headers)
        for method, path, body in (
            ("POST", "/session", {"token": await house.token("eve")}),
            ("DELETE", "/session", None),
            ("POST", "/session/guest", None),
            ("POST", "/session/account", {"player": "x", "password": PASSWORD}),
            ("POST", "/session/password", {"new": PASSWORD}),
            ("POST", "/session/token", {}),
            ("POST", "/house-bots", {"level": "easy"}),
            ("PATCH", "/players/ann", {"display": "mine"}),
        ):
            answer = await web.request(method, path, json=body)
            assert (answer.status_code, answer.json()["code"]) == (403, "auth/other_page"), path
        assert (await web.get("/session")).json()["player"] == "ann"


async def test_a_session_does_what_its_token_may_and_a_token_needs_no_page(
    house: House, web: httpx.AsyncClient
) -> None:
    await web.post("/session", json={"token": await house.token("ann")})
    assert (await web.patch("/players/ann", json={"display": "Ann"})).status_code == 200
    refused = await web.get("/audit")
    assert (refused.status_code, refused.json()["code"]) == (403, "auth/scope")
    async with httpx.AsyncClient(base_url=f"{house.url}/api/v1") as program:
        program.headers["authorization"] = f"Bearer {await house.token('ann')}"
        assert (await program.patch("/players/ann", json={"display": "A"})).status_code == 200


async def test_a_websocket_of_another_page_is_not_the_person(
    house: House, web: httpx.AsyncClient
) -> None:
    await web.post("/session", json={"token": await house.token("ann")})
    wire, answer = await hello(house, web)
    assert isinstance(answer, Welcome)
    assert answer.player == "ann"
    await wire.close()
    for origin in ("https://evil.example", ""):
        wire, answer = await hello(house, web, origin=origin)
        assert isinstance(answer, Error)
        assert (answer.code, answer.fatal) == ("auth/signed_out", True)
        await wire.close()


async def test_disabling_a_player_or_a_token_ends_its_sessions(
    house: House, web: httpx.AsyncClient
) -> None:
    store = house.hub.store
    token = await house.token("ann")
    await web.post("/session", json={"token": token})
    for shut_out in (
        lambda: store.write(people_changes.disable_player, "ann", BY, store.now()),
        lambda: store.write(people_changes.revoke_token, token, BY, store.now()),
    ):
        wire, answer = await hello(house, web, takeover=True)
        assert isinstance(answer, Welcome)
        await shut_out()
        await house.hub.audit_follower.look()
        await until_closed(wire)
        assert (await web.get("/session")).json()["player"] == ""
        assert (await web.patch("/players/ann", json={"display": ""})).status_code in (401, 403)
        _, answer = await hello(house, web)
        assert isinstance(answer, Error)
        assert answer.code in ("auth/disabled", "auth/revoked")
        await store.write(people_changes.enable_player, "ann", BY, store.now())
        await house.hub.audit_follower.look()


async def test_revoked_token_takes_along_what_its_thief_made(
    house: House, web: httpx.AsyncClient
) -> None:
    """A thief sets a password, signs in by it, and makes tokens from token to token."""
    stolen, kept = await house.token("ann"), await house.hub.store.add_token("ann")
    await web.post("/session", json={"token": stolen})
    made = (await web.post("/session/token", json={"label": "a"})).json()["token"]
    await web.post("/session/password", json={"old": "", "new": PASSWORD})
    async with browser(house) as by_password, browser(house) as by_made, browser(house) as owner:
        await owner.post("/session", json={"token": kept})
        await by_made.post("/session", json={"token": made})
        body = {"player": "ann", "password": PASSWORD}
        assert (await by_password.post("/session", json=body)).json()["player"] == "ann"
        change = {"old": PASSWORD, "new": f"{PASSWORD} 2"}
        assert (await by_password.post("/session/password", json=change)).status_code == 200
        await owner.post("/session", json={"token": kept})
        await by_made.post("/session", json={"token": made})
        tokens = [made]
        for thief in (by_password, by_made):
            answer = await thief.post("/session/token", json={"label": "b"})
            tokens.append(answer.json()["token"])
        own = (await owner.post("/session/token", json={"label": "c"})).json()["token"]
        wire, welcome = await hello(house, by_password, takeover=True)
        assert isinstance(welcome, Welcome)
        store = house.hub.store
        await store.write(people_changes.revoke_token, stolen, BY, store.now())
        await house.hub.audit_follower.look()
        for each in tokens:
            with pytest.raises(TokenRevoked):
                await store.authenticate(each)
        for thief in (web, by_password, by_made):
            assert (await thief.get("/session")).json()["player"] == ""
        body["password"] = f"{PASSWORD} 2"
        assert (await by_password.post("/session", json=body)).status_code == 401
        assert (await owner.get("/session")).json()["player"] == "ann"
        for each in (kept, own):
            assert await store.authenticate(each) is not None
        await until_closed(wire)


async def test_token_that_made_no_password_leaves_it(house: House, web: httpx.AsyncClient) -> None:
    store = house.hub.store
    old, bot = await house.token("ann"), await store.add_token("ann")
    await web.post("/session", json={"token": old})
    await web.post("/session/password", json={"old": "", "new": PASSWORD})
    await store.write(people_changes.revoke_token, bot, BY, store.now())
    await house.hub.audit_follower.look()
    body = {"player": "ann", "password": PASSWORD}
    answer = await web.post("/session", json=body)
    assert answer.status_code == 200, answer.text


async def test_signing_out_closes_what_was_opened(house: House, web: httpx.AsyncClient) -> None:
    await web.post("/session", json={"token": await house.token("ann")})
    wire, _ = await hello(house, web)
    await web.delete("/session")
    assert (await until_closed(wire))[-1]["code"] == "auth/signed_out"


async def test_session_that_gives_way_to_newer_ones_closes_what_was_opened(
    house: House, web: httpx.AsyncClient
) -> None:
    token = await house.token("ann")
    await web.post("/session", json={"token": token})
    wire, _ = await hello(house, web)
    row = await house.hub.store.read(people.player, "ann")
    for _ in range(sessions.MOST_OPEN - 1):
        await house.hub.store.write(sessions.begin, row.id, 10**9, house.hub.store.now())
    async with browser(house) as other:
        await other.post("/session", json={"token": token})
        assert (await until_closed(wire))[-1]["code"] == "auth/signed_out"
        assert (await web.get("/session")).json()["player"] == ""
        assert (await other.get("/session")).json()["player"] == "ann"


async def test_accounts_are_made_where_registration_is_open() -> None:
    async with await open_house(registration="open") as server:
        house = House(server)
        async with browser(house) as web, browser(house) as other:
            body = {"player": "Ann", "password": PASSWORD}
            made = await web.post("/session/account", json=body)
            assert (made.status_code, made.json()["player"]) == (201, "Ann")
            assert made.json()["scopes"] == ["play"]
            taken = await other.post("/session/account", json=body | {"player": "ann"})
            assert (taken.status_code, taken.json()["code"]) == (409, "auth/name_taken")
            for player, password in (("guest-x", PASSWORD), ("house", PASSWORD), ("bo", "short")):
                body = {"player": player, "password": password}
                assert (await other.post("/session/account", json=body)).status_code in (400, 401)
            known = await other.post("/session", json={"player": "ann", "password": PASSWORD})
            assert known.json()["player"] == "Ann"
            # A password of one's own, and a token for a bot.
            wrong = await other.post("/session/password", json={"old": "x", "new": "another one!"})
            assert wrong.json()["code"] == "auth/bad_password"
            change = {"old": PASSWORD, "new": "another one!"}
            assert (await other.post("/session/password", json=change)).status_code == 200
            assert (await web.get("/session")).json()["player"] == "", "signed out elsewhere"
            assert (await other.get("/session")).json()["player"] == "Ann"
            token = (await other.post("/session/token", json={"label": "bot"})).json()["token"]
            identity = await house.hub.store.authenticate(token)
            assert identity is not None
            assert identity.player == "Ann"


async def test_accounts_are_not_made_where_registration_is_closed(
    web: httpx.AsyncClient,
) -> None:
    answer = await web.post("/session/account", json={"player": "ann", "password": PASSWORD})
    assert (answer.status_code, answer.json()["code"]) == (403, "auth/registration_closed")


async def test_passwords_cannot_be_guessed_for_long(house: House, web: httpx.AsyncClient) -> None:
    row = await house.hub.store.add_player("ann")
    hashed = await passwords.Passwords().hash(PASSWORD)
    await house.hub.store.write(sessions.set_password, row.id, hashed, house.hub.store.now())
    codes = []
    for number in range(12):
        body = {"player": "ann" if number % 2 else "nobody", "password": f"guess {number}"}
        answer = await web.post("/session", json=body)
        codes.append(answer.json()["code"])
        if codes[-1] == "auth/bad_password":
            # The answer does not reveal whether such a player exists.
            assert answer.json()["detail"].startswith("The name and the password")
    assert codes == ["auth/bad_password"] * 10 + ["auth/rate"] * 2
    right = await web.post("/session", json={"player": "ann", "password": PASSWORD})
    assert right.status_code == 429
    # A token still works.
    assert (await web.post("/session", json={"token": await tokens(house)})).status_code == 200


async def test_other_spellings_of_a_name_give_no_more_guesses(house: House) -> None:
    """The limit of a player holds from all addresses, and for each way to write the name."""
    composed, taken_apart = "jos\u00e9", "jose\u0301"
    row = await house.hub.store.add_player(composed)
    hashed = await passwords.Passwords().hash(PASSWORD)
    await house.hub.store.write(sessions.set_password, row.id, hashed, house.hub.store.now())
    accounts = house.hub.browser_sessions
    for number in range(20):
        with pytest.raises(ProtocolError) as refused:
            await accounts.sign_in(composed, f"guess {number}", f"192.0.2.{number}")
        assert refused.value.code == "auth/bad_password"
    for name in (composed, taken_apart):
        with pytest.raises(ProtocolError) as refused:
            await accounts.sign_in(name, "guess", "192.0.2.77")
        assert refused.value.code == "auth/rate"


async def test_class_that_signs_in_together_with_right_passwords_is_let_in(
    house: House, web: httpx.AsyncClient
) -> None:
    hashed = await passwords.Passwords().hash(PASSWORD)
    for number in range(60):
        row = await house.hub.store.add_player(f"s{number}")
        await house.hub.store.write(sessions.set_password, row.id, hashed, house.hub.store.now())

    async def sign_in(password: str, number: int) -> httpx.Response:
        body = {"player": f"s{number}", "password": password}
        return await web.post("/session", json=body, timeout=PATIENCE)

    answers = await asyncio.gather(*(sign_in(PASSWORD, number) for number in range(60)))
    assert Counter(answer.status_code for answer in answers) == {200: 60}
    answers = await asyncio.gather(*(sign_in("wrong", number) for number in range(60)))
    assert Counter(answer.status_code for answer in answers) == {401: 10, 429: 50}
    refused = next(answer for answer in answers if answer.status_code == 429)
    assert refused.headers["retry-after"] == str(refused.json()["retry_after"])


async def test_wrong_passwords_of_others_at_an_address_keep_nobody_out_who_signed_in_there(
    house: House, web: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = FakeClock()
    monkeypatch.setattr(house.hub.browser_sessions, "guesses", Guesses(clock))
    hashed = await passwords.Passwords().hash(PASSWORD)
    for name in ("ann", "new"):
        row = await house.hub.store.add_player(name)
        await house.hub.store.write(sessions.set_password, row.id, hashed, house.hub.store.now())

    async def sign_in(name: str, password: str) -> str:
        answer = await web.post("/session", json={"player": name, "password": password})
        return str(answer.json().get("code", "")) if answer.status_code != 200 else "in"

    assert await sign_in("ann", PASSWORD) == "in"
    codes = [await sign_in("eve", "guess") for _ in range(11)]
    assert codes == ["auth/bad_password"] * 10 + ["auth/rate"]
    assert await sign_in("new", PASSWORD) == "auth/rate", "a guess at a password is refused"
    assert [await sign_in("ann", PASSWORD) for _ in range(12)] == ["in"] * 12
    assert await sign_in("eve", "guess") == "auth/rate", "who knows one gets no more guesses"
    codes = [await sign_in("ann", "guess") for _ in range(11)]
    assert codes == ["auth/rate"] * 11
    assert await sign_in("ann", PASSWORD) == "auth/rate", "ten wrong ones for this name, too"
    clock.advance(30)
    assert await sign_in("ann", PASSWORD) == "in"


async def test_person_who_floods_the_check_of_passwords_keeps_nobody_waiting() -> None:
    checks, order = passwords.Passwords(), []
    stored = await checks.hash(PASSWORD)

    async def check(who: str) -> bool:
        return await checks.fits(PASSWORD, stored, lambda: order.append(who), who)

    flood = [asyncio.create_task(check("ann")) for _ in range(300)]
    await asyncio.sleep(0)
    assert await check("bob")
    assert order.index("bob") <= 2, "after those that are being checked"
    answers = Counter(type(each) for each in await asyncio.gather(*flood, return_exceptions=True))
    most = passwords.WAITING_OF_ONE
    assert answers == {bool: most, passwords.TooMany: 300 - most}
    assert len(checks._queue) == 0


async def test_guesses_at_the_password_of_an_open_session_count_also_all_at_once(
    house: House, web: httpx.AsyncClient
) -> None:
    row = await house.hub.store.add_player("ann")
    hashed = await passwords.Passwords().hash(PASSWORD)
    await house.hub.store.write(sessions.set_password, row.id, hashed, house.hub.store.now())
    assert (await web.post("/session", json={"token": await tokens(house)})).status_code == 200

    async def guess(number: int) -> str:
        body = {"old": f"guess {number}", "new": "another one!"}
        code: str = (await web.post("/session/password", json=body)).json()["code"]
        return code

    codes = Counter(await asyncio.gather(*(guess(number) for number in range(60))))
    assert codes == {"auth/bad_password": 10, "auth/rate": 50}


async def test_too_many_passwords_at_once_are_no_fault_of_the_server(
    house: House, web: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = await house.hub.store.add_player("ann")
    hashed = await passwords.Passwords().hash(PASSWORD)
    await house.hub.store.write(sessions.set_password, row.id, hashed, house.hub.store.now())
    assert (await web.post("/session", json={"token": await tokens(house)})).status_code == 200
    body = {"old": PASSWORD, "new": "another one!"}
    with monkeypatch.context() as busy:
        busy.setattr(passwords, "WAITING", 0)
        answer = await web.post("/session/password", json=body)
    assert (answer.status_code, answer.json()["code"]) == (503, "server/overloaded")
    assert (await web.post("/session/password", json=body)).status_code == 200


async def test_sign_in_refused_for_overload_uses_up_no_wrong_password(
    house: House, web: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = await house.hub.store.add_player("ann")
    hashed = await passwords.Passwords().hash(PASSWORD)
    await house.hub.store.write(sessions.set_password, row.id, hashed, house.hub.store.now())
    body = {"player": "ann", "password": PASSWORD}
    with monkeypatch.context() as busy:
        busy.setattr(passwords, "WAITING", 0)
        codes = {(await web.post("/session", json=body)).json()["code"] for _ in range(30)}
    assert codes == {"server/overloaded"}
    assert house.hub.browser_sessions.guesses.from_address.left("127.0.0.1") == 10
    assert (await web.post("/session", json=body)).status_code == 200


async def tokens(house: House) -> str:
    return await house.hub.store.add_token("ann")


async def test_what_is_stored_of_a_password_is_slow_and_salted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.undo()
    first, second = [await passwords.Passwords().hash(PASSWORD) for _ in range(2)]
    assert first != second
    assert first.startswith("scrypt$14$8$5$")
    assert not passwords.outdated(first)
    assert passwords.outdated(first.replace("$14$", "$13$"))
    assert await passwords.Passwords().fits(PASSWORD, first)
    assert not await passwords.Passwords().fits(PASSWORD, second.replace("$5$", "$4$"))
    assert not await passwords.Passwords().fits(PASSWORD, "nonsense")


async def test_a_password_that_is_typed_with_other_code_points_is_the_same() -> None:
    kept = await passwords.Passwords().hash("caf\N{LATIN SMALL LETTER E WITH ACUTE} au lait")
    assert await passwords.Passwords().fits("cafe\N{COMBINING ACUTE ACCENT} au lait", kept)


async def test_guests_are_limited_by_address_and_in_all() -> None:
    settings = {"max_guests": 3, "max_guests_per_address": 2, "proxies": "127.0.0.1"}
    async with await open_house(guests=True, **settings) as server:
        house = House(server)
        answers = []
        for address in ("203.0.113.1", "203.0.113.1", "203.0.113.1", "203.0.113.2", "203.0.113.3"):
            async with browser(house, **{"x-forwarded-for": address}) as web:
                answers.append(await web.post("/session/guest"))
                again = await web.post("/session/guest")
                if answers[-1].status_code == 200:  # still the same one
                    assert again.json()["player"] == answers[-1].json()["player"]
        assert [each.status_code for each in answers] == [200, 200, 503, 200, 503]
        assert {each.json()["code"] for each in answers if each.status_code != 200} == {
            "guest/full"
        }
        assert "your address" in answers[2].json()["detail"]


async def test_guest_who_has_left_makes_room_for_a_newcomer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Guests close the page and do not sign out, so a lesson kept the next one out for hours."""
    settings = {"max_guests": 3, "max_guests_per_address": 2, "proxies": "127.0.0.1"}
    async with await open_house(guests=True, **settings) as server:
        house = House(server)
        one, two = ({"x-forwarded-for": f"203.0.113.{number}"} for number in (1, 2))
        webs = [browser(house, **one) for _ in range(4)] + [browser(house, **two) for _ in range(2)]

        async def enter(number: int) -> int:
            return (await webs[number].post("/session/guest")).status_code

        async def there() -> list[int]:
            """Return who is still a guest."""
            players = [(await web.get("/session")).json()["player"] for web in webs]
            return [number for number, player in enumerate(players) if player]

        assert [await enter(number) for number in (0, 1, 2)] == [200, 200, 503]
        monkeypatch.setattr(browser_sessions, "AWAY_NS", 0)
        first, _ = await hello(house, webs[0])
        assert await enter(2) == 200
        assert await there() == [0, 2], "the other one has left"
        third, _ = await hello(house, webs[2])
        assert await enter(3) == 503, "both are here"
        await third.close()
        async with asyncio.timeout(PATIENCE):
            while len(house.hub.directory.online()) > 1:  # noqa: ASYNC110 - its close is on the way
                await asyncio.sleep(0.01)
        assert [await enter(number) for number in (4, 5)] == [200, 200]
        assert await there() == [0, 4, 5], "the address with the most guests gives way"
        await first.close()
        for web in webs:
            await web.aclose()


async def test_guests_of_one_address_share_the_plies_of_a_day() -> None:
    """One person can be many guests, each of whom had the plies of a player."""
    settings = {"max_plies_per_day": 12, "proxies": "127.0.0.1"}
    async with await open_house(guests=True, **settings) as server:
        house = House(server)
        addresses = ("203.0.113.1", "203.0.113.1", "203.0.113.1", "203.0.113.2")
        webs = [browser(house, **{"x-forwarded-for": address}) for address in addresses]
        wires = []
        for web in webs:
            await web.post("/session/guest")
            wires.append((await hello(house, web))[0])
        for wire in wires[:2]:
            assert isinstance(await ask(wire, Seek(2, "pig", "total:60")), Ok)
        message: Any = None
        for wire in wires[:2]:
            while not isinstance(message := JSON.decode_server(await wire.recv()), MatchMessage):
                pass
            assert isinstance(await ask(wire, Ready(3, message.snapshot.match)), Ok)
        await ask(wires[0], Resign(4, message.snapshot.match))
        while not isinstance(JSON.decode_server(await wires[1].recv()), Finished):
            pass
        refused = await ask(wires[2], Seek(2, "pig", "total:60"))
        assert refused.code == "seek/plies"
        assert isinstance(await ask(wires[3], Seek(2, "pig", "total:60")), Ok)
        for wire, web in zip(wires, webs, strict=True):
            await wire.close()
            await web.aclose()


async def test_an_operator_may_take_no_guests() -> None:
    async with await open_house(guests=False) as server, browser(House(server)) as web:
        answer = await web.post("/session/guest")
        assert (answer.status_code, answer.json()["code"]) == (403, "guest/closed")
    outside = ServerConfig(host="0.0.0.0")
    behind = ServerConfig(proxies="127.0.0.1")
    at_home = ServerConfig()
    assert [each.takes_guests for each in (outside, behind, at_home)] == [False, False, True]
    assert [each.has_builtin_bots for each in (outside, behind, at_home)] == [False, False, True]
    assert ServerConfig(host="0.0.0.0", guests=True, builtin_bots=True).takes_guests


async def test_a_guest_plays_one_casual_match_and_enters_nothing(
    house: House, web: httpx.AsyncClient
) -> None:
    name = (await web.post("/session/guest")).json()["player"]
    assert name.startswith("guest-")
    wire, answer = await hello(house, web, games=["pig"])
    assert isinstance(answer, Welcome)
    assert answer.player == name
    rated = await ask(wire, Seek(2, "pig", "total:60", rated=True))
    assert rated.code == "guest/casual"
    assert getattr(await ask(wire, Seek(3, "pig", "total:60")), "seek", None)
    assert (await ask(wire, Seek(4, "nim", "total:60"))).code == "guest/busy"
    bob = await house.bot("bob")
    asked = await bot_asks(bob, name)
    assert asked.code == "guest/casual"
    # Taking over an account is refused on every path.
    for path, body in (
        ("/session/token", {}),
        ("/session/password", {"new": PASSWORD}),
        ("/competitions", {"file": "", "entries": ["*"]}),
    ):
        answer = await web.post(path, json=body)
        assert (answer.status_code, answer.json()["code"]) == (403, "auth/scope"), path
    organiser = await house.hub.store.add_player("olga")
    token = await house.hub.store.add_token(organiser, ("organise",))
    entered = await web.post(
        "/competitions",
        json={
            "file": round_robin_text("x", "pig", "move:1", rounds=1, mirrored=False, rated=False),
            "entries": [name, "bob/bot"],
        },
        headers={"authorization": f"Bearer {token}"},
    )
    assert entered.json()["code"] == "guest/casual", entered.text
    await wire.close()


async def bot_asks(bot: Any, opponent: str) -> Any:
    return await bot.ask(Challenge, opponent, "pig", "total:60", True)


async def test_a_guest_is_forgotten_when_it_leaves_or_its_time_is_over(house: House) -> None:
    store = house.hub.store
    async with browser(house) as web, browser(house) as other:
        first = (await web.post("/session/guest")).json()["player"]
        second = (await other.post("/session/guest")).json()["player"]
        wire, answer = await hello(house, other)
        assert isinstance(answer, Welcome)
        assert {first, second} <= {row.name for row in await store.read(people.list_players)}
        await web.delete("/session")
        assert first not in {row.name for row in await store.read(people.list_players)}
        row = await store.read(people.player, second)
        await store.write(sessions.extend_guests, [row.id], 0, store.now())
        await house.hub.browser_sessions.sweep()
        assert await store.read(sessions.guest_ids) == [row.id], "its time is not over"
        clock = store._clock
        store._clock = lambda: clock() + 13 * 3_600_000
        await house.hub.browser_sessions.sweep()
        store._clock = clock
        assert [row.name for row in await store.read(people.list_players)] == []
        await until_closed(wire)
        assert (await other.get("/session")).json()["player"] == ""


@pytest.mark.browser
async def test_error_about_a_name_shows_at_its_field_with_the_character(page: Page) -> None:
    async with await open_house(registration="open") as server:
        await page.go(f"{House(server).url}/account")
        await page.until("!document.querySelector('#signed-out').hidden")
        await page.tab.fill("#new-player", "Zo\N{SNOWMAN}")
        await page.tab.fill("#new-password", PASSWORD)
        await page.click("#sign-up button")
        told = await page.until("document.querySelector('#new-player-wrong')?.textContent")
        assert "'\N{SNOWMAN}' (snowman)" in told
        invalid = "document.querySelector('#new-player').getAttribute('aria-invalid')"
        assert await page.evaluate(invalid) == "true"
        described = "document.querySelector('#new-player').getAttribute('aria-describedby')"
        assert await page.evaluate(described) == "new-player-wrong new-player-note"
        await page.tab.fill("#new-player", "Zoë")
        assert await page.evaluate("document.querySelector('#new-player-wrong')") is None
        await page.click("#sign-up button")
        await page.until("!document.querySelector('#signed-in').hidden")
        assert "Zoë" in await page.text("#who")
