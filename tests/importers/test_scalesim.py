"""SCALE-Sim's files: every row of its reference table from files of its own, and tables as people write them."""

from __future__ import annotations

import json
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest
import yaml

from accelsim.compare.references import table
from accelsim.errors import SpecError
from accelsim.importers.imported import Imported
from accelsim.importers.scalesim import import_scalesim, is_scalesim
from accelsim.verbs import Options, run

CONVOLUTIONS = {  # the layers of the reference runs that were convolutions, as their topology had them
    "c1x1": "14, 14, 1, 1, 64, 32, 1", "c1x1s2": "14, 14, 1, 1, 32, 32, 2", "c1x5": "14, 14, 1, 5, 8, 8, 1",
    "c3x3s1": "14, 14, 3, 3, 16, 32, 1", "c3x3s2_ceil": "16, 16, 3, 3, 16, 32, 2", "c3x3s2_exact": "17, 17, 3, 3, 16, 32, 2",
    "c7x7s2": "32, 32, 7, 7, 3, 16, 2", "dwise_1ch": "14, 14, 3, 3, 1, 1, 1", "DP_dw4": "14, 14, 3, 3, 4, 1, 1",
}
HEADER = "Layer name, IFMAP Height, IFMAP Width, Filter Height, Filter Width, Channels, Num Filter, Strides,\n"
CONFIG = """\
[general]
run_name = test_run

[architecture_presets]
ArrayHeight:    {rows}
ArrayWidth:     {columns}
IfmapSramSzkB:    64
FilterSramSzkB:   64
OfmapSramSzkB:    64
IfmapOffset:    0
Dataflow : {flow}
Bandwidth : 4

[run_presets]
InterfaceBandwidth: {mode}
"""


def config(flow: str = "ws", rows: int = 8, columns: int = 8, mode: str = "CALC") -> str:
    return CONFIG.format(flow=flow, rows=rows, columns=columns, mode=mode)


def imported(folder: Path, *texts: str) -> Imported:
    paths = [folder / f"file{i}" for i in range(len(texts))]
    for path, text in zip(paths, texts, strict=True):
        path.write_bytes(text.encode())
    return import_scalesim(paths)


def operators(folder: Path, text: str) -> list[dict[str, Any]]:
    told = imported(folder, text).workload
    assert told is not None
    found = yaml.safe_load(told)["operators"]
    assert isinstance(found, list)
    return found


def dims(folder: Path, text: str) -> list[list[int]]:
    return [list(one["dims"].values()) for one in operators(folder, text)]


def faults(folder: Path, *texts: str) -> list[str]:
    with pytest.raises(SpecError) as caught:
        imported(folder, *texts)
    return [str(fault).removeprefix(f"{folder}/") for fault in caught.value.faults]


def by_machine(row: dict[str, str]) -> tuple[str, str, str]:
    return row["dataflow"], row["rows"], row["columns"]


MACHINES = [(machine, list(rows)) for machine, rows in groupby(sorted(table("scalesim"), key=by_machine), key=by_machine)]


def test_every_row_of_the_reference_is_in_one_of_the_runs() -> None:
    assert len(MACHINES) == 18
    assert sum(len(rows) for _, rows in MACHINES) == 292


@pytest.mark.parametrize(("machine", "rows"), MACHINES, ids=["-".join(machine) for machine, _ in MACHINES])
def test_a_configuration_and_a_topology_run_in_the_reported_cycles_and_one(
        machine: tuple[str, str, str], rows: list[dict[str, str]], tmp_path: Path) -> None:
    flow, height, width = machine
    cfg = tmp_path / "array.cfg"
    cfg.write_text(config(flow, int(height), int(width)), encoding="utf-8")
    convolutions = HEADER + "".join(f"{row['layer']}, {CONVOLUTIONS[row['layer']]},\n" for row in rows
                                    if row["layer"] in CONVOLUTIONS)
    products = "Layer,M,N,K,\n" + "".join(f"{row['layer']},{row['m']},{row['n']},{row['k']},\n" for row in rows
                                          if row["layer"] not in CONVOLUTIONS)
    found: dict[str, int] = {}
    for name, text in (("convolutions.csv", convolutions), ("products.csv", products)):
        (tmp_path / name).write_text(text, encoding="utf-8")
        report = run(str(cfg), str(tmp_path / name)).report
        assert not report.failed
        found |= {one.name: one.cycles for one in report.done}
    assert found == {row["layer"]: int(row["cycles"]) for row in rows}  # the table's cycles are the reported ones + 1


def test_a_layer_named_dp_is_run_once_a_channel(tmp_path: Path) -> None:
    layer, = operators(tmp_path, HEADER + "DP_dw4, 14, 14, 3, 3, 4, 1, 1,\n")
    assert (layer["dims"]["c"], layer["repeat"]) == (1, 4)


def test_without_an_explicit_mapping_a_product_on_the_chip_takes_the_same_folds(tmp_path: Path) -> None:
    told = imported(tmp_path, config("ws", 12, 14))
    assert told.chip is not None
    assert told.workload is None
    assert told.mapping is None
    (tmp_path / "chip.yaml").write_text(told.chip, encoding="utf-8")
    operator, = run(str(tmp_path / "chip.yaml"), "gemm:m=100,n=50,k=75,dtype=int8").report.done
    assert operator.cycles == 4 * 7 * (2 * 12 + 14 + 100 - 2)  # ceil(50/14) x ceil(75/12) folds


WRITTEN = {
    "as shipped": HEADER + "\nConv1, 224, 224, 7, 7, 3, 64, 2,\n",
    "without trailing commas": HEADER.rstrip(",\n") + "\nConv1,224,224,7,7,3,64,2\n",
    "without a header": "Conv1,224,224,7,7,3,64,2,\n",
    "two strides": HEADER.replace("Strides", "Stride Height, Stride Width") + "Conv1,224,224,7,7,3,64,2,2,\n",
    "two strides without a header": "Conv1,224,224,7,7,3,64,2,2,\n",
    "carriage returns": HEADER.replace("\n", "\r\n") + "Conv1,224,224,7,7,3,64,2,\r\n",
    "a byte order mark": "\ufeff" + HEADER + "Conv1,224,224,7,7,3,64,2,\n",
    "tabs": HEADER.replace(",", "\t") + "Conv1\t224\t224\t7\t7\t3\t64\t2\t\n",
    "semicolons": HEADER.replace(",", ";") + "Conv1;224;224;7;7;3;64;2;\n",
    "quotes": '"Layer name","IFMAP Height","IFMAP Width","Filter Height","Filter Width","Channels","Num Filter","Strides"\n'
              '"Conv1","224","224","7","7","3","64","2"\n',
    "comments": "# ResNet\n" + HEADER + "// the first\nConv1,224,224,7,7,3,64,2,# with padding\n",
    "blank rows": HEADER + ",,,,,,,,\n   \nConv1  ,224   ,224,7,7,3 ,64,2   ,\n",
    "the width named twice": HEADER.replace("Height", "Width", 1).replace("Layer name", "Layer") + "Conv1,224,224,7,7,3,64,2,\n",
    "lower case": HEADER.lower().replace("num filter", "num filters") + "Conv1,224,224,7,7,3,64,2,\n",
    "other columns beside it": HEADER.rstrip("\n") + ",,Eh,Ew\nConv1,224,224,7,7,3,64,2,,,110,110\n",
    "another order": "Channels,Layer,Num Filter,Strides,IFMAP Height,IFMAP Width,Filter Height,Filter Width\n"
                     "3,Conv1,64,2,224,224,7,7\n",
    "dense by its ratio": HEADER.rstrip("\n") + "Sparsity,\nConv1,224,224,7,7,3,64,2,1:1,\n",
}


@pytest.mark.parametrize("text", WRITTEN.values(), ids=WRITTEN)
def test_a_topology_is_read_however_it_is_written(text: str, tmp_path: Path) -> None:
    assert is_scalesim(text.removeprefix("\ufeff"))
    layer, = operators(tmp_path, text)
    # (224 - 7 + 2) / 2 = 109.5: the last window hangs over the edge
    assert (layer["name"], layer["dims"]) == ("Conv1", {"k": 64, "c": 3, "p": 110, "q": 110, "r": 7, "s": 7})
    assert (layer["stride"], layer["input"], layer["dtype"]) == (2, {"h": 224, "w": 224}, "int8")


@pytest.mark.parametrize("text", ["Layer,M,N,K,\n1,256,128,2048,\n", "Layer Name, M, N, K\n1, 256, 128, 2048",
                                  "1,256,128,2048,\n", "Layer,K,M,N\n1,2048,256,128\n"])
def test_a_table_of_products_is_known_by_its_columns(text: str, tmp_path: Path) -> None:
    assert is_scalesim(text)
    layer, = operators(tmp_path, text)
    assert (layer["name"], layer["dims"]) == ("1", {"m": 256, "n": 128, "k": 2048})


def test_strides_may_differ_by_axis(tmp_path: Path) -> None:
    layer, = operators(tmp_path, "OCR, 480, 48, 3, 5, 1, 16, 2, 1,\n")
    assert (layer["stride"], layer["dims"]["p"], layer["dims"]["q"]) == ([2, 1], 240, 44)


def test_every_fault_of_a_topology_is_told_at_once_with_its_place(tmp_path: Path) -> None:
    text = HEADER + "Conv1, 224, B, 7, 7, 3, 64, 2,\nConv2, 56, 56, 3, 0, 64, 64,\nConv3, 2, 8, 3, 3, 1, 1, 1,\n"
    assert faults(tmp_path, text) == [
        "file0:2:13: Conv1: IFMAP Width: 'B'; allowed: an integer from 1",
        "file0:3:19: Conv2: Filter Width: '0'; allowed: an integer from 1",
        "file0:3:28: Conv2: Strides: nothing; allowed: an integer from 1",
        "file0:4:14: Conv3: Filter Height 3 is larger than IFMAP Height 2; allowed: a filter that lies on the input; SCALE-Sim "
        "adds no padding: write the padded size",
    ]


def test_a_missing_column_is_named_with_the_nearest_heading(tmp_path: Path) -> None:
    told, = faults(tmp_path, HEADER.replace("Num Filter", "Num Filtre") + "Conv1, 8, 8, 3, 3, 1, 1, 1,\n")
    assert told.startswith("file0:1:1: no column 'Num Filter'; allowed: Layer name, IFMAP Height")
    assert told.endswith("did you mean 'Num Filtre'?")


def test_more_numbers_than_columns_are_refused(tmp_path: Path) -> None:
    assert faults(tmp_path, "Conv1, 8, 8, 3, 3, 1, 1, 1,\nConv2, 8, 8, 3, 3, 1, 1, 1, 1, 1, 5,\n")[0].startswith(
        "file0:2:29: '1' behind the last column")


def left(folder: Path, *texts: str) -> list[str]:
    return [str(one).removeprefix(f"{folder}/") for one in imported(folder, *texts).left]


def test_what_a_topology_says_besides_is_left_with_its_place(tmp_path: Path) -> None:
    text = (HEADER.rstrip("\n") + ",Eh,Sparsity\nAlexNet,\nConv1, 8, 8, 3, 3, 1, 1, 1,, 6, 2:4\n"
            "Conv1, 8, 8, 3, 3, 1, 1, 1,, 6, 4:4\nConv2_dw, 8, 8, 3, 3, 1, 1, 1,\n")
    found = left(tmp_path, text)
    assert [line.split(": ")[0] for line in found] == ["file0:1:100", "file0:2:1", "file0:3:33", "file0:4:1", "file0:5:23"]
    for line, said in zip(found, ("column 'Eh'", "a title", "2:4: sparsity", "called 'Conv1 (2)'", "with DP in its name"),
                          strict=True):
        assert said in line


def test_what_changes_no_cycle_of_a_configuration_is_left_with_its_place(tmp_path: Path) -> None:
    found = left(tmp_path, config())
    assert [line.split(": ")[:2] for line in found] == [
        ["file0:7:19", "architecture_presets.IfmapSramSzkB"], ["file0:8:19", "architecture_presets.FilterSramSzkB"],
        ["file0:9:19", "architecture_presets.OfmapSramSzkB"], ["file0:10:17", "architecture_presets.IfmapOffset"],
        ["file0:12:13", "architecture_presets.Bandwidth"]]


def test_every_fault_of_a_configuration_is_told_at_once_with_its_place(tmp_path: Path) -> None:
    text = config("rs", 0, 8, "user").replace("ArrayWidth", "ArrayWith").replace("Bandwidth : 4", "Bandwidth : fast\nnonsense")
    found = faults(tmp_path, text)
    assert [line.split("; allowed")[0] for line in found] == [
        "file0:13:1: architecture_presets: 'nonsense' is no setting",
        "file0:5:17: architecture_presets.ArrayHeight: '0'",
        "file0: architecture_presets.ArrayWidth: missing",
        "file0:11:12: architecture_presets.Dataflow: 'rs'",
        "file0:12:13: architecture_presets.Bandwidth: 'fast'",
    ]
    assert found[2].endswith("did you mean 'ArrayWith'?")


@pytest.mark.parametrize("line", ["[sparsity]\nSparsitySupport : true", "[layout]\nIfmapCustomLayout: True",
                                  "[run_presets]\nUseRamulatorTrace: True"])
def test_what_would_change_cycles_and_is_not_modelled_is_refused(line: str, tmp_path: Path) -> None:
    text = config().replace("[run_presets]\n", f"{line}\n[run_presets]\n")
    told, = faults(tmp_path, text)
    assert told.startswith("file0:15:")
    assert "would change the cycles; " in told
    assert told.endswith("allowed: False")
    assert is_scalesim(text)
    assert imported(tmp_path, text.replace("rue", "RUE").replace("TRUE", "False").replace("tRUE", "false")).chip


def test_with_user_the_interface_has_its_bandwidths_and_srams_hold_tiles(tmp_path: Path) -> None:
    layout = "[layout]\nIfmapSRAMBankBandwidth: 2\nFilterSRAMBankBandwidth: 8\n"
    told = imported(tmp_path, config(mode="USER") + layout, "a,64,64,64,\n")
    assert told.chip is not None
    chip = yaml.safe_load(told.chip)
    dram, sram, _ = chip["levels"]
    assert [(port["name"], port["bandwidth"]) for port in dram["ports"]] == [("input", "2 B/cycle"), ("weight", "8 B/cycle"),
                                                                            ("output", "4 B/cycle")]
    assert [(one["name"], one["capacity"], one["buffers"]) for one in sram["memories"]] == [
        ("IFMAP", "64 KiB", 2), ("FILTER", "64 KiB", 2), ("OFMAP", "64 KiB", 2)]
    assert told.mapping is None
    (tmp_path / "chip.yaml").write_text(told.chip, encoding="utf-8")
    assert told.workload is not None
    (tmp_path / "workload.yaml").write_text(told.workload, encoding="utf-8")
    operator, = run(str(tmp_path / "chip.yaml"), str(tmp_path / "workload.yaml"), Options()).report.done
    assert operator.cycles >= 64 * 64 // 2  # the input once, two bytes a cycle; CALC would take 64 x 86 = 5504
    assert operator.cycles > 5504


def test_two_configurations_are_one_too_many(tmp_path: Path) -> None:
    assert "a second configuration" in faults(tmp_path, config(), config())[0]


@pytest.mark.parametrize("text", ["", "\n\n", "name: toy\nlevels: []\n", "operators:\n  - {name: a, dims: {m: 1}}\n", "a,b,c,d\n",
                                  "R 0x40\nW 0x80 120\n", "[general]\nrun_name = x\n"])
def test_other_texts_are_not_taken_for_its_files(text: str) -> None:
    assert not is_scalesim(text)


def test_a_workload_of_ours_as_json_is_no_topology(tmp_path: Path) -> None:
    """One line, with commas, and m, n and k among what stands between them."""
    dims = {"m": 4, "n": 5, "k": 6}
    workload = tmp_path / "own.yaml"
    tensors = {"A": ["m", "k"], "B": ["k", "n"], "C": ["m", "n"]}
    own = {"name": "own", "operators": [{"name": "P", "dims": dims, "tensors": tensors, "output": "C"}]}
    workload.write_text(json.dumps(own), encoding="utf-8")
    assert not is_scalesim(workload.read_text(encoding="utf-8"))
    assert run("toy", str(workload)).report.macs == 4 * 5 * 6
