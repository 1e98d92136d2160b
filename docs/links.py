"""Are the links to elsewhere alive? `make links`, or `python docs/links.py [FILE...]`. Wants the network, so no check needs it.

Each address is asked for with HEAD, and with GET where that fails. Ends with 1 if one is gone (404, 410) or its host has no
address. What forbids to ask (401, 403, 429), fails or does not answer is told, and is no error: it may well be there.
"""

from __future__ import annotations

import re
import socket
import sys
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from enum import Enum
from http.client import HTTPException
from pathlib import Path
from urllib.error import HTTPError, URLError
from urllib.parse import urldefrag
from urllib.request import OpenerDirector, Request, build_opener

ROOT = Path(__file__).resolve().parent.parent
WHERE = ("docs/**/*.md", "README.md", "CONTRIBUTING.md", "CHANGELOG.md", "hwconfigs/**/*.yaml")
ADDRESS = re.compile(r"https?://[^\s<>\"'`|\\^{}\]]+")
LOCAL = re.compile(r"https?://(localhost|127\.0\.0\.1|\[::1\])[:/]")
TIMEOUT_SECONDS = 20
AT_ONCE = 8


class Verdict(Enum):
    """What an answer means."""

    ALIVE = "alive"
    DEAD = "dead"
    CLOSED = "not checkable"
    UNCLEAR = "no clear answer"


@dataclass(frozen=True)
class Answer:
    """What came back: a verdict, and the status or what happened instead."""

    verdict: Verdict
    said: str


def addresses(text: str) -> Iterator[tuple[int, str]]:
    """Line and address of each link of a text; full stops and brackets of the sentence around it are not part of it."""
    for number, line in enumerate(text.splitlines(), 1):
        for found in ADDRESS.findall(line):
            address = found.rstrip(".,;:!?*_")
            while address.endswith(")") and address.count(")") > address.count("("):
                address = address[:-1].rstrip(".,;:!?*_")
            if not LOCAL.match(address + "/"):
                yield number, address


def ask(address: str, opener: OpenerDirector, timeout: float = TIMEOUT_SECONDS) -> Answer:
    """Whether something is there. Redirections are followed."""
    answer = _ask("HEAD", address, opener, timeout)
    return answer if answer.verdict is Verdict.ALIVE else _ask("GET", address, opener, timeout)


def _ask(method: str, address: str, opener: OpenerDirector, timeout: float) -> Answer:
    request = Request(urldefrag(address).url, method=method, headers={"User-Agent": "Mozilla/5.0 (accelsim docs/links.py)"})
    try:
        with opener.open(request, timeout=timeout) as reply:
            return Answer(Verdict.ALIVE, str(reply.status))
    except HTTPError as error:
        error.close()
        verdict = {401: Verdict.CLOSED, 403: Verdict.CLOSED, 404: Verdict.DEAD, 410: Verdict.DEAD, 429: Verdict.CLOSED}
        return Answer(verdict.get(error.code, Verdict.UNCLEAR), str(error.code))
    except URLError as error:
        unknown = isinstance(error.reason, socket.gaierror)
        return Answer(Verdict.DEAD if unknown else Verdict.UNCLEAR, "no such host" if unknown else str(error.reason))
    except (HTTPException, OSError, ValueError) as error:
        return Answer(Verdict.UNCLEAR, f"{type(error).__name__}: {error}")


def files() -> list[Path]:
    """Those that are looked at unless others are named."""
    return sorted({path for pattern in WHERE for path in ROOT.glob(pattern)})


def check(paths: Iterable[Path], opener: OpenerDirector) -> dict[str, tuple[Answer, list[str]]]:
    """Each address once, with what came back and the places (file:line) that have it."""
    places: dict[str, list[str]] = {}
    for path in paths:
        name = path.relative_to(ROOT) if path.is_relative_to(ROOT) else path
        for line, address in addresses(path.read_text(encoding="utf-8")):
            places.setdefault(address, []).append(f"{name}:{line}")
    asked = sorted(places)
    with ThreadPoolExecutor(AT_ONCE) as pool:
        answers = pool.map(lambda address: ask(address, opener), asked)
    return {address: (answer, places[address]) for address, answer in zip(asked, answers, strict=True)}


def main(arguments: Sequence[str], opener: OpenerDirector | None = None) -> int:
    """Ask, and tell what is not alive."""
    found = check([Path(name) for name in arguments] or files(), opener or build_opener())
    for verdict in (Verdict.DEAD, Verdict.UNCLEAR, Verdict.CLOSED):
        for address, (answer, places) in found.items():
            if answer.verdict is verdict:
                print(f"{verdict.value}: {address} ({answer.said}), in {', '.join(places)}")
    counts = {verdict: sum(answer.verdict is verdict for answer, _ in found.values()) for verdict in Verdict}
    print(f"{len(found)} addresses: " + ", ".join(f"{count} {verdict.value}" for verdict, count in counts.items()))
    return 1 if counts[Verdict.DEAD] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
