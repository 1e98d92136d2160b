"""How lanes show themselves in a notebook: along time as a picture, and their cycles as a table."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from accelsim.markup import Bar, Html, bars, block, line, swatch, table, title
from accelsim.stalls import BUSY_COLOUR, IDLE_COLOUR, Phase, StallCause

Shares = NDArray[np.float64]
MOST_LANES, MOST_COLUMNS = 16, 128
"""Of the picture, so that it stays small."""


def lanes_html(heading: str, lanes: Sequence[tuple[str, str]], spent: Sequence[tuple[float, float, float]], shares: Shares,
               bin_cycles: int) -> str:
    """The lanes that are not idle throughout, at most so many, and of all the cycles they were busy, stalled and idle.

    ``lanes``: name and kind of each. ``shares[lane, state, bin]``: of the bin's cycles, busy first, then the causes, each with
    its phases.
    """
    causes = tuple(StallCause)
    by_cause = shares[:, 1:].reshape(len(lanes), len(causes), len(Phase), -1).sum(axis=2)
    by_colour = np.concatenate([shares[:, :1], by_cause], axis=1)
    each = -(-by_colour.shape[2] // MOST_COLUMNS)
    columns = np.add.reduceat(by_colour, np.arange(0, by_colour.shape[2], each), axis=2) / each
    shown = [i for i in range(len(lanes)) if columns[i].any()]
    pictures = [Bar(lanes[i][0], tuple(map(tuple, columns[i].T.tolist()))) for i in shown[:MOST_LANES]]
    stalled = [cause for i, cause in enumerate(causes, 1) if columns[:, i].any()]
    legend = (swatch(BUSY_COLOUR, "busy"), *(swatch(cause.colour, cause.code) for cause in stalled), swatch(IDLE_COLOUR, "idle"))
    more = len(shown) - MOST_LANES
    return block(
        title(heading),
        bars(pictures, (BUSY_COLOUR, *(cause.colour for cause in causes)), IDLE_COLOUR, "cycle 0",
             f"cycle {columns.shape[2] * each * bin_cycles:,} (measured); a column is {each * bin_cycles:,} cycles"),
        Html(f"<div>{'&#8195;'.join(part.text for part in legend)}</div>"),
        line(f"and {more:,} lanes more" if more > 0 else ""),
        table("lanes (measured)", ("lane", "kind", "busy [cycles]", "stalled [cycles]", "idle [cycles]"),
              ((*lane, *cycles) for lane, cycles in zip(lanes, spent, strict=True)), most=MOST_LANES))
