"""Games of imperfect information: equilibria, best responses, and policies as tables.

cfr, mccfr                              solvers by counterfactual regret
solution                                what every solver gives, and how far it is from right
tabular                                 policies as tables, and their files
best_response                           best responses, exploitability
resolving                               subgames solved again, on top of a policy for the whole game
matrix_game                             games of one choice each
sequence_form                           a game unfolded once, for all of them
"""

if __name__ != "plyhouse.search.equilibria":
    raise ImportError("import plyhouse.search, not search")
