"""The web API under ``/api/v1``; all that it sends and accepts is described at ``/api``.

The answers are defined in `plyhouse.protocol.api`, which clients import as well.

    access          who may do what: bearer tokens and their scopes, sessions
    house           how the server is doing, which games there are
    leaderboards    standings
    matches         matches, their records and replays
    trees           search trees of positions of matches
    players         players and accounts
    people          people at browsers: sessions, guests, open seeks, bots of the house
    competitions    competitions: shown, and started
    classes         competitions with a class: students, codes, freeze, final, export
    class_changes   competitions that change after they were opened
    class_staff     who has which role in a competition
    baselines       baselines of a competition, checked again or replaced
    announcements   what the staff tells the class of a competition
    erasure         a person erased, and what is stored about one
    regrades        requests to look at a match or a grade again
    class_finals    their rounds and tables, as the format sees them
    class_types     what is accepted there
    outputs         what hosted bots printed
    submissions     bots that are handed in
    administration  what organisers do, and the log of it

Each module names its handlers in `HANDLERS`; `plyhouse.server.web.application` collects them.
Everything is read from the database or the hub at the time of asking.
"""
