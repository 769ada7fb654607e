"""What remains of matches: records, their verification, ratings and leaderboards.

    scoring        what a match scores: from returns to what tables and ratings sum up
    record         the replayable history of a match as a file
    verify         a record recomputed without trusting the server that made it
    ratings        a fit of all results of a game, with intervals
    leaderboards   ratings kept up to date, and the lines of a table

`verify` replays matches with code of its own, on purpose: it checks what the rest of the house
did.  All else that follows a match uses `plyhouse.games.position`.
"""
