"""Searches that learn from simulations: random playouts, or a model in their place.

flat_monte_carlo            equal playouts for each action
mcts                        upper confidence bounds in a growing tree
puct                        priors and estimates of a model, as in AlphaZero
ismcts, pimc                where something is hidden: over what may be true
parallel                    one tree in each process, added up
simulating                  what they share: budgets, options
"""

if __name__ != "plyhouse.search.monte_carlo":
    raise ImportError("import plyhouse.search, not search")
