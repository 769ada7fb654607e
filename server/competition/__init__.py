"""Competitions, as pure functions of stored facts: what is said of them, and who meets whom, when.

    file           the competition file (TOML): read into typed values, every mistake named at once
    template       the commented file that ``plyhouse competition new`` writes
    preview        what a competition will cost: matches, core-hours, expected end
    times          dates with time and zone, as people write them
    students       the list of a class (CSV), read whole or refused line by line
    standings      results into standings and grades, and these into CSV
    facts          what formats are asked about, and what they answer with
    formats        what every format can do, and what they have in common
    round_robin    everybody meets everybody, once or several times
    gauntlet       everybody meets the baselines
    swiss          a few rounds, each against somebody who has done as well
    knockout       who loses is out: brackets, seeding, series of several pairings
    double_elimination  an entry is out when it has lost twice
    groups         groups first, then a knockout of the best of each
    ladder         never over: pairs whoever is connected
    catalogue      formats by their names, with their parameters
    places         places over the games of a final, without disqualified entries and twins
    lots           an order by lot that anybody can recompute
    tables         orders, places and tie-breaks that several formats use
    matching       pairs of least cost, which Swiss rounds are drawn by
    schedule       the pairings of a round robin, made when they are asked for
    agenda         what of such a schedule can begin, found by who has room

Nothing here does I/O, waits or keeps state: `Format.ready` and its relatives are asked with the
entries and with the pairings that have been begun and finished, each under its key.  So a server
that was stopped anywhere goes on with nothing but what the database holds, and a withdrawal, a
late entry or a corrected result is just another question.
"""
