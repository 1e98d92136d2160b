"""Traces read back from their bytes, each format by itself, into one form that is easy to ask."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace as Packets
from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import TrackEvent

from accelsim.analytic.estimate import estimate
from accelsim.measure.report import OperatorReport, RunReport, measure
from accelsim.outputs.trace import Trace
from accelsim.outputs.trace_chrome import write_chrome
from accelsim.outputs.trace_perfetto import write_perfetto
from accelsim.spec.case import Case
from accelsim.timeline import Timeline

from ..helpers import CLOCK


@dataclass(frozen=True)
class Told:
    """A slice: whose, from when to when (in the trace's units), called what, with which facts."""

    process: str
    track: str
    begin: int
    end: int
    name: str
    category: str
    facts: tuple[tuple[str, Any], ...]

    def __getitem__(self, fact: str) -> Any:
        return dict(self.facts)[fact]


@dataclass
class Read:
    """What a file says."""

    about: dict[str, Any] = field(default_factory=dict)
    abouts: dict[str, dict[str, Any]] = field(default_factory=dict)
    tracks: list[tuple[str, str, str]] = field(default_factory=list)
    slices: list[Told] = field(default_factory=list)
    samples: dict[tuple[str, str], list[tuple[int, float]]] = field(default_factory=dict)
    sources: dict[int, Told] = field(default_factory=dict)
    targets: dict[int, Told] = field(default_factory=dict)

    def of(self, track: str) -> list[Told]:
        return [one for one in self.slices if one.track == track]

    def arrows(self) -> set[tuple[Told, Told]]:
        """Each has one begin and one end."""
        assert self.sources.keys() == self.targets.keys()
        return {(self.sources[number], target) for number, target in self.targets.items()}


def report_of(case: Case, timeline: Timeline) -> OperatorReport:
    return measure(case, timeline, estimate(case))


def run_of(*reports: OperatorReport) -> RunReport:
    return RunReport("chip", "workload", CLOCK, reports)


def bytes_of(write: Callable[..., None], trace: Trace, **how: bool) -> bytes:
    file = io.BytesIO()
    write(trace, file, **how)
    return file.getvalue()


def chrome(trace: Trace) -> Read:
    return read_chrome(bytes_of(write_chrome, trace))


def perfetto(trace: Trace) -> Read:
    return read_perfetto(bytes_of(write_perfetto, trace))


def read_chrome(data: bytes) -> Read:
    whole = json.loads(data)
    read = Read(about=whole["otherData"])
    processes: dict[int, str] = {}
    threads: dict[tuple[int, int], str] = {}
    open_at: dict[tuple[int, int, int], Told] = {}
    for event in whole["traceEvents"]:
        where, facts = (event["pid"], event["tid"]), event.get("args", {})
        if event["ph"] == "M":
            if event["name"] == "process_name":
                processes[event["pid"]] = facts["name"]
            elif event["name"] == "thread_name":
                name, _, group = facts["name"].rpartition(" (")
                threads[where] = name
                read.tracks.append((processes[event["pid"]], group.rstrip(")"), name))
            continue
        begin = event["ts"]
        assert isinstance(begin, int), "fractions of microseconds are not safe"
        if event["ph"] == "i":
            read.abouts[processes[event["pid"]]] = facts
        elif event["ph"] == "C":
            unit = "GB/s" if event["name"].endswith(" GB/s") else "share"
            read.samples.setdefault((processes[event["pid"]], event["name"]), []).append((begin, facts[unit]))
        elif event["ph"] == "X":
            told = Told(processes[event["pid"]], threads[where], begin, begin + event["dur"], event["name"],
                        event["cat"], tuple(facts.items()))
            read.slices.append(told)
            assert (*where, begin) not in open_at, "two slices of a track begin together"
            open_at[*where, begin] = told
        else:
            found = read.sources if event["ph"] == "s" else read.targets
            assert event["id"] not in found
            assert event["ph"] == "s" or (event["ph"], event["bp"]) == ("f", "e")
            found[event["id"]] = open_at[*where, begin]
    return read


def read_perfetto(data: bytes) -> Read:
    """Slices from their begins and ends, in order of time as a reader of the format sorts them."""
    packets = Packets()
    packets.ParseFromString(data)
    read = Read()
    names: dict[str, dict[int, str]] = {}
    described = [one.track_descriptor for one in packets.packet if one.HasField("track_descriptor")]
    assert len({one.uuid for one in described}) == len(described), "numbers of tracks are unique"
    tracks = {one.uuid: one for one in described}
    numbered: dict[int, tuple[str, str]] = {}
    for one in described:
        if one.HasField("process"):
            continue
        parent = tracks[one.parent_uuid]
        if parent.HasField("process"):
            continue
        process = tracks[parent.parent_uuid].process.process_name
        numbered[one.uuid] = (process, one.name)
        if not one.HasField("counter"):
            read.tracks.append((process, parent.name, one.name))
    opened: dict[int, tuple[Any, int]] = {}
    events = []
    for packet in packets.packet:
        if packet.HasField("interned_data"):
            data_of = packet.interned_data
            for sort in ("event_names", "event_categories", "debug_annotation_names"):
                names[sort] = {one.iid: one.name for one in getattr(data_of, sort)}
            names["texts"] = {one.iid: one.str.decode() for one in data_of.debug_annotation_string_values}
        for one in packet.trace_attributes.attribute:
            read.about[one.key] = one.long_value if one.HasField("long_value") else one.string_value
        if packet.HasField("track_event"):
            events.append(packet)
    for packet in sorted(events, key=lambda one: one.timestamp):
        event = packet.track_event
        where = event.track_uuid
        if event.type == TrackEvent.TYPE_INSTANT:
            read.abouts[tracks[where].process.process_name] = dict(map(fact_of, event.debug_annotations))
        elif event.type == TrackEvent.TYPE_COUNTER:
            read.samples.setdefault(numbered[where], []).append((packet.timestamp, event.double_counter_value))
        elif event.type == TrackEvent.TYPE_SLICE_BEGIN:
            assert where not in opened, "a slice begins while another of its track is open"
            opened[where] = event, packet.timestamp
        else:
            assert event.type == TrackEvent.TYPE_SLICE_END
            first, begin = opened.pop(where)
            facts = tuple((names["debug_annotation_names"][one.name_iid],
                           names["texts"][one.string_value_iid] if one.HasField("string_value_iid") else fact_of(one)[1])
                          for one in first.debug_annotations)
            told = Told(*numbered[where], begin, packet.timestamp, names["event_names"][first.name_iid],
                        names["event_categories"][first.category_iids[0]], facts)
            read.slices.append(told)
            for found, numbers in ((read.sources, first.flow_ids), (read.targets, first.terminating_flow_ids)):
                for number in numbers:
                    assert number not in found
                    found[number] = told
    assert not opened, "every slice ends"
    return read


def fact_of(one: Any) -> tuple[str, Any]:
    return one.name, getattr(one, one.WhichOneof("value"))
