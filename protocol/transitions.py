"""The states of a connection and their transitions, as tables.

`SERVER` and `CLIENT` map every state and input to the next state, or to the code of the error that
answers the input. `plyhouse.protocol.connection` follows these tables, and the diagrams in
``docs/protocol/connection.md`` are drawn from them.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from typing import Final, TypeAlias


class State(IntEnum):
    """State of a connection; both sides use the same names."""

    GREETING = 0
    AUTHENTICATING = 1
    OPEN = 2
    LEAVING = 3
    CLOSED = 4


class Input(IntEnum):
    """Input to a connection: ``GOT_...`` from the peer, ``SEND_...`` from our program."""

    GOT_HELLO = 0
    GOT_REGISTER = 1
    GOT_REQUEST = 2
    GOT_BYE = 3
    GOT_WELCOME = 4
    GOT_REFUSAL = 5
    GOT_ANSWER = 6
    GOT_FAREWELL = 7
    GOT_PUSH = 8
    GOT_FATAL = 9
    GOT_PING = 10
    GOT_PONG = 11
    GOT_BAD_FRAME = 12
    GOT_FATAL_FRAME = 13
    SEND_HELLO = 14
    SEND_REGISTER = 15
    SEND_REQUEST = 16
    SEND_BYE = 17
    SEND_WELCOME = 18
    SEND_REFUSAL = 19
    SEND_ANSWER = 20
    SEND_FAREWELL = 21
    SEND_PUSH = 22
    SEND_NOTICE = 23
    SEND_FATAL = 24
    SEND_PING = 25
    HELLO_TIMEOUT = 26
    SILENCE = 27
    CLOSE = 28
    LOST = 29


Step: TypeAlias = State | str
"""The next state, or the error code with which the input is refused."""
Table: TypeAlias = Mapping[State, Mapping[Input, Step]]

STATES: Final[Mapping[State, str]] = {
    State.GREETING: "connected; `hello` has not been sent, or was refused and may be tried again",
    State.AUTHENTICATING: "`hello` was sent and is not answered yet",
    State.OPEN: "`welcome` was sent: play",
    State.LEAVING: "`bye` was sent and is not answered yet",
    State.CLOSED: "the websocket is closed or about to be",
}

MEANINGS: Final[Mapping[Input, str]] = {
    Input.GOT_HELLO: "`hello` arrives",
    Input.GOT_REGISTER: "`register` arrives",
    Input.GOT_REQUEST: "any other request arrives",
    Input.GOT_BYE: "`bye` arrives",
    Input.GOT_WELCOME: "`welcome` arrives",
    Input.GOT_REFUSAL: "a non-fatal `error` answers `hello`",
    Input.GOT_ANSWER: "an answer to another request arrives",
    Input.GOT_FAREWELL: "the answer to `bye` arrives",
    Input.GOT_PUSH: "a message that answers no request arrives",
    Input.GOT_FATAL: "an `error` with `fatal` arrives",
    Input.GOT_PING: "`ping` arrives, and is answered with `pong`",
    Input.GOT_PONG: "`pong` arrives",
    Input.GOT_BAD_FRAME: "a malformed frame arrives that does not end the connection",
    Input.GOT_FATAL_FRAME: "a frame arrives that ends the connection: oversized, wrong kind, flood",
    Input.SEND_HELLO: "we send `hello`",
    Input.SEND_REGISTER: "we send `register`",
    Input.SEND_REQUEST: "we send any other request",
    Input.SEND_BYE: "we send `bye`",
    Input.SEND_WELCOME: "we send `welcome`",
    Input.SEND_REFUSAL: "we answer `hello` with a non-fatal `error`",
    Input.SEND_ANSWER: "we answer another request",
    Input.SEND_FAREWELL: "we answer `bye`",
    Input.SEND_PUSH: "we send a message that answers no request",
    Input.SEND_NOTICE: "we send `notice`, or a non-fatal `error` that answers no request",
    Input.SEND_FATAL: "we send an `error` with `fatal`",
    Input.SEND_PING: "we send `ping`",
    Input.HELLO_TIMEOUT: "10 s have passed since the connection was made",
    Input.SILENCE: "nothing has arrived for 9 s",
    Input.CLOSE: "we close",
    Input.LOST: "the websocket is gone",
}

_REQUIRED: Final = "auth/required"
_UNEXPECTED: Final = "protocol/unexpected"

# Inputs that close the connection in every state.
_SERVER_ALWAYS: Final[Mapping[Input, State]] = {
    Input.GOT_FATAL_FRAME: State.CLOSED,
    Input.SEND_FATAL: State.CLOSED,
    Input.SILENCE: State.CLOSED,
    Input.CLOSE: State.CLOSED,
    Input.LOST: State.CLOSED,
}
_CLIENT_ALWAYS: Final[Mapping[Input, State]] = {
    Input.GOT_FATAL: State.CLOSED,
    Input.GOT_FATAL_FRAME: State.CLOSED,
    Input.SILENCE: State.CLOSED,
    Input.CLOSE: State.CLOSED,
    Input.LOST: State.CLOSED,
}


def _alive(state: State, *inputs: Input) -> dict[Input, State]:
    return dict.fromkeys(inputs, state)


def _server(state: State) -> dict[Input, State]:
    stay = (
        Input.GOT_PING,
        Input.GOT_PONG,
        Input.GOT_BAD_FRAME,
        Input.SEND_ANSWER,
        Input.SEND_NOTICE,
        Input.SEND_PING,
    )
    return {**_alive(state, *stay), **_SERVER_ALWAYS}


def _client(state: State) -> dict[Input, State]:
    stay = (Input.GOT_PING, Input.GOT_PONG, Input.GOT_BAD_FRAME, Input.SEND_PING)
    return {**_alive(state, *stay), **_CLIENT_ALWAYS}


_SERVER_INPUTS: Final = (
    Input.GOT_HELLO,
    Input.GOT_REGISTER,
    Input.GOT_REQUEST,
    Input.GOT_BYE,
    Input.GOT_PING,
    Input.GOT_PONG,
    Input.GOT_BAD_FRAME,
    Input.GOT_FATAL_FRAME,
    Input.SEND_WELCOME,
    Input.SEND_REFUSAL,
    Input.SEND_ANSWER,
    Input.SEND_FAREWELL,
    Input.SEND_PUSH,
    Input.SEND_NOTICE,
    Input.SEND_FATAL,
    Input.SEND_PING,
    Input.HELLO_TIMEOUT,
    Input.SILENCE,
    Input.CLOSE,
    Input.LOST,
)

_CLIENT_INPUTS: Final = (
    Input.SEND_HELLO,
    Input.SEND_REGISTER,
    Input.SEND_REQUEST,
    Input.SEND_BYE,
    Input.SEND_PING,
    Input.GOT_WELCOME,
    Input.GOT_REFUSAL,
    Input.GOT_ANSWER,
    Input.GOT_FAREWELL,
    Input.GOT_PUSH,
    Input.GOT_FATAL,
    Input.GOT_PING,
    Input.GOT_PONG,
    Input.GOT_BAD_FRAME,
    Input.GOT_FATAL_FRAME,
    Input.SILENCE,
    Input.CLOSE,
    Input.LOST,
)


def _closed(inputs: tuple[Input, ...]) -> dict[Input, Step]:
    # Drop frames that were in flight when the connection closed; sending one is a mistake.
    return {row: _UNEXPECTED if row.name.startswith("SEND_") else State.CLOSED for row in inputs}


SERVER: Final[Table] = {
    State.GREETING: {
        **_server(State.GREETING),
        Input.GOT_HELLO: State.AUTHENTICATING,
        Input.GOT_REGISTER: State.GREETING,
        Input.GOT_REQUEST: _REQUIRED,
        Input.GOT_BYE: State.LEAVING,
        Input.SEND_WELCOME: _UNEXPECTED,
        Input.SEND_REFUSAL: _UNEXPECTED,
        Input.SEND_FAREWELL: _UNEXPECTED,
        Input.SEND_PUSH: _UNEXPECTED,
        Input.HELLO_TIMEOUT: State.CLOSED,
    },
    State.AUTHENTICATING: {
        **_server(State.AUTHENTICATING),
        Input.GOT_HELLO: _UNEXPECTED,
        Input.GOT_REGISTER: _UNEXPECTED,
        Input.GOT_REQUEST: _REQUIRED,
        Input.GOT_BYE: State.LEAVING,
        Input.SEND_WELCOME: State.OPEN,
        Input.SEND_REFUSAL: State.GREETING,
        Input.SEND_FAREWELL: _UNEXPECTED,
        Input.SEND_PUSH: _UNEXPECTED,
        Input.HELLO_TIMEOUT: State.AUTHENTICATING,
    },
    State.OPEN: {
        **_server(State.OPEN),
        Input.GOT_HELLO: _UNEXPECTED,
        Input.GOT_REGISTER: _UNEXPECTED,
        Input.GOT_REQUEST: State.OPEN,
        Input.GOT_BYE: State.LEAVING,
        Input.SEND_WELCOME: _UNEXPECTED,
        Input.SEND_REFUSAL: _UNEXPECTED,
        Input.SEND_FAREWELL: _UNEXPECTED,
        Input.SEND_PUSH: State.OPEN,
        Input.HELLO_TIMEOUT: State.OPEN,
    },
    State.LEAVING: {
        **_server(State.LEAVING),
        Input.GOT_HELLO: _UNEXPECTED,
        Input.GOT_REGISTER: _UNEXPECTED,
        Input.GOT_REQUEST: _UNEXPECTED,
        Input.GOT_BYE: _UNEXPECTED,
        Input.SEND_WELCOME: _UNEXPECTED,
        # A bye may arrive before the answer to hello is sent: still send the refusal.
        Input.SEND_REFUSAL: State.LEAVING,
        Input.SEND_FAREWELL: State.CLOSED,
        Input.SEND_PUSH: State.LEAVING,
        Input.HELLO_TIMEOUT: State.LEAVING,
    },
    State.CLOSED: _closed(_SERVER_INPUTS),
}
"""The server's side of a connection."""

CLIENT: Final[Table] = {
    State.GREETING: {
        **_client(State.GREETING),
        Input.SEND_HELLO: State.AUTHENTICATING,
        Input.SEND_REGISTER: State.GREETING,
        Input.SEND_REQUEST: _REQUIRED,
        Input.SEND_BYE: State.LEAVING,
        Input.GOT_WELCOME: _UNEXPECTED,
        Input.GOT_REFUSAL: _UNEXPECTED,
        Input.GOT_ANSWER: State.GREETING,
        Input.GOT_FAREWELL: _UNEXPECTED,
        Input.GOT_PUSH: State.GREETING,
    },
    State.AUTHENTICATING: {
        **_client(State.AUTHENTICATING),
        Input.SEND_HELLO: _UNEXPECTED,
        Input.SEND_REGISTER: _UNEXPECTED,
        Input.SEND_REQUEST: _REQUIRED,
        Input.SEND_BYE: State.LEAVING,
        Input.GOT_WELCOME: State.OPEN,
        Input.GOT_REFUSAL: State.GREETING,
        Input.GOT_ANSWER: State.AUTHENTICATING,
        Input.GOT_FAREWELL: _UNEXPECTED,
        Input.GOT_PUSH: State.AUTHENTICATING,
    },
    State.OPEN: {
        **_client(State.OPEN),
        Input.SEND_HELLO: _UNEXPECTED,
        Input.SEND_REGISTER: _UNEXPECTED,
        Input.SEND_REQUEST: State.OPEN,
        Input.SEND_BYE: State.LEAVING,
        Input.GOT_WELCOME: _UNEXPECTED,
        Input.GOT_REFUSAL: _UNEXPECTED,
        Input.GOT_ANSWER: State.OPEN,
        Input.GOT_FAREWELL: _UNEXPECTED,
        Input.GOT_PUSH: State.OPEN,
    },
    State.LEAVING: {
        **_client(State.LEAVING),
        Input.SEND_HELLO: _UNEXPECTED,
        Input.SEND_REGISTER: _UNEXPECTED,
        Input.SEND_REQUEST: _UNEXPECTED,
        Input.SEND_BYE: _UNEXPECTED,
        # Both may have been in flight when bye was sent.
        Input.GOT_WELCOME: State.LEAVING,
        Input.GOT_REFUSAL: State.LEAVING,
        Input.GOT_ANSWER: State.LEAVING,
        Input.GOT_FAREWELL: State.CLOSED,
        Input.GOT_PUSH: State.LEAVING,
    },
    State.CLOSED: _closed(_CLIENT_INPUTS),
}
"""The client's side of a connection."""
