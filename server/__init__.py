"""plyhouse.server."""

if __name__ != "plyhouse.server":
    raise ImportError("import plyhouse.server, not server")
