"""Play matches on this machine, with the server's own referee in memory.

series         a series of pairings over several processes: `play_series`
process        one such process, with a hub and the bots
memory_server  the hub in memory, and the connections of bots
sprt_trial     tests candidates against a base until the better one is known
sprt_report    runs such a test for the command line
series_report  says how a series went: for people and for scripts
pairing_log    the file of finished pairings, for interrupted series; the files that a series writes
content_hash   the version of a bot or game: a hash of its content
bot_labels     names of the bots, from the command line
progress       the progress bar
tally          counts, means and 95 % intervals
"""
