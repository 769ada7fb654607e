"""Protocol v1 between servers and clients: messages, frames, and the rules of a connection.

No input or output happens here, and time is always an argument (integer nanoseconds).

    messages      every message as a typed struct
    codec         frames of msgpack and JSON to messages and back, with every limit set
    errors        the table of error codes, and the exceptions
    transitions   the life of a connection as data
    connection    both sides of a connection: frames in, frames out
    liveness      heartbeat, round trips, flood limits
    package       bots that are handed in: what they may hold
    schema        the documentation, generated: ``python -m plyhouse.protocol.schema``
"""

if __name__ != "plyhouse.protocol":
    raise ImportError("import plyhouse.protocol, not protocol")
