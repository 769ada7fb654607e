"""A search tree as an SVG drawing, in the convention of textbooks.

Upright triangles are MAX, inverted ones MIN, circles chance, squares the end of the game;
dashed squares are estimates at the depth limit.  The principal variation is emphasised;
a double bar stands where branches were cut.  The root is on top; on the left where the
tree would be too wide.  Text stays text, so that it can be selected and searched; colours
follow light and dark mode.
"""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from typing import Final

from plyhouse.search.teaching.drawing.layout import Box, tidy
from plyhouse.search.teaching.drawing.text import branch_text, who_text, window_text
from plyhouse.search.teaching.tree_record import Kind, Node, TreeRecord

__all__ = ["tree_svg"]

WIDEST: Final = 1250
"""A wider tree is drawn from left to right: a page can be scrolled down, not read shrunk."""
FONT: Final = 12.0
SMALL: Final = 10.0
MARGIN: Final = 16.0
HEIGHT: Final = 34.0
"""Height of a triangle."""
LEAF: Final = 20.0
"""Height of a square."""
PILL: Final = 26.0
"""Height of a node of max^n."""
LEVEL: Final = 84.0
"""From level to level with the root on top."""
LONGEST: Final = 26
"""Characters of a list of cut actions; the rest is in the tooltip."""

STYLE: Final = """\
.paper{fill:#fff}
text{font:12px system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif;fill:#1b1f24}
.h{font-size:15px;font-weight:600}.m{text-anchor:middle}.e{text-anchor:end}
.s{font-size:10px;fill:#59636e}.l,.s{paint-order:stroke;stroke:#fff;stroke-width:4px;stroke-linejoin:round}
.b{font-weight:700}
.g{fill:none;stroke:#9aa4af;stroke-width:1.2}.c{fill:none;stroke:#c2352b;stroke-width:1.6}
.o{fill:none;stroke:#9aa4af;stroke-width:1.2;stroke-dasharray:2 3}
.n{stroke:#59636e;stroke-width:1.2;fill:#fff}
.max{fill:#dcebfb;stroke:#1f5fa8}.min{fill:#fbe4d8;stroke:#a8481f}
.chance,.model{fill:#e9f3df;stroke:#4d7a21}.model{stroke-dasharray:4 2}
.terminal{fill:#f1f3f5}.estimate{stroke-dasharray:3 2}
.s0{fill:#dcebfb;stroke:#1f5fa8}.s1{fill:#fbe4d8;stroke:#a8481f}.s2{fill:#f0e3fa;stroke:#7a3aa8}
.s3{fill:#fbe3ee;stroke:#a82a68}.s4{fill:#fdf1c7;stroke:#8a6d00}.s5{fill:#d9f4f1;stroke:#14746b}
.u{opacity:.4}.pv{stroke-width:3}.g.pv{stroke:#1b1f24}
@media(prefers-color-scheme:dark){
.paper{fill:#15191e}text{fill:#e8ecf0}.s{fill:#a3adb8}.l,.s{stroke:#15191e}
.g,.o{stroke:#69747f}.c{stroke:#ff7b70}.n{fill:#15191e;stroke:#a3adb8}
.max,.s0{fill:#15355a;stroke:#7ab8ff}.min,.s1{fill:#552a14;stroke:#ffab80}
.chance,.model{fill:#29420f;stroke:#a8d672}.terminal{fill:#272d34}
.s2{fill:#42205c;stroke:#cf9bf5}.s3{fill:#551435;stroke:#ff8fc0}.s4{fill:#4a3c00;stroke:#f0cf4d}.s5{fill:#0b423d;stroke:#63d8cb}
.g.pv{stroke:#fff}}"""


def tree_svg(tree: TreeRecord, heading: str = "") -> str:
    """Return the whole document."""
    root = boxes(tree, tree.root, {id(node) for node in tree.line()})
    drawing: Drawing = Down(tree)
    drawing.measure(root)
    if tidy(root, drawing.sibling_gap, drawing.cousin_gap) > WIDEST:
        drawing = Right(tree)
        drawing.measure(root)
    return drawing.document(root, heading)


def width_of(text: str, size: float = FONT) -> float:
    """About how wide a text is: there is no font to measure here."""
    narrow = sum(mark in " .,:;'|()[]1-ijltfr" for mark in text)
    return size * (0.64 * (len(text) - narrow) + 0.46 * narrow)


def boxes(tree: TreeRecord, node: Node, principal: set[int]) -> Box:
    """Draw a node and its descendants."""
    box = Box(
        node,
        tree.value_text(node),
        branch_text(node) if node.action else "",
        window_text(tree, node) if node.children else "",
        tip_text(tree, node),
        id(node) in principal,
        children=[boxes(tree, child, principal) for child in node.children],
    )
    if node.unseen:
        box.children.extend([behind(tree, child, cut=True) for child in node.unseen])
    elif node.pruned:
        box.children.append(Box(None, shortened(node.pruned), tip=cut_tip(node)))
    if node.left_out:
        tip = f"{node.left_out} more actions, not looked at"
        box.children.append(Box(None, f"+{node.left_out}", label="out", tip=tip))
    return box


def behind(tree: TreeRecord, node: Node, *, cut: bool = False) -> Box:
    """Draw a node that the search never visited; only leaves have values."""
    value = tree.value_text(node) if is_square(node.kind) else ""
    tip = f"{who_text(tree, node)}, not looked at\n{node.position}"
    children = [behind(tree, child) for child in node.children]
    return Box(node, value, branch_text(node), tip=tip, children=children, cut=cut, unseen=True)


def shortened(names: tuple[str, ...]) -> str:
    """Return the names as far as there is room: ``3, 4, 5 and 4 more``."""
    text = ", ".join(names)
    shown = len(names)
    while len(text) > LONGEST and shown > 1:
        shown -= 1
        text = f"{', '.join(names[:shown])} +{len(names) - shown}"
    return text


def tip_text(tree: TreeRecord, node: Node) -> str:
    """Return the tooltip: what the node is, its window, and the position."""
    lines = [f"{who_text(tree, node)}: {tree.value_text(node)}"]
    if node.alpha is not None and node.beta is not None:
        lines.append(f"alpha {tree.shown(node.alpha)}, beta {tree.shown(node.beta)} on arrival")
    lines.append(node.position)
    return "\n".join(lines)


def cut_tip(node: Node) -> str:
    """Return the tooltip of a cut."""
    return f"not looked at: {', '.join(node.pruned)}"


class Drawing:
    """The common part of both orientations; a subclass places the elements."""

    sibling_gap = 8.0
    cousin_gap = 20.0

    def __init__(self, tree: TreeRecord) -> None:
        self.tree = tree
        self.back: list[str] = []
        self.front: list[str] = []

    def measure(self, root: Box) -> None:
        """Say how much room each box needs."""
        raise NotImplementedError

    def place(self, root: Box) -> tuple[float, float]:
        """Place all boxes; return the width and height of the tree."""
        raise NotImplementedError

    def draw(self, box: Box, parent: Box | None, top: float) -> None:
        """Draw one box and the branch to it."""
        raise NotImplementedError

    def document(self, root: Box, heading: str) -> str:
        """Draw everything."""
        title = self.tree.title()
        wide, high = self.place(root)
        top = MARGIN + (44.0 if heading else 24.0)
        self.walk(root, None, top)
        legend, legend_width = self.legend(top + high + 26)
        words_width = max(width_of(title), width_of(heading, 16.5))  # the heading is bold
        width = max(wide, legend_width - 2 * MARGIN, words_width) + 2 * MARGIN
        height = top + high + 26 + 26
        words = []
        if heading:
            words.append(text(MARGIN, MARGIN + 12, heading, "h"))
        words.append(text(MARGIN, MARGIN + (32 if heading else 12), title, "l"))
        about = f"{heading}: {title}" if heading else title
        return "\n".join(
            [
                f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" '
                f'width="{width:.0f}" height="{height:.0f}">',
                f"<title>{escape(about)}</title>",
                f"<style>\n{STYLE}\n</style>",
                f'<rect class="paper" width="{width:.0f}" height="{height:.0f}"/>',
                *words,
                f'<g transform="translate({(width - wide) / 2 - MARGIN:.1f})">',
                *self.back,
                *self.front,
                "</g>",
                *legend,
                "</svg>\n",
            ]
        )

    def walk(self, box: Box, parent: Box | None, top: float) -> None:
        """Draw a box and all below it."""
        self.draw(box, parent, top)
        for child in box.children:
            self.walk(child, box, top)

    def shape(self, box: Box, x: float, y: float) -> None:
        """Draw the node itself around a point, with its value and tooltip."""
        node = box.node
        if node is None:
            return
        kind = f"s{node.mover % 6}" if node.kind is Kind.SEAT else node.kind.value
        css = f"n {kind}{' pv' if box.principal else ''}"
        pale = ' class="u"' if box.unseen else ""
        drawn = outline(node.kind, css, x, y, body_width(box))
        self.front.append(
            f"<g{pale}><title>{escape(box.tip)}</title>{drawn}"
            + text(x, y + text_shift(node.kind), box.text, "m b" if box.principal else "m")
            + "</g>"
        )

    def legend(self, y: float) -> tuple[list[str], float]:
        """Explain the shapes that occur, and the cuts."""
        found: list[str] = []
        x = MARGIN
        seen: set[tuple[Kind, str]] = set()
        for node in self.tree.root.all():
            words = legend_text(self.tree, node)
            if (node.kind, words) in seen:
                continue
            seen.add((node.kind, words))
            kind = f"s{node.mover % 6}" if node.kind is Kind.SEAT else node.kind.value
            scaled = outline(node.kind, f"n {kind}", 0, 0, 40)
            found.append(f'<g transform="translate({x + 10:.1f} {y:.1f}) scale(.5)">{scaled}</g>')
            found.append(text(x + 25, y + 4, words, "s"))
            x += 40 + width_of(words, SMALL)
        if any(node.pruned for node in self.tree.root.all()):
            found.append(path(f"M{x:.1f} {y:.1f}h24", "g"))
            found.append(bars(x + 12, y, 1, 0))
            found.append(text(x + 30, y + 4, "cut", "s"))
            x += 50 + width_of("cut", SMALL)
        if self.tree.root.alpha is not None:
            words = "α, β: what MAX and MIN are sure of on arrival"
            found.append(text(x, y + 4, words, "s"))
            x += width_of(words, SMALL)
        return found, x + MARGIN


class Down(Drawing):
    """The root on top."""

    def measure(self, root: Box) -> None:
        """Widths; the window of alpha and beta stands to the right of its node."""
        for box in root.all():
            half = max(body_width(box), width_of(box.label)) / 2
            if box.node is None:
                half = width_of(box.text, SMALL) / 2 + 2
            box.before = box.after = half
            if box.window:
                alpha, beta = box.window.split(" β ")
                room = max(width_of(alpha, SMALL), width_of(f"β {beta}", SMALL))
                box.after = max(half, body_width(box) / 2 + room)

    def place(self, root: Box) -> tuple[float, float]:
        """Levels below each other."""
        wide = tidy(root, self.sibling_gap, self.cousin_gap)
        for box in root.all():
            box.across += MARGIN
        return wide, max(box.level for box in root.all()) * LEVEL + HEIGHT

    def draw(self, box: Box, parent: Box | None, top: float) -> None:
        """The branch comes from above; its label stands over the node."""
        x, y = box.across, top + box.level * LEVEL + HEIGHT / 2
        node = box.node
        if parent is not None:
            from_x, from_y = parent.across, y - LEVEL + half_height(parent)
            if node is None:
                to_x, to_y = from_x + (x - from_x) * 0.8, y - HEIGHT / 2
                self.stub(box, from_x, from_y, to_x, to_y)
                self.front.append(text(x, y - 4, box.text, "s m", box.tip))
                return
            principal = box.principal and parent.principal
            end = y - half_height(box)
            css = edge_css(box, principal)
            self.back.append(path(f"M{from_x:.1f} {from_y:.1f}L{x:.1f} {end:.1f}", css))
            if box.cut:
                # Below the middle, where neighbours are further apart.
                at_x, at_y = from_x + 0.6 * (x - from_x), from_y + 0.6 * (end - from_y)
                self.back.append(bars(at_x, at_y, x - from_x, end - from_y))
            self.front.append(text(x, end - 3, box.label, "l m u" if box.unseen else "l m"))
        if box.window:
            alpha, _, beta = box.window.partition(" β ")
            up = node is not None and node.kind is Kind.MAX
            at = x + body_width(box) / 2 + (-4 if up else 3)
            self.front.append(text(at, y - 5, alpha, "s"))
            self.front.append(text(at, y + 7, f"β {beta}", "s"))
        self.shape(box, x, y)

    def stub(self, box: Box, from_x: float, from_y: float, to_x: float, to_y: float) -> None:
        """A branch that ends at a double bar, or fades out."""
        css = "o" if box.label else "g"
        self.back.append(path(f"M{from_x:.1f} {from_y:.1f}L{to_x:.1f} {to_y:.1f}", css))
        if not box.label:
            self.back.append(
                bars((from_x + to_x) / 2, (from_y + to_y) / 2, to_x - from_x, to_y - from_y)
            )


class Right(Drawing):
    """The root on the left, for wide trees: leaves below each other."""

    sibling_gap = 4.0
    cousin_gap = 10.0

    def __init__(self, tree: TreeRecord) -> None:
        super().__init__(tree)
        self.columns: list[tuple[float, float]] = []
        """Per level: where the leads to its nodes begin, and the middle of the nodes."""

    def measure(self, root: Box) -> None:
        """Heights."""
        for box in root.all():
            box.across = 0.0
            box.before = box.after = half_height(box)

    def place(self, root: Box) -> tuple[float, float]:
        """Levels beside each other, as wide as their widest node needs."""
        high = tidy(root, self.sibling_gap, self.cousin_gap)
        levels: dict[int, list[Box]] = {}
        for box in root.all():
            levels.setdefault(box.level, []).append(box)
        x = MARGIN
        for level in range(len(levels)):
            lead = max(lead_width(box) for box in levels[level])
            body = max(body_width(box) for box in levels[level])
            begin = x + (40.0 if level else 0.0)
            self.columns.append((begin, begin + lead + body / 2))
            x = begin + lead + body
            stubs = [width_of(box.text, SMALL) for box in levels[level] if box.node is None]
            x = max([x, *(begin + stub + 20 for stub in stubs)])
        return x - MARGIN, high

    def draw(self, box: Box, parent: Box | None, top: float) -> None:
        """The branch ends in a level lead, with its label above and the window below."""
        begin, x = self.columns[box.level]
        y = top + box.across
        left = x - body_width(box) / 2
        if parent is not None:
            from_x = self.columns[parent.level][1] + body_width(parent) / 2
            from_x -= slant(parent)
            from_y = top + parent.across
            principal = box.principal and parent.principal
            middle = (from_x + begin) / 2
            curve = f"M{from_x:.1f} {from_y:.1f}C{middle:.1f} {from_y:.1f} {middle:.1f} {y:.1f} "
            if box.node is None:
                css = "o" if box.label else "g"
                self.back.append(path(f"{curve}{begin:.1f} {y:.1f}h6", css))
                if not box.label:
                    self.back.append(bars(begin + 4, y, 1, 0))
                self.front.append(text(begin + 12, y + 4, box.text, "s", box.tip))
                return
            line = f"{curve}{begin:.1f} {y:.1f}H{left + slant(box):.1f}"
            self.back.append(path(line, edge_css(box, principal)))
            if box.cut:
                self.back.append(bars(begin - 6, y, 1, 0))
            self.front.append(text(begin + 2, y - 4, box.label, "l u" if box.unseen else "l"))
        if box.window:
            at = begin + 2 if parent is not None else left
            down = 13 if parent is not None else HEIGHT / 2 + 12
            self.front.append(text(at, y + down, box.window, "s"))
        self.shape(box, x, y)


def edge_css(box: Box, principal: bool) -> str:
    """Return the classes of the branch to a box."""
    return "g pv" if principal else "g u" if box.unseen else "g"


def is_square(kind: Kind) -> bool:
    """Return whether the node is a leaf."""
    return kind in (Kind.TERMINAL, Kind.ESTIMATE)


def half_height(box: Box) -> float:
    """From the middle of a shape to its top or bottom."""
    if box.node is None or is_square(box.node.kind):
        return LEAF / 2
    return PILL / 2 if box.node.kind is Kind.SEAT else HEIGHT / 2


def slant(box: Box) -> float:
    """Return how far inside of its width a triangle's side is at half height."""
    triangle = box.node is not None and box.node.kind in (Kind.MAX, Kind.MIN)
    return body_width(box) / 4 if triangle else 0.0


def body_width(box: Box) -> float:
    """Width of the shape of a node; it grows with its text."""
    node = box.node
    if node is None:
        return 0.0
    wide = width_of(box.text)
    match node.kind:
        case Kind.MAX | Kind.MIN:
            return max(44.0, 1.45 * wide + 16)
        case Kind.CHANCE | Kind.MODEL:
            return max(HEIGHT, 1.1 * wide + 12)
        case Kind.SEAT:
            return wide + 20
        case _:
            return max(LEAF, wide + 8)


def lead_width(box: Box) -> float:
    """Length of the level end of a branch, with the root on the left."""
    if box.node is None:
        return 0.0
    return max(width_of(box.label) + 8, width_of(box.window, SMALL) + 4 if box.label else 0.0)


def text_shift(kind: Kind) -> float:
    """Return how far below the middle of a shape its text stands, so that it fits in."""
    return {Kind.MAX: 12.0, Kind.MIN: -4.0}.get(kind, 4.3)


def outline(kind: Kind, css: str, x: float, y: float, wide: float) -> str:
    """Return the shape around a point."""
    half, tall = wide / 2, HEIGHT / 2
    match kind:
        case Kind.MAX | Kind.MIN:
            tip, base = (y - tall, y + tall) if kind is Kind.MAX else (y + tall, y - tall)
            points = f"{x - half:.1f},{base:.1f} {x + half:.1f},{base:.1f} {x:.1f},{tip:.1f}"
            return f'<polygon class="{css}" points="{points}"/>'
        case Kind.CHANCE | Kind.MODEL:
            return (
                f'<ellipse class="{css}" cx="{x:.1f}" cy="{y:.1f}" '
                f'rx="{half:.1f}" ry="{tall:.1f}"/>'
            )
        case Kind.SEAT:
            low, round_ = PILL / 2, PILL / 2
        case _:
            low, round_ = LEAF / 2, 0.0
    return (
        f'<rect class="{css}" x="{x - half:.1f}" y="{y - low:.1f}" width="{wide:.1f}" '
        f'height="{2 * low:.1f}" rx="{round_:.0f}"/>'
    )


def legend_text(tree: TreeRecord, node: Node) -> str:
    """Meaning of a shape."""
    who = tree.game.seat_name(node.mover) if node.mover >= 0 else ""
    named: dict[Kind, Callable[[], str]] = {
        Kind.MAX: lambda: "MAX" if who == "MAX" else f"{who}: greatest value (MAX)",
        Kind.MIN: lambda: "MIN" if who == "MIN" else f"{who}: least value (MIN)",
        Kind.SEAT: lambda: f"{who}: its own greatest",
        Kind.CHANCE: lambda: "chance: mean",
        Kind.MODEL: lambda: f"{who} as a model: mean",
        Kind.TERMINAL: lambda: "end of the game",
        Kind.ESTIMATE: lambda: "estimate at the depth limit",
    }
    return named[node.kind]()


def text(x: float, y: float, words: str, css: str, tip: str = "") -> str:
    """Return a piece of text, with a tooltip if given."""
    inside = f"<title>{escape(tip)}</title>" if tip else ""
    return f'<text class="{css}" x="{x:.1f}" y="{y:.1f}">{inside}{escape(words)}</text>'


def path(line: str, css: str) -> str:
    """Return a line."""
    return f'<path class="{css}" d="{line}"/>'


def bars(x: float, y: float, dx: float, dy: float) -> str:
    """Two short bars across a line of this direction: the mark of a cut."""
    length = max((dx * dx + dy * dy) ** 0.5, 1e-9)
    along_x, along_y = dx / length, dy / length
    lines = ""
    for shift in (-2.0, 2.0):
        at_x, at_y = x + shift * along_x, y + shift * along_y
        lines += f"M{at_x + 6 * along_y:.1f} {at_y - 6 * along_x:.1f}"
        lines += f"L{at_x - 6 * along_y:.1f} {at_y + 6 * along_x:.1f}"
    return path(lines, "c")
