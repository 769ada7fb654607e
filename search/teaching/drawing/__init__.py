"""Recorded search trees as drawings and as text; see `plyhouse.search.teaching.drawable_tree`."""

if __name__ != "plyhouse.search.teaching.drawing":
    raise ImportError("import plyhouse.search, not search")
