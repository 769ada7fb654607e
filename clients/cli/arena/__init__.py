"""The local arena: matches on this machine.

The referee is the server's own, in memory; there is no second one.

    series     a series of pairings, spread over processes: `play_series`
    process    one such process, with a hub and the bots
    local      the hub in memory, and how bots connect to it
    tally      what the results say: counts and 95 % intervals
"""
