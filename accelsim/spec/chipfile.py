"""A chip as a user writes it, validated key by key."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from accelsim.errors import nearest
from accelsim.spec.banks import MOST_BANKS, grain_words, interleaved_bytes, parse_ports
from accelsim.spec.chip import (
    ROLES,
)
from accelsim.spec.dram import Dram
from accelsim.spec.network import LARGEST_NODES
from accelsim.spec.quantities import Bytes, Capacity, Clock, Latency, RateLimit
from accelsim.units import DTYPES, Duration, human_bytes

Name = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_\-]*$", max_length=64)]
FileName = Annotated[str, Field(min_length=1, max_length=256, pattern=r"^[^\x00-\x1f]+$")]
Count = Annotated[int, Field(ge=1, le=1 << 20, strict=True)]
Axes = Annotated[dict[Name, Count], Field(max_length=16)]
Words = Annotated[list[Annotated[str, Field(max_length=64)]], Field(min_length=1, max_length=64)]
"""Roles or names of tensors."""
Slots = Annotated[dict[str, Count], Field(max_length=64)]
Sentences = Annotated[list[str], Field(max_length=1000)]
Node = Annotated[int, Field(ge=0, lt=LARGEST_NODES, strict=True)]


def _checked(check: Callable[[str], object]) -> AfterValidator:
    """A word that another reader takes; its errors are the field's."""
    def read(text: str) -> str:
        check(text)
        return text

    return AfterValidator(read)


PortsWord = Annotated[str, _checked(parse_ports), Field(examples=["1RW", "1R1W"])]
InterleaveWord = Annotated[str, _checked(interleaved_bytes), Field(examples=["word", "bank", "64 B"])]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True)


class PortFile(_Strict):
    """One port of a memory."""

    name: Name
    serves: list[Literal["fill", "drain", "array_read", "array_write"]] = Field(min_length=1, max_length=4)
    bandwidth: RateLimit | None = Field(None, description="default: the memory's bandwidth")
    tensors: Words | None = Field(None, description="roles (input, weight, output) or tensor names; default all")


class MemoryFile(_Strict):
    """One memory: capacity, bandwidth, latency, ports, slots."""

    name: Name
    kind: Literal["dram", "sram"]
    capacity: Capacity
    bandwidth: RateLimit | None = Field(None, description="needed unless `timing` says it")
    timing: FileName | None = Field(None, description="a DRAM technology: its channels are simulated command by command")
    layout: Literal["row-major", "tiles"] | None = Field(
        None, description="with `timing`: how tensors lie there; tiles: each as it moves, in one piece; default row-major")
    latency: Latency = Field(Duration(Fraction(0), "cycle"), description="default: none, but what `timing` takes itself")
    granularity: Bytes = Field(1, description="every contiguous run of a transfer is rounded up to it; default 1 B")
    bridge: Bytes | None = Field(
        None, description="gaps between the runs of a fill up to so long are read with them, beside `granularity`; default none")
    ports: list[PortFile] | None = Field(
        None, min_length=1, max_length=64, description="default: fill, drain, array_read, array_write apart")
    buffers: Count | Slots = Field(2, description="slots per tensor; default 2 (double buffering)")
    banks: Count | None = Field(None, description="slots are allotted in whole banks, unless words are interleaved over them")
    bank_width: Bytes | None = Field(None, description="bytes of a word; given: the banks are simulated, word by word")
    bank_ports: PortsWord | None = Field(None, description="ports of a bank: 1RW (default), 2RW, 1R1W, ...")
    interleave: InterleaveWord | None = Field(
        None, description="what lies in one bank before the next follows: word (default), bank (all of it), or a size")
    accumulate: bool = Field(False, strict=True, description="adds what arrives in place: no partial-sum refills")
    cache: Bytes | None = Field(
        None, description="a cache before the memory: what was moved last is taken from it; at the outermost level")
    follows: Words | None = Field(
        None, description="roles or tensor names whose tile of a step must be at this level before what is held "
                                        "here is asked for; default none")
    manages: Literal["software"] = "software"
    serves: Words | None = Field(None, description="roles or tensor names; default all")
    clock: Clock | None = Field(None, description="own clock domain of its `cycle` values; default the chip's")


class ArrayFile(_Strict):
    """The PE array."""

    model: Literal["systolic", "spatial", "matrix"]
    pes: Axes = Field(description="PEs along each axis; {} is one MAC")
    interval: Latency | Annotated[dict[str, Latency], Field(max_length=64)] = Field(Duration(Fraction(1), "cycle"),
                                                   description="cycles per iteration of the array's own loops, or per dtype")
    least: Latency = Field(Duration(Fraction(0), "cycle"), description="a pass takes so long at least; default none")
    depth: Latency = Field(Duration(Fraction(0), "cycle"), description="pipeline latency; systolic adds R + C - 2 itself")
    registers: Annotated[int, Field(ge=0, le=1 << 20, strict=True)] = Field(
        0, description="stationary words per PE and buffer; 0: nothing can be bound at the array")
    serves: Words | None = Field(None, description="roles or tensor names that may be stationary; default all")
    buffers: Count = Field(1, description="1: preload between passes; 2: under the previous pass")
    preload: RateLimit | Literal["row"] | None = Field(None, description="rate into the registers; row: x words a cycle")
    results: RateLimit | None = Field(None, description="rate at which stationary outputs drain")
    instances: Axes | None = None
    lockstep: bool = Field(False, strict=True)


class LevelFile(_Strict):
    """A memory level: one memory written in place, or several under `memories`."""

    name: Name
    kind: Literal["dram", "sram"] | None = None
    capacity: Capacity | None = None
    bandwidth: RateLimit | None = None
    timing: FileName | None = None
    layout: Literal["row-major", "tiles"] | None = None
    latency: Latency | None = None
    granularity: Bytes | None = None
    bridge: Bytes | None = None
    ports: list[PortFile] | None = Field(None, max_length=64)
    buffers: Count | Slots | None = None
    banks: Count | None = None
    bank_width: Bytes | None = None
    bank_ports: PortsWord | None = None
    interleave: InterleaveWord | None = None
    accumulate: bool | None = Field(None, strict=True)
    cache: Bytes | None = None
    follows: Words | None = None
    manages: Literal["software"] | None = None
    serves: Words | None = None
    clock: Clock | None = None
    memories: list[MemoryFile] | None = Field(None, min_length=1, max_length=64)
    instances: Axes | None = Field(None, description="fan-out per instance of the level above")
    lockstep: bool = Field(False, strict=True, description="the instances run as one, the fullest; traffic summed exactly")
    array: ArrayFile | None = Field(None, description="the PE array; the last level, and only it")


class LinkFile(_Strict):
    """A link between two levels."""

    name: Name
    from_: str = Field(alias="from")
    to: str
    bandwidth: RateLimit | None = Field(None, description="needed unless `network` says it")
    network: FileName | None = Field(
        None, description="a network on chip: each directed channel on a transfer's way is taken for itself")
    outer_node: Node = Field(0, description="with `network`: the node at which the outer level is")
    inner_nodes: list[Node] | None = Field(
        None, min_length=1, max_length=LARGEST_NODES,
        description="with `network`: the node of each instance of the inner level; default 0, 1, 2, ...")
    tensors: Words | None = None
    serves: list[Literal["fill", "drain"]] = Field(["fill", "drain"], min_length=1, max_length=2)
    latency: Latency = Duration(Fraction(0), "cycle")
    granularity: Bytes = 1
    setup: Latency = Duration(Fraction(0), "cycle")
    chunk: Bytes | None = None
    request: Bytes | None = None
    outstanding: Count | None = None
    multicast: Literal["none", "equal", "overlap"] = "none"
    reduce: bool = Field(False, strict=True)
    per_instance: bool = Field(False, strict=True)


class SourceFile(_Strict):
    """A document that numbers are taken from."""

    id: str
    text: str


class ChipFile(_Strict):
    """A chip file."""

    name: Name
    description: str
    sources: Annotated[list[SourceFile], Field(max_length=1000)] = []
    models: Sentences = []
    omits: Sentences = []
    clock: Clock
    launch: Latency = Field(Duration(Fraction(0), "cycle"), description="before anything of an operator happens; default none")
    levels: list[LevelFile] = Field(min_length=2, max_length=64)
    links: Annotated[list[LinkFile], Field(max_length=1000)] = []
    dataflows: list[Literal["weight-stationary", "output-stationary", "input-stationary", "row-stationary",
                            "cta-tiles"]] | None = Field(
        None, min_length=1, max_length=16, description="named dataflows its control can run; default all that its memories allow")


Problem = tuple[tuple[str | int, ...], str, str]


def timings(file: ChipFile) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """The DRAM technologies that a chip names, and where."""
    for i, level in enumerate(file.levels):
        if level.timing is not None:
            yield ("levels", i, "timing"), level.timing
        for j, memory in enumerate(level.memories or ()):
            if memory.timing is not None:
                yield ("levels", i, "memories", j, "timing"), memory.timing


MEMORY_KEYS = ("kind", "capacity", "bandwidth", "timing", "layout", "latency", "granularity", "bridge", "ports", "buffers",
                "banks", "bank_width", "bank_ports", "interleave", "accumulate", "cache", "follows", "manages", "serves", "clock")


def chip_problems(file: ChipFile) -> list[Problem]:
    """What a schema cannot say of a chip's file: (path, message, nearest word) of each fault."""
    problems: list[Problem] = []
    names = [level.name for level in file.levels]
    problems += _repeats(names, ("levels",), "level")
    problems += _repeats([link.name for link in file.links], ("links",), "link")
    for i, level in enumerate(file.levels):
        last = i == len(file.levels) - 1
        if (level.array is not None) != last:
            problems.append((("levels", i), "the PE array is the last level" if level.array is not None
                             else f"the last level, {level.name}, must be the PE array (key `array`)", ""))
            continue
        given = [key for key in MEMORY_KEYS if getattr(level, key) is not None]
        if last and (given or level.memories or level.instances):
            key = (given or (["memories"] if level.memories else ["instances"]))[0]
            problems.append((("levels", i, key), f"'{key}' is no key of the array's level", "instances go under `array`"))
        elif not last and level.memories is not None and given:
            problems.append((("levels", i, given[0]), f"'{given[0]}' beside `memories`; write it in each memory", ""))
        elif not last and level.memories is None:
            problems += [(("levels", i), f"missing key '{key}'", "")
                         for key in ("kind", "capacity") if getattr(level, key) is None]
        elif level.memories is not None:
            problems += _repeats([memory.name for memory in level.memories], ("levels", i, "memories"), "memory")
        problems += _memory_problems(i, level)
    problems += [problem for i, link in enumerate(file.links) for problem in _link_problems(i, link, names)]
    problems += _role_problems(file)
    return problems


def _role_problems(file: ChipFile) -> list[Problem]:
    """Words that are neither a role nor likely a tensor's name: one letter off a role."""
    lists: list[tuple[tuple[str | int, ...], Iterable[str] | None]] = []
    for i, level in enumerate(file.levels):
        places: list[tuple[tuple[str | int, ...], LevelFile | MemoryFile]] = [(("levels", i), level)]
        places += [(("levels", i, "memories", j), memory) for j, memory in enumerate(level.memories or [])]
        for path, memory in places:
            lists += [((*path, "serves"), memory.serves), ((*path, "follows"), memory.follows),
                      ((*path, "buffers"), memory.buffers if isinstance(memory.buffers, dict) else None)]
            lists += [((*path, "ports", j, "tensors"), port.tensors) for j, port in enumerate(memory.ports or [])]
        lists.append((("levels", i, "array", "serves"), None if level.array is None else level.array.serves))
    lists += [(("links", i, "tensors"), link.tensors) for i, link in enumerate(file.links)]
    return [(path, f"'{word}' is no role; allowed: {', '.join(ROLES)}, or a tensor's name", nearest(word, ROLES))
            for path, words in lists for word in words or () if word not in ROLES and nearest(word, ROLES)]


def _memory_problems(index: int, level: LevelFile) -> list[Problem]:
    """Faults inside a level: fan-out of the outermost, banks of what has no size, ports of one name, unknown types."""
    problems: list[Problem] = []
    if index == 0 and any(count > 1 for count in (level.instances or {}).values()):
        problems.append((("levels", 0, "instances"), "the outermost level has one instance: there is none above to spread "
                         "over; write ports or bandwidth instead", ""))
    places: list[tuple[tuple[str | int, ...], LevelFile | MemoryFile]] = [(("levels", index), level)]
    places += [(("levels", index, "memories", i), memory) for i, memory in enumerate(level.memories or ())]
    for path, memory in places:
        problems += _rate_problems(path, memory)
        problems += _bank_problems(path, memory)
        problems += _cache_problems(path, memory, outermost=index == 0)
        problems += _repeats([port.name for port in memory.ports or ()], (*path, "ports"), "port")
    interval = level.array.interval if level.array is not None else {}
    problems += [(("levels", index, "array", "interval", word), f"no type named {word}; allowed: {', '.join(DTYPES)}",
                  nearest(word, DTYPES)) for word in (interval if isinstance(interval, dict) else ()) if word not in DTYPES]
    return problems


def _bank_problems(path: tuple[str | int, ...], memory: LevelFile | MemoryFile) -> list[Problem]:
    """Banks need a memory that has a size, and what is said of them a width."""
    problems: list[Problem] = []
    if memory.banks is not None and memory.capacity == "unlimited":
        problems.append(((*path, "banks"), "banks of an unlimited memory; give its capacity", ""))
    if memory.bank_width is None:
        return problems + [((*path, key), f"'{key}' without `bank_width`: banks are not simulated", "")
                           for key in ("bank_ports", "interleave") if getattr(memory, key) is not None]
    if memory.banks is None:
        problems.append(((*path, "bank_width"), "'bank_width' without `banks`, their number", ""))
    elif memory.banks > MOST_BANKS:
        problems.append(((*path, "banks"), f"{memory.banks:,} banks to simulate; allowed: 1 to {MOST_BANKS:,}", ""))
    if memory.kind == "dram":
        problems.append(((*path, "bank_width"), "banks of words are for kind: sram; a DRAM's are in its `timing`", ""))
    ports = parse_ports(memory.bank_ports or "1RW")
    if not ports.both and not (ports.reads and ports.writes):
        problems.append(((*path, "bank_ports"), f"{ports} leaves nothing to {'read' if ports.writes else 'write'} with, and "
                         "tiles come and go", "1RW, 1R1W and so on"))
    if memory.banks is not None and isinstance(memory.capacity, int):
        try:
            grain_words(memory.interleave or "word", memory.banks, memory.bank_width, memory.capacity)
        except ValueError as error:
            problems.append(((*path, "interleave" if memory.interleave else "bank_width"), str(error), ""))
    return problems


def _cache_problems(path: tuple[str | int, ...], memory: LevelFile | MemoryFile, *, outermost: bool) -> list[Problem]:
    """A cache keeps whole granules of a memory that tensors are at home in, and spares its port's time."""
    if memory.cache is None:
        return []
    where = (*path, "cache")
    problems: list[Problem] = []
    if not outermost:
        problems.append((where, "a cache before a memory that tiles are copied to; it belongs to the outermost level", ""))
    if memory.timing is not None:
        problems.append((where, "'cache' beside `timing`: channels are asked for whole tiles", "a `bandwidth`"))
    elif "unlimited" in {memory.bandwidth if bandwidth is None else bandwidth
                         for bandwidth in ([port.bandwidth for port in memory.ports] if memory.ports else [None])}:
        problems.append((where, "a cache before an unlimited bandwidth spares nothing", "a bandwidth"))
    if memory.bridge is not None:
        problems.append((where, "'cache' beside `bridge`: it keeps what was asked for, without gaps", ""))
    granule = memory.granularity or 1
    if memory.cache % granule:
        problems.append((where, f"{memory.cache:,} B are no whole number of granules of {granule:,} B (`granularity`)", ""))
    return problems


def _rate_problems(path: tuple[str | int, ...], memory: LevelFile | MemoryFile) -> list[Problem]:
    """A memory has a rate, or channels that have one; not both. A level that has `memories` has neither."""
    if isinstance(memory, LevelFile) and (memory.memories is not None or memory.array is not None):
        return []
    problems: list[Problem] = []
    if memory.timing is None:
        if memory.bridge is not None and memory.granularity in (None, 1):
            problems.append(((*path, "bridge"), "'bridge' without `granularity`: reads of single bytes have no gaps", ""))
        if memory.bandwidth is None:
            problems.append((path, "missing key 'bandwidth'", "`timing` names a DRAM that has one"))
        if memory.layout is not None:
            problems.append(((*path, "layout"), "'layout' without `timing`: addresses do not matter to a bandwidth", ""))
        return problems
    if memory.kind == "sram":
        problems.append(((*path, "timing"), "the channels of a DRAM are for kind: dram", ""))
    problems += [((*path, key), f"'{key}' beside `timing`, whose channels say it", "")
                 for key in ("bandwidth", "ports", "bridge") if getattr(memory, key) is not None]
    if memory.granularity not in (None, 1):
        problems.append(((*path, "granularity"), "'granularity' beside `timing`: whole bursts are moved", ""))
    return problems


def too_large(file: ChipFile, drams: Mapping[str, Dram]) -> list[Problem]:
    """Memories of more bytes than their channels have."""
    found: list[Problem] = []
    for path, name in timings(file):
        level = file.levels[int(path[1])]
        memory = level if len(path) == 3 else (level.memories or [])[int(path[3])]
        if isinstance(memory.capacity, int) and memory.capacity > drams[name].capacity_bytes:
            found.append(((*path[:-1], "capacity"), f"{human_bytes(memory.capacity)}, but {name} has "
                          f"{human_bytes(drams[name].capacity_bytes)}", ""))
    return found


def _repeats(names: Sequence[str], path: tuple[str | int, ...], what: str) -> list[Problem]:
    first = {name: i for i, name in reversed(list(enumerate(names)))}
    return [((*path, i, "name"), f"a second {what} named {name}", "") for i, name in enumerate(names) if first[name] < i]


def _link_problems(index: int, link: LinkFile, names: Sequence[str]) -> list[Problem]:
    problems: list[Problem] = []
    for key, name in (("from", link.from_), ("to", link.to)):
        if name not in names:
            problems.append((("links", index, key), f"no level named {name}; allowed: {', '.join(names)}",
                             nearest(name, names)))
    if not problems and names.index(link.from_) >= names.index(link.to):
        problems.append((("links", index, "to"), f"{link.to} is not inside {link.from_}; write the outer level first", ""))
    if (link.request is None) != (link.outstanding is None):
        problems.append((("links", index), "`request` and `outstanding` go together", ""))
    return problems
