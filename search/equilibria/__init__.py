"""Games of imperfect information: equilibria, best responses, and policies as tables.

cfr, cfr_plus, discounted_cfr, mccfr    solvers by counterfactual regret
solution                                what every solver gives, and how far it is from right
tabular                                 policies as tables, and their files
best_response                           best responses, exploitability
resolving                               subgames solved again, on top of a policy for the whole game
leduc_continual                         Leduc poker, each round solved when it begins
leduc_network                           values of its hands for that, by a network
leduc_subgames, leduc_training          what the network learns from, and how
limit_holdem                            buckets, betting tree and policies of limit hold'em
limit_holdem_training                   such a policy in training
local_best_response                     a lower bound on what a policy of limit hold'em loses
matrix_game, linear_program             games of one choice each
sequence_form                           a game unfolded once, for all of them
"""

if __name__ != "plyhouse.search.equilibria":
    raise ImportError("import plyhouse.search, not search")
