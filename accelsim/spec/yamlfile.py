"""YAML text as plain data that knows its places: safe to read, nothing evaluated, every fault with line and column.

A small, stated part of YAML: mappings, sequences and scalars. Tags, anchors, aliases, merge keys and several documents
are refused. Plain scalars follow YAML 1.2, narrowed: only ``true`` and ``false`` are booleans (a dimension may be named
``n``, ``y`` or ``no``), only ``null``, ``~`` and nothing are null, numbers are decimal (``0x10``, ``010``, ``60:00``,
``1_000``, ``.inf`` and ``.nan`` stay text). Keys are always text, or a tuple of texts where the file has a sequence as
key: ``{[c, r, s]: 256}``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import yaml

from accelsim.errors import Fault, SpecError, nearest, printable

if TYPE_CHECKING:
    import pydantic

Key = str | tuple[str, ...]
Path = tuple[str | int | tuple[str, ...], ...]
Place = tuple[int, int]

DEEPEST: Final = 32
LARGEST_BYTES: Final = 4 * 2**20
MOST_VALUES: Final = 250_000
MOST_FAULTS: Final = 200
"""Told of a file: who has so many wants the first."""
_LONGEST_NUMBER: Final = 64
_KEYS: Final = "text, or a list of names such as [c, r, s]"

_LOADER: Final[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_INT: Final = re.compile(r"[-+]?(0|[1-9][0-9]*)")
_FLOAT: Final = re.compile(r"[-+]?((0|[1-9][0-9]*)(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]+)?")
_UNPRINTABLE: Final = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")
_WORD: Final = re.compile(r"[A-Za-z0-9_][\w+-]*")
_SIMPLE: Final = (str, int, float, bool, type(None))


@dataclass(frozen=True)
class Located:
    """A file's plain data and where each of its parts stands.

    ``where`` gives line and column (from 1) of every mapping key, list item and, under ``()``, of the whole.
    """

    value: Any
    where: Mapping[Path, Place]
    file: str


def read_yaml(text: str, file: str, *, repeats: list[Place] | None = None, lists: bool = False) -> Located:
    """Read one YAML document whose top is a mapping; raises ``SpecError`` with all faults found.

    For other tools' files: ``repeats`` takes the places of repeated keys, the last of which counts then; ``lists``: the top may
    be a list.
    """
    text = text.removeprefix("\ufeff")
    if len(text) > LARGEST_BYTES or len(text.encode("utf-8", "surrogatepass")) > LARGEST_BYTES:
        raise SpecError([Fault(file, 0, 0, "", f"larger than {LARGEST_BYTES // 2**20} MiB")])
    if bad := _UNPRINTABLE.search(text):
        line, column = text.count("\n", 0, bad.start()) + 1, bad.start() - text.rfind("\n", 0, bad.start())
        raise SpecError([Fault(file, line, column, "", f"unprintable character {bad[0]!a}", "UTF-8 text")])
    reader = _Reader(file, repeats)
    top = (dict, list) if lists else dict
    try:
        for event in yaml.parse(text, Loader=_LOADER):
            if not reader.take(event):
                break
        else:
            if not isinstance(reader.value, top) and not reader.faults:
                reader.refuse(
                    reader.where.get((), (1, 1)),
                    (),
                    "the file is not a mapping",
                    "keys and values, such as 'name: toy'",
                )
    except yaml.MarkedYAMLError as error:
        reader.faults.append(_syntax_fault(error, text, file))
    except yaml.YAMLError as error:
        reader.faults.append(Fault(file, 0, 0, "", f"not YAML: {error}"))
    if reader.faults:
        raise SpecError(reader.faults)
    return Located(reader.value, reader.where, file)


def fault(located: Located, path: Path, message: str, allowed: str = "", hint: str = "") -> Fault:
    """A fault at a path of the file, placed at the nearest part of it that the file really has."""
    known = path
    while known and known not in located.where:
        known = known[:-1]
    line, column = located.where.get(known, (0, 0))
    return Fault(located.file, line, column, render_path(located.value, path), message, allowed, hint)


def render_path(value: Any, path: Path) -> str:
    """A path as an override writes it: ``levels.DRAM.bandwidth``, a list entry by its own name where it has one."""
    text = ""
    for element in path:
        if isinstance(element, int):
            name = _entry_name(value, element)
            text += f".{name}" if name else f"[{element}]"
        elif isinstance(element, tuple):
            text += f".[{', '.join(_safe(part) for part in element)}]"
        else:
            text += f".{_safe(element)}"
        value = _child(value, element)
    return text.removeprefix(".")


def faults_from_pydantic(
    located: Located, error: pydantic.ValidationError, known: Callable[[tuple[Any, ...]], Sequence[str]] | None = None
) -> list[Fault]:
    """Each error of a validation (of the first ``MOST_FAULTS``) at its line and column, in the order of the file, none twice.

    ``known`` gives the keys allowed at a location: pydantic's own ``loc`` of the mapping, union branch names included.
    """
    found: dict[Fault, None] = {}
    for detail in error.errors(include_url=False)[:MOST_FAULTS]:
        loc, kind, given = detail["loc"], detail["type"], detail["input"]
        path = _data_path(located.value, loc if kind != "missing" else loc[:-1])
        if kind == "missing" and loc:
            found[fault(located, (*path, loc[-1]), f"missing key '{_safe(str(loc[-1]))}'")] = None
        elif kind == "extra_forbidden" and loc:
            keys = list(known(loc[:-1])) if known else []
            word = path[-1] if path else loc[-1]
            shown = render_path(None, (word,))
            hint = nearest(word, keys) if isinstance(word, str) else ""
            found[fault(located, path, f"unknown key '{shown}'", ", ".join(keys), hint)] = None
        else:
            found[_value_fault(located, path, dict(detail), given)] = None
    return sorted(found, key=lambda item: (item.line, item.column))


def _value_fault(located: Located, path: Path, detail: dict[str, Any], given: Any) -> Fault:
    """A fault about a value: the words known where there are some, else what was expected and what was found."""
    context = detail.get("ctx", {})
    if isinstance(context.get("error"), Exception):
        return fault(located, path, str(context["error"]))
    shown = "a mapping" if isinstance(given, dict) else "a list" if isinstance(given, list) else ""
    if isinstance(given, _SIMPLE):
        shown = ascii(given) if len(ascii(given)) <= 80 else f"{ascii(given)[:80]}..."
    if detail["type"] in ("literal_error", "enum"):
        expected = str(context["expected"])
        hint = nearest(given, re.findall(r"'([^']*)'", expected)) if isinstance(given, str) else ""
        return fault(located, path, f"unknown value {shown}".rstrip(), expected.replace("'", ""), hint)
    message = str(detail["msg"])
    return fault(located, path, f"{message[:1].lower()}{message[1:]}" + (f", found {shown}" if shown else ""))


def _data_path(value: Any, loc: tuple[Any, ...]) -> Path:
    """Pydantic's location without what is not in the data: names of union branches, functions and key marks."""
    path: Path = ()
    for element in loc:
        if isinstance(value, dict):
            keys = [key for key in value if key == element or (isinstance(key, tuple) and str(key) == element)]
            if not keys:
                continue
            path, value = (*path, keys[0]), value[keys[0]]
        elif isinstance(value, list) and isinstance(element, int) and 0 <= element < len(value):
            path, value = (*path, element), value[element]
    return path


def _child(value: Any, element: str | int | tuple[str, ...]) -> Any:
    if isinstance(value, dict):
        return value.get(element)
    return value[element] if isinstance(value, list) and isinstance(element, int) and element < len(value) else None


def _entry_name(entries: Any, index: int) -> str:
    """The ``name`` (or ``level``) of a list entry, where it is a plain word that no other entry shares."""
    if not isinstance(entries, list) or not index < len(entries):
        return ""
    for key in ("name", "level"):
        names = [entry.get(key) if isinstance(entry, dict) else None for entry in entries]
        name = names[index]
        if isinstance(name, str) and _WORD.fullmatch(name) and names.count(name) == 1:
            return name
    return ""


def _safe(text: str | None) -> str:
    """Text that may be printed: as it is, or with its unprintable characters escaped."""
    safe = printable(text or "")
    return safe if len(safe) <= 80 else f"{safe[:80]}..."


def _syntax_fault(error: yaml.MarkedYAMLError, text: str, file: str) -> Fault:
    """A syntax error in one line, with a way out of the two slips that the parser's own words hide."""
    in_alias = "alias" in (error.context or "")
    mark = (in_alias and error.context_mark) or error.problem_mark or error.context_mark
    if mark is None:
        return Fault(file, 0, 0, "", f"not YAML: {error.problem}")
    line, column = mark.line + 1, mark.column + 1
    lines = text.splitlines()
    rest = lines[mark.line][mark.column :] if mark.line < len(lines) else ""
    if in_alias:
        return Fault(file, line, column, "", "a bare * is YAML's sign for an alias", 'the star in quotes: "*"')
    if "nesting depth" in (error.problem or ""):
        return Fault(file, line, column, "", f"nested more than {DEEPEST} deep")
    if rest.startswith("\t"):
        return Fault(file, line, column, "", "a tab where YAML wants spaces", "spaces")
    said = ", ".join(part for part in (error.context, error.problem) if part)
    return Fault(file, line, column, "", f"not YAML: {said}")


@dataclass
class _Frame:
    """A mapping, sequence or sequence used as key that is being read; ``key`` is the key that waits for its value."""

    container: dict[Key, Any] | list[Any]
    path: Path
    place: Place
    is_key: bool = False
    key: Key | None = None
    first_lines: dict[Key, int] = field(default_factory=dict)


class _Reader:
    """Builds plain data from the parser's events, without recursion, and collects faults on the way."""

    def __init__(self, file: str, repeats: list[Place] | None) -> None:
        self.file = file
        self.repeats = repeats
        self.value: Any = None
        self.where: dict[Path, Place] = {}
        self.faults: list[Fault] = []
        self._stack: list[_Frame] = []
        self._documents = 0
        self._values = 0

    def refuse(self, place: Place, path: Path, message: str, allowed: str = "") -> None:
        """Note a fault at a place of the file."""
        root = self._stack[0].container if self._stack else self.value
        self.faults.append(Fault(self.file, *place, render_path(root, path), message, allowed))

    def take(self, event: Any) -> bool:
        """Take the next event; False says that reading on would be useless or unsafe."""
        place = (event.start_mark.line + 1, event.start_mark.column + 1)
        if isinstance(event, yaml.DocumentStartEvent):
            self._documents += 1
            if self._documents > 1:
                self.refuse(place, (), "a second document begins", "one document in a file")
                return False
        elif isinstance(event, yaml.NodeEvent):
            return self._node(event, place)
        elif isinstance(event, yaml.CollectionEndEvent):
            frame = self._stack.pop()
            if frame.is_key:
                self._end_key(frame)
        return True

    def _node(self, event: Any, place: Place) -> bool:
        """Take the start of a value or key."""
        frame = self._stack[-1] if self._stack else None
        opens = isinstance(event, yaml.CollectionStartEvent)
        self._values += 1
        if frame is None:
            path: Path = ()
            self.where[path] = place
        elif frame.is_key:
            return self._part_of_key(frame, event, place)
        elif isinstance(frame.container, list):
            path = (*frame.path, len(frame.container))
            self.where[path] = place
        elif frame.key is None:
            return self._start_key(frame, event, place)
        else:
            path = (*frame.path, frame.key)
        self._refuse_magic(event, place, path)
        if opens and len(self._stack) >= DEEPEST:
            self.refuse(place, path, f"nested more than {DEEPEST} deep")
            return False
        if self._values > MOST_VALUES:
            self.refuse(place, path, f"more than {MOST_VALUES} values")
            return False
        if opens:
            container: dict[Key, Any] | list[Any] = {} if isinstance(event, yaml.MappingStartEvent) else []
            self._put(frame, container)
            self._stack.append(_Frame(container, path, place))
        else:
            self._put(frame, self._scalar(event, place, path))
        return len(self.faults) < MOST_FAULTS

    def _put(self, frame: _Frame | None, value: Any) -> None:
        if frame is None:
            self.value = value
        elif isinstance(frame.container, list):
            frame.container.append(value)
        elif frame.key is not None:
            frame.container[frame.key] = value
            frame.key = None

    def _start_key(self, frame: _Frame, event: Any, place: Place) -> bool:
        """Take a key, or the start of a sequence that is one. A key is its text: ``n``, ``on`` and ``1`` alike."""
        self._refuse_magic(event, place, frame.path)
        if isinstance(event, yaml.SequenceStartEvent):
            self._stack.append(_Frame([], frame.path, place, is_key=True))
            return True
        if isinstance(event, yaml.MappingStartEvent):
            self.refuse(place, frame.path, "a mapping cannot be a key", _KEYS)
            return False
        key = event.value if isinstance(event, yaml.ScalarEvent) else f"*{event.anchor}"
        if key == "<<" and not event.style:
            self.refuse(place, frame.path, "merge keys (<<) are not read", "the keys themselves")
        elif not key:
            self.refuse(place, frame.path, "an empty key", _KEYS)
        self._set_key(frame, key, place)
        return len(self.faults) < MOST_FAULTS

    def _part_of_key(self, frame: _Frame, event: Any, place: Place) -> bool:
        """Take one text of a sequence used as key."""
        self._refuse_magic(event, place, frame.path)
        if isinstance(event, yaml.CollectionStartEvent):
            self.refuse(place, frame.path, "a key is nested", _KEYS)
            return False
        self._put(frame, event.value if isinstance(event, yaml.ScalarEvent) else f"*{event.anchor}")
        return True

    def _end_key(self, frame: _Frame) -> None:
        """Make the sequence that has ended the key of the mapping around it."""
        key = tuple(str(part) for part in frame.container)
        if not all(key) or not key:
            self.refuse(frame.place, frame.path, "a key with nothing in it", _KEYS)
        self._set_key(self._stack[-1], key, frame.place)

    def _set_key(self, frame: _Frame, key: Key, place: Place) -> None:
        frame.key = key
        path = (*frame.path, key)
        if key in frame.first_lines and self.repeats is not None:
            self.repeats.append(place)
        elif key in frame.first_lines:
            shown = render_path(None, (key,))
            self.refuse(
                place, path, f"duplicate key '{shown}' on line {place[0]}, first on line {frame.first_lines[key]}"
            )
            return
        frame.first_lines[key] = place[0]
        self.where[path] = place

    def _refuse_magic(self, event: Any, place: Place, path: Path) -> None:
        """Note what YAML has and these files do not: tags, anchors, aliases."""
        if isinstance(event, yaml.AliasEvent):
            allowed = f'the value itself, or text in quotes: "*{_safe(event.anchor)}"'
            self.refuse(place, path, f"aliases (*{_safe(event.anchor)}) are not read", allowed)
            return
        if event.anchor is not None:
            self.refuse(place, path, f"anchors (&{_safe(event.anchor)}) are not read", "the value itself")
        if event.tag is not None:
            self.refuse(place, path, f"tags ({_safe(event.tag)}) are not read", "plain values, or text in quotes")

    def _scalar(self, event: Any, place: Place, path: Path) -> str | int | float | bool | None:
        """The value of a scalar: quoted or block text as it is, a plain one by the rules at the head of this file."""
        if isinstance(event, yaml.AliasEvent):
            return None
        text: str = event.value
        if event.style:
            return text
        if text in ("", "~", "null"):
            return None
        if text in ("true", "false"):
            return text == "true"
        if not _FLOAT.fullmatch(text):
            return text
        if len(text) > _LONGEST_NUMBER:
            self.refuse(place, path, f"a number of {len(text)} characters", f"at most {_LONGEST_NUMBER}")
            return None
        if _INT.fullmatch(text):
            return int(text)
        if not math.isfinite(number := float(text)):
            self.refuse(place, path, f"the number {text} is too large")
        return number
