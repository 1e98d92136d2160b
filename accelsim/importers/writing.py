"""Our files as text: quoted where a reader could take it for something else, short parts on one line."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from accelsim.spec.mapping import Mapping as LoopNest

_PLAIN = re.compile(r"[A-Za-z_](?:[\w ./()-]*[\w)])?", re.ASCII)
_NOT_TEXT = frozenset({"null", "true", "false"})
_LONGEST = 116


def yaml_text(value: Mapping[str, Any], comment: str = "") -> str:
    """Plain data as a YAML file that our reader takes for the same data; ``comment``: what stands before it."""
    return "\n".join([*_comment(comment), *_block(value, "")]) + "\n"


def mapping_text(mapping: LoopNest, comment: str) -> str:
    """A mapping file for every operator."""
    return "\n".join(_comment(comment)) + f"\n{mapping.to_yaml()}"


def plain_name(text: str, otherwise: str) -> str:
    """Text as the name of a chip, a memory or a port: letters, digits, `-` and `_`; ``otherwise`` where nothing is left."""
    name = re.sub(r"[^A-Za-z0-9_-]+", "-", text).strip("-")[:60]
    if not name:
        return otherwise
    return name if re.match("[A-Za-z_]", name) else f"{otherwise}-{name}"[:60]


def _comment(text: str) -> list[str]:
    """Text that may hold the name of any file, as lines of a comment."""
    return [f"# {_printable(line)}" for line in text.splitlines()]


def _printable(text: str) -> str:
    return "".join(letter if letter.isprintable() else "?" for letter in text)


def _block(value: Mapping[str, Any], indent: str) -> list[str]:
    lines: list[str] = []
    for key, part in value.items():
        flow = f"{indent}{_scalar(key)}: {_flow(part)}"
        if isinstance(part, Mapping) and part and len(flow) > _LONGEST:
            lines += [f"{indent}{_scalar(key)}:", *_block(part, indent + "  ")]
        elif isinstance(part, Sequence) and not isinstance(part, str) and part and (
                len(flow) > _LONGEST or any(isinstance(item, Mapping) for item in part)):
            lines += [f"{indent}{_scalar(key)}:", *(line for item in part for line in _item(item, indent + "  "))]
        else:
            lines.append(flow)
    return lines


def _item(value: Any, indent: str) -> list[str]:
    """An entry of a list, on one line where it is short."""
    flow = f"{indent}- {_flow(value)}"
    if not isinstance(value, Mapping) or len(flow) <= _LONGEST:
        return [flow]
    first, *rest = _block(value, indent + "  ")
    return [f"{indent}- {first.lstrip()}", *rest]


def _flow(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_scalar(key)}: {_flow(part)}" for key, part in value.items()) + "}"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return "[" + ", ".join(map(_flow, value)) + "]"
    return _scalar(value)


def _scalar(value: Any) -> str:
    if not isinstance(value, str):
        return json.dumps(value)
    if _PLAIN.fullmatch(value) and value not in _NOT_TEXT:
        return value
    return '"' + "".join(_escaped(letter) for letter in value) + '"'


def _escaped(letter: str) -> str:
    if letter in '"\\':
        return "\\" + letter
    if letter.isprintable():
        return letter
    return f"\\U{ord(letter):08x}"


def mappings_text(mappings: Mapping[str, LoopNest], comment: str) -> str:
    """A mapping file of several operators, by their names."""
    lines = [*_comment(comment), "operators:"]
    for name, mapping in mappings.items():
        lines += [f"  {_scalar(name)}:", *(f"    {line}" for line in mapping.to_yaml().splitlines())]
    return "\n".join(lines) + "\n"
