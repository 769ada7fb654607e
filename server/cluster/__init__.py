"""Messages between the server processes that share a database.

link              what the server uses: messages to and from the other processes
channel           delivery in order and exactly once, over anything that loses messages; pure
carrier           the interface of what carries batches of messages; the error of a cluster that
                  cannot start
nats_carrier      batches through NATS
database_carrier  batches through the database, while NATS is away
nats_server       starts a NATS server on this machine
nats_watcher      the process that ends this NATS server with its parent
"""
