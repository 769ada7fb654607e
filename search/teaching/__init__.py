"""Searches that show what they do: the tree they look at, recorded and drawn.

explain         runs a search in the open, node by node
explained       the tree that was recorded, as data
drawing         its layout, as text and as SVG
"""

if __name__ != "plyhouse.search.teaching":
    raise ImportError("import plyhouse.search, not search")
