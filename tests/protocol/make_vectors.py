"""Write the test vectors of protocol v1: ``python tests/protocol/make_vectors.py``.

Each vector has a name and a direction. Good ones have the message as JSON and its msgpack frame as
hex: reading either gives the same message. Bad ones have a frame, as hex for msgpack or as text for
JSON, and the error that answers it: its code, whether it is fatal, and `re`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgpack  # type: ignore[import-untyped]
import msgspec

from plyhouse.protocol.codec import JSON, MAX_CLIENT_FRAME, MSGPACK, Codec, Frame
from plyhouse.protocol.errors import RemoteProtocolError
from plyhouse.protocol.messages import (
    AcceptDraw,
    Accepted,
    Act,
    Answer,
    Bye,
    Challenge,
    ChallengeClosed,
    Challenged,
    ClientMessage,
    ClockState,
    DeclineDraw,
    DrawDeclined,
    DrawOffered,
    Error,
    Event,
    Finished,
    Hello,
    LedgerEntry,
    Limits,
    MatchMessage,
    MatchSnapshot,
    Notice,
    OfferDraw,
    Ok,
    Outcome,
    Ping,
    Pong,
    Ready,
    Register,
    Registered,
    Resign,
    Revealed,
    Said,
    Say,
    SeatInfo,
    Seek,
    ServerMessage,
    Sync,
    Turn,
    Unseek,
    Unwatch,
    Update,
    Watch,
    Welcome,
)

PATH = Path(__file__).with_name("vectors.json")

BOARD = {"cells": [0, 1, None, None, None, None, None, None, None], "to_move": 0}
CLOCKS = [ClockState(0, 58_250, running=True), ClockState(1, 60_000)]
SEATS = [SeatInfo("ada", "engine", "3.1", 1512.5), SeatInfo("grace", kind="human")]
COMMITMENT = "2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae"
SNAPSHOT = MatchSnapshot(
    match="m1x7Qa",
    pairing="p93bTe",
    game="tic_tac_toe",
    time_control="total:60+0.5",
    rated=True,
    seat=0,
    players=SEATS,
    status="running",
    ply=2,
    commitment=COMMITMENT,
    nonces=["00ff", ""],
    illegal_rule="retry",
    events=[Event(0, 0, "a1", 1750), Event(1, 1, "b1", 500)],
    observation=BOARD,
    clocks=CLOCKS,
    your_turn=True,
    deadline_ms=58_250,
)
WAITING = MatchSnapshot(
    match="m1x7Qb",
    pairing="p93bTe",
    game="pig(target=50)",
    time_control="bank:1+30",
    rated=False,
    seat=None,
    players=SEATS,
    status="waiting",
    ply=0,
)

CLIENT: dict[str, ClientMessage] = {
    "hello, least": Hello(1, "ply_abc"),
    "hello, all fields": Hello(
        id=9007199254740991,
        token="ply_abc",
        bot="engine",
        games=["pig", "connect_four(columns=5,rows=4)"],
        client="mybot/1.0 ünï",
        updates=True,
        scenes=True,
        max_matches=4,
        session="s-77",
        takeover=True,
        digest="0123456789abcdef" * 4,
        version="3.1",
    ),
    "register": Register(1, "ada"),
    "seek": Seek(2, "kuhn_poker", "move:1", rated=True, count=0, mirrored=True),
    "seek, least": Seek(2, "pig", "move:1"),
    "unseek": Unseek(3, "k12"),
    "challenge": Challenge(4, "grace/deep", "tic_tac_toe", "byoyomi:60+5x10", seat=1),
    "challenge, of two": Challenge(4, "grace/deep", "pig(seats=3)", "move:1", others=["ada/b"]),
    "answer, yes": Answer(5, "c5", accept=True),
    "answer, no": Answer(5, "c5", accept=False, reason="busy"),
    "ready": Ready(6, "m1x7Qa", "00ff"),
    "ready, no nonce": Ready(6, "m1x7Qa"),
    "act": Act(7, "m1x7Qa", 2, "c3"),
    "act, empty text": Act(7, "m1x7Qa", 0, ""),
    "act with what the bot thought": Act(
        *(7, "m1x7Qa", 2, "c3"),
        {"value": 0.25, "depth": 7, "nodes": 81234, "pv": ["c3", "b2"], "text": "book ends"},
    ),
    "act with what nobody can keep": Act(7, "m1x7Qa", 2, "c3", ["deep", {"a": [None]}]),
    "resign": Resign(8, "m1x7Qa"),
    "resign after a crash": Resign(8, "m1x7Qa", "bot_crash", "ZeroDivisionError: division by zero"),
    "offer_draw": OfferDraw(9, "m1x7Qa"),
    "accept_draw": AcceptDraw(10, "m1x7Qa"),
    "decline_draw": DeclineDraw(11, "m1x7Qa"),
    "say": Say(12, "m1x7Qa", "good_luck"),
    "sync": Sync(12, "m1x7Qa"),
    "watch": Watch(13, "m1x7Qa"),
    "unwatch": Unwatch(14, "m1x7Qa"),
    "ping": Ping(300),
    "pong": Pong(70_000),
    "bye": Bye(15),
}

SERVER: dict[str, ServerMessage] = {
    "error that says where the match stands": Error(
        "match/not_your_turn", "It is not your turn.", re=7, match="m1x7Qa", ply=3
    ),
    "match with a draw on offer": MatchMessage(
        msgspec.structs.replace(SNAPSHOT, draw_offers=[1]), re=12
    ),
    "welcome": Welcome(
        1, "ada", "engine", "s-78", "1", "plyhouse/0.1.0", 1_790_000_000_123, 4000, Limits(65536, 8)
    ),
    "welcome, resuming": Welcome(
        1, "ada", "", "s-78", "1", "plyhouse/0.1.0", 1_790_000_000_123, 4000, matches=[SNAPSHOT]
    ),
    "registered": Registered(1, "ada", "ply_abc"),
    "ok": Ok(3),
    "ok, seek": Ok(2, seek="k12"),
    "ok, challenge": Ok(4, challenge="c5"),
    "error, fatal": Error("auth/bad_token", "This token is not known here.", 1, fatal=True),
    "error, illegal action": Error(
        "action/illegal", "a1 is taken.", 7, match="m1x7Qa", legal=["c1", "a2"]
    ),
    "error, no request": Error("protocol/malformed", "The frame could not be read."),
    "match begins": MatchMessage(WAITING),
    "match, answer to sync": MatchMessage(SNAPSHOT, 12),
    "turn": Turn("m1x7Qa", 2, [Event(1, 1, "b1", 500)], BOARD, CLOCKS, 58_250),
    "turn after a roll, with scene": Turn(
        "m2",
        4,
        [Event(4, -1, "6")],
        {"scores": [12, 30], "pot": 6, "to_move": 1},
        [ClockState(1, 1000, running=True, bank_ms=29_500), ClockState(0, 1000, bank_ms=30_000)],
        30_500,
        scene={"elements": [{"kind": "dice", "values": [6]}], "status": "", "seat_to_move": 1},
        retry=True,
    ),
    "accepted": Accepted(
        7,
        "m1x7Qa",
        2,
        [Event(2, 0, "c3", 1210)],
        [ClockState(0, 57_540), ClockState(1, 60_000, running=True)],
        LedgerEntry(2, 0, 1250, 40, 0, 1210, 57_540),
    ),
    "accepted, duplicate": Accepted(7, "m1x7Qa", 2, duplicate=True),
    "update, hidden action": Update(
        "m3", 1, [Event(0, 0)], {"pot": 2}, [ClockState(0, 5000, periods=3)]
    ),
    "draw_offered": DrawOffered("m1x7Qa", 1),
    "draw_declined": DrawDeclined("m1x7Qa", 0),
    "said": Said("m1x7Qa", 0, "well_played"),
    "finished": Finished(
        "m1x7Qa",
        Outcome("normal", [1.0, -1.0]),
        [Event(4, 0, "c1", 90)],
        "/api/v1/records/m1x7Qa",
        pairing_done=True,
        seed="666f6f",
    ),
    "finished, flag fall": Finished(
        "m1x7Qa", Outcome("flag_fall", [-1.0, 1.0], 0, "Seat 0 ran out of time.")
    ),
    "revealed": Revealed("p93bTe", "666f6f"),
    "challenged": Challenged("c5", "ada/engine", "tic_tac_toe", "move:1", True, 1, 30_000),
    "challenged, with another": Challenged(
        "c5", "ada/engine", "pig(seats=3)", "move:1", expires_ms=30_000, others=["bob/b"]
    ),
    "challenge_closed": ChallengeClosed("c5", "declined", "busy"),
    "ping": Ping(1),
    "pong": Pong(300),
    "notice": Notice("server/shutting_down", "The server stops in a minute."),
}


def pack(value: Any) -> bytes:
    packed: bytes = msgpack.packb(value, use_bin_type=True)
    return packed


BAD_MSGPACK: dict[str, bytes] = {
    "empty frame": b"",
    "cut short": pack({"type": "ping", "id": 1})[:-1],
    "two messages": pack({"type": "ping", "id": 1}) * 2,
    "reserved byte": b"\xc1",
    "array": pack(["ping", 1]),
    "extension type": pack({"type": "ping", "id": 1})[:-1] + b"\xd4\x01\x00",
    "timestamp": pack({"type": "ping", "id": 1})[:-1] + b"\xd6\xff\x00\x00\x00\x00",
    "binary value": pack({"type": b"ping", "id": 1}),
    "number as key": pack({"type": "ping", "id": 1, 7: 7}),
    "not UTF-8": b"\x81\xa4type\xa1\xff",
    "long array announced": b"\x82\xa4type\xa5hello\xa5games\xdd\xff\xff\xff\xff",
    "deep nesting": b"\x91" * 2000 + b"\xc0",
    "no type": pack({"id": 7}),
    "type is a number": pack({"type": 5, "id": 7}),
    "unknown type": pack({"type": "moev", "id": 7}),
    "type of the server": pack({"type": "turn", "id": 7, "match": "m", "ply": 0}),
    "field missing": pack({"type": "act", "id": 7, "match": "m", "ply": 0}),
    "field of wrong type": pack({"type": "act", "id": 7, "match": "m", "ply": "0", "action": ""}),
    "field is a float": pack({"type": "act", "id": 7, "match": "m", "ply": 1.5, "action": ""}),
    "field is null": pack({"type": "act", "id": 7, "match": None, "ply": 0, "action": ""}),
    "field out of range": pack({"type": "act", "id": 7, "match": "m", "ply": -1, "action": ""}),
    "text too long": pack({"type": "sync", "id": 7, "match": "m" * 65}),
    "unknown choice": pack({"type": "resign", "id": 7, "match": "m", "reason": "bored"}),
    "nonce is not hex": pack({"type": "ready", "id": 7, "match": "m", "nonce": "0g"}),
    "id is 0": pack({"type": "bye", "id": 0}),
    "id is negative": pack({"type": "bye", "id": -1}),
    "id is too large": pack({"type": "bye", "id": 2**53}),
    "id is true": pack({"type": "bye", "id": True}),
    "id is missing": pack({"type": "bye"}),
}

BAD_JSON: dict[str, str] = {
    "empty frame": "",
    "cut short": '{"type":"ping","id":1',
    "two messages": '{"type":"ping","id":1}{"type":"ping","id":1}',
    "array": '["ping",1]',
    "single quotes": "{'type':'ping','id':1}",
    "half a surrogate pair": '{"type":"sync","id":7,"match":"\\ud800"}',
    "deep nesting": "[" * 2000,
    "NaN": '{"type":"ping","id":NaN}',
    "no type": '{"id":7}',
    "unknown type": '{"type":"moev","id":7}',
    "field missing": '{"type":"act","id":7,"match":"m","ply":0}',
    "field of wrong type": '{"type":"act","id":7,"match":"m","ply":"0","action":""}',
    "id is 0": '{"type":"bye","id":0}',
    "id is no whole number": '{"type":"bye","id":1.5}',
    "name too long": json.dumps({"type": "hello", "id": 7, "token": "", "bot": "a" * 33}),
}


def vectors() -> list[dict[str, Any]]:
    """Return all vectors, with what the codecs make of them."""
    rows: list[dict[str, Any]] = []
    for direction, messages in (("client", CLIENT), ("server", SERVER)):
        for name, message in messages.items():
            frame = MSGPACK.encode(message)
            assert isinstance(frame, bytes)
            rows.append(
                {
                    "name": name,
                    "direction": direction,
                    "json": json.loads(JSON.encode(message)),
                    "msgpack": frame.hex(),
                }
            )
    for name, data in BAD_MSGPACK.items():
        rows.append(_bad(f"bad msgpack: {name}", MSGPACK, data, {"msgpack": data.hex()}))
    for name, text in BAD_JSON.items():
        rows.append(_bad(f"bad JSON: {name}", JSON, text, {"text": text}))
    long = "x" * MAX_CLIENT_FRAME
    rows.append(_bad("text frame on msgpack", MSGPACK, "{}", {"text": "{}"}))
    rows.append(_bad("binary frame on JSON", JSON, b"\x80", {"msgpack": "80"}))
    rows.append(_bad("oversized JSON", JSON, long + "x", {"text_repeat": ["x", len(long) + 1]}))
    return rows


def _bad(name: str, codec: Codec, frame: Frame, shown: dict[str, Any]) -> dict[str, Any]:
    try:
        codec.decode_client(frame)
    except RemoteProtocolError as error:
        told = {"error": error.code, "fatal": error.fatal, "re": error.re}
        return {
            "name": name,
            "direction": "client",
            "subprotocol": codec.subprotocol,
            **shown,
            **told,
        }
    raise AssertionError(f"{name} was read without an error")


def text() -> str:
    """Return the contents of the file: one vector per line."""
    rows = ",\n".join(json.dumps(row, ensure_ascii=False) for row in vectors())
    return f"[\n{rows}\n]\n"


if __name__ == "__main__":
    PATH.write_text(text(), encoding="utf-8")
