"""Find what lost a match: ``plyhouse review`` and ``plyhouse bot ask``.

    review             reviews a record ply by ply: values, clocks, and where it was lost
    losses             the value that a bot loses per ply, over many matches
    judges             the verdict on one ply, and the interface of judges; depth-limited search and
                       sampling; solved tables, alpha-beta to the end, equilibria; chooses the judge
                       for a game
    recorded_position  the view of a seat at one ply of a record; the search tree there

Each value states its certainty: "exact" is proven, "depth 6" is the game's evaluation six plies
ahead, and "sampled 4,000" is the mean of 4,000 simulations.
"""
