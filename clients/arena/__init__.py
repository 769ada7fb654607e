"""The local arena: matches on this machine.

The referee is the server's own, in memory; there is no second one.

    series     a series of pairings, spread over processes: `play_series`
    process    one such process, with a hub and the bots
    local      the hub in memory, and how bots connect to it
    loops      the event loop that it runs on
    trial      candidates against a base until it is clear who is better
    verdicts   the same from the command line: kept, told in words and as JSON
    ledger     pairings that were played, in a file to go on with
    keeping    the files that a series leaves
    versions   which version of a bot or game this is: a hash of its content
    progress   how a series gets on
    tally      what the results say: counts and 95 % intervals
"""
