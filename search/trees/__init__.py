"""Searches of the game tree: minimax and all that prunes, orders or generalises it.

minimax, alpha_beta         duels; alpha_beta with every refinement; minimax also with
                            dice, or against a model of the others
many_seats                  any number of seats; two teams, with or without chance
iterative_deepening         what they do at the root: iterations, best so far, reports; which action
                            to play once the value is proven
transpositions              positions remembered between searches
chance_nodes                options of the searches that meet dice
"""

if __name__ != "plyhouse.search.trees":
    raise ImportError("import plyhouse.search, not search")
