"""The web API under ``/api/v1``; the page ``/api`` describes all that it sends and accepts.

Clients import the types of the answers, `plyhouse.protocol.api`, as well.

    access                permissions: bearer tokens and their scopes, sessions
    serving               handlers of the routes that `plyhouse.protocol.api` declares
    server_status         the state of the server and its games; the servers of a cluster, for
                          operators
    matches               matches, their records and replays
    dataset               data sets: many matches in one file
    trees                 search trees of positions of matches
    players               players and their bots; erasing a person, and the data stored about one
    people                people at browsers: sessions, guests, open seeks, built-in bots
    competitions          competitions: their steps, boards and exports
    competition_people    students, codes to join, extensions, entries; the roles in a competition
    competition_files     changes to an open competition, and reopening a frozen one; baselines of a
                          competition, checked again or replaced; the cost of a file
    standings             leaderboards, boards of competitions, rounds of finals, results as files
    competition_messages  announcements of a competition's staff; requests to look at a match or a
                          grade again
    submissions           submitted bots; the output of hosted bots
    runners               reports of runner machines, and their assignments
    administration        the organisers' actions, and their log

Each module names its handlers in `HANDLERS`; `plyhouse.server.web.application` collects them.
Handlers read everything from the database or the hub for each request.
"""
