"""Inputs that are made to break a reader: a name, the reader, and the bytes. Run as a script: read all, in little memory.

``python -m tests.fuzz.hostile`` limits its own memory and prints a line for each.
"""

from __future__ import annotations

import io
import json
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

from accelsim.spec.read import shipped

from .readers import READERS, attempt

Hostile = tuple[str, str, Callable[[], bytes]]
MEMORY_BYTES = 1 << 30
"""What all of them may take together beyond the interpreter: address space, of which less is touched."""

LARGEST = 4 * 2**20
TOY = shipped("chips")["toy"].read_text(encoding="utf-8")
NETWORK = "name: a\nclock: 1 GHz\nflit: 1 B\nrouter: {vcs: 2, buffer: 1}\ntopology: {kind: edges, sizes: [4096], edges: ["


def _many(text: str, count: int) -> str:
    return ", ".join(text.replace("#", str(i)) for i in range(count))


def _laughs() -> str:
    """A billion laughs: ten names, each nine times the one before."""
    return "a: &a [x, x]\n" + "".join(f"{chr(98 + i)}: &{chr(98 + i)} [{', '.join(['*' + chr(97 + i)] * 9)}]\n" for i in range(9))


def _packed(member: str, size: int) -> bytes:
    """A record that is small and says that it unpacks to a lot."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr(member, _claims("(134217728, 5)"))
        for other in ("about", "totals", "ticks"):
            packed.writestr(f"{other}.npy", _claims("()", "<U1"))
        packed.filelist[0].file_size = size
    return file.getvalue()


def _claims(shape: str, dtype: str = "<i8") -> bytes:
    """The head of an array that is said to be of a shape."""
    head = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}".encode().ljust(117) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head


def _file_of(*members: tuple[str, bytes]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as packed:
        for name, content in members:
            packed.writestr(name, content)
    return file.getvalue()


def _nested(kind: str) -> str:
    return {"flow": "a: " + "[" * 10_000, "braces": "a: " + "{a: " * 10_000, "dashes": "- " * 10_000,
            "block": "".join(" " * i + "a:\n" for i in range(2_500)), "closed": "a: " + "[" * 10_000 + "]" * 10_000,
            "keys": "? " * 10_000}[kind]


def _text(make: Callable[[], str]) -> Callable[[], bytes]:
    return lambda: make().encode()


def hostile() -> Iterator[Hostile]:
    """All of them; none is valid."""
    for name in ("chip", "workload", "mapping", "memory", "network"):
        yield f"{name}: alias bomb", name, _text(_laughs)
        for kind in ("flow", "braces", "dashes", "block", "closed", "keys"):
            yield f"{name}: nested 10,000 deep, {kind}", name, _text(lambda kind=kind: _nested(kind))  # type: ignore[misc]
        for what, content in (("empty", b""), ("NUL", b"\0" * 100), ("not UTF-8", b"name: \xff\xfe"),
                              ("UTF-16", "a: b".encode("utf-16")), ("blanks", b" " * 100_000), ("tabs", b"\t" * 100_000),
                              ("too large", b"#" * (LARGEST + 1))):
            yield f"{name}: {what}", name, lambda content=content: content  # type: ignore[misc]
    for what, make in (("one line", lambda: b"name: " + b"x" * (LARGEST - 10)),
                       ("a long key", lambda: b"? [" + b"a," * 400_000 + b"]\n: 1"),
                       ("a long number", lambda: b"name: " + b"1" * (LARGEST - 10)),
                       ("one key many times", lambda: b"a: 1\n" * 400_000),
                       ("keys", lambda: b"".join(b"k%d: 1\n" % i for i in range(100_000)))):
        yield f"memory: {what}", "memory", make
    yield "chip: levels", "chip", _text(lambda: f"levels: [{'1, ' * 200_000}]\n")
    yield "chip: levels with names", "chip", _text(lambda: TOY.partition("levels:")[0] + "levels: [" + _many(
        "{name: L#, kind: sram, capacity: 1 B, bandwidth: 1 B/cycle}", 25_000) + "]\n")
    yield "chip: links from nowhere", "chip", _text(
        lambda: TOY + "\nlinks: [" + _many("{name: a, from: x, to: y}", 20_000) + "]\n")
    yield "chip: axes of PEs", "chip", _text(lambda: TOY.replace("pes: {}", "pes: {" + _many("a#: 1048576", 60_000) + "}"))
    yield "workload: operators", "workload", _text(lambda: f"name: x\noperators: [{'1, ' * 200_000}]\n")
    yield "workload: operators of one name", "workload", _text(
        lambda: "name: x\noperators:\n" + "  - {name: o, operator: gemm, dims: {m: 1, n: 1, k: 1}}\n" * 9_999)
    yield "workload: dimensions", "workload", _text(
        lambda: "name: x\noperators: [{name: a, operator: gemm, dims: {" + _many("m#: 1", 100_000) + "}}]\n")
    yield "workload: axes", "workload", _text(
        lambda: "name: x\noperators: [{name: a, dims: {m: 4}, output: O, tensors: {O: [m], I: [" + "m, " * 200_000 + "]}}]\n")
    yield "workload: factors of 10^18", "workload", _text(
        lambda: f"name: x\noperators: [{{name: a, operator: gemm, dims: {{m: {10**18}, n: {10**18}, k: {10**18}}}}}]\n")
    yield "mapping: factors of 10^18", "mapping", _text(lambda: f"levels:\n - {{level: DRAM, loops: [{{m: {10**18}}}]}}\n")
    yield "mapping: loops", "mapping", _text(lambda: "levels:\n - {level: DRAM, loops: [" + "{m: 1}, " * 70_000 + "]}\n")
    yield "mapping: a flattened list", "mapping", _text(
        lambda: "levels:\n - {level: DRAM, loops: [{? [" + "m, " * 200_000 + "m] : 4}]}\n")
    yield "mapping: operators", "mapping", _text(lambda: "operators: {" + _many("a#: {levels: [{level: D}]}", 40_000) + "}\n")
    yield "memory: address fields", "memory", _text(
        lambda: shipped("memories")["ddr4-2400"].read_text(encoding="utf-8").partition("\nmapping:")[0]
        + "\nmapping: [" + "row, " * 200_000 + "]\n")
    yield "network: edges", "network", _text(lambda: NETWORK + _many("{from: 0, to: 1}", 45_000) + "]}\n")
    yield "network: stages", "network", _text(
        lambda: NETWORK.replace("edges, sizes: [4096], edges: [", "fly, sizes: [4096, 12]}\n"))
    window = "conv2d:k=1099511627771,c=4,p=1099511627771,q=1099511627771,r=3,s=3"
    yield "inline: windows without end", "inline workload", window.encode
    yield "inline: a long one", "inline workload", lambda: b"gemm:" + b"m=8," * 100_000
    yield "override: a deep path", "override", lambda: b"workload." + b"a." * 5_000 + b"a=1"
    yield "override: a deep value", "override", lambda: b"workload.name=" + b"[" * 10_000
    yield "quantity: a long number", "quantity", lambda: b"1" * 1_000_000 + b" B"
    yield "address trace: no end of line", "address trace", lambda: b"R 0x40 " * 1_000_000
    yield "address trace: a zero too many", "address trace", lambda: b"R 0\0x40"
    yield "packet file: no end of line", "packet file", lambda: b"0 0 1 8 " * 1_000_000
    yield "packet pattern: too many", "packet pattern", lambda: b"uniform:load=0.000000000001,packets=1000000,flits=16777216"
    yield "address pattern: too many", "address pattern", lambda: b"stride:n=999999999999,bytes=1024 PiB"
    yield "run.json: deep", "run.json", lambda: b"[" * 100_000
    yield "run.json: of another shape", "run.json", lambda: json.dumps({"format": 4, "records": 3, "origins": []}).encode()
    yield "record: unpacks to 5 GiB", RECORD_READER, lambda: _packed("rows.npy", 5 << 30)
    yield "record: a table of 10^15", RECORD_READER, lambda: _file_of(
        ("about.npy", _claims("()", "<U1") + b"{\0\0\0"), ("totals.npy", _claims("(1000000000000000, 1)")),
        ("ticks.npy", _claims("(1, 1, 1)")), ("rows.npy", _claims("(0, 5)")))
    yield "record: objects", RECORD_READER, lambda: _file_of(
        ("about.npy", _claims("()", "|O") + b"cos\nsystem\n(S'true'\ntR."), ("totals.npy", _claims("(0, 0)")),
        ("ticks.npy", _claims("(0, 0, 0)")), ("rows.npy", _claims("(0, 5)")))
    yield "record: nothing", RECORD_READER, lambda: b""


RECORD_READER = "record of a run"


def main() -> None:
    """Read all of them within the memory that there is; end with 1 where one was read, or not refused as it should be."""
    import resource

    from accelsim.kernels import jit
    readers = {reader.name: reader for reader in READERS}
    for reader in readers.values():
        reader.prepared()  # what a reader takes for itself
    jit.compile_all()
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    limit = pages * resource.getpagesize() + MEMORY_BYTES
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    wrong = 0
    with tempfile.TemporaryDirectory(prefix="accelsim-") as folder:
        for name, reader, make in hostile():
            text = make()
            began = time.process_time()
            read = attempt(readers[reader], text, Path(folder))
            wrong += read
            sys.stdout.write(f"{'READ' if read else 'refused'} {time.process_time() - began:.2f} s {name}\n")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
