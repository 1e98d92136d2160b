"""A trace in Chrome's JSON format, which ui.perfetto.dev and chrome://tracing open.

Its times are microseconds, of which viewers keep fractions only as far as rounding lets them. So a whole number of them is
written for each unit of the trace: intervals that follow each other do not overlap by a rounding error.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Mapping
from typing import IO

from accelsim.outputs.trace import Group, Kind, Part, Slice, Trace

_LINES = 4096
"""Events that are written at once."""


def write_chrome(trace: Trace, file: IO[bytes], *, zipped: bool = False) -> None:
    """Write it event by event; ``zipped``: as gzip. The same trace gives the same bytes."""
    if zipped:
        with gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0, compresslevel=6) as packed:
            _write(trace, packed)
    else:
        _write(trace, file)


def _write(trace: Trace, file: IO[bytes] | gzip.GzipFile) -> None:
    file.write(f'{{"displayTimeUnit":"ms","otherData":{_json(trace.about_shown_as("microsecond"))},"traceEvents":['.encode())
    lines: list[str] = []
    separator = "\n"
    for line in _events(trace):
        lines.append(line)
        if len(lines) == _LINES:
            file.write((separator + ",\n".join(lines)).encode())
            lines.clear()
            separator = ",\n"
    file.write(((separator if lines else "") + ",\n".join(lines) + "\n]}\n").encode())


def _events(trace: Trace) -> Iterator[str]:
    for process, part in enumerate(trace.parts, 1):
        yield from _names(process, part, trace)
        for counter in part.counters:
            head = f'{{"ph":"C","name":{_json(counter.track.name)},"pid":{process},"tid":{counter.track.number}'
            unit = "GB/s" if counter.track.group is Group.BANDWIDTH else "share"
            for time, share in counter.samples:
                yield f'{head},"ts":{time},"args":{{"{unit}":{share}}}}}'
        kinds = [_Words(process, kind) for kind in part.kinds]
        for one in part.slices():
            yield from kinds[one.kind].events(one)


def _names(process: int, part: Part, trace: Trace) -> Iterator[str]:
    """Names and order of the process and its threads, and what the trace is of."""
    def meta(name: str, thread: int, values: Mapping[str, str | int]) -> str:
        return f'{{"ph":"M","name":"{name}","pid":{process},"tid":{thread},"args":{_json(values)}}}'
    yield meta("process_name", 0, {"name": f"{part.name} on {trace.about['chip']}"})
    yield meta("process_sort_index", 0, {"sort_index": process})
    lanes = {kind.track.number for kind in part.kinds}
    shares = {counter.track.number for counter in part.counters}
    for track in part.tracks:
        if track.number in lanes or track.number not in shares:
            yield meta("thread_name", track.number, {"name": f"{track.name} ({track.group.value})"})
            yield meta("thread_sort_index", track.number, {"sort_index": track.number})
    about = {**trace.about_shown_as("microsecond"), **part.about}
    yield (f'{{"ph":"i","s":"p","name":"about this trace","cat":"about","pid":{process},"tid":0,'
           f'"ts":{part.begin},"args":{_json(about)}}}')


class _Words:
    """The events of a kind of slice: all but the numbers is written beforehand."""

    def __init__(self, process: int, kind: Kind) -> None:
        self._where = f'"pid":{process},"tid":{kind.track.number},"ts":'
        self._slice = f'{{"ph":"X","name":{_json(kind.name)},"cat":"{kind.category}",{self._where}'
        self._facts = "".join(f",{_json(name)}:{_json(text)}" for name, text in kind.facts)

    def events(self, one: Slice) -> Iterator[str]:
        """The slice, then the ends of its arrows: they belong to the slice that is open at their time."""
        begin = one.begin
        yield (f'{self._slice}{begin},"dur":{one.end - begin},'
               f'"args":{{"cycle":{one.cycle},"cycles":{one.cycles}{self._facts}}}}}')
        for flow in one.flows_from:
            yield f'{{"ph":"s","name":"awaited","cat":"flow","id":{flow},{self._where}{begin}}}'
        for flow in one.flows_to:
            yield f'{{"ph":"f","bp":"e","name":"awaited","cat":"flow","id":{flow},{self._where}{begin}}}'


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
