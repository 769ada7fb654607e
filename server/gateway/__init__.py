"""Connections: logins, requests, the hub that constructs the other packages, and the cluster.

match_hub        sessions, participants and their matches: what every hub has
hub              constructs the packages, and passes frames and events between them
local_hub        the hub of matches on one machine, without all that needs a database
logins           finds out who says ``hello``
entrance         lets in a connection whose bot is known, from there to ``welcome``
admission        which connection of a bot counts
match_requests   requests about matches, except actions
requests         requests that need the lobby, privacy or other servers
membership       a single server as a cluster of one
cluster          who is in the cluster, who leads, and what follows when a server is gone; the parts
                 of a server in a cluster
switchboard      messages to and from other servers, calls and their answers
member_messages  the messages themselves
remote_play      the sockets here: their matches, logins and seeks on other servers
owned_matches    the matches here, for sockets on other servers
leadership       the leader: logins, pairings and results of all servers
remote_matches   matches that other servers run; connections whose sockets other servers hold
"""
