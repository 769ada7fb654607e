"""Searches that show what they do: the tree they look at, drawn and written out."""
