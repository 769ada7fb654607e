"""How answers travel: compressed where that is wanted, and not at all where they are known."""

from __future__ import annotations

import asyncio
import gzip
import json
import re
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.harness.patience import PATIENCE

from plyhouse.bots.running.python_session import RunOptions, SeekRequest, run_bot
from plyhouse.games.position import OutOfTurn
from plyhouse.games.registry import get_game
from plyhouse.protocol.codec import SUBPROTOCOLS
from plyhouse.server.web import bundle
from plyhouse.server.web.client import ClientFiles, matches_etag
from plyhouse.server.web.compression import LONG, Compression, accepts_gzip, is_text
from plyhouse.server.web.replay import replay
from plyhouse.storage import match_reads
from plyhouse.storage.rows import EventRow, StoredMatch

from .conftest import House

GZIP = {"accept-encoding": "gzip"}
IDENTITY = {"accept-encoding": "identity"}


STAYS = """
from plyhouse.bots import Bot


class Stays(Bot):
    name = "stays"

    def choose(self, turn):
        texts = zip(turn.legal, turn.legal_text)
        return turn.rng.choice([each for each, text in texts if text != "pass"] or turn.legal)
"""


async def long_match(house: House, game: str, folder: Path) -> str:
    """A whole match of two bots that pass only when they must; returns its id.

    One in a hundred matches of go between random bots ends by passes before its 50th ply.
    """
    bot = folder / "stays.py"
    bot.write_text(STAYS)
    seeks = [SeekRequest(game, "total:300")]
    options = RunOptions(seeks=seeks, matches=1, say=lambda _: None)
    runs = [
        run_bot(str(bot), house.url, await house.token(player), options)
        for player in ("alice", "bob")
    ]
    summary, _ = await asyncio.wait_for(asyncio.gather(*runs), 100)
    return summary.results[0].match


@pytest.mark.parametrize(
    "path", ["/play", "/api", "/api/openapi.json", "/api/v1/games", "/web/style.css", "/web/dom.js"]
)
async def test_texts_are_compressed_for_those_who_accept_it(house: House, path: str) -> None:
    async with httpx.AsyncClient(base_url=house.url) as web:
        plain = await web.get(path, headers=IDENTITY)
        packed = await web.get(path, headers=GZIP)
        async with web.stream("GET", path, headers=GZIP) as answer:
            sent = b"".join([each async for each in answer.aiter_raw()])
    assert "content-encoding" not in plain.headers
    assert packed.headers["content-encoding"] == "gzip"
    assert packed.headers["content-type"] == plain.headers["content-type"]
    assert plain.headers["vary"] == packed.headers["vary"] == "Accept-Encoding"
    assert gzip.decompress(sent) == plain.content == packed.content
    assert len(sent) == int(packed.headers["content-length"]) < len(plain.content) / 2


@pytest.mark.parametrize("game", ["battleship", "go"])
async def test_a_long_replay_travels_as_a_tenth_of_its_length(
    house: House, game: str, tmp_path: Path
) -> None:
    """The public view and, where it differs, a seat's view. Without paging, the longest plain
    answer had 3.9 MB in battleship and 1 MB in go.
    """
    match = await long_match(house, game, tmp_path)
    async with httpx.AsyncClient(base_url=f"{house.url}/api/v1/matches/{match}") as web:
        for seat in ("", "&seat=0"):
            plain = sent = first = 0
            plies = 1
            while first <= plies:
                path = f"/replay?first={first}{seat}"
                async with web.stream("GET", path, headers=GZIP) as answer:
                    assert answer.headers["content-encoding"] == "gzip"
                    packed = b"".join([each async for each in answer.aiter_raw()])
                whole = gzip.decompress(packed)
                part = json.loads(whole)
                assert len(packed) <= 200_000
                sent, plain = sent + len(packed), plain + len(whole)
                first, plies = part["frames"][-1]["ply"] + 1, part["plies"]
            assert plies > 50
            assert sent * 10 <= plain


async def test_short_answers_stay_as_they_are(house: House) -> None:
    async with httpx.AsyncClient(base_url=house.url, headers=GZIP) as web:
        for path in ("/api/v1/competitions", "/web/icon.svg"):
            assert "content-encoding" not in (await web.get(path)).headers


async def test_the_websocket_is_left_alone(house: House) -> None:
    headers = {
        **GZIP,
        "connection": "Upgrade",
        "upgrade": "websocket",
        "sec-websocket-version": "13",
        "sec-websocket-key": "AAAAAAAAAAAAAAAAAAAAAA==",
        "sec-websocket-protocol": SUBPROTOCOLS[0],
    }
    async with (
        httpx.AsyncClient(base_url=house.url, timeout=PATIENCE) as web,
        web.stream("GET", "/ws", headers=headers) as answer,
    ):
        assert answer.status_code == 101
        assert "content-encoding" not in answer.headers


async def sent(parts: list[tuple[bytes, bool]], content_type: str, accept: str) -> list[Any]:
    """Return the compressed answer of these parts, each with whether more follow."""

    async def app(scope: Any, receive: Any, send: Any) -> None:
        headers = [(b"content-type", content_type.encode()), (b"content-length", b"1")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        for body, more in parts:
            await send({"type": "http.response.body", "body": body, "more_body": more})

    messages: list[Any] = []

    async def collect(message: Any) -> None:
        messages.append(message)

    async def nothing() -> Any:
        raise AssertionError("nobody reads")

    scope: Any = {"type": "http", "headers": [(b"accept-encoding", accept.encode())]}
    await Compression(app)(scope, nothing, collect)
    return messages


async def test_long_answers_are_compressed_in_a_thread_with_the_same_result() -> None:
    body = b'{"a": 1}' * LONG
    start, whole = await sent([(body, False)], "application/problem+json", "gzip")
    assert gzip.decompress(whole["body"]) == body
    headers = dict(start["headers"])
    assert headers[b"content-length"] == str(len(whole["body"])).encode()
    assert headers[b"content-encoding"] == b"gzip"
    assert (await sent([(body, False)], "text/plain", "gzip"))[1]["body"] == whole["body"]


async def test_what_is_no_text_or_comes_in_parts_passes_as_it_is() -> None:
    body = b"x" * 5000
    for parts, kind in (([(body, False)], "image/png"), ([(body, True), (b"", False)], "text/css")):
        start, *bodies = await sent(parts, kind, "gzip")
        assert [each["body"] for each in bodies] == [part for part, _ in parts]
        assert b"content-encoding" not in dict(start["headers"])


@pytest.mark.parametrize(
    ("header", "accepted"),
    [
        ("gzip, deflate, br", True),
        ("GZIP", True),
        ("br;q=1.0, gzip;q=0.8, *;q=0.1", True),
        ("*", True),
        ("gzip;q=0", False),
        ("gzip; q=0.000, *", False),
        ("*;q=0", False),
        ("x-gzip2", False),
        ("identity", False),
        ("", False),
        (";;q=,", False),
    ],
)
def test_who_accepts_gzip(header: str, accepted: bool) -> None:
    assert accepts_gzip(header) is accepted


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("text/html; charset=utf-8", True),
        ("application/vnd.oai.openapi+json", True),
        ("image/svg+xml", True),
        ("image/png", False),
        ("", False),
    ],
)
def test_kinds_of_text(kind: str, text: bool) -> None:
    assert is_text(kind) is text


async def test_a_file_that_a_browser_has_is_not_sent_again(house: House) -> None:
    async with httpx.AsyncClient(base_url=house.url) as web:
        first = await web.get("/web/match.js")
        tag = first.headers["etag"]
        again = await web.get("/web/match.js", headers={"if-none-match": tag})
        other = await web.get("/web/match.js", headers={"if-none-match": 'W/"other"'})
        head = await web.head("/web/match.js", headers={"if-none-match": tag})
    assert first.headers["cache-control"] == "no-cache"
    for answer in (again, head):
        assert (answer.status_code, answer.content) == (304, b"")
        for name in ("etag", "cache-control", "vary"):
            assert answer.headers[name] == first.headers[name]
    assert (other.status_code, other.content) == (200, first.content)


async def test_only_files_for_browsers_are_handed_out(house: House) -> None:
    async with httpx.AsyncClient(base_url=house.url) as web:
        start = [(await web.get(path)).text for path in ("/web", "/web/", "/web/index.html")]
        for path in (
            "__init__.py",
            "none.js",
            "%2e%2e/__init__.py",
            "..%2fcli%2fmain.py",
            "a/b.js",
        ):
            assert (await web.get(f"/web/{path}")).status_code == 404, path
    assert start[0] == start[1] == start[2]


def test_a_changed_file_is_read_again_and_a_lost_one_is_missing(tmp_path: Path) -> None:
    for name, text in {"a.js": "1", "sub/b.css": "2", "c.py": "3"}.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    files = ClientFiles(tmp_path)
    assert list(files) == ["a.js", "sub/b.css"]
    first = files.get("a.js")
    assert first is not None
    assert files.get("a.js") is first
    (tmp_path / "a.js").write_text("changed")
    second = files.get("a.js")
    assert second is not None
    assert (second.data, second.media_type) == (b"changed", "text/javascript")
    assert second.etag != first.etag
    (tmp_path / "a.js").unlink()
    assert files.get("a.js") is files.get("../a.js") is None


async def test_no_request_waits_for_the_script_of_its_page(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Making the script of a match takes 50 ms, in which every clock would stand still."""
    monkeypatch.setattr(bundle, "script", lambda *_: pytest.fail("made after the start"))
    monkeypatch.setattr(bundle, "sheet", lambda *_: pytest.fail("made after the start"))
    async with httpx.AsyncClient(base_url=house.url) as web:
        for page in (
            "/",
            "/play",
            "/competitions",
            "/matches",
            "/wall",
            "/account",
            "/games/chess",
        ):
            named = re.findall(
                r'(?:src|href)="(/web/v-[^"]+\.(?:js|css))"', (await web.get(page)).text
            )
            assert len(named) == 2
            assert [(await web.get(each)).status_code for each in named] == [200, 200]


def test_another_version_has_another_address(tmp_path: Path) -> None:
    now = 0.0
    (tmp_path / "a.js").write_text("export const one = 1;")
    (tmp_path / "style.css").write_text("b { top: 0 }")
    files = ClientFiles(tmp_path, lambda: now)
    first = files.version
    sheet = files.kept("plyhouse.css")
    assert sheet is not None
    assert b"top: 0" in sheet.data
    assert files.get("plyhouse.css") is None
    (tmp_path / "a.js").write_text("export const one = 12;")
    assert files.version == first
    now = 1.0
    assert files.version != first
    made = files.kept("pages/a.js")
    assert made is not None
    assert b"const one = 12;" in made.data


@pytest.mark.parametrize(
    ("header", "same"),
    [('"a"', True), ('W/"b", W/"a"', True), ("*", True), ('"b"', False), ("", False)],
)
def test_tags_are_compared_weakly(header: str, same: bool) -> None:
    assert matches_etag(header, 'W/"a"') is same


async def test_a_replay_of_events_out_of_turn_is_refused(house: House) -> None:
    match = await house.play("tic_tac_toe", "a1 b1 a2 b2 a3")
    stored = await house.hub.store.read(match_reads.stored_match, match)
    game = get_game("tic_tac_toe")
    assert replay(stored, game, None, seats_open=True).plies == 5
    first: EventRow = next(event for event in stored.events if event.kind == "action")
    twice = StoredMatch(stored.header, stored.pairing, (first, *stored.events))
    with pytest.raises(OutOfTurn):
        replay(twice, game, None, seats_open=True)
