"""Searches of the game tree: minimax and all that prunes, orders or generalises it.

minimax, alpha_beta         duels without chance; alpha_beta with every refinement
expectiminimax              duels with dice, with Star1 and Star2 pruning
expectimax                  one seat against chance, or against a model of the others
maxn, paranoid              any number of seats
team_search                 two teams, with or without chance
iterative_deepening         what they do at the root: iterations, best so far, reports
proven_choice               which action to play once the value is proven
transpositions              positions remembered between searches
chance_nodes                options of the searches that meet dice
"""

if __name__ != "plyhouse.search.trees":
    raise ImportError("import plyhouse.search, not search")
