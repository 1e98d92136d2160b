"""What the array takes and gives: the elements that all its PEs touch in one iteration, over all iterations."""

from __future__ import annotations

from itertools import product
from math import prod

from accelsim.analytic.frame import Instances
from accelsim.analytic.images import clip, image
from accelsim.analytic.lines import EVERY, FIRST, Steps, below, positions
from accelsim.analytic.moves import Folded, FoldedAxis
from accelsim.analytic.tables import Look, Tables, every
from accelsim.spec.chip import Access, Multicast
from accelsim.spec.operator import Role, Tensor
from accelsim.spec.tiles import flattened_box


def touched(tables: Tables, tensor: Tensor) -> int:
    """Elements of the tensor that the PEs touch, summed over every iteration of all temporal loops and all instances.

    Per iteration and instance an element counts once, however many PEs share it; where a link into the array shares
    equal sets, lockstep instances that differ in nothing the tensor depends on count as one.
    """
    total = 1
    for part in tables.factors(_iterations(tables, apart(tables, tensor)), tensor):
        if isinstance(part, Folded) and not _boxes(part):
            total *= _points(part) if _one_to_one(part) else _images(part)
        else:
            total *= sum(size * count for size, count in every((part,)).items())
    return total


def first_updates(tables: Tables, tensor: Tensor) -> int:
    """Elements of the output that the array gives for the first time: all temporal reduction loops at 0.

    Reduction lines only repeat an output's tiles, so the share of the repeats is the share of the updates.
    """
    frame = tables.frame(_iterations(tables, apart(tables, tensor)))
    summed = [(line, steps) for line, steps in zip(tables.case.nest.lines, frame.steps, strict=True)
              if not set(line.dims) & tensor.dims]
    always = prod(below(steps.outside(EVERY), line.extent) for line, steps in summed)
    first = prod(below(steps.outside(FIRST), line.extent) for line, steps in summed)
    return touched(tables, tensor) // always * first


def apart(tables: Tables, tensor: Tensor) -> Instances:
    """Spatial loops whose instances each have accesses of their own at the memory that feeds the array."""
    case = tables.case
    feeding = case.feeding(tensor.name)
    access = Access.DRAIN if tensor.role is Role.OUTPUT else Access.FILL
    links = case.chip.links_between(case.chip.names[feeding], case.chip.array.name, access, tensor)
    if not any(link.reduce if tensor.role is Role.OUTPUT else link.multicast is not Multicast.NONE for link in links):
        return tables.everywhere
    one = {place for place, loop in enumerate(case.nest.loops)
           if loop.axis is not None and feeding <= loop.entry < case.array_entry and case.lockstep(loop.entry + 1)
           and not set(case.nest.lines[loop.line].dims) & tensor.dims}
    return tables.everywhere - one


def iterations(tables: Tables, summed: Instances) -> int:
    """Iterations of all temporal loops, the array's own included, that exist."""
    return steps_of(tables, _iterations(tables, summed))


def passes(tables: Tables, summed: Instances) -> int:
    """Passes of the array: iterations of all temporal loops above it that exist."""
    return steps_of(tables, Look(tables.case.array_entry, summed))


def steps_of(tables: Tables, look: Look) -> int:
    """Steps that exist."""
    return prod(below(steps.outside(EVERY), steps.extent) for steps in tables.frame(look).steps)


def _iterations(tables: Tables, summed: Instances) -> Look:
    return Look(tables.case.array_entry, summed, iterations=True)


def _boxes(knot: Folded) -> bool:
    """Whether every run over the PEs is a box."""
    return all(steps.tile >= steps.extent or flattened_box(counts, steps.tile) is not None
               for steps, counts in zip(knot.lists, knot.counts, strict=True))


def _one_to_one(knot: Folded) -> bool:
    """Whether no two PEs touch the same element: one dimension of an axis moves at most, and all that move count."""
    indexed = {dim for folded in knot.axes for dim in folded.axis.dims}
    for dims, counts in zip(knot.dims, knot.counts, strict=True):
        if any(count > 1 and dim not in indexed for dim, count in zip(dims, counts, strict=True)):
            return False
    return all(sum(_moves(knot, steps, dim) for dim, steps in zip(folded.axis.dims, folded.lines, strict=True)) <= 1
               for folded in knot.axes)


def _moves(knot: Folded, steps: Steps, dim: str) -> bool:
    """Whether the dimension has more than one place over the PEs of one iteration."""
    return steps.tile > 1 or any(
        run.tile > 1 and counts[dims.index(dim)] > 1
        for run, counts, dims in zip(knot.lists, knot.counts, knot.dims, strict=True) if dim in dims)


def _points(knot: Folded) -> int:
    """Each point of the dimensions is touched in one iteration by one PE: count those that are no padding."""
    return prod(_inside(folded) for folded in knot.axes)


def _inside(folded: FoldedAxis) -> int:
    """Points of an axis' dimensions whose index lies inside the tensor: the longest is counted, the others walked."""
    form, axis_extent = folded.axis.form, folded.axis.extent
    coefficients = [coefficient for _, coefficient in form.terms]
    terms = sorted(zip((steps.extent for steps in folded.lines), coefficients, strict=True), reverse=True)
    longest, coefficient = terms[0]
    count = 0
    for point in product(*(range(0, extent * c, c) for extent, c in terms[1:])):
        start = form.offset + sum(point)
        first = max(0, -(start // coefficient))
        count += max(0, min(longest, (axis_extent - 1 - start) // coefficient + 1) - first)
    return count


def _images(knot: Folded) -> int:
    """Exact images, where PEs share elements under runs that are no box.

    The axes become one line of bits, each with room enough that sums do not meet; what an iteration touches is the
    sum of its lists' runs and its intervals, moved to its place, without the padding.
    """
    weight: dict[str, int] = {}
    room, start, valid = 1, 0, 1
    for folded in knot.axes:
        form = folded.axis.form
        reach = sum(c * (steps.extent - 1) for (_, c), steps in zip(form.terms, folded.lines, strict=True))
        low, high = min(0, form.offset), max(folded.axis.extent, 1 + form.offset + reach)
        weight |= {dim: c * room for dim, c in form.terms}
        start += (form.offset - low) * room
        valid = _sum(valid, image(((room, folded.axis.extent),)) << (-low * room))
        room *= high - low
    shapes = [[_run(dims, counts, units, steps, now, weight) for now, _ in positions(steps, EVERY)]
              for dims, counts, units, steps in zip(knot.dims, knot.counts, _units(knot), knot.lists, strict=True)]
    for folded in knot.axes:
        for dim, steps in zip(folded.axis.dims, folded.lines, strict=True):
            shapes.append([(now * weight[dim], image(((weight[dim], min(steps.tile, steps.extent - now)),)))
                           for now, _ in positions(steps, EVERY)])
    sums: dict[tuple[int, ...], int] = {}
    total = 0
    for chosen in product(*shapes):
        key = tuple(bits for _, bits in chosen)
        if key not in sums:
            sums[key] = 1
            for bits in sorted(key, key=int.bit_count):
                sums[key] = _sum(sums[key], bits)
        total += (clip(sums[key], start + sum(place for place, _ in chosen), room) & valid).bit_count()
    return total


def _units(knot: Folded) -> list[dict[str, int]]:
    """Per list the unit of each member that an axis indexes."""
    found: list[dict[str, int]] = [{} for _ in knot.lists]
    for folded in knot.axes:
        for dim, member in zip(folded.axis.dims, folded.members, strict=True):
            if member is not None:
                found[member[0]][dim] = member[1]
    return found


def _run(dims: tuple[str, ...], counts: tuple[int, ...], units: dict[str, int], steps: Steps, position: int,
         weight: dict[str, int]) -> tuple[int, int]:
    """(place, bits above it) of a run of a flattened list, the last dimension fastest."""
    places = set()
    for point in range(position, min(position + steps.tile, steps.extent)):
        place = 0
        rest = point
        for dim, count in zip(reversed(dims), reversed(counts), strict=True):
            rest, index = divmod(rest, count)
            place += index * units.get(dim, 0) * weight.get(dim, 0)
        places.add(place)
    low = min(places)
    return low, sum(1 << (place - low) for place in places)


def _sum(one: int, other: int) -> int:
    """All sums of a member of one set and a member of the other; the other is walked."""
    result, place = 0, 0
    while other:
        zeros = (other & -other).bit_length() - 1
        other >>= zeros
        place += zeros
        result |= one << place
        other ^= 1
    return result


