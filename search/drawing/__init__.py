"""Recorded search trees as drawings and as text; see `plyhouse.search.explained`."""

if __name__ != "plyhouse.search.drawing":
    raise ImportError("import plyhouse.search, not search")
