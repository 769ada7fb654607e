"""The tables of the bidding system, in the notation of `rules_of_calls`.

They follow the "ACBL SAYC System Booklet" (SP 3, revised January 2006), Standard American Yellow
Card: five-card majors, 1NT of 15 to 17 with Stayman and transfers, limit raises, Jacoby 2NT, weak
twos, 2C strong, negative and takeout doubles.  Left out: minor-suit transfers, Gerber, Michaels,
the unusual 2NT, Drury, fourth suit.  The points of competitive raises follow the law of total
tricks: L. Cohen, "To Bid or Not to Bid" (1992).
"""

from __future__ import annotations

from typing import Final

__all__ = [
    "ADVANCE_OF_DOUBLE",
    "ADVANCE_OF_OVERCALL",
    "AFTER_NO_TRUMP",
    "AFTER_STAYMAN",
    "AFTER_STRONG_CLUB",
    "AFTER_TRANSFER",
    "AFTER_TWO_NO_TRUMP",
    "BALANCING",
    "HIGH_DEFENCE",
    "OPENING",
    "OPENING_FOURTH",
    "OVERCALL",
    "OVER_NO_TRUMP",
    "OVER_PREEMPT",
    "REBID_AFTER_JACOBY",
    "REBID_AFTER_NEW_SUIT",
    "REBID_AFTER_NO_TRUMP",
    "REBID_AFTER_STRONG_CLUB",
    "REBID_AFTER_TWO_OVER_ONE",
    "REOPENING",
    "RESPONSE_TO_MAJOR",
    "RESPONSE_TO_MINOR",
    "RESPONSE_TO_PREEMPT",
    "RESPONSE_TO_WEAK_TWO",
    "RESPONSE_WITH_OVERCALL",
    "SANDWICH",
]

# Openings: "Opening bids", "Weak two bids", "Strong two club opening" of the booklet.

OPENING: Final = """
2C    22+     art asks
2NT   20-21   even
1NT   15-17   even
1D    11-21   S4 H4 D3 C2 opens
1x    11-21   x5+ longest opens
1D    11-21   D4+ H4- S4- opens
1C    11-21   C3+ H4- S4- opens
4S    6-10    S8+
4H    6-10    H8+
3S    5-10    S7 good
3H    5-10    H7 good
3D    5-10    D7 good
3C    5-10    C7 good
2S    5-11    S6 H3- good
2H    5-11    H6 S3- good
2D    5-11    D6 H3- S3- good
Pass  0-12
"""

OPENING_FOURTH: Final = """
2C    22+     art asks
2NT   20-21   even
1NT   15-17   even
1D    11-21   S4 H4 D3 C2 fourth
1x    11-21   x5+ longest fourth
1D    11-21   D4+ H4- S4- fourth
1C    11-21   C3+ H4- S4- fourth
Pass  0-14
"""

# Responses: "Responses to one-level openings".

RESPONSE_TO_MAJOR: Final = """
2NT   13+o    o4+ art game
4o    0-9     o5+ uneven
3o    10-12o  o3+
2o    6-9o    o3+
2+x   12+     x5+ sole asks
1+x   6+      x4+ asks
3NT   15-17   even o2
2+H   10+     H5+ asks
2+D   10+     D4+ asks
2+C   10+     C4+ asks
2+C   13+     C3+ asks rare
1NT   6-10
Pass  0-5
"""

RESPONSE_TO_MINOR: Final = """
2+x   12+     x5+ sole asks
1+x   6+      x4+ asks
3NT   16-17   even
2NT   13-15   even game
2+x   10+     x4+ asks
3o    10-12   o5+
2o    6-9     o5+
4o    13+     o6+ game
6NT   21+     even
4NT   18-20   even
1NT   6-10
3o    10-12   o4+
2NT   11-12   even
Pass  0-5
"""

RESPONSE_TO_WEAK_TWO: Final = """
4M    15+M    M2+
4M    0-14M   M4+
3NT   16+     m3+
3NT   17+     even
2+x   16+     x5+ asks
3+x   16+     x5+ asks
3o    0-14o   o3+
Pass  0-16
"""

RESPONSE_TO_PREEMPT: Final = """
4M    15+M    M2+
4M    0-14M   M3+
3NT   17+
4m    0-14m   m3+
Pass  0-16
"""

# "One notrump", "Two notrump", "Stayman", "Jacoby transfer bids".

AFTER_NO_TRUMP: Final = """
2H    0+      S5+ H4- art asks
2D    0+      H5+ S4- art asks
2H    0+      S5+ H5+ art asks
2C    8+      H4 S4- art asks
2C    8+      S4 H4- art asks
6NT   18+
4NT   16-17
3NT   10-15
2NT   8-9
Pass  0-9
"""

AFTER_TWO_NO_TRUMP: Final = """
3H    0+      S5+ H4- art asks
3D    0+      H5+ S4- art asks
3H    0+      S5+ H5+ art asks
3C    4+      H4 S4- art asks
3C    4+      S4 H4- art asks
6NT   12+
4NT   11
3NT   4-10
Pass  0-4
"""

AFTER_STAYMAN: Final = """
2H    0+      H4+
3H    0+      H4+
2S    0+      S4+ H3-
3S    0+      S4+ H3-
2D    0+      H3- S3- art
3D    0+      H3- S3- art
"""

AFTER_TRANSFER: Final = """
3r    17      r4+
2r    0+      art
3r    0+      art
"""

# "The strong, artificial two club opening".

AFTER_STRONG_CLUB: Final = """
2S    8+      S5+ good game
2H    8+      H5+ good game
3D    8+      D5+ good game
3C    8+      C5+ good game
2NT   8+      even game
2D    0+      art asks
"""

REBID_AFTER_STRONG_CLUB: Final = """
3NT   25-27   even
2NT   22-24   even
2x    22+     x5+ longest game
3C    22+     C5+ longest game
3D    22+     D5+ longest game
2NT   22-27   rare
"""

# "Rebids by opener".

REBID_AFTER_NEW_SUIT: Final = """
4r    19+r    r4+
3r    16-18r  r4+
2r    11-15r  r4+
3NT   20-21   even
2NT   18-19   even
3++x  19+     x4+ lower game
1+x   11-18   x4+
1NT   11-14   even
3++o  16-18   o6+
2+x   11-18   x4+ lower
2+x   17+     x4+ o5+ higher asks
2+o   11-15   o6+
2r    11-15r  r3 uneven rare
2+o   11-15   o5+ rare
1NT   11-14   rare
3++o  16+     o5+ rare
2NT   18-19   rare
"""

REBID_AFTER_NO_TRUMP: Final = """
3NT   19-21   even
2NT   18      even
3++x  19+     x4+ lower game
3NT   19+
3++o  16-18   o6+
2+x   17+     x4+ o5+ higher asks
2+x   11-18   x4+ lower
2+o   11-15   o6+
Pass  11-17
"""

REBID_AFTER_TWO_OVER_ONE: Final = """
4r    14+r    r4+ H4+
3r    11-13r  r4+ again
3++o  16+     o6+ game
3NT   18-19   even
2+x   11+     x4+ lower again
2+x   15+     x4+ higher again
2+o   11+     o6+ again
2NT   12-14   even again
3+x   15+     x4+ again
2+o   11+     o5+ again rare
3r    11+     r3+ rare
2NT   11-17   again rare
"""

REBID_AFTER_JACOBY: Final = """
3o    18+o    own game
3NT   15-17o  own art game
4o    11-14o  own
"""

# Competition: "Defensive and competitive bidding".

OVERCALL: Final = """
1NT   15-18   even stop
1+x   8-17    x5+ longest
2+H   11-17   H5+ longest good
2+x   11-17   x6+ longest
X     12+     short support
X     18+
2NT   19-21   even stop
2+x   11-17   x5+ longest good
2+x   14-17   x5+ longest
2++x  5-10    x6 good
3++x  5-10    x7+ good
X     13+     short
Pass  0-17
"""

BALANCING: Final = """
1NT   11-14   even stop
X     9+      short support
X     15+
1+x   7-14    x5+ longest
2+x   9-14    x5+ longest
1NT   11-14   even
Pass  0-12
"""

SANDWICH: Final = """
X     12+     short support
1+x   9-16    x5+ longest good
2+x   12-17   x5+ longest good
3++x  5-10    x7+ good
Pass  0-17
"""

OVER_NO_TRUMP: Final = """
X     16+     art
2+x   9-15    x6+ longest
2+x   10-15   x5+ longest good
3++x  5-10    x7+ good
Pass  0-15
"""

OVER_PREEMPT: Final = """
3+NT  17-21   even stop
2NT   15-18   even stop
X     13+     short
X     18+
2+x   11-17   x5+ longest good
3+x   13-17   x5+ longest good
3+x   12-17   x6+ longest
4+H   13-18   H6+ good
4+S   13-18   S6+ good
Pass  0-17
"""

RESPONSE_WITH_OVERCALL: Final = """
4M    0-9     M5+ uneven
4M    13+M    M4+
+y    10+M    M4+ art asks
+y    11+M    M3+ art asks
3++M  0-6M    M4+
3++m  3-8     m5+ uneven
1+x   6+      x4+ asks
2M    6-10M   M3+
3+M   8-10M   M3+
3NT   13-17   stop
2+x   10+     x5+ asks
3+x   12+     x5+ asks
X     7+      major art asks
+y    11+m    m5+ art asks
2m    6-10m   m4+
3+m   8-10m   m4+
2NT   11-12   stop
1NT   7-10    stop
X     11+     art asks
Pass  0-10
"""

ADVANCE_OF_OVERCALL: Final = """
4M    0-9     M5+ uneven
+y    12+o    o3+ art asks
3++o  3-8     o4+
2+o   6-11o   o3+
3+o   8-11o   o3+
3NT   15-18   stop
2NT   13-14   stop
1+x   8-15    x5+
2+x   10-15   x5+ good
1NT   9-12    stop
Pass  0-12
"""

ADVANCE_OF_DOUBLE: Final = """
4S    12+     S4+
4H    12+     H4+
3NT   13+     stop even
2++S  9-11    S4+
3++S  9-11    S4+
2++H  9-11    H4+
3++H  9-11    H4+
2NT   11-12   stop
2++x  9-11    x4+ longest
3++x  9-11    x4+ longest
+y    12+     art asks
1NT   6-10    even stop S3- H3-
+S    0-8     S4+
+H    0-8     H4+
1+x   0-8     x4+
2+x   0-8     x4+
3+x   0-8     x4+
+S    0-11    S4+ rare
+H    0-11    H4+ rare
+x    0-11    x4+ rare
1NT   6-10    stop rare
+x    0-11    x3+ rare
3NT   12+     rare
"""

REOPENING: Final = """
X     12+     short asks
2+o   14+     o6+
2+x   14+     x5+
Pass  11-18
"""

HIGH_DEFENCE: Final = """
3+x   14+     x5+ longest good
4+x   15+     x6+ longest good
X     15+     short support
Pass  0-20
"""
