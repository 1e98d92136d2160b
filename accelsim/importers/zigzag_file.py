"""ZigZag's YAML: what is there, key by key, each fault at its place."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import Any

from accelsim.errors import nearest
from accelsim.importers.imported import Left
from accelsim.importers.reading import LARGEST_NUMBER, MOST_FAULTS, Findings
from accelsim.spec.yamlfile import Located, Path, Place, fault, read_yaml, render_path


@dataclass(frozen=True)
class Source:
    """A file of ZigZag's with its places, and where its faults and what is left of it go."""

    located: Located
    findings: Findings

    @staticmethod
    def of(text: str, file: str, findings: Findings) -> Source:
        """Read the YAML. Raises SpecError where it is none."""
        repeats: list[Place] = []
        located = read_yaml(text, file, repeats=repeats, lists=True)
        findings.left += [Left(file, *place, "", "a key that stands here a second time: the last one counts, as in ZigZag")
                          for place in repeats]
        return Source(located, findings)

    @property
    def value(self) -> Any:
        """The plain data."""
        return self.located.value

    def refuse(self, path: Path, message: str, allowed: str = "", hint: str = "") -> None:
        """A fault at a path."""
        self.findings.refused += 1
        if len(self.findings.faults) >= MOST_FAULTS:
            return
        one = fault(self.located, path, message, allowed, hint)
        if one not in self.findings.faults:
            self.findings.faults.append(one)

    def leave(self, path: Path, reason: str) -> None:
        """Something at a path that is not carried over."""
        known = path
        while known and known not in self.located.where:
            known = known[:-1]
        line, column = self.located.where.get(known, (0, 0))
        self.findings.left.append(Left(self.located.file, line, column, self._path(path), reason))

    def _path(self, path: Path) -> str:
        """A path as it is told; entries of a long list by their number, since looking for their names takes long."""
        if isinstance(self.value, list) and len(self.value) > 200 and path and isinstance(path[0], int):
            inside = render_path(self.value[path[0]], path[1:])
            return f"[{path[0]}].{inside}" if inside else f"[{path[0]}]"
        return render_path(self.value, path)

    def take(self, path: Path, holder: Any, key: str, check: Callable[[Any], bool], what: str) -> Any:
        """A value that must be there and pass a check; None, and a fault, where it is not."""
        if not isinstance(holder, dict):
            self.refuse(path, f"{_shown(holder)} where keys and values are wanted")
            return None
        if key not in holder:
            self.refuse((*path, key), f"missing key '{key}'", what, nearest(key, [str(one) for one in holder]))
            return None
        if not check(holder[key]):
            self.refuse((*path, key), f"{_shown(holder[key])}", what)
            return None
        return holder[key]

    def unknown(self, path: Path, holder: Any, known: Collection[str]) -> None:
        """Leave the keys that are none of the known ones."""
        for key in holder if isinstance(holder, dict) else ():
            if key not in known:
                self.leave((*path, key), "no key that is known here; nothing is made of it")

    def items(self, path: Path, value: Any, what: str) -> Iterable[tuple[Path, Any]]:
        """The entries of a list, or of a mapping; a fault where it is neither."""
        if isinstance(value, dict):
            return [((*path, key), item) for key, item in value.items()]
        if isinstance(value, list):
            return [((*path, i), item) for i, item in enumerate(value)]
        self.refuse(path, f"{_shown(value)} where {what} are wanted")
        return []


def is_count(value: Any) -> bool:
    """An integer from 1 to 2**40."""
    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= LARGEST_NUMBER


def is_true(value: Any) -> bool:
    """Whether a value is true, in either of Python's and YAML's spellings."""
    return value is True or (isinstance(value, str) and value.lower() == "true")


def is_text(value: Any) -> bool:
    """Text that is not empty."""
    return isinstance(value, str) and bool(value)


def words_in(*allowed: str) -> Callable[[Any], bool]:
    """Whether a value is a list of these words, none twice."""
    def check(value: Any) -> bool:
        return (isinstance(value, list) and all(isinstance(word, str) and word in allowed for word in value)
                and len(set(value)) == len(value))
    return check


def _shown(value: Any) -> str:
    if isinstance(value, dict | list):
        return "keys and values" if isinstance(value, dict) else "a list"
    text = "nothing" if value is None else ascii(value)
    return text if len(text) <= 60 else f"{text[:60]}..."
