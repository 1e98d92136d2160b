"""The pictures of a run: one table of what can be asked for, checked before any work is done and drawn after it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from accelsim.cli.compiling import compiling
from accelsim.cli.options import Column
from accelsim.errors import Fault
from accelsim.measure.report import OperatorReport
from accelsim.timeline import Timeline
from accelsim.verbs import Finished

if TYPE_CHECKING:
    from accelsim.outputs.plotted import Plotted

SUFFIXES = (".png", ".svg", ".pdf")


@dataclass(frozen=True)
class Pictures:
    """What to draw: a file for each option that was given, the page's column, and whether the data go beside each picture.

    ``window``: cycles of those that have a time axis. ``operator``: which one to draw.
    """

    files: Mapping[str, Path] = field(default_factory=dict)
    column: Column = Column.DOUBLE
    data: bool = False
    operator: str | None = None
    window: tuple[int, int] | None = None


@dataclass(frozen=True)
class _Subject:
    """What is drawn from: the operators of the run, or the one that was named; the longest of them, and what happened in it."""

    finished: Finished
    operators: Sequence[OperatorReport]
    longest: OperatorReport
    timeline: Timeline
    window: tuple[int, int] | None
    width_inches: float

    def title(self, what: str) -> str:
        """Of a picture of the longest operator."""
        return f"{self.longest.name} on {self.finished.report.chip}{what}"

    def title_of_all(self, what: str) -> str:
        """Of a picture of all operators that ran."""
        if len(self.operators) == 1:
            return self.title(what)
        run = self.finished.report
        return f"{run.workload} on {run.chip}, {len(self.operators)} operators{what}"


def _timeline(subject: _Subject, path: Path) -> Plotted:
    from accelsim.outputs.pictures import draw_timeline
    return draw_timeline(subject.timeline, path, title=subject.title(""), window=subject.window,
                         width_inches=subject.width_inches, clock_hz=float(subject.finished.report.clock_hz))


def _stall_bars(subject: _Subject, path: Path) -> Plotted:
    from accelsim.outputs.pictures import draw_stall_bars
    return draw_stall_bars(subject.timeline, path, title=subject.title(""), width_inches=subject.width_inches)


def _roofline(subject: _Subject, path: Path) -> Plotted:
    from accelsim.outputs.roofline_picture import draw_roofline, roofline_data
    return draw_roofline(roofline_data(subject.operators, subject.finished.report.clock_hz), path,
                         title=subject.title_of_all(": roofline, measured"), width_inches=subject.width_inches)


def _ladder(subject: _Subject, path: Path) -> Plotted:
    from accelsim.outputs.bars import draw_ladder, ladder_data
    return draw_ladder(ladder_data(subject.operators, subject.finished.report.clock_hz), path,
                       title=subject.title_of_all(": from peak to delivered, measured"), width_inches=subject.width_inches)


def _waterfall(subject: _Subject, path: Path) -> Plotted:
    from accelsim.outputs.bars import draw_waterfall, waterfall_data
    return draw_waterfall(waterfall_data(subject.operators), path,
                          title=subject.title_of_all(": from the estimate's bound to the measurement"),
                          width_inches=subject.width_inches)


def _utilization(subject: _Subject, path: Path) -> Plotted:
    from accelsim.outputs.over_time import draw_utilization, utilization_data
    return draw_utilization(utilization_data(subject.longest, subject.timeline, subject.window), path,
                            title=subject.title(": array utilization over time, measured"), width_inches=subject.width_inches,
                            clock_hz=float(subject.finished.report.clock_hz))


def _bandwidth(subject: _Subject, path: Path) -> Plotted:
    from accelsim.outputs.over_time import bandwidth_data, draw_bandwidth
    return draw_bandwidth(bandwidth_data(subject.longest, subject.timeline, subject.window), path,
                          title=subject.title(": bandwidth over time, measured"), width_inches=subject.width_inches)


def _heat_map(subject: _Subject, path: Path) -> Plotted:
    """On the topology of the network that carried most; of a chip without one on its levels."""
    one = subject.longest
    networks = [link for link in one.case.chip.links if link.network is not None]
    if networks:
        from accelsim.outputs.heat_map import draw_heat_map, network_load
        loads = [network_load(one, link) for link in networks]
        load = max(loads, key=lambda load: sum(channel.moved_bytes for channel in load.wires))
        return draw_heat_map(load, path, title=subject.title(f": channels of {load.name}, measured"),
                             width_inches=subject.width_inches)
    from accelsim.outputs.level_map import draw_levels, levels_data
    return draw_levels(levels_data(one), path, title=subject.title(": ports and links, measured"),
                       width_inches=subject.width_inches)


@dataclass(frozen=True)
class _Kind:
    """A kind of picture: the option that asks for it, and what draws it and returns what it drew."""

    option: str
    draw: Callable[[_Subject, Path], Plotted]


KINDS = (_Kind("--timeline", _timeline), _Kind("--stall-bars", _stall_bars), _Kind("--roofline", _roofline),
         _Kind("--ladder", _ladder), _Kind("--waterfall", _waterfall), _Kind("--utilization", _utilization),
         _Kind("--bandwidth", _bandwidth), _Kind("--heat-map", _heat_map))


def draw(finished: Finished, pictures: Pictures, place: int) -> list[tuple[Path, Plotted]]:
    """Draw what was asked for; of one operator it shows the one at a place of the report, or all unless one was named.

    Returns what each file shows.
    """
    if not pictures.files:
        return []
    with compiling():
        import accelsim.outputs.raster_lanes  # noqa: F401  its kernel is compiled with the others, and said once
    longest, timeline = finished.report.operators[place], finished.timelines[place]
    assert isinstance(longest, OperatorReport), "it ran"
    assert timeline is not None, "it ran"
    subject = _Subject(finished, [longest] if pictures.operator else finished.report.done, longest, timeline, pictures.window,
                       pictures.column.inches)
    return [(pictures.files[kind.option], kind.draw(subject, pictures.files[kind.option]))
            for kind in KINDS if kind.option in pictures.files]


def picture_faults(pictures: Pictures, tables: Mapping[str, Path]) -> list[Fault]:
    """What keeps the pictures, and ``tables`` beside them, from being written: suffixes, folders, two results in one file."""
    faults = [Fault(option, 0, 0, "", f"no picture format '{path.suffix}'", ", ".join(SUFFIXES))
              for option, path in pictures.files.items() if path.suffix.lower() not in SUFFIXES]
    taken: dict[Path, str] = {}
    written = [*pictures.files.items(), *tables.items()]
    if pictures.data:
        written += [(f"{option} with --data", path.with_suffix(".csv")) for option, path in pictures.files.items()
                    if path.suffix.lower() in SUFFIXES]
    for option, path in written:
        if not path.absolute().parent.is_dir():
            faults.append(Fault(option, 0, 0, "", f"no folder {path.parent}"))
        elif path.is_dir():
            faults.append(Fault(option, 0, 0, "", f"{path} is a folder; name a file"))
        elif path.absolute() in taken and (path.is_file() or not path.exists()):
            faults.append(Fault(option, 0, 0, "", f"{path} is what {taken[path.absolute()]} writes already; name another file"))
        taken.setdefault(path.absolute(), option)
    if pictures.data and not pictures.files:
        faults.append(Fault("--data", 0, 0, "", "there is no picture to write the data of",
                            ", ".join(kind.option for kind in KINDS)))
    return faults
