"""Results of matches: records, verification, ratings and leaderboards.

    scoring          the score of a match: from returns to the sums of tables and ratings
    record           the replayable history of a match as a file
    verify           a record recomputed without trust in the server that made it
    dataset          matches as rows: JSON Lines and Parquet, a row for each match or ply
    notations        records in the formats of games: which there are, and text
    board_notations  PGN, SGF, PDN, MAT and GCG
    card_notations   PBN and PHH; notation_parts: what all share
    voiding          computes and removes the scores of void matches
    ratings          a fit of all results of a game, with intervals
    sequential       bounds on a mean that hold at every moment; grades until they are certain
    sprt             tests of candidates that stop when the better one is clear
    leaderboards     the lines of a table, and when the ratings of a game are fitted again
    pair_results     games between two, in mirrored pairs, summed up for a fit
    strengths        Bradley-Terry with draws, seats and anchors for a field of competition
    plackett_luce    the same for rankings of three seats and more
    fitted           the conclusions of a fit: intervals of both kinds, ranks, superiority
    separation       whether results compare all entries with each other
    spread           the prior of a fit; how much results vary around it; the numerical methods
                     under these
    mean_returns     points and chips: means over mirrored pairs
    luck             luck taken out of them, by the chance nodes; the outcomes of chance events, in
                     the game's order
    nash             fields without one order: Nash averaging
    suspicion        results and choices worth a look; games that repeat earlier ones
    bot_statistics   opponents, seats, forfeits and pace of a bot

`verify` deliberately replays matches with code of its own, because it checks the other modules.
All other code that follows a match uses `plyhouse.games.position`.
"""
