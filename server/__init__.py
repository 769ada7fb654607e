"""The server: its configuration, and the application that joins its packages.

    config      all settings, validated; options of ``plyhouse serve`` are made from them
    app         the ASGI application: websockets to the hub, everything else to `server.web`
    serve       runs a server, for ``plyhouse serve`` and inside other programs and tests
    supervisor  runs several servers on one machine; worker: what each learns from it
    logs        the format of the log, for people or programs
    version     the version of this program

The order of the packages, and what each is for, is in ARCHITECTURE.md.
"""

if __name__ != "plyhouse.server":
    raise ImportError("import plyhouse.server, not server")

import plyhouse.games  # noqa: F401 - sees to it that PLYHOUSE_PURE holds for what is imported next
