"""Are chip files read right, does every shipped number say where it comes from, and is each fault placed and named?"""

import re
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest

from accelsim.errors import SpecError
from accelsim.spec.chip import Access, Chip, MemoryKind, Multicast
from accelsim.spec.read import read_chip, shipped

CHIPS = shipped("chips")
Reader = Callable[[str], Chip]
TEACHING = {"toy", "toy3"}

CHIP = """\
name: mine
description: A chip to break
clock: 1 GHz
levels:
  - name: DRAM
    kind: dram
    capacity: unlimited
    bandwidth: 4 B/cycle
  - name: ONCHIP
    memories:
      - {name: SPAD, kind: sram, serves: [input, weight], capacity: 64 KiB, bandwidth: 8 B/cycle}
      - name: ACC
        kind: sram
        serves: [output]
        capacity: 16 KiB
        bandwidth: 8 B/cycle
        ports: [{name: port, serves: [fill, drain, array_read, array_write]}]
  - name: PE
    array: {model: spatial, pes: {x: 4, y: 4}}
links:
  - {name: BUS, from: DRAM, to: ONCHIP, bandwidth: 4 B/cycle}
"""


def changed(old: str, new: str) -> str:
    assert CHIP.count(old) == 1, old
    return CHIP.replace(old, new)


@pytest.fixture
def read(tmp_path: Path) -> Reader:
    def resolve(text: str) -> Chip:
        path = tmp_path / "chip.yaml"
        path.write_text(text, encoding="utf-8")
        return read_chip(str(path))
    return resolve


def faults(read: Reader, text: str) -> list[str]:
    with pytest.raises(SpecError) as caught:
        read(text)
    return [re.sub(r"^.*chip\.yaml", "chip.yaml", str(one)) for one in caught.value.faults]


# -- shipped --------------------------------------------------------------------------------------------------------


def test_the_chips_that_are_promised_ship() -> None:
    assert set(CHIPS) >= {"toy", "toy3", "gemmini", "tpu-v1", "eyeriss", "tpu-v3", "nvdla-small", "onnxim"}


@pytest.mark.parametrize("name", CHIPS)
def test_a_shipped_chip_resolves_and_says_what_it_is(name: str) -> None:
    chip = read_chip(name)
    assert chip.name == name
    assert chip.description
    assert chip.models
    assert chip.omits
    assert chip.sources or name in TEACHING


NUMBER = re.compile(r"\d")
PROSE = ("name:", "description:", "- {id:")


def numbered_lines(name: str) -> list[tuple[int, str, str]]:
    """(line, what it says, its comment) of each line of a chip file that states a number."""
    found, prose = [], False
    for number, line in enumerate(CHIPS[name].read_text(encoding="utf-8").splitlines(), 1):
        if re.match(r"\w", line):
            prose = line.startswith(("sources:", "models:", "omits:", "description:"))
        said, _, comment = line.partition("#")
        said = re.sub(r"(name|from|to|level): *[\w-]+", "", said)
        if NUMBER.search(said) and not prose and not said.strip().startswith(PROSE):
            found.append((number, said.strip(), comment.strip()))
    return found


@pytest.mark.parametrize("name", CHIPS)
def test_every_number_has_a_source_or_is_assumed_with_a_reason(name: str) -> None:
    text = CHIPS[name].read_text(encoding="utf-8")
    ids = re.findall(r"\{id: (\w+),", text)
    lines = numbered_lines(name)
    assert len(lines) > 3
    for number, said, comment in lines:
        if name in TEACHING and said.startswith(("buffers:", "array:")):
            continue
        sourced = any(re.search(rf"\b{word}\b", comment) for word in ids)
        assumed = re.search(r"\bassumed: \w+", comment, re.IGNORECASE)
        assert sourced or assumed, f"{name}.yaml:{number}: {said}: {comment or 'no comment'}"


@pytest.mark.parametrize("name", sorted(set(CHIPS) - TEACHING))
def test_every_source_is_cited(name: str) -> None:
    text = CHIPS[name].read_text(encoding="utf-8")
    for word in re.findall(r"\{id: (\w+),", text):
        assert re.search(rf"#.*\b{word}\b", text), word


# -- what a file means ------------------------------------------------------------------------------------------------


def test_defaults(read: Reader) -> None:
    chip = read(CHIP)
    dram, onchip = chip.levels
    memory, = dram.memories
    assert (memory.kind, memory.capacity_bytes, memory.latency_cycles) == (MemoryKind.DRAM, None, 0)
    assert {port.name: (port.rate, set(port.accesses)) for port in memory.ports} == {
        access.value: (4, {access}) for access in Access}
    assert (memory.granularity_bytes, memory.buffers, memory.banks, memory.accumulate) == (1, (("", 2),), None, False)
    assert [one.name for one in onchip.memories] == ["SPAD", "ACC"]
    assert [len(one.ports) for one in onchip.memories] == [4, 1]
    assert chip.array.pe_count == 16
    assert chip.array.registers == 0
    link, = chip.links
    assert (link.latency_cycles, link.multicast, link.reduce, link.per_instance) == (0, Multicast.NONE, False, False)


def test_units_and_clock_domains(read: Reader) -> None:
    chip = read(changed("bandwidth: 4 B/cycle\n  - name: ONCHIP", """bandwidth: 8 B/cycle
    clock: 250 MHz
    latency: 3 cycles
    ports:
      - {name: in, serves: [fill, array_read, array_write]}
      - {name: out, serves: [drain], bandwidth: 1.5 GB/s}
  - name: ONCHIP"""))
    memory, = chip.levels[0].memories
    assert memory.latency_cycles == 12
    assert [port.rate for port in memory.ports] == [Fraction(2), Fraction(3, 2)]
    assert read(changed("bandwidth: 4 B/cycle\n  -", "bandwidth: 4 B/cycle\n    latency: 14.2 ns\n  -")
                ).levels[0].memories[0].latency_cycles == 15


# -- faults -----------------------------------------------------------------------------------------------------------

DEPTHS = [
    ("clock: 1 GHz", "clock: 1 GHz\nclcok: 1 GHz", "chip.yaml:4:1: clcok: unknown key 'clcok'", "'clock'"),
    ("kind: dram", "kind: dram\n    bandwith: 4 B/cycle", "levels.DRAM.bandwith: unknown key 'bandwith'", "'bandwidth'"),
    ("name: SPAD,", "name: SPAD, capasity: 1 KiB,", "levels.ONCHIP.memories.SPAD.capasity: unknown key", "'capacity'"),
    ("{name: port,", "{name: port, serve: [fill],", "memories.ACC.ports.port.serve: unknown key", "'serves'"),
    ("{model: spatial,", "{model: spatial, depht: 1 cycles,", "levels.PE.array.depht: unknown key", "'depth'"),
    ("{name: BUS,", "{name: BUS, lateny: 1 cycles,", "links.BUS.lateny: unknown key", "'latency'"),
    ("description:", "sources: [{id: a, txt: b, text: c}]\ndescription:", "sources[0].txt: unknown key", "'text'"),
]


@pytest.mark.parametrize(("old", "new", "said", "hint"), DEPTHS, ids=[case[1].split(":")[-2][-12:] for case in DEPTHS])
def test_an_unknown_key_is_refused_at_every_depth(read: Reader, old: str, new: str, said: str, hint: str) -> None:
    fault, = faults(read, changed(old, new))
    assert said in fault
    assert f"did you mean {hint}?" in fault


@pytest.mark.parametrize(("old", "new", "key"), [
    ("clock: 1 GHz", "clock: 1 GHz\nclock: 2 GHz", "clock"),
    ("kind: dram", "kind: dram\n    kind: sram", "kind"),
    ("name: SPAD,", "name: SPAD, capacity: 1 KiB,", "capacity"),
    ("{name: port,", "{name: port, name: port,", "name"),
    ("{x: 4, y: 4}", "{x: 4, x: 5, y: 4}", "x"),
    ("{name: BUS,", "{name: BUS, from: DRAM,", "from"),
])
def test_a_repeated_key_is_refused_at_every_depth(read: Reader, old: str, new: str, key: str) -> None:
    fault, = faults(read, changed(old, new))
    assert f"duplicate key '{key}'" in fault


@pytest.mark.parametrize(("old", "new", "said"), [
    ("clock: 1 GHz", "clock: 1", "has no unit"),
    ("capacity: 64 KiB", "capacity: 65536", "has no unit"),
    ("bandwidth: 4 B/cycle\n  -", "bandwidth: 4\n  -", "has no unit"),
    ("kind: dram", "kind: dram\n    latency: 100", "has no unit"),
    ("kind: dram", "kind: dram\n    granularity: 64", "has no unit"),
    ("capacity: 64 KiB", "capacity: 64 KB/s", "unknown unit 'KB/s'"),
    ("capacity: 64 KiB", "capacity: -64 KiB", "negative"),
    ("clock: 1 GHz", "clock: 0 Hz", "not more than 0"),
    ("capacity: 64 KiB", "capacity: infinite", "not a plain decimal number"),
    ("{x: 4, y: 4}", "{x: 4, y: 0}", "greater than or equal to 1"),
    ("{x: 4, y: 4}", "{x: 4.5}", "valid integer"),
    ("{x: 4, y: 4}", '{x: "4"}', "valid integer"),
    ("{x: 4, y: 4}", "{x: true}", "valid integer"),
    ("kind: dram", "kind: drum", "did you mean 'dram'"),
    ("model: spatial", "model: systolyc", "did you mean 'systolic'"),
    ("serves: [input, weight]", "serves: []", "at least 1 item"),
    ("{name: port, serves: [fill,", "{name: port, serves: [fil,", "did you mean 'fill'"),
    ("pes: {x: 4, y: 4}", "pes: {x: 4, y: 4}, interval: {int9: 1 cycles}", "no type named int9"),
    ("{model: spatial, pes: {x: 4, y: 4}}", "{model: spatial}", "missing key 'pes'"),
    ("clock: 1 GHz\n", "", "missing key 'clock'"),
    ("    capacity: unlimited\n", "", "levels.DRAM: missing key 'capacity'"),
    ("    capacity: unlimited\n", "    capacity: unlimited\n    banks: 4\n", "banks of an unlimited memory"),
    ("    capacity: unlimited\n", "    capacity: unlimited\n    instances: {x: 2}\n", "the outermost level has one instance"),
    ("    capacity: unlimited\n", "    capacity: unlimited\n    manages: hardware\n", "software"),
    ("    memories:\n", "    kind: sram\n    memories:\n", "beside `memories`"),
    ("name: ACC", "name: SPAD", "a second memory named SPAD"),
    ("name: ONCHIP", "name: DRAM", "a second level named DRAM"),
    ("name: mine", "name: my chip", "should match pattern"),
    ("[{name: port,", "[{name: port, serves: [fill]}, {name: port,", "a second port named port"),
    ("    array: {model: spatial, pes: {x: 4, y: 4}}", "    kind: sram\n    capacity: 1 KiB\n    bandwidth: unlimited",
     "must be the PE array"),
    ("    kind: dram\n", "    array: {model: spatial, pes: {}}\n    kind: dram\n", "the PE array is the last level"),
    ("  - name: PE\n", "  - name: PE\n    instances: {x: 2}\n", "'instances' is no key of the array's level"),
])
def test_a_wrong_value_says_what_may_stand_there(read: Reader, old: str, new: str, said: str) -> None:
    found = faults(read, changed(old, new))
    assert said in "\n".join(found)
    assert all(re.match(r"chip\.yaml:\d+:\d+: ", fault) for fault in found)


@pytest.mark.parametrize(("old", "new", "said"), [
    ("from: DRAM", "from: DRMA", "no level named DRMA; allowed: DRAM, ONCHIP, PE; did you mean 'DRAM'?"),
    ("to: ONCHIP", "to: SPAD", "no level named SPAD"),
    ("from: DRAM, to: ONCHIP", "from: ONCHIP, to: DRAM", "DRAM is not inside ONCHIP"),
    ("from: DRAM, to: ONCHIP", "from: DRAM, to: DRAM", "DRAM is not inside DRAM"),
    ("{name: BUS,", "{name: BUS, request: 64 B,", "`request` and `outstanding` go together"),
    ("{name: BUS,", "{name: BUS, outstanding: 4,", "`request` and `outstanding` go together"),
    ("{name: BUS,", "{name: BUS, multicast: all,", "unknown value 'all'; allowed: none, equal or overlap"),
    ("{name: BUS,", "{name: BUS, serves: [array_read],", "unknown value 'array_read'"),
    ("{name: BUS,", "{name: BUS, reduce: 1,", "valid boolean"),
    ("links:\n", "links:\n  - {name: BUS, from: DRAM, to: PE, bandwidth: 1 B/cycle}\n", "a second link named BUS"),
])
def test_link_faults(read: Reader, old: str, new: str, said: str) -> None:
    assert said in "\n".join(faults(read, changed(old, new)))


def test_all_faults_at_once_in_the_order_of_the_file(read: Reader) -> None:
    text = CHIP.replace("clock: 1 GHz", "clock: 1").replace("kind: dram", "kind: drum").replace("{x: 4, y: 4}", "{x: 0}")
    found = faults(read, text)
    assert [fault.split(":")[1] for fault in found] == ["3", "6", "19"]
