"""plyhouse.storage."""

if __name__ != "plyhouse.storage":
    raise ImportError("import plyhouse.storage, not storage")
