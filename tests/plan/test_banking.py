"""What arrays and transfers touch in banks: as many words as the plan says bytes move, and each where its layout puts it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import HealthCheck, assume, given, settings

from accelsim.kernels.columns import BLOCK_KIND, BLOCK_OPERANDS, BLOCK_STEP, STAY_FILL, STAY_FIRST
from accelsim.plan.banking import BankAccess
from accelsim.plan.schedule import Schedule
from accelsim.plan.streams import singly
from accelsim.spec.banks import Banks, Ports
from accelsim.spec.case import Case
from accelsim.timeline import TICKS

from ..helpers import array, brief, chip, entry, gemm, level, make, systolic
from ..machine.bank_cases import with_banks
from ..properties.strategies import MOST_STEPS, cases, steps_of

SLOW = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large]
BYTES = Banks(1, 1, Ports(both=1))


@settings(max_examples=150, deadline=None, suppress_health_check=SLOW)
@given(cases())
def test_an_array_touches_the_bytes_of_its_traffic(case: Case) -> None:
    """Of blocks, words of one byte and one bank: reads and writes are the bytes that the ports move, block by block."""
    assume(steps_of(case) <= MOST_STEPS)
    made = with_banks(case, [BYTES])
    assume(made is not None)
    assert made is not None
    schedule = Schedule(made)
    access = BankAccess(made, schedule.units[made.array_entry][0])
    stream = schedule.blocks(0)
    while len(rows := stream.rows()):
        for row in rows.tolist():
            work = schedule.works[row[BLOCK_KIND]]
            codes = access.block(row[BLOCK_STEP], row[BLOCK_OPERANDS:], work.hold)[:, 1]
            assert np.count_nonzero(codes & 1 == 0) == sum(work.reads), brief(made)
            assert np.count_nonzero(codes & 1) == sum(work.writes), brief(made)


@settings(max_examples=200, deadline=None, suppress_health_check=SLOW)
@given(cases())
def test_registers_take_the_bytes_of_their_loads(case: Case) -> None:
    """Words of one byte and one bank, load by load: each word once an array, and of a window what is new."""
    made = with_banks(case, [BYTES])
    assume(made is not None and steps_of(case) <= MOST_STEPS)
    assert made is not None
    for tensor in made.operator.tensors:
        path = made.paths[tensor.name]
        if made.array_entry not in path[1:]:
            continue
        schedule = Schedule(made)
        access = BankAccess(made, schedule.units[made.array_entry][0])
        held = access.held[path[-2], tensor.name]
        loads = schedule.loads(made.array_entry, tensor.name)
        for row in singly(schedule.stays(made.array_entry, tensor.name, 0)):
            load = loads[row[STAY_FILL]]
            if load is not None:
                words = access.registers(held, row[STAY_FIRST], 0, 64 * TICKS, (0, 1), write=False)
                assert len(words) == load.inner_bytes(1), brief(made)


def test_an_operation_touches_what_it_needs_in_its_cycle() -> None:
    """Two by two PEs, k and n: a row of A, a block of B and of C's sums, and those again when they are written, a cycle later."""
    on = chip([level("SRAM")], array((("x", 2), ("y", 2)), depth_cycles=1))
    case = with_banks(make(on, gemm(2, 2, 4), entry("SRAM", "m2 k2"), entry("PE", "", x="n2", y="k2")),
                      [Banks(64, 4, Ports(both=1))])
    assert case is not None
    access = BankAccess(case, Schedule(case).units[1][0])
    touched: dict[int, set[tuple[int, int]]] = {}
    for cycle, code in access.block(0, [0, 0, 0], 4).tolist():
        touched.setdefault(cycle, set()).add((code >> 1, code & 1))
    # A has words 0-7, B 8-15, C 16-19; the operations are m0 k0, m0 k2, m1 k0, m1 k2
    reads = [{0, 1, 8, 9, 10, 11}, {2, 3, 12, 13, 14, 15, 16, 17}, {4, 5, 8, 9, 10, 11}, {6, 7, 12, 13, 14, 15, 18, 19}, set()]
    writes = [set(), {16, 17}, {16, 17}, {18, 19}, {18, 19}]
    assert touched == {cycle: {(word, 0) for word in reads[cycle]} | {(word, 1) for word in writes[cycle]} for cycle in range(5)}


def test_registers_fill_row_by_row_in_the_time_they_take() -> None:
    """Four rows of four words, from the tile's place in its slot: a row a cycle in four, half of one in eight."""
    on = chip([level("SRAM")], systolic(4, 4))
    case = with_banks(make(on, gemm(8, 8, 4), entry("SRAM", "n2"), entry("PE", "m8", "B", x="n4", y="k4")),
                      [Banks(64, 4, Ports(both=1))])
    assert case is not None
    unit = Schedule(case).units[1][0]
    first = 8 * 4  # behind A

    def told(access: BankAccess, step: int, cycles: int, piece: tuple[int, int]) -> list[list[int]]:
        return access.registers(access.held[0, "B"], step, 0, cycles * TICKS, piece, write=False).tolist()

    for step, cycles in ((0, 4), (0, 8), (1, 4)):
        assert told(BankAccess(case, unit), step, cycles, (0, 1)) == [
            [(4 * row + column) * cycles // 16, 2 * (first + 8 * row + 4 * step + column)]
            for row in range(4) for column in range(4)]
    once = BankAccess(case, unit)
    assert [told(once, 0, 2, (piece, 2)) for piece in (0, 1)] == [
        [[row, 2 * (first + 8 * (row + 2 * piece) + column)] for row in range(2) for column in range(4)] for piece in (0, 1)]
    assert told(once, 0, 4, (0, 1)) == [], "what is there is not read again"
    assert len(told(once, 1, 4, (0, 1))) == 16


def test_a_transfer_moves_its_words_evenly() -> None:
    case = with_banks(make(chip([level("DRAM"), level("SRAM")]), gemm(1, 1, 16), entry("DRAM", "k2"), entry("SRAM", "k8")),
                      [Banks(1, 4, Ports(both=1)), Banks(4, 4, Ports(both=1))])
    assert case is not None
    access = BankAccess(case, Schedule(case).units[2][0])
    held = access.held[1, "A"]
    # its second slot is behind the first: words 8 to 15
    assert access.words(held, 3, 32, (0, 1), 100, 16 * TICKS, write=True).tolist() == [
        [100 + 2 * word, 2 * (word % 4) + 1] for word in range(8)]
    assert access.words(held, 0, 10, (0, 1), 5, 0, write=False).tolist() == [[5, 0], [5, 2], [5, 4]], "in no time: all banks"
    assert access.words(held, 0, 32, (1, 4), 7, TICKS, write=False).tolist() == [[7, 4], [7, 6]], "the second of four pieces"


def test_slots_are_told_apart_and_start_with_a_word() -> None:
    case = with_banks(make(chip([level("DRAM"), level("SRAM")]), gemm(3, 1, 2, "int8", "int32"), entry("DRAM", ""),
                           entry("SRAM", "m3 k2")), [Banks(1, 4, Ports(both=1)), Banks(8, 4, Ports(both=1))])
    assert case is not None
    access = BankAccess(case, Schedule(case).units[2][0])
    told = {name: (held.first_word, held.slot_words, held.slots) for (_, name), held in access.held.items()}
    assert told == {"A": (0, 2, 2), "B": (4, 1, 2), "C": (6, 3, 2)}
    assert replace(access.held[1, "A"], slots=1).codes(np.array([0, 1]), 5, write=False).tolist() == [0, 2]
