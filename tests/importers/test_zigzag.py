"""ZigZag's files: small ones whose traffic and cycles are worked out by hand, and what is refused or left."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from accelsim.errors import SpecError
from accelsim.importers.imported import Imported
from accelsim.importers.zigzag import import_zigzag, is_zigzag
from accelsim.measure.report import OperatorReport
from accelsim.spec.read import shipped
from accelsim.verbs import Options, run

from .zigzag_files import ACCELERATOR, MAPPING, ONE_MEMORY, WORKLOAD

CONVOLUTION = """\
- id: 3
  name: conv
  operator_type: Conv
  equation: O[b][k][oy][ox]+=W[k][c][fy][fx]*I[b][c][iy][ix]
  dimension_relations: [ix=2*ox+1*fx, iy=2*oy+fy]
  loop_dims: [B, K, C, OY, OX, FY, FX]
  loop_sizes: [1, 4, 3, 6, 6, 3, 3]
  operand_precision: {W: 8, I: 8, O: 16, O_final: 8}
  pr_loop_dims: [IX, IY]
  pr_loop_sizes: [11, 11]
  padding: [[1, 1], [1, 1]]
"""


def written(folder: Path, *texts: str) -> list[Path]:
    paths = [folder / f"file{i}.yaml" for i in range(len(texts))]
    for path, text in zip(paths, texts, strict=True):
        path.write_text(text, encoding="utf-8")
    return paths


def imported(folder: Path, *texts: str) -> Imported:
    return import_zigzag(written(folder, *texts))


def ran(folder: Path, *texts: str) -> OperatorReport:
    chip, workload, *mapping = (str(path) for path in written(folder, *texts))
    operator, = run(chip, workload, Options(mapping=mapping[0] if mapping else None)).report.done
    return operator


def moved(report: OperatorReport) -> dict[tuple[str, str], Any]:
    return {(level, tensor): traffic for level, held in report.levels.items() for tensor, traffic in held.items()}


def faults(folder: Path, *texts: str) -> list[str]:
    with pytest.raises(SpecError) as caught:
        imported(folder, *texts)
    return [str(fault).removeprefix(f"{folder}/") for fault in caught.value.faults]


def left(folder: Path, *texts: str) -> list[str]:
    return [str(one).removeprefix(f"{folder}/") for one in imported(folder, *texts).left]


def loaded(text: str | None) -> Any:
    assert text is not None
    return yaml.safe_load(text)


def test_traffic_of_a_small_layer_is_what_its_loops_move(tmp_path: Path) -> None:
    traffic = moved(ran(tmp_path, ACCELERATOR, WORKLOAD, MAPPING))
    # for k 2, c 2, b 4: 2 x 2 parallel. Each of the 16 weights is loaded once, since only b runs inside.
    assert traffic["reg_w", "W"].fill_bytes == 16
    # each of 16 steps takes two inputs (one for each c, shared along k) and gives two sums of 16 bits (one for each k)
    assert traffic["sram", "I"].array_read_bytes == 16 * 2
    assert traffic["sram", "O"].array_write_bytes == 16 * 2 * 2
    assert traffic["sram", "O"].array_read_bytes == 8 * 2 * 2  # the second c adds to what is there
    # inputs come in once, finished outputs of 8 bits leave once
    assert traffic["sram", "I"].fill_bytes == traffic["sram", "O"].drain_bytes == 16


def test_cycles_of_one_memory_are_those_of_its_slowest_port(tmp_path: Path) -> None:
    # 16 steps; each takes four weights of 8 bits through 16 bits a cycle, two cycles; two inputs take one
    assert ran(tmp_path, ONE_MEMORY, WORKLOAD, MAPPING).cycles == 32
    faster = ONE_MEMORY.replace('bandwidth_max: 16, allocation: ["I2, tl"]', 'bandwidth_max: 32, allocation: ["I2, tl"]')
    assert ran(tmp_path, faster, WORKLOAD, MAPPING).cycles == 16


def test_the_mapping_is_the_files_order_cut_where_memories_end(tmp_path: Path) -> None:
    told = loaded(imported(tmp_path, ACCELERATOR, WORKLOAD, MAPPING).mapping)
    dram, sram, reg = told["operators"]["Layer0"]["levels"]
    assert dram["level"] == "dram"
    assert "loops" not in dram  # all fits into the SRAM
    assert sram["loops"] == [{"k": 2}, {"c": 2}]
    assert sram["spatial"] == {"D1": [{"k": 2}], "D2": [{"c": 2}]}
    assert reg["loops"] == [{"b": 4}]  # no other weight is needed for it
    smaller = ACCELERATOR.replace("size: 8192", "size: 144")  # 18 bytes: the inputs of b 4 are 8, its sums 16
    told = loaded(imported(tmp_path, smaller, WORKLOAD, MAPPING).mapping)
    dram, sram, _ = told["operators"]["Layer0"]["levels"]
    assert [dram["loops"], sram.get("loops")] == [[{"k": 2}, {"c": 2}, {"b": 4}], None]


def test_a_layer_takes_the_mapping_of_its_name_else_of_its_type_else_the_default(tmp_path: Path) -> None:
    layers = "".join(WORKLOAD.replace("id: 0", f"id: {i}\n  name: {name}").replace("Gemm", kind)
                     for i, (name, kind) in enumerate((("mine", "Gemm"), ("other", "Gemm"), ("third", "Conv"))))
    entries = "".join(MAPPING.replace("default", name).replace("B, 4", f"B, {factor}").replace(
        "    - [C, 2]", f"    - [C, 2]\n    - [B, {4 // factor}]") for name, factor in (("mine", 2), ("Gemm", 1), ("default", 4)))
    told = loaded(imported(tmp_path, ACCELERATOR, layers, entries).mapping)["operators"]
    loops = {name: [loop for level in told[name]["levels"] for loop in level.get("loops", ())] for name in told}
    assert [loops[name] for name in ("mine", "other", "third")] == [
        [{"k": 2}, {"b": 2}, {"c": 2}, {"b": 2}], [{"k": 2}, {"b": 4}, {"c": 2}], [{"k": 2}, {"c": 2}, {"b": 4}]]


def test_without_an_order_loops_that_reuse_weights_are_innermost_and_that_is_said(tmp_path: Path) -> None:
    entry = MAPPING.partition("  temporal_ordering")[0]
    told = imported(tmp_path, ACCELERATOR, WORKLOAD, entry)
    levels = loaded(told.mapping)["operators"]["Layer0"]["levels"]
    assert [level.get("loops") for level in levels] == [None, [{"k": 2}, {"c": 2}], [{"b": 2}, {"b": 2}]]
    assert any("ZigZag searches an order" in one.reason for one in told.left)


def test_an_order_that_does_not_cover_a_layer_is_dropped_and_that_is_said(tmp_path: Path) -> None:
    for wrong in (MAPPING.replace("B, 4", "B, 2"), MAPPING.replace("B, 4", "B, 8")):
        found = left(tmp_path, ACCELERATOR, WORKLOAD, wrong)
        assert any(line.startswith("file2.yaml:5:3: default.temporal_ordering: not complete for Layer0") for line in found)


def test_a_hint_takes_what_the_array_has(tmp_path: Path) -> None:
    hint = MAPPING.replace("spatial_mapping:", "spatial_mapping_hint:").replace('"K, 2"', "K").replace('"C, 2"', "C")
    assert loaded(imported(tmp_path, ACCELERATOR, WORKLOAD, hint).mapping) == loaded(
        imported(tmp_path, ACCELERATOR, WORKLOAD, MAPPING).mapping)


def test_energy_and_area_are_left_once_a_key_with_the_first_place(tmp_path: Path) -> None:
    found = left(tmp_path, ACCELERATOR)
    assert [line.split(": ")[:2] for line in found] == [
        ["file0.yaml:40:3", "operational_array.unit_energy"], ["file0.yaml:41:3", "operational_array.unit_area"],
        ["file0.yaml:5:5", "memories.reg_w.r_cost"], ["file0.yaml:6:5", "memories.reg_w.w_cost"],
        ["file0.yaml:7:5", "memories.reg_w.area"], ["file0.yaml:8:5", "memories.reg_w.latency"],
        ["file0.yaml:11:38", "memories.reg_w.ports.r_port_1.bandwidth_min"]]
    assert "energy (3 of them)" in found[2]


def test_a_convolution_keeps_its_index_forms_strides_and_padding(tmp_path: Path) -> None:
    operator, = loaded(imported(tmp_path, CONVOLUTION).workload)["operators"]
    assert operator["tensors"] == {"W": ["k", "c", "fy", "fx"], "I": ["b", "c", "2*oy + fy - 1", "2*ox + fx - 1"],
                                   "O": ["b", "k", "oy", "ox"]}
    assert operator["shapes"] == {"I": [1, 3, 11, 11]}
    assert (operator["dtype"], operator["accumulator"]) == ({"W": "int8", "I": "int8", "O": "int8"}, "int16")
    assert operator["roles"] == {"W": "weight", "I": "input"}


def test_padding_alone_leaves_what_lies_within(tmp_path: Path) -> None:
    text = CONVOLUTION.replace("  pr_loop_sizes: [11, 11]\n", "")
    operator, = loaded(imported(tmp_path, text).workload)["operators"]
    assert operator["shapes"] == {"I": [1, 3, 11, 11]}  # 2 x 5 + 2 + 1 = 13 indices, two of them padding


def test_an_operand_without_bits_is_not_moved(tmp_path: Path) -> None:
    text = CONVOLUTION.replace("W[k][c][fy][fx]*I[b][c][iy][ix]", "W[fx][fy]*I[b][k][iy][ix]").replace("W: 8", "W: 0").replace(
        "B, K, C,", "B, K,").replace("[1, 4, 3, 6", "[1, 4, 6").replace("Conv", "Pooling")
    operator, = loaded(imported(tmp_path, text).workload)["operators"]
    assert list(operator["tensors"]) == ["I", "O"]
    assert operator["dims"] == {"b": 1, "k": 4, "oy": 6, "ox": 6, "fy": 3, "fx": 3}


def test_links_say_which_memory_serves_an_operand(tmp_path: Path) -> None:
    swapped = MAPPING.replace("W: I2, I: I1", "W: I1, I: I2")
    operator, = loaded(imported(tmp_path, ACCELERATOR, WORKLOAD, swapped).workload)["operators"]
    assert operator["roles"] == {"I": "weight", "W": "input"}


def test_a_memory_shared_more_widely_than_the_one_outside_is_held_in_copies_and_that_is_said(tmp_path: Path) -> None:
    reg_o = ("  reg_o:\n    size: 16\n    operands: [O]\n    ports:\n"
             '      - {name: rw_port_1, type: read_write, bandwidth_max: 64, allocation: ["O, fh", "O, th", "O, fl", "O, tl"]}\n'
             "    served_dimensions: [D2]\n  sram:\n")
    text = ACCELERATOR.replace("served_dimensions: []", "served_dimensions: [D1]").replace("  sram:\n", reg_o)
    told = imported(tmp_path, text)
    levels = loaded(told.chip)["levels"]
    assert [(level["name"], level.get("instances")) for level in levels[:-1]] == [
        ("dram", None), ("sram", None), ("reg_o", {"D1": 2}), ("reg_w", {"D2": 2})]
    assert any(one.path == "memories.reg_w.served_dimensions" and "a copy for each" in one.reason for one in told.left)


def test_of_a_repeated_key_the_last_counts_and_the_other_is_told(tmp_path: Path) -> None:
    text = ACCELERATOR.replace("    served_dimensions: []\n", "    served_dimensions: [D1]\n    served_dimensions: []\n")
    assert loaded(imported(tmp_path, text).chip) == loaded(imported(tmp_path, ACCELERATOR).chip)
    assert any(line.startswith("file0.yaml:14:5: a key that stands here a second time") for line in left(tmp_path, text))


@pytest.mark.parametrize(("old", "new", "said"), [
    ("unit_area: 1", "is_imc: True", "file0.yaml:41:3: operational_array.is_imc: computing in memory"),
    ("sizes: [2, 2]", "sizes: [2]", "file0.yaml:43:3: operational_array.sizes: 1 sizes for 2 dimensions"),
    ("operands: [I2]", "operands: [I3]", "file0.yaml:9:5: memories.reg_w.operands: a list; allowed: I1, I2, O"),
    ("    served_dimensions: [D1, D2]\noperational", "    served_dimensions: [D1]\noperational",
     "file0.yaml:38:5: memories.dram.served_dimensions: the outermost memory is there once for each of D2"),
    ('"I2, fh"]', '"I2, up"]', "file0.yaml:12:88: memories.reg_w.ports.w_port_1.allocation[0]: no movement"),
    ('"O, th"]}', '"O, tl"]}', "file0.yaml:21:5: memories.sram.ports: no port has 'O, th'"),
])
def test_what_an_accelerator_cannot_be_is_refused_at_its_place(old: str, new: str, said: str, tmp_path: Path) -> None:
    assert old in ACCELERATOR
    assert any(line.startswith(said) for line in faults(tmp_path, ACCELERATOR.replace(old, new)))


@pytest.mark.parametrize(("old", "new", "said"), [
    ("O: 16", "O: 24", "file0.yaml:7:35: [0].operand_precision.O: 24 bits; allowed: 4, 8, 16, 32, 64"),
    ("[4, 4, 4]", "[4, 4]", "file0.yaml:6:3: [0].loop_sizes: 2 sizes for 3 dimensions"),
    ("W[c][k]", "W[c][j]", "file0.yaml:3:3: [0].equation: j is neither a dimension nor given by a relation"),
    ("+=", "-", "file0.yaml:3:3: [0].equation: no equation of an output and two operands"),
    ("[]", "[ix=ox+fx]", "file0.yaml:4:25: [0].dimension_relations[0]: ox is no dimension of the layer"),
])
def test_what_a_layer_cannot_be_is_refused_at_its_place(old: str, new: str, said: str, tmp_path: Path) -> None:
    assert old in WORKLOAD
    assert any(line.startswith(said) for line in faults(tmp_path, WORKLOAD.replace(old, new)))


def test_an_unknown_key_is_left_with_its_place(tmp_path: Path) -> None:
    assert left(tmp_path, WORKLOAD.replace("  loop_sizes", "  tiles: 3\n  loop_sizes")) == [
        "file0.yaml:6:3: [0].tiles: no key that is known here; nothing is made of it"]


def test_every_fault_of_all_files_is_told_at_once(tmp_path: Path) -> None:
    found = faults(tmp_path, ACCELERATOR.replace("size: 8\n", "size: none\n"), WORKLOAD.replace("W: 8", "W: 3"),
                   MAPPING.replace("K, 2", "K 2"))
    assert [line.split(": ")[0] for line in found] == ["file0.yaml:4:5", "file1.yaml:7:29", "file2.yaml:3:10"]


def test_more_than_the_array_has_is_refused(tmp_path: Path) -> None:
    assert faults(tmp_path, ACCELERATOR, WORKLOAD, MAPPING.replace("K, 2", "K, 4")) == [
        "file2.yaml:3:5: default.spatial_mapping.D1: more than the 2 of D1"]


def test_a_mapping_alone_is_refused(tmp_path: Path) -> None:
    assert faults(tmp_path, MAPPING) == ["file0.yaml:1:1: a mapping without its accelerator and workload; allowed: ZigZag's "
                                         "three files together"]


def test_its_files_are_known_by_their_keys_and_ours_are_not_taken_for_them() -> None:
    assert all(map(is_zigzag, (ACCELERATOR, WORKLOAD, MAPPING, ONE_MEMORY, CONVOLUTION)))
    ours = [path.read_text(encoding="utf-8") for kind in ("chips", "workloads", "memories", "networks")
            for path in shipped(kind).values()]
    assert len(ours) > 20
    assert not any(map(is_zigzag, ours))
