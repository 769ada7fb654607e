"""Competitions: their life, play, boards, reports, grades and exports.

A competition is an event with games and entries; students are optional.  Its final is one
tournament for each game.

    lifecycle            opening from a file, freeze, final, dates
    file_changes         changes after the opening, and files that an older version stored
    overview             a competition as its organiser sees it
    finals, game_finals  delays and start of a final, and the tables and rounds of its games
    tournaments          the tournaments that are played, from their start to their end
    pairing_starts       which pairings begin: their bots are connected and have room
    tournament_state     the memory of a running tournament
    tournament_restore   running tournaments, rebuilt from rows
    ladders, practice    endless tournaments; the practice ladder of a competition
    absences             waits for absent entries; absence_reasons says what they wait for
    upcoming_pairings    pairings that have not begun
    baselines            checks and replacement of baselines
    results_cache        the results of finals, read from the database and kept
    visible_boards       boards and grades, as their viewers may see them
    reports, exports     reports on students; downloads and grade books
    suspicions           results and records worth a look
    bot_profiles         the page of a bot
"""
