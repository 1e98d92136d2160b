"""A naive interpreter of the rules of the run: every step, tile and residency spelled out, one event loop over cycles.

It shares no code with the product. Scope: one instance a level, one memory a level, an array of one MAC per cycle without
latency whose reads and writes are unlimited, granularity of one byte, one clock. Levels are numbered outermost first.

Words used here: a *stream* is the row of residencies of one tensor at one level; a *point* is the tuple of the loop
indices that names a step (a level's points are prefixes of the array's); a *request* is a transfer waiting at a port.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise, product
from typing import Literal

Element = tuple[int, ...]
Point = tuple[int, ...]
SIXTEENTHS = 16


class Deadlock(Exception):
    """Nothing can happen any more, yet array blocks or drains are left."""


@dataclass(frozen=True)
class Axis:
    """One axis of a tensor: offset + the sum of coefficient x dimension; indices outside [0, extent) are padding."""

    terms: tuple[tuple[str, int], ...]
    offset: int = 0
    extent: int | None = None


@dataclass(frozen=True)
class Tensor:
    """A tensor and its widths; `accumulator_bytes` is the width of an output's unfinished elements."""

    name: str
    axes: tuple[Axis, ...]
    element_bytes: int = 4
    accumulator_bytes: int = 4
    output: bool = False


@dataclass(frozen=True)
class Memory:
    """A memory: bandwidth in bytes per cycle for each port (None: unlimited), one shared port or fills and drains apart."""

    name: str
    bandwidth: Fraction | None = None
    latency: int = 0
    shared: bool = False
    accumulate: bool = False


@dataclass(frozen=True)
class Problem:
    """A case: memories outermost first; `loops`, `binding` and `buffers` hold one entry per memory."""

    dims: dict[str, int]
    tensors: Sequence[Tensor]
    memories: Sequence[Memory]
    loops: Sequence[Sequence[tuple[str, int]]]
    binding: Sequence[set[str]]
    buffers: Sequence[dict[str, int]]


@dataclass(frozen=True)
class Reading:
    """How the sentences that allow several readings are read; the defaults are the ones the oracle stands for.

    same_cycle: what leaves a limited port in the cycle it came to it reaches the next port in another `round` of that
    cycle, or goes as far as it can at once (`join`), in tie order. unlimited: an unlimited port without latency is passed
    at once, before the round's arbitration, or `costs a round`. readerless: a residency that nobody reads is released when
    `ready`, when `claimed`, or when ready and the one before is released (`in order`).
    """

    same_cycle: Literal["round", "join"] = "round"
    unlimited: Literal["at once", "costs a round"] = "at once"
    readerless: Literal["ready", "claimed", "in order"] = "ready"


@dataclass
class Traffic:
    """What passed the boundary above a level for one tensor: fill and refill inward, drain outward."""

    fill: int = 0
    drain: int = 0
    refill: int = 0
    fill_bytes: int = 0
    drain_bytes: int = 0
    refill_bytes: int = 0


@dataclass(frozen=True, order=True)
class Event:
    """One line of the log. Array blocks have level -1, no tensor, and their number in place of the residency's."""

    cycle: int
    what: str  # claim, ready, fill through, fill arrived, drain through, drain arrived, block start, block end
    level: int
    tensor: str
    residency: int


@dataclass(frozen=True)
class Result:
    """Cycles, traffic by (level, tensor) below the home, MACs and the sorted log; `readerless` counts unread residencies."""

    cycles: int
    traffic: dict[tuple[int, str], Traffic]
    macs: int
    log: list[Event]
    readerless: int = 0


@dataclass(eq=False)
class Residency:
    """A tile's stay in a slot: first what the plan says of it, then how far the run has brought it."""

    level: int
    tensor: Tensor
    order: int  # of the tensor
    number: int
    first_step: int
    last_step: int
    last_point: Point
    tile: frozenset[Element]
    source: "Residency | None"
    parent_level: int
    at_home: bool = False
    moved_in: frozenset[Element] = frozenset()  # new input elements, or the partial sums to refill
    fill_bytes: int = 0
    drain_bytes: int = 0
    brought_by: list["Residency"] = field(default_factory=list)  # whose transfers brought the tile's elements
    drains_before: list["Residency"] = field(default_factory=list)  # earlier drains of the elements to refill
    outlives: bool = False  # an input that stays when the parent's tile changes reads it only until it is ready
    readers: int = 0
    claimed: bool = False
    ready: bool = False
    filled: bool = False
    finished: bool = False  # the last reader is done
    released: bool = False  # as rule 1 counts it
    drained: bool = False  # the drain has arrived


@dataclass(eq=False)
class Block:
    """Consecutive array steps with the same residencies of all operands."""

    operands: list[Residency]
    macs: int


@dataclass(eq=False)
class Transfer:
    """A fill or a drain on its way over the ports of the levels in `hops`."""

    residency: Residency
    drain: bool
    byte_count: int
    hops: tuple[int, int]
    hop: int = 0
    through: int | None = None  # of the port before

    def tie_key(self) -> tuple[int, int, int, int]:
        """The boundary nearer the array, then the step, then fills before drains, then tensor order."""
        stay = self.residency
        return -stay.level, stay.last_step if self.drain else stay.first_step, int(self.drain), stay.order


class Plan:
    """The nest walked step by step: the residencies of every stream, who reads whom, and the array's blocks."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.all_loops = [loop for loops in problem.loops for loop in loops]
        self.points = [self.points_of(level) for level in range(len(problem.memories) + 1)]
        self.depths = [self.depth_of(level) for level in range(len(problem.memories) + 1)]
        self.streams: dict[tuple[int, str], list[Residency]] = {}
        self.during: dict[tuple[int, str], dict[Point, Residency]] = {}
        self.traffic: dict[tuple[int, str], Traffic] = {}
        self.array_steps = {point: number for number, point in enumerate(self.points[-1])}
        self.last_array_step: dict[Point, int] = {}  # of every prefix
        for point, number in self.array_steps.items():
            for depth in range(len(point) + 1):
                self.last_array_step[point[:depth]] = number
        for order, tensor in enumerate(problem.tensors):
            self.walk_tensor(order, tensor)
        for residency in self.all_residencies():
            if residency.source is not None:
                residency.source.readers += 1
        self.blocks = self.walk_blocks()
        self.readerless = sum(stay.readers == 0 and not stay.at_home for stay in self.all_residencies())

    def all_residencies(self) -> Iterator[Residency]:
        for stream in self.streams.values():
            yield from stream

    def depth_of(self, level: int) -> int:
        """How many loops lie above a level (above the array: all of them)."""
        return sum(len(loops) for loops in self.problem.loops[:level])

    def start_of(self, point: Point) -> dict[str, int]:
        """Where the iteration box of a step starts: each index times all bounds of its dimension further in."""
        start = dict.fromkeys(self.problem.dims, 0)
        for position, index in enumerate(point):
            dim = self.all_loops[position][0]
            start[dim] += index * self.size_inside(dim, position + 1)
        return start

    def size_inside(self, dim: str, position: int) -> int:
        size = 1
        for name, bound in self.all_loops[position:]:
            size *= bound if name == dim else 1
        return size

    def points_of(self, level: int) -> list[Point]:
        """The steps of a level in order, without the iterations that start past an edge."""
        for dim, extent in self.problem.dims.items():
            if self.size_inside(dim, 0) < extent:
                raise ValueError(f"the bounds of {dim} do not cover {extent}")
        bounds = [range(bound) for _, bound in self.all_loops[: self.depth_of(level)]]
        return [p for p in product(*bounds) if all(s < self.problem.dims[d] for d, s in self.start_of(p).items())]

    def tile_of(self, tensor: Tensor, point: Point) -> frozenset[Element]:
        """The exact image of the clipped iteration box under the tensor's axes, clipped to the tensor."""
        start = self.start_of(point)
        box = {
            dim: range(start[dim], min(start[dim] + self.size_inside(dim, len(point)), extent))
            for dim, extent in self.problem.dims.items()
        }
        per_axis: list[set[int]] = []
        for axis in tensor.axes:
            indices = set()
            for values in product(*(box[dim] for dim, _ in axis.terms)):
                index = axis.offset + sum(c * v for (_, c), v in zip(axis.terms, values, strict=True))
                if axis.extent is None or 0 <= index < axis.extent:
                    indices.add(index)
            per_axis.append(indices)
        return frozenset(product(*per_axis))

    def walk_tensor(self, order: int, tensor: Tensor) -> None:
        path = [level for level, names in enumerate(self.problem.binding) if tensor.name in names]
        home = path[0]
        everything = Residency(home, tensor, order, 0, 0, 0, (), self.tile_of(tensor, ()), None, -1, at_home=True)
        everything.claimed = everything.ready = True
        self.streams[home, tensor.name] = [everything]
        self.during[home, tensor.name] = dict.fromkeys(self.points[home], everything)
        last_touch: dict[Element, int] = {}
        if tensor.output:
            for point, number in self.array_steps.items():
                for element in self.tile_of(tensor, point):
                    last_touch[element] = number
        for parent, level in pairwise(path):
            self.walk_stream(order, tensor, parent, level)
            if tensor.output:
                self.count_output(tensor, parent, level, last_touch)
            else:
                self.count_input(tensor, level)

    def walk_stream(self, order: int, tensor: Tensor, parent: int, level: int) -> None:
        """A new residency wherever the tile of a step is not the tile of the step before."""
        stream: list[Residency] = []
        during: dict[Point, Residency] = {}
        for step, point in enumerate(self.points[level]):
            tile = self.tile_of(tensor, point)
            source = self.during[parent, tensor.name][point[: self.depths[parent]]]
            if not stream or tile != stream[-1].tile:
                stream.append(Residency(level, tensor, order, len(stream), step, step, point, tile, source, parent))
            stay = stream[-1]
            stay.last_step, stay.last_point = step, point
            if source is not stay.source and not tensor.output:
                stay.outlives = True
            during[point] = stay
        self.streams[level, tensor.name] = stream
        self.during[level, tensor.name] = during
        self.traffic[level, tensor.name] = Traffic()

    def count_input(self, tensor: Tensor, level: int) -> None:
        """A fill moves the elements that the tile before did not hold."""
        traffic = self.traffic[level, tensor.name]
        held: dict[Element, Residency] = {}
        for stay in self.streams[level, tensor.name]:
            stay.moved_in = stay.tile - held.keys()
            held = {element: held.get(element, stay) for element in stay.tile}
            stay.brought_by = list(dict.fromkeys(held.values()))
            stay.fill_bytes = len(stay.moved_in) * tensor.element_bytes
            traffic.fill += len(stay.moved_in)
            traffic.fill_bytes += stay.fill_bytes

    def count_output(self, tensor: Tensor, parent: int, level: int, last_touch: dict[Element, int]) -> None:
        """Every tile drains; what was drained before comes back first, unless the memory above adds in place."""
        traffic = self.traffic[level, tensor.name]
        drained: dict[Element, list[Residency]] = defaultdict(list)
        for stay in self.streams[level, tensor.name]:
            if not self.problem.memories[parent].accumulate:
                stay.moved_in = frozenset(element for element in stay.tile if element in drained)
                stay.drains_before = list(dict.fromkeys(d for e in sorted(stay.moved_in) for d in drained[e]))
            stay.brought_by = [stay] if stay.moved_in else []
            stay.fill_bytes = len(stay.moved_in) * tensor.accumulator_bytes
            end = self.last_array_step[stay.last_point]
            for element in stay.tile:
                finished = last_touch[element] <= end
                stay.drain_bytes += tensor.element_bytes if finished else tensor.accumulator_bytes
                drained[element].append(stay)
            traffic.refill += len(stay.moved_in)
            traffic.refill_bytes += stay.fill_bytes
            traffic.drain += len(stay.tile)
            traffic.drain_bytes += stay.drain_bytes

    def walk_blocks(self) -> list[Block]:
        feeding = {
            t.name: max(lv for lv, ts in enumerate(self.problem.binding) if t.name in ts) for t in self.problem.tensors
        }
        blocks: list[Block] = []
        for point in self.points[-1]:
            operands = [self.during[lv, name][point[: self.depths[lv]]] for name, lv in feeding.items()]
            if not blocks or operands != blocks[-1].operands:
                blocks.append(Block(operands, 0))
                for stay in operands:
                    stay.readers += 1
            blocks[-1].macs += 1
        return blocks


class Run:
    """The event loop. Times at ports are kept in sixteenths of a cycle; everything else is in cycles."""

    def __init__(self, plan: Plan, reading: Reading) -> None:
        self.plan, self.reading = plan, reading
        self.memories = plan.problem.memories
        self.now = 0
        self.log: list[Event] = []
        self.streams = [stream for stream in plan.streams.values() if not stream[0].at_home]
        self.next_claim = [0] * len(self.streams)
        self.live: list[Residency] = []  # claimed, and not yet both ready and done with its last reader
        self.booked: dict[tuple[int, str], int] = defaultdict(int)  # sixteenths, per port
        self.requests: dict[int, list[Transfer]] = defaultdict(list)  # by the cycle of arrival at a port
        self.completions: dict[int, list[tuple[str, Transfer | Block]]] = defaultdict(list)
        self.next_block = 0
        self.array_busy = False
        self.end = 0

    def note(self, what: str, residency: Residency) -> None:
        self.log.append(Event(self.now, what, residency.level, residency.tensor.name, residency.number))

    def run(self) -> None:
        while True:
            self.cycle()
            ahead = [c for table in (self.requests, self.completions) for c, entries in table.items() if entries]
            if not ahead:
                break
            self.now = min(ahead)
        undrained = [s for stream in self.streams for s in stream if s.tensor.output and not s.drained]
        if self.next_block < len(self.plan.blocks) or undrained:
            raise Deadlock(f"stuck at cycle {self.now}: block {self.next_block}, {len(undrained)} drains left")

    def cycle(self) -> None:
        """Rounds of completions, claims, array starts and port arbitration, until a round does nothing."""
        while True:
            finished = self.completions.pop(self.now, [])
            for what, thing in finished:
                self.complete(what, thing)
            while self.settle():
                pass
            self.start_block()
            requests = self.requests.pop(self.now, [])
            self.arbitrate(requests)
            if not finished and not requests:
                return

    def complete(self, what: str, thing: Transfer | Block) -> None:
        if isinstance(thing, Block):
            self.array_busy = False
            self.end = max(self.end, self.now)
            self.log.append(Event(self.now, what, -1, "", self.next_block - 1))
            for stay in thing.operands:
                stay.readers -= 1
            return
        residency = thing.residency
        self.note(what, residency)
        if what == "fill arrived":
            residency.filled = True
        elif what == "drain through":
            residency.released = True
        elif what == "drain arrived":
            residency.drained = True
            self.end = max(self.end, self.now)
            self.let_go(residency)

    def settle(self) -> bool:
        """One sweep of claims, of what they make ready and of releases; whether anything changed."""
        changed = False
        for number, stream in enumerate(self.streams):
            if self.next_claim[number] < len(stream) and self.may_claim(stream, self.next_claim[number]):
                self.claim(stream[self.next_claim[number]])
                self.next_claim[number] += 1
                changed = True
        for stay in list(self.live):
            if not stay.ready and all(other.filled for other in stay.brought_by if other.moved_in):
                stay.ready = changed = True
                self.note("ready", stay)
                if stay.outlives:
                    self.let_go(stay)
            if self.last_reader_done(stay):
                self.finish(stay)
                changed = True
        self.live = [stay for stay in self.live if not (stay.ready and stay.finished)]
        return changed

    def may_claim(self, stream: list[Residency], number: int) -> bool:
        stay = stream[number]
        slots = self.plan.problem.buffers[stay.level][stay.tensor.name]
        free = number < slots or stream[number - slots].released
        assert stay.source is not None
        return free and stay.source.ready and all(earlier.drained for earlier in stay.drains_before)

    def claim(self, stay: Residency) -> None:
        stay.claimed = True
        self.live.append(stay)
        self.note("claim", stay)
        if stay.moved_in:
            self.ask(Transfer(stay, False, stay.fill_bytes, (stay.parent_level, stay.level)))

    def last_reader_done(self, stay: Residency) -> bool:
        if stay.readers or stay.finished:
            return False
        if self.reading.readerless == "in order" and stay.number:
            before = self.plan.streams[stay.level, stay.tensor.name][stay.number - 1]
            if not before.finished:
                return False
        return stay.ready or self.reading.readerless == "claimed"

    def finish(self, stay: Residency) -> None:
        """The last reader is done: an input is released, an output asks for its drain."""
        stay.finished = True
        if stay.tensor.output:
            self.ask(Transfer(stay, True, stay.drain_bytes, (stay.level, stay.parent_level)))
            return
        stay.released = True
        if not stay.outlives:
            self.let_go(stay)

    def let_go(self, stay: Residency) -> None:
        assert stay.source is not None
        stay.source.readers -= 1

    def start_block(self) -> None:
        if self.array_busy or self.next_block == len(self.plan.blocks):
            return
        block = self.plan.blocks[self.next_block]
        if all(stay.ready for stay in block.operands):
            self.array_busy = True
            self.log.append(Event(self.now, "block start", -1, "", self.next_block))
            self.next_block += 1
            self.completions[self.now + block.macs].append(("block end", block))

    def ask(self, transfer: Transfer) -> None:
        self.requests[self.now].append(transfer)

    def arbitrate(self, requests: list[Transfer]) -> None:
        """Serve what has arrived at ports in this cycle and round, in tie order."""
        if self.reading.unlimited == "at once":
            for transfer in requests:
                memory = self.memories[transfer.hops[transfer.hop]]
                if transfer.hop == 0 and memory.bandwidth is None and memory.latency == 0:
                    self.serve(transfer)
        for transfer in sorted(requests, key=Transfer.tie_key):
            arrival = self.serve(transfer)
            if arrival == self.now and self.reading.same_cycle == "join":
                arrival = self.serve(transfer)
            if arrival is not None:
                self.requests[arrival].append(transfer)

    def serve(self, transfer: Transfer) -> int | None:
        """Book the port the transfer stands at; the cycle in which it comes to the next port, None after the last."""
        level = transfer.hops[transfer.hop]
        memory = self.memories[level]
        start = end = self.now * SIXTEENTHS
        if memory.bandwidth is not None:
            port = level, "both" if memory.shared else "drain" if transfer.drain else "fill"
            start = max(start, self.booked[port])
            end = start + ceiling(transfer.byte_count * SIXTEENTHS / memory.bandwidth)
            self.booked[port] = end
        through = ceiling(Fraction(end, SIXTEENTHS))
        if transfer.hop == 1:
            assert transfer.through is not None
            through = max(through, transfer.through + self.memories[transfer.hops[0]].latency)
            kind = "drain" if transfer.drain else "fill"
            self.completions[through].append((f"{kind} through", transfer))
            self.completions[through + memory.latency].append((f"{kind} arrived", transfer))
            return None
        transfer.hop, transfer.through = 1, through
        return ceiling(Fraction(start, SIXTEENTHS)) + memory.latency


def ceiling(value: Fraction) -> int:
    return -(-value.numerator // value.denominator)


def run(problem: Problem, reading: Reading | None = None) -> Result:
    """Play a problem by the rules; the end is the last drain's arrival (or the last block's end, if nothing drains)."""
    reading = reading or Reading()
    plan = Plan(problem)
    machine = Run(plan, reading)
    readerless = plan.readerless
    machine.run()
    macs = sum(block.macs for block in plan.blocks)
    return Result(machine.end, plan.traffic, macs, sorted(machine.log), readerless)
