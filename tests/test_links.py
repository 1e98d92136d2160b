"""Does the checker of links know what is alive, dead and closed? Against a server of our own: no test asks the network."""

from __future__ import annotations

import importlib.util
import socket
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from types import ModuleType
from typing import Any
from urllib.error import URLError
from urllib.request import OpenerDirector, ProxyHandler, build_opener

import pytest

ROOT = Path(__file__).resolve().parent.parent
STATUS = {"/alive": 200, "/missing": 404, "/gone": 410, "/forbidden": 403, "/busy": 429, "/broken": 500}


def module() -> ModuleType:
    spec = importlib.util.spec_from_file_location("links", ROOT / "docs" / "links.py")
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    sys.modules["links"] = made  # where dataclasses look for their module
    spec.loader.exec_module(made)
    return made


links = module()
OPENER = build_opener(ProxyHandler({}))


class Pages(BaseHTTPRequestHandler):
    """A page for each status; one that answers GET alone, and one that has moved."""

    def do_HEAD(self) -> None:
        if self.path == "/get-only":
            self.answer(405)
        elif self.path == "/moved":
            self.send_response(301)
            self.send_header("Location", "/alive")
            self.end_headers()
        else:
            self.answer(STATUS[self.path])

    def do_GET(self) -> None:
        self.answer(200 if self.path == "/get-only" else STATUS[self.path])

    def answer(self, status: int) -> None:
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 (the name is the library's)
        """Say nothing."""


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    made = ThreadingHTTPServer(("127.0.0.1", 0), Pages)
    thread = Thread(target=made.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield f"http://127.0.0.1:{made.server_port}"
    made.shutdown()
    thread.join()
    made.server_close()


@pytest.mark.parametrize(("page", "verdict", "said"), [
    ("/alive", "ALIVE", "200"), ("/alive#part", "ALIVE", "200"), ("/moved", "ALIVE", "200"), ("/get-only", "ALIVE", "200"),
    ("/missing", "DEAD", "404"), ("/gone", "DEAD", "410"), ("/forbidden", "CLOSED", "403"), ("/busy", "CLOSED", "429"),
    ("/broken", "UNCLEAR", "500")])
def test_an_answer_is_judged_by_its_status(server: str, page: str, verdict: str, said: str) -> None:
    assert links.ask(server + page, OPENER) == links.Answer(links.Verdict[verdict], said)


def test_a_port_that_nobody_listens_to_is_no_clear_answer() -> None:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        assert links.ask(f"http://127.0.0.1:{bound.getsockname()[1]}/", OPENER).verdict is links.Verdict.UNCLEAR


class Nowhere(OpenerDirector):
    """A network without names."""

    def open(self, *_: Any, **__: Any) -> Any:
        raise URLError(socket.gaierror(-2, "Name or service not known"))


def test_a_host_without_an_address_is_dead() -> None:
    assert links.ask("https://accelsim.invalid/", Nowhere()) == links.Answer(links.Verdict.DEAD, "no such host")


def test_addresses_end_where_the_sentence_goes_on() -> None:
    text = ("see [one](https://a.example/x_(y)), <https://b.example/z>.\n# https://c.example/p?q=1#r, and `http://d.example/`\n"
            "| https://e.example | **https://f.example/g**. | http://localhost:8000/h http://127.0.0.1/i\n")
    assert list(links.addresses(text)) == [
        (1, "https://a.example/x_(y)"), (1, "https://b.example/z"), (2, "https://c.example/p?q=1#r"), (2, "http://d.example/"),
        (3, "https://e.example"), (3, "https://f.example/g")]


def test_the_dead_are_told_with_their_places_and_fail(server: str, tmp_path: Path, capsys: pytest.CaptureFixture[str],
                                                      monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(links, "LOCAL", links.re.compile("nothing is left out"))
    page = tmp_path / "page.md"
    page.write_text(f"[a]({server}/alive) [b]({server}/busy)\n", encoding="utf-8")
    assert links.main([str(page)], OPENER) == 0
    assert capsys.readouterr().out == (f"not checkable: {server}/busy (429), in {page}:1\n"
                                       "2 addresses: 1 alive, 0 dead, 1 not checkable, 0 no clear answer\n")
    page.write_text(f"[a]({server}/missing)\n\n{server}/alive {server}/missing\n", encoding="utf-8")
    assert links.main([str(page)], OPENER) == 1
    assert capsys.readouterr().out == (f"dead: {server}/missing (404), in {page}:1, {page}:3\n"
                                       "2 addresses: 1 alive, 1 dead, 0 not checkable, 0 no clear answer\n")


def test_pages_and_shipped_files_are_looked_at() -> None:
    names = {str(path.relative_to(ROOT)) for path in links.files()}
    assert {"README.md", "CONTRIBUTING.md", "docs/claims.md", "docs/howto/add-a-memory.md", "hwconfigs/chips/toy.yaml"} <= names
