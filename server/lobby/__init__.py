"""Seeks, challenges and matchmaking, outside of competitions.

lobby         seeks and challenges, and the matches that follow from them
matchmaking   pools of seeks, and the pairs that they make; pure
ply_quota     how many plies a player stores in a day
seek_hints    why a seek has found nobody yet
suspension    suspends versions that forfeit repeatedly; forfeits after which a version is suspended
match_search  the words of an address as a filter of matches
table_sizes   numbers of players for each game
"""
