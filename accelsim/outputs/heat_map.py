"""A link heat map: how busy each channel of a network was, on its topology."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import hypot
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.patches import Circle, Rectangle

from accelsim.measure.report import OperatorReport
from accelsim.outputs import paper
from accelsim.outputs.labels import Box, Taken, text_box
from accelsim.outputs.paper import Page
from accelsim.outputs.plotted import Plotted, plotted
from accelsim.outputs.scales import UNUSED_COLOUR, heat_colour, heat_top
from accelsim.outputs.sheet import MARGIN, Place, open_sheet
from accelsim.outputs.topology_layout import STUB, Spot, TopologyLayout, lay_out
from accelsim.spec.chip import Link
from accelsim.spec.linknetwork import channel_names
from accelsim.spec.network import Topology

BAR_INCHES = 0.32
"""What the scale of colours takes below the field."""
_WIDEST_PITCH = 0.85
_FINE_PITCH = 0.3
"""Where neighbours are closer, arrows and lines are drawn finer."""
_ROW_PITCH, _LEAST_ROW_PITCH = 0.62, 0.2
_TALLEST = 3.4
"""Inches of rows, unless even the least pitch needs more."""
_LARGEST_SIDE, _LEAST_SIDE = 0.3, 0.07
"""Of a node's box, in inches."""
_LINE = 0.115
"""Inches of a box that its number needs."""
_SHAFT, _HEAD, _APART = 0.026, 0.06, 0.03
"""Inches: an arrow's width, its head's length, and how far it runs beside the middle of its way."""
_EDGE = "#8A8A8A"


@dataclass(frozen=True)
class ChannelLoad:
    """A directed channel, what it carried, and the share of the run in which it was busy."""

    name: str
    moved_bytes: int
    busy_share: float


@dataclass(frozen=True)
class NetworkLoad:
    """Loads of a network: of each wire, into and out of it at each node, in the topology's order. ``marks``: words for nodes."""

    name: str
    topology: Topology
    wires: tuple[ChannelLoad, ...]
    into: tuple[ChannelLoad, ...]
    out: tuple[ChannelLoad, ...]
    marks: Mapping[int, str]

    @property
    def largest(self) -> float:
        """The busiest channel's share."""
        return max((one.busy_share for one in (*self.wires, *self.into, *self.out)), default=0.0)

    def table(self) -> Plotted:
        """One row a channel: from a router or node to another."""
        ends = [(f"router {wire.source}", f"router {wire.target}") for wire in self.topology.wires]
        ends += [(f"node {node}", f"router {router}") for node, (router, _) in enumerate(self.topology.enters)]
        ends += [(f"router {router}", f"node {node}") for node, (router, _) in enumerate(self.topology.leaves)]
        return plotted(("channel", "from", "to", "bytes", "busy_share"),
                       [(load.name, *end, load.moved_bytes, load.busy_share)
                        for end, load in zip(ends, (*self.wires, *self.into, *self.out), strict=True)])


def network_load(one: OperatorReport, link: Link) -> NetworkLoad:
    """Of a network in a link's place, in a run; channels that nothing passed have none."""
    assert link.network is not None, "asked of networks only"
    topology, names = link.network.network.topology, channel_names(link.network.network.topology)

    def loads(own: Sequence[str]) -> tuple[ChannelLoad, ...]:
        return tuple(ChannelLoad(name, one.links.get(f"{link.name} {name}", 0), one.link_busy(f"{link.name} {name}"))
                     for name in own)
    return NetworkLoad(link.name, topology, loads(names.wires), loads(names.into), loads(names.out),
                       {link.network.outer_node: link.outer})


def draw_heat_map(load: NetworkLoad, path: Path, *, title: str, width_inches: float = 7.16) -> Plotted:
    """Draw every channel in the colour of its busy share, with a number where there is room; returns what was drawn.

    Raises ValueError for a suffix other than .png, .svg and .pdf, and for a width that is no page's.
    """
    paper.picture_format(path)
    paper.check_width(width_inches)
    layout = lay_out(load.topology)
    with paper.house_style():
        scale = _Scale(layout, width_inches - 2 * MARGIN)
        page, place = open_sheet(width_inches, scale.height, title, None, _notes(load, layout), left=MARGIN, right=MARGIN,
                                 below=BAR_INCHES, above=0.05)
        axes = page.canvas(*place)
        _Drawing(axes, load, layout, scale).draw()
        colour_bar(page, place, heat_top(load.largest))
        page.save(path, title)
    return load.table()


def colour_bar(page: Page, place: Place, top: float) -> None:
    """The scale of colours below a field, from 0 to ``top``."""
    wide, left, y = min(1.6, place.width / 3), place.left + 0.02, place.bottom - 0.13
    for piece in range(50):
        page.figure.add_artist(Rectangle((left + wide * piece / 50, y), wide / 50 + 0.002, 0.09, linewidth=0,
                                         facecolor=heat_colour((piece + 0.5) / 50, 1.0), transform=page.figure.dpi_scale_trans))
    page.text(left, y - 0.115, "0")
    page.text(left + wide, y - 0.115, f"{100 * top:.0f}", align="right")
    page.text(left + wide + 0.08, y + 0.01, "busy [% of the run]")


def _notes(load: NetworkLoad, layout: TopologyLayout) -> list[str]:
    cells = "each node's box has below its number the channel into the network (left) and out of it (right)"
    marked = [f"thick: the node of {word}" for word in load.marks.values()]
    unused = ["numbers in per cent, where there is room", "white: nothing passed"]
    routers = ["round: routers"] if layout.nodes else []
    return ["; ".join([cells, *routers, *marked, *unused])]


class _Scale:
    """From places of the layout to inches of the field."""

    def __init__(self, layout: TopologyLayout, width: float) -> None:
        xs, ys = zip(*layout.spots, strict=True)
        beyond_x = STUB if any(way is not None and way[0] for way in layout.around) else 0.0
        beyond_y = STUB if any(way is not None and way[1] for way in layout.around) else 0.0
        across, down = max(xs) - min(xs) + 2 * beyond_x, max(ys) - min(ys) + 2 * beyond_y
        self.x = min(_WIDEST_PITCH, width / (across + 1.0))
        self.y = self.x if layout.square else max(_LEAST_ROW_PITCH, min(_ROW_PITCH, _TALLEST / (down + 1.0)))
        margin = 0.5 * min(self.y, _ROW_PITCH)
        self.height = down * self.y + 2 * margin
        self._left = (width - across * self.x) / 2 + (beyond_x - min(xs)) * self.x
        self._top = self.height - margin + (min(ys) - beyond_y) * self.y

        self.pitch: float = min(self.x, self.y)
        self.fine: float = min(1.0, self.pitch / _FINE_PITCH)
        own = [node.at for node in layout.nodes]
        steps = [max(abs(one[0] - other[0]) * self.x, abs(one[1] - other[1]) * self.y)
                 for one, other in zip(own, own[1:] + own[:1], strict=True)]
        self.side: float = min(_LARGEST_SIDE, 0.85 * min(steps) if len(own) > 1 else max(
            min(_LEAST_SIDE, 0.6 * self.pitch), 0.42 * self.pitch))

    def spot(self, at: Spot) -> Spot:
        """In inches from the lower left corner."""
        return self._left + at[0] * self.x, self._top - at[1] * self.y


@dataclass(frozen=True)
class _Arrow:
    """A channel, or the half of one that leads around: from one spot to another, in inches."""

    load: ChannelLoad
    start: Spot
    end: Spot
    labelled: bool = True


class _Drawing:
    def __init__(self, axes: Axes, load: NetworkLoad, layout: TopologyLayout, scale: _Scale) -> None:
        self._axes, self._load, self._layout, self._scale = axes, load, layout, scale
        self._top = heat_top(load.largest)
        self._side = scale.side
        width, height = axes.get_xlim()[1], axes.get_ylim()[1]
        self._taken = Taken(Box(0.0, 0.0, width, height))

    def draw(self) -> None:
        """Arrows first, glyphs on top, numbers where there is room, the busiest channels' first; none where most have no room."""
        self._ties()
        arrows = self._arrows()
        used = [arrow.load.busy_share > 0 for arrow in arrows]
        self._axes.add_collection(PolyCollection(
            [_outline(arrow, self._scale.fine) for arrow in arrows], facecolors=[self._colour(arrow.load) for arrow in arrows],
            edgecolors=["none" if one else _EDGE for one in used], linewidths=[0.0 if one else 0.3 for one in used]),
            autolim=False)
        for arrow in arrows:
            self._taken.add_line(arrow.start, arrow.end, _HEAD / 2)
        self._glyphs()
        busiest = sorted((arrow for arrow in arrows if arrow.load.busy_share > 0 and arrow.labelled),
                         key=lambda arrow: -arrow.load.busy_share)
        boxes = [self._taken.place(_along(_percent(arrow.load), arrow)) for arrow in busiest]
        if 2 * sum(box is not None for box in boxes) >= len(boxes):
            for arrow, box in zip(busiest, boxes, strict=True):
                self._write(_percent(arrow.load), box)

    def _colour(self, load: ChannelLoad) -> str:
        return heat_colour(load.busy_share, self._top) if load.busy_share > 0 else UNUSED_COLOUR

    def _write(self, text: str, box: Box | None, colour: str = paper.INK) -> None:
        if box is not None:
            self._axes.text((box.left + box.right) / 2, box.base, text, ha="center", va="baseline", color=colour,
                            parse_math=False, zorder=5)

    def _arrows(self) -> list[_Arrow]:
        arrows = []
        for wire, load, around in zip(self._load.topology.wires, self._load.wires, self._layout.around, strict=True):
            start, end = (self._scale.spot(self._layout.routers[router]) for router in (wire.source, wire.target))
            if around is None:
                arrows.append(self._arrow(load, start, end))
            else:  # it leaves at one side and comes back at the other
                way = around[0] * STUB * self._scale.x, -around[1] * STUB * self._scale.y
                arrows.append(self._arrow(load, start, (start[0] + way[0], start[1] + way[1]), to_edge=True))
                arrows.append(self._arrow(load, (end[0] - way[0], end[1] - way[1]), end, from_edge=True))
        return arrows

    def _arrow(self, load: ChannelLoad, start: Spot, end: Spot, *, to_edge: bool = False, from_edge: bool = False) -> _Arrow:
        """Beside the middle of its way, on the right hand, from glyph to glyph."""
        x, y = end[0] - start[0], end[1] - start[1]
        long = hypot(x, y) or 1.0
        x, y = x / long, y / long
        glyph = self._side / 2 / max(abs(x), abs(y)) if not self._layout.nodes else self._router_radius
        clear = glyph + 0.01
        aside = y * _APART * self._scale.fine, -x * _APART * self._scale.fine
        first, last = (0.0 if from_edge else clear), long - (0.0 if to_edge else clear)
        return _Arrow(load, (start[0] + x * first + aside[0], start[1] + y * first + aside[1]),
                      (start[0] + x * last + aside[0], start[1] + y * last + aside[1]), not from_edge)

    @property
    def _router_radius(self) -> float:
        return max(0.04, min(0.11, 0.3 * self._scale.pitch))

    def _ties(self) -> None:
        """What joins nodes that stand apart to their routers."""
        for node in self._layout.nodes:
            ends = [self._scale.spot(at) for at in (node.at, self._layout.routers[node.router])]
            self._axes.plot([ends[0][0], ends[1][0]], [ends[0][1], ends[1][1]], color="#B5B5B5", linewidth=0.6, zorder=0)

    def _glyphs(self) -> None:
        if self._layout.nodes:
            for number, at in enumerate(self._layout.routers):
                x, y = self._scale.spot(at)
                radius = self._router_radius
                self._axes.add_patch(Circle((x, y), radius, facecolor="white", edgecolor=paper.INK, linewidth=0.5, zorder=3))
                self._taken.add(Box(x - radius, y - radius, x + radius, y + radius))
                self._inside(str(number), x, y, 2 * radius, 2 * radius, paper.INK)
            for spot in self._layout.nodes:
                self._node(spot.node, self._scale.spot(spot.at), sends=spot.sends, receives=spot.receives)
            return
        node_of = {router: node for node, (router, _) in enumerate(self._load.topology.enters)}
        for router, at in enumerate(self._layout.routers):
            self._node(node_of.get(router), self._scale.spot(at), sends=True, receives=True, name=router)

    def _node(self, node: int | None, at: Spot, *, sends: bool, receives: bool, name: int | None = None) -> None:
        """A box: the number above, what goes into the network below it at the left, what comes out at the right."""
        side, (x, y) = self._side, at
        left, bottom = x - side / 2, y - side / 2
        half = side - max(side / 2, min(_LINE, 0.65 * side))
        marked = node is not None and node in self._load.marks
        cells = [load for load, shown in ((self._load.into, sends), (self._load.out, receives)) if shown and node is not None]
        for place, loads in enumerate(cells):
            assert node is not None, "without one there are no cells"
            wide, load = side / len(cells), loads[node]
            colour = self._colour(load)
            self._axes.add_patch(Rectangle((left + place * wide, bottom), wide, half, facecolor=colour, edgecolor=_EDGE,
                                           linewidth=0.3, zorder=3))
            if load.busy_share > 0:
                self._inside(_percent(load), left + (place + 0.5) * wide, bottom + half / 2, wide, half,
                             paper.text_colour(colour))
        upper = side - half if cells else side
        self._axes.add_patch(Rectangle((left, bottom + side - upper), side, upper, facecolor="white", linewidth=0, zorder=3))
        self._axes.add_patch(Rectangle((left, bottom), side, side, facecolor="none", edgecolor=paper.INK,
                                       linewidth=(1.6 if marked else 0.5) * self._scale.fine, zorder=4))
        text = str(node if node is not None else name)
        self._inside(text, x, bottom + side - upper / 2, side, upper, paper.INK, "bold" if marked else "normal")
        self._taken.add(Box(left - 0.01, bottom - 0.01, left + side + 0.01, bottom + side + 0.01))

    def _inside(self, text: str, x: float, y: float, width: float, height: float, colour: str, weight: str = "normal") -> None:
        box = text_box(text, x, y)
        if box.right - box.left <= width + 0.005 and box.top - box.bottom <= height + 0.02:
            self._axes.text(x, box.base, text, ha="center", va="baseline", color=colour, fontweight=weight, parse_math=False,
                            zorder=5)


def _percent(load: ChannelLoad) -> str:
    return "<1" if 100 * load.busy_share < 0.5 else f"{100 * load.busy_share:.0f}"


def _outline(arrow: _Arrow, fine: float) -> list[Spot]:
    """A shaft and a head, so many times as large as usual."""
    (x, y), (end_x, end_y) = arrow.start, arrow.end
    long = hypot(end_x - x, end_y - y) or 1.0
    ahead = (end_x - x) / long, (end_y - y) / long
    neck, shaft, head = max(0.0, long - _HEAD * fine), _SHAFT * fine / 2, _HEAD * fine / 2

    def at(along: float, aside: float) -> Spot:
        return x + ahead[0] * along - ahead[1] * aside, y + ahead[1] * along + ahead[0] * aside
    return [at(0, -shaft), at(neck, -shaft), at(neck, -head), at(long, 0), at(neck, head), at(neck, shaft), at(0, shaft)]


def _along(text: str, arrow: _Arrow) -> Iterable[Box]:
    """Places on the right hand of an arrow, from its middle outwards."""
    (x, y), (end_x, end_y) = arrow.start, arrow.end
    long = hypot(end_x - x, end_y - y) or 1.0
    right = (end_y - y) / long, -(end_x - x) / long
    size = text_box(text, 0.0, 0.0)
    far = _HEAD / 2 + 0.012 + abs(right[0]) * size.right + abs(right[1]) * size.top
    for share in (0.5, 0.4, 0.6, 0.3, 0.7, 0.2, 0.8):
        yield text_box(text, x + (end_x - x) * share + right[0] * far, y + (end_y - y) * share + right[1] * far)


