"""Pairs of least cost: a perfect matching of few candidates, of more where there is none.

The blossom algorithm is that of networkx (`max_weight_matching`), on whole numbers, so that its
answer is exact and the same on every machine.  Its time grows with the candidates, so that each
node brings only its cheapest ones: for 200 nodes a second instead of ten.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

__all__ = ["CANDIDATES", "cheapest_pairs"]

CANDIDATES: Final = 12
"""How many partners each node brings at first: its cheapest ones."""
NEIGHBOURS: Final = 6
"""How many more it brings: those after it in the order of the nodes."""


def cheapest_pairs(
    nodes: int, cost: Callable[[int, int], int], *, dear: int | None = None
) -> list[tuple[int, int]]:
    """Pair all of an even number of nodes, so that the sum of the costs is least.

    ``cost`` is asked for ``(i, j)`` with ``i < j``.  Where a node has many others, only some pairs
    are looked at, and the sum is the least of those: pairs in which one is among the cheapest of
    the other, or stands near to it in the order of the nodes (so that seldom somebody is left
    alone).  Twice as many are looked at as long as somebody is.  Pairs that cost ``dear`` or more
    come in only when there is no way without them.

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
    # To import networkx takes half a second, which only who draws Swiss rounds shall wait for.
    from networkx import Graph, max_weight_matching

    graph: Graph[int] = Graph()
    graph.add_weighted_edges_from(edges)
    found = max_weight_matching(graph, maxcardinality=True)
    return sorted([(min(pair), max(pair)) for pair in found])
