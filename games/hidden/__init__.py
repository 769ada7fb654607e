"""Games of imperfect information: cards, hidden boards, and simultaneous choices, which are
hidden commits one after the other.  Kuhn poker is the one to read first.
"""
