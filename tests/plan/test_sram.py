"""What a mapping asks of a memory: against the estimate's traffic, the machine's cycles, and hardware's controllers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from functools import partial
from itertools import islice, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accelsim.analytic.auto import write
from accelsim.analytic.estimate import estimate
from accelsim.compare import scalesim
from accelsim.errors import DoesNotFit, SpecError
from accelsim.machine.sram import replay
from accelsim.plan.demands import Asker, Demand, served
from accelsim.plan.edges import Tile
from accelsim.plan.linetrace import beyond, line_trace
from accelsim.plan.passes import passes, positions, together
from accelsim.plan.tileaccess import tile_access
from accelsim.spec.banks import Arbitration, Banks, Layout, LayoutKind, Ports, parse_layout, parse_ports
from accelsim.spec.case import Case
from accelsim.spec.chip import Memory
from accelsim.spec.operator import Role, Tensor
from accelsim.spec.read import read
from accelsim.spec.sram import Edge
from accelsim.spec.sramtrace import Accesses

from ..helpers import chip, entry, gemm, level, make, operator, run, systolic
from ..properties.strategies import cases
from ..sram_brute import replayed

ROW = {"": Layout(LayoutKind.ROW)}
ONE = Banks(4, 1, Ports(both=1))


def memories(case: Case) -> Iterator[tuple[int, Memory]]:
    """The memories that the array takes from or gives to."""
    for number, one in enumerate(case.chip.levels):
        for memory in one.memories:
            if served(case, number, memory):
                yield number, memory


def each(asked: Demand) -> Iterator[tuple[int, int]]:
    """(cycle, place) of each element asked for."""
    cycles = np.broadcast_to(asked.cycles, asked.places.shape).ravel().tolist()
    return ((cycle, place) for cycle, place in zip(cycles, asked.places.ravel().tolist(), strict=True) if place >= 0)


def demands(case: Case, number: int, tensor: Tensor, edge: Edge = Edge.REGISTERS) -> Iterator[Demand]:
    """All that the array asks for of a tensor, by its place in the whole of it."""
    origin = [0] * len(case.nest.lines)
    asker = Asker(case, number, tensor, Tile(case, number, tensor, origin, whole=True), edge)
    for group in together(passes(case, 0, origin), 7):
        yield from asker.of(group)


def folded(dataflow: str, rows: int, columns: int, m: int, n: int, k: int, buffers: int) -> Case:
    """Folds of a GEMM on a systolic array straight from an unlimited memory."""
    on = chip([level("DRAM")], systolic(rows, columns, buffers=buffers, results=Fraction(4 * columns)))
    return make(on, gemm(m, n, k, "int8", "int32"), *scalesim.folded(dataflow, rows, columns))


sizes = st.integers(1, 9)
shapes = st.tuples(st.sampled_from(["ws", "os", "is"]), st.integers(1, 4), st.integers(1, 4), sizes, sizes, sizes,
                   st.sampled_from([1, 2]))


# -- how much ---------------------------------------------------------------------------------------------------------


@settings(max_examples=200, deadline=None)
@given(cases())
def test_as_much_is_asked_for_as_the_estimate_has_it(case: Case) -> None:
    """Bytes through the feeding memory's array ports, by the closed form, which shares no arithmetic with this."""
    moved = estimate(case).traffic
    for number, memory in memories(case):
        for tensor in served(case, number, memory):
            counted = Counter[bool]()
            for one in demands(case, number, tensor):
                counted[one.write] += int((one.places >= 0).sum())
            bits = case.held_type(number, tensor).bits
            told = moved[number, tensor.name]
            assert (counted[False] * bits // 8, counted[True] * bits // 8) == (told.array_read_bytes, told.array_write_bytes)


@pytest.mark.parametrize(("name", "what", "dataflow"), [
    ("gemmini", "conv2d:k=20,c=18,p=14,q=13,r=3,s=3,padding=1,dtype=int8", "weight-stationary"),
    ("gemmini", "conv2d:k=20,c=18,p=7,q=7,r=3,s=3,padding=1,stride=2,dtype=int8", "output-stationary"),
    ("tpu-v1", "conv2d:k=20,c=18,p=14,q=13,r=3,s=3,padding=1,dtype=int8", "weight-stationary"),
    ("nvdla-small", "gemm:m=70,n=50,k=90,dtype=int8", "auto"),
])
def test_as_much_is_asked_for_on_shipped_chips(name: str, what: str, dataflow: str) -> None:
    """Reductions folded over rows of an array as flattened lists, padding, strides, edges that do not divide."""
    case = read(name, what, choose=partial(write, dataflow)).cases[0]
    assert isinstance(case, Case)
    moved = estimate(case).traffic
    for number, memory in memories(case):
        for tensor in served(case, number, memory):
            counted = Counter[bool]()
            for one in demands(case, number, tensor):
                counted[one.write] += int((one.places >= 0).sum())
            if case.feeding(tensor.name) == case.array_entry:
                told = moved[case.array_entry, tensor.name]
                assert (counted[False], counted[True]) == (told.fill_elements + told.refill_elements, told.drain_elements)
            else:
                told, size = moved[number, tensor.name], case.held_type(number, tensor).bits // 8
                assert (counted[False] * size, counted[True] * size) == (told.array_read_bytes, told.array_write_bytes)


@settings(max_examples=150, deadline=None)
@given(shapes)
def test_as_much_is_asked_for_by_a_systolic_array(shape: tuple[str, int, int, int, int, int, int]) -> None:
    """Streams by the closed form; stationary words are those that fill the array's registers, or leave them."""
    case = folded(*shape)
    moved = estimate(case).traffic
    for tensor in case.operator.tensors:
        counted = Counter[bool]()
        for one in demands(case, 0, tensor):
            counted[one.write] += int((one.places >= 0).sum())
        stationary = case.feeding(tensor.name) == 1
        if stationary:
            told = moved[1, tensor.name]
            assert counted == Counter({False: told.fill_elements + told.refill_elements, True: told.drain_elements}) | Counter()
        else:
            told, size = moved[0, tensor.name], case.held_type(0, tensor).bits // 8
            assert (counted[False] * size, counted[True] * size) == (told.array_read_bytes, told.array_write_bytes)


@settings(max_examples=100, deadline=None)
@given(cases())
def test_every_step_fills_what_is_new(case: Case) -> None:
    """What the DMA brings for the next step, over all steps, and the first tiles make up the estimate's fills."""
    moved = estimate(case).traffic
    for number, memory in memories(case):
        for tensor in case.operator.tensors:
            path = case.paths[tensor.name]
            if tensor.role is Role.OUTPUT or number not in path[1:] or case.memory(number, tensor) is not memory:
                continue
            tiles = [Tile(case, number, tensor, at, whole=False)
                     for at in positions(case, case.nest.temporal_above(number), [0] * len(case.nest.lines))]
            found = tiles[0].elements + sum(len(tile.without(held)) for held, tile in pairwise(tiles))
            assert found == moved[number, tensor.name].fill_elements


# -- when -------------------------------------------------------------------------------------------------------------


@settings(max_examples=150, deadline=None)
@given(shapes)
def test_the_array_alone_takes_what_the_machine_says(shape: tuple[str, int, int, int, int, int, int]) -> None:
    """With an unlimited memory a run is nothing but rule 4, which the hardware in `validation/rtl` obeys to the clock."""
    case = folded(*shape)
    latency = case.chip.array.skew_cycles
    assert max(one.end(latency) for one in passes(case, 0, [0] * len(case.nest.lines))) == run(case).cycles


def controller(folds: int, rows: int, length: int, columns: int, *, double: bool) -> list[tuple[int, str, int, int]]:
    """(clock, weights or inputs, fold, row) of every read: the loader and the streamer of `validation/rtl`, clock by clock."""
    found = []
    loaded = load_row = begun = row = drained = 0
    pipe = [False] * (rows + columns - 1)
    clock = 0
    while begun < folds or row or any(pipe) or drained < folds:
        drains = pipe[-1]
        streaming = row > 0 or (begun < folds and loaded > begun)
        begins = streaming and row == 0
        room = begun + begins if double else drained + drains
        loading = loaded < folds and (load_row > 0 or loaded <= room)
        if loading:
            found.append((clock, "weights", loaded, load_row))
        if streaming:
            found.append((clock, "inputs", begun if begins else begun - 1, row))
        pipe = [streaming and row == length - 1, *pipe[:-1]]
        drained += drains
        if loading:
            load_row, loaded = (0, loaded + 1) if load_row == rows - 1 else (load_row + 1, loaded)
        begun += begins
        if streaming:
            row = 0 if row == length - 1 else row + 1
        clock += 1
    return found


@pytest.mark.parametrize("double", [False, True])
@pytest.mark.parametrize(("rows", "columns", "m", "folds"), [(4, 3, 5, 1), (4, 3, 5, 4), (3, 4, 2, 5), (2, 2, 1, 6),
                                                              (5, 1, 9, 3)])
def test_each_word_is_read_when_hardware_reads_it(rows: int, columns: int, m: int, folds: int, *, double: bool) -> None:
    """A row of weights a clock into the array, then a row of operands a clock, fold after fold."""
    case = folded("ws", rows, columns, m, columns, rows * folds, 2 if double else 1)
    asked: dict[str, dict[int, list[int]]] = {"A": {}, "B": {}}
    for tensor in case.operator.tensors:
        if tensor.name in asked:
            for one in demands(case, 0, tensor):
                for cycle, place in each(one):
                    asked[tensor.name].setdefault(cycle, []).append(place)
    told: dict[str, dict[int, list[int]]] = {"A": {}, "B": {}}
    for clock, what, fold, row in controller(folds, rows, m, columns, double=double):
        if what == "weights":
            told["B"][clock] = [(fold * rows + row) * columns + c for c in range(columns)]
        else:
            told["A"][clock] = [row * rows * folds + fold * rows + r for r in range(rows)]
    assert asked == told


def by_cycle(case: Case, tensor: str, edge: Edge) -> dict[tuple[int, bool], set[int]]:
    found: dict[tuple[int, bool], set[int]] = {}
    for one in demands(case, 0, case.operator.tensor(tensor), edge):
        for cycle, place in each(one):
            found.setdefault((cycle, one.write), set()).add(place)
    return found


def test_a_skewed_edge_by_hand() -> None:
    """2 x 3 weights, two rows of operands, 2 cycles of preload: operand k of row m enters at 2 + m + k; result n of row m leaves
    its column at 2 + m + 1 + n, and with registers behind the columns when the last one has, at 2 + m + 3.
    """
    case = folded("ws", 2, 3, 2, 3, 2, 1)
    assert by_cycle(case, "A", Edge.SKEWED) == {(2, False): {0}, (3, False): {1, 2}, (4, False): {3}}
    assert by_cycle(case, "A", Edge.REGISTERS) == {(2, False): {0, 1}, (3, False): {2, 3}}
    assert by_cycle(case, "C", Edge.SKEWED) == {(3, True): {0}, (4, True): {1, 3}, (5, True): {2, 4}, (6, True): {5}}
    assert by_cycle(case, "C", Edge.REGISTERS) == {(5, True): {0, 1, 2}, (6, True): {3, 4, 5}}


def test_a_skewed_output_stationary_edge_by_hand() -> None:
    """2 x 3 sums, a reduction of 2: row m takes A[m, k] at k + m, column n takes B[k, n] at k + n; the sums leave row by row
    once the last is made, at 2 + 2 + 3 - 2.
    """
    case = folded("os", 2, 3, 2, 3, 2, 1)
    assert by_cycle(case, "A", Edge.SKEWED) == {(0, False): {0}, (1, False): {1, 2}, (2, False): {3}}
    assert by_cycle(case, "B", Edge.SKEWED) == {(0, False): {0}, (1, False): {1, 3}, (2, False): {2, 4}, (3, False): {5}}
    assert by_cycle(case, "B", Edge.REGISTERS) == {(0, False): {0, 1, 2}, (1, False): {3, 4, 5}}
    assert by_cycle(case, "C", Edge.SKEWED) == {(5, True): {0, 1, 2}, (6, True): {3, 4, 5}}


def test_partial_sums_are_read_where_there_are_any() -> None:
    """Two folds of the reduction: the second reads what the first wrote, unless the memory adds."""
    case = folded("ws", 2, 2, 3, 2, 4, 2)
    assert sum(len(own) for (_, write), own in by_cycle(case, "C", Edge.REGISTERS).items() if not write) == 6
    assert sum(len(own) for (_, write), own in by_cycle(case, "C", Edge.REGISTERS).items() if write) == 12


# -- where ------------------------------------------------------------------------------------------------------------


def tiled() -> Case:
    """16 x 16 x 16 in tiles of 8 x 8 x 8 on a 4 x 4 weight-stationary array; int8, sums of 32 bit."""
    on = chip([level("DRAM", 4), level("SRAM", capacity_bytes=4096)], systolic(4, 4, buffers=2))
    return make(on, gemm(16, 16, 16, "int8", "int32"), entry("DRAM", "m2 n2 k2", "A B C"), entry("SRAM", "n2 k2", "A B C"),
                entry("PE", "m8", "B", x="n4", y="k4"))


def words(trace: Accesses) -> list[tuple[int, int, bool]]:
    """(cycle, word, writes) of a requester, each vector at its earliest."""
    starts = np.cumsum(trace.gaps)[trace.vectors]
    return list(zip(starts.tolist(), trace.words.tolist(), trace.writes.tolist(), strict=True))


def test_a_tile_by_hand() -> None:
    """Slots: A at 0 and 64, B at 128 and 192, C (4 B an element) at 256 and 512; words of 1 B, so an address is a word."""
    case = tiled()
    _, memory = list(memories(case))[-1]
    found = tile_access(case, 1, memory, ONE, ROW, step=1)
    assert [(one.tensor.name, one.first_word, one.slot_words, one.slots) for one in found.places] == [
        ("A", 0, 64, 2), ("B", 128, 64, 2), ("C", 256, 256, 2)]
    assert (found.step, found.passes, found.all_passes) == (1, 4, 4)
    array, fill = found.requesters
    asked = words(array)
    # weights of the first pass: row k of the tile's first four columns in cycle k
    assert {(cycle, word) for cycle, word, _ in asked if 128 <= word < 192 and cycle < 4} == {
        (k, 128 + 8 * k + n) for k in range(4) for n in range(4)}
    # operands: row m of four, from cycle 4 on
    assert {(cycle, word) for cycle, word, _ in asked if word < 64 and cycle < 12} == {
        (4 + m, 8 * m + k) for m in range(8) for k in range(4)}
    # step 1 is the second half of the reduction: its first pass finds sums there too; results come 6 cycles later
    sums = {(cycle, word) for cycle, word, write in asked if word >= 256 and not write and cycle < 12}
    assert sums == {(4 + m, 256 + 4 * (8 * m + n) + byte) for m in range(8) for n in range(4) for byte in range(4)}
    assert min(cycle for cycle, _, write in asked if write) == 4 + 4 + 4 - 2
    assert (found.read["A"], found.read["B"], found.written["C"]) == (8 * 4 * 4, 64, 8 * 4 * 4)
    # the next step's tiles go to the second slots, 4 B a cycle: element i of A (m 0-7, k 0-7 once more), then of B
    assert {word for _, word, _ in words(fill)} == set(range(64, 64 + len({w for _, w, _ in words(fill) if w < 128}))) | {
        w for _, w, _ in words(fill) if w >= 192}
    assert all(write for _, _, write in words(fill))
    for place, (cycle, word, _) in enumerate(sorted(one for one in words(fill) if one[1] < 128)):
        assert (cycle, word) == (place // 4, 64 + place)


def test_an_output_tile_leaves_while_the_next_is_made() -> None:
    case = tiled()
    _, memory = list(memories(case))[-1]
    names = [[one.name for one in tile_access(case, 1, memory, ONE, ROW, step=step).requesters] for step in range(3)]
    assert names == [["array", "fill"], ["array", "fill"], ["array", "fill", "drain"]]
    drain = tile_access(case, 1, memory, ONE, ROW, step=2).requesters[-1]
    assert {word for _, word, _ in words(drain)} <= set(range(512, 768))
    assert not drain.writes.any()


def test_what_cannot_be() -> None:
    case = tiled()
    _, memory = list(memories(case))[-1]
    with pytest.raises(SpecError, match="has no step 8"):
        tile_access(case, 1, memory, ONE, ROW, step=8)
    with pytest.raises(SpecError, match="serves no writes"):
        tile_access(case, 1, memory, Banks(4, 1, Ports(reads=2)), ROW)
    with pytest.raises(DoesNotFit, match="of 4,096 B"):
        tile_access(case, 1, memory, Banks(4, 64, Ports(both=1)), {"": Layout(LayoutKind.PADDED, pad_words=1)})
    straight = folded("ws", 2, 2, 2, 2, 2, 1)
    with pytest.raises(SpecError, match="is the home of A"):
        beyond(straight, 0, straight.chip.levels[0].memories[0])


@pytest.mark.parametrize("layout", ["row", "column", "swizzled", "padded:1", "blocked:4x4"])
@pytest.mark.parametrize(("ports", "arbitration"), [("1RW", Arbitration.ROUND_ROBIN), ("1R1W", Arbitration.ARRAY_FIRST),
                                                    ("2RW", Arbitration.DMA_FIRST)])
def test_a_tile_on_its_banks(layout: str, ports: str, arbitration: Arbitration) -> None:
    """A whole tile with its DMA, cycle by cycle from the rules."""
    case = tiled()
    _, memory = list(memories(case))[-1]
    banks = Banks(8, 2, parse_ports(ports), 1, arbitration)
    requesters = tile_access(case, 1, memory, banks, {"": parse_layout(layout)}, step=2).requesters
    assert [one.name for one in requesters] == (["fill", "drain", "array"] if arbitration is Arbitration.DMA_FIRST else
                                                ["array", "fill", "drain"])
    asked = []
    for one in requesters:
        vectors: list[tuple[int, list[tuple[int, bool]]]] = [(gap, []) for gap in one.gaps.tolist()]
        for vector, word, written in zip(one.vectors.tolist(), one.words.tolist(), one.writes.tolist(), strict=True):
            vectors[vector][1].append((word, written))
        asked.append(vectors)
    found = replay(banks, requesters)
    told = replayed(8, 1, banks.ports, asked, round_robin=arbitration is Arbitration.ROUND_ROBIN)
    assert found.cycles == told["cycles"]
    assert [[one.lost_bank, one.lost_port_kind, one.lost_contention] for one in found.requesters] == told["lost"]
    assert (found.reads.tolist(), found.writes.tolist()) == (told["reads"], told["writes"])


def test_fewer_passes_are_the_first_of_all() -> None:
    case = tiled()
    _, memory = list(memories(case))[-1]
    some = tile_access(case, 1, memory, ONE, ROW, most_passes=2).requesters[0]
    every = tile_access(case, 1, memory, ONE, ROW).requesters[0]
    assert set(words(some)) < set(words(every))


# -- lines ------------------------------------------------------------------------------------------------------------


@settings(max_examples=100, deadline=None)
@given(cases(), st.sampled_from([4, 16, 64]))
def test_every_line_of_what_is_used_is_touched(case: Case, line_bytes: int) -> None:
    """The lines of a trace are those that the used elements of its tensors lie in, each tensor from a line on."""
    for number, memory in memories(case):
        trace = line_trace(case, number, memory, line_bytes)
        first, expected = 0, set()
        for tensor, (name, count) in zip(served(case, number, memory), trace.tensors, strict=True):
            assert name == tensor.name
            bits = case.held_type(number, tensor).bits
            assert count == -(-tensor.elements * bits // (8 * line_bytes))
            used = {int(place) for one in demands(case, number, tensor) for place in one.places.ravel() if place >= 0}
            expected |= {first + place * bits // (8 * line_bytes) for place in used} | {
                first + (place * bits + bits - 1) // (8 * line_bytes) for place in used}
            first += count
        assert set(trace.accesses.words.tolist()) == expected
        assert (np.diff(trace.accesses.vectors) >= 0).all()
        assert (trace.accesses.gaps[1:] > 0).all()


def test_a_convolution_touches_its_input_alone() -> None:
    """3 x 3 over 8 x 8 with padding: 64 elements, 9 x 64 asked for less those of padding: (3 x 8 - 2)^2."""
    what = operator("conv2d", "int8", "int32", k=1, c=1, n=1, p=6, q=6, r=3, s=3)
    case = make(chip([level("DRAM"), level("SRAM")]), what, entry("DRAM", "", "I W O"),
                entry("SRAM", "k* c* n* r* s* p* q*", "I W O"))
    counted = sum(int((one.places >= 0).sum()) for one in demands(case, 1, case.operator.tensor("I")))
    assert counted == 36 * 9
    trace = line_trace(case, 1, list(memories(case))[-1][1], 8)
    assert dict(trace.tensors)["I"] == 8


def test_groups_are_the_passes() -> None:
    case = tiled()
    origin = [0] * len(case.nest.lines)
    alone = [one.position for one in passes(case, 0, origin)]
    assert [one.position for group in together(passes(case, 0, origin), 20) for one in group] == alone
    assert len(next(islice(together(passes(case, 0, origin), 20), 1))) == 3
