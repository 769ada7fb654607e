"""The pages for people, made on the server: they work without a script.

    rendering         the template engine, and a page as an answer; plots as SVG files
    template_filters  values in words: titles, names, endings, times
    leaderboards      the front page, and the whole leaderboard of a game
    games             the rules of each game, and how to enter an action
    example_matches   a match of each game, for those who do not know it
    matches           the list of matches, and one match to watch or to replay
    competitions      the list of competitions, the page of each, and the reports on students
    new_competition   the form of a new competition, and the file that it makes
    competition_forms the forms of organisers and students on those pages
    bot_profiles      a page for each bot and each player
    client_pages      the way into a match; signing in and up; pages to watch: the projector, the
                      wall of boards, a frame
    server            the description of the API; the servers of a cluster, for operators

Style and scripts are files of the web client: pages have none inline and load nothing from other
hosts, as the content security policy of `plyhouse.server.web.application` demands.  The pages with
matches load modules of the client, which keep them up to date and draw positions.
"""
