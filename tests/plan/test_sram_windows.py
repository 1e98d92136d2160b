"""Windows that overlap: what the DMA moves beside a tile, and what goes into an array's registers, is what a run moves then."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from fractions import Fraction
from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from accelsim.analytic.estimate import estimate
from accelsim.errors import DoesNotFit, SpecError
from accelsim.plan.demands import Asker, Demand, served
from accelsim.plan.edges import Tile
from accelsim.plan.images import TensorImage
from accelsim.plan.passes import Pass, passes, positions, together
from accelsim.plan.schedule import Schedule
from accelsim.plan.tileaccess import TileAccess, tile_access
from accelsim.plan.units import units
from accelsim.spec.banks import Banks, Layout, LayoutKind, Ports
from accelsim.spec.case import Case
from accelsim.spec.chip import ArrayModel
from accelsim.spec.operators import Options
from accelsim.spec.sram import Edge

from ..helpers import array, chip, entry, level, make, operator, run, stays, systolic
from ..properties.strategies import cases

ROW = {"": Layout(LayoutKind.ROW)}
WORDS = Banks(4, 1, Ports(both=1))


# -- the DMA ----------------------------------------------------------------------------------------------------------


def numbers(case: Case, place: int) -> list[int]:
    """The run's numbers of the steps of a level: it counts those past an edge, in which nothing is done."""
    loops, extents = case.nest.temporal_above(place), [line.extent for line in case.nest.lines]
    found = []
    for number, indices in enumerate(product(*(range(loop.bound) for loop in loops))):
        at = [0] * len(extents)
        for loop, index in zip(loops, indices, strict=True):
            at[loop.line] += index * loop.stride
        if all(position < extent for position, extent in zip(at, extents, strict=True)):
            found.append(number)
    return found


def replayed(case: Case, step: int) -> Iterator[tuple[int, TileAccess]]:
    """A step, where there is one, of each memory inside the outermost that feeds the array and is not in lockstep with others."""
    for place, one in enumerate(case.chip.levels):
        for memory in one.memories:
            alone = len(units(case, place)[0].bases) == 1
            if place and alone and served(case, place, memory) and step < len(numbers(case, place)):
                with suppress(DoesNotFit):
                    yield place, tile_access(case, place, memory, WORDS, ROW, step=step, most_passes=1)


def agrees(case: Case, found: TileAccess, place: int) -> int:
    """Hold the DMA of a step to the run's stays: loads of those that begin with the next step, and of those that ended before
    this one. Returns in how many tensors a part of a tile stays.
    """
    steps, parts = [*numbers(case, place), 1 << 60], 0
    for one in found.places:
        if place == case.paths[one.tensor.name][0] or one.slots == 1:
            assert (len(one.filled()), len(one.drained())) == (0, 0)
            continue
        told = stays(Schedule(case), place, one.tensor.name, 0)
        fills = [stay.fill.elements for stay in told if stay.fill is not None and stay.first == steps[found.step + 1]]
        drains = [stay.drain.elements for stay in told if stay.drain is not None and found.step > 0
                  and steps[found.step - 1] <= stay.last < steps[found.step]]
        assert (len(one.filled()), len(one.drained())) == (sum(fills), sum(drains))
        parts += one.coming is not None and 0 < len(one.filled()) < one.coming.elements
    return parts


@settings(max_examples=150, deadline=None)
@given(cases(), st.integers(0, 3))
def test_the_dma_moves_what_a_run_does_in_that_step(case: Case, step: int) -> None:
    """Inputs: what is new. Outputs: partial sums that come back, and tiles that are done."""
    for place, found in replayed(case, step):
        agrees(case, found, place)


@pytest.mark.parametrize("step", range(8))
def test_a_window_slides_along_its_rows(step: int) -> None:
    """3 x 3 over 10 x 10 in tiles of 4 x 4 outputs, 6 x 6 inputs: the next tile of a row (steps 0, 2) brings 4 new columns of 6
    rows; the next row of tiles (step 1) shares nothing with the last of this one but what is in both, 2 rows of 2 columns; for
    the second channel (steps 3 to 7) as for the first, of which nothing stays.
    """
    what = operator("conv2d", "int8", "int32", n=1, k=1, c=2, p=8, q=8, r=3, s=3)
    case = make(chip([level("DRAM"), level("SRAM")]), what, entry("DRAM", "c2 p2 q2", "I W O"),
                entry("SRAM", "k* n* r* s* p4 q4", "I W O"))
    found = tile_access(case, 1, case.chip.levels[1].memories[0], WORDS, ROW, step=step)
    new = {0: 4 * 6, 1: 36 - 2 * 2, 2: 4 * 6, 3: 36, 4: 4 * 6, 5: 36 - 2 * 2, 6: 4 * 6, 7: 0}[step]
    inputs = next(one for one in found.places if one.tensor.name == "I")
    assert len(inputs.filled()) == new
    assert agrees(case, found, 1) == (step not in {3, 7})
    # a port without limit moves a word of every bank in a cycle, so all of it moves beside the array
    fill = [one for one in found.requesters if one.name == "fill"]
    first = inputs.first_word + inputs.slot_words
    moved = {int(word) - first for one in fill for word in one.words if first <= word < first + inputs.slot_words}
    assert moved == set(inputs.filled().tolist())


# -- the registers ----------------------------------------------------------------------------------------------------


def loads(case: Case) -> list[Demand]:
    """What goes into the registers of the stationary input, load by load, by its place in the whole of it."""
    tensor, origin = case.operator.tensor("I"), [0] * len(case.nest.lines)
    asker = Asker(case, 0, tensor, Tile(case, 0, tensor, origin, whole=True), Edge.REGISTERS)
    return [one for group in together(passes(case, 0, origin), 7) for one in asker.of(group)]


@st.composite
def windows(draw: st.DrawFn) -> Case:
    """A convolution whose input is stationary, over two axes of an array and some words of each PE."""
    p, r, c, k = (draw(st.integers(1, most)) for most in (7, 4, 3, 2))
    options = Options((draw(st.integers(1, 2)),), (draw(st.integers(1, 2)),), (draw(st.integers(0, 1)),))
    reach = options.stride[0] * (p - 1) + options.dilation[0] * (r - 1) + 1 - 2 * options.padding[0]
    assume(reach > 0)
    what = operator("conv1d", "int8", "int32", options, n=1, k=k, c=c, p=p, r=r)
    model = draw(st.sampled_from(list(ArrayModel)))
    grid, buffers = (("x", 3), ("y", 3)), draw(st.integers(1, 2))
    pe = systolic(3, 3, buffers=buffers) if model is ArrayModel.SYSTOLIC else array(grid, model=model, buffers=buffers,
                                                                                    preload=Fraction(1))
    across, down = draw(st.sampled_from([("p", "r"), ("p", "c"), ("r", "c")]))
    outer = " ".join(f"{dim}*" for dim in draw(st.sampled_from(list(permutations("prc")))))
    words = draw(st.integers(1, 3))
    inner = f"{draw(st.sampled_from('prc'))}{words} " if words > 1 else ""
    try:
        return make(chip([level("DRAM")], pe), what, entry("DRAM", f"{outer} n*", "I W O"),
                    entry("PE", f"{inner}k*", "I", x=f"{across}{draw(st.integers(1, 3))}", y=f"{down}{draw(st.integers(1, 3))}"))
    except SpecError:
        assume(False)
        raise


@settings(max_examples=250, deadline=None)
@given(windows())
def test_registers_take_what_a_run_moves(case: Case) -> None:
    """Load by load as many words, which are the estimate's; and the array is done when the run is."""
    told = [stay.fill.elements for stay in stays(Schedule(case), 1, "I", 0) if stay.fill is not None and stay.fill.elements]
    found = loads(case)
    assert [one.places.size for one in found] == told
    assert all(len(np.unique(one.places)) == one.places.size and one.places.min() >= 0 for one in found)
    assert sum(told) == estimate(case).traffic[1, "I"].fill_elements
    latency = case.chip.array.skew_cycles
    assert max(one.end(latency) for one in passes(case, 0, [0] * len(case.nest.lines))) == run(case).cycles


@st.composite
def tiled(draw: st.DrawFn) -> Case:
    """A convolution in tiles of tiles; one or two of its tensors are stationary."""
    p, k, c, r = (draw(st.integers(1, 4)) for _ in range(4))
    what = operator("conv1d", "int8", "int32", n=1, p=p, k=k, c=c, r=r)
    outer, middle = (" ".join(f"{dim}{'*' if loose else draw(st.integers(1, 2))}" for dim in draw(st.permutations("pkcr")))
                     for loose in (True, False))
    own = draw(st.sampled_from(["I", "W", "O", "I W", "W O"]))
    across, down, *_ = draw(st.permutations("pkcr"))
    pe = array((("x", 2), ("y", 2)), buffers=draw(st.integers(1, 2)), preload=Fraction(1), results=Fraction(4))
    try:
        return make(chip([level("DRAM", accumulate=draw(st.booleans())), level("L1")], pe), what,
                    entry("DRAM", f"{outer} n*", "I W O"), entry("L1", middle, draw(st.sampled_from(["I W O", "I"]))),
                    entry("PE", "", own, x=f"{across}2", y=f"{down}2"))
    except SpecError:
        assume(False)
        raise


def moved(case: Case, found: Iterable[Pass]) -> list[tuple[str, str, str]]:
    """Tiles that move into and out of the registers, one tensor after the other, and what is held when they come."""
    images = {tensor.name: TensorImage(case, case.array_entry, tensor) for tensor in case.operator.tensors}

    def tile(tensor: str, position: list[int] | None) -> list[tuple[int, int]]:
        return [] if position is None else [(own.low, own.bits) for own in (axis.at(position) for axis in images[tensor].axes)]

    own = [(one.tensor.name, kind, f"{tile(one.tensor.name, one.position)} after {tile(one.tensor.name, one.held)}")
           for each in found for kind, group in (("in", each.loads), ("out", each.drains)) for one in group]
    return sorted(own, key=lambda one: one[:2])


@settings(max_examples=200, deadline=None)
@given(tiled())
def test_tile_by_tile_the_registers_move_what_they_do_in_all(case: Case) -> None:
    """A tile finds what the one before left in the registers, and leaves what the next one uses."""
    origin = [0] * len(case.nest.lines)
    steps = [None, *positions(case, case.nest.temporal_above(1), origin), None]
    assert moved(case, (one for before, now, after in zip(steps, steps[1:], steps[2:], strict=False) if now is not None
                        for one in passes(case, 1, now, before, after))) == moved(case, passes(case, 0, origin))


@pytest.mark.parametrize(("model", "first"), [(ArrayModel.SPATIAL, [0, 1, 2]), (ArrayModel.SYSTOLIC, [0, 0, 1])])
def test_windows_in_the_registers_by_hand(model: ArrayModel, first: list[int]) -> None:
    """Two outputs (x) of two taps (y) at a time, four in all: inputs 0 1 2, then 2 3 4, of which 2 stays. PE (y, x) holds input
    x + y. One word a cycle in order of rows: 0 1, then 2 (1 is there). A systolic array shifts rows of two words: 0 1 in the
    first cycle, 2 in the second, all of four PEs in two.
    """
    what = operator("conv1d", "int8", "int32", n=1, k=1, c=1, p=4, r=2)
    spatial = array((("x", 2), ("y", 2)), preload=Fraction(1), buffers=2)
    pe = spatial if model is ArrayModel.SPATIAL else systolic(2, 2, buffers=2)
    case = make(chip([level("DRAM")], pe), what, entry("DRAM", "p2 c* n*", "I W O"), entry("PE", "k*", "I", x="p2", y="r2"))
    found = loads(case)
    assert [one.places.ravel().tolist() for one in found] == [[0, 1, 2], [3, 4]]
    assert found[0].cycles.ravel().tolist() == first
