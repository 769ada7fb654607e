"""Submissions over HTTP: accepted, refused before they are read, and their visibility."""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import pickle
import stat
import zipfile
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.harness.server import Server

from plyhouse.clients.api import ApiError, AsyncApi
from plyhouse.clients.cli.main import main
from plyhouse.clients.cli.submit import waited
from plyhouse.protocol.api.submissions import Submission
from plyhouse.protocol.hosting.package import Rules, digest_of, from_upload, from_zip, version_of
from plyhouse.protocol.hosting.runner_messages import RunnerReport
from plyhouse.storage import (
    competition_students,
    people,
    stored_packages,
    submission_checks,
    submission_sql,
)
from plyhouse.storage.competition_rows import NewMember
from plyhouse.storage.errors import SubmissionRefusal
from plyhouse.storage.rows import By, Identity

HERE = "/api/v1/submissions"
CLASSES = "/api/v1/competitions"
FILE = 'name = "Cup"\ngames = ["pig"]\ntime_control = "total:60"\n'
BOT = (
    b"from plyhouse.bots import Bot\nclass Mine(Bot):\n    games = ('pig',)\n"
    b"    def choose(self, turn):\n        return turn.legal[0]\n"
)
LIMIT = 40_000


def zipped(*entries: tuple[str | zipfile.ZipInfo, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries:
            archive.writestr(name, content)
    return out.getvalue()


def link(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name)
    entry.external_attr = (stat.S_IFLNK | 0o777) << 16
    return entry


@pytest.fixture
async def house(open_house: Callable[..., Awaitable[Server]]) -> Server:
    return await open_house(hosted=True, max_submission_bytes=LIMIT, submissions_per_hour=40)


@pytest.fixture
async def ada(house: Server) -> AsyncIterator[httpx.AsyncClient]:
    headers = {"Authorization": f"Bearer {await house.token('ada')}"}
    async with httpx.AsyncClient(base_url=house.server.url, headers=headers) as client:
        yield client


async def submit(client: httpx.AsyncClient, data: bytes, **query: str) -> dict[str, Any]:
    answer = await client.post(HERE, content=data, params={"file": "mybot.py", **query})
    assert answer.status_code == 201, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def refused(client: httpx.AsyncClient, data: Any, **query: str) -> tuple[int, str]:
    answer = await client.post(HERE, content=data, params={"file": "mybot.py", **query})
    return answer.status_code, answer.json().get("code", "no refusal")


async def test_a_file_and_a_zip_are_kept_for_their_checks(
    house: Server, ada: httpx.AsyncClient
) -> None:
    file = await submit(ada, BOT)
    assert file["digest"] == digest_of(from_upload("mybot.py", BOT, Rules()))
    told = {name: file[name] for name in ("bot", "status", "games", "report", "competitions")}
    assert told == {
        "bot": "ada/mybot",
        "status": "waiting",
        "games": [],
        "report": "",
        "competitions": [],
    }
    assert (await submit(ada, BOT, file="C:\\mine\\MyBot.py"))["submission"] == file["submission"]
    manifest = b'[bot]\nname = "deep"\n'
    entries = (("top/bot.py", BOT), ("top/plyhouse.toml", manifest), ("top/w.txt", b"1"))
    folder = await submit(ada, zipped(*entries), file="x.zip", version="v2")
    assert (folder["bot"], folder["version"]) == ("ada/deep", "v2")
    store = house.hub.store
    assert [*await store.read(submission_checks.waiting)] == [
        file["submission"],
        folder["submission"],
    ]
    package = from_zip(await store.read(stored_packages.archive, folder["digest"]), Rules())
    assert package.files == {"bot.py": BOT, "plyhouse.toml": manifest, "w.txt": b"1"}
    assert version_of(package) == folder["digest"]
    row = await store.write(
        submission_sql.check, file["submission"], True, "all\nwell", ("pig",), 10**13
    )
    listed = (await ada.get(HERE)).json()
    assert [(each["bot"], each["status"]) for each in listed] == [
        ("ada/deep", "waiting"),
        ("ada/mybot", "ready"),
    ]
    assert [each["bot"] for each in (await ada.get(HERE, params={"bot": "Deep"})).json()] == [
        "ada/deep"
    ]
    shown = (await ada.get(f"{HERE}/{row.id}")).json()
    assert (shown["report"], shown["games"], shown["checked_ms"]) == ("all\nwell", ["pig"], 10**13)
    assert listed[1] == {**shown, "report": ""}
    # A connection with the same file plays with the same version.
    bot = await house.client()
    await bot.hello(await house.token("ada"), "mybot", games=["pig"], digest=file["digest"])
    assert house.hub.directory.presences[row.bot_id].version_id == row.version_id
    assert (await ada.delete(f"{HERE}/{row.id}")).status_code == 204
    assert (await ada.get(f"{HERE}/{row.id}")).status_code == 404


async def test_what_may_not_be_in_a_package(house: Server, ada: httpx.AsyncClient) -> None:
    bot = ("bot.py", BOT)
    for data, code in (
        (zipped(bot, ("../slip.py", b"x")), "bad_name"),
        (zipped(bot, ("/etc/cron.d/x", b"x")), "bad_name"),
        (zipped(bot, (link("data"), b"/etc/passwd")), "bad_file"),
        (zipped(bot, ("weights.dat", pickle.dumps({"a": 1.0}))), "pickle"),
        (zipped(bot, ("zeros", bytes(33 << 20))), "too_large"),
        (zipped(bot, *((f"f{number}", b"") for number in range(300)))[:-30], "bad_file"),
        (zipped(bot, ("requirements.txt", b"torch\n")), "requirement"),
        (zipped(bot, ("fast.so", b"\x7fELF")), "compiled"),
        (zipped(("a.py", BOT), ("b.py", BOT)), "manifest"),
        (zipped(), "missing"),
        (b"", "bad_file"),
    ):
        answer = await refused(ada, data, file="mine.zip")
        status = 413 if code == "too_large" else 400
        assert answer == (status, f"submission/{code}")
    assert not await house.hub.store.read(submission_checks.waiting)
    assert await house.hub.store.read(people.list_bots) == []


async def test_who_may_hand_in_and_how_much(house: Server, ada: httpx.AsyncClient) -> None:
    too_much = bytes(LIMIT + 1)
    assert await refused(ada, too_much) == (413, "submission/too_large")

    async def endless() -> AsyncIterator[bytes]:  # says nothing of its size
        for _ in range(20):
            yield bytes(LIMIT // 10)

    assert await refused(ada, endless()) == (413, "submission/too_large")
    assert await refused(ada, BOT, bot="ADA") == (400, "submission/bot_name")
    assert await refused(ada, BOT, bot="no good") == (400, "storage/bad_name")
    assert await refused(ada, BOT, bots="x") == (400, "http/400")
    assert await refused(ada, BOT, competition="Cup") == (404, "storage/unknown")
    async with httpx.AsyncClient(base_url=house.server.url) as stranger:
        assert await refused(stranger, too_much) == (401, "auth/required")
        stranger.headers["Authorization"] = "Bearer ply_wrong"
        assert await refused(stranger, BOT) == (401, "auth/bad_token")
        stranger.headers["Authorization"] = f"Bearer {await house.token('olga', 'organise')}"
        assert await refused(stranger, BOT) == (403, "auth/scope")
    own = (await submit(ada, BOT))["submission"]
    for number in (own, 10**30):
        async with httpx.AsyncClient(base_url=house.server.url) as other:
            other.headers["Authorization"] = f"Bearer {await house.token('bob')}"
            for method in ("GET", "DELETE"):
                answer = await other.request(method, f"{HERE}/{number}")
                assert (answer.status_code, answer.json()["code"]) == (404, "storage/unknown")
                assert f"there is no submission {number};" in answer.text.lower()
            assert (await other.get(HERE)).json() == []


async def test_handing_in_for_a_competition(house: Server, ada: httpx.AsyncClient) -> None:
    store = house.hub.store
    olga = {"Authorization": f"Bearer {await house.token('olga', 'organise')}"}
    async with httpx.AsyncClient(base_url=house.server.url, headers=olga) as organiser:
        opened = await organiser.post(CLASSES, json={"file": FILE})
        assert opened.status_code == 201, opened.text
        assert await refused(ada, BOT, competition="Cup") == (404, "storage/unknown")
        await store.write(
            competition_students.take_in,
            "Cup",
            [NewMember("ada", "ada")],
            By("olga"),
            store.now(),
            adopt="*",
        )
        made = await submit(ada, BOT, competition="cup")
        assert [each["outcome"] for each in made["competitions"]] == [""]
        await organiser.post(f"{CLASSES}/cup/freeze", json={})
        assert await refused(ada, BOT + b"#", competition="Cup") == (409, "competition/frozen")
        await store.write(submission_sql.check, made["submission"], True, "fine", ("pig",), 5)
        entered = (await ada.get(f"{HERE}/{made['submission']}")).json()["competitions"]
        asked = {"competition": "Cup", "chosen": True, "outcome": "entered", "text": "entered"}
        assert entered == [asked | {"missing": [], "days_late": 0, "penalty": 0.0}]
        (entry,) = (await organiser.get(f"{CLASSES}/cup")).json()["entries"]
        assert (entry["entry"], entry["digest"]) == ("ada/mybot", made["digest"])
        seen = await organiser.get(f"{HERE}/{made['submission']}")
        assert seen.json()["report"] == "fine"
        gone = await ada.delete(f"{HERE}/{made['submission']}")
        assert (gone.status_code, gone.json()["code"]) == (409, "submission/entered")


async def test_limits_of_a_player_and_of_a_server(house: Server, ada: httpx.AsyncClient) -> None:
    uploads = house.hub.uploads
    with uploads.place((await house.hub.store.read(people.player, "ada")).id):
        assert await refused(ada, BOT) == (429, "submission/busy")
    with contextlib.ExitStack() as slow:
        several = [slow.enter_context(uploads.place(-number)) for number in range(1, 100)]
        for each in several:  # who only begins keeps nobody else out
            each.add(b"#")
        assert (await submit(ada, BOT))["bot"] == "ada/mybot"
        for each in several[:31]:
            each.add(bytes(uploads.rules.max_packed - 1))
        with pytest.raises(SubmissionRefusal, match="a package has at most"):
            several[0].add(b"#")
        for number in range(2):
            several[31].add(bytes(uploads.rules.max_packed // 2 - 100 * number))
        assert await refused(ada, BOT + bytes(300)) == (503, "server/overloaded")
    for number in range(37):
        assert (await refused(ada, b"", bot=f"b{number}", file="x"))[1] == "submission/missing"
    answer = await ada.post(HERE, content=BOT, params={"file": "mybot.py"})
    body = answer.json()
    assert (answer.status_code, body["code"]) == (429, "submission/too_many")
    assert 1 <= body["retry_after"] <= 90  # one comes back every 90 s
    assert answer.headers["retry-after"] == str(body["retry_after"])
    assert f"wait {body['retry_after']} s" in body["detail"]


async def test_a_server_that_hosts_nothing_says_what_to_do(
    open_house: Callable[..., Awaitable[Server]],
) -> None:
    house = await open_house()
    headers = {"Authorization": f"Bearer {await house.token('ada')}"}
    async with httpx.AsyncClient(base_url=house.server.url, headers=headers) as ada:
        answer = await ada.post(HERE, content=BOT)
        body = answer.json()
        assert (answer.status_code, body["code"]) == (403, "submission/not_hosted")
        assert "plyhouse bot run" in body["detail"]


async def test_from_the_command_line(
    house: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    token, store = await house.token("ada"), house.hub.store
    given = ["--server", house.server.url, "--token", token]
    path = tmp_path / "deep.py"
    path.write_bytes(BOT)

    async def plyhouse(*arguments: str) -> tuple[int, str, str]:
        code = await asyncio.to_thread(main, [*arguments, *given])
        return code, *capsys.readouterr()

    code, out, err = await plyhouse("submit", str(path), "--no-wait")
    (number,) = await store.read(submission_checks.waiting)
    assert (code, out) == (0, "")
    assert f"Submission {number}: ada/deep, version " in err
    assert "It waits for its check." in err
    code, out, err = await plyhouse("submit", str(path), "--timeout", "0")
    assert code == 1
    assert f"plyhouse submission show {number} shows it later" in err
    row = await store.write(submission_sql.check, number, True, "ok      loads", ("pig",), 10)
    code, out, err = await plyhouse("submit", str(path))
    assert (code, out) == (0, "ok      loads\n")
    assert "ada/deep is ready, and plays pig." in err
    code, out, err = await plyhouse("submission", "list", "--json")
    assert [(each["submission"], each["status"]) for each in json.loads(out)] == [(number, "ready")]
    code, out, err = await plyhouse("submission", "show", str(number))
    assert row.digest[:12] in out
    assert out.endswith("ok      loads\n")
    folder = tmp_path / "many"
    folder.mkdir()
    for name in ("bot.py", "weights.pkl"):
        (folder / name).write_bytes(BOT)
    code, out, err = await plyhouse("submit", str(folder))
    assert (code, "weights.pkl is a pickle" in err) == (2, True), "told before anything is sent"
    (folder / "weights.pkl").unlink()
    code, out, err = await plyhouse("submit", str(folder), "--competition", "Cup")
    assert (code, "there is no competition 'Cup'" in err) == (2, True)
    code, out, err = await plyhouse("submit", str(folder), "--bot", "many", "--json", "--no-wait")
    refused = json.loads(out)
    assert (code, refused["bot"], refused["status"]) == (0, "ada/many", "waiting")
    await store.write(submission_sql.check, refused["submission"], False, "FAILED  loads", (), 11)
    code, out, err = await plyhouse("submission", "show", str(refused["submission"]))
    assert "ada/many is refused" in err
    assert (await plyhouse("submission", "remove", str(number)))[0] == 0
    code, out, err = await plyhouse("submission", "list")
    assert ("ada/deep" in out, "ada/many" in out) == (False, True)
    await house.hub.competitions.open(FILE, By("olga"))
    await house.hub.store.write(
        competition_students.take_in,
        "Cup",
        [NewMember("ada", "ada")],
        By("olga"),
        house.hub.store.now(),
        adopt="*",
    )
    other = ["submit", str(path), "--competition", "cup"]
    assert (await plyhouse(*other, "--no-wait"))[0] == 0
    await store.write(
        submission_sql.check,
        next(iter(await store.read(submission_checks.waiting))),
        True,
        "",
        ("tic_tac_toe",),
        12,
    )
    code, out, err = await plyhouse(*other)
    assert (code, "Cup: not entered: it plays none of the games" in err) == (1, True), err


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("class Mine(Bot:\n    pass\n", "mybot.py, line 1: invalid syntax"),
        ("import nowhere_to_be_found\n", "No module named 'nowhere_to_be_found' (mybot.py:1"),
        ("x = 1\n", "mybot.py has no bot"),
        ("import os\nos._exit(7)\n", "ended with exit code 7"),
        ("from helper import Mine\n", "helper.py, line 1: '(' was never closed"),
    ],
)
async def test_submit_a_bot_that_does_not_import_is_not_sent(
    house: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, said: str
) -> None:
    token, store = await house.token("ada"), house.hub.store
    (tmp_path / "mybot.py").write_text(text)
    (tmp_path / "helper.py").write_text("print(\n" if "helper" in text else "")
    given = ["submit", str(tmp_path), "--no-wait", "--server", house.server.url, "--token", token]
    assert await asyncio.to_thread(main, given) == 2
    shown = capsys.readouterr().err
    assert "Nothing was sent" in shown
    assert said in shown
    assert "--anyway" in shown
    assert not await store.read(submission_checks.waiting)
    assert await asyncio.to_thread(main, [*given, "--anyway", "--bot", "mine"]) == 0
    assert len(await store.read(submission_checks.waiting)) == 1


async def test_submit_accepts_a_missing_package_that_the_server_offers(
    house: Server, tmp_path: Path
) -> None:
    (tmp_path / "numpy.py").write_text("raise ModuleNotFoundError('not here', name='numpy')\n")
    (tmp_path / "mybot.py").write_bytes(b"import numpy\n" + BOT)
    given = ["--no-wait", "--server", house.server.url, "--token", await house.token("ada")]
    assert await asyncio.to_thread(main, ["submit", str(tmp_path), *given]) == 0


async def test_a_bot_is_called_as_its_file_with_plain_letters(
    house: Server, ada: httpx.AsyncClient
) -> None:
    for file, name in (
        ("Größe.py", "ada/Grosse"),
        ("mein bot 2.py", "ada/mein_bot_2"),
        ("мой_бот.py", "ada/мой_бот"),
    ):
        assert (await submit(ada, BOT, file=file))["bot"] == name


async def test_from_scripts(house: Server, tmp_path: Path) -> None:
    token, store = await house.token("ada"), house.hub.store
    (tmp_path / "bot.py").write_bytes(BOT)
    (tmp_path / "__pycache__").mkdir()
    (tmp_path / "__pycache__" / "bot.pyc").write_bytes(b"x")
    async with AsyncApi(house.server.url, token) as api:
        made = await api.submit(tmp_path, bot="deep", version="1")
        assert (made.bot, made.version, made.status) == ("ada/deep", "1", "waiting")
        assert made.digest == digest_of(from_upload("bot.py", BOT, Rules()))
        await store.write(submission_sql.check, made.submission, True, "fine", ("pig",), 10)
        assert (await api.submission(made.submission)).report == "fine"
        assert [each.status for each in await api.submissions("deep")] == ["ready"]
        await api.remove_submission(made.submission)
        assert await api.submissions() == []
        with pytest.raises(ApiError) as large:
            await api.submit(_written(tmp_path / "large.py", b"#" * (LIMIT + 1)))
        assert (large.value.code, large.value.status) == ("submission/too_large", 413)
        (tmp_path / "link").symlink_to("/etc")
        with pytest.raises(ValueError, match="is a link"):
            await api.submit(tmp_path)


def _written(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


def checked(status: str) -> Submission:
    return Submission(1, "ada/bot", "", "", status, [], 0, 0, None, [], False)


def test_whoever_waits_asks_more_and_more_rarely() -> None:
    times = [0.0]
    asked = iter(["waiting"] * 30)
    found = waited(
        lambda: checked(next(asked)),
        20.0,
        now=lambda: times[0],
        sleep=lambda seconds: times.__setitem__(0, times[0] + seconds),
    )
    assert found.status == "waiting"
    assert times[0] == 20.0
    assert len(list(asked)) > 15
    assert waited(lambda: checked("ready"), 0.0).status == "ready"


async def test_submission_without_a_runner_says_so_at_once_and_in_the_status(
    house: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "deep.py").write_bytes(BOT)
    (tmp_path / "cup.toml").write_text(FILE)

    async def plyhouse(*arguments: str, token: str) -> str:
        given = ["--server", house.server.url, "--token", token]
        await asyncio.to_thread(main, [*arguments, *given])
        return "".join(capsys.readouterr())

    olga, ada = await house.token("olga", "organise"), await house.token("ada")
    await plyhouse("competition", "open", str(tmp_path / "cup.toml"), token=olga)
    members = [NewMember(name="Ada", account="ada", line=1)]
    by = By("olga", "a test", None)
    await house.hub.store.write(
        competition_students.take_in, "Cup", members, by, house.hub.store.now(), adopt=["ada"]
    )
    assert "no runner machine" not in await plyhouse("competition", "status", "Cup", token=olga)
    said = await plyhouse(
        "submit", str(tmp_path / "deep.py"), "--competition", "Cup", "--no-wait", token=ada
    )
    assert "No runner machine is connected, so nothing checks it" in said
    assert "plyhouse runner" in said
    said = await plyhouse("competition", "status", "Cup", token=olga)
    assert "ada/deep waits for a check, and no runner machine is connected" in said


async def test_what_no_runner_has_is_said_before_and_after_it_is_handed_in(
    house: Server, ada: httpx.AsyncClient, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    olga = await house.token("olga", "organise")
    given = ["--server", house.server.url]
    file = tmp_path / "cup.toml"
    file.write_text(FILE + "[hosting]\nrequired = true\n")
    manifest = b'[bot]\nname = "script"\nrun = ["node", "bot.js"]\ngames = ["pig"]\n'
    data = zipped(("plyhouse.toml", manifest), ("bot.js", b"// nothing"))

    async def plyhouse(*arguments: str, token: str) -> str:
        code = await asyncio.to_thread(main, [*arguments, *given, "--token", token])
        out, err = capsys.readouterr()
        assert code == 0, err
        return str(out + err)

    async def comes(*languages: str) -> None:
        says = RunnerReport(name="lab", instance="12345678", cores=2, languages=[*languages])
        await house.hub.hosting.sync(Identity(1, "staff", frozenset(("runner",)), 1), says)

    check = ("competition", "check", str(file))
    lacking = "None of them has node: a bot that is started with it waits"
    assert lacking not in await plyhouse(*check, token=olga), "there are none"
    await comes("python", "program")
    assert lacking in await plyhouse(*check, token=olga)
    made = await submit(ada, data, file="mine.zip")
    assert made["waits_for"].startswith("It is started with node, which no runner machine here")
    number = str(made["submission"])
    token = ada.headers["Authorization"].removeprefix("Bearer ")
    assert made["waits_for"] in await plyhouse("submission", "show", number, token=token)
    await comes("python", "program", "node")
    assert lacking not in await plyhouse(*check, token=olga)
    now = (await ada.get(f"{HERE}/{number}")).json()["waits_for"]
    assert now.startswith("Runner lab is checking it")
    assert (await submit(ada, BOT))["waits_for"] == ""
