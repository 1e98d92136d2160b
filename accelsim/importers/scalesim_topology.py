"""SCALE-Sim's topology tables: the layers of a network as convolutions, or as matrix products."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from accelsim.errors import Fault, nearest
from accelsim.importers.csvrows import Cell, TableRow, table_rows
from accelsim.importers.imported import Left
from accelsim.importers.reading import MOST_LAYERS, Findings, whole_number

CONVOLUTION = ("IFMAP Height", "IFMAP Width", "Filter Height", "Filter Width", "Channels", "Num Filter", "Strides")
PRODUCT = ("M", "N", "K")
NAME, STRIDE_WIDTH, SPARSITY = "Layer name", "Stride Width", "Sparsity"
_WORDS = {
    NAME: ("layer", "layername", "name"),
    **{name: (name.replace(" ", "").lower(),) for name in (*CONVOLUTION, *PRODUCT)},
    "Channels": ("channels", "channel", "numchannels"), "Num Filter": ("numfilter", "numfilters", "filters"),
    "Strides": ("strides", "stride", "strideheight"), STRIDE_WIDTH: ("stridewidth",),
    SPARSITY: ("sparsity", "sparsityratio", "sparsitysupport"),
}
"""Spellings of each column, without blanks and in lower case."""
_DEPTHWISE = re.compile(r"(?i)(?:^|[^a-z])dw|depth")
LONGEST_NAME = 100


@dataclass(frozen=True)
class Layer:
    """A layer as an operator: a convolution has its seven sizes, a product three. ``repeat``: one channel at a time."""

    name: str
    sizes: Mapping[str, int]
    stride_width: int = 1
    repeat: int = 1

    @property
    def outputs(self) -> tuple[int, int]:
        """Rows and columns of a convolution's output; a last window that is only partly on the input counts."""
        rows = _positions(self.sizes["IFMAP Height"], self.sizes["Filter Height"], self.sizes["Strides"])
        return rows, _positions(self.sizes["IFMAP Width"], self.sizes["Filter Width"], self.stride_width)

    def operator(self, *, lowered: bool, accumulator: str | None) -> dict[str, Any]:
        """As an operator of a workload file; ``lowered``: a convolution as the product that SCALE-Sim makes of it."""
        common: dict[str, Any] = {"dtype": "int8"}
        if accumulator is not None:
            common["accumulator"] = accumulator
        if self.repeat > 1:
            common["repeat"] = self.repeat
        sizes = self.sizes
        if "M" in sizes:
            return {"name": self.name, "operator": "gemm", "dims": {"m": sizes["M"], "n": sizes["N"], "k": sizes["K"]}, **common}
        rows, columns = self.outputs
        if lowered:
            taps = sizes["Filter Height"] * sizes["Filter Width"] * sizes["Channels"]
            return {"name": self.name, "operator": "gemm", "dims": {"m": rows * columns, "n": sizes["Num Filter"], "k": taps},
                    **common}
        down, across = sizes["Strides"], self.stride_width
        return {"name": self.name, "operator": "conv2d",
                "dims": {"k": sizes["Num Filter"], "c": sizes["Channels"], "p": rows, "q": columns, "r": sizes["Filter Height"],
                         "s": sizes["Filter Width"]},
                "stride": down if down == across else [down, across],
                "input": {"h": sizes["IFMAP Height"], "w": sizes["IFMAP Width"]}, **common}


def _positions(extent: int, window: int, stride: int) -> int:
    return -(-(extent - window + stride) // stride)


def is_topology(text: str) -> bool:
    """Whether the first line that holds anything names a topology's columns, or is a layer's name and its numbers."""
    first = next(iter(table_rows(text[:1 << 16])), None)
    if first is None or len(first.cells) < 4 or any(mark in cell.text for cell in first.cells for mark in "{}[]"):
        return False  # lists and maps of JSON and YAML have commas and names too
    words = {_word(cell.text) for cell in first.cells}
    if {"m", "n", "k"} <= words or {"filterheight", "filterwidth"} <= words:
        return True
    return _kind_of(first) != ()


def read_topology(text: str, file: str, findings: Findings) -> list[Layer]:
    """The layers; faults and what is left go to ``findings``."""
    rows = table_rows(text)
    if not 0 < len(rows) <= MOST_LAYERS:
        findings.faults.append(Fault(file, 0, 0, "", f"more than {MOST_LAYERS:,} layers" if rows else "no layers"))
        return []
    columns: dict[str, int] | None
    if _is_header(rows[0]):
        columns = _columns(rows[0], rows[1:], file, findings)
        rows = rows[1:]
        if columns is not None and not rows:
            findings.faults.append(Fault(file, 0, 0, "", "no layers below the names of the columns"))
    else:
        columns = _unnamed(rows, file, findings)
    if columns is None:
        return []
    layers: list[Layer] = []
    names: dict[str, int] = {}
    for row in rows:
        layer = _layer(row, columns, file, findings)
        if layer is not None:
            layers.append(_named_once(layer, row, names, file, findings))
    if not layers and not findings.faults:
        findings.faults.append(Fault(file, 0, 0, "", "no layers, only titles"))
    return layers


def _word(text: str) -> str:
    return re.sub(r"[^a-z0-9]", "", text.lower())


def _column_of(text: str) -> str:
    """The column that a heading means, or nothing."""
    return next((name for name, spellings in _WORDS.items() if _word(text) in spellings), "")


def _is_header(row: TableRow) -> bool:
    return not any(whole_number(cell.text) for cell in row.cells[1:]) and any(_column_of(cell.text) for cell in row.cells)


def _kind_of(row: TableRow) -> tuple[str, ...]:
    """The columns of a row without a header, by how many of its cells are numbers; none where it is no layer."""
    numbers = 0
    for cell in row.cells[1:]:
        if whole_number(cell.text) is None:
            break
        numbers += 1
    if numbers in (7, 8):
        return (*CONVOLUTION, STRIDE_WIDTH)[:numbers]
    return PRODUCT if numbers == 3 else ()


def _wanted(columns: Mapping[str, int]) -> tuple[str, ...]:
    """The sizes that a table with these columns must have: a product's where it has all of them, else a convolution's."""
    return PRODUCT if set(PRODUCT) <= set(columns) else CONVOLUTION


def _columns(header: TableRow, rows: Sequence[TableRow], file: str, findings: Findings) -> dict[str, int] | None:
    """Where each column stands, by the header's words; None where one is missing."""
    found: dict[str, int] = {}
    others: list[tuple[int, Cell]] = []
    twice = [_column_of(cell.text) for cell in header.cells].count("IFMAP Width") == 2
    for i, cell in enumerate(header.cells):
        name = _column_of(cell.text)
        if name == "IFMAP Width" and twice and "IFMAP Height" not in found:
            name = "IFMAP Height"  # so headed in published tables: height comes first
        if name and name not in found:
            found[name] = i
        else:
            others.append((i, cell))
    wanted = _wanted(found)
    missing = [name for name in wanted if name not in found]
    for name in missing:
        hint = nearest(name, [cell.text for _, cell in others if cell.text])
        findings.faults.append(Fault(file, header.line, 1, "", f"no column '{name}'",
                                     f"{NAME}, {', '.join(CONVOLUTION)}; or Layer, M, N, K", hint))
    if missing:
        return None
    found.setdefault(NAME, 0)
    for i in range(len(header.cells), max((len(row.cells) for row in rows), default=0)):
        others.append((i, header.at(i)))
    for i, cell in others:
        filled = next((row for row in rows if row.at(i).text), None)
        if filled is not None:
            place = (header.line, cell.column) if cell.text else (filled.line, filled.at(i).column)
            findings.left.append(Left(file, *place, f"column '{cell.text}'" if cell.text else f"column {i + 1}",
                                      "SCALE-Sim has no such column either; nothing is made of it"))
    return found


def _unnamed(rows: Sequence[TableRow], file: str, findings: Findings) -> dict[str, int] | None:
    """Columns in their usual order, by how many numbers the first layer has."""
    kind = next((kind for row in rows if (kind := _kind_of(row))), ())
    if not kind:
        findings.faults.append(Fault(file, rows[0].line, 1, "", "neither the names of the columns nor a layer's numbers",
                                     f"{NAME}, {', '.join(CONVOLUTION)}; or Layer, M, N, K"))
        return None
    names = (NAME, *kind)
    if any(":" in row.at(len(names)).text for row in rows):
        names = (*names, SPARSITY)
    for row in rows:
        for cell in row.cells[len(names):]:
            findings.faults.append(Fault(file, row.line, cell.column, "", f"'{cell.text[:40]}' behind the last column",
                                         f"{', '.join(names)}; or a first line with the names of the columns"))
    return {name: i for i, name in enumerate(names)}


def _layer(row: TableRow, columns: Mapping[str, int], file: str, findings: Findings) -> Layer | None:
    """A row as a layer; None where it is a title, or wrong."""
    name = row.at(columns[NAME]).text[:LONGEST_NAME]
    if len(row.cells) == 1 and columns[NAME] == 0:
        findings.left.append(Left(file, row.line, row.cells[0].column, f"'{name}'", "a title without numbers: no layer"))
        return None
    wanted = _wanted(columns)
    sizes: dict[str, int] = {}
    before = len(findings.faults)
    for column in (*wanted, *([STRIDE_WIDTH] if STRIDE_WIDTH in columns else [])):
        cell = row.at(columns[column])
        number = whole_number(cell.text)
        if number is not None:
            sizes[column] = number
        elif column != STRIDE_WIDTH or cell.text:
            found = f"'{cell.text[:40]}'" if cell.text else "nothing"
            findings.faults.append(Fault(file, row.line, cell.column, name, f"{column}: {found}", "an integer from 1"))
    for extent, window in (("IFMAP Height", "Filter Height"), ("IFMAP Width", "Filter Width")):
        if sizes.get(window, 0) > sizes.get(extent, 1 << 60):
            findings.faults.append(Fault(file, row.line, row.at(columns[window]).column, name,
                                         f"{window} {sizes[window]} is larger than {extent} {sizes[extent]}",
                                         "a filter that lies on the input; SCALE-Sim adds no padding: write the padded size"))
    if len(findings.faults) > before:
        return None
    _tell_left(row, columns, name, file, findings)
    across = sizes.pop(STRIDE_WIDTH, sizes.get("Strides", 1))
    layer = Layer(name or f"layer on line {row.line}", sizes, across)
    if "DP" in name and "Channels" in sizes:  # SCALE-Sim runs such a layer channel by channel
        return replace(layer, sizes=sizes | {"Channels": 1}, repeat=sizes["Channels"])
    if (_DEPTHWISE.search(name) or _DEPTHWISE.search(row.comment)) and "Channels" in sizes:
        place = row.at(columns["Channels"])
        findings.left.append(Left(file, row.line, place.column, name, "named as depthwise, but SCALE-Sim runs it as it is "
                                  f"written, {sizes['Channels']} channels into {sizes['Num Filter']} filters once, and so is it "
                                  "here; with DP in its name it is run once a channel"))
    return layer


def _tell_left(row: TableRow, columns: Mapping[str, int], name: str, file: str, findings: Findings) -> None:
    cell = row.at(columns[SPARSITY]) if SPARSITY in columns else Cell("", 1)
    if cell.text:
        kept, _, block = cell.text.partition(":")
        if whole_number(kept) is None or whole_number(block) is None:
            findings.faults.append(Fault(file, row.line, cell.column, name, f"{SPARSITY}: '{cell.text[:40]}'", "N:M, as 2:4"))
        elif int(kept) < int(block):
            findings.left.append(Left(file, row.line, cell.column, f"{name}.{SPARSITY}", f"{cell.text}: sparsity is not "
                                      "modelled; the layer is run dense, as SCALE-Sim does with SparsitySupport : false"))


def _named_once(layer: Layer, row: TableRow, names: dict[str, int], file: str, findings: Findings) -> Layer:
    """The layer under a name that none before it has; ``names``: those, and how often each was asked for."""
    if layer.name not in names:
        names[layer.name] = 1
        return layer
    while True:
        names[layer.name] += 1
        name = f"{layer.name} ({names[layer.name]})"
        if name not in names:
            break
    names[name] = 1
    findings.left.append(Left(file, row.line, row.cells[0].column, layer.name, f"a second layer of this name is called '{name}' "
                              "here"))
    return replace(layer, name=name)
