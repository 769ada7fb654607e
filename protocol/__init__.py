"""plyhouse.protocol."""

if __name__ != "plyhouse.protocol":
    raise ImportError("import plyhouse.protocol, not protocol")
