"""A chip's file turned into the chip of integers that everything else sees."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from accelsim.spec.banks import Banks, grain_words, parse_ports
from accelsim.spec.chip import (
    Access,
    Array,
    ArrayModel,
    Chip,
    Level,
    Link,
    Memory,
    MemoryKind,
    Multicast,
    Port,
)
from accelsim.spec.chipfile import MEMORY_KEYS, ChipFile, LevelFile, LinkFile, MemoryFile, Problem, chip_problems, too_large
from accelsim.spec.dram import Dram
from accelsim.spec.linknetwork import LinkNetwork
from accelsim.spec.linknetworkfile import network_key_problems, network_problems, resolve_link_network
from accelsim.spec.network import Network
from accelsim.units import Duration, Rate


def resolve_chip(file: ChipFile, drams: Mapping[str, Dram], networks: Mapping[str, Network],
                 ) -> tuple[Chip | None, list[Problem]]:
    """The chip of integers, and every cross-field fault as (path, message, hint).

    ``drams``, ``networks``: the technologies and the networks that it names.
    """
    problems = chip_problems(file) + too_large(file, drams) + network_key_problems(file)
    problems = problems or network_problems(file, networks)
    if problems:
        return None, problems
    levels = tuple(_level(entry, file.clock, drams) for entry in file.levels[:-1])
    array = _array(file.levels[-1], file.clock)
    links = tuple(_link(link, file.clock, resolve_link_network(file, link, networks)) for link in file.links)
    return Chip(file.name, file.description, file.clock, levels, array, links,
                tuple(f"{source.id}: {source.text}" for source in file.sources), tuple(file.models),
                tuple(file.omits), None if file.dataflows is None else tuple(file.dataflows),
                _cycles(file.launch, file.clock)), []


def _level(file: LevelFile, clock: Fraction, drams: Mapping[str, Dram]) -> Level:
    if file.memories is not None:
        memories = tuple(_memory(memory, clock, drams) for memory in file.memories)
    else:
        given = {key: getattr(file, key) for key in MEMORY_KEYS if getattr(file, key) is not None}
        memories = (_memory(MemoryFile.model_construct(name=file.name, **given), clock, drams),)
    return Level(file.name, memories, tuple((file.instances or {}).items()), file.lockstep)


def _rate(rate: Rate | str | None, clock: Fraction, own: Fraction | None) -> Fraction | None:
    """Bytes per chip cycle; a per-cycle rate of another clock domain is carried over exactly."""
    if rate is None or isinstance(rate, str):
        return None
    if rate.per == "cycle" and own is not None:
        return rate.bytes * own / clock
    return rate.per_cycle(clock)


def _memory(file: MemoryFile, clock: Fraction, drams: Mapping[str, Dram]) -> Memory:
    own = file.clock
    default = _rate(file.bandwidth, clock, own)
    ports = tuple(Port(port.name, default if port.bandwidth is None else _rate(port.bandwidth, clock, own),
                       frozenset(Access(word) for word in port.serves),
                       None if port.tensors is None else frozenset(port.tensors)) for port in file.ports or ())
    dram = None if file.timing is None else drams[file.timing]
    if dram is not None:
        peak = dram.peak_bytes_per_s / clock
        ports = (Port("channels", peak, frozenset({Access.FILL, Access.DRAIN}), None),)
    elif not ports:
        ports = tuple(Port(access.value, default, frozenset({access}), None) for access in Access)
    buffers = tuple(file.buffers.items()) if isinstance(file.buffers, dict) else (("", file.buffers),)
    beyond = _cycles(file.latency, clock, own)
    latency = beyond if dram is None else beyond + _least_cycles(dram, clock)
    unlimited = None if dram is None else dram.capacity_bytes
    banked = _banked(file)
    return Memory(file.name, MemoryKind(file.kind), unlimited if isinstance(file.capacity, str) else file.capacity, latency,
                  file.granularity, ports, buffers, file.banks if banked is None or file.interleave == "bank" else None,
                  file.accumulate,
                  None if file.serves is None else frozenset(file.serves), dram,
                  beyond if dram is not None else 0, file.layout == "tiles", banked,
                  frozenset(file.follows or ()), file.cache, file.bridge or 0)


def _banked(file: MemoryFile) -> Banks | None:
    if file.bank_width is None:
        return None
    assert file.banks is not None
    assert isinstance(file.capacity, int), "checked by _bank_problems"
    return Banks(file.banks, file.bank_width, parse_ports(file.bank_ports or "1RW"),
                 grain_words(file.interleave or "word", file.banks, file.bank_width, file.capacity))



def _least_cycles(dram: Dram, clock: Fraction) -> int:
    """From the command of a burst to its data, whether it reads or writes: no bank needs less, an open row no more."""
    return int(min(dram.timing.CL, dram.timing.CWL) * dram.cycle_s * clock)


def _cycles(duration: Duration, clock: Fraction, own: Fraction | None = None) -> int:
    return duration.cycles(clock) if own is None else duration.cycles(clock, own)


def _array(level: LevelFile, clock: Fraction) -> Array:
    file = level.array
    assert file is not None, "checked by _chip_problems"
    table = file.interval if isinstance(file.interval, dict) else {"": file.interval}
    row = file.preload == "row"
    return Array(level.name, ArrayModel(file.model), tuple(file.pes.items()),
                 tuple((name, max(1, _cycles(value, clock))) for name, value in table.items()),
                 _cycles(file.depth, clock), file.registers, file.buffers,
                 None if row else _rate(file.preload, clock, None), row, _rate(file.results, clock, None),
                 tuple((file.instances or {}).items()), file.lockstep,
                 None if file.serves is None else frozenset(file.serves), _cycles(file.least, clock))


def _link(file: LinkFile, clock: Fraction, network: LinkNetwork | None) -> Link:
    """What a network says of itself as one link: flits, the rate of a node's channels, the latency to the nearest instance."""
    rate, latency, granule = _rate(file.bandwidth, clock, None), _cycles(file.latency, clock), file.granularity
    if network is not None:
        rate, latency, granule = network.inward[0][0].rate, network.least_cycles, network.network.flit_bytes
    return Link(file.name, file.from_, file.to, None if file.tensors is None else frozenset(file.tensors),
                frozenset(Access(word) for word in file.serves), rate, latency, granule, _cycles(file.setup, clock), file.chunk,
                file.request, file.outstanding, Multicast(file.multicast), file.reduce, file.per_instance, network)
