"""Recorded search trees as drawings and as text; see `plyhouse.search.teaching.drawable_tree`.

layout     where the nodes go
svg, text  the tree as an SVG drawing, and as indented text
"""

if __name__ != "plyhouse.search.teaching.drawing":
    raise ImportError("import plyhouse.search, not search")
