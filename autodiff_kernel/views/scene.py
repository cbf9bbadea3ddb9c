"""A graph's picture as shapes and texts with coordinates, before it becomes SVG, PNG or PDF."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import cos, radians, sin
from typing import NamedTuple

from . import framing, style
from .boxes import GRAD, MUTED, Box, Row, boxes, emphasis
from .labels import Area, Curve, Space
from .layout import Layout, Point, assign_ranks, layered
from .model import DATA, FREE, GROUP, LEAF, SAVED, GraphEdge, GraphNode, GraphView
from .scopes import Cluster, clusters, entries
from .style import shorten, text_width

MARGIN, PAD, TITLE, ROW = 13.0, 10.0, 23.0, 15.0
RADIUS, LINK, ARROW = 15.0, 16.0, 7.0
NAME, TAG, LABEL, VALUE, MATRIX, SIGN = 13.0, 10.5, 10.5, 12.5, 11.5, 15.0
LEAST, MOST = 78.0, 320.0  # width of a box
ROOM = MOST - 2 * PAD
WORDS = 150.0  # width of a label on a line
SHEETS, BADGE = (6.0, 3.0, 0.0), 12.0  # how far the sheets of a group, and a badge, stand out of the box

Command = tuple[str, tuple[float, ...]]


class Path(NamedTuple):
    """Commands as in SVG: M, L, Q, C with absolute coordinates, Z."""

    commands: tuple[Command, ...]
    fill: str = "none"
    stroke: str = "none"
    width: float = 1.0
    dash: str = ""


class Rect(NamedTuple):
    """left, top, width, height, and the radius of its corners."""

    x: float
    y: float
    w: float
    h: float
    r: float
    fill: str
    stroke: str = "none"
    width: float = 1.0
    dash: str = ""


class Circle(NamedTuple):
    x: float
    y: float
    r: float
    fill: str
    stroke: str
    width: float


class Text(NamedTuple):
    """anchor: 'start', 'middle' or 'end'. halo: a white edge, for a text that lies on a line."""

    x: float
    y: float
    text: str
    size: float
    fill: str = style.INK
    anchor: str = "start"
    bold: bool = False
    italic: bool = False
    mono: bool = False
    halo: bool = False


Shape = Path | Rect | Circle | Text


class Scene(NamedTuple):
    width: float
    height: float
    shapes: list[Shape]


class Look(NamedTuple):
    fill: str
    stroke: str
    width: float
    dash: str = ""


RULE = 0.6  # width of the line under a heading
CUT = Look("none", style.LINE, 1.3, "5 3")  # a value runs along it, but no gradient will come back
IDLE = Look("none", style.LINE, 1.1, "4 3")  # a line along which no value, or backward no gradient, runs
LOOKS = {
    "leaf": Look(style.LEAF_FILL, style.LEAF, 1.6),
    "output": Look(style.OUTPUT_FILL, style.OUTPUT, 2.6),
    "op": Look(style.CARD, style.LINE, 1.1),
    "data": Look(style.CARD, style.GREY, 1.1, "4 3"),
    "free": Look(style.CARD, style.GREY, 1.1, "4 3"),
    "saved": Look(style.GATE, style.GREY, 1.1),
    "group": Look(style.CARD, style.LINE, 1.1),
    "error": Look(style.ERROR_FILL, style.ERROR, 2.6),
}


class Cell(NamedTuple):
    """A node's measures: its sign (a circle or a pill before the box) and its box."""

    box: Box
    sign: str
    sign_width: float
    width: float
    height: float

    @property
    def sign_height(self) -> float:
        return 2 * RADIUS if self.sign else 0.0


def is_stack(node: GraphNode) -> bool:
    """Is the box drawn as several, one behind the other? It stands for many, unless it is one layer."""
    return emphasis(node) == "group" and (node.count > 1 or not node.details)


def draw(view: GraphView) -> Scene:
    """The whole picture of a view.

    Open scopes get a frame. Where it would run through other boxes, its own ones say in which scope they are.
    """
    framed = clusters(view)
    if not framed:
        return _drawing(view, {}, []).scene()
    told: dict[int, str] = {}
    for _ in range(3):
        drawing = _drawing(view, told, framed)
        frames, left = drawing.frames(framed)
        if not left:
            break
        framed = [cluster for cluster in framed if cluster not in left]
        for cluster in left:
            for i in cluster.members:
                if view.nodes[i].scope:
                    told[i] = ".".join(view.nodes[i].scope)
    else:
        drawing = _drawing(view, told, framed)
        frames, _ = drawing.frames(framed)
    return drawing.scene(frames)


def _drawing(view: GraphView, told: dict[int, str], framed: list[Cluster]) -> _Drawing:
    """A drawing of the view, laid out. told: what boxes say of their scope. framed: the scopes that get a frame."""
    down = view.direction == "TB"
    pairs = [(edge.source, edge.target) for edge in view.edges]
    deepest = max((cluster.depth for cluster in framed), default=0)
    ranks = assign_ranks(len(view.nodes), pairs + entries(view, framed))
    contents = boxes(view)
    for i, scope in told.items():
        contents[i] = contents[i]._replace(rows=(*contents[i].rows, Row("in", scope)))
    cells = _even([_cell(node, box) for node, box in zip(view.nodes, contents, strict=True)], ranks, down)
    sizes = [_whole(cell, down) for cell in cells]
    tallest = BADGE if any(cell.box.badge for cell in cells) else SHEETS[0]
    gaps, between = _gaps(view, ranks, down), 26.0 if down else 16.0
    if deepest:
        wanted = framing.borders(framed, ranks, down)
        gaps = [max(gap, 40 + room) for gap, room in zip(gaps, wanted, strict=True)]
        between += 2 * framing.SIDE + (framing.HEAD + tallest) * (not down)
    plan = layered(sizes, pairs, direction=view.direction, ranks=ranks, rank_gap=gaps, node_gap=between)
    if deepest:
        plan = framing.moved(plan, framing.SIDE * deepest, framing.HEAD * deepest + tallest)
    return _Drawing(view, cells, sizes, plan)


def _cell(node: GraphNode, box: Box) -> Cell:
    """How big a node is drawn."""
    sign = node.symbol if node.role not in (LEAF, DATA, SAVED, GROUP) else ""
    size = SIGN if len(sign) <= 3 else VALUE
    wide = text_width(sign, size) if sign else 0.0
    sign_width = 0.0 if not sign else 2 * RADIUS if wide <= 2 * RADIUS - 5 else wide + 16
    name, tag = shorten(box.name, NAME, ROOM, bold=True), shorten(box.tag, TAG, ROOM)
    head, tail = text_width(name, NAME, True), text_width(tag, TAG)
    if name and tag and head + tail + 14 > 190:  # too long for one line: the tag goes below
        box = box._replace(rows=(Row("from", tag), *box.rows))
        tag, tail = "", 0.0
    width = head + (14 if name and tag else 0) + tail
    lines = 0
    for row in box.rows:
        if "\n" in row.text:
            parts = row.text.split("\n")
            lines += len(parts)
            wide = max(text_width(part, MATRIX, mono=True) for part in parts)
        else:
            lines += 1
            wide = text_width(row.text, VALUE)
        width = max(width, text_width(row.label, LABEL) + 10 + wide)
    badge = text_width(box.badge, TAG, bold=True) + 22 if box.badge else 0.0
    width = min(max(LEAST, width + 2 * PAD, badge), MOST)
    height = TITLE + (ROW * lines + 7 if lines else 0)
    return Cell(Box(name, tag, box.rows, box.badge), sign, sign_width, round(width), round(height))


def _even(cells: list[Cell], ranks: list[int], down: bool) -> list[Cell]:
    """Boxes of one column get one width, unless one is far wider than the others."""
    if down:
        return cells
    widest: dict[int, float] = {}
    for cell, rank in zip(cells, ranks, strict=True):
        if cell.width <= 150:
            widest[rank] = max(widest.get(rank, 0), cell.width)
    return [
        cell._replace(width=widest[rank]) if cell.width < widest.get(rank, 0) else cell
        for cell, rank in zip(cells, ranks, strict=True)
    ]


def _whole(cell: Cell, down: bool) -> tuple[float, float]:
    """Sign, link and box together."""
    if not cell.sign:
        return cell.width, cell.height
    if down:
        return max(cell.width, cell.sign_width), cell.height + cell.sign_height + LINK
    return cell.width + LINK + cell.sign_width, max(cell.height, cell.sign_height)


def _gaps(view: GraphView, ranks: list[int], down: bool) -> list[float]:
    """The gap before each rank holds the labels of the lines that end there."""
    gaps = [38.0 if down else 40.0] * (max(ranks, default=0) + 1)
    for edge in view.edges:
        if edge.label:
            room = 46.0 if down else _room(edge.label)
            before = ranks[edge.target] - 1
            if gaps[before] < room:
                gaps[before] = room
    return gaps


class _Drawing:
    """Puts shapes and texts where the layout says."""

    def __init__(
        self, view: GraphView, cells: list[Cell], sizes: list[tuple[float, float]], plan: Layout
    ) -> None:
        self.view, self.cells, self.sizes, self.plan = view, cells, sizes, plan
        self.down = view.direction == "TB"
        self.back = view.sense == "backward"
        self.line = Look("none", style.GRADIENT if self.back else style.LINE, 1.3)
        self.strokes: dict[Look, list[Command]] = {}  # lines of one look are one shape
        self.heads: list[Command] = []
        self.fronts: list[Shape] = []
        self.labels: list[Shape] = []
        self.labelled = any(edge.label for edge in view.edges)
        self.space = Space(self.down)
        self.boxes, self.signs = zip(*[self._areas(i) for i in range(len(cells))], strict=True)
        if self.labelled:
            for area in dict.fromkeys(self.boxes + self.signs):
                self.space.take(area)

    def frames(self, framed: list[Cluster]) -> tuple[list[framing.Frame], list[Cluster]]:
        """The frames around scopes, and the scopes whose frame would run through other boxes."""
        areas = [(self._outer(i), sign) for i, sign in enumerate(self.signs)]
        return framing.frames(framed, areas)

    def _outer(self, i: int) -> Area:
        """A box with what stands out of it: the sheets behind a group, the badge on its edge."""
        left, top, right, bottom = self.boxes[i]
        sheets = SHEETS[0] if is_stack(self.view.nodes[i]) else 0.0
        return left, top - max(sheets, BADGE if self.cells[i].box.badge else 0.0), right + sheets, bottom

    def scene(self, frames: Sequence[framing.Frame] = ()) -> Scene:
        for i, (node, cell) in enumerate(zip(self.view.nodes, self.cells, strict=True)):
            self._node(i, node, cell)
        self._edges()
        rules = {look: self.strokes.pop(look) for look in list(self.strokes) if look.width == RULE}
        lines: list[Shape] = [_stroke(look, commands) for look, commands in self.strokes.items()]
        if self.heads:
            lines.append(Path(tuple(self.heads), fill=self.line.stroke))
        sentences = (self.view.caption, self.view.left_out, *self.view.notes)
        longest = max(text_width(sentence, TAG) for sentence in sentences)
        width = max(self.plan.width, min(longest, 420.0)) + 2 * MARGIN
        ends = [t.x + text_width(t.text, LABEL) / 2 for t in self.labels if isinstance(t, Text)]
        width = max([width, *(end + 4 for end in ends)])  # a label may stand beyond the last box
        height = self.plan.height + 2 * MARGIN
        foot = _footer(sentences, width - 2 * MARGIN)
        for line in foot:
            self.labels.append(Text(MARGIN, height + 6, line, TAG, style.GREY))
            height += ROW
        if foot:
            height += 6
        behind: list[Shape] = []
        for frame in frames:
            left, top, right, bottom = frame.area
            behind.append(Rect(left, top, right - left, bottom - top, 9, frame.fill, style.LINE, 1.0, "2 3"))
            name = shorten(frame.name, TAG, right - left - 16, bold=True)
            behind.append(Text(left + 8, top + 13, name, TAG, style.GREY, bold=True))
        shapes = (
            behind
            + lines
            + self.fronts
            + [_stroke(look, commands) for look, commands in rules.items()]
            + self.labels
        )
        return Scene(round(width), round(height), shapes)

    def _draw(self, look: Look, *commands: Command) -> None:
        self.strokes.setdefault(look, []).extend(commands)

    # ------------------------------------------------------------------------------------------ nodes
    def _areas(self, i: int) -> tuple[Area, Area]:
        """Where a node's box is, and its sign (the box again, if it has none)."""
        (x, y), (w, h), cell = self.plan.centers[i], self.sizes[i], self.cells[i]
        x, y = x + MARGIN - w / 2, y + MARGIN - h / 2
        wide, high, sign = cell.width, cell.height, cell.sign_width
        left, top = (x + (w - wide) / 2, y + h - high) if self.down else (x + w - wide, y + (h - high) / 2)
        box = (left, top, left + wide, top + high)
        if not cell.sign:
            return box, box
        left, top = (x + (w - sign) / 2, y) if self.down else (x, y + h / 2 - RADIUS)
        return box, (left, top, left + sign, top + 2 * RADIUS)

    def _node(self, i: int, node: GraphNode, cell: Cell) -> None:
        left, top, right, bottom = self.boxes[i]
        kind = emphasis(node)
        look = LOOKS[kind]
        if cell.sign:
            self._sign(i, cell)
        if kind == "leaf":
            self.fronts.append(Path(_leaf_outline(left, top, right, bottom), *look))
        elif kind == "saved":
            self.fronts.append(Path(_saved_outline(left, top, right, bottom), *look))
        else:
            for shift in SHEETS if is_stack(node) else (0.0,):
                self.fronts.append(Rect(left + shift, top - shift, right - left, bottom - top, 6, *look))
        self._contents(cell.box, left, top, right, style.LINE if kind == "op" else look.stroke)
        if cell.box.badge:
            self._badge(right, top, cell.box.badge, style.ERROR if kind == "error" else style.GREY)

    def _badge(self, right: float, top: float, text: str, ground: str) -> None:
        wide = text_width(text, TAG, bold=True) + 10
        self.fronts.append(Rect(right - wide - 6, top - BADGE, wide, 16, 8, ground))
        self.fronts.append(Text(right - 6 - wide / 2, top, text, TAG, style.CARD, "middle", bold=True))

    def _sign(self, i: int, cell: Cell) -> None:
        left, top, right, bottom = self.signs[i]
        x, y = (left + right) / 2, (top + bottom) / 2
        box = self.boxes[i]
        ends = ((x, bottom), (x, box[1])) if self.down else ((right, y), (box[0], y))
        self._straight(*(reversed(ends) if self.back else ends))
        if cell.sign_width > 2 * RADIUS:
            self.fronts.append(
                Rect(left, top + 1, right - left, bottom - top - 2, 14, style.GATE, style.LINE, 1.1)
            )
        else:
            self.fronts.append(Circle(x, y, RADIUS, style.GATE, style.LINE, 1.1))
        size = SIGN if len(cell.sign) <= 3 else VALUE
        self.fronts.append(Text(x, y + size / 3, cell.sign, size, anchor="middle"))

    def _contents(self, box: Box, left: float, top: float, right: float, rule: str) -> None:
        put = self.fronts.append
        inner, outer = left + PAD, right - PAD
        if box.name:
            put(Text(inner, top + 16, box.name, NAME, bold=True))
            if box.tag:
                put(Text(outer, top + 16, box.tag, TAG, style.GREY, "end"))
        else:
            put(Text(inner, top + 16, box.tag, TAG, style.GREY))
        if not box.rows:
            return
        self._draw(Look("none", rule, RULE), ("M", (inner, top + TITLE)), ("L", (outer, top + TITLE)))
        y = top + TITLE + 14
        for row in box.rows:
            put(Text(inner, y, row.label, LABEL, style.GRADIENT if row.label_kind == GRAD else style.GREY))
            colour = style.GRADIENT if row.kind == GRAD else style.GREY if row.kind == MUTED else style.INK
            mono = "\n" in row.text
            size = MATRIX if mono else VALUE
            for line in row.text.split("\n"):
                if right - left >= MOST:  # a box that could not be as wide as its texts
                    line = shorten(line, size, outer - inner - text_width(row.label, LABEL) - 9, mono=mono)
                if mono:
                    line = line.replace(" ", "\N{NO-BREAK SPACE}")
                put(Text(outer, y, line, size, colour, "end", italic=row.kind == MUTED, mono=mono))
                y += ROW

    # ------------------------------------------------------------------------------------------ lines
    def _edges(self) -> None:
        for source, points in self.plan.trunks.items():
            self._trunk(source, points)
        arrivals: dict[int, list[int]] = {}
        across = 0 if self.down else 1
        for k, edge in enumerate(self.view.edges):
            arrivals.setdefault(edge.target, []).append(k)
        waiting: list[tuple[GraphEdge, Curve]] = []
        for target, ks in arrivals.items():
            if len(ks) > 1:
                ks.sort(key=lambda k: (self.plan.routes[k][0][across], self.view.edges[k].position))
            for place, k in enumerate(ks):
                waiting.append((self.view.edges[k], self._branch(k, target, place, len(ks))))
        if self.labelled:
            self.space.lines([curve for _, curve in waiting])
        for edge, curve in waiting:
            if edge.label:
                self._label(_brief(edge.label), curve)

    def _branch(self, k: int, target: int, place: int, of: int) -> Curve:
        """One edge's own line: from the source or its trunk to its place on the rim of the target's sign."""
        start, _ = self.plan.routes[k]
        x0, y0 = start[0] + MARGIN, start[1] + MARGIN
        x1, y1 = self._landing(target, place, of)
        source = self.view.edges[k].source
        idle = self._idle(source)
        # backward, only a line that starts at the box itself has its arrow there; a trunk has one of its own
        head = self.back and not idle and not (source in self.plan.trunks and start != self._port(k))
        curve = _curve((x0, y0), (x1, y1), self.down, cut_start=head, cut_end=not self.back and not idle)
        cut = FREE in (self.view.nodes[target].role, self.view.nodes[source].role) and not self.back
        look = IDLE if idle else CUT if cut else self.line
        self._draw(look, ("M", curve[0]), ("C", curve[1] + curve[2] + curve[3]))
        if idle:
            return curve
        if head:
            self._head((x0, y0), -1)
        elif not self.back:
            self._head((x1, y1), 1)
        return curve

    def _idle(self, source: int) -> bool:
        """Is a line from this node no way of a value, or in a backward picture none of a gradient?"""
        role = self.view.nodes[source].role
        return role == SAVED or (self.back and role == DATA)

    def _port(self, k: int) -> Point:
        source = self.view.edges[k].source
        (x, y), (w, h) = self.plan.centers[source], self.sizes[source]
        return (x, y + h / 2) if self.down else (x + w / 2, y)

    def _landing(self, target: int, place: int, of: int) -> Point:
        """Where the arrow with this number of so many ends: spread over the rim that faces the lines."""
        left, top, right, bottom = self.signs[target]
        cell = self.cells[target]
        share = (place - (of - 1) / 2) / max(of - 1, 1) * 2  # -1 … 1
        if cell.sign and cell.sign_width <= 2 * RADIUS:
            angle = radians(share * min(60.0, 22.0 * (of - 1)))
            along, across = RADIUS * (1 - cos(angle)), RADIUS * sin(angle)
        else:
            half = ((right - left) if self.down else (bottom - top)) / 2 - 9
            along, across = 0.0, share * min(half, 8.0 * (of - 1))
        if self.down:
            return (left + right) / 2 + across, top + along
        return left + along, (top + bottom) / 2 + across

    def _trunk(self, source: int, points: tuple[Point, ...]) -> None:
        """The line that long edges share, bending at each rank it passes."""
        moved = [(x + MARGIN, y + MARGIN) for x, y in points]
        commands: list[Command] = [("M", moved[0])]
        across = 0 if self.down else 1
        for k in range(1, len(moved)):
            if k > 1 and moved[k - 1][across] == moved[k][across]:  # straight on
                if commands[-1][0] == "L":
                    commands.pop()
                commands.append(("L", moved[k]))
            elif k % 2:
                cut = self.back and k == 1 and not self._idle(source)
                curve = _curve(moved[k - 1], moved[k], self.down, cut_start=cut, cut_end=False)
                if cut:
                    commands[0] = ("M", curve[0])
                commands.append(("C", curve[1] + curve[2] + curve[3]))
            else:
                commands.append(("L", moved[k]))
        idle = self._idle(source)
        self._draw(IDLE if idle else self.line, *commands)
        if self.back and not idle:
            self._head(moved[0], -1)

    def _straight(self, start: Point, end: Point) -> None:
        sense = -1 if self.back else 1
        stop = (end[0], end[1] - sense * (ARROW - 1)) if self.down else (end[0] - sense * (ARROW - 1), end[1])
        self._draw(self.line, ("M", start), ("L", stop))
        self._head(end, sense)

    def _head(self, tip: Point, sense: int) -> None:
        """An arrow head along the ranks, forward (1) or backward (-1)."""
        x, y = tip
        a, b = sense * ARROW, 3.4
        corners = ((x - b, y - a), (x + b, y - a)) if self.down else ((x - a, y - b), (x - a, y + b))
        self.heads += (("M", tip), ("L", corners[0]), ("L", corners[1]), ("Z", ()))

    def _label(self, text: str, curve: Curve) -> None:
        """Write a local derivative beside its line."""
        x, y = self.space.place(curve, text_width(text, LABEL))
        self.labels.append(Text(x, y, text, LABEL, style.GRADIENT, "middle", halo=True))


@lru_cache(1024)
def _room(label: str) -> float:
    return text_width(_brief(label), LABEL) + 30


def _stroke(look: Look, commands: list[Command]) -> Path:
    return Path(tuple(commands), *look)


@lru_cache(1024)
def _brief(label: str) -> str:
    """A label that fits beside a line: without its number, or cut, where it is long; the text twin has all of it."""
    if text_width(label, LABEL) > WORDS:
        label = label.split(" = ")[0]
    return shorten(label, LABEL, WORDS)


def _curve(start: Point, end: Point, down: bool, *, cut_start: bool, cut_end: bool) -> Curve:
    """A cubic that leaves and arrives along the ranks; it is cut where an arrow head will stand."""
    (x0, y0), (x1, y1) = start, end
    if down:
        y0, y1 = y0 + (ARROW - 1) * cut_start, y1 - (ARROW - 1) * cut_end
        reach = max(10.0, (y1 - y0) / 2)
        return (x0, y0), (x0, y0 + reach), (x1, y1 - reach), (x1, y1)
    x0, x1 = x0 + (ARROW - 1) * cut_start, x1 - (ARROW - 1) * cut_end
    reach = max(10.0, (x1 - x0) / 2)
    return (x0, y0), (x0 + reach, y0), (x1 - reach, y1), (x1, y1)


def _leaf_outline(left: float, top: float, right: float, bottom: float) -> tuple[Command, ...]:
    """Two corners cut, two rounded."""
    c, r = 9.0, 6.0
    return (
        ("M", (left + c, top)),
        ("L", (right - r, top)),
        ("Q", (right, top, right, top + r)),
        ("L", (right, bottom - r)),
        ("Q", (right, bottom, right - r, bottom)),
        ("L", (left + c, bottom)),
        ("L", (left, bottom - c)),
        ("L", (left, top + c)),
        ("Z", ()),
    )


def _saved_outline(left: float, top: float, right: float, bottom: float) -> tuple[Command, ...]:
    """One corner cut, as of a sheet of paper."""
    c = 9.0
    return (
        ("M", (left, top)),
        ("L", (right - c, top)),
        ("L", (right, top + c)),
        ("L", (right, bottom)),
        ("L", (left, bottom)),
        ("Z", ()),
    )


def _footer(sentences: tuple[str, ...], room: float) -> list[str]:
    """The sentences under the picture, broken into lines."""
    lines: list[str] = []
    for sentence in sentences:
        line = ""
        for word in sentence.split():
            longer = f"{line} {word}" if line else word
            if line and text_width(longer, TAG) > room:
                lines.append(line)
                longer = word
            line = longer
        if line:
            lines.append(shorten(line, TAG, room))
    return lines


def pair(first: Scene, second: Scene, titles: tuple[str, str], down: bool) -> Scene:
    """Two pictures with their titles: side by side where they run from top to bottom, else one under the other."""
    x, y = (first.width + 12, 0.0) if down else (0.0, first.height + 22)
    shapes: list[Shape] = []
    for scene, title, dx, dy in ((first, titles[0], 0.0, 22.0), (second, titles[1], x, y + 22)):
        shapes.append(Text(dx + MARGIN, dy - 6, title, NAME, style.INK, bold=True))
        shapes += [_shifted(shape, dx, dy) for shape in scene.shapes]
    return Scene(max(first.width, x + second.width), max(first.height, y + second.height) + 22, shapes)


def _shifted(shape: Shape, dx: float, dy: float) -> Shape:
    if not isinstance(shape, Path):
        return shape._replace(x=shape.x + dx, y=shape.y + dy)
    commands = [
        (letter, tuple([n + (dy if k % 2 else dx) for k, n in enumerate(numbers)]))
        for letter, numbers in shape.commands
    ]
    return shape._replace(commands=tuple(commands))
