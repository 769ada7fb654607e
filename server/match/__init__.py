"""The pure core of the server: one match, its clock, chance and views.

engine         the state machine of a match: inputs with ``now``, effects out
effects        rows to store and messages to send, for the shell to carry out
clock          the running times; `time_control` is the rule, with refunds and ledgers
time_control   time controls, as text and as values
chance         committed seeds, and outcomes derived from them
views          the only place that turns a state into data for a viewer
audience       what each viewer asked for and has got; seats that are away, and how long the match
               waits
history        everything that stored events determine
events         the events of a match as rows; `restore` rebuilds a match from them
restore        a match after the server was killed
presence       immutable records of bots, matches and pairings, for packages and other servers
terminations   the ways in which a match can end, how each counts, and the returns of those that
               the rules do not decide
terms          what is fixed before the match begins
example_turns  example turns for the documentation
"""
