"""plyhouse.search."""

if __name__ != "plyhouse.search":
    raise ImportError("import plyhouse.search, not search")
