"""Every reader of what a user writes, as a table: a name, valid texts, and a function from bytes to whatever is read.

A new reader is one line of ``READERS``; it is then fuzzed with all the others, here and by `make fuzz`.
"""

from __future__ import annotations

import functools
import hashlib
import io
import json
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from accelsim.analytic.auto import choose
from accelsim.cli.commands import read_window
from accelsim.cli.diff import side_of
from accelsim.cli.noc import _loads
from accelsim.cli.starter import CHIP, WORKLOAD
from accelsim.errors import DoesNotFit, LimitExceeded, SpecError
from accelsim.importers.foreign import import_files
from accelsim.outputs import results
from accelsim.outputs.text import summary
from accelsim.spec.affine import parse_affine
from accelsim.spec.banks import interleaved_bytes, parse_layout, parse_ports
from accelsim.spec.dram import Dram
from accelsim.spec.dramtrace import read_trace
from accelsim.spec.network import Network
from accelsim.spec.read import Unmapped, read, read_chip, read_memory, read_network, read_workload, shipped, shipped_folder
from accelsim.spec.trafficfile import read_traffic
from accelsim.spec.yamlfile import read_yaml
from accelsim.units import parse_bytes, parse_dtype, parse_duration, parse_frequency, parse_rate
from accelsim.verbs import Options, load, run, save

from ..importers import zigzag_files
from .mutate import Seed, flow

MOST_CHARACTERS = 5_000
"""Of a fault as it is printed."""
MOST_LINES = 250
"""Of all faults of a file."""


@dataclass(frozen=True)
class Reader:
    """``read``: takes what a user wrote and a folder that it may use; raises one of ``refusals``, or nothing.

    ``in_file``: what was written is a file, so its faults name a place in it. ``share``: of all inputs, in thousandths.
    """

    name: str
    seeds: Callable[[], tuple[bytes, ...]]
    read: Callable[[bytes, Path], object]
    share: int
    in_file: bool = True
    refusals: tuple[type[Exception], ...] = (SpecError, DoesNotFit, LimitExceeded)

    @functools.cache  # noqa: B019  the table lives as long as the process
    def prepared(self) -> tuple[Seed, ...]:
        """The valid texts, parsed once."""
        return tuple(map(Seed.of, self.seeds()))


def attempt(reader: Reader, text: bytes, folder: Path) -> bool:
    """Whether it was read; if not, it was refused as a user should be told. Anything else is raised."""
    try:
        reader.read(text, folder)
    except reader.refusals as error:
        if ValueError not in reader.refusals:  # those are a part of a fault's message
            check_told(error, text if reader.in_file else None)
        return False
    return True


def check_told(error: Exception, text: bytes | None) -> None:
    """What a user is told is short, printable and says where: in a file that is YAML, by line and column."""
    said = str(error)
    lines = said.split("\n")
    assert said
    assert len(lines) <= MOST_LINES, f"{len(lines)} lines"
    for line in lines:
        assert len(line) <= MOST_CHARACTERS, f"{len(line)} characters: {line[:200]}"
        assert line.isprintable(), ascii(line)
    assert "Traceback" not in said
    if isinstance(error, SpecError) and text is not None:
        placed = _is_yaml(text)
        for fault in error.faults:
            assert fault.file, said
            assert fault.line or not placed, f"no line: {said}"


def _is_yaml(text: bytes) -> bool:
    try:
        read_yaml(text.decode(), "text")
    except (SpecError, UnicodeDecodeError):
        return False
    return True


def _file(read_one: Callable[[str], object], name: str = "it.yaml") -> Callable[[bytes, Path], object]:
    """A reader of a file by its path."""
    def read_file(text: bytes, folder: Path) -> object:
        path = folder / name
        path.write_bytes(text)
        return read_one(str(path))
    return read_file


def _word(read_one: Callable[[str], object]) -> Callable[[bytes, Path], object]:
    """A reader of a word of the command line, as the system hands it over: no NUL, and undecodable bytes as surrogates."""
    return lambda text, _: read_one(text.replace(b"\0", b"").decode("utf-8", "surrogateescape"))


def _shipped(kind: str, *names: str) -> Callable[[], tuple[bytes, ...]]:
    return lambda: tuple(path.read_bytes() for name, path in shipped(kind).items() if not names or name in names)


def _texts(*texts: str) -> Callable[[], tuple[bytes, ...]]:
    return lambda: tuple(text.encode() for text in texts)


# -- cases ------------------------------------------------------------------------------------------------------------

RECORD = "operator-000.npz"
SMALL = "gemm:m=8,n=8,k=8"
OWN = """\
name: own
operators:
  - {name: corr, dims: {b: 2, k: 4, p: 5, r: 3}, tensors: {I: [b, "2*p + r - 1"], W: [k, r], O: [b, k, p]}, output: O,
     shapes: {I: [2, 11]}, dtype: {I: int8, W: int8, O: int32}, accumulator: int32, roles: {W: weight}, repeat: 3}
"""


def _read_case(chip: str, workload: str, mapping: str | None, *overrides: str) -> None:
    """Up to the cases; an operator without one must say why as plainly as a file."""
    for item in read(chip, workload, mapping, choose=choose, overrides=overrides).cases:
        if isinstance(item, Unmapped):
            check_told(item.error, None)


def _read_mapping(path: str) -> None:
    _read_case("toy3", SMALL, path)


def _read_conv_mapping(path: str) -> None:
    _read_case("eyeriss", "conv2d:k=8,c=4,p=6,q=6,r=3,s=3", path)


def _conv_mappings() -> tuple[bytes, ...]:
    path = shipped_folder("traces") / "alexnet" / "eyeriss-row-stationary.yaml"
    one = next(iter(read_yaml(path.read_text(encoding="utf-8"), "seed").value["operators"].values()))
    return (flow(one).encode(),)


def _read_own_chip(path: str) -> None:
    _read_case(path, SMALL, None)


def _read_override(text: str) -> None:
    _read_case("toy", SMALL, None, text)


# -- words ------------------------------------------------------------------------------------------------------------


def _any_of(*parsers: Callable[[str], object]) -> Callable[[str], object]:
    """Every parser of small words is given the text; it is refused where all refuse it."""
    def every(text: str) -> object:
        errors: list[ValueError] = []
        for parse in parsers:
            try:
                parse(text)
            except ValueError as wrong:
                errors.append(wrong)
        assert all(len(str(wrong)) <= MOST_CHARACTERS for wrong in errors)  # a fault will make them printable
        if len(errors) == len(parsers):
            raise errors[0]
        return None
    return every


# -- saved runs -------------------------------------------------------------------------------------------------------


@functools.cache
def _saved() -> dict[str, bytes]:
    """The files of a small saved run."""
    with tempfile.TemporaryDirectory(prefix="accelsim-") as folder:
        save(run("toy", SMALL, Options()), Path(folder) / "run")
        return {path.name: path.read_bytes() for path in sorted((Path(folder) / "run").iterdir())}


def _saved_file(name: str) -> Callable[[], tuple[bytes, ...]]:
    return lambda: (_saved()[name],)


def _read_run_with(name: str) -> Callable[[bytes, Path], object]:
    """A saved run, one file of it replaced; where it is a record, the run says that this is what was saved."""
    def read_run(text: bytes, folder: Path) -> object:
        whole = folder / f"run-{name}"
        if not whole.is_dir():
            whole.mkdir()
            for other, content in _saved().items():
                (whole / other).write_bytes(content)
        (whole / name).write_bytes(text)
        if name == RECORD:
            about = json.loads(_saved()["run.json"])
            about["records"][RECORD] = hashlib.sha256(text).hexdigest()
            (whole / "run.json").write_text(json.dumps(about), encoding="utf-8")
        finished = load(whole)
        return results.run_json(finished.report), summary(finished.report)
    return read_run


def _read_about(text: bytes, folder: Path) -> object:
    """A record whose arrays are right and whose text is not."""
    with np.load(io.BytesIO(_saved()[RECORD])) as data:
        arrays = {name: data[name] for name in data.files}
    arrays["about"] = np.array(text.replace(b"\0", b"").decode("utf-8", "replace"))
    file = io.BytesIO()
    np.savez(file, **arrays)
    return _read_run_with(RECORD)(file.getvalue(), folder)


def _abouts() -> tuple[bytes, ...]:
    with np.load(io.BytesIO(_saved()[RECORD])) as data:
        return (str(data["about"]).encode(),)


# -- other tools' files, and results ----------------------------------------------------------------------------------

_TOPOLOGY = """\
Layer name, IFMAP Height, IFMAP Width, Filter Height, Filter Width, Channels, Num Filter, Strides,
Conv1, 16, 16, 3, 3, 16, 32, 2,
DP_1, 8, 8, 3, 3, 4, 1, 1,
"""
_CONFIGURATION = """\
[general]
run_name = it

[architecture_presets]
ArrayHeight: 8
ArrayWidth: 16
IfmapSramSzkB: 64
FilterSramSzkB: 64
OfmapSramSzkB: 32
IfmapOffset: 0
FilterOffset: 10000000
OfmapOffset: 20000000
Dataflow: ws
Bandwidth: 10

[run_presets]
InterfaceBandwidth: CALC
"""


def _imported(tool: str) -> Callable[[str], object]:
    return lambda path: import_files([Path(path)], tool)


def _zigzag(which: str) -> Callable[[bytes, Path], object]:
    """All three files, one of them as it is given: a mapping says nothing alone."""
    def read_three(text: bytes, folder: Path) -> object:
        texts = {"accelerator": zigzag_files.ACCELERATOR, "workload": zigzag_files.WORKLOAD, "mapping": zigzag_files.MAPPING}
        paths = [folder / f"{name}.yaml" for name in texts]
        for path, own in zip(paths, texts.values(), strict=True):
            if not path.exists() or path.stem == which:
                path.write_bytes(text if path.stem == which else own.encode())
        return import_files(paths, "zigzag")
    return read_three


def _timeloop() -> tuple[bytes, ...]:
    folder = Path(__file__).parent.parent / "importers" / "timeloop"
    return tuple(path.read_bytes() for path in sorted(folder.glob("*.yaml"))[::12])


def _json_of_a_run() -> tuple[bytes, ...]:
    return (results.to_text(results.run_json(run("toy", SMALL, Options()).report)).encode(),)


# -- the table --------------------------------------------------------------------------------------------------------

DRAM = "ddr4-2400"
NETWORK = "mesh4x4"
LINES = """\
# as DRAMsim3 and Ramulator write them
R 0x40
W 0x80 120
0x1234 READ 130
4096 W
st,77,131
"""
PACKETS = """\
0 0 1 8
0 2 3+4+5 1   # a multicast
4 1+2+3 0 16
1099511627776, 15, 0, 16777216
"""

READERS: tuple[Reader, ...] = (
    Reader("chip", lambda: (*_shipped("chips")(), CHIP.encode()), _file(read_chip), 80),
    Reader("chip in a case", _shipped("chips", "toy", "toy3"), _file(_read_own_chip), 20),
    Reader("workload", lambda: (WORKLOAD.encode(), OWN.encode(), *_shipped("workloads", "gemm-squares", "llm-decode")()),
           _file(read_workload), 80),
    Reader("mapping", lambda: (_TOY3,), _file(_read_mapping), 50),
    Reader("mapping of a convolution", _conv_mappings, _file(_read_conv_mapping), 20),
    Reader("memory", _shipped("memories"), _file(read_memory), 60),
    Reader("network", lambda: (*_shipped("networks")(), _EDGES), _file(read_network), 60),
    Reader("inline workload", _texts(SMALL, "conv2d:k=8,c=4,p=6,q=6,r=3,s=3,stride=2,padding=1x2,dtype=int8,groups=2,h=12",
                                     "batched_gemm:b=2,m=4,n=5,k=6"), _word(read_workload), 50, in_file=False),
    Reader("override", _texts('chip.levels.DRAM.latency="40 cycles"', "workload.operators.0.dims.m=16",
                              "mapping.levels.SRAM.loops=[{m: 2}]", "chip.clock=2 GHz",
                              "chip.levels.SRAM.ports=[{name: p, serves: [fill]}]"), _word(_read_override), 20, in_file=False),
    Reader("quantity", _texts("900 GB/s", "64 KiB", "1.5 MB", "256 bit", "100 cycles", "14 ns", "1.2 GHz", "4 B/cycle", "int8"),
           _word(_any_of(parse_bytes, parse_rate, parse_duration, parse_frequency, parse_dtype)), 90, in_file=False,
           refusals=(ValueError,)),
    Reader("small word", _texts("2*p + r - 1", "1RW1R", "blocked:8x8", "padded:3", "64 B", "word"),
           _word(_any_of(parse_affine, parse_ports, parse_layout, interleaved_bytes)), 70, in_file=False,
           refusals=(ValueError,)),
    Reader("window", _texts("1000:2000", ":2,000", "5:"), _word(read_window), 20, in_file=False),
    Reader("loads", _texts("0.1,0.2", "0.1:0.8:0.1"), _word(_loads), 20, in_file=False),
    Reader("address trace", _texts(LINES), _file(lambda path: read_trace(path, read_memory(DRAM)), "it.trace"), 40),
    Reader("address pattern", _texts("stream:n=20,writes=3", "stride:n=20,bytes=4 KiB,every=3", "random:n=20,seed=7"),
           _word(lambda text: read_trace(text, _dram())), 40, in_file=False),
    Reader("packet file", _texts(PACKETS), _file(lambda path: read_traffic(path, read_network(NETWORK)), "it.packets"), 40),
    Reader("packet pattern", _texts("uniform:load=0.2,flits=8,packets=10", "multicast:node=3,packets=2", "shift:by=3,seed=9",
                                    "transpose:", "all2all:packets=2"),
           _word(lambda text: read_traffic(text, _network())), 30, in_file=False),
    Reader("SCALE-Sim topology", _texts(_TOPOLOGY), _file(_imported("scalesim"), "it.csv"), 40, in_file=False),
    Reader("SCALE-Sim configuration", _texts(_CONFIGURATION), _file(_imported("scalesim"), "it.cfg"), 30, in_file=False),
    Reader("Timeloop", _timeloop, _file(_imported("timeloop")), 40, in_file=False),
    Reader("ZigZag accelerator", _texts(zigzag_files.ACCELERATOR), _zigzag("accelerator"), 20, in_file=False),
    Reader("ZigZag workload", _texts(zigzag_files.WORKLOAD), _zigzag("workload"), 10, in_file=False),
    Reader("ZigZag mapping", _texts(zigzag_files.MAPPING), _zigzag("mapping"), 10, in_file=False),
    Reader("JSON of a run", _json_of_a_run, _file(side_of, "it.json"), 30, in_file=False),
    Reader("run.json", _saved_file("run.json"), _read_run_with("run.json"), 8, in_file=False),
    Reader("record of a run", _saved_file(RECORD), _read_run_with(RECORD), 12, in_file=False),
    Reader("text of a record", _abouts, _read_about, 10, in_file=False),
)

_TOY3 = b"""\
levels:
  - {level: DRAM, loops: [{k: 2}, {m: "*"}, {n: "*"}], binding: [A, B, C], buffers: {A: 1}}
  - {level: SRAM, loops: [{[m, n]: 4}]}
  - {level: RF, loops: [{k: "*"}]}
"""
_EDGES = b"""\
name: own
clock: 1 GHz
flit: 16 B
topology: {kind: edges, sizes: [4], nodes: [0, 1, 3], edges: [{from: 0, to: 1},
           {from: 1, to: 2, latency: 2 cycles, width: 8 B/cycle}, {from: 2, to: 3, one_way: false}]}
router: {vcs: 4, buffer: 8, reduction_vcs: 1, speculative: true}
"""


@functools.cache
def _dram() -> Dram:
    return read_memory(DRAM)


@functools.cache
def _network() -> Network:
    return read_network(NETWORK)

