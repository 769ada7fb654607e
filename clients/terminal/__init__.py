"""Drawing and playing in a terminal; knows protocol v1, and no game."""
