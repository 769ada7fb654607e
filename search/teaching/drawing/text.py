"""A search tree as indented text, for terminals and for diffs."""

from __future__ import annotations

from collections.abc import Iterator

from plyhouse.games.values import probability_text
from plyhouse.search.teaching.tree_record import Kind, Node, TreeRecord

__all__ = ["tree_text", "window_text"]


def tree_text(tree: TreeRecord) -> str:
    """Return the title, then one line for each node, children indented below their parent."""
    return "\n".join([tree.title(), *lines(tree)]) + "\n"


def lines(tree: TreeRecord) -> Iterator[str]:
    """Return the lines of the nodes."""
    principal = {id(node) for node in tree.line()[1:]}
    # Depth first without recursion: what is still to be written, the next on top.
    waiting: list[tuple[Node | str, str, str]] = [(tree.root, "", "")]
    while waiting:
        node, lead, indent = waiting.pop()
        if isinstance(node, str):
            yield f"{lead}{node}"
            continue
        mark = " *" if id(node) in principal else ""
        yield f"{lead}{node_text(tree, node)}{mark}"
        below: list[Node | str] = list(node.children)
        if node.pruned:
            below.append(cut_text(tree, node))
        if node.left_out:
            below.append(f"({node.left_out} more actions not looked at)")
        for index in range(len(below) - 1, -1, -1):
            last = index == len(below) - 1
            waiting.append(
                (
                    below[index],
                    indent + ("└─ " if last else "├─ "),
                    indent + ("   " if last else "│  "),
                )
            )


def node_text(tree: TreeRecord, node: Node) -> str:
    """``4  MIN ≤ −0.1  α 0.02 β ∞``."""
    parts: list[str] = []
    if node.action:
        parts.append(branch_text(node))
    who = who_text(tree, node)
    value = tree.value_text(node)
    parts.append(f"{who} {value}" if value[0] in "≤≥" or not who else f"{who} = {value}")
    if node.children and (window := window_text(tree, node)):
        parts.append(window)
    return "  ".join(parts)


def branch_text(node: Node) -> str:
    """Return the action or outcome before a node, with its probability: ``roll``, ``4 (1/6)``."""
    if node.probability is None:
        return node.action
    chance = probability_text(node.probability)
    # A written tree names outcomes by their probabilities; once is enough.
    return chance if node.action.rstrip("'") == chance else f"{node.action} ({chance})"


def who_text(tree: TreeRecord, node: Node) -> str:
    """Return the kind of a node: ``MAX``, ``MIN``, ``chance``, the seat's name; "" at leaves."""
    match node.kind:
        case Kind.MAX | Kind.MIN:
            name = tree.game.seat_name(node.mover)
            word = node.kind.value.upper()
            return word if name == word else f"{word} ({name})"
        case Kind.SEAT:
            return tree.game.seat_name(node.mover)
        case Kind.CHANCE:
            return "chance"
        case Kind.MODEL:
            return f"model of {tree.game.seat_name(node.mover)}"
        case Kind.ESTIMATE:
            return "estimate"
        case Kind.TERMINAL:
            return "end"


def window_text(tree: TreeRecord, node: Node) -> str:
    """Alpha and beta where the search comes in; "" for searches without."""
    if node.alpha is None or node.beta is None:
        return ""
    return f"α {tree.shown(node.alpha)} β {tree.shown(node.beta)}"


def cut_text(tree: TreeRecord, node: Node) -> str:
    """Describe the pruned actions, with the reason."""
    rest = f"cut: {', '.join(node.pruned)}"
    alpha, beta = node.alpha, node.beta
    if alpha is None or beta is None:
        return rest
    if alpha < node.value < beta:
        return f"{rest}  (no value is better than {tree.shown(node.value)})"
    if node.value >= beta:
        return f"{rest}  (the value is ≥ {tree.shown(node.value)}, β is {tree.shown(beta)})"
    return f"{rest}  (the value is ≤ {tree.shown(node.value)}, α is {tree.shown(alpha)})"
