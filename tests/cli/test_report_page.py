"""Do `run --report` and `report --html` write the page, whole or not at all?"""

from pathlib import Path

import pytest

from .command import accelsim

RUN = ("run", "toy", "gemm:m=8,n=8,k=8")


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_saved_run_gives_the_page_that_the_run_gave() -> None:
    summary = accelsim(*RUN, "--report", "one.html", "--save", "kept").out
    assert accelsim("report", "kept", "--html", "two.HTML").out == summary
    page = Path("one.html").read_bytes()
    assert page.startswith(b"<!DOCTYPE html>")
    assert page == Path("two.HTML").read_bytes()


def test_a_page_goes_with_json_and_pictures() -> None:
    assert accelsim(*RUN, "--json", "--report", "one.html", "--timeline", "one.svg").json["total"]["operators_run"] == 1
    assert Path("one.html").is_file()
    assert Path("one.svg").is_file()


@pytest.mark.parametrize(("path", "why"), [("one.pdf", "no page format '.pdf'"), ("none/one.html", "no folder none"),
                                           ("folder.html", "is a folder")])
def test_what_cannot_be_written_is_refused_before_the_run(path: str, why: str) -> None:
    Path("folder.html").mkdir()
    told = accelsim(*RUN, "--report", path, code=2).err
    assert "--report" in told
    assert why in told
    assert [found.name for found in Path().iterdir()] == ["folder.html"]


def test_a_page_that_cannot_be_replaced_leaves_nothing_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("one.html").write_text("before", encoding="utf-8")

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device", "one.html")

    monkeypatch.setattr(Path, "replace", fail)
    assert "No space left" in accelsim(*RUN, "--report", "one.html", code=2).err
    assert [found.name for found in Path().iterdir()] == ["one.html"]
    assert Path("one.html").read_text(encoding="utf-8") == "before"


def test_operators_that_did_not_run_are_on_the_page() -> None:
    Path("two.yaml").write_text("""\
name: two
operators:
  - {name: good, operator: gemm, dims: {m: 8, n: 8, k: 8}}
  - {name: bad, operator: gemm, dims: {m: 512, n: 512, k: 512}}
""", encoding="utf-8")
    accelsim("run", "toy", "two.yaml", "--most-steps", "1000", "--report", "two.html", code=4)
    assert "exceed the limit" in Path("two.html").read_text(encoding="utf-8")
