"""plyhouse.games."""

if __name__ != "plyhouse.games":
    raise ImportError("import plyhouse.games, not games")
