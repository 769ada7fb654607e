"""Both sides of a connection, with the time moved by hand."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from plyhouse.protocol.codec import JSON, MSGPACK, Codec, Frame
from plyhouse.protocol.connection import (
    ClientConnection,
    Closing,
    ConnectionLimits,
    Rejected,
    ServerConnection,
)
from plyhouse.protocol.errors import LocalProtocolError
from plyhouse.protocol.liveness import SECOND, FloodLimit, RoundTrips
from plyhouse.protocol.messages import (
    Act,
    Bye,
    ClientMessage,
    Error,
    Event,
    Hello,
    Limits,
    Notice,
    Ok,
    Ping,
    Pong,
    Register,
    Registered,
    Resign,
    Seek,
    ServerMessage,
    Sync,
    Turn,
    Welcome,
)
from plyhouse.protocol.transitions import CLIENT, MEANINGS, SERVER, STATES, Input, State

MS = SECOND // 1000
HELLO, REGISTER, BYE, OTHER, REQUEST, PING = 1, 2, 3, 4, 5, 6
WELCOME = Welcome(HELLO, "ada", "engine", "s", "1", "test", 0, 4000)


def server(
    state: State = State.OPEN, codec: Codec = MSGPACK, limits: ConnectionLimits | None = None
) -> ServerConnection:
    """A server's connection in a state, at time 0, with an open `register` request."""
    connection = ServerConnection(codec, 0, limits)
    give(connection, Register(REGISTER, "ada"))
    if state is State.CLOSED:
        connection.close()
    if state in {State.AUTHENTICATING, State.OPEN, State.LEAVING}:
        give(connection, Hello(HELLO, "t"))
    if state is State.OPEN:
        connection.send(WELCOME, 0)
    if state is State.LEAVING:  # straight from AUTHENTICATING: hello is still open
        give(connection, Bye(BYE))
    connection.outgoing()
    assert connection.state is state
    return connection


def give(connection: ServerConnection, message: ClientMessage, now: int = 0) -> list[object]:
    return list(connection.receive(connection.codec.encode(message), now))


def answers(connection: ServerConnection) -> list[ServerMessage]:
    return [connection.codec.decode_server(frame) for frame in connection.outgoing()]


def client(state: State = State.OPEN, codec: Codec = MSGPACK) -> ClientConnection:
    """A client's connection in a state, at time 0, with an open `register` request."""
    connection = ClientConnection(codec, 0)
    connection.request(Register(REGISTER, "ada"))
    if state is State.CLOSED:
        connection.close()
    if state in {State.AUTHENTICATING, State.OPEN, State.LEAVING}:
        connection.request(Hello(HELLO, "t"))
    if state is State.OPEN:
        take(connection, WELCOME)
    if state is State.LEAVING:
        connection.request(Bye(BYE))
    connection.outgoing()
    assert connection.state is state
    return connection


def take(connection: ClientConnection, message: ServerMessage, now: int = 0) -> list[object]:
    return list(connection.receive(connection.codec.encode(message), now))


def stands(connection: ServerConnection | ClientConnection) -> State:
    """The state; asked through a function, since type checkers take attributes for constant."""
    return connection.state


def refusal(events: list[object]) -> str:
    """The code with which a frame was refused, or ""."""
    for event in events:
        if isinstance(event, Rejected):
            return event.error.code
    return ""


def misuse(action: Callable[[], object]) -> str:
    """The code with which our own side was stopped, or ""."""
    try:
        action()
    except LocalProtocolError as error:
        return error.code
    return ""


# ------------------------------------------------------------ every state and every input


def server_input(connection: ServerConnection, how: Input) -> str:
    """Make one thing happen; return the code of the refusal, or ""."""
    received: dict[Input, ClientMessage] = {
        Input.GOT_HELLO: Hello(OTHER, "t"),
        Input.GOT_REGISTER: Register(OTHER, "bob"),
        Input.GOT_REQUEST: Sync(OTHER, "m"),
        Input.GOT_BYE: Bye(OTHER),
        Input.GOT_PING: Ping(1),
        Input.GOT_PONG: Pong(1),
    }
    sent: dict[Input, ServerMessage] = {
        Input.SEND_WELCOME: WELCOME,
        Input.SEND_REFUSAL: Error("auth/bad_name", "No.", HELLO),
        Input.SEND_ANSWER: Registered(REGISTER, "ada", "t"),
        Input.SEND_FAREWELL: Ok(BYE),
        Input.SEND_PUSH: Turn("m", 0),
        Input.SEND_NOTICE: Notice("notice/test", "Hear, hear."),
        Input.SEND_FATAL: Error("server/fault", "Oh.", fatal=True),
    }
    if how is Input.GOT_PONG and connection.state is not State.CLOSED:
        connection.ping(0)
    if how in received:
        return refusal(give(connection, received[how]))
    if how in sent:
        return misuse(lambda: connection.send(sent[how], 0))
    if how is Input.GOT_BAD_FRAME:
        refused = connection.receive(b"\xc1", 0)
        assert all(isinstance(event, Rejected) for event in refused)
    elif how is Input.GOT_FATAL_FRAME:
        connection.receive("text", 0)
    elif how is Input.SEND_PING:
        return misuse(lambda: connection.ping(0))
    elif how is Input.HELLO_TIMEOUT:
        give(connection, Ping(1), 9 * SECOND)
        connection.tick(10 * SECOND)
    elif how is Input.SILENCE:
        connection.tick(9 * SECOND)
    elif how is Input.CLOSE:
        connection.close()
    elif how is Input.LOST:
        connection.lost()
    else:
        raise AssertionError(f"{how.name} does not happen to servers")
    return ""


def client_input(connection: ClientConnection, how: Input) -> str:
    """Make one thing happen; return the code of the refusal, or ""."""
    sent: dict[Input, ClientMessage] = {
        Input.SEND_HELLO: Hello(OTHER, "t"),
        Input.SEND_REGISTER: Register(OTHER, "bob"),
        Input.SEND_REQUEST: Sync(OTHER, "m"),
        Input.SEND_BYE: Bye(OTHER),
    }
    received: dict[Input, ServerMessage] = {
        Input.GOT_WELCOME: WELCOME,
        Input.GOT_REFUSAL: Error("auth/bad_name", "No.", HELLO),
        Input.GOT_ANSWER: Registered(REGISTER, "ada", "t"),
        Input.GOT_FAREWELL: Ok(BYE),
        Input.GOT_PUSH: Notice("notice/test", "Hear, hear."),
        Input.GOT_FATAL: Error("auth/timeout", "Too late.", fatal=True),
        Input.GOT_PING: Ping(1),
        Input.GOT_PONG: Pong(1),
    }
    if how is Input.GOT_PONG and connection.state is not State.CLOSED:
        connection.ping(0)
    if how in sent:
        return misuse(lambda: connection.request(sent[how]))
    if how in received:
        return refusal(take(connection, received[how]))
    if how is Input.GOT_BAD_FRAME:
        refused = connection.receive(b"\xc1", 0)
        assert all(isinstance(event, Rejected) for event in refused)
    elif how is Input.GOT_FATAL_FRAME:
        connection.receive("text", 0)
    elif how is Input.SEND_PING:
        return misuse(lambda: connection.ping(0))
    elif how is Input.SILENCE:
        connection.tick(9 * SECOND)
    elif how is Input.CLOSE:
        connection.close()
    elif how is Input.LOST:
        connection.lost()
    else:
        raise AssertionError(f"{how.name} does not happen to clients")
    return ""


CASES = [
    pytest.param(side, state, how, id=f"{side}-{state.name}-{how.name}")
    for side, table in (("server", SERVER), ("client", CLIENT))
    for state, row in table.items()
    for how in row
]


@pytest.mark.parametrize(("side", "state", "how"), CASES)
def test_every_state_does_with_every_input_what_the_table_says(
    side: str, state: State, how: Input
) -> None:
    if side == "server":
        at_server = server(state)
        code, after, closing = server_input(at_server, how), at_server.state, at_server.closing
        expected = SERVER[state][how]
    else:
        at_client = client(state)
        code, after, closing = client_input(at_client, how), at_client.state, at_client.closing
        expected = CLIENT[state][how]
    if isinstance(expected, State):
        assert (code, after) == ("", expected)
    else:
        assert (code, after) == (expected, state)
    assert (closing is not None) == (after is State.CLOSED)


def test_the_tables_are_complete() -> None:
    for table in (SERVER, CLIENT):
        assert set(table) == set(State)
        inputs = set(table[State.OPEN])
        assert all(set(row) == inputs for row in table.values())
    assert set(SERVER[State.OPEN]) | set(CLIENT[State.OPEN]) == set(Input)
    assert set(MEANINGS) == set(Input)
    assert set(STATES) == set(State)


# --------------------------------------------------------------------------- the server


@pytest.mark.parametrize("codec", [MSGPACK, JSON], ids=lambda codec: codec.name)
def test_a_whole_conversation(codec: Codec) -> None:
    here, there = ServerConnection(codec, 0), ClientConnection(codec, 0)

    def say(message: ClientMessage) -> list[object]:
        return list(here.receive(there.request(message), 10))

    def tell(message: ServerMessage) -> list[object]:
        frames = [*here.outgoing(), here.send(message, 20)]
        return [event for frame in frames for event in there.receive(frame, 30)]

    hello = Hello(there.next_id(), "t", games=["pig"])
    assert say(hello) == [hello]
    assert tell(WELCOME) == [WELCOME]
    seek = Seek(there.next_id(), "pig", "move:1")
    assert say(seek) == [seek]
    assert there.unanswered() == [seek]
    assert tell(Ok(seek.id, seek="k")) == [Ok(seek.id, seek="k")]
    turn = Turn("m", 0, [Event(0, -1, "6")], {"pot": 6})
    assert tell(turn) == [turn]
    for frame in there.outgoing():
        assert here.receive(frame, 40 + 20) == []
    assert here.round_trips.median_ns == 40
    bye = Bye(there.next_id())
    assert say(bye) == [bye]
    assert tell(Ok(bye.id)) == [Ok(bye.id)]
    assert here.closing == there.closing == Closing(1000, "bye")
    assert (here.state, there.state) == (State.CLOSED, State.CLOSED)


def test_a_bad_frame_is_answered_and_changes_nothing() -> None:
    connection = server()
    (event,) = connection.receive(b"\xc1", 1)
    assert isinstance(event, Rejected)
    (error,) = answers(connection)
    assert isinstance(error, Error)
    assert (error.code, error.fatal, error.re) == ("protocol/malformed", False, None)
    assert stands(connection) is State.OPEN
    assert give(connection, Sync(OTHER, "m")) == [Sync(OTHER, "m")]


def test_the_id_of_a_bad_request_is_recovered() -> None:
    connection = server(codec=JSON)
    connection.receive('{"type":"act","id":77,"match":"m"}', 1)
    (error,) = answers(connection)
    assert isinstance(error, Error)
    assert error.re == 77
    # It was answered, so the number is free.
    assert give(connection, Sync(77, "m")) == [Sync(77, "m")]


@pytest.mark.parametrize(
    ("frame", "code", "close"),
    [("{}", "protocol/wrong_frame", 1003), (b"\x00" * 65537, "protocol/oversized", 1009)],
)
def test_fatal_frames_are_told_and_close(frame: Frame, code: str, close: int) -> None:
    connection = server()
    connection.receive(frame, 1)
    (error,) = answers(connection)
    assert isinstance(error, Error)
    assert (error.code, error.fatal) == (code, True)
    assert connection.closing == Closing(close, error.message)
    assert connection.receive(MSGPACK.encode(Sync(OTHER, "m")), 2) == []
    assert connection.outgoing() == []


def test_requests_between_hello_and_welcome_are_told_to_wait() -> None:
    connection = ServerConnection(MSGPACK, 0)
    give(connection, Hello(HELLO, "t"))
    assert refusal(give(connection, Sync(8, "m"))) == "auth/required"
    (error,) = answers(connection)
    assert isinstance(error, Error)
    assert error.re == 8
    assert error.message == "Wait for 'welcome' before you send 'sync'."


def test_requests_before_hello_are_refused_with_their_id() -> None:
    connection = ServerConnection(MSGPACK, 0)
    assert refusal(give(connection, Sync(8, "m"))) == "auth/required"
    (error,) = answers(connection)
    assert isinstance(error, Error)
    assert error.re == 8
    assert not error.fatal


def test_an_id_in_use_is_refused_without_it() -> None:
    connection = server()
    assert give(connection, Sync(8, "m")) == [Sync(8, "m")]
    assert refusal(give(connection, Act(8, "m", 0, "a"))) == "protocol/unexpected"
    (error,) = answers(connection)
    assert isinstance(error, Error)
    assert error.re is None
    assert "8" in error.message
    connection.send(Ok(8), 0)
    assert give(connection, Act(8, "m", 0, "a")) == [Act(8, "m", 0, "a")]


def test_every_request_is_answered_once() -> None:
    connection = server()
    give(connection, Sync(8, "m"))
    connection.send(Error("match/unknown", "No such match.", 8), 0)
    for message in (Ok(8), Ok(9)):
        with pytest.raises(LocalProtocolError, match="no open request"):
            connection.send(message, 0)


def test_too_many_open_requests_are_refused_one_by_one() -> None:
    connection = server(limits=ConnectionLimits(max_requests=2))
    assert give(connection, Sync(11, "m"))  # with the open register
    assert refusal(give(connection, Sync(12, "m"))) == "protocol/rate"
    (error,) = answers(connection)
    assert isinstance(error, Error)
    assert (error.re, error.fatal) == (12, False)
    connection.send(Ok(11), 0)
    assert give(connection, Sync(12, "m")) == [Sync(12, "m")]


def test_another_version_in_hello_is_fatal() -> None:
    connection = ServerConnection(MSGPACK, 0)
    assert refusal(give(connection, Hello(1, "t", protocol="2"))) == "protocol/version"
    (error,) = answers(connection)
    assert isinstance(error, Error)
    assert error.re == 1
    assert connection.closing is not None
    assert connection.closing.code == 4426


def test_a_refused_hello_may_be_tried_again() -> None:
    connection = server(State.AUTHENTICATING)
    connection.send(Error("auth/bad_name", "Not this name.", HELLO), 5)
    assert stands(connection) is State.GREETING
    assert give(connection, Hello(9, "t")) == [Hello(9, "t")]
    connection.send(Welcome(9, "ada", "", "s", "1", "test", 0, 4000), 6)
    assert stands(connection) is State.OPEN


def test_an_error_that_the_program_sends_as_fatal_closes() -> None:
    connection = server()
    connection.send(Error("auth/replaced", "Elsewhere.", fatal=True), 5)
    assert connection.closing == Closing(4410, "Elsewhere.")
    assert connection.next_deadline() is None


def test_what_cannot_be_encoded_changes_nothing() -> None:
    connection = server()
    with pytest.raises(LocalProtocolError, match="'turn' cannot be sent"):
        connection.send(Turn("m", 0, observation={"x": object()}), 0)
    assert stands(connection) is State.OPEN


# ----------------------------------------------------------------------------- the time


def test_hello_may_come_until_the_deadline() -> None:
    connection = ServerConnection(MSGPACK, 1000)
    give(connection, Ping(1), 9 * SECOND)
    assert answers(connection) == [Pong(1)]
    connection.tick(1000 + 10 * SECOND - 1)
    assert stands(connection) is State.GREETING
    late = ServerConnection(MSGPACK, 1000)
    give(late, Hello(1, "t"), 1000 + 10 * SECOND)
    late.tick(1000 + 10 * SECOND)
    assert stands(late) is State.AUTHENTICATING
    connection.outgoing()
    connection.tick(1000 + 10 * SECOND)
    (error,) = answers(connection)
    assert isinstance(error, Error)
    assert error.code == "auth/timeout"
    assert connection.closing is not None
    assert connection.closing.code == 4408


def test_a_ping_is_sent_every_heartbeat_and_not_before() -> None:
    connection = server()
    sent = []
    now = 0
    for _ in range(3):
        due = connection.next_deadline()
        assert due is not None
        connection.tick(due - 1)
        assert connection.outgoing() == []
        now = due
        connection.tick(now)
        (ping,) = answers(connection)
        assert isinstance(ping, Ping)
        sent.append(now)
        give(connection, Pong(ping.id), now + 5 * MS)
    assert sent == [4 * SECOND, 8 * SECOND, 12 * SECOND]


def test_welcome_is_followed_by_a_ping_that_measures() -> None:
    connection = server(State.AUTHENTICATING)
    connection.send(WELCOME, 100)
    assert connection.round_trips.median_ns == 0
    (ping,) = answers(connection)
    assert isinstance(ping, Ping)
    assert give(connection, Pong(ping.id), 100 + 7 * MS) == []
    assert connection.round_trips.median_ns == 7 * MS


@pytest.mark.parametrize("state", [State.GREETING, State.OPEN, State.LEAVING])
def test_a_silent_client_is_given_up_after_nine_seconds(state: State) -> None:
    connection = server(state)
    give(connection, Ping(1), 3 * SECOND)
    connection.tick(12 * SECOND - 1 if state is not State.GREETING else 10 * SECOND - 1)
    assert stands(connection) is state
    connection.tick(12 * SECOND)
    assert connection.closing is not None
    assert connection.closing.code == 4408


def test_a_dead_client_is_noticed_within_ten_seconds_whenever_it_dies() -> None:
    for died in range(0, 9000, 250):
        connection = server()
        now = 0
        while connection.closing is None:
            due = connection.next_deadline()
            assert due is not None
            assert due > now or due == 0, "the deadline must move on"
            now = due
            connection.tick(now)
            for message in answers(connection):
                if isinstance(message, Ping) and now <= died * MS:
                    give(connection, Pong(message.id), now)
        assert now - died * MS <= 10 * SECOND


def test_any_frame_is_a_sign_of_life() -> None:
    connection = server()
    for now in range(8 * SECOND, 80 * SECOND, 8 * SECOND):
        connection.receive(b"\xc1", now)
        connection.tick(now)
    assert stands(connection) is State.OPEN


def test_time_in_which_we_stood_still_is_not_charged() -> None:
    connection = server()
    connection.ping(0)
    (ping,) = answers(connection)
    assert isinstance(ping, Ping)
    connection.forgive(60 * SECOND)
    connection.tick(60 * SECOND)
    assert stands(connection) is State.OPEN
    # The late pong is welcome but measures nothing.
    assert give(connection, Pong(ping.id), 60 * SECOND) == []
    assert connection.round_trips.count == 0
    connection.tick(69 * SECOND)
    assert stands(connection) is State.CLOSED
    greeting = ServerConnection(MSGPACK, 0)
    greeting.forgive(60 * SECOND)
    greeting.tick(60 * SECOND)
    assert stands(greeting) is State.GREETING


def test_a_pong_that_nobody_asked_for() -> None:
    connection = server()
    assert refusal(give(connection, Pong(4711))) == "protocol/unexpected"
    assert stands(connection) is State.OPEN


def test_pings_that_are_never_answered_do_not_pile_up() -> None:
    connection = server()
    for now in range(200):
        connection.ping(now)
    assert refusal(give(connection, Pong(2), 300)) == "protocol/unexpected"
    assert give(connection, Pong(201), 300) == []


def test_round_trips_keep_the_median_and_the_minimum_of_the_last() -> None:
    trips = RoundTrips(keep=5)
    assert (trips.count, trips.median_ns, trips.minimum_ns) == (0, 0, 0)
    for trip in (1000, 3, 9, 5, 7):
        trips.add(trip)
    assert (trips.count, trips.median_ns, trips.minimum_ns) == (5, 7, 3)
    trips.add(-4)  # replaces 1000; time does not run backwards
    assert (trips.count, trips.median_ns, trips.minimum_ns) == (5, 5, 0)
    trips.add(8)
    trips.add(8)
    assert trips.median_ns == 7


# ---------------------------------------------------------------------------- the floods


def test_flood_limit_lets_a_burst_pass_and_then_the_rate() -> None:
    limit = FloodLimit(per_second=10, burst=3)
    assert [limit.allow(0) for _ in range(4)] == [True, True, True, False]
    assert not limit.allow(100 * MS - 1)
    assert limit.allow(100 * MS)
    assert not limit.allow(100 * MS)
    assert [limit.allow(10 * SECOND) for _ in range(4)] == [True, True, True, False]


def test_flood_limit_with_costs_takes_as_much_or_a_full_bucket() -> None:
    limit = FloodLimit(per_second=10, burst=3)
    assert limit.allow(0, 2)
    assert not limit.allow(0, 2)
    assert limit.allow(0)
    assert not limit.allow(SECOND // 5, 9), "more than there may ever be needs a full bucket"
    assert limit.allow(SECOND // 2, 9)
    assert not limit.allow(SECOND // 2)


def test_flood_limit_of_nothing_is_refused() -> None:
    for per_second, burst in ((0, 1), (1, 0)):
        with pytest.raises(ValueError, match="at least 1"):
            FloodLimit(per_second, burst)


def test_too_many_frames_end_the_connection() -> None:
    limits = ConnectionLimits(messages_per_second=10, message_burst=4)
    connection = server(limits=limits)  # register and hello used two
    give(connection, Ping(1))
    give(connection, Ping(2))
    connection.outgoing()
    assert refusal(give(connection, Ping(3))) == "protocol/rate"
    assert connection.closing is not None
    assert connection.closing.code == 4429


def test_too_many_mistakes_end_the_connection_and_the_last_one_is_told() -> None:
    limits = ConnectionLimits(mistakes_per_second=1, mistake_burst=3)
    connection = server(limits=limits)
    for _ in range(3):
        connection.receive(b"\xc1", 0)
    assert stands(connection) is State.OPEN
    connection.receive(MSGPACK.encode(Pong(4711)), 0)
    error = answers(connection)[-1]
    assert isinstance(error, Error)
    assert (error.code, error.fatal) == ("protocol/rate", True)
    assert "4711" in error.message
    assert stands(connection) is State.CLOSED


def test_limits_can_be_switched_off() -> None:
    limits = ConnectionLimits(messages_per_second=0, mistakes_per_second=0)
    connection = server(limits=limits)
    for _ in range(1000):
        connection.receive(b"\xc1", 0)
    assert stands(connection) is State.OPEN


# --------------------------------------------------------------------------- the client


def test_the_client_numbers_its_requests() -> None:
    connection = ClientConnection(MSGPACK, 0)
    assert [connection.next_id(), connection.next_id()] == [1, 2]
    connection.request(Register(40, "ada"))
    assert connection.next_id() == 41


@pytest.mark.parametrize("number", [0, -1, REGISTER])
def test_the_client_cannot_send_a_bad_request_id(number: int) -> None:
    connection = client()
    with pytest.raises(LocalProtocolError, match="not above 0 or still in use"):
        connection.request(Sync(number, "m"))


def test_the_client_cannot_send_a_frame_that_the_server_would_not_read() -> None:
    for codec in (MSGPACK, JSON):
        connection = client(State.AUTHENTICATING, codec)
        small = Limits(max_frame=200)
        take(connection, Welcome(HELLO, "ada", "", "s", "1", "test", 0, 4000, small))
        connection.request(Resign(8, "m", detail="x" * 100))
        with pytest.raises(LocalProtocolError, match="longer than the 200") as caught:
            connection.request(Resign(9, "m", detail="é" * 100))
        assert caught.value.code == "protocol/oversized"
        assert [type(request) for request in connection.unanswered()] == [Register, Resign]


def test_pings_are_not_requests() -> None:
    for message in (Ping(9), Pong(9)):
        with pytest.raises(LocalProtocolError):
            client().request(message)


def test_the_client_answers_pings_and_measures_its_own() -> None:
    connection = client()
    assert take(connection, Ping(31), 5) == []
    assert [MSGPACK.decode_client(frame) for frame in connection.outgoing()] == [Pong(31)]
    connection.ping(100)
    (ping,) = (MSGPACK.decode_client(frame) for frame in connection.outgoing())
    assert isinstance(ping, Ping)
    take(connection, Pong(ping.id), 160)
    assert connection.round_trips.median_ns == 60


def test_an_answer_to_nothing_is_noted() -> None:
    connection = client()
    (event,) = take(connection, Ok(99))
    assert isinstance(event, Rejected)
    assert event.error.code == "protocol/unexpected"
    assert event.error.re == 99
    assert stands(connection) is State.OPEN


def test_answers_of_the_wrong_kind_are_noted() -> None:
    waiting = client(State.AUTHENTICATING)
    assert refusal(take(waiting, Ok(HELLO))) == "protocol/unexpected"
    assert refusal(take(waiting, WELCOME)) == ""
    opened = client()
    opened.request(Sync(8, "m"))
    again = Welcome(8, "ada", "", "s", "1", "test", 0, 4000)
    assert refusal(take(opened, again)) == "protocol/unexpected"


def test_messages_of_a_newer_server_are_dropped() -> None:
    connection = client(codec=JSON)
    (event,) = connection.receive('{"type":"confetti","amount":3}', 1)
    assert isinstance(event, Rejected)
    assert event.error.code == "protocol/unknown_type"
    assert connection.outgoing() == []
    assert stands(connection) is State.OPEN


def test_a_server_of_another_version_is_left() -> None:
    connection = client(State.AUTHENTICATING)
    take(connection, Welcome(HELLO, "ada", "", "s", "2", "test", 0, 4000))
    assert connection.closing is not None
    assert connection.closing.code == 4426


def test_a_fatal_error_closes_with_its_code() -> None:
    connection = client()
    error = Error("auth/replaced", "Elsewhere.", fatal=True)
    assert take(connection, error) == [error]
    assert connection.closing == Closing(4410, "Elsewhere.")


def test_a_silent_server_is_given_up_by_its_own_heartbeat() -> None:
    connection = client(State.AUTHENTICATING)
    assert connection.next_deadline() == 9 * SECOND
    take(connection, Welcome(HELLO, "ada", "", "s", "1", "test", 0, 10_000), 5)
    deadline = connection.next_deadline()
    assert deadline == 5 + 21 * SECOND
    connection.tick(deadline - 1)
    assert stands(connection) is State.OPEN
    connection.tick(deadline)
    assert connection.closing is not None
    assert connection.next_deadline() is None


def test_open_requests_are_remembered_for_the_next_connection() -> None:
    connection = client()
    connection.request(Act(8, "m", 3, "a"))
    connection.request(Sync(9, "m"))
    take(connection, Error("match/unknown", "No such match.", 9))
    connection.lost()
    assert [type(request) for request in connection.unanswered()] == [Register, Act]


def test_closing_twice_keeps_the_first_reason() -> None:
    connection = client()
    connection.close(1001, "going home")
    connection.lost()
    connection.close(1000, "again")
    assert connection.closing == Closing(1001, "going home")
