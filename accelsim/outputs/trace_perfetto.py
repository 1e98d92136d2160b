"""A trace in Perfetto's own format: packets of protocol buffers, names and sentences written once."""

from __future__ import annotations

from typing import IO, Any, NamedTuple

from accelsim.errors import Fault, SpecError
from accelsim.outputs.trace import Counter, Group, Kind, Part, Slice, Trace

_SEQUENCE = 1
_BYTES = 1 << 16
"""Bytes that are written at once."""


def protos() -> Any:
    """The message classes. Raises SpecError where the perfetto package is not installed, or too old."""
    try:
        from perfetto.protos.perfetto.trace import perfetto_trace_pb2
    except ImportError as error:
        raise SpecError([Fault("--trace", 0, 0, "", f"a .pftrace needs the perfetto package ({error})",
                               "pip install 'accelsim[trace]'; or .json, .json.gz, which need nothing")]) from None
    if "trace_attributes" not in perfetto_trace_pb2.TracePacket.DESCRIPTOR.fields_by_name:
        raise SpecError([Fault("--trace", 0, 0, "", "the perfetto package is too old for a .pftrace",
                               "pip install -U 'accelsim[trace]'; or .json, .json.gz, which need nothing")])
    return perfetto_trace_pb2


def write_perfetto(trace: Trace, file: IO[bytes]) -> None:
    """Write it packet by packet. The same trace gives the same bytes. Raises SpecError as `protos`."""
    _Writer(trace, file).write()


class _Names:
    """Texts of one sort that packets mention by number."""

    def __init__(self, interned: Any) -> None:
        self._interned = interned
        self._numbers: dict[str, int] = {}

    def __getitem__(self, text: str) -> int:
        return self._numbers.setdefault(text, len(self._numbers) + 1)

    def intern(self, *, as_bytes: bool = False) -> None:
        """Say what the numbers mean."""
        for text, number in self._numbers.items():
            self._interned.add(iid=number, **({"str": text.encode()} if as_bytes else {"name": text}))


class _Pair(NamedTuple):
    """The packets with which slices of a kind begin and end; of the first its event, and the two facts that differ."""

    begin: Any
    event: Any
    cycle: Any
    cycles: Any
    end: Any


class _Writer:
    def __init__(self, trace: Trace, file: IO[bytes]) -> None:
        self._trace = trace
        self._about = trace.about_shown_as("nanosecond")
        self._file = file
        self._proto: Any = protos()
        self._pending = bytearray()
        self._first = self._proto.TracePacket(trusted_packet_sequence_id=_SEQUENCE)
        interned = self._first.interned_data
        self._names, self._categories = _Names(interned.event_names), _Names(interned.event_categories)
        self._facts, self._texts = _Names(interned.debug_annotation_names), _Names(interned.debug_annotation_string_values)
        self._groups = 1 + sum(len(part.tracks) for part in trace.parts)  # numbers behind those of tracks

    def write(self) -> None:
        trace = self._trace
        pairs = [[self._pair(kind) for kind in part.kinds] for part in trace.parts]
        self._start()
        for process, part in enumerate(trace.parts, 1):
            self._describe(process, part)
            for counter in part.counters:
                self._count(counter)
            for one in part.slices():
                self._slice(one, pairs[process - 1][one.kind])
        self._file.write(self._pending)

    def _put(self, packet: Any) -> None:
        """A packet is a field of the trace: its number and kind, its length, its bytes."""
        packed = packet.SerializeToString()
        pending, length = self._pending, len(packed)
        pending.append(0x0A)
        while length > 0x7F:
            pending.append(length & 0x7F | 0x80)
            length >>= 7
        pending.append(length)
        pending += packed
        if len(pending) >= _BYTES:
            self._file.write(pending)
            pending.clear()

    def _start(self) -> None:
        """What all packets of the sequence refer to, and what the trace is of."""
        first, packet = self._first, self._proto.TracePacket
        self._names.intern()
        self._categories.intern()
        self._facts.intern()
        self._texts.intern(as_bytes=True)
        first.sequence_flags = packet.SEQ_INCREMENTAL_STATE_CLEARED | packet.SEQ_NEEDS_INCREMENTAL_STATE
        self._put(first)
        about = packet()
        for key, value in self._about.items():
            if isinstance(value, int):
                about.trace_attributes.attribute.add(key=key, long_value=value)
            else:
                about.trace_attributes.attribute.add(key=key, string_value=str(value))
        self._put(about)

    def _describe(self, process: int, part: Part) -> None:
        """The process, its groups, the tracks in them, and an instant that says what it is all of."""
        packet = self._proto.TracePacket()
        track = packet.track_descriptor
        track.uuid = whole = self._groups
        track.process.pid = process
        track.process.process_name = f"{part.name} on {self._about['chip']}"
        track.child_ordering = track.EXPLICIT
        self._put(packet)
        self._groups += 1
        for place, group in enumerate(Group):
            own = [one for one in part.tracks if one.group is group]
            if not own:
                continue
            heading = self._track(self._groups, group.value, whole, place)
            heading.track_descriptor.child_ordering = track.EXPLICIT
            self._put(heading)
            for rank, one in enumerate(own):
                packet = self._track(one.number, one.name, self._groups, rank)
                if group in {Group.SHARES, Group.BANDWIDTH}:
                    unit = "share" if group is Group.SHARES else "GB/s"
                    packet.track_descriptor.counter.unit_name = unit
                    packet.track_descriptor.counter.y_axis_share_key = unit
                self._put(packet)
            self._groups += 1
        instant = self._event("TYPE_INSTANT", whole)
        instant.timestamp = part.begin
        instant.track_event.name = "about this trace"
        for key, value in {**self._about, **part.about}.items():
            _annotate(instant.track_event, key, value)
        self._put(instant)

    def _track(self, number: int, name: str, parent: int, rank: int) -> Any:
        packet = self._proto.TracePacket()
        track = packet.track_descriptor
        track.uuid, track.name, track.parent_uuid, track.sibling_order_rank = number, name, parent, rank
        return packet

    def _count(self, counter: Counter) -> None:
        packet = self._event("TYPE_COUNTER", counter.track.number)
        for time, share in counter.samples:
            packet.timestamp, packet.track_event.double_counter_value = time, share
            self._put(packet)

    def _event(self, kind: str, track: int) -> Any:
        packet = self._proto.TracePacket(trusted_packet_sequence_id=_SEQUENCE)
        packet.sequence_flags = packet.SEQ_NEEDS_INCREMENTAL_STATE
        packet.track_event.type = getattr(packet.track_event, kind)
        packet.track_event.track_uuid = track
        return packet

    def _pair(self, kind: Kind) -> _Pair:
        begin = self._event("TYPE_SLICE_BEGIN", kind.track.number)
        event = begin.track_event
        event.name_iid = self._names[kind.name]
        event.category_iids.append(self._categories[kind.category])
        cycle, cycles = (event.debug_annotations.add(name_iid=self._facts[name]) for name in ("cycle", "cycles"))
        for name, text in kind.facts:
            event.debug_annotations.add(name_iid=self._facts[name], string_value_iid=self._texts[text])
        return _Pair(begin, event, cycle, cycles, self._event("TYPE_SLICE_END", kind.track.number))

    def _slice(self, one: Slice, pair: _Pair) -> None:
        """Write a slice's packets over those of its kind."""
        _, start, end, cycle, cycles, flows_from, flows_to = one
        begin, event, first, lasted, over = pair
        begin.timestamp, over.timestamp = start, end
        if isinstance(cycle, int):
            first.int_value = cycle
        else:
            first.double_value = cycle
        if isinstance(cycles, int):
            lasted.int_value = cycles
        else:
            lasted.double_value = cycles
        if flows_from or flows_to:
            event.flow_ids[:], event.terminating_flow_ids[:] = flows_from, flows_to
            self._put(begin)
            del event.flow_ids[:], event.terminating_flow_ids[:]
        else:
            self._put(begin)
        self._put(over)


def _annotate(event: Any, key: str, value: str | float) -> None:
    if isinstance(value, str):
        event.debug_annotations.add(name=key, string_value=value)
    elif isinstance(value, int):
        event.debug_annotations.add(name=key, int_value=value)
    else:
        event.debug_annotations.add(name=key, double_value=value)
