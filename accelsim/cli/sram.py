"""`accelsim sram`: the accesses of a mapping to one memory, through its banks or through a cache in its place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from accelsim.analytic.estimate import estimate
from accelsim.cli.commands import Asking, tell_left_out
from accelsim.cli.compiling import compiling
from accelsim.cli.progress import Progress
from accelsim.errors import Fault, SpecError, nearest
from accelsim.outputs import results
from accelsim.spec.banks import Arbitration, Banks, Layout
from accelsim.spec.cache import Beyond, Cache, CacheWords, read_cache
from accelsim.spec.case import Case
from accelsim.spec.chip import Memory
from accelsim.spec.read import Unmapped
from accelsim.spec.sram import BankWords, Edge, read_banks
from accelsim.units import format_bytes, human_bytes
from accelsim.verbs import MOST_STEPS, ask

SCHEMA = 1


PASSES = 64


@dataclass(frozen=True)
class Words:
    """What was asked of the banks, or of the cache, as written; None where nothing was."""

    banks: int | None
    width: str | None
    ports: str | None
    interleave: str | None
    arbitration: Arbitration | None
    layouts: tuple[str, ...]
    step: int | None
    passes: int | None
    edge: Edge | None
    cache: bool
    capacity: str | None
    line: str | None
    ways: str | None
    outstanding: int | None
    lookups: int | None

    def misplaced(self) -> list[Fault]:
        """What says nothing where it stands."""
        of_banks = {"--banks": self.banks, "--width": self.width, "--ports": self.ports, "--interleave": self.interleave,
                    "--arbitration": self.arbitration, "--layout": self.layouts or None, "--step": self.step,
                    "--passes": self.passes, "--edge": self.edge}
        of_cache = {"--capacity": self.capacity, "--line": self.line, "--ways": self.ways, "--outstanding": self.outstanding,
                    "--lookups": self.lookups}
        wrong = of_banks if self.cache else of_cache
        told = "says nothing of a cache; leave it out, or --cache" if self.cache else "goes with --cache"
        return [Fault(option, 0, 0, "", told) for option, value in wrong.items() if value is not None]

    def of_banks(self) -> BankWords:
        """The banks, with what is not told as it is by default."""
        default = BankWords()
        return BankWords(self.banks, self.width, self.ports, self.interleave, self.arbitration or default.arbitration,
                         self.layouts)

    def of_cache(self) -> CacheWords:
        """The cache, likewise."""
        default = CacheWords()
        return CacheWords(self.capacity, default.line if self.line is None else self.line,
                          default.ways if self.ways is None else self.ways,
                          default.outstanding if self.outstanding is None else self.outstanding,
                          default.lookups if self.lookups is None else self.lookups)


def sram(asking: Asking, operator: str | None, level: str | None, words: Words, as_json: bool) -> int:
    """Replay and show."""
    with compiling():
        from accelsim.plan.demands import served
    misplaced = words.misplaced()
    try:
        case = _case(asking, operator)
        held = [(entry, memory) for entry, one in enumerate(case.chip.levels) for memory in one.memories
                if served(case, entry, memory)]
        entry, memory = _memory(case, held, level)
        tensors = [tensor.name for tensor in case.operator.tensors
                   if entry in case.paths[tensor.name] and case.memory(entry, tensor) is memory]
        cache = read_cache(memory, words.of_cache()) if words.cache else None
        banks = None if words.cache else read_banks(memory, words.of_banks(), tensors)
    except SpecError as error:
        raise SpecError([*misplaced, *error.faults]) from None
    if misplaced:
        raise SpecError(misplaced)
    beside = [one.name for place, one in held if place == entry and one is not memory]
    figures = {"schema": SCHEMA, "chip": case.chip.name, "operator": case.operator.name, "mapping": case.mapping.origin,
               "memory": memory.name, "capacity_bytes": memory.capacity_bytes}
    if cache is not None:
        figures |= _cached(case, entry, memory, cache)
    if banks is not None:
        figures |= _banked(case, entry, memory, *banks, words)
    if as_json:
        print(results.to_text(figures))
        return 0
    size = "unlimited" if memory.capacity_bytes is None else format_bytes(memory.capacity_bytes)
    print(f"{case.operator.name} on {case.chip.name}, {memory.name} ({size}); mapping: {case.mapping.origin.partition(' (')[0]}")
    print(_cache_text(figures) if words.cache else _bank_text(figures))
    if beside:
        print(f"  beside it: {', '.join(f'--level {name}' for name in beside)}")
    return 0


def _case(asking: Asking, name: str | None) -> Case:
    asked = ask(asking.chip, asking.workload, asking.options())
    tell_left_out(asked)
    names = [item.operator.name for item in asked.cases]
    if name is not None and name not in names:
        raise SpecError([Fault("--operator", 0, 0, "", f"no operator named '{name}'", ", ".join(names[:12]),
                               nearest(name, names))])
    item = asked.cases[names.index(name) if name is not None else 0]
    if isinstance(item, Unmapped):
        raise item.error
    return item


def _memory(case: Case, held: list[tuple[int, Memory]], name: str | None) -> tuple[int, Memory]:
    """The memory that is meant: by its name or its level's, or of the innermost level that serves the array."""
    if name is None and held:
        innermost = max(entry for entry, _ in held)
        return next((entry, memory) for entry, memory in held if entry == innermost)
    for entry, memory in held:
        if name in {memory.name, case.chip.levels[entry].name}:
            return entry, memory
    words = [memory.name for _, memory in held]
    known = [word for level in case.chip.levels for word in (level.name, *(memory.name for memory in level.memories))]
    told = (f"the array neither reads nor writes '{name}' here" if name in known else f"no level named '{name}'")
    raise SpecError([Fault("--level", 0, 0, "", told, ", ".join(words), nearest(name or "", words))])


# -- banks ------------------------------------------------------------------------------------------------------------


def _banked(case: Case, entry: int, memory: Memory, banks: Banks, layouts: dict[str, Layout], words: Words) -> dict[str, Any]:
    with compiling():
        from accelsim.machine.sram import replay
        from accelsim.plan.tileaccess import tile_access
    edge = words.edge or Edge.REGISTERS
    trace = tile_access(case, entry, memory, banks, layouts, step=words.step, most_passes=words.passes or PASSES, edge=edge)
    found = replay(banks, trace.requesters)
    rows = [{"name": one.name, "vectors": one.vectors, "words": one.elements, "accesses": one.accesses,
             "cycles_without_conflicts": one.cycles_alone, "cycles": one.cycles, "lost_cycles": {
                 "bank_conflict": one.lost_bank, "port_kind": one.lost_port_kind, "contention": one.lost_contention}}
            for one in found.requesters]
    served = (found.reads + found.writes).tolist()
    ports = banks.count * banks.ports.count * max(1, found.cycles)
    alone = max((one.cycles_alone for one in found.requesters), default=0)
    return {
        "banks": {"count": banks.count, "width_bytes": banks.width_bytes, "ports": str(banks.ports),
                  "interleave_bytes": banks.grain_words * banks.width_bytes, "arbitration": banks.arbitration.value,
                  "reads": found.reads.tolist(), "writes": found.writes.tolist(), "accesses": sum(served),
                  "utilization": sum(served) / ports},
        "level": case.chip.names[entry], "step": trace.step, "passes": trace.passes, "all_passes": trace.all_passes,
        "edge": edge.value,
        "tensors": [{"name": one.tensor.name, "tile": list(one.tile.counts), "bits": one.bits, "layout": str(one.layout),
                     "slots": one.slots, "slot_bytes": one.slot_words * banks.width_bytes,
                     "read_elements": trace.read.get(one.tensor.name, 0),
                     "written_elements": trace.written.get(one.tensor.name, 0), "fill_elements": len(one.filled()),
                     "drain_elements": len(one.drained())} for one in trace.places],
        "cycles": found.cycles, "cycles_without_conflicts": alone, "efficiency": alone / max(1, found.cycles), "requesters": rows}


def _bank_text(f: dict[str, Any]) -> str:
    b = f["banks"]
    grain = b["interleave_bytes"] // b["width_bytes"]
    lines = [f"  {b['count']} banks of words of {b['width_bytes']} B, {b['ports']} each, one after the other every "
             f"{'word' if grain == 1 else f'{grain:,} words'}; {b['arbitration']}",
             f"  step {f['step']:,} of {f['level']}, {f['passes']:,} of its {f['all_passes']:,} passes of the array"]
    lines += [f"    {one['name']:<8} {' x '.join(map(str, one['tile']))} of {one['bits']} bit, {one['layout']}, {one['slots']} x "
              f"{human_bytes(one['slot_bytes'])}; the array reads {one['read_elements']:,}, writes {one['written_elements']:,}"
              for one in f["tensors"]]
    lines += ["", f"  {'requester':<10} {'vectors':>9} {'accesses':>10} {'cycles':>11} {'alone':>11}  lost to {'banks':>11} "
              f"{'port kind':>11} {'contention':>11}"]
    lines += [f"  {one['name']:<10} {one['vectors']:>9,} {one['accesses']:>10,} {one['cycles']:>11,} "
              f"{one['cycles_without_conflicts']:>11,}          {one['lost_cycles']['bank_conflict']:>11,} "
              f"{one['lost_cycles']['port_kind']:>11,} {one['lost_cycles']['contention']:>11,}" for one in f["requesters"]]
    counts = [read + write for read, write in zip(b["reads"], b["writes"], strict=True)]
    lines += ["", f"  {f['cycles']:,} cycles, {f['cycles_without_conflicts']:,} without conflicts: efficiency "
              f"{f['efficiency']:.1%}",
              f"  {b['accesses']:,} accesses, {min(counts):,} to {max(counts):,} a bank; ports used {b['utilization']:.1%} of "
              "the time"]
    worst = max(((one["lost_cycles"][cause], one["name"], cause) for one in f["requesters"] for cause in one["lost_cycles"]),
                default=(0, "", ""))
    if worst[0]:
        lines.append(f"  most is lost by {worst[1]}: {_ADVICE[worst[2]]}")
    return "\n".join(lines)


_ADVICE = {
    "bank_conflict": "it asks one bank for several words at once; another layout, more banks or wider words would help",
    "port_kind": "ports of the other kind are free; ports that both read and write would help",
    "contention": "another requester has the bank; more ports, or its tiles in other banks (--interleave), would help"}


# -- cache ------------------------------------------------------------------------------------------------------------


def _cached(case: Case, entry: int, memory: Memory, cache: Cache) -> dict[str, Any]:
    with compiling():
        from accelsim.machine.cache import replay
        from accelsim.machine.simulate import simulate
        from accelsim.plan.linetrace import beyond, line_trace
        from accelsim.plan.schedule import Schedule
        from accelsim.plan.units import units
    outer: Beyond = beyond(case, entry, memory)
    with Progress() as told:
        trace = line_trace(case, entry, memory, cache.line_bytes, lambda done, of: told.tell("passes", done, of))
        found = replay(cache, outer, trace.accesses, trace.tensors,
                       lambda done: told.tell("vectors", done, len(trace.accesses.gaps)))
    instances = sum(len(unit.bases) for unit in units(case, entry))
    guess = estimate(case)
    moved = guess.traffic
    measured = None
    if guess.steps + guess.transfers <= MOST_STEPS:
        measured = simulate(Schedule(case)).cycles - case.chip.launch_cycles
    rows = []
    for one in found.tensors:
        pad = moved[entry, one.name]
        rows.append({
            "name": one.name, "reads": one.reads, "writes": one.writes, "hits": one.hits, "misses": {
                "cold": one.cold, "capacity": one.capacity, "conflict": one.conflict},
            "in_bytes": one.misses * cache.line_bytes, "out_bytes": (one.written_back + one.flushed) * cache.line_bytes,
            "scratchpad_in_bytes": pad.fill_bytes + pad.refill_bytes, "scratchpad_out_bytes": pad.drain_bytes})
    lookups = sum(one.reads + one.writes for one in found.tensors)
    return {
        "cache": {"capacity_bytes": cache.lines * cache.line_bytes, "line_bytes": cache.line_bytes, "sets": cache.sets,
                  "ways": cache.ways, "outstanding": cache.outstanding, "lookups_per_cycle": cache.lookups,
                  "hit_latency_cycles": cache.hit_cycles},
        "beyond": {"latency_cycles": outer.latency_cycles,
                   "in_bytes_per_cycle": None if outer.fill_rate is None else float(outer.fill_rate),
                   "out_bytes_per_cycle": None if outer.back_rate is None else float(outer.back_rate), "shared": outer.shared},
        "level": case.chip.names[entry], "instances": instances, "lookups": lookups,
        "hit_rate": sum(one.hits for one in found.tensors) / max(1, lookups), "hits_on_lines_in_flight": found.in_flight,
        "fully_associative_misses": found.full_misses, "tensors": rows, "cycles": found.cycles,
        "array_cycles": found.array_cycles, "cycles_without_misses": trace.accesses.cycles, "scratchpad_cycles": measured}


def _cache_text(f: dict[str, Any]) -> str:
    c, b = f["cache"], f["beyond"]
    rate, back = ("unlimited" if b[key] is None else f"{b[key]:.6g} B/cycle" for key in ("in_bytes_per_cycle",
                                                                                      "out_bytes_per_cycle"))
    lines = [f"  as a cache: {format_bytes(c['capacity_bytes'])}, {c['sets']:,} sets of {c['ways']:,} lines of "
             f"{c['line_bytes']} B, LRU, write-back",
             f"  misses in flight: {c['outstanding']}, lookups a cycle: {c['lookups_per_cycle']}, cycles to the data of a hit: "
             f"{c['hit_latency_cycles']}",
             f"  beyond it: {b['latency_cycles']:,} cycles, {rate} in, {back} out{', one port' if b['shared'] else ''}", "",
             f"  {'tensor':<8} {'accesses':>11} {'hits':>11} {'cold':>9} {'capacity':>9} {'conflict':>9} {'in':>10} {'out':>10}"
             "   scratchpad in, out"]
    for one in f["tensors"]:
        m = one["misses"]
        lines.append(f"  {one['name']:<8} {one['reads'] + one['writes']:>11,} {one['hits']:>11,} {m['cold']:>9,} "
                     f"{m['capacity']:>9,} {m['conflict']:>9,} {human_bytes(one['in_bytes']):>10} "
                     f"{human_bytes(one['out_bytes']):>10}   {human_bytes(one['scratchpad_in_bytes'])}, "
                     f"{human_bytes(one['scratchpad_out_bytes'])}")
    lines += ["", f"  {f['cycles']:,} cycles until all is written back; the array has its last vector after "
              f"{f['array_cycles']:,}, without a miss after {f['cycles_without_misses']:,}",
              f"  {f['hit_rate']:.2%} of {f['lookups']:,} lookups hit; a fully associative cache of this size would miss "
              f"{f['fully_associative_misses']:,} times"]
    if f["scratchpad_cycles"] is not None:
        lines.append(f"  as a scratchpad: {f['scratchpad_cycles']:,} cycles measured, with all other memories, without a launch")
    if f["capacity_bytes"] not in {None, c["capacity_bytes"]}:
        lines.append(f"  the scratchpad has {format_bytes(f['capacity_bytes'])}, this cache {format_bytes(c['capacity_bytes'])}")
    if f["instances"] > 1:
        lines.append(f"  the cache is one of {f['instances']:,} instances; the scratchpad's bytes are those of all")
    return "\n".join(lines)
