"""What a chip's file says of a network in a link's place, and what may be wrong with it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from accelsim.spec.chipfile import ChipFile, LevelFile, LinkFile, Problem
from accelsim.spec.linknetwork import Fanout, LinkNetwork, instances, link_network
from accelsim.spec.network import Network

SAID_BY_IT = ("bandwidth", "latency", "granularity", "request", "outstanding", "per_instance")
"""Keys of a link that a network says itself, or that a network cannot have."""


def named_networks(file: ChipFile) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """The networks that a chip names, and where."""
    for i, link in enumerate(file.links):
        if link.network is not None:
            yield ("links", i, "network"), link.network


def network_key_problems(file: ChipFile) -> list[Problem]:
    """Keys that do not go together, and missing ones: (path, message, nearest word) of each fault."""
    problems: list[Problem] = []
    for i, link in enumerate(file.links):
        if link.network is None:
            if link.bandwidth is None:
                problems.append((("links", i), "missing key 'bandwidth'", "`network` names a network that has its own"))
            problems += [(("links", i, key), f"'{key}' without `network`: a link has no nodes", "")
                         for key in ("outer_node", "inner_nodes") if key in link.model_fields_set]
            continue
        problems += [(("links", i, key), f"'{key}' beside `network`, whose channels say it", "") for key in SAID_BY_IT
                     if getattr(link, key) != LinkFile.model_fields[key].get_default()]
        if link.multicast == "overlap":
            problems.append((("links", i, "multicast"), "'overlap' beside `network`: what sets share in part is sent to each; "
                             "allowed: none, equal", ""))
    return problems


def network_problems(file: ChipFile, networks: Mapping[str, Network]) -> list[Problem]:
    """Networks that do not fit the levels they join. The chip's other keys are right."""
    return [problem for i, link in enumerate(file.links) if link.network is not None
            for problem in _problems(file, i, link, networks[link.network])]


def _problems(file: ChipFile, index: int, link: LinkFile, network: Network) -> list[Problem]:
    problems: list[Problem] = []
    names = [level.name for level in file.levels]
    outer, inner = names.index(link.from_), names.index(link.to)
    where = ("links", index, "network")
    if instances(_fanouts(file, 0, outer + 1)) > 1:
        problems.append((where, f"{link.from_} has several instances: a network joins one of them with those of {link.to}", ""))
    together = next((level.name for level in file.levels[:inner + 1] if _lockstep(level)), None)
    if together is not None:
        problems.append((where, f"{together} runs in lockstep: one transfer stands for all instances of {link.to}, which have "
                         "one place each here", "leave `lockstep` out"))
    count, nodes = instances(_fanouts(file, outer + 1, inner + 1)), network.topology.nodes
    if link.outer_node >= nodes:
        problems.append((("links", index, "outer_node"), f"no node {link.outer_node} in {network.name}; it has {nodes}: 0 to "
                         f"{nodes - 1}", ""))
    given = link.inner_nodes
    if given is None:
        if count > nodes:
            problems.append((where, f"{count} instances of {link.to}, but {network.name} has {nodes} nodes", ""))
        return problems
    if len(given) != count:
        problems.append((("links", index, "inner_nodes"), f"{len(given)} nodes for {count} instances of {link.to}; give one "
                         "each", ""))
    for place, node in enumerate(given):
        if node >= nodes:
            problems.append((("links", index, "inner_nodes", place), f"no node {node} in {network.name}; it has {nodes}: 0 to "
                             f"{nodes - 1}", ""))
        elif node in given[:place]:
            problems.append((("links", index, "inner_nodes", place), f"node {node} a second time; a node for each instance", ""))
    return problems


def resolve_link_network(file: ChipFile, link: LinkFile, networks: Mapping[str, Network]) -> LinkNetwork | None:
    """The network in a link's place, proven to fit; None where the link has none."""
    if link.network is None:
        return None
    names = [level.name for level in file.levels]
    count = instances(_fanouts(file, names.index(link.from_) + 1, names.index(link.to) + 1))
    return link_network(networks[link.network], link.outer_node,
                        list(range(count)) if link.inner_nodes is None else link.inner_nodes, file.clock)


def _fanouts(file: ChipFile, first: int, end: int) -> list[Fanout]:
    return [tuple(((level.array.instances if level.array is not None else level.instances) or {}).items())
            for level in file.levels[first:end]]


def _lockstep(level: LevelFile) -> bool:
    return level.lockstep or (level.array is not None and level.array.lockstep)
