"""plyhouse.clients."""

if __name__ != "plyhouse.clients":
    raise ImportError("import plyhouse.clients, not clients")
