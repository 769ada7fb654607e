"""The database: models, migrations and everything that is asked of it.

Start with `plyhouse.storage.store.Store` and `plyhouse.storage.writer.Writer`; their values are
in `plyhouse.storage.rows` and what can go wrong in `plyhouse.storage.errors`. Nothing is
imported here, so that `rows` costs nothing.
"""

if __name__ != "plyhouse.storage":
    raise ImportError("import plyhouse.storage, not storage")
