"""plyhouse.bots."""

if __name__ != "plyhouse.bots":
    raise ImportError("import plyhouse.bots, not bots")
