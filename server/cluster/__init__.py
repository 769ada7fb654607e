"""Several server processes that share a database, and the messages between them.

member            makes the parts of a member, and joins them with the hub
lease_follower    who is in the cluster, who leads, and what follows when a server is gone
switchboard       messages to and from other servers, calls and their answers
member_messages   the messages themselves
remote_play       the sockets here: their matches, logins and seeks on other servers
owned_matches     the matches here, for sockets on other servers
leadership        the leader: logins, pairings and results of all servers
remote_matches    matches that other servers run; connections whose sockets other servers hold
link              messages to and from the other processes, as payloads; the interface of what
                  carries batches of them
channel           delivery in order and exactly once, over anything that loses messages; pure
carriers          batches through NATS, and through the database while NATS is away
nats_server       starts a NATS server on this machine
nats_watcher      the process that ends this NATS server with its parent
"""
