"""`accelsim import`, and files of other tools where a run takes a chip, a workload and a mapping."""

from __future__ import annotations

from pathlib import Path

import pytest

from .command import accelsim, call

CONFIG = """\
[general]
run_name = small

[architecture_presets]
ArrayHeight:    4
ArrayWidth:     4
IfmapSramSzkB:    64
FilterSramSzkB:   64
OfmapSramSzkB:    64
Dataflow : os

[run_presets]
InterfaceBandwidth: CALC
"""
TOPOLOGY = "Layer,M,N,K,\nfirst,4,4,4,\nsecond,8,4,4,\n"
CYCLES = [10, 20]  # a fold of 4 x 4 x 4 on 4 x 4: R + C + T - 2 = 10


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    (tmp_path / "array.cfg").write_text(CONFIG, encoding="utf-8")
    (tmp_path / "layers.csv").write_text(TOPOLOGY, encoding="utf-8")
    return str(tmp_path / "array.cfg"), str(tmp_path / "layers.csv")


def test_files_of_another_tool_run_as_they_are_and_a_line_says_what_was_left_out(files: tuple[str, str]) -> None:
    ran = call("run", *files, "--json")
    assert [one["cycles"] for one in ran.json["operators"]] == CYCLES
    assert ran.err.count("\n") == 1
    assert "3 settings" in ran.err
    assert f"accelsim import {files[0]} {files[1]}" in ran.err
    for command in ("estimate", "check"):
        other = call(command, *files, "--json")
        assert other.code == 0
        assert len(other.json["operators"]) == 2
        assert other.err == ran.err


def test_imported_files_run_the_same_and_are_named_in_the_report(files: tuple[str, str], tmp_path: Path) -> None:
    told = call("import", *files, "--to", str(tmp_path / "ours"))
    assert told.code == 0
    assert "layers.csv" not in told.err
    assert told.err.count(f"{files[0]}:7:19: architecture_presets.IfmapSramSzkB: ") == 1
    names = [tmp_path / "ours" / f"{part}.yaml" for part in ("chip", "workload", "mapping")]
    assert f"accelsim run {names[0]} {names[1]} --mapping {names[2]}" in told.out
    ours = accelsim("run", str(names[0]), str(names[1]), "--mapping", str(names[2]), "--json").json
    theirs = call("run", *files, "--json").json
    assert ours["operators"][0]["mapping"]["origin"] == f"file {names[2]}"
    assert theirs["operators"][0]["mapping"]["origin"] == f"file {files[0]}"
    assert ours["provenance"]["inputs"] == theirs["provenance"]["inputs"]


def test_a_saved_run_of_imported_files_is_reported_again(files: tuple[str, str], tmp_path: Path) -> None:
    first = call("run", *files, "--json", "--save", str(tmp_path / "saved"))
    for path in files:
        Path(path).unlink()
    again = accelsim("report", str(tmp_path / "saved"), "--json")
    assert again.json["operators"] == first.json["operators"]


def test_without_a_folder_the_texts_are_printed(files: tuple[str, str]) -> None:
    told = call("import", *files)
    assert [line for line in told.out.splitlines() if line.startswith("# ----")] == [
        "# ---- chip.yaml", "# ---- workload.yaml", "# ---- mapping.yaml"]
    assert "left out, or said in other words (3):" in told.err


def test_as_json_everything_is_in_the_json(files: tuple[str, str]) -> None:
    told = accelsim("import", *files, "--json").json
    assert sorted(told) == ["chip", "left_out", "mapping", "workload", "written"]
    first = told["left_out"][0]
    assert first.pop("reason").startswith("with InterfaceBandwidth CALC no cycle depends on it")
    assert first == {"file": files[0], "line": 7, "column": 19, "path": "architecture_presets.IfmapSramSzkB"}
    assert accelsim("import", files[1], "--json", "--from", "scalesim").json["chip"] is None


def test_nothing_is_overwritten_or_written_in_part_unless_forced(files: tuple[str, str], tmp_path: Path) -> None:
    folder = tmp_path / "ours"
    folder.mkdir()
    (folder / "mapping.yaml").write_text("mine", encoding="utf-8")
    refused = accelsim("import", *files, "--to", str(folder), code=2)
    assert "mapping.yaml: exists; nothing was written; allowed: another folder, or --force to overwrite" in refused.err
    assert [path.name for path in folder.iterdir()] == ["mapping.yaml"]
    assert call("import", *files, "--to", str(folder), "--force").code == 0
    assert sorted(path.name for path in folder.iterdir()) == ["chip.yaml", "mapping.yaml", "workload.yaml"]
    assert (folder / "mapping.yaml").read_text(encoding="utf-8") != "mine"


def test_every_fault_is_told_with_exit_code_2(files: tuple[str, str]) -> None:
    Path(files[0]).write_text(CONFIG.replace("os", "rs"), encoding="utf-8")
    Path(files[1]).write_text(TOPOLOGY.replace("8,4", "8,x"), encoding="utf-8")
    for command in ("import", "run", "estimate"):
        told = accelsim(command, *files, code=2)
        assert f"{files[0]}:10:12: architecture_presets.Dataflow: 'rs'; allowed: ws, os, is" in told.err
        assert f"{files[1]}:3:10: second: N: 'x'; allowed: an integer from 1" in told.err


def test_what_is_no_file_of_another_tool_is_refused(files: tuple[str, str], tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("nothing\n", encoding="utf-8")
    assert "not recognised as any tool's file; allowed: SCALE-Sim" in accelsim("import", str(tmp_path / "notes.txt"), code=2).err
    assert "no such file" in accelsim("import", str(tmp_path / "none.cfg"), code=2).err
    assert "did you mean 'scalesim'?" in accelsim("import", files[0], "--from", "scalesym", code=2).err
    assert "says nothing of a workload" in accelsim("run", files[0], files[0], code=2).err


def test_a_topology_runs_on_a_chip_of_ours_and_a_chip_of_theirs_runs_a_workload_of_ours(files: tuple[str, str]) -> None:
    alone = accelsim("run", "toy", files[1], "--json").json  # nothing of it is left out
    assert [one["macs"] for one in alone["operators"]] == [64, 128]
    assert call("run", files[0], "gemm:m=4,n=4,k=4,dtype=int8", "--json").json["total"]["cycles"] == CYCLES[0]


def test_a_mapping_or_a_dataflow_of_ones_own_is_taken_instead(files: tuple[str, str], tmp_path: Path) -> None:
    named = call("run", *files, "--dataflow", "output-stationary", "--json").json
    assert named["operators"][0]["mapping"]["origin"] == "dataflow output-stationary"
    (tmp_path / "mine.yaml").write_text(
        'levels:\n  - {level: MEMORY, loops: [{k: "*"}, {m: "*"}, {n: "*"}]}\n  - {level: PE, binding: [C], loops: [{k: 2}],\n'
        "     spatial: {x: [{n: 4}], y: [{m: 4}]}}\n", encoding="utf-8")
    mine = call("run", *files, "--mapping", str(tmp_path / "mine.yaml"), "--json").json
    assert mine["operators"][0]["mapping"]["origin"] == f"file {tmp_path / 'mine.yaml'}"


def test_a_fault_of_an_imported_text_names_the_users_file(files: tuple[str, str]) -> None:
    told = call("run", *files, "-o", "mapping.levels.PE.binding=[X]")
    assert told.code == 2
    assert f"{files[0]}: levels.PE.binding[0]: no tensor named 'X'" in told.err


def test_an_operator_to_draw_is_one_of_the_imported_ones(files: tuple[str, str], tmp_path: Path) -> None:
    told = accelsim("run", *files, "--operator", "third", "--timeline", str(tmp_path / "a.png"), code=2)
    assert "no operator named 'third' ran; allowed: first, second" in told.err


def test_the_readable_formats_are_listed() -> None:
    told = accelsim("list", "formats").out
    assert "scalesim" in told
    assert "zigzag" in told
    assert "read: SCALE-Sim" in told
