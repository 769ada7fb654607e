"""Evaluation functions, and data learned from finished matches.

features, linear_evaluation     named features, and their weighted sum
played_matches                  finished matches, replayed under the rules
tuning                          weights from results, or from self-play
backgammon_training             a network for backgammon, trained by self-play
board_views                     boards as inputs of networks
policy_networks                 networks with a policy and a value, and their files
batched_search                  PUCT in many positions at the same time
alphazero_training              their training by self-play
alphazero_curve                 how well they play: points of learning curves
opening_book                    what was played in known positions, and how it came out
"""

if __name__ != "plyhouse.search.evaluation":
    raise ImportError("import plyhouse.search, not search")
