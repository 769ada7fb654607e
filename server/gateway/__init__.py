"""Connections: logins, requests, and the hub that constructs the other packages.

match_hub        sessions, participants and their matches: what every hub has
hub              constructs the packages, and passes frames and events between them
local_hub        the hub of matches on one machine, without all that needs a database
logins           finds out who says ``hello``
entrance         lets in a connection whose bot is known, from there to ``welcome``
bot_connections  which connection of a bot counts
match_requests   requests about matches, except actions
requests         requests that need the lobby, privacy or other servers
membership       the interface of other servers for the hub; a single server has none
"""
