"""A chip of ours on which Timeloop's counts are what crosses links, enters levels and is taken by the array.

Links stand where a level has several instances inside it: one for each tensor and way, so that the bytes over it are what
the outer level reads for (or is updated by) all of them, multicast once, reduced before it arrives. Where there is one
instance inside, that is what enters and leaves it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from fractions import Fraction
from types import MappingProxyType
from typing import Final

from accelsim.importers.timeloop_stores import Architecture, Store, fanout
from accelsim.units import Rate, format_bytes, format_frequency

CLOCK_HZ: Final = Fraction(10**9)
TYPES: Final = ((8, "int8"), (16, "int16"), (32, "int32"), (64, "int64"))
WAYS: Final = ("fill", "drain")
_LONGEST_NAME: Final = 64
NOTHING_APART: Final = MappingProxyType({"": ""})


def word_type(bits: int) -> tuple[int, str]:
    """Bytes and type of the words that words of so many bits are taken as: whole bytes, the next larger ones.

    Raises ValueError above 64 bits.
    """
    for size, name in TYPES:
        if bits <= size:
            return size // 8, name
    raise ValueError(f"words of {bits} bits; allowed: up to 64")


def link_name(outer: str, inner: str, tensor: str, way: str) -> str:
    """The link of a tensor between two levels, one way."""
    return f"{outer}-{inner}-{tensor}-{way}" if tensor else f"{outer}-{inner}-{way}"


def chip_text(architecture: Architecture, served: Mapping[str, str] = NOTHING_APART, output: str = "", *,
              lockstep: bool = True) -> str:
    """A chip file. ``served``: names of what has links of its own and words for it (tensors or roles), ``output`` alone outward
    too; without any, a link carries all that goes one way.

    ``lockstep``: instances run as one from the first level that has several, as in Timeloop. Raises ValueError for rates
    that are not within 2^-20 and 2^40 B/cycle, capacities above 2^60 B, words above 64 bits and clocks beyond 1 kHz to 1 THz.
    """
    size, _ = word_type(architecture.word_bits)
    apart = next((i for i, store in enumerate(architecture.stores) if store.fanout), -1) if lockstep else -1
    lines = [f"name: {_word(architecture.name)}", "description: Imported from Timeloop", _clock(architecture.hertz),
             "omits: [energy and area, \"latency, which Timeloop does not have\"]", "levels:"]
    for number, store in enumerate(architecture.stores):
        lines += _level(store, size, last=number == len(architecture.stores) - 1)
        if number == apart:
            lines.append("    lockstep: true  # as one, as Timeloop takes all instances")
    inmost = architecture.stores[-1]
    late = inmost.fill_cycles + inmost.drain_cycles
    depth = f", depth: {late} cycles" if late else ""
    pes = _counts(fanout(architecture.unit_spreads))
    lines += [f"  - name: {_word(architecture.units)}", f"    array: {{model: spatial, pes: {pes}{depth}}}  # MACs keep nothing"]
    links = list(_links(architecture, served, output))
    return "\n".join([*lines, *(["links:", *links] if links else [])]) + "\n"


def _word(name: str) -> str:
    return json.dumps(name) if name.lower() in ("null", "true", "false") else name


def _clock(hertz: Fraction | None) -> str:
    if hertz is None:
        return f"clock: {format_frequency(CLOCK_HZ)}  # assumed: Timeloop counts cycles"
    if not 1000 <= hertz <= 10**12:
        raise ValueError(f"a clock of {float(hertz):g} Hz; allowed: 1 kHz to 1 THz")
    return f"clock: {format_frequency(hertz)}"


def _counts(counts: dict[str, int]) -> str:
    return "{" + ", ".join(f"{axis}: {count}" for axis, count in counts.items()) + "}"


def _level(store: Store, size: int, *, last: bool) -> Iterator[str]:
    yield f"  - name: {_word(store.name)}"
    yield f"    kind: {'dram' if store.dram else 'sram'}"
    if store.fanout:
        yield f"    instances: {_counts(store.fanout)}"
    if store.words is None:
        yield "    capacity: unlimited"
    else:
        if store.words * size > 1 << 60:
            raise ValueError(f"{store.name}: a capacity of {store.words} words; allowed: up to 2^60 B")
        yield f"    capacity: {format_bytes(store.words * size)}  # {store.words} words"
    yield "    bandwidth: unlimited"
    yield f"    buffers: {store.slots}"
    if store.rates.limited:
        yield "    ports:"
        yield from _ports(store, size, last)


def _ports(store: Store, size: int, last: bool) -> Iterator[str]:
    """Reading serves what goes inward, writing the rest; innermost, reading serves what leaves and writing what enters."""
    rates = store.rates
    if rates.shared is not None:
        yield _port(store, "port", "fill, drain, array_read, array_write", rates.shared, size)
        return
    yield _port(store, "read", "drain, array_read" if last else "fill, array_read", rates.read, size)
    yield _port(store, "write", "fill, array_write" if last else "drain, array_write", rates.write, size)


def _port(store: Store, name: str, serves: str, words: Fraction | None, size: int) -> str:
    told = "unlimited"
    if words is not None:
        if not Fraction(1, 1 << 20) <= words * size <= 1 << 40:
            raise ValueError(f"{store.name}: {float(words):g} words/cycle; allowed: 2^-20 to 2^40 B/cycle")
        told = Rate(words * size, "cycle").format()
    return f"      - {{name: {name}, serves: [{serves}], bandwidth: {told}}}"


def _links(architecture: Architecture, served: Mapping[str, str], output: str) -> Iterator[str]:
    """Links across fan-outs and latencies, levels passed over included: a tensor goes between the two that keep it."""
    stores = architecture.stores
    names = [*(store.name for store in stores), architecture.units]
    given: set[str] = set()
    fans = [bool(store.fanout) for store in stores] + [False]  # the PEs of the array are its own affair
    for outer, store in enumerate(stores):
        for inner in range(outer + 1, len(names)):
            late = (store.fill_cycles, store.drain_cycles) if inner < len(stores) else (0, 0)
            for way, latency in zip(WAYS, late, strict=True):
                if not latency and not any(fans[outer + 1:inner + 1]):
                    continue
                for tensor, word in served.items():
                    if way == "fill" or tensor == output:
                        name = link_name(names[outer], names[inner], tensor, way)
                        name = name if len(name) <= _LONGEST_NAME and name not in given else f"link-{len(given)}"
                        given.add(name)
                        yield _link(name, names[outer], names[inner], word, way, latency)


def _link(name: str, outer: str, inner: str, word: str, way: str, latency: int) -> str:
    only = f"tensors: [{_word(word)}], " if word else ""
    late = f", latency: {latency} cycles" if latency else ""
    shares = "multicast: equal" if way == "fill" else "reduce: true"
    return (f"  - {{name: {name}, from: {_word(outer)}, to: {_word(inner)}, {only}"
            f"serves: [{way}], bandwidth: unlimited, {shares}{late}}}")
