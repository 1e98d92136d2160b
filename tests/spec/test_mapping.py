"""Is a mapping obeyed as written, printed so that it reads back to the same, and is every fault of it placed?"""

from pathlib import Path

import pytest
from hypothesis import given, settings

from accelsim.analytic.auto import choose
from accelsim.errors import DoesNotFit, SpecError
from accelsim.spec.build import make_case
from accelsim.spec.case import Case
from accelsim.spec.mapping import Loop, Mapping, MappingLevel
from accelsim.spec.mappingfile import MappingFile, to_mapping
from accelsim.spec.read import Unmapped, read, read_chip, read_workload, shipped
from accelsim.spec.yamlfile import read_yaml

from ..helpers import array, chip, entry, from_files, gemm, level, make, operator
from ..properties.strategies import wide_cases

INLINE = ["gemm:m=24,n=20,k=36,dtype={}", "conv2d:k=20,c=6,p=9,q=9,r=3,s=3,padding=1,dtype={}",
          "depthwise2d:c=12,p=8,q=8,r=3,s=3,dtype={}", "gemv:n=40,k=30,dtype={}"]
DTYPES = {"eyeriss": "int16,accumulator=int16", "tpu-v3": "bf16", "toy": "fp32", "toy3": "fp32"}


def parsed(text: str) -> Mapping:
    levels = MappingFile.model_validate(read_yaml(text, "m.yaml").value).levels
    assert levels is not None
    return to_mapping(levels, "")


def assert_round_trip(case: Case) -> None:
    text = case.mapping.to_yaml()
    again = make_case(case.chip, case.operator, parsed(text))
    assert again.mapping.to_yaml() == text
    assert again.nest == case.nest
    assert again.paths == case.paths
    assert again.slots == case.slots


@pytest.mark.parametrize("name", shipped("chips"))
@pytest.mark.parametrize("workload", INLINE, ids=[text.split(":")[0] for text in INLINE])
def test_a_resolved_mapping_reads_back_to_itself(name: str, workload: str) -> None:
    on = read_chip(name)
    what, = read_workload(workload.format(DTYPES.get(name, "int8"))).operators
    assert_round_trip(make_case(on, what, choose(on, what)))


@settings(max_examples=60, deadline=None)
@given(wide_cases())
def test_any_mapping_reads_back_to_itself(case: Case) -> None:
    assert_round_trip(case)


def test_names_that_yaml_would_read_as_something_else() -> None:
    case = make(chip([level("null"), level("true")], array((("false", 4),))), gemm(4, 4, 4), entry("null", "m*", "A B C"),
                entry("true", "n* k*"), MappingLevel("PE", (), (("false", (Loop(("m",), 2),)),)))
    assert_round_trip(case)


def test_flattened_lists_read_back_to_themselves() -> None:
    what = operator("conv2d", "int8", "int32", k=8, c=4, p=3, q=3, r=3, s=3)
    assert_round_trip(make(chip([level("DRAM"), level("L1")], array((("x", 8), ("y", 12)))), what,
                           entry("DRAM", "p3 q3"), entry("L1", "c,r,s:*"), entry("PE", "", "W", x="k8", y="c,r,s:12")))


# -- the star ---------------------------------------------------------------------------------------------------------


def faults(*entries: MappingLevel, dims: tuple[int, int, int] = (7, 5, 9)) -> str:
    with pytest.raises(SpecError) as caught:
        make(chip([level("DRAM"), level("L1")], array((("x", 4), ("y", 4)))), gemm(*dims), *entries)
    return str(caught.value)


def bounds(*entries: MappingLevel, dims: tuple[int, int, int] = (7, 5, 9)) -> list[tuple[str, int | None]]:
    case = make(chip([level("DRAM"), level("L1")], array((("x", 4), ("y", 4)))), gemm(*dims), *entries)
    return [(loop.dims[0], loop.bound) for one in case.mapping.levels
            for loop in (*one.loops, *(inner for _, loops in one.spatial for inner in loops))]


def test_the_star_is_what_is_left_rounded_up() -> None:
    assert bounds(entry("DRAM", "m* n2 k*"), entry("L1", "m3 n* k4")) == [
        ("m", 3), ("n", 2), ("k", 3), ("m", 3), ("n", 3), ("k", 4)]
    assert ("m", 2) in bounds(entry("DRAM", "m* n* k*"), entry("PE", "", x="m4"))
    assert bounds(entry("DRAM", "m9 m* n5 k9"))[1] == ("m", 1)


def test_the_star_stands_once_for_a_dimension() -> None:
    assert "\"*\" stands twice for m; allowed: once per dimension" in faults(entry("DRAM", "m* n* k*"), entry("L1", "m*"))


def test_a_dimension_must_be_covered() -> None:
    said = faults(entry("DRAM", "m3 k9"), entry("L1", "m2"))
    assert "the bounds of m cover 6 of 7; the product of all bounds must cover the extent" in said
    assert "no loop over n (extent 5)" in said
    assert 'add {n: "*"} where the rest should run' in said
    assert bounds(entry("DRAM", "m4 n5 k9"), entry("L1", "m2"))


@pytest.mark.parametrize(("text", "said"), [
    ("{m: 0}", "bound 0 of m"), ("{m: -1}", "bound -1 of m"), ("{m: 2.5}", "bound 2.5 of m"), ('{m: "2"}', "bound '2' of m"),
    ("{m: true}", "bound True of m"), ("{m: 2, n: 2}", "a loop is one dimension and its bound"), ("m", "a loop is one"),
    ("{m: *}", "star in quotes"), ("{[m, q]: 2}", "'q' is no dimension"), ("{[m, m]: 2}", "stands twice in the flattened"),
    ("{mm: 2}", "did you mean 'm'"),
])
def test_what_is_no_loop(tmp_path: Path, text: str, said: str) -> None:
    assert said in file_faults(tmp_path, f"levels:\n  - level: DRAM\n    loops: [{text}, {{n: 4}}, {{k: 4}}, {{m: \"*\"}}]\n")


def file_faults(tmp_path: Path, text: str, on: str = "toy", workload: str = "gemm:m=4,n=4,k=4") -> str:
    path = tmp_path / "mapping.yaml"
    path.write_text(text, encoding="utf-8")
    try:
        found = read(on, workload, str(path), choose=choose).cases[0]
    except SpecError as error:
        return str(error)
    assert isinstance(found, Unmapped)
    return str(found.error)


# -- flattened lists --------------------------------------------------------------------------------------------------

CONV = operator("conv2d", "int8", "int32", k=8, c=4, p=3, q=3, r=3, s=3)
WIDE = chip([level("DRAM"), level("L1")], array((("x", 8), ("y", 36))))


def flat(above: str, inside: str, *, binding: str | None = None, at_array: str = "") -> Case:
    return make(WIDE, CONV, entry("DRAM", f"k* p* q* {above}"), entry("L1", inside, binding),
                *([entry("PE", "", "W", y=at_array)] if at_array else []))


@pytest.mark.parametrize(("above", "inside", "at_array"), [
    ("c,r,s:*", "c,r,s:3", ""),        # a row of s
    ("c,r,s:*", "c,r,s:9", ""),        # a channel
    ("c,r,s:*", "c,r,s:18", ""),       # two of the four channels
    ("c,r,s:*", "c,r,s:27", ""),       # three channels, then the one that is left
    ("c,r,s:*", "", ""),               # a run of one
    ("", "c,r,s:*", "c,r,s:20"),       # 20 positions at the array: no box, but W is indexed by all three
    ("c2 c,r,s:*", "c,r,s:9", ""),     # channels cut outside
])
def test_boxes_are_legal_tiles(above: str, inside: str, at_array: str) -> None:
    case = flat(above, inside, at_array=at_array)
    assert case.operator.macs == 8 * 4 * 9 * 9


@pytest.mark.parametrize(("above", "inside", "at_array", "said"), [
    ("c,r,s:*", "c,r,s:4", "", "a run of 4 of [c, r, s] (4, 3, 3) is no box, so L1 cannot hold it as a tile"),
    ("c,r,s:*", "c,r,s:6", "", "a run of 6 of"),
    ("c,r,s:*", "r,s:3", "", "[r, s] overlaps the flattened list [c, r, s]"),
    ("c,r,s:*", "c2 c,r,s:9", "", "a loop over c stands between loops over [c, r, s]"),
    ("c3 c,r,s:*", "c,r,s:9", "", "must divide its extent 4"),
    ("c* c,r,s:*", "c,r,s:9", "", "cannot be resolved outside a flattened list"),
    ("c,r,s:2", "c,r,s:9", "", "the bounds of [c, r, s] cover 18 of 36"),
])
def test_other_runs_are_not(above: str, inside: str, at_array: str, said: str) -> None:
    with pytest.raises(SpecError) as caught:
        flat(above, inside, at_array=at_array)
    assert said in str(caught.value)


def test_a_tensor_that_windows_slide_over_cannot_be_stationary_under_a_folded_list() -> None:
    with pytest.raises(SpecError, match="I is bound under"):
        make(WIDE, CONV, entry("DRAM", "k* p* q*"), entry("L1", "c,r,s:*"), entry("PE", "", "I", y="c,r,s:20"))


# -- spatial ----------------------------------------------------------------------------------------------------------


def test_spatial_loops_span_what_is_there() -> None:
    cores = chip([level("DRAM"), level("L1", fanout=(("x", 2), ("y", 3)))], array((("x", 4),)))
    case = make(cores, gemm(8, 6, 4), entry("DRAM", "k4", x="m2", y="n3"), entry("L1", "m* n*"), entry("PE", "", x="m4"))
    assert [(loop.axis, loop.bound, loop.entry) for loop in case.nest.loops if loop.axis] == [
        ("x", 2, 0), ("y", 3, 0), ("x", 4, 2)]


@pytest.mark.parametrize(("spatial", "said"), [
    ({"x": "m3"}, "3 along x, but there are 2 instances of L1; shrink a factor by 2 or more"),
    ({"x": "m2 n2"}, "4 along x, but there are 2 instances"),
    ({"z": "m2"}, "DRAM: no axis 'z' of instances of L1; allowed: x, y"),
])
def test_spatial_over_instances(spatial: dict[str, str], said: str) -> None:
    cores = chip([level("DRAM"), level("L1", fanout=(("x", 2), ("y", 3)))], array((("x", 4),)))
    with pytest.raises(SpecError) as caught:
        make(cores, gemm(8, 6, 4), entry("DRAM", "k4", **spatial), entry("L1", "m* n*"))
    assert said in str(caught.value)


def test_spatial_over_pes() -> None:
    assert "PE: no axis 'z' of PEs; allowed: x, y" in faults(entry("DRAM", "m* n* k*"), entry("PE", "", z="m2"))
    assert "8 along x, but there are 4 PEs; shrink a factor by 2 or more" in faults(
        entry("DRAM", "m* n* k*"), entry("PE", "", x="m4 n2"))


# -- levels and binding -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("text", "said"), [
    ("levels: [{level: DARM}]", "mapping.yaml:1:11: levels.DARM.level: no level named 'DARM' on toy; allowed: DRAM, SRAM, "
                                "MAC; did you mean 'DRAM'?"),
    ("levels: [{level: SRAM}, {level: DRAM}]", "DRAM stands out of order"),
    ("levels: [{level: DRAM}, {level: DRAM}]", "DRAM stands out of order"),
    ("levels: []", "at least 1 item"),
    ("{}", "neither `levels` nor `operators`"),
    ("operators: {gem: {levels: [{level: DRAM}]}}", "no operator named 'gem'"),
    ("levels: [{level: DRAM, lops: []}]", "did you mean 'loops'"),
    ("Ouptus: []", "unknown key 'Ouptus'; allowed: levels, operators"),
    ("levels: [{level: DRAM, binding: [A, B, D]}]", "no tensor named 'D'; allowed: A, B, C"),
    ("levels: [{level: MAC, binding: [B], loops: [{m: 4}, {n: 4}, {k: 4}]}]", "MAC has no stationary registers"),
    ("levels: [{level: DRAM, binding: []}, {level: SRAM, binding: [A, B], loops: [{m: 4}, {n: 4}, {k: 4}]}]",
     "C is bound at no memory; add it to a level's binding"),
    ("levels: [{level: SRAM, buffers: {D: 2}, loops: [{m: 4}, {n: 4}, {k: 4}]}]", "no tensor named 'D'"),
    ("levels: [{level: SRAM, binding: [A, B], buffers: {C: 2}, loops: [{m: 4}, {n: 4}, {k: 4}]}]", "C is not bound at SRAM"),
    ("levels: [{level: SRAM, buffers: {A: 0}, loops: [{m: 4}, {n: 4}, {k: 4}]}]", "greater than or equal to 1"),
])
def test_levels_bindings_and_buffers(tmp_path: Path, text: str, said: str) -> None:
    assert said in file_faults(tmp_path, text)


def test_a_memory_that_does_not_serve_a_tensor_cannot_hold_it(tmp_path: Path) -> None:
    said = file_faults(tmp_path, "levels: [{level: MEM}, {level: STAGE, binding: [A]}, {level: MXU, loops: "
                       "[{m: 4}, {n: 4}, {k: 4}]}]", "tpu-v1", "gemm:m=4,n=4,k=4,dtype=int8")
    assert "no memory of STAGE serves A" in said
    said = file_faults(tmp_path, "levels: [{level: MEM}, {level: MXU, binding: [C], loops: [{m: 4}, {n: 4}, {k: 4}]}]", "tpu-v1",
                       "gemm:m=4,n=4,k=4,dtype=int8")
    assert "MXU holds other tensors stationary; C cannot be bound there" in said


def test_levels_left_out_hold_what_they_serve() -> None:
    case = from_files("toy", "gemm:m=4,n=4,k=4", "levels: [{level: DRAM, loops: [{m: 4}, {n: 4}, {k: 4}]}]")
    assert case.paths == {"A": (0, 1), "B": (0, 1), "C": (0, 1)}
    bypass = from_files("toy", "gemm:m=4,n=4,k=4", "levels: [{level: DRAM, binding: [A, B], loops: [{m: 4}, {n: 4}, {k: 4}]}]")
    assert bypass.paths == {"A": (0, 1), "B": (0, 1), "C": (1,)}


def test_a_file_for_several_operators(tmp_path: Path) -> None:
    work = tmp_path / "work.yaml"
    work.write_text("name: w\noperators:\n" + "".join(
        f"  - {{name: {name}, operator: gemm, dims: {{m: 4, n: 4, k: 4}}}}\n" for name in ("a", "b.1", "c")), encoding="utf-8")
    mapping = tmp_path / "mapping.yaml"
    levels = "levels: [{level: DRAM, loops: [{%s: 4}, {n: 4}, {m: 4}, {k: 4}]}]"
    named = f"operators: {{a: {{{levels % 'm'}}}, b.1: {{{levels % 'k'}}}}}\n"
    mapping.write_text(named, encoding="utf-8")
    cases = read("toy", str(work), str(mapping), choose=choose).cases
    assert [isinstance(case, Case) and str(case.mapping.levels[0].loops[0]) for case in cases[:2]] == ["{m: 4}", "{k: 4}"]
    assert isinstance(cases[2], Case)
    assert cases[2].mapping.origin.startswith("auto")
    mapping.write_text(named + (levels % "n") + "\n", encoding="utf-8")
    last = read("toy", str(work), str(mapping), choose=choose).cases[2]
    assert isinstance(last, Case)
    assert str(last.mapping.levels[0].loops[0]) == "{n: 4}"


def test_it_is_printed_as_a_loop_nest() -> None:
    case = make(chip([level("DRAM"), level("L1")], array((("x", 4), ("y", 4)))), gemm(8, 4, 4),
                entry("DRAM", "m2"), entry("L1", "m4", "A C", {"A": 1}), entry("PE", "", "B", x="n4", y="k4"))
    assert case.mapping.loop_nest(case.operator).splitlines() == [
        "DRAM holds all it serves", "for m in 0..2", "  L1 holds A, C; buffers A 1", "  for m in 0..4", "    PE holds B",
        "    parallel on x: n in 0..4", "      parallel on y: k in 0..4", "        C[m, n] += A[m, k] * B[k, n]"]


def test_too_large_a_tile_is_no_error_of_the_file() -> None:
    with pytest.raises(DoesNotFit):
        from_files("toy", "gemm:m=256,n=256,k=256", "levels: [{level: SRAM, loops: [{m: 256}, {n: 256}, {k: 256}]}]")
