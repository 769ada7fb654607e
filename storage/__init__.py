"""The database: models, migrations and everything that is asked of it.

    rows           what goes in and comes out, as plain values; what a writer can be given
    store          an open database, which runs the functions of the modules below: start here
    competition_*  SQL of competitions; competition_sql has their lifecycle
    tournaments    SQL of tournaments: the schedules of single games in competitions
    writer         group commit for what happens in matches
    errors         what can go wrong, as one tree
    urls           database URLs, read
    database       connections, threads and transactions: SQLite and PostgreSQL behind one surface
    engines        SQLAlchemy's engines, set up for SQLite and PostgreSQL
    thread         the thread that writes to SQLite
    checkpoints    the thread that moves SQLite's log into the database file
    claim          one server per database
    schema         which schema a database has, and bringing it up to date
    models         the tables
    migrations/    how they came about
    statements     SQL compiled once, for the hot path
    match_writes   SQL of what is stored while matches are played
    match_lists    SQL of lists of matches, filtered and in parts
    match_reads    SQL of matches that are read back
    competitions   SQL of competitions: entries, progress, tables
    leaderboards   SQL of leaderboards and ratings
    people         SQL of players, tokens, bots and versions

Nothing is imported here, so that `rows` costs nothing.
"""

if __name__ != "plyhouse.storage":
    raise ImportError("import plyhouse.storage, not storage")
