"""The protocol clients, line by line, with what engines write and with garbage."""

from __future__ import annotations

import contextlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plyhouse.bots.engines.engine_bot import parse_options
from plyhouse.bots.engines.errors import EngineError
from plyhouse.bots.engines.gnubg import GnubgClient, Hint, Version
from plyhouse.bots.engines.gtp import Answer, GtpClient, time_commands
from plyhouse.bots.engines.uci import BestMove, Info, UciClient, UciOk
from plyhouse.bots.engines.xboard import Done, Move, Pong, Refused, Result, Thought, XboardClient

WORDS = """
id name option type spin default min max var uciok readyok info depth score cp mate nodes pv
string multipv bestmove (none) feature done=1 option="A -spin 1 0" move pong resign 1-0 = ? =1
?2 D4 pass -5 99999999999999999999 1. Eq.: +0.1 \x00 \ufffd e2e4 {checkmate} Error (x): y
""".split()  # noqa: SIM905 - shorter than a list
LINES = st.one_of(st.text(max_size=80), st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join))


@given(st.lists(LINES, max_size=20))
def test_clients_survive_any_lines(lines: list[str]) -> None:
    clients: list[Any] = [UciClient("x"), XboardClient("x"), GtpClient("x"), GnubgClient()]
    for client in clients:
        for line in lines:
            with contextlib.suppress(EngineError):
                client.receive(line)


@given(LINES, st.text(max_size=20), st.text(max_size=20))
def test_options_are_set_or_refused_with_one_line(line: str, name: str, value: str) -> None:
    for client in (UciClient("x"), XboardClient("x"), GnubgClient()):
        with contextlib.suppress(EngineError):
            client.receive(line)
        with contextlib.suppress(EngineError):
            client.set_option(name, value)


def uci(*lines: str) -> UciClient:
    client = UciClient("x")
    for line in lines:
        client.receive(line)
    return client


@pytest.mark.parametrize(
    ("option", "value", "line"),
    [
        ("type spin default 16 min 1 max 1024", "64", "setoption name A b value 64"),
        ("type check default false", "True", "setoption name A b value true"),
        ("type combo default x var x var y z", "Y Z", "setoption name A b value y z"),
        ("type string default <empty>", "/a b/c", "setoption name A b value /a b/c"),
        ("type button", "", "setoption name A b"),
    ],
)
def test_uci_option_of_each_type_is_set(option: str, value: str, line: str) -> None:
    assert uci(f"option name A b {option}").set_option("a B", value) == line


@pytest.mark.parametrize(
    ("option", "value", "takes"),
    [
        ("type spin default 16 min 1 max 9", "10", "a whole number from 1 to 9"),
        ("type spin default 16 min 1 max 9", "many", "a whole number from 1 to 9"),
        ("type check default false", "yes", "true or false"),
        ("type combo default x var x var y z", "z", "one of x, y z"),
    ],
)
def test_uci_option_with_wrong_value_names_what_it_takes(
    option: str, value: str, takes: str
) -> None:
    with pytest.raises(EngineError, match=f"x takes {takes} as A, not '{value}'"):
        uci(f"option name A {option}").set_option("A", value)


def test_unknown_uci_option_names_the_nearest() -> None:
    client = uci("option name Skill Level type spin", "option name Hash type spin")
    with pytest.raises(EngineError, match="no option 'skil level': did you mean Skill Level"):
        client.set_option("skil level", "3")


def test_uci_info_of_best_line_only_is_read() -> None:
    client = UciClient("x")
    line = "info depth 9 multipv {} score mate -2 nodes 7 nps 1 pv e2e4 e7e5"
    assert client.receive(line.format(1)) == Info(("e2e4", "e7e5"), 9, 7, None, -2)
    assert client.receive(line.format(2)) is None
    assert client.receive("info string the pv is e2e4") is None
    assert client.receive("uciok") == UciOk()


@pytest.mark.parametrize("line", ["bestmove (none)", "bestmove 0000"])
def test_uci_bestmove_without_move_is_empty(line: str) -> None:
    assert UciClient("x").receive(line) == BestMove("")


def test_uci_bestmove_that_is_cut_is_an_error() -> None:
    with pytest.raises(EngineError, match="'bestmove', which names no move"):
        UciClient("x").receive("bestmove")


def test_xboard_features_decide_how_moves_are_sent() -> None:
    client = XboardClient("x")
    assert client.user_move("e2e4") == "e2e4"
    assert client.receive('feature usermove=1 done=0 setboard=1 myname="Old One 1.0"') is None
    assert client.receive("feature done=1") == Done()
    assert client.user_move("e2e4") == "usermove e2e4"
    assert (client.name, client.set_board("8/8/8/8/8/8/8/8 w - - 0 1")) == (
        "Old One 1.0",
        ["setboard 8/8/8/8/8/8/8/8 w - - 0 1"],
    )


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("move e2e4", Move("e2e4")),
        ("1. My move is: e2e4", Move("e2e4")),
        ("pong 3", Pong(3)),
        ("resign", Result("resign", resigns=True)),
        ("0-1 {White resigns}", Result("0-1 {White resigns}", resigns=True)),
        ("1-0 {White mates}", Result("1-0 {White mates}", resigns=False)),
        ("Illegal move: e2e5", Refused("Illegal move: e2e5")),
        (" 9 31 120 4242 1. e4 e5", Thought(9, 31, 4242, ("e4", "e5"))),
        ("8 -1 2 10535 11 478863 0\t d7d5 e4d5", Thought(8, -1, 10535, ("d7d5", "e4d5"))),
        ("# a comment", None),
    ],
)
def test_xboard_line_is_read(line: str, message: object) -> None:
    assert XboardClient("x").receive(line) == message


def test_gtp_answer_may_have_several_lines() -> None:
    client = GtpClient("x")
    client.command("list_commands")
    assert [client.receive(line) for line in ("noise", "=1 play", "genmove", "")] == [
        None, None, None, Answer(1, True, "play\ngenmove"),
    ]  # fmt: skip


def test_gtp_answer_to_another_command_is_an_error() -> None:
    client = GtpClient("x")
    client.command("name")
    with pytest.raises(EngineError, match="answered command 7 with '=7 x', but command 1"):
        client.receive("=7 x")


def test_gtp_answer_without_end_is_an_error() -> None:
    client = GtpClient("x")
    client.command("name")
    client.receive("=1 x")
    for _ in range(4):
        client.receive("y" * 60_000)
    with pytest.raises(EngineError, match="answered with more than"):
        client.receive("y" * 60_000)


@given(st.integers(1, 10**7), st.integers(1, 10**7))
def test_gtp_never_gets_more_time_than_there_is(own: int, total: int) -> None:
    commands = {name: rest for name, *rest in time_commands(total, own, 1, started=False)}
    assert int(commands["time_left"][0]) * 1000 <= own


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            "    1. Cubeful 0-ply    24/18(2) 13/7(2)             Eq.: +0.296",
            Hint("24/18(2) 13/7(2)", 0.296),
        ),
        (
            "    1. Cubeless 2-ply   bar/20*/14                   Eq.: -1.000 (-0.1)",
            Hint("bar/20*/14", -1.0),
        ),
        ("    2. Cubeful 0-ply    24/20                        Eq.: -0.011", None),
        ("GNU Backgammon 1.07.001 20230103", Version("1.07.001")),
    ],
)
def test_gnubg_line_is_read(line: str, message: object) -> None:
    assert GnubgClient().receive(line) == message


@pytest.mark.parametrize(("name", "value"), [("plies", "4"), ("noise", "2"), ("ply", "1")])
def test_gnubg_option_out_of_range_is_refused(name: str, value: str) -> None:
    with pytest.raises(EngineError, match=r"GNU Backgammon (takes|has no option)"):
        GnubgClient().set_option(name, value)


def test_option_without_name_is_refused() -> None:
    with pytest.raises(EngineError, match="'=3' has no name"):
        parse_options("Hash=16; =3")
