"""Pairs of least total cost, from a perfect matching of few candidates.

The number of candidates grows until a perfect matching exists.  The blossom algorithm is that of
networkx (`max_weight_matching`) on whole numbers, so its answer is exact and the same on every
machine.  Its time grows with the candidates, so each node adds only its cheapest ones: for 200
nodes this takes a second instead of ten.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

__all__ = ["CANDIDATES", "cheapest_pairs"]

CANDIDATES: Final = 12
"""The number of candidates that each node adds at first: its cheapest ones."""
NEIGHBOURS: Final = 6
"""The number of further candidates: the next ones in the order of the nodes."""


def cheapest_pairs(
    nodes: int, cost: Callable[[int, int], int], *, dear: int | None = None
) -> list[tuple[int, int]]:
    """Pair all of an even number of nodes, with the least sum of costs.

    ``cost`` takes ``(i, j)`` with ``i < j``.  With many nodes, only some pairs are considered, and
    the sum is the least over those.  These are pairs in which one node is among the cheapest for
    the other, or near to it in the order of the nodes, which seldom leaves a node alone.  Their
    number doubles until no node is left alone.  Pairs that cost ``dear`` or more are considered
    only if no perfect matching exists without them.

    Raises ValueError for an odd number of nodes.

    >>> cheapest_pairs(4, lambda i, j: (i - j) ** 2)
    [(0, 1), (2, 3)]
    """
    if nodes % 2:
        raise ValueError(f"{nodes} cannot be paired without leaving one alone")
    costs = [[0] * nodes for _ in range(nodes)]
    for i in range(nodes):
        for j in range(i + 1, nodes):
            costs[i][j] = costs[j][i] = cost(i, j)
    by_cost = [
        [j for _, j in sorted(zip(row, range(nodes), strict=True)) if j != i]
        for i, row in enumerate(costs)
    ]
    most = CANDIDATES
    while most < nodes:
        near = NEIGHBOURS * most // CANDIDATES
        edges = {(min(i, j), max(i, j)) for i in range(nodes) for j in by_cost[i][:most]}
        edges |= {(i, j) for i in range(nodes) for j in range(i + 1, min(nodes, i + 1 + near))}
        few = [(i, j, -costs[i][j]) for i, j in sorted(edges) if _less(costs[i][j], dear)]
        pairs = _matching(few)
        if len(pairs) == nodes // 2:
            return pairs
        most *= 2
    return _matching([(i, j, -costs[i][j]) for i in range(nodes) for j in range(i + 1, nodes)])


def _less(cost: int, dear: int | None) -> bool:
    return dear is None or cost < dear


def _matching(edges: list[tuple[int, int, int]]) -> list[tuple[int, int]]:
    # Importing networkx takes half a second, which only drawing a Swiss round needs.
    from networkx import Graph, max_weight_matching

    graph: Graph[int] = Graph()
    graph.add_weighted_edges_from(edges)
    found = max_weight_matching(graph, maxcardinality=True)
    return sorted([(min(pair), max(pair)) for pair in found])
