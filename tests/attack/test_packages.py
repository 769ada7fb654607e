"""Uploads that were made to exhaust the server, or that no disk can store."""

from __future__ import annotations

import io
import struct
import zipfile
from collections.abc import Awaitable, Callable

import httpx
import pytest
from tests.attack.hostile_packages import MANIFESTS, REQUIREMENTS
from tests.harness.server import Server

from plyhouse.protocol.hosting.package import Rules, SubmissionError, from_upload

BOT = b"from plyhouse.bots import Bot\nclass Mine(Bot):\n    games = ('pig',)\n"


def upload(*entries: tuple[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in (("bot.py", BOT), *entries):
            archive.writestr(name, content)
    return out.getvalue()


def manifest(text: str) -> bytes:
    return upload(("plyhouse.toml", text.encode()))


def requirements(text: str) -> bytes:
    return upload(("requirements.txt", text.encode()))


def invalid_zip_name() -> bytes:
    """A name that claims to be UTF-8 and is not."""
    return upload(("é.txt", b"x")).replace("é".encode(), b"\xff\xfe")


def other_name_in_header() -> bytes:
    """A long name before the content of a file whose name in the directory is short."""
    long = b"x" * 60_000
    data = upload((long.decode(), b"x"))
    start = data.rindex(long)
    short = data[:start] + b"x" + data[start + len(long) :]
    entry = start - 46
    assert short[entry : entry + 4] == b"PK\1\2"
    size = len(data) - 22 - data.index(b"PK\1\2") - len(long) + 1
    fixed = short[: entry + 28] + struct.pack("<H", 1) + short[entry + 30 : -10]
    return fixed + struct.pack("<I", size) + short[-6:]


ATTACKS = {
    **{name: (manifest(text), code) for name, (text, code) in MANIFESTS.items()},
    **{name: (requirements(text), code) for name, (text, code) in REQUIREMENTS.items()},
    "file used as a folder": (upload(("a", b""), ("a/b", b"")), "bad_name"),
    "file used as a folder, other case": (upload(("A", b""), ("a/b/c", b"")), "bad_name"),
    "name of 96 emoji": (upload(("\N{GRINNING FACE}" * 96, b"")), "bad_name"),
    "name of 60,000 characters": (upload(("x" * 60_000, b"")), "bad_name"),
    "name of 60,000 characters in the header": (other_name_in_header(), "bad_file"),
    "name in broken UTF-8": (invalid_zip_name(), "bad_file"),
}


@pytest.mark.parametrize("attack", ATTACKS)
def test_hostile_package_is_refused(attack: str) -> None:
    data, code = ATTACKS[attack]
    with pytest.raises(SubmissionError) as caught:
        from_upload("bot.zip", data, Rules())
    assert caught.value.code == f"submission/{code}"
    assert len(str(caught.value)) < 500


async def test_hostile_uploads_are_answered_and_harm_nobody(
    open_house: Callable[..., Awaitable[Server]],
) -> None:
    house = await open_house(hosted=True, submissions_per_hour=len(ATTACKS) + 1)
    headers = {"Authorization": f"Bearer {await house.token('mallory')}"}
    async with httpx.AsyncClient(base_url=house.server.url, headers=headers) as client:
        for attack, (data, code) in ATTACKS.items():
            answer = await client.post(
                "/api/v1/submissions", content=data, params={"file": "bot.zip"}
            )
            assert answer.json().get("code") == f"submission/{code}", (attack, answer.text)
            assert 400 <= answer.status_code < 500, attack
        answer = await client.post(
            "/api/v1/submissions", content=upload(), params={"file": "bot.zip"}
        )
        assert answer.status_code == 201, answer.text


@pytest.mark.parametrize("name", ["a\0.py", "\x1b[2J.py", "\x9b2J.py", "a\nb.py"])
async def test_file_name_of_any_characters_is_answered_by_the_rules(
    open_house: Callable[..., Awaitable[Server]], name: str
) -> None:
    house = await open_house(hosted=True)
    headers = {"Authorization": f"Bearer {await house.token('mallory')}"}
    async with httpx.AsyncClient(base_url=house.server.url, headers=headers) as client:
        answer = await client.post("/api/v1/submissions", content=BOT, params={"file": name})
    assert answer.status_code == 400, answer.text
    assert answer.json()["code"] == "submission/bad_name", answer.text


async def test_upload_that_exceeds_the_inspector_s_limits_is_refused(
    open_house: Callable[..., Awaitable[Server]], monkeypatch: pytest.MonkeyPatch
) -> None:
    house = await open_house(hosted=True)
    monkeypatch.setattr("plyhouse.server.hosting.uploads.INSPECTION_SECONDS", 0.0)
    headers = {"Authorization": f"Bearer {await house.token('mallory')}"}
    async with httpx.AsyncClient(base_url=house.server.url, headers=headers) as client:
        answer = await client.post("/api/v1/submissions", content=BOT, params={"file": "bot.py"})
    assert answer.json()["code"] == "submission/too_complex", answer.text
