"""A mapping as a user writes it: bare `levels` for every operator, or `operators: {NAME: {levels: ...}}`."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema

from accelsim.spec.banks import Layout, parse_layout
from accelsim.spec.mapping import REST, Loop, Mapping, MappingLevel
from accelsim.spec.workload import MOST_OPERATORS


def _read_loop(value: Any) -> Loop:
    if isinstance(value, Loop):
        return value
    if not isinstance(value, dict) or len(value) != 1 or any(len(key) > 32 for key in value if isinstance(key, tuple)):
        raise ValueError("a loop is one dimension and its bound, as in {k: 4}, {[c, r, s]: 256} or {n: \"*\"}")
    (key, bound), = value.items()
    if bound != REST and (isinstance(bound, bool) or not isinstance(bound, int)):
        raise ValueError(f"bound {bound!r} of {key}; allowed: an integer from 1, or \"{REST}\" for what is left")
    if bound != REST and not 1 <= bound <= 1 << 40:
        raise ValueError(f"bound {bound} of {key}; allowed: an integer from 1, or \"{REST}\" for what is left")
    dims = key if isinstance(key, tuple) else (key,)
    return Loop(dims, None if bound == REST else bound)


_LOOP_SCHEMA = {"type": "object", "minProperties": 1, "maxProperties": 1,
                "additionalProperties": {"anyOf": [{"type": "integer", "minimum": 1}, {"const": REST}]},
                "description": 'one dimension (or a flow list of them, [c, r, s]) and its bound; "*" is what is left'}


def _read_layout(value: Any) -> Layout:
    if isinstance(value, Layout):
        return value
    if not isinstance(value, str):
        raise ValueError(f"{value!r} is no layout; allowed: row, column, blocked:ROWSxCOLUMNS, padded:WORDS, swizzled")
    return parse_layout(value)


_LAYOUT_SCHEMA = {"type": "string", "examples": ["row", "column", "blocked:8x8", "padded:1", "swizzled"]}
LayoutFile = Annotated[Layout, BeforeValidator(_read_layout), WithJsonSchema(_LAYOUT_SCHEMA)]
LoopFile = Annotated[Loop, BeforeValidator(_read_loop), WithJsonSchema(_LOOP_SCHEMA)]
Loops = Annotated[list[LoopFile], Field(max_length=64)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True)


class MappingLevelFile(_Strict):
    """One entry of a mapping."""

    level: str
    loops: Loops = Field([], description="temporal, outermost first, over tiles of the next entry")
    spatial: dict[str, Loops] = Field(
        {}, max_length=16, description="over the instances of the next entry, or the array's PEs")
    binding: list[str] | None = Field(
        None, max_length=64, description="tensors held here; default all the memory serves")
    buffers: dict[str, Annotated[int, Field(ge=1, le=1 << 20, strict=True)]] = Field(
        {}, max_length=64, description="slots per tensor")
    layout: dict[str, LayoutFile] = Field(
        {}, max_length=64, description="how tiles lie over banks that are simulated; default row")


class OperatorMappingFile(_Strict):
    """The mapping of one operator."""

    levels: list[MappingLevelFile] = Field(min_length=1, max_length=64)


class MappingFile(_Strict):
    """A mapping file."""

    levels: list[MappingLevelFile] | None = Field(None, min_length=1, max_length=64)
    operators: Annotated[dict[str, OperatorMappingFile], Field(max_length=MOST_OPERATORS)] = {}


def to_mapping(levels: list[MappingLevelFile], origin: str) -> Mapping:
    """The mapping that a file's entries state."""
    return Mapping(tuple(MappingLevel(entry.level, tuple(entry.loops),
                                      tuple((axis, tuple(loops)) for axis, loops in entry.spatial.items()),
                                      None if entry.binding is None else tuple(entry.binding),
                                      tuple(entry.buffers.items()), tuple(entry.layout.items())) for entry in levels), origin)
