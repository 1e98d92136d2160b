"""The ways that loads go: bytes and ticks hop by hop, and the sums of what was moved, the same for every driver."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from accelsim.machine.network import Hop, Network, Route, Station
from accelsim.machine.state import service_ticks
from accelsim.plan.moves import CachedLoad, Load
from accelsim.plan.schedule import Schedule, Work
from accelsim.recorder import Recorder
from accelsim.timeline import LaneKind, Traffic

WAYS = ALONE_FILL, TRUNK_FILL, LEG_FILL, ALONE_DRAIN, TRUNK_DRAIN, LEG_DRAIN = range(6)
"""How a load may go: alone, along what a group shares, or along a member's own part of the way."""


def routes(spec: Station) -> tuple[Route, ...]:
    """The hops of each way of a station's loads."""
    return ((*spec.fill_trunk, *spec.fill_leg), spec.fill_trunk, spec.fill_leg, (*spec.drain_leg, *spec.drain_trunk),
            spec.drain_trunk, spec.drain_leg)


def size_of(hop: Hop, load: Load) -> int:
    """Bytes of a load that pass a hop."""
    if hop.cached and isinstance(load, CachedLoad):
        return load.beyond_bytes
    size = load.outer_bytes(hop.granularity_bytes) if hop.shared else load.inner_bytes(hop.granularity_bytes)
    return max(size, hop.whole_bytes)


def route_ticks(network: Network, hops: Route, sizes: Sequence[int]) -> tuple[int, ...]:
    """Ticks that each hop of a route serves so many bytes, with simulated channels at their best; 0 where nothing is booked."""
    return tuple([0 if hop.resource < 0 else -(-service_ticks(network.resources[hop.resource], size, hop.setup_cycles)
                                               // (network.memories[hop.memory].buses if hop.memory >= 0 else 1))
                  for hop, size in zip(hops, sizes, strict=True)])


def pieces(hops: Route, load: Load) -> list[list[int]]:
    """Bytes of each piece that a load is cut into at each hop; the smallest chunk of the links on the way decides.

    Where nothing on the way takes time there is nobody to let between, and no service for the next piece to wait for.
    """
    whole = [size_of(hop, load) for hop in hops]
    timed = any(hop.resource >= 0 and (size or not hop.cached) for hop, size in zip(hops, whole, strict=True))
    chunk = min((hop.chunk_bytes for hop in hops if hop.chunk_bytes), default=0) if timed else 0
    count = -(-load.payload_bytes // chunk) if chunk and load.payload_bytes > chunk else 1
    # of what passes a cache by each piece has something: it may be all that the next one waits for
    count = min([count, *(size for hop, size in zip(hops, whole, strict=True) if hop.cached and size)])
    return [[size * (i + 1) // count - size * i // count for size in whole] for i in range(count)]


def tally(recorder: Recorder, network: Network, number: int, loads: Sequence[Load | None], uses: Sequence[Sequence[int]]) -> None:
    """Add a station's traffic: ``uses[way][load]`` says how often each load was asked for."""
    spec = network.stations[number]
    own = _traffic(recorder, network, spec.level, spec)
    for way, hops in zip(WAYS, routes(spec), strict=True):
        for load, times in zip(loads, uses[way], strict=False):
            if load is None or not times:
                continue
            recorder.count("transfers", times)
            _payload(own, way, load, times, output=spec.tensor == network.output)
            for hop in hops:
                whole = load.all_outer_bytes if hop.shared else load.all_inner_bytes
                moved = load.beyond_bytes if hop.cached and isinstance(load, CachedLoad) else whole(hop.granularity_bytes)
                passed = recorder.link_bytes if hop.kind is LaneKind.LINK else recorder.port_bytes
                passed[hop.name] = passed.get(hop.name, 0) + moved * times
                if hop.kind is LaneKind.PORT and hop.granularity_bytes > 1 and not hop.cached:
                    count = load.outer_bytes if hop.shared else load.all_inner_bytes
                    waste = count(hop.granularity_bytes) - count(1)
                    level = network.stations[spec.parent].level if hop.shared else spec.level
                    if waste:
                        _traffic(recorder, network, level, spec).waste_bytes += waste * times


def tally_array(recorder: Recorder, network: Network, number: int, works: Sequence[Work], times: Mapping[int, int]) -> None:
    """Add what an array unit did: ``times[kind]`` says how often each kind of work."""
    for kind, count in sorted(times.items()):
        work = works[kind]
        recorder.count("blocks", count)
        recorder.count("passes", work.passes * count)
        recorder.count("array_cycles", work.hold * count)
        for station, reads, writes in zip(network.arrays[number].feeds, work.all_reads, work.all_writes, strict=True):
            if reads or writes:
                spec = network.stations[station]
                traffic = _traffic(recorder, network, spec.level, spec)
                traffic.array_read_bytes += reads * count
                traffic.array_write_bytes += writes * count


def tally_caches(recorder: Recorder, schedule: Schedule) -> None:
    """Add what the caches before homes did, tensor by tensor."""
    for name, counts in schedule.cached().items():
        for what, size in vars(counts).items():
            recorder.count(f"cache_{what}_bytes {name}", size)


def _payload(own: Traffic, way: int, load: Load, times: int, *, output: bool) -> None:
    if way in (ALONE_DRAIN, LEG_DRAIN):
        own.drain_bytes += load.payload_bytes * times
        own.drain_elements += load.elements * times
    elif way in (ALONE_FILL, LEG_FILL) and output:
        own.refill_bytes += load.payload_bytes * times
        own.refill_elements += load.elements * times
    elif way in (ALONE_FILL, LEG_FILL):
        own.fill_bytes += load.payload_bytes * times
        own.fill_elements += load.elements * times


def _traffic(recorder: Recorder, network: Network, level: str, spec: Station) -> Traffic:
    key = level, network.tensors[spec.tensor]
    return recorder.traffic.setdefault(key, Traffic())
