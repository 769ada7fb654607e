"""Searches that show what they do: the tree they look at, recorded and drawn.

explain        the tree of a search that you name; its searches and their requirements
tree_recorder  runs a search in the open, node by node
deepest_tree   the deepest tree that fits on a page
tree_record    the tree that was recorded, as data
drawable_tree  the same with its drawings; drawing is their layout, as text and as SVG
"""

if __name__ != "plyhouse.search.teaching":
    raise ImportError("import plyhouse.search, not search")
