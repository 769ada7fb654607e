"""The database: models, migrations and all queries.

Start at `store`, an open database that runs functions of a `Connection`.  Such functions are:

    people                players, tokens, bots, versions; people_changes: with their audit
    sessions              people at browsers: sessions, passwords, guests
    names                 names of players and bots in any script
    bot_profiles          the pages of bots
    leaderboards          leaderboards, ratings, and results for their fits
    match_writes          writes of running matches; voiding has those of void ones
    match_reads           matches that are read back; match_lists: filtered lists
    outputs               output of hosted bots
    tournaments           tournaments: the schedules of single games in competitions
    tournament_settings   their settings besides columns, as JSON; the sides in them
    competition_sql       competitions: their lifecycle
    competition_students  the class; class_lists, join_codes, competition_entries: its parts
    entry_rule            who enters a competition and its games
    competition_staff     roles of the staff; competition_messages: what it tells students
    competition_results   matches of a final; competition_reruns: of its repetitions
    measures              measured costs of matches and finals
    competition_changes   another file, copies, and what a deletion takes along
    competition_privacy   matches that are not public, for one viewer
    practice_ladders      practice ladders of competitions
    submission_sql        submissions; submission_checks: their checks; suspensions: of versions
    submissions           submitting a package; stored_packages: the files
    causes                why matches end: codes, and their sentences with a reader's names
    audit                 the audit log, which refers to accounts by their ids
    erasure               erasing a person; personal_data: what is stored about one, and
                          the names by which it is known

They use these modules:

    rows         frozen rows; competition_rows and submission_rows have those of their subjects
    models       the tables; `migrations/` has their history, and schema applies it
    store        an open database; database has connections and transactions
    engines      SQLAlchemy's engines, set up for SQLite and PostgreSQL
    urls         database URLs
    writer       group commit of what happens in matches; latency counts its times
    statements   SQL of the hot path, compiled once
    sqlite_writer    the connection that stores matches in SQLite, in a thread of its own
    postgres_writer  the one that stores them in PostgreSQL, with the server's lease
    claim        one server per database
    leases       the claim in PostgreSQL, which fences transactions; members: of a cluster,
                 with the owners of its matches
    locks        row locks that keep what was checked true until the commit
    errors       errors of this package, and how writes are repeated; driver_errors: made from those
                 of drivers
    maintenance  copies, backups, checks and upgrades of a database

Nothing is imported here, so that `rows` costs nothing.
"""

if __name__ != "plyhouse.storage":
    raise ImportError("import plyhouse.storage, not storage")
