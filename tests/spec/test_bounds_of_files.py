"""Are files of any size and kind read in bounded time and memory, and refused in a few words?"""

import io
import sys
from pathlib import Path

import pytest

from accelsim.errors import Fault, SpecError
from accelsim.spec.dramtrace import read_trace
from accelsim.spec.files import LONGEST_LINE, read_text
from accelsim.spec.networkfile import MOST_EDGES
from accelsim.spec.read import read_chip, read_memory, read_network, read_workload, shipped
from accelsim.spec.trafficfile import read_traffic
from accelsim.spec.workload import LONGEST_WINDOWED, MOST_OPERATORS
from accelsim.spec.yamlfile import MOST_FAULTS

from ..cli.command import accelsim

TOY = shipped("chips")["toy"].read_text(encoding="utf-8")


def said(tmp_path: Path, read: object, text: str) -> str:
    path = tmp_path / "it.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(SpecError) as told:
        read(str(path))  # type: ignore[operator]
    return str(told.value)


def test_a_fault_is_one_printable_line_of_bounded_length() -> None:
    assert str(Fault("a\nb\x1b[31m", 1, 2, "p", "m\u202e", "x" * 5000, "h")) == (
        "a\\nb\\x1b[31m:1:2: p: m\\u202e; allowed: " + "x" * 1000 + "...; did you mean 'h'?")
    assert len(str(Fault("\U0010ffff" * 9000, 0, 0, "", "\udcff" * 9000))) == 2 * 1003 + 2


def test_of_many_faults_the_first_are_printed_and_the_rest_counted() -> None:
    lines = str(SpecError(Fault("f", i, 1, "", "wrong") for i in range(1, 1501))).split("\n")
    assert len(lines) == 201
    assert lines[199:] == ["f:200:1: wrong", "and 1,300 more faults"]


def test_a_file_with_a_fault_in_each_of_thousands_of_entries_is_told_of_the_first(tmp_path: Path) -> None:
    text = "name: x\noperators:\n" + "  - {name: o, operator: gemm, dims: {m: 1, n: 1, k: 1}}\n" * MOST_OPERATORS
    lines = said(tmp_path, read_workload, text).split("\n")
    assert len(lines) == MOST_FAULTS
    assert "it.yaml:4:6: operators[1].name: a second operator named o" in lines[0]
    assert f"at most {MOST_OPERATORS} items" in said(tmp_path, read_workload, text + "  - {}\n")
    assert "at most 64 items" in said(tmp_path, read_chip, f"name: a\ndescription: b\nclock: 1 GHz\nlevels: [{'{}, ' * 65}]\n")


def test_a_mark_before_the_text_is_no_part_of_it(tmp_path: Path) -> None:
    trace, packets = tmp_path / "trace.csv", tmp_path / "packets.csv"
    trace.write_bytes(b"\xef\xbb\xbfR,0x40\r\nW,0x80\r\n")
    packets.write_bytes(b"\xef\xbb\xbf0,1,2,8\r\n")
    assert read_trace(str(trace), read_memory("ddr4-2400")).addresses.tolist() == [0x40, 0x80]
    assert read_traffic(str(packets), read_network("ring8")).destinations.tolist() == [2]
    assert read_text(trace, "trace", 100).startswith("R,")


def test_no_more_is_read_of_a_file_than_may_be(tmp_path: Path) -> None:
    path = tmp_path / "it"
    path.write_bytes(b"x" * 101)
    assert len(read_text(path, "it", 101)) == 101
    with pytest.raises(SpecError, match="larger than"):
        read_text(path, "it", 100)
    path.write_bytes(b"0" * (LONGEST_LINE + 1))
    for read in (lambda: read_trace(str(path), read_memory("ddr4-2400")),
                 lambda: read_traffic(str(path), read_network("ring8"))):
        with pytest.raises(SpecError, match="1:1: a line of more than 65,536 characters"):
            read()


def test_packets_on_standard_input_that_are_no_text_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"0 1 2 8\n\xff"), encoding="utf-8"))
    assert accelsim("noc", "ring8", "-", code=2).err == "accelsim: standard input: not UTF-8 text: invalid start byte at byte 8\n"


def test_an_override_leads_no_deeper_than_a_file() -> None:
    with pytest.raises(SpecError, match="a path of 40 parts; allowed: at most 32"):
        read_workload("gemm:m=8,n=8,k=8", [f"workload.{'a.' * 39}a=1"])


@pytest.mark.parametrize("name", ["a\nb", "\x1b[2J", "a\u202eb", "\u2028"])
def test_a_name_that_cannot_be_printed_is_refused(tmp_path: Path, name: str) -> None:
    for text, read, other in (
            ("name: {}\noperators: [{name: o, operator: gemm, dims: {m: 1, n: 1, k: 1}}]\n", read_workload, "x"),
            ("name: x\noperators: [{name: {}, operator: gemm, dims: {m: 1, n: 1, k: 1}}]\n", read_workload, "x"),
            (shipped("networks")["ring8"].read_text(encoding="utf-8").replace("name: ring8", "name: {}"), read_network, "x"),
            (shipped("memories")["ddr4-2400"].read_text(encoding="utf-8").replace("name: ddr4-2400", "name: {}"), read_memory,
             "x")):
        path = tmp_path / "good.yaml"
        path.write_text(text.replace("{}", other), encoding="utf-8")
        read(str(path))  # type: ignore[operator]
        escaped = ascii(name)[1:-1].replace("\\x", "\\u00")
        assert "holds characters that cannot be printed" in said(tmp_path, read, text.replace("{}", f'"{escaped}"'))


def test_windows_slide_over_so_many_positions_and_no_more(tmp_path: Path) -> None:
    fits = LONGEST_WINDOWED - 2
    assert read_workload(f"conv1d:k=1,c=1,p={fits},r=3").operators[0].dims["p"] == fits
    with pytest.raises(SpecError, match=r"windows slide along p \+ r of I over 1,048,577 positions; allowed: up to 1,048,576"):
        read_workload(f"conv1d:k=1,c=1,p={fits + 1},r=3")
    own = "name: x\noperators: [{name: a, dims: {p: 2000000, r: 3}, output: O, tensors: {O: [p], I: [p + r]}}]\n"
    assert "it.yaml:2:82: operators.a.tensors.I[0]: windows slide along p + r" in said(tmp_path, read_workload, own)
    assert read_workload("gemm:m=1099511627776,n=1,k=1").operators[0].dims["m"] == 1 << 40


def test_a_long_chain_of_routers_is_looked_through_once(tmp_path: Path) -> None:
    chain = ", ".join(f"{{from: {i}, to: {i + 1}}}" for i in range(4095))
    text = "name: a\nclock: 1 GHz\nflit: 1 B\nrouter: {vcs: 1, buffer: 1}\ntopology: {kind: edges, sizes: [4096], edges: [#]}\n"
    path = tmp_path / "chain.yaml"
    path.write_text(text.replace("#", chain), encoding="utf-8")
    assert read_network(str(path)).topology.routers == 4096
    cut = chain.replace("{from: 9, to: 10}", "{from: 9, to: 10, one_way: true}")
    assert "no way from router 10 to router 0 that goes up" in said(tmp_path, read_network, text.replace("#", cut))
    assert f"at most {MOST_EDGES} items" in said(tmp_path, read_network, text.replace("#", "1, " * (MOST_EDGES + 1)))


def test_a_saved_run_holds_the_files_that_its_chip_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    chip = TOY.replace("bandwidth: 4 B/cycle", "timing: own.yaml", 1).replace("capacity: unlimited", "capacity: 1 GiB", 1)
    ports = chip.index("    ports:\n")
    Path("chip.yaml").write_text(chip[:ports] + chip[chip.index("\n", ports + 11) + 1:], encoding="utf-8")
    own = Path("own.yaml")
    own.write_bytes(shipped("memories")["ddr4-2400"].read_bytes())
    ran = accelsim("run", "chip.yaml", "gemm:m=8,n=8,k=8", "-o", "memory.controller.refresh=none", "--save", "saved").out
    own.unlink()
    assert accelsim("report", "saved").out == ran
    given = ("chip.levels.DRAM.timing=" + str(tmp_path / "sub" / "own.yaml"), "memory.controller.refresh=none")
    Path("sub").mkdir()
    Path("sub/own.yaml").write_bytes(shipped("memories")["ddr4-2400"].read_bytes())
    assert accelsim("run", "chip.yaml", "gemm:m=8,n=8,k=8", "-o", given[0], "-o", given[1], "--save", "again").out == ran
    assert accelsim("report", "again").out == ran


def test_a_pattern_draws_so_many_random_numbers_and_no_more() -> None:
    network = read_network("ring8")
    with pytest.raises(SpecError, match=r"load: about 640,000,000 cycles of all nodes.*up to 134,217,728"):
        read_traffic("uniform:load=0.5,flits=4000,packets=10000", network)
    assert len(read_traffic("uniform:load=0.5,flits=1000000,packets=1", network)) == 8
