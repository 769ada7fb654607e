"""The HTTP API's answers and calls, shared by the server and every client of it.

    rows               the base of all answers, lists of them, how a notebook draws them
    routes             how calls are declared; a request and how its answer is read
    bodies             the bodies of requests
    calls              all other calls
    answers            the JSON of an answer, or its error: what happened, who said so, the fix
    competition_calls  the calls of competitions
    administration_calls
                       the calls of administrators about people, bots and tokens
    server             the server's state and its games
    matches            matches, seats, endings, replays, outputs of hosted bots
    positions          reviews, search trees, outcomes of chance
    bots               a bot, its versions, ratings and results
    people             players, accounts, tokens, sessions, seeks, the audit log
    competitions       competitions: status, students, entries, staff, changes, costs; the schedule
                       of one game of a competition
    standings          standings with ratings and intervals, rounds, grades; standings of a game
    reports            what a final says of one student; unlikely results, and bots that choose
                       alike
    submissions        packages that are submitted, and where versions are entered

Rules that keep old and new programs talking: a field that is added has a default, and a reader
ignores fields that it does not know.  Times ending in ``_ms`` are milliseconds since 1970 (UTC);
durations name their unit.
"""
