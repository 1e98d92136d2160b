"""Timeloop's own files through the importer: its counts, its spellings, and what it says that we do not."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accelsim.compare.running import entry, read_case, run
from accelsim.compare.timeloop import cases, counted, wanted
from accelsim.errors import DoesNotFit, SpecError
from accelsim.importers.timeloop import is_timeloop
from accelsim.importers.timeloop_export import export_mapping
from accelsim.spec.case import Case
from accelsim.spec.mapping import Mapping, MappingLevel
from accelsim.spec.read import read_chip, read_workload

from .timeloop_files import FILES, as_v3, as_v4, case_of, data_of, exact, imported, texts_of

TOLD = {told["id"]: told for told in cases() if "counts" in told}
EXACT = exact()
NONE = {"reads": 0, "fills": 0, "updates": 0}
REFUSED = ("cap_fail", "uf_bypass_dram_C", "uf_bypass_dram_C_k")
LATER = ("bw_", "ovl_")
"""Cases with bandwidths or latencies: a run takes longer than Timeloop's, which overlaps everything."""


def case_named(name: str) -> Case:
    return case_of(imported(FILES[name].read_text(encoding="utf-8")))


def test_every_case_is_told_or_exact_or_refused() -> None:
    assert set(FILES) == {*TOLD, *EXACT, *REFUSED}
    assert (len(TOLD), len(EXACT)) == (56, 13)


@pytest.mark.parametrize("name", sorted(TOLD))
def test_words_moved_are_timeloops(name: str) -> None:
    case = case_named(name)
    ran = run(case)
    ours, theirs = counted(ran), wanted(TOLD[name], case)
    assert {key: ours.get(key, NONE) for key in {**ours, **theirs}} == {key: theirs.get(key, NONE) for key in {**ours, **theirs}}
    assert ran.report.macs == TOLD[name]["macs"]
    if name.startswith(LATER):
        assert ran.cycles > TOLD[name]["cycles"]
    else:
        assert ran.cycles == TOLD[name]["cycles"]


@pytest.mark.parametrize("name", sorted(EXACT))
def test_where_timeloop_approximates_words_are_those_of_an_exact_replay(name: str) -> None:
    ran = run(case_named(name))
    told = {(level, tensor): count for level, tensors in EXACT[name]["counts"].items() for tensor, count in tensors.items()}
    if name == "c1_spatial_P4_R_in_RF":  # windows that overlap in part: a link that is `multicast: equal` sends each its own
        told["GLB", "I"]["reads"] = 48
    assert counted(ran) == told
    assert EXACT[name]["cycles"] in (None, ran.cycles)


def test_tiles_larger_than_their_level_do_not_fit() -> None:
    with pytest.raises(DoesNotFit, match="need 12 B, 11 B available"):
        case_named("cap_fail")


@pytest.mark.parametrize("name", ["uf_bypass_dram_C", "uf_bypass_dram_C_k"])
def test_a_tensor_whose_tiles_have_no_place_is_refused(name: str) -> None:
    """C is kept in Buf alone, half of it at a time; Timeloop takes that."""
    with pytest.raises(SpecError, match="C is kept nowhere outside Buf, which holds one of 2 tiles"):
        case_named(name)


MAC = """
architecture:
  version: 0.3
  subtree:
  - name: Chip
    local:
    - {name: DRAM, class: DRAM, attributes: {word-bits: 16}}
    - {name: Buf, class: SRAM, attributes: {word-bits: 16, depth: 1024, multiple_buffering: 2, read_bandwidth: 9}}
    - {name: "MAC[0..3]", class: intmac}
problem:
  shape:
    name: G
    dimensions: [M, N, K]
    data-spaces:
    - {name: A, projection: [[[M]], [[K]]]}
    - {name: B, projection: [[[K]], [[N]]]}
    - {name: C, projection: [[[M]], [[N]]], read-write: True}
  instance: {M: 4, N: 4, K: 4}
mapping:
- {target: Buf, type: spatial, factors: SPREAD=4, permutation: MNK}
- {target: Buf, type: temporal, factors: ONE=4 OTHER=4, permutation: MNK}
"""


@pytest.mark.parametrize(("spread", "one", "other", "reads", "updates"), [
    ("K", "M", "N", {"A": 64, "B": 64, "C": 0}, 16),  # 16 steps of 4 products, added up on the way: each word written once
    ("M", "N", "K", {"A": 64, "B": 16, "C": 48}, 64),  # B's word is the same for all four; each word updated 4 times, read 3
])
def test_several_units_inside_a_level(spread: str, one: str, other: str, reads: dict[str, int], updates: int) -> None:
    made = imported(MAC.replace("SPREAD", spread).replace("ONE", one).replace("OTHER", other))
    ran = run(case_of(made))
    found = counted(ran)
    size = 2  # bytes of a word
    assert {name: found["Buf", name]["reads"] / size for name in reads} == reads
    assert found["Buf", "C"]["updates"] / size == updates
    assert [found["DRAM", name]["reads"] / size for name in "AB"] == [16, 16]
    assert "bandwidth: 18 B/cycle" in (made.chip or "")
    assert "capacity: 2 KiB" in (made.chip or "")


def test_an_architecture_alone_gives_a_chip_and_a_problem_alone_a_workload(tmp_path: Any) -> None:
    architecture, rest = MAC.split("problem:")
    problem = "problem:" + rest.partition("mapping:")[0]
    made = imported(architecture)
    assert made.chip is not None
    assert (made.workload, made.mapping) == (None, None)
    made = imported(problem)
    assert made.chip is None
    (tmp_path / "workload.yaml").write_text(made.workload or "")
    assert [tensor.dtype.name for tensor in read_workload(str(tmp_path / "workload.yaml")).operators[0].tensors] == ["int16"] * 3
    assert "words of 16 bits" in str(made.left[-1])


def test_the_shape_that_files_name() -> None:
    """Timeloop's cnn_layer, with bounds beside it as older files have them."""
    made = imported("problem: {shape: cnn-layer, R: 3, S: 1, P: 8, Q: 8, C: 4, K: 2, N: 1, Wstride: 2}")
    assert '      Inputs: ["N", "C", "R + 2*P", "S + Q"]\n' in (made.workload or "")
    assert "roles: {Weights: weight}" in (made.workload or "")


V3 = [name for name in sorted({*TOLD, *EXACT}) if any(one["name"].startswith("RF") for one
                                                        in data_of(name)["architecture"]["subtree"][0]["local"])
      and name not in ("gs_2glb", "imp_s_M6", "imp_s_N8over6")]


@pytest.mark.parametrize("name", V3)
def test_the_spelling_of_version_3_says_the_same(name: str) -> None:
    data = data_of(name)
    assert texts_of(imported(as_v3(data))) == texts_of(imported(FILES[name].read_text(encoding="utf-8")))


@pytest.mark.parametrize("name", sorted({*TOLD, *EXACT}))
def test_the_spelling_of_version_4_says_the_same(name: str) -> None:
    data = data_of(name)
    assert texts_of(imported(as_v4(data))) == texts_of(imported(FILES[name].read_text(encoding="utf-8")))


def test_files_apart_and_in_any_order_say_the_same() -> None:
    text = FILES["gs_2glb"].read_text(encoding="utf-8")
    first, rest = text.split("problem:\n")
    second, third = rest.split("mapping:\n")
    together, apart = imported(text), imported("mapping:\n" + third, "problem:\n" + second, first)
    assert texts_of(apart) == texts_of(together)


CONTAINERS = """
architecture:
  version: 0.4
  nodes:
  - {name: system, attributes: {datawidth: 8, global_cycle_seconds: 2e-9}}
  - {name: DRAM, class: DRAM}
  - {name: GLB, class: smartbuffer_SRAM, attributes: {depth: 64, width: 32}}
  - {name: column, spatial: {meshX: 3}}
  - {name: PE, spatial: {meshY: 2}}
  - {name: spad, class: smartbuffer_RF, attributes: {depth: 8, width: 8}, constraints: {dataspace: {bypass: [A]}}}
  - {name: mac, class: intmac}
problem:
  shape:
    dimensions: [M, K]
    data_spaces:
    - {name: A, projection: [M, K]}
    - {name: B, projection: [K]}
    - {name: C, projection: [M], read_write: True}
  instance: {M: 6, K: 4}
mapping:
- {target: DRAM, type: temporal, factors: [K=4]}
- {target: inter_PE_spatial, type: dataspace, keep: [], bypass: [A, B, C]}
- {target: inter_PE_spatial, type: temporal, factors: M=1 K=1, permutation: MK}
"""


def test_containers_of_version_4_spread_what_is_inside_them() -> None:
    """Blocks of 32 / 8 = 4 words, 64 of them; 3 x 2 instances; the scratchpad's own constraint says what passes it."""
    made = imported(CONTAINERS.replace("M: 6,", "M: 2,") + "- {target: inter_column_spatial, type: spatial, factors: [K=1]}\n"
                    "- {target: PE, type: spatial, factors: [M=2], split: 0}\n")
    assert "clock: 500 MHz\n" in (made.chip or "")
    assert "capacity: 256 B  # 256 words" in (made.chip or "")
    assert "instances: {x: 3, y: 2}" in (made.chip or "")
    assert "  - level: GLB\n    binding: [A, B, C]\n    spatial: {y: [{M: 2}]}\n" in (made.mapping or "")
    assert "  - level: spad\n    binding: [B, C]\n" in (made.mapping or "")


def test_a_dimension_along_both_axes_of_two_containers_is_refused() -> None:
    with pytest.raises(SpecError, match="M is spread along X of one fan-out and along Y of another"):
        imported(CONTAINERS + "- {target: column, type: spatial, factors: [M=3]}\n"
                 "- {target: PE, type: spatial, factors: [M=2], split: 0}\n")


def test_fan_outs_inside_a_level_may_be_named_by_it_where_each_has_its_axis() -> None:
    text = CONTAINERS.replace("K=4]", "K=1]").replace("M: 6, K: 4", "M: 2, K: 3")
    text += "- {target: GLB, type: spatial, factors: [M=2, K=3], permutation: [K, M], split: 1}\n"
    assert "spatial: {x: [{K: 3}], y: [{M: 2}]}" in (imported(text).mapping or "")


ONE_LEVEL = """architecture:
  version: 0.4
  nodes:
  - {name: DRAM, class: DRAM, attributes: {datawidth: 8}}
  - {name: Buf, class: SRAM, attributes: {ATTRIBUTES}}
  - {name: MAC, class: intmac}
"""


@pytest.mark.parametrize(("attributes", "lines"), [
    # 16 bits hold two words of 8: blocks of two, or one and a cluster of two
    ("datawidth: 8, depth: 10, width: 16", ["capacity: 20 B  # 20 words", "buffers: 1"]),
    ("datawidth: 8, depth: 10, width: 16, cluster_size: 2", ["capacity: 10 B"]),
    ("datawidth: 8, depth: 10, width: 16, block-size: 1", ["capacity: 10 B"]),
    ("datawidth: 8, depth: 10, block-size: 4", ["capacity: 40 B"]),
    ("word-bits: 8, memory_depth: 10, memory_width: 8", ["capacity: 10 B"]),
    ("datawidth: 8, entries: 12", ["capacity: 12 B"]),
    ("datawidth: 8, sizeKB: 2", ["capacity: 2 KiB  # 2048 words"]),
    ("datawidth: 32, sizeKB: 2", ["capacity: 512 B  # 512 words"]),  # of 32 bits, and words are taken as DRAM's
    ("datawidth: 8", ["capacity: unlimited", "buffers: 2"]),
    ("datawidth: 8, depth: 10, multiple_buffering: 3", ["capacity: 10 B", "buffers: 3"]),
    ("datawidth: 8, depth: 10, multiple_buffering: 1.5", ["capacity: 6 B", "buffers: 1"]),  # 10 / 1.5, rounded down
    ("datawidth: 8, read_bandwidth: 0.25", ["{name: read, serves: [drain, array_read], bandwidth: 0.25 B/cycle}"]),
    ("datawidth: 8, bandwidth: 6", ["{name: read, serves: [drain, array_read], bandwidth: 3 B/cycle}",
                                    "{name: write, serves: [fill, array_write], bandwidth: 3 B/cycle}"]),
    ("datawidth: 8, shared_bandwidth: 5", ["{name: port, serves: [fill, drain, array_read, array_write], bandwidth: 5 B/cycle}"]),
    ("datawidth: 8, network_fill_latency: 7, network_drain_latency: 5", ["pes: {}, depth: 12 cycles"]),
    ("datawidth: 8, technology: DRAM", ["- name: Buf\n    kind: dram"]),
])
def test_attributes_mean_what_they_do_in_timeloop(attributes: str, lines: list[str]) -> None:
    made = (imported(ONE_LEVEL.replace("ATTRIBUTES", attributes)).chip or "").partition("- name: DRAM\n")[2].partition("- name")
    for line in lines:
        assert line in "".join(made[1:])


def test_latencies_of_networks_are_those_of_links() -> None:
    made = imported(FILES["bw_latency"].read_text(encoding="utf-8"))
    late = dict(re.findall(r"\{name: (\S+), from: DRAM, to: Buf,.*latency: (\d+) cycles\}", made.chip or ""))
    assert late == {"DRAM-Buf-A-fill": "7", "DRAM-Buf-B-fill": "7", "DRAM-Buf-C-fill": "7", "DRAM-Buf-C-drain": "5"}


def test_a_node_that_is_not_enabled_is_left_and_levels_may_be_numbered_from_the_innermost() -> None:
    text = MAC.replace("SPREAD", "K").replace("ONE", "M").replace("OTHER", "N")
    numbered = text.replace("target: Buf", "target: 0")
    assert imported(numbered).mapping == imported(text).mapping
    nodes = ONE_LEVEL.replace("{ATTRIBUTES}", "{datawidth: 8}")
    more = nodes.replace("  - {name: MAC", "  - {name: L2, class: SRAM, enabled: false}\n  - {name: MAC")
    assert imported(more).chip == imported(nodes).chip
    assert "nodes.L2: not enabled" in left_of(more)


@pytest.mark.parametrize(("directives", "said"), [
    ("- {target: GLB, type: spatial, factors: [M=2]}\n- {target: PE, type: spatial, factors: [M=1]}",
     "a second spatial directive for PE"),
    ("- {target: inter_PE_spatial, type: temporal, factors: [M=2]}", "temporal loops at inter_PE_spatial, which is no level"),
    ("- {target: inter_PE_spatial, type: dataspace, keep: [A]}", "inter_PE_spatial is no level and keeps nothing"),
    ("- {target: PEE, type: spatial, factors: [M=1]}", "no level named 'PEE'; allowed: DRAM, GLB, spad, column, "
     "inter_column_spatial, PE, inter_PE_spatial; did you mean 'PE'?"),
    ("- {target: column, type: spatial, factors: [M=6]}", "6 along X, but there are 3 instances"),
])
def test_fan_outs_that_are_called_wrongly_are_refused(directives: str, said: str) -> None:
    with pytest.raises(SpecError) as caught:
        imported(f"{CONTAINERS}{directives}\n")
    assert said in str(caught.value)


def test_fan_outs_along_one_axis_are_called_by_their_names() -> None:
    """Two inside one: three columns of two parts along x; the loops of the outer one stand first."""
    text = CONTAINERS.replace("{meshY: 2}", "{meshX: 2}")
    with pytest.raises(SpecError, match="2 fan-outs stand inside GLB, several along one axis; allowed: one of them: column, PE"):
        imported(text + "- {target: GLB, type: spatial, factors: [M=6]}\n")
    made = imported(text + "- {target: column, type: spatial, factors: [M=3]}\n- {target: PE, type: spatial, factors: [M=2]}\n")
    assert "instances: {x: 6}" in (made.chip or "")
    assert "spatial: {x: [{M: 3}, {M: 2}]}" in (made.mapping or "")
    assert "- {target: GLB, type: spatial, factors: [M=6, K=1], permutation: [M, K], split: 1}" in export_mapping(case_of(made))


# -- what is left ---------------------------------------------------------------------------------------------------


def left_of(text: str) -> str:
    return "\n".join(map(str, imported(text).left))


@pytest.mark.parametrize(("name", "said"), [
    ("imp_t_M7", "M does not divide: what is left over is counted exactly here"),
    ("c1_d2_os", "elements in the gaps of 'P + 2*R' are neither moved nor held here"),
    ("c1_spatial_P4", "neighbours do not hand I on to each other here"),
    ("bw_latency", "the network latencies of DRAM are those of each transfer here"),
    ("bw_glb_sp", "the read port of GLB carries fills on both sides here"),
    ("g2_perm_MNK", "a clock of 1 GHz is assumed"),
    ("g2_perm_MNK", "one slot for each tensor"),
    ("g2_perm_MNK", "Timeloop has no latency: 0 cycles"),
])
def test_what_is_said_another_way_is_told(name: str, said: str) -> None:
    assert said in left_of(FILES[name].read_text(encoding="utf-8"))


def test_links_between_neighbours_that_the_mapping_forbids_are_not_left() -> None:
    assert "neighbours" not in left_of(FILES["c1_spatial_P4_nolink"].read_text(encoding="utf-8"))


def test_what_changes_no_count_is_left_with_its_place() -> None:
    text = MAC.replace("SPREAD", "K").replace("ONE", "M").replace("OTHER", "N")
    text = text.replace("read_bandwidth: 9}", "read_bandwidth: 9, n_banks: 4, min_utilization: 0, update_fifo_depth: 2}").replace(
        "mapping:", "mapper: {algorithm: random}\nERT: {version: 0.3}\nmapping:")
    told = left_of(text)
    column = text.splitlines()[7].index("n_banks") + 1
    assert f"0.yaml:8:{column}: architecture.subtree.Chip.local.Buf.attributes.n_banks: n_banks: for energy and area" in told
    assert "min_utilization" not in told
    assert "attributes.update_fifo_depth: Timeloop does not read it" in told
    assert "mapper: settings of Timeloop's programs" in told
    assert "ERT: energy and area are not counted here" in told


def test_words_of_another_width_stay_words() -> None:
    text = MAC.replace("SPREAD", "K").replace("ONE", "M").replace("OTHER", "N").replace(
        "{word-bits: 16}", "{word-bits: 12}")
    made = imported(text)
    assert "capacity: 2 KiB  # 1024 words" in (made.chip or "")
    told = "\n".join(map(str, made.left))
    assert "words of 12 bits are taken as int16" in told
    assert "words of 16 bits, and of 12 further out" in told


# -- the page -------------------------------------------------------------------------------------------------------

PAGE = (Path(__file__).parents[2] / "docs" / "from-timeloop.md").read_text(encoding="utf-8")


def test_the_counts_on_the_page_are_those_of_the_case() -> None:
    ran = run(case_named("gs_K2xN2"))
    rows = re.findall(r"^\| (\w+) (\w+) of (\w) \| (\d+) \| (\d+) \| (\d+) B \| `(\S+)` \|$", PAGE, re.MULTILINE)
    assert len(rows) == 7
    for level, what, tensor, theirs, instances, ours, where in rows:
        told = TOLD["gs_K2xN2"]["counts"][level][tensor]
        assert (told[what], told["instances"]) == (int(theirs), int(instances))
        kind, name, *rest = where.split(".")
        found = ran.timeline.link_bytes[name] if kind == "links" else getattr(ran.timeline.traffic[name, rest[0]], rest[1])
        assert found == int(ours), where


def test_the_architecture_on_the_page_gives_the_chip_on_the_page() -> None:
    architecture, chip = re.findall(r"^```yaml[^\n]*\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    assert (imported(architecture).chip or "").startswith(chip)


# -- and back -------------------------------------------------------------------------------------------------------


def back(text: str) -> None:
    """The mapping, exported and read again beside the same architecture and problem, is the same."""
    made = imported(text)
    written = export_mapping(case_of(made))
    assert is_timeloop(written)
    assert imported(text.partition("mapping:\n")[0], written).mapping == made.mapping


@pytest.mark.parametrize("name", sorted({*TOLD, *EXACT}))
def test_an_exported_mapping_reads_back(name: str) -> None:
    back(FILES[name].read_text(encoding="utf-8"))


def test_an_exported_mapping_as_text() -> None:
    """imp_t_M7: 3 tiles of 3 rows, of which the last has one."""
    assert export_mapping(case_named("imp_t_M7")) == (
        "mapping:\n"
        "- {target: DRAM, type: dataspace, keep: [A, B, C], bypass: []}\n"
        '- {target: DRAM, type: temporal, factors: [M=3, N=1, K=1], permutation: [M, "N", K]}\n'
        "- {target: Buf, type: dataspace, keep: [A, B, C], bypass: []}\n"
        '- {target: Buf, type: temporal, factors: ["M=3,1", N=2, K=2], permutation: [K, "N", M]}\n')


NEST = """architecture:
  version: 0.4
  nodes:
  - {name: DRAM, class: DRAM, attributes: {datawidth: 8}}
  - {name: GLB, class: SRAM, attributes: {datawidth: 8}}
  - {name: PE, spatial: {meshX: 64, meshY: 64}}
  - {name: RF, class: regfile, attributes: {datawidth: 8}}
  - {name: MAC, class: intmac, spatial: {meshX: 64}}
"""
SHAPE = """problem:
  shape:
    dimensions: [M, N, K, R]
    data_spaces:
    - {name: A, projection: [[[M]], [[K], [R]]]}
    - {name: I, projection: [[[K]], [[N]], [[R]]]}
    - {name: C, projection: [[[M]], [[N]]], read_write: True}
"""
DIMS = "MNKR"
LEVELS = ("DRAM", "GLB", "RF")


@st.composite
def nests(draw: st.DrawFn) -> str:
    """A problem and a mapping of it: any factors, any order, spatial loops at two levels, extents that need not be divided."""
    spots = [("DRAM", "temporal"), ("GLB", "temporal"), ("GLB", "spatial"), ("RF", "temporal"), ("RF", "spatial")]
    factors = {spot: {dim: draw(st.sampled_from((1, 1, 2, 3))) for dim in DIMS} for spot in spots}
    factors["GLB", "spatial"]["R"] = 1
    extents = {}
    lines = {spot: [] for spot in spots}  # type: dict[tuple[str, str], list[str]]
    for dim in DIMS:
        most = 1
        for spot in spots:
            most *= factors[spot][dim]
        extents[dim] = draw(st.integers(1, most))
        stride = 1
        for spot in reversed(spots):
            factor = factors[spot][dim]
            lines[spot].append(f"{dim}={factor},{(extents[dim] - 1) // stride % factor + 1}")
            stride *= factor
    mapping = []
    for level, kind in spots:
        order = "".join(draw(st.permutations(DIMS)))
        split = f", split: {draw(st.integers(0, 4))}" if (level, kind) == ("GLB", "spatial") else ""
        mapping.append(f"- {{target: {level}, type: {kind}, factors: '{' '.join(lines[level, kind])}', permutation: {order}"
                       f"{split}}}")
    for level in LEVELS[1:]:
        passed = [name for name in "AIC" if draw(st.booleans())]
        mapping.append(f"- {{target: {level}, type: bypass, bypass: [{', '.join(passed)}]}}")
    instance = ", ".join(f"{dim}: {extent}" for dim, extent in extents.items())
    return NEST + SHAPE + f"  instance: {{{instance}}}\nmapping:\n" + "\n".join(mapping) + "\n"


@settings(max_examples=40, deadline=None)
@given(nests())
def test_any_mapping_reads_back(text: str) -> None:
    back(text)


def test_what_timeloop_cannot_say_is_refused() -> None:
    held = read_case("gemmini", "gemm:m=16,n=16,k=32,dtype=int8", Mapping((
        entry("DRAM", "k:2"), entry("ONCHIP", ""), entry("PE", "m:16", "B", x="n:16", y="k:16"))))
    with pytest.raises(SpecError, match="Timeloop cannot say: B is held in the registers of PE"):
        export_mapping(held)
    twice = read_case("toy", "gemm:m=8,n=8,k=8", Mapping((entry("DRAM", "m:2 k:2 m:2"), entry("SRAM", "m:2 n:8 k:4"))))
    with pytest.raises(SpecError, match="DRAM: several loops over m"):
        export_mapping(twice)
    axes = read_case("a100", "gemm:m=64,n=64,k=64,dtype=fp16")
    with pytest.raises(SpecError, match="loops along the axis"):
        export_mapping(axes)
    flat = read_case("toy", "gemm:m=8,n=8,k=8", Mapping((entry("DRAM", "m,n:4"), entry("SRAM", "m:4 n:4 k:8"))))
    with pytest.raises(SpecError, match=r"loops over the flattened list \[m, n\]"):
        export_mapping(flat)


def test_buffers_are_said_in_a_comment() -> None:
    inner = entry("SRAM", "m:4 n:4 k:4")
    case = read_case("toy", "gemm:m=8,n=8,k=8", Mapping((entry("DRAM", "k:2 m:2 n:2"), MappingLevel(
        inner.level, inner.loops, (), None, (("A", 1),)))))
    assert export_mapping(case).startswith("# not said below: buffers A: 1 at SRAM")


@pytest.mark.parametrize(("text", "it_is"), [
    ("architecture:\n  version: 0.4\n", True), ("# a comment\nproblem: {}\n", True), ("mapping: []\n", True),
    ('{"architecture": {}}', True), ("arch: {}\n", True), ("levels:\n- {level: DRAM}\n", False),
    ("name: toy\nlevels:\n  mapping: 3\n", False), ("", False), ("architecture_constraints: {}\n", False)])
def test_top_level_keys_tell_timeloops_files(text: str, it_is: bool) -> None:
    assert is_timeloop(text) is it_is


def test_links_whose_names_would_be_the_same_have_others(tmp_path: Path) -> None:
    """From A to B-C, and from A-B to C."""
    nodes = "".join(f"  - {{name: {name}, class: {kind}, attributes: {{datawidth: 8}}, spatial: {{meshX: {x}}}}}\n"
                    for name, kind, x in (("A", "DRAM", 1), ("A-B", "SRAM", 2), ("B-C", "SRAM", 2), ("C", "intmac", 1)))
    (tmp_path / "chip.yaml").write_text(imported(f"architecture:\n  nodes:\n{nodes}").chip or "", encoding="utf-8")
    names = [link.name for link in read_chip(str(tmp_path / "chip.yaml")).links]
    assert len(set(names)) == len(names) == 12 - 2  # six pairs less the one inside the last level, both ways
