"""Sections of `key = value` or `key: value` lines, each value with its place."""

from __future__ import annotations

import re
from dataclasses import dataclass

from accelsim.errors import Fault
from accelsim.importers.reading import Findings

_SECTION = re.compile(r"\[\s*([^\]]+?)\s*\]")
_SETTING = re.compile(r"([^=:]+?)\s*[=:](.*)")


@dataclass(frozen=True)
class Setting:
    """One line of a section. ``key`` as it is written; ``line`` and ``column`` of the value count from 1."""

    section: str
    key: str
    text: str
    line: int
    column: int

    @property
    def path(self) -> str:
        """Section and key."""
        return f"{self.section}.{self.key}"


Settings = dict[tuple[str, str], Setting]
"""By section and key, both in lower case, in the order of the file."""


def ini_settings(text: str, file: str, findings: Findings) -> Settings:
    """Every setting of the text; lines that are none, and repeated ones, are faults."""
    found: Settings = {}
    section = ""
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.strip()
        if not line or line[0] in "#;":
            continue
        heading, setting = _SECTION.fullmatch(_without_comment(line)), _SETTING.match(raw)
        if heading:
            section = heading[1]
        elif setting is None or not section:
            column = len(raw) - len(raw.lstrip()) + 1
            findings.faults.append(Fault(file, number, column, section, f"'{line[:60]}' is no setting"
                                         + ("" if section else " of a section"), "[section], then lines such as 'key : value'"))
        else:
            column = setting.start(2) + len(setting[2]) - len(setting[2].lstrip()) + 1
            one = Setting(section, setting[1].strip(), _without_comment(setting[2].strip()).strip("\"'"), number, column)
            key = (section.lower(), one.key.lower())
            if key in found:
                findings.faults.append(Fault(file, number, column, one.path, f"a second '{one.key}', first on line "
                                             f"{found[key].line}"))
            found.setdefault(key, one)
    return found


def _without_comment(text: str) -> str:
    """Text up to a `#` or `;` that stands after a blank."""
    return re.split(r"\s[#;]", text, maxsplit=1)[0].strip()
