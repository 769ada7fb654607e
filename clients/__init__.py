"""Programs with which people and programs use a server.

    cli         the ``plyhouse`` command
    terminal    drawing and typing in a terminal; knows the protocol, and no game
    web         pages for a browser, served by the server

Clients know protocol v1 and the scenes it carries; only the command line knows the other rooms.
"""

if __name__ != "plyhouse.clients":
    raise ImportError("import plyhouse.clients, not clients")
