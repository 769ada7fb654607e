"""A bot that writes its own frames to its runner loses its match, and harms nobody else."""

from __future__ import annotations

import os
import tracemalloc
from pathlib import Path

import msgspec
import pytest
from tests.bots.conftest import BotFile, ManualClock
from tests.harness.supervised_bot import WIRE, supervised

from plyhouse.bots.process import traceback_reader
from plyhouse.bots.process.author_log import AuthorLine
from plyhouse.bots.process.messages import (
    HEADER,
    MAX_FROM_CHILD,
    MAX_TEXT,
    Chosen,
    Failed,
    UnreadableMessage,
    decode_from_child,
    frame,
    shortened,
)
from plyhouse.bots.process.output_limits import Allowance

ACT = msgspec.msgpack.encode({"type": "Chosen", "match": "m1", "turn": 1, "action": "1"})
"""A map of four fields, to which `with_field` adds one."""


def with_field(name: str, value: bytes) -> bytes:
    return bytes([ACT[0] + 1]) + ACT[1:] + msgspec.msgpack.encode(name) + value


HOSTILE = {
    "info that is an array": with_field("info", b"\xdd\x00\x01\x80\x00" + b"\x80" * 98_304),
    "info of many actions": with_field("info", b"\x81\xa2pv\xdc\xff\xff" + b"\xa0" * 0xFFFF),
    "an unknown field, nested": with_field("spare", b"\x91" * 100_000),
    "text that is no UTF-8": ACT[:-1] + b"\xff",
    "a type of 100,000 letters": msgspec.msgpack.encode({"type": "x" * 100_000}),
    "no message": b"\xc1",
}


@pytest.mark.parametrize("body", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_frame_is_refused_in_little_memory(body: bytes) -> None:
    assert len(body) <= MAX_FROM_CHILD
    tracemalloc.start()
    with pytest.raises(UnreadableMessage) as refused:
        decode_from_child(body)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 12 * MAX_FROM_CHILD
    assert 0 < len(str(refused.value)) <= 200


@pytest.mark.parametrize("body", HOSTILE.values(), ids=HOSTILE.keys())
async def test_bot_with_a_hostile_frame_fails_its_turn(
    body: bytes, bot_file: BotFile, clock: ManualClock, tmp_path: Path
) -> None:
    (tmp_path / "body").write_bytes(body)
    spec = bot_file(
        f"""
        {WIRE}
        class MyBot(Bot):
            def choose(self, turn):
                if turn.match.id == "m1":
                    body = open({str(tmp_path / "body")!r}, "rb").read()
                    own_frame(len(body), body)
                    time.sleep(60)
                return turn.legal[0]
        """
    )
    async with supervised(spec, clock) as rig:
        rig.begin("m1")
        answer = await rig.ask("m1")
        assert isinstance(answer, Failed)
        assert "it sent its runner a message that cannot be read: " in answer.error
        assert len(answer.error) < 400
        rig.begin("m2")  # another process takes over
        assert isinstance(await rig.ask("m2"), Chosen)


async def test_long_frame_is_refused_by_its_length_alone(
    bot_file: BotFile, clock: ManualClock
) -> None:
    """As in 60 million empty maps: none of them is read."""
    spec = bot_file(
        f"""
        {WIRE}
        class MyBot(Bot):
            def choose(self, turn):
                if turn.match.id == "m1":
                    own_frame(60_000_005, b"")  # the rest never has to be sent
                    time.sleep(60)
                return turn.legal[0]
        """
    )
    async with supervised(spec, clock) as rig:
        rig.begin("m1")
        answer = await rig.ask("m1")
        assert isinstance(answer, Failed)
        assert "a message of 60,000,005 bytes; 131,072 are allowed" in answer.error
        rig.begin("m2")
        assert isinstance(await rig.ask("m2"), Chosen)


async def test_honest_bot_with_long_texts_keeps_the_limits(
    bot_file: BotFile, clock: ManualClock
) -> None:
    spec = bot_file(
        """
        class MyBot(Bot):
            def choose(self, turn):
                turn.info(depth=3, pv=[turn.legal[0], "x" * 300], text="y" * 9000)
                if turn.match.id == "m1":
                    raise RuntimeError("\\N{SNOWMAN}" * 1_000_000 + "\\ud800")
                return "z" * 1_000_000
        """
    )
    async with supervised(spec, clock) as rig:
        rig.begin("m1")
        failed = await rig.ask("m1")
        assert isinstance(failed, Failed)
        assert failed.error.startswith("RuntimeError: \N{SNOWMAN}")
        assert len(failed.error) == len(failed.traceback) == MAX_TEXT
        assert failed.position
        rig.begin("m2")
        chosen = await rig.ask("m2")
        assert isinstance(chosen, Chosen)
        assert len(chosen.action) == len(chosen.warning) == MAX_TEXT
        assert chosen.info is None
        await rig.until(lambda: "its info was not sent" in rig.text)
        assert "$.pv[1]" in rig.text
        assert rig.supervisor.restarts == 0


def test_longest_messages_fit_into_a_frame() -> None:
    text = "\N{GRINNING FACE}" * 20_000
    for longest in (Failed("m", 1, text, text, text), Chosen("m", 1, text, text)):
        data = frame(shortened(longest))
        assert len(data) - HEADER.size <= MAX_FROM_CHILD
        decode_from_child(data[HEADER.size :])


async def test_failure_in_a_match_that_the_bot_never_had_names_its_own(
    bot_file: BotFile, clock: ManualClock
) -> None:
    """The outbox of a runner has files for each match that is named."""
    spec = bot_file(
        f"""
        {WIRE}
        from plyhouse.bots.process.messages import HEADER, Failed, frame

        class MyBot(Bot):
            def choose(self, turn):
                for number in range(100):
                    body = frame(Failed(f"x{{number}}", 0, "E", "", ""))[HEADER.size:]
                    own_frame(len(body), body)
                return turn.legal[0]
        """
    )
    async with supervised(spec, clock) as rig:
        heard: list[AuthorLine] = []
        rig.supervisor.log._on_line = heard.append
        rig.begin("m1")
        await rig.ask("m1")
        assert {line.match for line in heard if line.kind == "crash"} == {"m1"}


def test_allowance_counts_bytes_and_takes_none_of_what_is_too_much() -> None:
    now = 0.0
    allowance = Allowance(100, lambda: now, seconds=10.0)
    assert allowance.take(90)
    assert not allowance.take(11)
    assert allowance.take(10)
    now = 5.0
    assert not allowance.take(51)
    assert allowance.take(50)


def test_forged_dump_quotes_no_file_outside_of_the_bots_folder(tmp_path: Path) -> None:
    folder, secret = tmp_path / "bot", tmp_path / "token"
    folder.mkdir()
    (folder / "bot.py").write_text("def choose():\n    spin()\n", "ascii")
    secret.write_text("ply_secret\n", "ascii")
    (folder / "link.py").symlink_to(secret)
    os.mkfifo(folder / "pipe.py")
    (folder / "large.py").write_text("ply_secret\n" + "#" * (1 << 20), "ascii")
    places = [
        str(secret),
        f"{folder}/../token",
        *[f"{folder}/{name}" for name in ("link.py", "pipe.py", "large.py", "bot.py")],
        "/dev/zero",
    ]
    dump = "Current thread 0x00007f (most recent call first):\n" + "".join(
        f'  File "{place}", line {1 + place.endswith("bot.py")} in choose\n' for place in places
    )
    shown = traceback_reader.readable(dump, str(folder))
    assert shown.count("in choose") == len(places)
    assert "ply_secret" not in shown
    assert f'  File "{folder}/bot.py", line 2, in choose\n    spin()' in shown
