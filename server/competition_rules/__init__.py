"""Competitions as pure functions of stored facts.

    file                 the values of a competition file, with late days; how they are stored
    file_reader          a competition file (TOML), read into values with all mistakes at once
    file_table           a table of a file: its mistakes, and edits of its text
    file_sections        its dates, its baselines, and its keys about results
    file_template        the commented file that ``plyhouse competition new`` writes
    changes              the changes that a new file makes, and their effects
    preview              the cost of a competition: matches, core-hours, expected end
    dates                dates with time and zone, in human formats
    derived_files        names and files of rehearsals and practice ladders
    class_list           the list of a class (CSV), read whole or refused line by line
    class_list_columns   its columns, also as Moodle, Canvas and Gradescope name them
    grade_precision      the number of matches behind a grade, and the certainty that they give
    sides                partners that count as one entry
    reference_baselines  built-in bots as baselines
    formats              the interface of formats: their input, their output, and shared parts
    format_registry      formats by their names, with their parameters
    round_robin          everybody meets everybody, once or several times
    gauntlet             everybody meets the baselines
    tables               a few rounds in groups of as many entries as the game has seats
    swiss                a few rounds, each against an opponent with a similar score, drawn by
                         pairs of least cost
    knockout             a loss eliminates: brackets, seeding, series of several pairings
    double_elimination   a second loss eliminates
    groups               groups first, then a knockout of the best of each
    ladder               never over: pairs connected bots
    tie_breaks           orders, places and tie-breaks that several formats use
    schedule             the pairings of a round robin, made on demand
    pairing_queue        pairings still to start, and those of a round robin
    progress             pairings ready, begun and finished, in any format

Nothing here does I/O, waits or keeps state.  `Format.ready` and its relatives take the entries, and
the pairings begun and finished, each under its key.  A server that stopped at any moment can
therefore go on with the contents of the database.  A withdrawal, a late entry or a corrected result
is just another input.
"""
