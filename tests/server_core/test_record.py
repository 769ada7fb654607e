"""Records are written, read back, and checked; every kind of tampering is found."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

import pytest

from plyhouse.games.deterministic.connect_four.rules import ConnectFour
from plyhouse.games.deterministic.tic_tac_toe import TicTacToe
from plyhouse.games.hidden.coin_guess import CoinGuess
from plyhouse.games.hidden.kuhn_poker import KuhnPoker
from plyhouse.games.stochastic.pig import Pig
from plyhouse.server.match.time_control import MS, SECOND, LagPolicy
from plyhouse.server.results.record import RecordError, make_record, read_record, write_record
from plyhouse.server.results.verify import CHECKS, VerifyReport, verify
from plyhouse.storage.causes import written

from .harness import Heap, Table

Plain = dict[str, Any]


def recorded(table: Table, *, reveal: bool = True) -> str:
    return write_record(make_record(table.config, table.rows, reveal=reveal))


def pig_match() -> Table:
    table = Table(Pig(target=20), "total:60+0.5", write_turns=False, illegal_rule="retry")
    rng = random.Random(5)
    table.act("jump")
    while table.match.status == "running":
        mover = table.match.seat_to_move
        assert mover is not None
        table.match.turn_written(mover, table.match.ply, table.now, lag_ns=3 * MS)
        table.act(rng.choice(["roll", "roll", "hold"]), think=20 * MS, stall_ns=MS)
    return table


def tampered(change: Callable[[Plain], object]) -> VerifyReport:
    plain = json.loads(recorded(pig_match()))
    change(plain)
    return verify(read_record(json.dumps(plain)))


def first(plain: Plain, kind: str) -> Plain:
    return next(event for event in plain["events"] if event["kind"] == kind)


@pytest.mark.parametrize(
    "game",
    [TicTacToe(), ConnectFour(), Pig(), CoinGuess(variant="bag"), KuhnPoker(seats=4)],
    ids=lambda game: game.spec,
)
def test_honest_records_hold(game: Any) -> None:
    for seed in range(5):
        table = Table(game, stream="pairing" if seed % 2 else "")
        table.play_randomly(random.Random(seed))
        text = recorded(table)
        record = read_record(text)
        assert write_record(record) == text
        report = verify(record)
        assert report.ok, str(report)
        assert [check.name for check in report.checks] == list(CHECKS)
        assert report.check("actions").count == table.match.ply
        assert report.first_ply is None


def ending(name: str) -> Table:
    table = Table(Heap(), "byoyomi:1+2x1", lag=LagPolicy(0, 0))
    table.act("1")
    match name:
        case "resignation":
            table.do(table.match.resign(0, table.now + 5))
        case "bot_crash":
            table.do(table.match.resign(0, table.now + 5, "bot_crash", "the author's secret"))
        case "no_answer":
            table.do(table.match.resign(0, table.now + 5, "no_answer", "the author's secret"))
        case "draw_agreed":
            table.ask("offer_draw", 0)
            table.ask("accept_draw", 1)
        case "flag_fall":
            table.do(table.match.tick(table.now + 3 * SECOND + 1))
        case "illegal_action":
            table.act("9")
        case "disconnect":
            table.do(table.match.disconnected(0, 0))
            table.do(table.match.tick(30 * SECOND))
        case "server_fault" | "aborted":
            table.do(table.match.abort(written("x"), table.now, name))
        case "unfinished":
            pass
    return table


@pytest.mark.parametrize(
    "name",
    [
        *("resignation", "bot_crash", "draw_agreed", "flag_fall", "illegal_action"),
        *("disconnect", "no_answer", "server_fault", "aborted", "unfinished"),
    ],
)
def test_every_ending_can_be_recorded_and_verified(name: str) -> None:
    table = ending(name)
    text = recorded(table)
    assert "secret" not in text
    record = read_record(text)
    if name not in ("disconnect", "unfinished"):
        assert record.outcome is not None
        assert record.outcome.termination == name
    report = verify(record, table.config.game)
    assert report.ok, str(report)
    assert bool(report.check("outcome").skipped) == (name == "unfinished")


def test_a_seed_that_is_not_public_is_not_in_the_record() -> None:
    table = pig_match()
    text = recorded(table, reveal=False)
    assert table.config.seed.hex() not in text
    report = verify(read_record(text))
    assert report.ok
    assert report.check("chance").skipped == "the seed is not revealed yet"
    assert "skipped  chance" in str(report)


@pytest.mark.parametrize(
    ("check", "change"),
    [
        ("game", lambda r: r.update(game="pigg")),
        ("game", lambda r: r.update(game="/tmp/evil.py:Game")),
        ("game", lambda r: r["parameters"].update(target=99)),
        ("game", lambda r: r["seats"].pop()),
        ("game", lambda r: r.update(time_control="blitz")),
        ("commitment", lambda r: r["chance"].update(seed="00" * 32)),
        ("commitment", lambda r: r["chance"].update(seed="zz")),
        ("commitment", lambda r: r["chance"].update(commitment="00" * 32)),
        ("commitment", lambda r: r["chance"].update(stream="a|b")),
        ("start", lambda r: r["events"].pop(0)),
        ("start", lambda r: r["chance"]["nonces"].reverse()),
        ("order", lambda r: first(r, "action").update(seat=1)),
        ("order", lambda r: first(r, "action").update(ply=3)),
        ("order", lambda r: first(r, "action").update(kind="magic")),
        ("order", lambda r: r["events"].append(dict(r["events"][2]))),
        ("chance", lambda r: r["chance"].update(stream="pairing")),
        ("chance", lambda r: first(r, "chance").update(text="9")),
        ("actions", lambda r: first(r, "action").update(text="fly")),
        ("actions", lambda r: first(r, "action").update(text="ROLL")),
        ("refusals", lambda r: first(r, "illegal").update(text="roll")),
        ("clocks", lambda r: first(r, "action").update(charged_ns=1)),
        ("clocks", lambda r: first(r, "action").update(thought_ns=-5)),
        ("clocks", lambda r: first(r, "action").update(remaining_ns=1)),
        ("clocks", lambda r: r["lag"].update(per_move_cap_ns=1)),
        ("outcome", lambda r: r["outcome"]["returns"].reverse()),
        ("outcome", lambda r: r["outcome"].update(termination="resignation", seat=0)),
        ("outcome", lambda r: r["outcome"].update(termination="draw_agreed")),
        ("outcome", lambda r: r["outcome"].update(termination="illegal_action", seat=1)),
        ("outcome", lambda r: r["outcome"].update(termination="flag_fall")),
        ("outcome", lambda r: r.update(outcome=None)),
    ],
)
def test_tampering_is_found(check: str, change: Callable[[Plain], object]) -> None:
    report = tampered(change)
    assert not report.ok, str(report)
    assert report.check(check).problems, str(report)
    assert f"FAILED   {check}" in str(report)


def test_the_first_ply_that_differs_is_named() -> None:
    table = pig_match()
    plain = json.loads(recorded(table))
    rolls = [event for event in plain["events"] if event["kind"] == "chance"]
    rolls[2]["text"] = str(7 - int(rolls[2]["text"]))
    report = verify(read_record(json.dumps(plain)))
    assert report.first_ply == rolls[2]["ply"]
    assert f"at ply {report.first_ply}." in str(report)
    assert "the seed gives" in str(report.check("chance"))


def test_a_game_over_too_early_is_found() -> None:
    def cut(plain: Plain) -> None:
        del plain["events"][6:-1]
        plain["events"][-1]["ply"] = max(e["ply"] for e in plain["events"][:-1]) + 1

    assert "not over" in str(tampered(cut).check("outcome"))


@pytest.mark.parametrize("opening", [False, True])
def test_a_last_roll_that_was_cut_off_before_somebody_resigned_is_found(opening: bool) -> None:
    table = Table(KuhnPoker() if opening else Pig(target=20), write_turns=False)
    if not opening:
        table.act("roll")
    mover = table.match.seat_to_move
    assert mover is not None
    table.do(table.match.resign(mover, table.now + 5))
    plain = json.loads(recorded(table))
    assert verify(read_record(json.dumps(plain))).ok
    last = max(at for at, event in enumerate(plain["events"]) if event["kind"] == "chance")
    del plain["events"][last]
    for seed in (plain["chance"]["seed"], None):  # also before the seed is known
        plain["chance"]["seed"] = seed
        report = verify(read_record(json.dumps(plain)))
        assert not report.ok
        assert "is missing" in str(report.check("chance"))


def test_a_flag_that_had_not_fallen_is_found() -> None:
    plain = json.loads(recorded(ending("flag_fall")))
    plain["events"][-1]["thought_ns"] = plain["events"][-1]["charged_ns"] = SECOND
    report = verify(read_record(json.dumps(plain)), Heap())
    assert "the flag fell at" in str(report.check("clocks"))


def test_rules_that_fail_do_not_fail_the_report() -> None:
    plain = json.loads(recorded(ending("resignation")))

    class Failing(Heap):
        def parse(self, state: Any, text: str) -> Any:
            raise RuntimeError("no")

    report = verify(read_record(json.dumps(plain)), Failing())
    assert "the rules failed: RuntimeError" in str(report.check("actions"))


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda text: text[:50], "it is not JSON"),
        (lambda text: "\ufffd", "it is not JSON"),
        (lambda text: b"\xff\xfe", "it is not JSON"),
        (lambda text: "[1, 2]", "has no field format"),
        (lambda text: "{}", "has no field format"),
        (lambda text: text.replace("record-1", "record-2"), "this version of Plyhouse reads"),
        (lambda text: text.replace('"events"', '"event"'), "missing required field `events`"),
        (lambda text: text.replace('"ply": 0', '"ply": "x"', 1), r"\$\.events\[0\]\.ply"),
    ],
)
def test_damaged_files_are_refused_with_a_sentence(
    damage: Callable[[str], str | bytes], message: str
) -> None:
    with pytest.raises(RecordError, match=message) as caught:
        read_record(damage(recorded(ending("resignation"))))
    assert str(caught.value).endswith(".")


def test_fields_of_later_versions_are_ignored() -> None:
    plain = json.loads(recorded(ending("resignation")))
    plain["weather"] = plain["events"][0]["weather"] = "fine"
    assert verify(read_record(json.dumps(plain)), Heap()).ok
