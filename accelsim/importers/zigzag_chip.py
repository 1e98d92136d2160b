"""A chip of ours from ZigZag's accelerator: a level for each memory, ports and links for each of its ports."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from accelsim.importers.writing import plain_name
from accelsim.importers.zigzag_accelerator import OPERANDS, ROLES, Accelerator, Port, Store
from accelsim.importers.zigzag_file import Source

ARRAY = "MAC"
FILL, DRAIN, READ, WRITE = "fill", "drain", "array_read", "array_write"
Use = tuple[str, str]
"""An operand and what a port of ours serves of it."""


def level_names(accelerator: Accelerator) -> list[str]:
    """Names of the levels, outermost first, each once."""
    names: list[str] = []
    for store in accelerator.stores:
        name = plain_name(store.name, "memory")
        names.append(name if name not in (*names, ARRAY) else f"{name[:55]}-{len(names)}")
    return names


def chip_of(accelerator: Accelerator, source: Source) -> dict[str, Any]:
    """The chip's file as plain data."""
    names = level_names(accelerator)
    links = _Links()
    levels: list[dict[str, Any]] = []
    for i, store in enumerate(accelerator.stores):
        level: dict[str, Any] = {"name": names[i], "kind": "dram" if not i else "sram",
                                 "serves": [ROLES[operand] for operand in OPERANDS if operand in store.operands],
                                 "capacity": f"{store.bits // 8} B", "bandwidth": "unlimited",
                                 "buffers": 2 if store.doubled else 1}
        if accelerator.fanout(i):
            level |= {"instances": accelerator.fanout(i), "lockstep": True}
        levels.append(level | {"ports": _ports(accelerator, i, names, links, source)})
    _add_fanout(accelerator, names, links)
    array = {"model": "spatial", "pes": accelerator.fanout(len(accelerator.stores))}
    return {"name": plain_name(accelerator.name, "zigzag"), "description": f"{accelerator.name}, an accelerator of ZigZag",
            "models": ["Each multiplier does one multiply-accumulate a cycle; operands shared along a dimension are read once",
                       "Partial sums are added on their way out along dimensions that are summed over"],
            "omits": ["A clock: ZigZag counts cycles; 1 GHz stands for it", "Energy and area", "Latencies of memories"],
            "clock": "1 GHz", "levels": [*levels, {"name": ARRAY, "array": array}], "links": links.told}


@dataclass
class _Links:
    """Links so far, with names of their own."""

    told: list[dict[str, Any]] = field(default_factory=list)

    def add(self, name: str, outer: str, inner: str, operands: Iterable[str], **keys: Any) -> None:
        """One more."""
        taken = {link["name"] for link in self.told}
        base = plain_name(name, "link")[:50]
        free = next(one for one in (base, *(f"{base}-{i}" for i in range(2, len(taken) + 3))) if one not in taken)
        self.told.append({"name": free, "from": outer, "to": inner,
                          "tensors": [ROLES[operand] for operand in OPERANDS if operand in operands], **keys})


def _ports(accelerator: Accelerator, number: int, names: list[str], links: _Links, source: Source) -> list[dict[str, Any]]:
    """Ports of a memory: each of ZigZag's as one, but what enters and leaves a memory in the middle apart as links."""
    store = accelerator.stores[number]
    uses: dict[Port, list[Use]] = defaultdict(list)
    linked: dict[Port, set[tuple[str, str, str, str]]] = defaultdict(set)
    free: list[Use] = []
    for operand in OPERANDS:
        if operand not in store.operands:
            continue
        places = accelerator.of(operand)
        at = places.index(number)
        outer = names[places[at - 1]] if at else ""
        inner = names[places[at + 1]] if at + 1 < len(places) else ""
        for use, above, below, direct in ((FILL, "fh", "tl", READ), (DRAIN, "th", "fl", WRITE)):
            if use == DRAIN and operand != "O":
                continue
            high, low = store.port(operand, above) if outer else None, store.port(operand, below)
            if not inner and low is not None:
                uses[low].append((operand, direct))
            if high is not None and (not inner or high is low):
                uses[high].append((operand, use))
            elif inner and high is None and low is not None:
                uses[low].append((operand, use))
            elif inner and high is not None and low is not None:
                free.append((operand, use))
                linked[high].add((outer, names[number], use, operand))
                linked[low].add((names[number], inner, use, operand))
    _link_ports(store, names[number], linked, uses, links, source)
    return _told(store, uses, free, source)


def _link_ports(store: Store, here: str, linked: dict[Port, set[tuple[str, str, str, str]]], uses: dict[Port, list[Use]],
                links: _Links, source: Source) -> None:
    """Rates of what enters and what leaves as links, one for each pair of levels and direction."""
    for port, movements in linked.items():
        pairs: dict[tuple[str, str, str], list[str]] = defaultdict(list)
        for outer, inner, use, operand in sorted(movements):
            pairs[outer, inner, use].append(operand)
        for (outer, inner, use), operands in pairs.items():
            own = {"per_instance": True} if inner == here else {"multicast": "equal", "reduce": True}
            links.add(f"{store.name}-{port.name}", outer, inner, operands, serves=[use], bandwidth=_rate(port), **own)
        if len(pairs) + bool(uses.get(port)) > 1:
            source.leave(port.path, "shared by movements that have each its rate to itself here: a port of ours serves what "
                         "enters and what leaves a memory, this one only one of them")


def _told(store: Store, uses: dict[Port, list[Use]], free: list[Use], source: Source) -> list[dict[str, Any]]:
    """Ports as data. One of ours serves every use of every tensor it names, so one whose uses are not such goes in parts."""
    ports: list[dict[str, Any]] = []
    others = {use: port for port, its in uses.items() for use in its} | dict.fromkeys(free)
    for port, its in uses.items():
        tensors, serves = sorted({one for one, _ in its}), sorted({use for _, use in its})
        whole = all(others.get((operand, use), port) is port for operand in tensors for use in serves)
        groups = [its] if whole else [[one for one in its if one[0] == operand] for operand in tensors]
        if len(groups) > 1:
            source.leave(port.path, "shared by operands that have each its rate to itself here")
        ports += [_port(f"{port.name}-{i}" if i else port.name, group, _rate(port), ports) for i, group in enumerate(groups)]
    if free:
        ports += [_port(f"free-{operand}", [one for one in free if one[0] == operand], "unlimited", ports)
                  for operand in sorted({operand for operand, _ in free})]
    return ports or [_port("none", [(operand, READ) for operand in store.operands], "unlimited", ports)]


def _port(name: str, uses: list[Use], rate: str, before: list[dict[str, Any]]) -> dict[str, Any]:
    base = plain_name(name, "port")[:50]
    taken = {port["name"] for port in before}
    free = next(one for one in (base, *(f"{base}-{i}" for i in range(2, len(taken) + 3))) if one not in taken)
    return {"name": free, "serves": [use for use in (FILL, DRAIN, READ, WRITE) if use in {use for _, use in uses}],
            "tensors": [ROLES[operand] for operand in OPERANDS if operand in {one for one, _ in uses}], "bandwidth": rate}


def _add_fanout(accelerator: Accelerator, names: list[str], links: _Links) -> None:
    """Where instances fan out, one read serves all that take the same, and sums are added on their way out."""
    pairs: dict[tuple[str, str], list[str]] = defaultdict(list)
    innermost = accelerator.stores[-1].unrolled
    for operand in OPERANDS:
        places = accelerator.of(operand)
        for place, below in zip(places, [*places[1:], len(names)], strict=True):
            here = innermost if below == len(names) else accelerator.stores[below].unrolled
            if here > accelerator.stores[place].unrolled:
                pairs[names[place], [*names, ARRAY][below]].append(operand)
    for (outer, inner), operands in pairs.items():
        links.add(f"{outer}-{inner}", outer, inner, operands, bandwidth="unlimited", multicast="equal", reduce=True)


def _rate(port: Port) -> str:
    return f"{port.bits} bit/cycle"
