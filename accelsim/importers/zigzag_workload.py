"""ZigZag's workload: layers by their equation, as operators of their own with the same dimensions."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from accelsim.importers.reading import MOST_LAYERS, whole_number
from accelsim.importers.zigzag_accelerator import ROLES
from accelsim.importers.zigzag_file import Source, is_count, is_text

_EQUATION = re.compile(r"\s*O((?:\[\w+\])+)\s*\+?\s*=\s*(\w)((?:\[\w+\])+)\s*([*+])\s*(\w)((?:\[\w*\])+)\s*", re.ASCII)
_RELATION = re.compile(r"\s*(\w+)\s*=\s*(?:(\d+)\s*\*\s*)?(\w+)\s*\+\s*(?:(\d+)\s*\*\s*)?(\w+)\s*", re.ASCII)
_TYPES = {4: "int4", 8: "int8", 16: "int16", 32: "int32", 64: "int64"}
_KEYS = ("id", "name", "operator_type", "equation", "dimension_relations", "loop_dims", "loop_sizes", "operand_precision",
         "operand_source", "pr_loop_dims", "pr_loop_sizes", "padding")
LINKS = {"O": "O", "I": "I1", "W": "I2"}
"""Operands of a layer and of the memories, where a mapping does not say."""
MOST_DIMS = 32


@dataclass(frozen=True)
class Layer:
    """A layer. ``dims`` by lower-case name; ``tensors``: index forms of operands that have bits; ``shapes``: of padded ones."""

    name: str
    kind: str
    dims: Mapping[str, int]
    tensors: Mapping[str, tuple[str, ...]]
    types: Mapping[str, str]
    accumulator: str
    shapes: Mapping[str, tuple[int, ...]]

    def operator(self, links: Mapping[str, str]) -> dict[str, Any]:
        """As an operator of a workload file; ``links``: which operand of the memories each of its operands is."""
        told: dict[str, Any] = {"name": self.name, "dims": dict(self.dims),
                                "tensors": {name: list(forms) for name, forms in self.tensors.items()}, "output": "O",
                                "roles": {name: ROLES[links[name]] for name in self.tensors if name != "O"},
                                "dtype": dict(self.types), "accumulator": self.accumulator}
        return told | ({"shapes": {name: list(shape) for name, shape in self.shapes.items()}} if self.shapes else {})


def read_layers(source: Source) -> list[Layer]:
    """The layers; fewer where there are faults."""
    layers: list[Layer] = []
    told = source.value
    if not isinstance(told, list) or not 0 < len(told) <= MOST_LAYERS:
        many = isinstance(told, list) and told
        source.refuse((), f"more than {MOST_LAYERS:,} layers" if many else "no layers", "a list of layers")
        return []
    joined = [i for i, item in enumerate(told) if isinstance(item, dict) and isinstance(item.get("operand_source"), dict) and any(
        one != item.get("id") for one in item["operand_source"].values())]
    if joined:
        source.leave((joined[0], "operand_source"), f"layers run one after another, each from a cold start: what one hands on "
                     f"is read from the outermost memory that holds it ({len(joined)} layers take from others)")
    names: set[str] = set()
    for i, item in enumerate(told):
        layer = _layer(source, (i,), item)
        if layer is None:
            continue
        if layer.name in names:
            source.refuse((i, "name" if isinstance(item, dict) and "name" in item else "id"),
                          f"a second layer named {layer.name}", "names that differ")
        names.add(layer.name)
        layers.append(layer)
    return layers


def _layer(source: Source, path: tuple[int], told: Any) -> Layer | None:
    before = source.findings.refused
    number = source.take(path, told, "id", lambda value: isinstance(value, int), "an integer")
    if not isinstance(told, dict):
        return None
    source.unknown(path, told, _KEYS)
    name = told.get("name")
    if name is not None and not (is_text(name) and len(name) <= 100):
        source.refuse((*path, "name"), "no name", "text of 1 to 100 characters")
    kind = source.take(path, told, "operator_type", is_text, "a word such as Conv or Gemm")
    dims = _dims(source, path, told)
    relations = _relations(source, path, told, dims)
    operands = _operands(source, path, told)
    bits = source.take(path, told, "operand_precision", lambda value: isinstance(value, dict), "bits of each operand")
    if source.findings.refused > before:
        return None
    types = {one: _type(source, (*path, "operand_precision"), bits, one if one != "O" else "O_final", zero=one != "O")
             for one in operands}
    accumulator = _type(source, (*path, "operand_precision"), bits, "O", zero=False)
    sizes = _input_sizes(source, path, told, relations)
    tensors: dict[str, tuple[str, ...]] = {}
    shapes: dict[str, tuple[int, ...]] = {}
    for operand, indices in operands.items():
        if types[operand] == "":  # no bits: nothing is moved, and the loops stand without it
            continue
        if not indices:
            source.leave((*path, "equation"), f"{operand} is one number for the whole layer; nothing is moved for it")
            continue
        forms = [_form(source, path, index, dims, relations, sizes) for index in indices]
        tensors[operand] = tuple(form for form, _ in forms)
        if any(index in sizes for index in indices):
            shapes[operand] = tuple(extent for _, extent in forms)
    unused = [dim for dim in dims if not any(re.search(rf"\b{dim}\b", form) for forms in tensors.values() for form in forms)]
    for dim in unused:
        source.refuse((*path, "loop_dims"), f"{dim.upper()} indexes no operand that has bits")
    if len(tensors) < 2:
        source.refuse((*path, "operand_precision"), "no operand besides the output has bits")
    if source.findings.refused > before or "O" not in tensors:
        return None
    if "+" in told["equation"].replace("+=", ""):
        source.leave((*path, "equation"), "an addition is counted as a multiply-accumulate, as ZigZag counts it")
    return Layer(name or f"Layer{number}", str(kind), dims, tensors, {one: types[one] for one in tensors}, accumulator, shapes)


def _dims(source: Source, path: tuple[int], told: dict[str, Any]) -> dict[str, int]:
    names = source.take(path, told, "loop_dims", lambda value: isinstance(value, list) and 0 < len(value) <= MOST_DIMS and all(
        isinstance(one, str) and re.fullmatch(r"[A-Za-z]\w{0,15}", one, re.ASCII) for one in value)
        and len({one.lower() for one in value}) == len(value), "a list of names, none twice")
    sizes = source.take(path, told, "loop_sizes", lambda value: isinstance(value, list) and all(map(is_count, value)),
                        "a list of integers from 1")
    if names is None or sizes is None:
        return {}
    if len(names) != len(sizes):
        source.refuse((*path, "loop_sizes"), f"{len(sizes)} sizes for {len(names)} dimensions")
        return {}
    return {name.lower(): size for name, size in zip(names, sizes, strict=True)}


@dataclass(frozen=True)
class _Relation:
    """An index that is a sum of two dimensions with factors."""

    terms: tuple[tuple[int, str], tuple[int, str]]

    def extent(self, dims: Mapping[str, int]) -> int:
        """How many indices there are, padding included."""
        return sum(factor * (dims[dim] - 1) for factor, dim in self.terms) + 1


def _relations(source: Source, path: tuple[int], told: dict[str, Any], dims: Mapping[str, int]) -> dict[str, _Relation]:
    found: dict[str, _Relation] = {}
    listed = told.get("dimension_relations") or []
    for where, item in source.items((*path, "dimension_relations"), listed, "relations"):
        match = _RELATION.fullmatch(item) if isinstance(item, str) and len(item) <= 200 else None
        if match is None:
            source.refuse(where, "no relation", "such as ix=2*ox+1*fx")
            continue
        factors = [1 if match[i] is None else whole_number(match[i]) for i in (2, 4)]
        names = [match[i].lower() for i in (3, 5)]
        strange = [name for name in names if name not in dims]
        if None in factors or strange or names[0] == names[1]:
            source.refuse(where, f"{strange[0]} is no dimension of the layer" if strange else "no sum of two dimensions",
                          ", ".join(dims))
            continue
        found[match[1].lower()] = _Relation(((factors[0] or 1, names[0]), (factors[1] or 1, names[1])))
    return found


def _operands(source: Source, path: tuple[int], told: dict[str, Any]) -> dict[str, list[str]]:
    """The indices of each operand, the output last."""
    text = source.take(path, told, "equation", lambda value: is_text(value) and len(value) <= 1000, "an equation")
    if text is None:
        return {}
    match = _EQUATION.fullmatch(text)
    if match is None:
        source.refuse((*path, "equation"), "no equation of an output and two operands", "such as O[k][ox]+=W[k][c]*I[c][ox]")
        return {}
    found = {name: [index.lower() for index in re.findall(r"\[(\w+)\]", match[place])]
             for name, place in ((match[2], 3), (match[5], 6))}
    if len(found) < 2 or "O" in found:
        source.refuse((*path, "equation"), "operands of the same name", "three names, O for the output")
        return {}
    return found | {"O": [index.lower() for index in re.findall(r"\[(\w+)\]", match[1])]}


def _type(source: Source, path: tuple[str | int, ...], bits: dict[str, Any], key: str, *, zero: bool) -> str:
    """An integer type by its bits; nothing for an operand without bits."""
    count = source.take(path, bits, key, lambda value: isinstance(value, int) and not isinstance(value, bool), "bits")
    if count is None or (zero and count == 0):
        return ""
    if count not in _TYPES:
        source.refuse((*path, key), f"{count} bits", ", ".join(map(str, _TYPES)) + (", or 0 for an operand that is not there"
                                                                                     if zero else ""))
    return _TYPES.get(count, "")


def _input_sizes(source: Source, path: tuple[int], told: dict[str, Any], relations: Mapping[str, _Relation],
                 ) -> dict[str, tuple[int, int | None]]:
    """Of each padded index: the padding before the first element, and what lies within (None: what padding leaves)."""
    names, sizes, padding = (told.get(key) for key in ("pr_loop_dims", "pr_loop_sizes", "padding"))
    if names is None:
        if padding is not None or sizes is not None:
            source.refuse(path, "padding or sizes without `pr_loop_dims`")
        return {}
    if not isinstance(names, list) or not all(isinstance(name, str) and name.lower() in relations for name in names):
        source.refuse((*path, "pr_loop_dims"), "no list of indices that relations give", ", ".join(relations))
        return {}
    if sizes is not None and not (isinstance(sizes, list) and len(sizes) == len(names) and all(map(is_count, sizes))):
        source.refuse((*path, "pr_loop_sizes"), f"not {len(names)} sizes", "integers from 1")
        return {}
    pairs = [[0, 0] for _ in names] if padding is None else padding
    if not (isinstance(pairs, list) and len(pairs) == len(names) and all(isinstance(pair, list) and len(pair) == 2 and all(
            type(one) is int and 0 <= one <= 1 << 20 for one in pair) for pair in pairs)):
        source.refuse((*path, "padding"), f"not {len(names)} pairs", "[[before, after], ...]")
        return {}
    return {name.lower(): (pair[0], sizes[i] if sizes is not None else -pair[0] - pair[1])
            for i, (name, pair) in enumerate(zip(names, pairs, strict=True))}


def _form(source: Source, path: tuple[int], index: str, dims: Mapping[str, int], relations: Mapping[str, _Relation],
          sizes: Mapping[str, tuple[int, int | None]]) -> tuple[str, int]:
    """An index as a form of ours, and how many there are."""
    relation = relations.get(index)
    if relation is None:
        if index not in dims:
            source.refuse((*path, "equation"), f"{index} is neither a dimension nor given by a relation",
                          ", ".join([*dims, *relations]))
        return index, dims.get(index, 1)
    before, size = sizes.get(index, (0, None))
    form = " + ".join(dim if factor == 1 else f"{factor}*{dim}" for factor, dim in relation.terms)
    extent = relation.extent(dims) if size is None else size if size > 0 else relation.extent(dims) + size
    if extent < 1:
        source.refuse((*path, "padding"), f"{index} would be padding alone")
    return (f"{form} - {before}" if before else form), extent
