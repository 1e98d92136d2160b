"""Traces of memory requests: files as other simulators write them, and patterns written inline."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from accelsim.errors import Fault, SpecError, nearest
from accelsim.spec.dram import Dram
from accelsim.spec.files import is_file, lines_of, reading
from accelsim.spec.scatter import STEP, mixed
from accelsim.units import parse_bytes

Ints = NDArray[np.int64]

MOST_REQUESTS = 20_000_000
LARGEST_ADDRESS = (1 << 62) - 1
_LARGEST_FILE_BYTES = 1 << 30
_MOST_FAULTS = 200
_NUMBER = re.compile(r"0[xX][0-9a-fA-F]{1,16}|[0-9]{1,19}")
_READS = {"r", "read", "ld", "rd"}
_WRITES = {"w", "write", "st", "wr"}
_LINE = "'R ADDRESS', 'W ADDRESS' or 'ADDRESS READ', each with a cycle behind it or without"
PATTERNS = {
    "stream": ("n", "writes", "every"),
    "stride": ("n", "bytes", "writes", "every"),
    "random": ("n", "seed", "writes", "every"),
}
"""Patterns and their keys: how many requests; every how many-th one writes (0: none); cycles between them; the distance of
their addresses; what the random ones begin with.
"""


@dataclass(frozen=True)
class Trace:
    """Requests in order: ``addresses`` int64[n] bytes, ``writes`` bool[n], ``when`` int64[n] the cycles that they wait for."""

    addresses: Ints
    writes: NDArray[np.bool_]
    when: Ints


def trace_of(requests: Sequence[tuple[bool, int]], every: int = 0) -> Trace:
    """A trace of (writes, address); request ``i`` waits for cycle ``i x every``."""
    return Trace(np.array([address for _, address in requests], dtype=np.int64),
                 np.array([write for write, _ in requests], dtype=np.bool_),
                 np.arange(len(requests), dtype=np.int64) * every)


def read_trace(text: str, dram: Dram) -> Trace:
    """A trace file, or a pattern such as ``random:n=20000,writes=3``. Raises SpecError with all that is wrong with it."""
    name = text.partition(":")[0]
    path = Path(text)
    if ":" in text and name in PATTERNS and not is_file(path):
        return _pattern(text, dram)
    if not is_file(path):
        raise SpecError([Fault(text, 0, 0, "", "no such file and no pattern", f"a file of lines {_LINE}; or a pattern: "
                               + ", ".join(f"{one}:n=20000" for one in PATTERNS), nearest(name, list(PATTERNS)))])
    with reading(text):
        if path.stat().st_size > _LARGEST_FILE_BYTES:
            raise SpecError([Fault(text, 0, 0, "", "larger than 1 GiB")])
    return _read_lines(lines_of(path, text), text)


def _read_lines(lines: Iterable[str], file: str) -> Trace:
    addresses, writes, when = array("q"), array("b"), array("q")
    faults: list[Fault] = []
    latest = 0
    for number, line in enumerate(lines, 1):
        words = line.partition("#")[0].replace(",", " ").split()
        if not words:
            continue
        if len(words) > 1 and words[0].lower() not in _READS | _WRITES:
            words[:2] = words[1], words[0]
        wrong = _wrong(words)
        cycle = int(words[2], 0) if not wrong and len(words) == 3 else latest
        if not wrong and cycle < latest:
            wrong = f"cycle {cycle:,} after cycle {latest:,}"
        if wrong:
            faults.append(Fault(file, number, 1, "", wrong, _LINE))
            if len(faults) == _MOST_FAULTS:
                break
            continue
        latest = cycle
        addresses.append(int(words[1], 0))
        writes.append(words[0].lower() in _WRITES)
        when.append(cycle)
        if len(addresses) > MOST_REQUESTS:
            faults.append(Fault(file, number, 1, "", f"more than {MOST_REQUESTS:,} requests"))
            break
    if not faults and not addresses:
        faults.append(Fault(file, 0, 0, "", "no requests", _LINE))
    if faults:
        raise SpecError(faults)
    return Trace(np.array(addresses, dtype=np.int64), np.array(writes, dtype=np.bool_), np.array(when, dtype=np.int64))


def _wrong(words: Sequence[str]) -> str:
    """What is wrong with a line: what it does, its address and its cycle or none."""
    if words[0].lower() not in _READS | _WRITES:
        return f"'{words[0][:40]}' is neither a read nor a write"
    if not 2 <= len(words) <= 3:
        return f"{len(words)} words"
    for word in words[1:]:
        if not _NUMBER.fullmatch(word) or (word[0] == "0" and word.isdigit() and len(word) > 1):
            return f"'{word[:40]}' is no number"
        if int(word, 0) > LARGEST_ADDRESS:
            return f"{word[:40]} is beyond 2^62"
    return ""


def _pattern(text: str, dram: Dram) -> Trace:
    kind, _, rest = text.partition(":")
    keys = PATTERNS[kind]
    values: dict[str, int] = {"n": 0, "writes": 0, "every": 0, "seed": 1, "bytes": dram.burst_bytes}
    faults: list[Fault] = []
    for part in rest.split(","):
        key, _, value = (word.strip() for word in part.partition("="))
        if key not in keys:
            faults.append(Fault(text, 0, 0, key, "not a key of this pattern", ", ".join(keys), nearest(key, list(keys))))
        elif key == "bytes":
            try:
                values[key] = parse_bytes(value)
            except ValueError as error:
                faults.append(Fault(text, 0, 0, key, str(error)))
        elif not re.fullmatch("[0-9]{1,12}", value):
            faults.append(Fault(text, 0, 0, key, f"'{value[:40]}' is no number"))
        else:
            values[key] = int(value)
    count = values["n"]
    if not faults and not 1 <= count <= MOST_REQUESTS:
        faults.append(Fault(text, 0, 0, "n", f"{count:,} requests", f"1 to {MOST_REQUESTS:,}"))
    if not faults and (count * values["bytes"] > LARGEST_ADDRESS or count * values["every"] > LARGEST_ADDRESS):
        faults.append(Fault(text, 0, 0, "", "goes beyond 2^62"))
    if faults:
        raise SpecError(faults)
    numbers = np.arange(count, dtype=np.int64)
    if kind == "random":
        bursts = np.uint64(dram.capacity_bytes // dram.burst_bytes)
        addresses = (_scattered(values["seed"], count) % bursts).astype(np.int64) * dram.burst_bytes
    else:
        addresses = numbers * values["bytes"]
    every = values["writes"]
    writes = numbers % every == every - 1 if every else np.zeros(count, dtype=np.bool_)
    return Trace(addresses, writes, numbers * values["every"])


def _scattered(seed: int, count: int) -> NDArray[np.uint64]:
    """Numbers without a pattern."""
    return mixed(np.uint64(seed) + np.arange(1, count + 1, dtype=np.uint64) * STEP)
