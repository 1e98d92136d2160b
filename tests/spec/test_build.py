"""Does a mapping that cannot be held say what is missing, and is a split reduction without anything that sums refused?"""

import re
from dataclasses import replace

import pytest

from accelsim.errors import DoesNotFit, SpecError
from accelsim.spec.case import Case
from accelsim.spec.chip import Chip, Port
from accelsim.spec.operator import Operator

from ..helpers import TRANSFERS, array, chip, entry, from_files, gemm, level, link, make

ALL = "levels: [{level: DRAM, loops: [{k: 1}]}, {level: SRAM, loops: [{m: 64}, {n: 64}, {k: 64}]}]"


def misfit(on: Chip, what: Operator, *entries: object) -> str:
    with pytest.raises(DoesNotFit) as caught:
        make(on, what, *entries)  # type: ignore[arg-type]
    assert caught.value.exit_code == 3
    return str(caught.value)


def test_a_tile_that_does_not_fit_says_all_that_is_needed_to_mend_it() -> None:
    with pytest.raises(DoesNotFit) as caught:
        from_files("toy", "gemm:m=64,n=64,k=64", ALL)
    fault, = caught.value.faults
    assert caught.value.exit_code == 3
    assert fault.line == 1
    assert fault.path == "levels.SRAM.loops"
    # three tensors of 64 x 64 fp32, two slots each
    assert "SRAM: the tiles need 98,304 B, 65,536 B available" in fault.message
    assert "A 32.0 KiB (2 x 16.0 KiB), B 32.0 KiB (2 x 16.0 KiB), C 32.0 KiB (2 x 16.0 KiB)" in fault.message
    assert "shrink a factor of k or m at or inside SRAM by 1.50 x" in fault.message


def test_one_byte_decides() -> None:
    small = chip([level("DRAM"), level("L1", capacity_bytes=3 * 2 * 16)])
    tight = chip([level("DRAM"), level("L1", capacity_bytes=3 * 2 * 16 - 1)])
    entries = (entry("DRAM", "m* n* k*"), entry("L1", "m4 n4 k4"))
    case = make(small, gemm(8, 8, 8, "int8", "int8"), *entries)
    assert sum(case.slot_bytes(1, tensor) * case.slot_count(1, tensor) for tensor in case.operator.tensors) == 96
    assert "need 96 B, 95 B available" in misfit(tight, gemm(8, 8, 8, "int8", "int8"), *entries)


def test_unfinished_sums_take_the_accumulators_width() -> None:
    on = chip([level("DRAM"), level("L1", capacity_bytes=1 << 20)])

    def bytes_of(loops: str) -> int:
        case = make(on, gemm(8, 8, 8, "int8", "int32"), entry("DRAM", loops), entry("L1", "m4 n4 k4"))
        return case.slot_bytes(1, case.operator.output)
    assert bytes_of("m2 n2 k2") == 64
    whole = make(on, gemm(8, 8, 8, "int8", "int32"), entry("DRAM", "m2 n2"), entry("L1", "m4 n4 k8"), entry("PE", "k1"))
    assert whole.slot_bytes(1, whole.operator.output) in {16, 64}


def test_slots_are_given_in_whole_banks() -> None:
    on = chip([level("DRAM"), level("L1", capacity_bytes=1024, banks=8)])
    entries = (entry("DRAM", "m* n* k*"), entry("L1", "m4 n4 k4"))
    case = make(on, gemm(8, 8, 8, "int8", "int8"), *entries)
    assert {case.slot_bytes(1, tensor) for tensor in case.operator.tensors} == {128}
    tight = chip([level("DRAM"), level("L1", capacity_bytes=640, banks=5)])
    assert "need 768 B, 640 B available: A 256 B (2 x 128 B)" in misfit(tight, gemm(8, 8, 8, "int8", "int8"), *entries)


def test_a_home_must_hold_the_whole_tensor() -> None:
    on = chip([level("DRAM", capacity_bytes=191), level("L1")])
    said = misfit(on, gemm(8, 8, 8, "int8", "int8"), entry("DRAM", "m* n* k*"), entry("L1", "m4 n4 k4"))
    assert "DRAM is the home of A and must hold all of it" in said
    make(chip([level("DRAM", capacity_bytes=192), level("L1")]), gemm(8, 8, 8, "int8", "int8"), entry("DRAM", "m* n* k*"))


def test_registers_hold_so_many_words() -> None:
    on = chip([level("DRAM"), level("L1")], array((("x", 4), ("y", 4)), registers=1))
    make(on, gemm(8, 8, 8), entry("DRAM", "m* n* k*"), entry("PE", "m8", "B", x="n4", y="k4"))
    said = misfit(on, gemm(8, 8, 8), entry("DRAM", "m* n* k*"), entry("PE", "n2 m8", "B", x="n4", y="k4"))
    assert "PE: B needs 32 stationary words, 16 available; shrink a factor of k or n by 2" in said


def split(**outer: object) -> tuple[Chip, Case | SpecError]:
    links = (link("DRAM", "L1", reduce=True),) if outer.pop("reduces", False) else ()
    on = chip([level("DRAM", **outer), level("L1", fanout=(("x", 4),))], links=links)  # type: ignore[arg-type]
    try:
        return on, make(on, gemm(8, 8, 8), entry("DRAM", "m8 n8", x="k4"), entry("L1", "k2"))
    except SpecError as error:
        return on, error


def test_a_reduction_split_over_instances_needs_something_that_sums() -> None:
    _, refused = split()
    assert isinstance(refused, SpecError)
    assert refused.exit_code == 2
    assert ("the reduction k is split over instances of L1, but no link from DRAM to L1 reduces and DRAM does not "
            "accumulate; give the link `reduce: true` or the memory `accumulate: true`") in str(refused)
    assert isinstance(split(accumulate=True)[1], Case)
    assert isinstance(split(reduces=True)[1], Case)


def test_an_output_inside_the_split_has_nowhere_to_be_summed() -> None:
    on = chip([level("DRAM", accumulate=True), level("L1", fanout=(("x", 4),))])
    with pytest.raises(SpecError, match="C lives only inside them; bind it at an outer memory too"):
        make(on, gemm(8, 8, 8), entry("DRAM", "m8 n8", "A B", x="k4"), entry("L1", "k2"))


def test_pes_may_share_a_reduction() -> None:
    make(chip([level("DRAM"), level("L1")], array((("x", 4),))), gemm(8, 8, 8), entry("DRAM", "m8 n8 k2"),
         entry("PE", "", x="k4"))


def test_a_port_must_serve_what_the_mapping_needs() -> None:
    blind = level("L1", ports=(Port("fills", None, TRANSFERS, None),))
    with pytest.raises(SpecError, match="memory L1 has no port that serves array_read of A; add it to a port's `serves`"):
        make(chip([level("DRAM"), blind]), gemm(8, 8, 8), entry("DRAM", "m* n* k*"))


def test_every_fault_of_a_mapping_is_told_at_once() -> None:
    text = ("levels: [{level: DRAM, binding: [A, B, X], loops: [{q: 2}]}, "
            "{level: SRAM, buffers: {Y: 1}, loops: [{m: 2}], spatial: {z: [{m: 2}]}}]")
    with pytest.raises(SpecError) as caught:
        from_files("toy", "gemm:m=4,n=4,k=4", text)
    said = str(caught.value)
    assert len(caught.value.faults) >= 3
    for part in ("no tensor named 'X'", "'q' is no dimension", "no axis 'z'"):
        assert part in said
    assert all(re.search(r"mapping\.yaml:1:\d+: levels", str(fault)) for fault in caught.value.faults)


def test_a_case_is_frozen() -> None:
    case = make(chip([level("DRAM"), level("L1")]), gemm(2, 2, 2), entry("DRAM", "m* n* k*"))
    with pytest.raises(AttributeError):
        case.chip = replace(case.chip, name="other")  # type: ignore[misc]
