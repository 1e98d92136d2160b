"""Scales: ticks of logarithmic axes, the prefix that suits a rate, and the colours of shares."""

from __future__ import annotations

from math import ceil, floor, log10

from matplotlib.axis import Axis
from matplotlib.colors import LinearSegmentedColormap, to_hex
from matplotlib.ticker import FixedLocator, MaxNLocator, NullLocator

from accelsim.stalls import StallCause

UNUSED_COLOUR = "#FFFFFF"
_SUPERSCRIPTS = str.maketrans("-0123456789", "\N{SUPERSCRIPT MINUS}⁰¹²³⁴⁵⁶⁷⁸⁹")
_HEAT = LinearSegmentedColormap.from_list("busy", ["#E3E3E3", StallCause.LINK_LATENCY.colour,
                                                   StallCause.LINK_BANDWIDTH.colour])
"""Its lightness falls steadily, so that it can be read without colours too."""
_TOPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
_PREFIXES = ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"))


def log_ticks(axis: Axis, limits: tuple[float, float], most: int = 6) -> None:
    """Powers of ten, every few of them where there are many, and 2 and 5 times them where there are few; even steps where there
    is not even room for those.
    """
    powers = range(floor(log10(limits[0])), ceil(log10(limits[1])) + 1)
    fine = [(digit, power) for power in powers for digit in (1, 2, 5) if limits[0] <= digit * 10.0**power <= limits[1]]
    tens = [pair for pair in fine if pair[0] == 1]
    shown = {digit * 10.0**power: _number(digit, power) for digit, power in
             (fine if len(fine) <= most else tens[::-(-len(tens) // most)])}
    if len(shown) < 3:
        even = MaxNLocator(nbins=5, steps=(1, 2, 5, 10)).tick_values(*limits)
        shown = {float(tick): f"{tick:,.6g}" for tick in even if limits[0] <= tick <= limits[1]}
    axis.set_major_locator(FixedLocator(list(shown)))
    axis.set_minor_locator(NullLocator())
    axis.set_ticklabels(list(shown.values()))


def _number(digit: int, power: int) -> str:
    """A tick: 0.05, 2,000, or a power of ten beyond."""
    if -3 < power < 4:
        return f"{digit * 10.0**power:,.{max(0, -power)}f}"
    raised = f"10{str(power).translate(_SUPERSCRIPTS)}"
    return raised if digit == 1 else f"{digit}·{raised}"


def prefix(value: float) -> tuple[float, str]:
    """The decimal prefix, by which a value of a per-second unit is read best: what to divide by, and its letter."""
    return next(((scale, letter) for scale, letter in _PREFIXES if value >= scale), _PREFIXES[-1])


def short(value: float) -> str:
    """A number of three digits or so: 0.0123, 4.56, 78.9, 1,234."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def percent(share: float) -> str:
    """A share, to the tenth of a per cent below ten."""
    return "<0.1 %" if 0 < share < 0.0005 else f"{100 * share:.{1 if share < 0.0995 else 0}f} %"


def heat_top(largest: float) -> float:
    """Where a scale of shares ends: at the first round share that none exceeds."""
    return next((top for top in _TOPS if largest <= top), _TOPS[-1])


def heat_colour(share: float, top: float) -> str:
    """The colour of a busy share on a scale up to ``top``."""
    return to_hex(_HEAT(min(1.0, share / top))).upper()
