"""Running matches: the holders of seats, clocks, and effects carried out in order.

live               drives one match engine: passes in input, carries out effects
live_matches       all matches: created, found and removed
resumable_matches  the same with a database, from which they are resumed
kept_matches       the last matches, kept in memory where there is no database
directory          connected bots, running matches, and whether this server leads
running_match      the interface of a match here or on another server
participants       bots that are connected or still hold a seat
watchdog           measures stalls of the event loop, so that no bot pays for them
refunds            gives back the time in which no machine runs a hosted bot; gives back the time
                   that a login takes
journal            the operator's log of connections and matches; counters for monitoring
"""
