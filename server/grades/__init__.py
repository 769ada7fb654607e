"""Standings, grades and statistics of a final, as pure functions of its results.

Each module uses only those above it:

    final_rules             the scoring and grading that a final stored when it began
    missing_games           games and matches that an entry leaves out count as 0
    standings               results into standings, with places by the rules of the format
    student_grades          the grades of students, from mean scores against baselines
    pairings_until_certain  the pairings of a gauntlet that continues until grades are certain
    board_statistics        strengths, intervals, crosstables and duplicate baselines of a board
    board_fits              the fits that compute them, with numpy
    final_results           all that is computed from the matches of a final
    visible_entries         the entries that a viewer may see
    game_tables             the table of each game, and the column that decides the places
    board                   the board of a final, as one viewer sees it
    standings_files         standings as CSV, Markdown and HTML
    summaries               the first sentences of reports and of bots' pages
    grade_files             grades as CSV, and as files for Canvas, Moodle and Gradescope

Nothing here does I/O or keeps state.  `plyhouse.server.competitions.results_cache` reads the
matches from the database, and `plyhouse.server.competitions.visible_boards` answers viewers.
"""
