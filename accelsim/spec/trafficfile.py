"""Traffic as it is asked for: a list of packets in a file or on standard input, or a pattern written inline."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from accelsim.errors import Fault, SpecError, nearest
from accelsim.spec.files import is_file, lines_of
from accelsim.spec.network import Network
from accelsim.spec.patterns import PATTERNS, Pattern, make_traffic
from accelsim.spec.traffic import LATEST, LONGEST_PACKET, MOST_PACKETS, SEVERAL, Traffic

_MOST_FAULTS = 200
_NUMBER = re.compile("0|[1-9][0-9]{0,17}")
_LINE = "'CREATE_CYCLE SOURCE DESTINATION FLITS'; '1+2+5' in place of one node for several"
_KEYS = {
    "load": (0.0, 1.0, "flits that each node sends in a cycle, at random; without it, all packets are there at once"),
    "flits": (1, LONGEST_PACKET, "flits of a packet"),
    "packets": (1, MOST_PACKETS, "packets that each node sends to each of its destinations"),
    "seed": (0, 1 << 32, "what random numbers begin with"),
    "node": (0, 1 << 12, "the node that receives, or sends, all"),
    "by": (1, 1 << 12, "how many nodes further"),
}


def read_traffic(text: str, network: Network) -> Traffic:
    """A file of packets, or a pattern such as ``uniform:load=0.2,flits=8,packets=100``.

    Raises SpecError with all that is wrong with it, by line.
    """
    name, _, _ = text.partition(":")
    path = Path(text)
    if not is_file(path):
        if name in PATTERNS:
            return read_pattern(text, network)
        raise SpecError([Fault(text, 0, 0, "", "no such file and no pattern", f"a file of lines {_LINE}; -; or a pattern: "
                               + ", ".join(PATTERNS), nearest(name, list(PATTERNS)))])
    return read_lines(lines_of(path, text), text, network.topology.nodes)


def read_lines(lines: Iterable[str], file: str, nodes: int) -> Traffic:
    """Packets, one a line, read line by line."""
    read = _Reading(nodes)
    faults: list[Fault] = []
    for number, line in enumerate(lines, 1):
        words = line.partition("#")[0].replace(",", " ").split()
        if not words:
            continue
        wrong = read.take(words)
        if not wrong and len(read) > MOST_PACKETS:
            wrong = f"more than {MOST_PACKETS:,} packets"
        if wrong:
            faults.append(Fault(file, number, 1, "", wrong, _LINE))
            if len(faults) == _MOST_FAULTS or len(read) > MOST_PACKETS:
                break
    if not faults and not len(read):
        faults.append(Fault(file, 0, 0, "", "no packets", _LINE))
    if faults:
        raise SpecError(faults)
    return read.traffic()


class _Reading:
    """Packets as they are read: five columns."""

    def __init__(self, nodes: int) -> None:
        self._nodes = nodes
        self._columns = tuple(array("q") for _ in range(5))
        self._copies: dict[int, tuple[int, ...]] = {}
        self._groups = 0
        self._latest: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self._columns[0])

    def take(self, words: list[str]) -> str:
        """Take a line; returns what is wrong with it, or ""."""
        if len(words) != 4:
            return f"{len(words)} words"
        created, flits = (int(word) if _NUMBER.fullmatch(word) else -1 for word in (words[0], words[3]))
        if not 0 <= created <= LATEST:
            return f"'{words[0][:40]}' is no cycle of 0 to 2^40"
        if not 1 <= flits <= LONGEST_PACKET:
            return f"'{words[3][:40]}' is no number of flits of 1 to 2^24"
        ends = []
        for word in words[1:3]:
            parts = word.split("+")
            wrong = next((part for part in parts if not _NUMBER.fullmatch(part) or int(part) >= self._nodes), None)
            if wrong is not None:
                return f"'{wrong[:40]}' is no node of 0 to {self._nodes - 1}"
            if len(set(parts)) < len(parts):
                return f"a node twice in '{word[:40]}'"
            ends.append(tuple(map(int, parts)))
        sources, destinations = ends
        if len(sources) > 1 and len(destinations) > 1:
            return "several sources and several destinations"
        for source in sources:
            if created < self._latest.get(source, 0):
                return f"cycle {created:,} of node {source} after cycle {self._latest[source]:,}"
            self._latest[source] = created
        self._add(created, sources, destinations, flits)
        return ""

    def _add(self, created: int, sources: tuple[int, ...], destinations: tuple[int, ...], flits: int) -> None:
        group = -1
        if len(sources) > 1:
            group = self._groups
            self._groups += 1
        if len(destinations) > 1:
            self._copies[len(self)] = destinations
        for source in sources:
            row = created, source, destinations[0] if len(destinations) == 1 else SEVERAL, flits, group
            for column, value in zip(self._columns, row, strict=True):
                column.append(value)

    def traffic(self) -> Traffic:
        """All that was read."""
        created, sources, destinations, flits, group = (np.array(column, dtype=np.int64) for column in self._columns)
        return Traffic(created, sources, destinations, flits, group, self._copies)


def read_pattern(text: str, network: Network) -> Traffic:
    """A pattern with its keys."""
    return make_traffic(parse_pattern(text), network)


def parse_pattern(text: str) -> Pattern:
    """The name and the keys of a pattern. Raises SpecError with all that is wrong with them."""
    name, _, rest = text.partition(":")
    if name not in PATTERNS:
        raise SpecError([Fault(text, 0, 0, "", "no pattern", ", ".join(PATTERNS), nearest(name, list(PATTERNS)))])
    known = PATTERNS[name]
    values: dict[str, float] = {}
    faults: list[Fault] = []
    for part in filter(None, (word.strip() for word in rest.split(","))):
        key, _, value = (word.strip() for word in part.partition("="))
        if key not in known:
            faults.append(Fault(text, 0, 0, key, "not a key of this pattern", ", ".join(known), nearest(key, list(known))))
            continue
        low, high, meaning = _KEYS[key]
        whole = key != "load"
        if not re.fullmatch("[0-9]{1,12}" if whole else r"[0-9]{0,3}(\.[0-9]{1,12})?", value) or value == "":
            faults.append(Fault(text, 0, 0, key, f"'{value[:40]}' is no number", meaning))
        elif not low <= float(value) <= high or (not whole and float(value) == 0):
            faults.append(Fault(text, 0, 0, key, f"{value}", f"{'above ' if not whole else ''}{low} to {high}: {meaning}"))
        else:
            values[key] = int(value) if whole else float(value)
    if faults:
        raise SpecError(faults)
    return Pattern(name, int(values.get("flits", 8)), int(values.get("packets", 1)), values.get("load"),
                   int(values.get("seed", 1)), int(values.get("node", 0)), int(values["by"]) if "by" in values else None)
