"""why as a user meets it."""

from __future__ import annotations

from pathlib import Path

from .command import call

TILE = "gemm:m=4,n=4,k=4"


def test_a_wait_is_told_in_words() -> None:
    ended = call("why", "toy", TILE, "--at", "20")
    assert ended.code == 0
    for line in ("gemm on toy, cycle 20: MAC waits, for B", "  since cycle 0, until 132: 132 cycles",
                 "  ->           16 to           32          16  dram_bandwidth at DRAM.port",
                 "                0 to           16          16  contention at DRAM.port behind A",
                 "    tile 1 of B at SRAM: claimed at 0, ready at 132",
                 "      DRAM.port: asked at 0, served 16 to 32, behind A", "      claimed at the start of the run"):
        assert line in ended.out.splitlines()


def test_a_saved_run_is_asked_by_its_folder(tmp_path: Path) -> None:
    folder = str(tmp_path / "run")
    assert call("run", "toy", TILE, "--save", folder).code == 0
    told = call("why", folder, "--at", "250", "--json").json
    assert (told["doing"], told["since_cycle"], told["until_cycle"], told["chain"][0]["drains"]) == ("stalled", 196, 312, True)
    assert told == call("why", "toy", TILE, "--at", "250", "--json").json


def test_what_is_asked_wrongly_ends_with_2() -> None:
    assert "ends at cycle 312" in call("why", "toy", TILE, "--at", "400").err
    assert "no lane named 'DRAM'" in call("why", "toy", TILE, "--at", "4", "--lane", "DRAM").err
    assert "no operator named 'conv'" in call("why", "toy", TILE, "--at", "4", "--operator", "conv").err
    assert [call("why", *words).code for words in (("toy", TILE, "--at", "400"), ("toy", TILE), ("no-folder", "--at", "3"),
                                                   ("toy", TILE, "--at", "-1"))] == [2, 2, 2, 2]


def test_a_saved_run_is_asked_as_it_was(tmp_path: Path) -> None:
    folder = str(tmp_path / "run")
    assert call("run", "toy", TILE, "--save", folder).code == 0
    for words in (("-o", "chip.levels.DRAM.latency=400 cycles"), ("--dataflow", "auto2"), ("--mapping", "m.yaml")):
        ended = call("why", folder, "--at", "250", *words)
        assert ended.code == 2
        assert "a saved run is asked as it was" in ended.err
    ended = call("why", "toy", "--at", "250")
    assert ended.code == 2
    assert "no folder of a saved run" in ended.err


HELD = "levels:\n  - {level: DRAM, loops: []}\n  - {level: SRAM, loops: [{m: 512}, {n: 512}, {k: 512}]}\n"


def test_what_does_not_fit_ends_with_3_whoever_asks(tmp_path: Path) -> None:
    mapping = tmp_path / "m.yaml"
    mapping.write_text(HELD, encoding="utf-8")
    words = ("toy", "gemm:m=512,n=512,k=512", "--mapping", str(mapping))
    for one in (("run", *words), ("whatif", *words), ("why", *words, "--at", "3"),
                ("why", *words, "--at", "3", "--operator", "gemm")):
        ended = call(*one)
        assert (ended.code, "available" in ended.err) == (3, True), one
