"""What remains of matches: records, their verification, ratings and leaderboards.

    scoring        what a match scores: from returns to what tables and ratings sum up
    record         the replayable history of a match as a file
    verify         a record recomputed without trusting the server that made it
    ratings        a fit of all results of a game, with intervals
    sequential     bounds on a mean that hold at every moment; grades until they are certain
    sprt           tests of candidates that stop when it is clear who is better
    leaderboards   ratings kept up to date, and the lines of a table
    played         games between two, in mirrored pairs, summed up for a fit
    strengths      Bradley-Terry with draws, seats and anchors for a field of competition
    plackett_luce  the same for rankings of three seats and more
    fitted         what a fit says: intervals of both kinds, ranks, who is the stronger
    separation     whether results compare everybody with everybody
    utilities      points and chips: means over mirrored pairs
    luck           luck taken out of them, by the chance nodes
    nash           fields without one order: Nash averaging
    repeats        games that were played before
    newton, simplex  the numerical methods under these

`verify` replays matches with code of its own, on purpose: it checks what the rest of the house
did.  All else that follows a match uses `plyhouse.games.position`.
"""
