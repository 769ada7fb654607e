"""Requests of strangers to the web server, and their answers."""

from __future__ import annotations

import logging
from typing import Any

import httpx
import pytest

from plyhouse.storage.errors import DatabaseFull, Unreachable

from .conftest import House

HEADERS = ("content-security-policy", "x-content-type-options", "referrer-policy")


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/", 200),
        ("/api/v1/games", 200),
        ("/web", 200),
        ("/web/style.css", 200),
        ("/web/none.js", 404),
        ("/web/%00", 404),
        ("/web/a%00b.css", 404),
        ("/web/%ff%fe", 404),
        ("/web/" + "a" * 5000, 404),
        ("/%00", 404),
        ("/api/v1/none", 404),
        ("/api/v1/matches/%00", 404),
        ("/api/v1/players/a%00", 404),
        ("/api/v1/leaderboards/%00", 400),
        ("/matches/%00", 404),
        ("/matches?before=%00", 404),
        ("/api/v1/matches?limit=-1", 400),
    ],
)
async def test_every_answer_has_its_safety_headers_and_none_is_a_fault(
    house: House, path: str, status: int
) -> None:
    async with httpx.AsyncClient(base_url=house.url) as web:
        answer = await web.get(path)
        head = await web.head(path)
    assert answer.status_code == status, answer.text
    for name in HEADERS:
        assert len(answer.headers.get_list(name)) == 1, name
        assert name in head.headers


@pytest.mark.parametrize(
    "host",
    [
        b"x:abc",
        b"x:-1",
        b"x:99999",
        b"x:\xd9\xa1",
        b"[::1",
        b"[]",
        b"[::::]",
        b"a b",
        b"a@b",
        b"\xff",
    ],
)
async def test_host_that_is_no_name_is_refused_and_not_logged(
    house: House, caplog: pytest.LogCaptureFixture, host: bytes
) -> None:
    """A stranger could fill the log with tracebacks."""
    headers = [(b"host", host), (b"origin", b"http://" + host), (b"accept", b"text/html")]
    async with httpx.AsyncClient(base_url=house.url) as web:
        for method, path in (("GET", "/"), ("GET", "/play"), ("POST", "/api/v1/guest")):
            answer = await web.request(method, path, headers=headers)
            assert (answer.status_code, answer.json()["code"]) == (400, "http/400"), path
    assert not [each for each in caplog.records if each.levelno >= logging.ERROR]


@pytest.mark.parametrize("host", ["localhost", "a_b.example.", "[::1]:80", "127.0.0.1:", "x:0"])
async def test_host_of_any_proper_form_is_answered(house: House, host: str) -> None:
    async with httpx.AsyncClient(base_url=house.url, headers={"host": host}) as web:
        assert (await web.get("/play")).status_code == 200


@pytest.mark.parametrize("opening", [b"[", b'{"a":', b'{"player":['])
async def test_a_body_nested_deeply_is_refused(house: House, opening: bytes) -> None:
    async with httpx.AsyncClient(base_url=house.url) as web:
        headers = {"content-type": "application/json"}
        answer = await web.post(
            "/api/v1/players", content=opening * (60_000 // len(opening)), headers=headers
        )
    assert answer.status_code == 400, answer.text
    assert answer.json()["code"].startswith("http/")
    for name in HEADERS:
        assert name in answer.headers


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("players", {"player": "ada", "token": "x"}),
        ("competitions", {"file": 'name = "C"', "round": 3}),
    ],
)
async def test_unknown_fields_are_named(house: House, path: str, body: dict[str, Any]) -> None:
    await house.hub.store.add_player("olga")
    token = await house.hub.store.add_token("olga", ["organise"])
    headers = {"authorization": f"Bearer {token}"}
    async with httpx.AsyncClient(base_url=house.url, headers=headers) as web:
        answer = await web.post(f"/api/v1/{path}", json=body)
    assert answer.status_code == 400
    unknown = next(name for name in body if name in ("token", "round"))
    assert f"`{unknown}`" in answer.json()["detail"]


@pytest.mark.parametrize(
    ("method", "path", "near"),
    [
        ("GET", "matches?limt=3", "limit"),
        ("GET", "leaderboards/pig?version=all&limit=3", "versions"),
        ("GET", "games?x=1", ""),
        ("GET", "matches/nope/replay?ply=3", ""),
        ("POST", "players?dry_run=1", ""),
        ("GET", "audit?limit=1&who=olga", ""),
        ("GET", "matches?match=1&state=2&request=3", ""),
    ],
)
async def test_unknown_parameters_are_named(
    house: House, method: str, path: str, near: str
) -> None:
    await house.hub.store.add_player("olga")
    token = await house.hub.store.add_token("olga", ["admin"])
    headers = {"authorization": f"Bearer {token}"}  # strangers hear first that they need one
    async with httpx.AsyncClient(base_url=house.url, headers=headers) as web:
        answer = await web.request(method, f"/api/v1/{path}", json={"player": "ada"})
    assert answer.status_code == 400, answer.text
    problem = answer.json()
    assert problem["code"] == "http/400", "as for unknown fields of a body"
    unknown = {"limt", "version", "x", "ply", "dry_run", "who", "match"}
    assert any(f"parameter '{name}' " in problem["detail"] for name in unknown)
    assert (f"did you mean {near}?" in problem["detail"]) is bool(near)


async def test_known_parameters_are_taken(house: House) -> None:
    async with httpx.AsyncClient(base_url=house.url) as web:
        for path in (
            "/api/v1/matches?limit=3&status=finished&rated=true",
            "/api/v1/leaderboards/pig?versions=all&limit=3&offset=1",
            "/readyz?probe=1",
            "/matches?from=mail",
        ):
            assert (await web.get(path)).status_code == 200, path


async def test_strangers_are_not_told_where_the_database_is(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(*_: Any, **__: Any) -> Any:
        raise Unreachable("no database server answers at postgresql://ann@db.example.org/house")

    for name in ("read", "authenticate"):
        monkeypatch.setattr(house.hub.store, name, broken)
    headers = {"authorization": "Bearer ply_x"}
    async with httpx.AsyncClient(base_url=house.url, headers=headers) as web:
        answers = [
            await web.get("/api/v1/competitions"),
            await web.get("/api/v1/players/ada"),
            await web.post("/api/v1/tokens/revoke", json={"token": "ply_x", "why": "x"}),
        ]
    for answer in answers:
        assert answer.status_code == 503
        assert "example" not in answer.text
        assert "postgresql" not in answer.text
        assert "does not answer" in answer.json()["detail"]


async def test_health_is_not_ok_while_nothing_can_be_written(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with httpx.AsyncClient(base_url=house.url) as web:
        assert (await web.get("/api/v1/health")).json()["status"] == "ok"

        async def full() -> None:
            raise DatabaseFull("the disk that holds the database /srv/plyhouse.db is full")

        monkeypatch.setattr(house.hub.store, "probe", full)
        house.hub.health.forget()
        answer = await web.get("/api/v1/health")
    assert answer.status_code == 503
    assert answer.json()["status"] == "degraded"
    assert "/srv" not in answer.text


async def test_the_description_of_the_api_tells_what_refusals_look_like(house: House) -> None:
    async with httpx.AsyncClient(base_url=house.url) as web:
        described = (await web.get("/api/openapi.json")).json()
        refused = await web.get("/api/v1/matches/nothing")
    operation = described["paths"]["/api/v1/matches/{match}"]["get"]
    content = operation["responses"]["4XX"]["content"]
    assert refused.headers["content-type"] in content
    assert set(refused.json()) == set(described["components"]["schemas"]["Problem"]["properties"])
    assert "oneOf" not in str(described), "10 is an integer and a number"


@pytest.mark.parametrize("token", ["", "ply_wrong"])
async def test_who_one_is_comes_before_what_one_sends(house: House, token: str) -> None:
    """A body from a client without permission is not read, so its mistakes do not matter."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    async with httpx.AsyncClient(base_url=house.url, headers=headers) as web:
        described = (await web.get("/api/openapi.json")).json()
        asked = 0
        allowed = {"auth/bad_token", "auth/rate"} if token else {"auth/required"}
        for path, methods in described["paths"].items():
            for method, operation in methods.items():
                if not operation.get("security") or "requestBody" not in operation:
                    continue
                if path == "/api/v1/join":
                    continue  # with a token it is for an account, without for a new one
                filled = path
                for each in operation.get("parameters", []):
                    value = "1" if each["schema"].get("type") == "integer" else "x"
                    filled = filled.replace(f"{{{each['name']}}}", value)
                answer = await web.request(method, filled, json={"nonsense": 1})
                assert answer.json()["code"] in allowed, (method, path, answer.text)
                asked += 1
    assert asked > 20
