"""Searches that learn from random playouts."""
