"""``plyhouse review`` and ``plyhouse bot ask``: why a match was lost.

    review      a record gone through ply by ply: values, clocks, and where it was lost
    judgement   the verdict on one ply, and the interface of judges
    judges      the choice of a judge for a game
    exact       judges that know: solved tables, alpha-beta to the end, equilibria
    estimates   judges that look ahead so far, or sample
    position    what a seat was told at one ply of a record, as the server told it then

What a judge says comes with how certain it is, and nothing is rounded up: "exact" is proven,
"depth 6" rests on the game's estimate six plies ahead, "sampled 4,000" on so many simulations.
"""
