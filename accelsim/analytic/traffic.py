"""Traffic of every tensor at every level, exactly as a walk of the nest would count it."""

from __future__ import annotations

from accelsim.analytic.arrays import first_updates, touched
from accelsim.analytic.frame import Instances
from accelsim.analytic.moves import factors, joint
from accelsim.analytic.result import Traffic
from accelsim.analytic.tables import Look, Sizes, Tables, every
from accelsim.spec.chip import Access
from accelsim.spec.operator import Role, Tensor
from accelsim.units import DType

TrafficTable = dict[tuple[int, str], Traffic]


def traffic(tables: Tables) -> TrafficTable:
    """What each tensor moves at each entry of its path."""
    case = tables.case
    return {(entry, tensor.name): _traffic(tables, entry, tensor)
            for tensor in case.operator.tensors for entry in case.paths[tensor.name]}


def _traffic(tables: Tables, entry: int, tensor: Tensor) -> Traffic:
    case, everywhere = tables.case, tables.everywhere
    takes, gives = _array_bytes(tables, entry, tensor)
    if entry == case.paths[tensor.name][0]:
        return Traffic(array_read_bytes=takes, array_write_bytes=gives)
    if tensor.role is not Role.OUTPUT:
        moved = fills(tables, tensor, Look(entry, everywhere))
        return Traffic(fill_elements=_elements(moved), fill_bytes=_bytes(moved, tensor.dtype),
                       array_read_bytes=takes, array_write_bytes=gives)
    partial, done = drains(tables, tensor, Look(entry, everywhere))
    back = refills(tables, tensor, Look(entry, everywhere))
    accumulator = case.operator.accumulator
    return Traffic(
        drain_elements=_elements(partial) + _elements(done), refill_elements=_elements(back),
        drain_bytes=_bytes(partial, accumulator) + _bytes(done, tensor.dtype), refill_bytes=_bytes(back, accumulator),
        array_read_bytes=takes, array_write_bytes=gives)


def fills(tables: Tables, tensor: Tensor, look: Look) -> Sizes:
    """Fills of an input by their new elements; a tile inside the one before moves nothing."""
    moved: Sizes = {}
    for (size, kept), count in tables.changes(look, tensor).items():
        if size > kept:
            moved[size - kept] = moved.get(size - kept, 0) + count
    return moved


def visits(tables: Tables, tensor: Tensor, look: Look) -> Sizes:
    """Stays of the output's tiles, by size: each ends in a drain."""
    found: Sizes = {}
    for (size, _), count in tables.changes(look, tensor).items():
        if size:
            found[size] = found.get(size, 0) + count
    return found


def first_visits(tables: Tables, tensor: Tensor, look: Look) -> Sizes:
    """The output's different tiles in each instance, by size: all steps with the reduction loops at 0."""
    case, frame = tables.case, tables.frame(look)
    bare = tuple(own if set(line.dims) & case.operator.output.dims
                 else own._replace(loops=tuple(loop for loop in own.loops if not loop.temporal))
                 for line, own in zip(case.nest.lines, frame.steps, strict=True))
    parts = factors(case.nest, case.operator, tensor, frame._replace(steps=bare))
    return {size: count for size, count in every(parts).items() if size}


def drains(tables: Tables, tensor: Tensor, look: Look) -> tuple[Sizes, Sizes]:
    """Drains of unfinished and of finished tiles, by size.

    Each tile's last stay ends finished, unless instances share its sum. A parent that accumulates gets finished
    tiles only where one stay did all the work, since it adds at the accumulator's width.
    """
    case = tables.case
    stays = visits(tables, tensor, look)
    if any(case.reduces(loop) for loop in case.nest.spatial_above(look.entry)):
        return stays, {}
    single = _single_visits if _accumulates(tables, look.entry, tensor) else first_visits
    done = single(tables, tensor, look)
    return _less(stays, done), done


def refills(tables: Tables, tensor: Tensor, look: Look) -> Sizes:
    """Partial sums that come back in: every stay but a tile's first, unless the parent accumulates.

    Of instances whose sums a link adds up only the first gets them.
    """
    if _accumulates(tables, look.entry, tensor):
        return {}
    look = look._replace(summed=reduced_once(tables, look.entry, tensor, look.summed))
    return _less(visits(tables, tensor, look), first_visits(tables, tensor, look))


def reduced_once(tables: Tables, entry: int, tensor: Tensor, summed: Instances) -> Instances:
    """Leave out all but the first of the instances whose sums a link to the parent adds up."""
    case, names = tables.case, tables.case.chip.names
    parent = case.parent(entry, tensor.name)
    assert parent is not None, "asked away from home only"
    if not any(link.reduce for link in case.chip.links_between(names[parent], names[entry], Access.DRAIN, tensor)):
        return summed
    return frozenset(place for place in summed if not (
        parent <= case.nest.loops[place].entry < entry and case.reduces(case.nest.loops[place])))


def _single_visits(tables: Tables, tensor: Tensor, look: Look) -> Sizes:
    """Tiles that stay once: when the outermost reduction loop advances, no output loop inside it has to wrap."""
    case, frame = tables.case, tables.frame(look)
    loops, lines = case.nest.loops, case.nest.lines
    outermost = next((place for place in frame.advancing if case.reduces(loops[place])
                      and loops[place].stride < lines[loops[place].line].extent), None)
    if outermost is None:
        return first_visits(tables, tensor, look)
    bare = tuple(own if set(line.dims) & case.operator.output.dims else own._replace(loops=())
                 for line, own in zip(lines, frame.steps, strict=True))
    parts = factors(case.nest, case.operator, tensor, frame._replace(steps=bare))
    found: Sizes = {}
    for (size, kept), count in joint(parts, outermost).items():
        if size and size == kept:
            found[size] = found.get(size, 0) + count
    return found


def _accumulates(tables: Tables, entry: int, tensor: Tensor) -> bool:
    parent = tables.case.parent(entry, tensor.name)
    memory = None if parent is None else tables.case.memory(parent, tensor)
    return memory is not None and memory.accumulate


def _array_bytes(tables: Tables, entry: int, tensor: Tensor) -> tuple[int, int]:
    """(read, written) by the array at the entry that feeds it; an output is read back unless the memory adds."""
    case = tables.case
    if entry != case.feeding(tensor.name) or entry == case.array_entry:
        return 0, 0
    width = case.held_type(entry, tensor).bits
    elements = touched(tables, tensor)
    if tensor.role is not Role.OUTPUT:
        return -(-elements * width // 8), 0
    memory = case.memory(entry, tensor)
    again = 0 if memory is not None and memory.accumulate else elements - first_updates(tables, tensor)
    return -(-again * width // 8), -(-elements * width // 8)


def _elements(sizes: Sizes) -> int:
    return sum(size * count for size, count in sizes.items())


def _bytes(sizes: Sizes, dtype: DType) -> int:
    """Each transfer is whole bytes."""
    return sum(-(-size * dtype.bits // 8) * count for size, count in sizes.items())


def _less(sizes: Sizes, taken: Sizes) -> Sizes:
    left = {size: count - taken.get(size, 0) for size, count in sizes.items()}
    return {size: count for size, count in left.items() if count}
