"""Find the ply that lost a match: ``plyhouse review`` and ``plyhouse bot ask``.

    review             reviews a record ply by ply: values, clocks, and where it was lost
    judgement          the verdict on one ply, and the interface of judges
    judge_choice       chooses the judge for a game
    exact_judges       solved tables, alpha-beta to the end, equilibria
    estimating_judges  depth-limited search and sampling
    recorded_turn      the view of a seat at one ply of a record
    recorded_tree      the search tree of a recorded position

Each value states its certainty: "exact" is proven, "depth 6" is the game's evaluation six plies
ahead, and "sampled 4,000" is the mean of 4,000 simulations.
"""
