"""A network in a link's place: each channel of a transfer's way is taken for itself, by both drivers, to the cycle and byte."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from math import prod

import pytest
from hypothesis import HealthCheck, assume, given, reject, settings
from hypothesis import strategies as st

from accelsim.analytic.estimate import estimate
from accelsim.errors import SpecError
from accelsim.machine.compiled_driver import CompiledMachine
from accelsim.machine.network import build_network
from accelsim.machine.noc import transfer
from accelsim.machine.simulate import simulate
from accelsim.measure.report import measure
from accelsim.plan.schedule import Schedule
from accelsim.plan.units import Unit
from accelsim.spec.case import Case
from accelsim.spec.chip import Level, Multicast
from accelsim.spec.network import Kind, Network, Router, Topology
from accelsim.spec.routing import costs
from accelsim.spec.topologies import Edge, crossbar, fly, from_edges, grid, tree
from accelsim.spec.traffic import traffic_of

from ..helpers import CLOCK, brief, chip, custom, entry, gemm, level, make, network_link, run, stays
from ..properties.strategies import MOST_STEPS, steps_of, wide_cases
from . import test_fast_forward
from .test_drivers import compare

SLOW = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large]
STD4 = Router(routing=1, traversal=1, vcs=16, reduction_vcs=0, buffer=8, speculative=False, combine=1)


def network(topology: Topology, *, flit: int = 4, endpoint: int = 1, router: Router = STD4, clock: Fraction = CLOCK) -> Network:
    return Network("small", "", 1 / clock, flit, router, topology, 1, endpoint)


def mesh(*sizes: int, cycles: int = 1, **rest: int) -> Network:
    return network(grid(Kind.MESH, sizes, 1, cycles), **rest)


def cores(count: int) -> list[Level]:
    return [level("DRAM"), level("L1", fanout=(("x", count),))]


def reading(net: Network, nodes: list[int], outer_node: int = 0, words: int = 4, **rest: object) -> Case:
    """Each core takes `words` fp32 words of X over the network, all at once, and nothing else moves there."""
    noc = network_link("DRAM", "L1", net, nodes, outer_node, name="NOC", tensors=frozenset({"X"}), **rest)
    what = custom({"a": len(nodes), "b": words}, "Z", X=["a", "b"], Z=["a"])
    return make(chip(cores(len(nodes)), links=(noc,)), what, entry("DRAM", x=f"a{len(nodes)}"), entry("L1", f"b{words}"))


def writing(net: Network, nodes: list[int], outer_node: int = 0, words: int = 4, **rest: object) -> Case:
    """Each core gives `words` fp32 words of Z over the network, all at once."""
    noc = network_link("DRAM", "L1", net, nodes, outer_node, name="NOC", tensors=frozenset({"Z"}), **rest)
    what = custom({"a": len(nodes), "b": words}, "Z", X=["a", "b"], Z=["a", "b"])
    return make(chip(cores(len(nodes)), links=(noc,)), what, entry("DRAM", x=f"a{len(nodes)}"), entry("L1", f"b{words}"))


def come(case: Case) -> list[int]:
    ran = run(case)
    return [ran.times("ready", "X", 1, unit)[0] for unit in range(dict(case.chip.fanout(1))["x"])]


def gone(case: Case, words: int) -> list[int]:
    """How long each core's results took from the end of its work."""
    ran = run(case)
    count = dict(case.chip.fanout(1))["x"]
    return [ran.times("drained", "Z", 1, unit)[0] - words for unit in range(count)]


# -- by hand ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("node", "cycles"), [(0, 10), (1, 15), (2, 20), (3, 25)])
def test_alone_a_packet_takes_what_the_documentation_says(node: int, cycles: int) -> None:
    """7 + 5 n + L - 1 cycles of n links and L = 4 flits; in the node where it begins injection and ejection are passed too."""
    case = reading(mesh(4), [node])
    assert come(case) == [cycles] == [7 + 5 * node + 4 - 1]


def test_behind_another_on_the_same_way() -> None:
    """Four flits each from node 0 to 1 and 2 of three in a row.

    To 1: into the router 0-4, its head asks for the wire at 5: 5-9, for the node at 10: 10-14, there a cycle later: 15. To 2:
    into the router behind it, 4-8; the wire 9-13, the next one 14-18, the node 19-23: 24, which is 20 of its own and 4 behind.
    """
    assert come(reading(mesh(3), [1, 2])) == [15, 24]


def test_cores_contend_for_a_wire_that_both_ways_share_and_for_no_other() -> None:
    """Wires that take four cycles a flit, and four flits for each of two cores.

    From the end of the row both pass its first wire: 5-21 and 21-37 (asked for at 9); the second one goes on, 29-45, and its
    tail is through the node's channel at 45 + 8: 54, of which 16 behind the other. From the middle they go apart, and all that
    is left is the 4 cycles of the channel into the router.
    """
    slow = mesh(3, cycles=4)
    assert come(reading(slow, [1])) == [30]
    assert come(reading(slow, [2])) == [38]
    assert come(reading(slow, [1, 2])) == [30, 38 + 16]
    assert come(reading(slow, [0, 2], outer_node=1)) == [30, 30 + 4]


def test_set_up_is_paid_where_a_transfer_comes_in() -> None:
    assert come(reading(mesh(3), [1, 2], setup_cycles=3)) == [15 + 3, 24 + 6]


def test_the_networks_own_clock() -> None:
    """At half the clock all takes twice as long; at 3/2 of it each head's latency is rounded up by itself."""
    net = replace(mesh(3), cycle_s=Fraction(2, 10**9))
    assert come(reading(net, [2])) == [20 * 2]
    net = replace(mesh(3), cycle_s=Fraction(2, 3 * 10**9))  # 1.5 GHz: 5 cycles last 3.33, one 0.67; 4 flits 2.67
    hops = build_network(Schedule(reading(net, [2]))).stations[1]
    assert [hop.latency_cycles for hop in hops.fill_leg] == [4, 4, 4, 1, 0]
    assert come(reading(net, [2])) == [4 + 4 + 4 + 3 + 1]


def test_instances_lie_on_a_mesh_along_its_dimensions() -> None:
    """x along the first dimension, whatever the order in which the mapping's loops name the axes; two loops share one."""
    net = mesh(4, 2)
    on = chip([level("DRAM"), level("L1", fanout=(("x", 4), ("y", 2)))],
              links=(network_link("DRAM", "L1", net, range(8), name="NOC"),))
    what = custom({"a": 2, "b": 2, "c": 2}, "Z", X=["a", "b", "c"], Z=["a", "b", "c"])
    case = make(on, what, entry("DRAM", y="b2", x="a2 c2"), entry("L1", ""))
    schedule = Schedule(case)
    wired = build_network(schedule)
    ends = {}
    for station in wired.stations:
        if (station.entry, station.tensor) == (1, 0):
            ends[schedule.units[1][station.unit].bases[0]] = station.fill_leg[-2].name
    lines = [line.dims[0] for line in case.nest.lines]
    for base, name in ends.items():
        a, b, c = (base[lines.index(dim)] for dim in "abc")
        assert name == f"NOC out {2 * a + c + 4 * b}"
    assert len(ends) == 8


def test_a_fan_out_of_fan_outs_goes_by_the_inner_one_first() -> None:
    """Two clusters of two cores: the cores of the first one are at nodes 0 and 1."""
    on = chip([level("DRAM"), level("CLUSTER", fanout=(("c", 2),)), level("L1", fanout=(("x", 2),))],
              links=(network_link("DRAM", "L1", mesh(4), range(4), name="NOC"),))
    what = custom({"a": 4, "b": 2}, "Z", X=["a", "b"], Z=["a"])
    case = make(on, what, entry("DRAM", binding="X Z", c="a2"), entry("CLUSTER", binding="", x="a2"), entry("L1", "b2"))
    ends = [station.fill_leg[-2].name for station in build_network(Schedule(case)).stations
            if (station.entry, station.tensor) == (2, 0)]
    assert ends == ["NOC out 0", "NOC out 1", "NOC out 2", "NOC out 3"]


def shared_words(net: Network, nodes: list[int], outer_node: int = 0, **rest: object) -> Case:
    """All cores take the same four words of Y, and nothing else moves over the network."""
    noc = network_link("DRAM", "L1", net, nodes, outer_node, name="NOC", tensors=frozenset({"Y"}), **rest)
    what = custom({"a": len(nodes), "b": 4}, "Z", X=["a"], Y=["b"], Z=["a", "b"])
    return make(chip(cores(len(nodes)), links=(noc,)), what, entry("DRAM", x=f"a{len(nodes)}"), entry("L1", "b4"))


def test_a_multicast_passes_once_what_all_ways_have_in_common() -> None:
    """To nodes 2 and 3 of a row: into the network, 0>1 and 1>2 once; then each its own way, all at the same time."""
    case = shared_words(mesh(4), [2, 3], multicast=Multicast.EQUAL)
    ran = run(case)
    assert [ran.times("ready", "Y", 1, unit) for unit in (0, 1)] == [[20], [25]]
    assert ran.timeline.link_bytes == {"NOC in 0": 16, "NOC 0>1": 16, "NOC 1>2": 16, "NOC out 2": 16, "NOC 2>3": 16,
                                       "NOC out 3": 16}
    apart = run(shared_words(mesh(4), [2, 3]))
    assert [apart.times("ready", "Y", 1, unit) for unit in (0, 1)] == [[20], [29]]
    assert apart.timeline.link_bytes["NOC in 0"] == apart.timeline.link_bytes["NOC 1>2"] == 32


def test_a_reduction_passes_once_what_all_ways_have_in_common() -> None:
    """Partial sums of nodes 2 and 3 join behind router 2 and go on as one. From 3: 0-4, 5-9 over 3>2; 2>1 at 10, 1>0 at 15 and
    out at 20-24: 25, as if alone.
    """
    once = ("in 2", "in 3", "3>2", "2>1", "1>0", "out 0")
    noc = network_link("DRAM", "L1", mesh(4), [2, 3], name="NOC", tensors=frozenset({"Z"}), reduce=True)
    what = custom({"a": 2, "b": 4}, "Z", X=["a", "b"], Z=["b"])
    case = make(chip(cores(2), links=(noc,)), what, entry("DRAM", x="a2"), entry("L1", "b4"))
    ran = run(case)
    assert ran.timeline.link_bytes == {f"NOC {name}": 16 for name in once}
    assert ran.times("drained", "Z") == [4 + 25]


# -- against the network alone ------------------------------------------------------------------------------------------


@st.composite
def topologies(draw: st.DrawFn, least: int, *, coins: bool = True, cycles: int | None = None) -> Topology:
    """Networks of so many nodes at least. Without ``coins`` none has two ways that are equally long to choose from."""
    latency = draw(st.integers(1, 3))
    cycles = draw(st.sampled_from([1, 1, 2, 4])) if cycles is None else cycles
    kind = draw(st.sampled_from(list(Kind)))
    if kind in {Kind.MESH, Kind.TORUS}:
        first = draw(st.sampled_from([1, 3, 5] if kind is Kind.TORUS and not coins else [1, 2, 3, 4]))
        second = -(-least // first)
        return grid(kind, [first, second + (1 - second % 2 if kind is Kind.TORUS and not coins else draw(st.integers(0, 1)))],
                    latency, cycles)
    if kind is Kind.RING:
        return grid(kind, [least + 1 - least % 2 if not coins else least + draw(st.integers(1, 2))], latency, cycles)
    if kind is Kind.CROSSBAR:
        return crossbar(least + 1)
    if kind in {Kind.FLY, Kind.TREE}:
        return (fly if kind is Kind.FLY else tree)(2, max(1, (least - 1).bit_length()), latency, cycles)
    count = least + draw(st.integers(0, 2))
    edges = [Edge(draw(st.integers(0, i - 1)), i, draw(st.integers(1, 3)), cycles, False) for i in range(1, count)]
    more = draw(st.lists(st.tuples(st.integers(0, count - 1), st.integers(0, count - 1)), max_size=3))
    edges += [Edge(a, b, 1, cycles, draw(st.booleans())) for a, b in more if a != b]
    found = from_edges(count, edges, draw(st.permutations(range(count))))
    # what a file may say: from everywhere to everywhere up first and then down, which a wire of one way can take away
    assume(all((router, 0) in costs(found, home, 0, free=False) for home in range(count) for router in range(count)))
    return found


@st.composite
def routers(draw: st.DrawFn) -> Router:
    return replace(STD4, routing=draw(st.integers(0, 2)), traversal=draw(st.integers(1, 2)), speculative=draw(st.booleans()))


@settings(max_examples=150, deadline=None)
@given(st.data(), st.integers(1, 7), st.integers(1, 9))
def test_cores_that_ask_at_once_get_theirs_as_packets_of_the_network_alone(data: st.DataObject, count: int, flits: int) -> None:
    """A scatter: the node's packets go in the order of the cores. And an incast: ties go by core, as there by packet.

    Channels are as wide as each other, and each has VCs enough: else a tail may be held up differently.
    """
    cycles = data.draw(st.sampled_from([1, 2]))
    net = network(data.draw(topologies(count, coins=False, cycles=cycles)), endpoint=cycles, router=data.draw(routers()))
    everywhere = list(range(net.topology.nodes))
    nodes = data.draw(st.permutations(everywhere))[:count]
    outer = data.draw(st.sampled_from(everywhere))
    scattered = transfer(net, traffic_of([(0, outer, node, flits) for node in nodes]))
    tails = dict(zip(scattered.packet.tolist(), scattered.tail.tolist(), strict=True))
    assert come(reading(net, nodes, outer, flits)) == [tails[i] for i in range(count)]
    taken = transfer(net, traffic_of([(0, node, outer, flits) for node in nodes]))
    tails = dict(zip(taken.packet.tolist(), taken.tail.tolist(), strict=True))
    assert gone(writing(net, nodes, outer, flits), flits) == [tails[i] for i in range(count)]


# -- any chip -----------------------------------------------------------------------------------------------------------

MOST_INSTANCES = 16


@st.composite
def networked(draw: st.DrawFn, case: Case) -> Case:
    """The case with networks under links of its chip, or where there was none; levels that run in lockstep above them do not."""
    on = case.chip
    counts = [prod(count for _, count in on.fanout(place)) for place in range(len(on.names))]
    pairs = [(outer, inner) for inner in range(1, len(on.names)) for outer in range(inner)
             if prod(counts[:outer + 1]) == 1 and prod(counts[:inner + 1]) <= MOST_INSTANCES
             and any(inner in path and case.parent(inner, name) == outer for name, path in case.paths.items())]
    assume(pairs)
    chosen = draw(st.lists(st.sampled_from(pairs), min_size=1, max_size=2, unique=True))
    links, deepest = list(on.links), max(inner for _, inner in chosen)
    for outer, inner in chosen:
        count = prod(counts[outer + 1:inner + 1])
        net = network(draw(topologies(count)), flit=draw(st.sampled_from([4, 8, 32])), endpoint=draw(st.sampled_from([1, 1, 2])),
                      router=draw(routers()), clock=CLOCK * draw(st.sampled_from([1, 1, Fraction(1, 2), Fraction(3, 2), 2])))
        names = on.names[outer], on.names[inner]
        made = network_link(
            *names, net, draw(st.permutations(range(net.topology.nodes)))[:count], draw(st.integers(0, net.topology.nodes - 1)),
            name=f"NOC{outer}{inner}", reduce=draw(st.booleans()),
            multicast=draw(st.sampled_from([Multicast.NONE, Multicast.EQUAL])),
            setup_cycles=draw(st.sampled_from([0, 0, 5])), chunk_bytes=draw(st.sampled_from([None, None, 8, 64])))
        kept = [one for one in links if (one.outer, one.inner) == names]
        if kept and draw(st.integers(0, 3)):
            links.remove(kept[0])
            made = replace(made, reduce=kept[0].reduce)
        links.insert(draw(st.integers(0, len(links))), made)
    levels = tuple(replace(one, lockstep=one.lockstep and place > deepest) for place, one in enumerate(on.levels))
    pe = replace(on.array, lockstep=on.array.lockstep and deepest < case.array_entry)
    return replace(case, chip=replace(on, levels=levels, array=pe, links=tuple(links)))


@st.composite
def on_cores(draw: st.DrawFn, *, long: bool = False) -> Case:
    """A product on two to six cores that are anywhere on a network, so that there is always something to contend for."""
    fanout = draw(st.sampled_from([(("x", 2),), (("x", 3),), (("x", 2), ("y", 2)), (("x", 3), ("y", 2))]))
    count = prod(own for _, own in fanout)
    net = network(draw(topologies(count)), flit=draw(st.sampled_from([4, 8, 32])), endpoint=draw(st.sampled_from([1, 1, 2])),
                  router=draw(routers()), clock=CLOCK * draw(st.sampled_from([1, 1, Fraction(1, 2), Fraction(3, 2), 2])))
    noc = network_link(
        "DRAM", "L1", net, draw(st.permutations(range(net.topology.nodes)))[:count], draw(st.integers(0, net.topology.nodes - 1)),
        name="NOC", reduce=True, multicast=draw(st.sampled_from([Multicast.NONE, Multicast.EQUAL])),
        setup_cycles=draw(st.sampled_from([0, 0, 5])), chunk_bytes=draw(st.sampled_from([None, None, 16, 64])))
    if long:  # with shared transfers nothing is found to repeat itself
        noc = replace(noc, reduce=False, multicast=Multicast.NONE)
    port = draw(st.sampled_from(["shared", "apart"]))
    on = chip([level("DRAM", draw(st.sampled_from([None, 2, 16])), draw(st.sampled_from([0, 20])), ports=port,
                     accumulate=draw(st.booleans())), level("L1", draw(st.sampled_from([None, 4, 32])), 2, fanout=fanout)],
              links=(noc,))
    split = {axis: draw(st.sampled_from("mn" if long else "mnk")) + str(draw(st.integers(2, own))) for axis, own in fanout}
    m, n, k = (draw(st.integers(1, 12)) * draw(st.sampled_from([1, 1, 12] if long else [1])) for _ in range(3))
    loops = " ".join(f"{dim}*" for dim in draw(st.permutations("mnk")))
    inner = " ".join(f"{dim}{draw(st.integers(1, 3))}" for dim in draw(st.permutations("mnk")))
    slots = {name: draw(st.integers(1, 2)) for name in "ABC"}
    try:
        return make(on, gemm(m, n, k), entry("DRAM", loops, **split), entry("L1", inner, "A B C", slots))
    except SpecError:
        reject()


NETWORKED = st.one_of(wide_cases().flatmap(networked), on_cores())
LONG = st.one_of(wide_cases(long=True).flatmap(networked), on_cores(long=True))


def channels_of(net: Network, source: int, node: int) -> list[str]:
    """The channels of a way over a mesh, walked one dimension after the other."""
    at, found, step = source, [f"in {source}"], 1
    for size in net.topology.sizes:
        while at // step % size != node // step % size:
            after = at + (step if at // step % size < node // step % size else -step)
            found.append(f"{at}>{after}")
            at = after
        step *= size
    return [*found, f"out {node}"]


def place_of(case: Case, unit: Unit, inner: int, fanout: dict[str, int]) -> int:
    """The number of an instance, x fastest, told by where its work begins."""
    places = dict.fromkeys(fanout, 0)
    starts = [0] * len(case.nest.lines)
    for loop, coordinate in zip(case.nest.spatial_above(inner), unit.coordinates, strict=True):
        assert loop.axis is not None
        places[loop.axis] = places[loop.axis] * loop.bound + coordinate
        starts[loop.line] += coordinate * loop.stride
    assert tuple(starts) == unit.bases[0]
    return places["x"] + fanout["x"] * places["y"]


@settings(max_examples=80, deadline=None, suppress_health_check=SLOW)
@given(st.data(), st.sampled_from([(3, 2), (2, 3), (2, 2)]), st.sampled_from([4, 32]))
def test_each_channel_carries_what_goes_its_way(data: st.DataObject, sizes: tuple[int, int], flit: int) -> None:
    """Byte by byte from the plan's transfers, each rounded up to flits, and the ways that they go."""
    m, n, k = (data.draw(st.integers(1, 9)) for _ in range(3))
    fanout = {"x": sizes[0], "y": sizes[1]}
    net = mesh(*sizes, flit=flit)
    nodes = data.draw(st.permutations(range(prod(sizes))))
    outer = data.draw(st.integers(0, prod(sizes) - 1))
    on = chip([level("DRAM", 16, 10), level("L1", fanout=tuple(fanout.items()))],
              links=(network_link("DRAM", "L1", net, nodes, outer, name="NOC"),))
    across, down = data.draw(st.integers(1, sizes[0])), data.draw(st.integers(1, sizes[1]))
    case = make(on, gemm(m, n, k), entry("DRAM", "n* k* m*", x=f"n{across}", y=f"m{down}"),
                entry("L1", f"m{data.draw(st.integers(1, 2))} k{data.draw(st.integers(1, 3))}"))
    schedule = Schedule(case)
    expected: Counter[str] = Counter()
    for tensor in "ABC":
        for unit in schedule.units[1]:
            node = nodes[place_of(case, unit, 1, fanout)]
            for stay in stays(schedule, 1, tensor, unit.index):
                for load, way in ((stay.fill, (outer, node)), (stay.drain, (node, outer))):
                    for channel in channels_of(net, *way) if load is not None else ():
                        expected[f"NOC {channel}"] += load.outer_bytes(flit)
    timeline = simulate(Schedule(case))
    assert dict(timeline.link_bytes) == dict(expected)
    found = measure(case, timeline, estimate(case))
    for name, size in expected.items():  # a cycle for each flit
        assert found.link_busy(name) * found.cycles == pytest.approx(size / flit)


@settings(max_examples=150, deadline=None, suppress_health_check=SLOW)
@given(NETWORKED)
def test_drivers_agree(case: Case) -> None:
    assume(steps_of(case) <= MOST_STEPS)
    compare(case)


@settings(max_examples=60, deadline=None, suppress_health_check=SLOW)
@given(LONG)
def test_periods_are_the_same(case: Case) -> None:
    assume(steps_of(case) <= 20 * MOST_STEPS)
    test_fast_forward.compare(case)


@settings(max_examples=150, deadline=None, suppress_health_check=SLOW)
@given(NETWORKED)
def test_no_run_beats_a_bound_of_the_estimate(case: Case) -> None:
    """Nor do the laws of conservation break, nor does the estimate's traffic differ."""
    assume(steps_of(case) <= MOST_STEPS)
    timeline, guess = simulate(Schedule(case)), estimate(case)
    assert [one for one in guess.bounds if one.cycles > timeline.cycles] == [], brief(case)
    found = measure(case, timeline, guess)
    assert not found.crosscheck.traffic_differences, brief(case)
    assert all(0 <= found.link_busy(name) <= 1 for name in found.links)


@pytest.mark.nightly
@settings(max_examples=5000, deadline=None, suppress_health_check=SLOW)
@given(NETWORKED)
def test_drivers_agree_and_no_bound_is_beaten_at_length(case: Case) -> None:
    assume(steps_of(case) <= MOST_STEPS)
    compare(case)
    cycles = run(case, None, CompiledMachine).cycles
    assert [one for one in estimate(case).bounds if one.cycles > cycles] == [], brief(case)
