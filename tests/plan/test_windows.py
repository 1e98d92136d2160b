"""Does a sliding window move only what is new, whichever loop moves it?"""

from __future__ import annotations

import pytest

from accelsim.spec.operators import Options

from ..helpers import chip, entry, level, make, operator, run


def filled(
    outer: str, inner: str, stride: int = 1, dilation: int = 1, padding: int = 0, p: int = 8, r: int = 3
) -> dict[str, int]:
    what = operator("conv1d", options=Options((stride,), (dilation,), (padding,)), n=1, k=1, c=1, p=p, r=r)
    case = make(chip([level("DRAM"), level("L1")]), what, entry("DRAM", outer + " n1 k1 c1"), entry("L1", inner))
    traffic = run(case).timeline.traffic
    return {
        "I": traffic["L1", "I"].fill_elements,
        "W": traffic["L1", "W"].fill_elements,
        "O": traffic["L1", "O"].drain_elements,
        "back": traffic["L1", "O"].refill_elements,
    }


def test_output_outside_window_inside() -> None:
    """R inside P: the window of 3 slides by one: 3 + 7 new words; each weight once; each output once."""
    assert filled("p8", "r3") == {"I": 10, "W": 3, "O": 8, "back": 0}


def test_window_outside_output_inside() -> None:
    """P inside R with one output at a time: 3 passes over 8 words; within a pass every word is new; sums come back twice."""
    assert filled("r3 p8", "") == {"I": 24, "W": 3, "O": 24, "back": 16}


def test_window_outside_with_all_outputs_inside() -> None:
    """The tile is 8 words and slides by one with r: 8 + 1 + 1; the outputs stay."""
    assert filled("r3", "p8") == {"I": 10, "W": 3, "O": 8, "back": 0}


@pytest.mark.parametrize(
    ("stride", "dilation", "padding", "words"),
    [
        (2, 1, 0, 3 + 7 * 2),  # two new words a step
        (3, 1, 0, 24),  # windows touch
        (4, 1, 0, 24),  # gaps between windows are never moved
        (1, 2, 0, 24),  # {0, 2, 4}, then {1, 3, 5}: nothing in common with the step before
        (2, 2, 0, 3 + 7),  # {0, 2, 4}, {2, 4, 6}: one new word a step
        (1, 1, 1, 8),  # of 10 words two are padding and move no bytes
    ],
)
def test_stride_dilation_padding(stride: int, dilation: int, padding: int, words: int) -> None:
    assert filled("p8", "r3", stride, dilation, padding)["I"] == words


def test_ragged_windows() -> None:
    """P 8 in tiles of 3: windows {0..4}, {3..7}, {6..9}: 5 + 3 + 2."""
    assert filled("p3", "p3 r3")["I"] == 10


def test_going_back_at_a_wrap_keeps_what_is_still_held() -> None:
    """k outside p4 x 2: tiles {0..5}, {4..9}, then {0..5} again, of which 4 and 5 are still held: 6 + 4 + 4 + 4."""
    what = operator("conv1d", n=1, k=2, c=1, p=8, r=3)
    case = make(chip([level("DRAM"), level("L1")]), what, entry("DRAM", "n1 c1 k2 p2"), entry("L1", "p4 r3"))
    assert run(case).timeline.traffic["L1", "I"].fill_elements == 6 + 4 + 4 + 4
