"""plyhouse.server."""

if __name__ != "plyhouse.server":
    raise ImportError("import plyhouse.server, not server")

import plyhouse.games  # noqa: F401 - sees to it that PLYHOUSE_PURE holds for what is imported next
