"""A heat map of a chip's levels: how busy each port and link between them was."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from accelsim.measure.carriers import CarrierKind, carriers
from accelsim.measure.report import OperatorReport
from accelsim.measure.roofline import roofline
from accelsim.outputs import paper
from accelsim.outputs.heat_map import BAR_INCHES, colour_bar
from accelsim.outputs.labels import text_box
from accelsim.outputs.paper import text_inches
from accelsim.outputs.plotted import Plotted, plotted
from accelsim.outputs.scales import UNUSED_COLOUR, heat_colour, heat_top, percent
from accelsim.outputs.sheet import MARGIN, open_sheet, widest
from accelsim.timeline import Lane
from accelsim.units import human_bytes

_CELL, _ROW, _PAD = 0.17, 0.2, 0.06
_GAP = 0.14
_EDGE = "#8A8A8A"


@dataclass(frozen=True)
class CarrierLoad:
    """A port or link: ``level``, ``inner``: as of a `Carrier`; the bytes that passed, where they are counted; the share of the
    run in which it was busy (the mean over its instances), None where it takes no time or was not used.
    """

    name: str
    kind: CarrierKind
    level: str
    inner: str | None
    moved_bytes: int | None
    busy_share: float | None


@dataclass(frozen=True)
class LevelsData:
    """``levels``: outermost first, with their instances on the chip, the array last. ``busy``: of the arrays."""

    levels: tuple[tuple[str, int], ...]
    loads: tuple[CarrierLoad, ...]
    busy: float

    def table(self) -> Plotted:
        """One row a port and link."""
        return plotted(("name", "kind", "level", "to_level", "bytes", "busy_share"),
                       [(one.name, one.kind.value, one.level, one.inner, one.moved_bytes, one.busy_share) for one in self.loads])


def levels_data(one: OperatorReport) -> LevelsData:
    """Of one operator's run."""
    chip, lanes = one.case.chip, list(one.lanes.items())
    moved = {roof.name: roof.moved_bytes for roof in roofline(one).roofs}
    loads = []
    for carrier in carriers(one.case, [Lane(name, lane.kind, lane.level) for name, lane in lanes]):
        busy = [lanes[number][1].busy_cycles for number in carrier.lanes]
        counted = carrier.kind not in (CarrierKind.ARRAY, CarrierKind.NETWORK)
        loads.append(CarrierLoad(carrier.name, carrier.kind, carrier.level, carrier.inner,
                                 moved.get(carrier.name, 0) if counted else None,
                                 sum(busy) / (len(busy) * max(1, one.cycles)) if busy else None))
    counts = [prod(count for place in range(entry + 1) for _, count in chip.fanout(place)) for entry in range(len(chip.names))]
    return LevelsData(tuple(zip(chip.names, counts, strict=True)), tuple(loads), one.busy)


def draw_levels(data: LevelsData, path: Path, *, title: str, width_inches: float = 7.16) -> Plotted:
    """Draw the levels from top to bottom, each port and link in the colour of its busy share; returns what was drawn.

    Raises ValueError for a suffix other than .png, .svg and .pdf, and for a width that is no page's.
    """
    paper.picture_format(path)
    paper.check_width(width_inches)
    with paper.house_style():
        names = [_level_name(level) for level in data.levels]
        left = MARGIN + widest(names) + 0.12
        bands, height = _arrange(data, width_inches - 2 * MARGIN - left - _PAD, left)
        notes = ["cells are ports, between the levels links; white: unlimited, or nothing passed"]
        page, place = open_sheet(width_inches, height, title, None, notes, left=MARGIN, right=MARGIN, below=BAR_INCHES,
                                 above=0.05)
        axes = page.canvas(*place)
        top = heat_top(max((one.busy_share or 0.0 for one in data.loads), default=0.0))
        _draw(axes, bands, names, top, place.width, height)
        colour_bar(page, place, top)
        page.save(path, title)
    return data.table()


def _level_name(level: tuple[str, int]) -> str:
    return level[0] if level[1] == 1 else f"{level[0]} \N{MULTIPLICATION SIGN} {level[1]:,}"


@dataclass(frozen=True)
class _Cell:
    """A port or link in a line of its band: its text, and where it stands, in inches from the band's left upper corner."""

    text: str
    load: CarrierLoad | None
    x: float
    y: float
    width: float


@dataclass(frozen=True)
class _Band:
    """A level (``level``: its number) or what links one to others, from the top of the field down."""

    level: int | None
    top: float
    height: float
    cells: tuple[_Cell, ...]


def _arrange(data: LevelsData, room: float, left: float) -> tuple[list[_Band], float]:
    """Bands from the top down, and the height of all."""
    bands: list[_Band] = []
    top = 0.02
    for number, (name, _) in enumerate(data.levels):
        own = [(_text(one, name), one) for one in data.loads if one.level == name and one.inner is None]
        last = number == len(data.levels) - 1
        entries: list[tuple[str, CarrierLoad | None]] = [*own, *([(f"busy {percent(data.busy)}", None)] if last else [])]
        cells, rows = _flow(entries, room, left)
        bands.append(_Band(number, top, rows * _ROW + 0.08, cells))
        top += rows * _ROW + 0.08
        links: list[tuple[str, CarrierLoad | None]] = [(_text(one, name), one) for one in data.loads
                                                       if one.level == name and one.inner is not None]
        cells, rows = _flow(links, room, left) if links else ((), 0)
        if not last:
            gap = rows * _ROW + (0.1 if rows else _GAP)
            bands.append(_Band(None, top, gap, cells))
            top += gap
    return bands, top + 0.02


def _text(one: CarrierLoad, level: str) -> str:
    parts = [one.name.removeprefix(f"{level}.") if one.inner is None else f"{one.name} (to {one.inner})"]
    parts += [percent(one.busy_share)] if one.busy_share is not None else []
    parts += [human_bytes(one.moved_bytes)] if one.moved_bytes else []
    return "  ".join(parts)


def _flow(entries: Sequence[tuple[str, CarrierLoad | None]], room: float, left: float) -> tuple[tuple[_Cell, ...], int]:
    """Cells side by side, in as many lines as they need; and how many those are, at least one."""
    cells: list[_Cell] = []
    x, row = 0.0, 0
    for text, load in entries:
        shown = paper.shorten(text, room - 0.12)
        width = text_inches(shown) + 0.12
        if x and x + width > room:
            x, row = 0.0, row + 1
        cells.append(_Cell(shown, load, left + x, 0.04 + row * _ROW + (_ROW - _CELL) / 2, width))
        x += width + 0.06
    return tuple(cells), row + 1


def _draw(axes: Axes, bands: Sequence[_Band], names: Sequence[str], top: float, width: float, height: float) -> None:
    for band in bands:
        upper = height - band.top
        middle = upper - band.height / 2
        if band.level is None:
            axes.plot([_PAD + 0.1] * 2, [upper, upper - band.height], color=_EDGE, linewidth=2.0, zorder=0,
                      solid_capstyle="butt")
        else:
            axes.add_patch(Rectangle((0.01, upper - band.height), width - 0.02, band.height, facecolor="#F6F6F6",
                                     edgecolor=paper.INK, linewidth=0.6))
            axes.text(_PAD, text_box("x", 0, middle).base, names[band.level], fontweight="bold", ha="left", va="baseline",
                      parse_math=False)
        for cell in band.cells:
            colour = UNUSED_COLOUR
            if cell.load is None:
                colour = "none"
            elif cell.load.busy_share:
                colour = heat_colour(cell.load.busy_share, top)
            bottom = upper - cell.y - _CELL
            axes.add_patch(Rectangle((cell.x, bottom), cell.width, _CELL, facecolor=colour,
                                     edgecolor="none" if cell.load is None else _EDGE, linewidth=0.4))
            ink = paper.text_colour(colour) if colour != "none" else paper.INK
            axes.text(cell.x + cell.width / 2, text_box("x", 0, bottom + _CELL / 2).base, cell.text, ha="center", va="baseline",
                      color=ink, parse_math=False)
