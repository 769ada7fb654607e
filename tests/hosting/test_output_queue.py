"""The output of bots that a runner keeps until the server has it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from plyhouse.bots.process.author_log import AuthorLine, AuthorLog, AuthorOutput
from plyhouse.bots.process.ply_cost import CostOfPly
from plyhouse.clients.runner import output_queue as kept
from plyhouse.clients.runner.output_queue import LEFT, SETTLED, OutputQueue, Parcel
from plyhouse.protocol.hosting.runner_messages import MatchOutput

BOT = 7


class Seconds:
    """A clock that is moved by hand."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def seconds() -> Seconds:
    return Seconds()


@pytest.fixture
def outbox(tmp_path: Path, seconds: Seconds) -> OutputQueue:
    return OutputQueue(tmp_path / "outbox", seconds)


def said(outbox: OutputQueue, *texts: str, match: str = "m", ply: int | None = 0) -> None:
    for text in texts:
        outbox.line(BOT, AuthorLine(match, ply, "print", text))


def texts(parcel: Parcel) -> list[str]:
    output = parcel.read()
    assert output is not None
    return [line.text for line in output.lines]


def test_a_match_is_told_once_it_is_over_with_what_is_printed_at_its_end(
    outbox: OutputQueue, seconds: Seconds
) -> None:
    said(outbox, "one")
    outbox.cost(BOT, CostOfPly("m", 0, 30, 20, 5))
    outbox.line(BOT, AuthorLine("", None, "note", "of no match"))
    seconds.now += 1000
    assert outbox.due() == []
    outbox.over(BOT, "m")
    said(outbox, "in finish", ply=None)
    assert outbox.due() == []
    seconds.now += SETTLED
    (parcel,) = outbox.due()
    said(outbox, "too late")
    output = parcel.read()
    assert output is not None
    assert (output.match, output.bot, output.cut) == ("m", BOT, 0)
    assert [(line.ply, line.text) for line in output.lines] == [(0, "one"), (None, "in finish")]
    assert [(each.ply, each.wall, each.cpu, each.waited) for each in output.costs] == [
        (0, 30, 20, 5)
    ]
    assert outbox.due() == [parcel]  # until somebody has it
    outbox.done(parcel)
    assert outbox.due() == []


def test_a_bot_that_ends_and_comes_back_goes_on_and_one_that_does_not_is_told(
    outbox: OutputQueue, seconds: Seconds
) -> None:
    said(outbox, "before")
    outbox.left(BOT)
    seconds.now += LEFT - 1
    said(outbox, "after")
    seconds.now += LEFT
    assert outbox.due() == []
    outbox.left(BOT)
    seconds.now += LEFT
    (parcel,) = outbox.due()
    assert texts(parcel) == ["before", "after"]
    said(outbox, "back after all")  # which is another part of the same match
    (first, second) = outbox.due(everything=True)
    parts = [each.read() for each in (first, second)]
    assert len({part.part for part in parts if part is not None}) == 2


def test_head_and_tail_are_kept_and_what_is_left_out_is_counted(
    outbox: OutputQueue, seconds: Seconds
) -> None:
    lines = [f"line {number}" for number in range(30_000)]
    said(outbox, *lines)
    outbox.line(BOT, AuthorLine("m", 1, "crash", "Traceback\n" + "x" * 100_000 + "\nKeyError: 1"))
    outbox.over(BOT, "m")
    seconds.now += SETTLED
    (parcel,) = outbox.due()
    output = parcel.read()
    assert output is not None
    size = len(msgspec.json.encode(output.lines))
    assert 40_000 < size <= 64 << 10
    crash = output.lines[-1].text
    assert crash.startswith("Traceback")
    assert crash.endswith("KeyError: 1")
    head = [line.text for line in output.lines[: output.cut_at]]
    tail = [line.text for line in output.lines[output.cut_at : -1]]
    assert head == lines[: len(head)]
    assert tail == lines[-len(tail) :]
    left_out = lines[len(head) : -len(tail)]
    encoded = sum(len(msgspec.json.encode([0, "print", text])) + 1 for text in left_out)
    assert output.cut == encoded
    # A server takes it.
    msgspec.json.decode(msgspec.json.encode(output), type=MatchOutput)


def test_a_flood_is_not_looked_at_for_ever_and_a_crash_is_told_all_the_same(
    outbox: OutputQueue, seconds: Seconds, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept, "MOST", 50)
    said(outbox, *["0123456789"] * 8)
    outbox.line(BOT, AuthorLine("m", 0, "crash", "it failed"))
    outbox.over(BOT, "m")
    seconds.now += SETTLED
    (parcel,) = outbox.due()
    output = parcel.read()
    assert output is not None
    assert (texts(parcel), output.cut) == ([*["0123456789"] * 5, "it failed"], 30)


def test_too_much_that_waits_for_a_server_is_dropped_the_oldest_first(
    outbox: OutputQueue, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept, "MOST_PARCELS", 3)
    for number in range(5):
        said(outbox, f"of {number}", match=f"m{number}")
    assert [texts(each) for each in outbox.due(everything=True)] == [["of 2"], ["of 3"], ["of 4"]]


PROGRAM = """
import sys, time
from pathlib import Path
from plyhouse.bots.process.author_log import AuthorLine
from plyhouse.clients.runner.output_queue import OutputQueue
outbox = OutputQueue(Path(sys.argv[1]))
outbox.line(7, AuthorLine("m", 0, "print", "of the dead"))
outbox.line(7, AuthorLine("m", 2, "print", "and more"))
print("written", flush=True)
time.sleep(600)
"""


def test_what_a_killed_program_left_is_told_by_the_next_and_not_what_a_living_one_has(
    tmp_path: Path, seconds: Seconds
) -> None:
    top = tmp_path / "outbox"
    program = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(top)], stdout=subprocess.PIPE, text=True
    )
    assert program.stdout is not None
    assert program.stdout.readline() == "written\n"
    other = OutputQueue(top, seconds)
    other.take_over()
    assert other.due() == []
    os.kill(program.pid, signal.SIGKILL)
    program.wait()
    program.stdout.close()
    about = next(top.glob("*/1.about"))
    with (about.parent / "1.head").open("ab") as file:
        file.write(b'[4,"print","torn in the mid')
    other.take_over()
    (parcel,) = other.due()
    assert texts(parcel) == ["of the dead", "and more"]
    other.close()  # this one ends without having told it
    third = OutputQueue(top, seconds)
    third.take_over()
    (again,) = third.due()
    first, second = parcel.read(), again.read()
    assert first == second  # by the same name: it counts once
    third.done(again)
    third.close()
    assert list(top.iterdir()) == []


def test_what_is_printed_while_a_bot_is_imported_belongs_to_its_first_match() -> None:
    heard: list[AuthorLine] = []
    log, voice = AuthorLog("mine", on_line=heard.append), AuthorOutput()
    voice.printed(log, ["loaded"])
    voice.begin(log, "m1")
    voice.ply = 4
    voice.printed(log, ["thinking"])
    log.crash("m1", "KeyError: 1", "", "a board", 4)
    log.note("match m1, turn.ply 4: time nearly out", "m1", 4)
    voice.begin(log, "m2")
    assert [(line.match, line.ply, line.kind, line.text) for line in heard] == [
        ("", None, "print", "loaded"),
        ("m1", None, "print", "loaded"),
        ("m1", 4, "print", "thinking"),
        ("m1", 4, "crash", "the bot failed: KeyError: 1\nthe position was:\na board"),
        ("m1", 4, "note", "time nearly out"),
    ]


def test_empty_lines_and_notes_are_not_taken_without_end(
    outbox: OutputQueue, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept, "MOST", 5000)
    monkeypatch.setattr(kept, "MOST_NOTES", 3)
    said(outbox, *[""] * 6000)
    for number in range(10):
        outbox.line(BOT, AuthorLine("m", 0, "note", f"note {number}"))
    outbox.over(BOT, "m")
    (parcel,) = outbox.due(everything=True)
    output = parcel.read()
    assert output is not None
    lines = [line for line in output.lines if line.kind == "print"]
    assert len(lines) <= 5000
    assert [line.text for line in output.lines if line.kind == "note"] == [
        "note 0", "note 1", "note 2"
    ]  # fmt: skip
    assert output.cut > 0
