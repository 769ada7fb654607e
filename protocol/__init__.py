"""Protocol v1 between servers and clients: messages, frames, and the rules of a connection.

No input or output happens here, and time is always an argument (integer nanoseconds).

    messages      every message as a typed struct: import them from here.
    replies       what servers send; `parts` are the fields and structs of messages.
    codec         converts frames (msgpack or JSON) to messages and back, within limits; messages as
                  lines of JSON, which programs read and write
    errors        the table of error codes, and the exceptions.
    transitions   the states of a connection and their transitions, as tables.
    connection    both sides of a connection: frames in, frames out.
    side          what both sides share; `client_side` and `server_side` have the rest.
    liveness      heartbeat, round trips, flood limits.
    hosting       rules of uploaded packages, and the messages of runners.
    api           the HTTP API: its rows, and requests as data.
    address       addresses of servers, and the proxy on the way to one, from the environment.
    text          text as editors and shells write it: encodings, byte-order marks, tokens.
    diagram       pictures and tables of the states, for the documentation.
    installed     the version that is installed.
    schema        generates the documentation: ``python -m plyhouse.protocol.schema``.
"""

if __name__ != "plyhouse.protocol":
    raise ImportError("import plyhouse.protocol, not protocol")
