"""Evaluation functions, and opening books.

features, linear_evaluation     named features, and their weighted sum
played_matches                  finished matches, replayed under the rules
opening_book                    what was played in known positions, and how it came out
"""

if __name__ != "plyhouse.search.evaluation":
    raise ImportError("import plyhouse.search, not search")
