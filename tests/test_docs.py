"""Do the pages say what the code now is?"""

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest
import yaml

from accelsim.analytic.auto import choose
from accelsim.machine.simulate import simulate
from accelsim.measure.metrics import METRICS
from accelsim.plan.schedule import Schedule
from accelsim.spec.case import Case
from accelsim.spec.read import read, read_chip, read_workload
from accelsim.stalls import StallCause

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))


def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate", DOCS / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


GENERATED = generator().PAGES


@pytest.mark.parametrize(("name", "write"), GENERATED, ids=[name for name, _ in GENERATED])
def test_a_generated_page_is_current(name: str, write: object) -> None:
    assert callable(write)
    assert (DOCS / name).read_text(encoding="utf-8") == write(), "run python docs/generate.py"


def test_each_definition_is_its_own() -> None:
    for sentences in ([cause.sentence for cause in StallCause], [metric.definition for metric in METRICS]):
        assert len(set(sentences)) == len(sentences)


@pytest.mark.parametrize("page", PAGES, ids=[str(page.relative_to(DOCS)) for page in PAGES])
def test_included_files_and_linked_pages_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for included in re.findall(r'^ *--8<-- "([^"]+)"', text, re.MULTILINE):
        assert (ROOT / included.partition(":")[0]).is_file(), included
    for linked in re.findall(r"\]\(([^)#:]+\.(?:md|svg|png))", text):
        assert (page.parent / linked).is_file(), linked


def blocks(page: str, title: str) -> list[tuple[str, ...]]:
    """What the title's pattern matched, and the text, of each YAML block of a page that has such a title."""
    text = (DOCS / page).read_text(encoding="utf-8")
    return re.findall(rf'^```yaml title="{title}"\n(.*?)^```', text, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("text", blocks("formats.md", r"chip\.yaml"))
def test_a_chip_of_the_pages_reads(text: str, tmp_path: Path) -> None:
    (tmp_path / "chip.yaml").write_text(text, encoding="utf-8")
    assert read_chip(str(tmp_path / "chip.yaml")).name == yaml.safe_load(text)["name"]


@pytest.mark.parametrize("text", blocks("formats.md", r"workload\.yaml"))
def test_a_workload_of_the_pages_reads(text: str, tmp_path: Path) -> None:
    (tmp_path / "workload.yaml").write_text(text, encoding="utf-8")
    assert read_workload(str(tmp_path / "workload.yaml")).name == yaml.safe_load(text)["name"]


MAPPINGS = blocks("formats.md", r"mapping for (\S+) and (\S+)")


def case_of(chip: str, workload: str, mapping: str, folder: Path, *overrides: str) -> Case:
    (folder / "mapping.yaml").write_text(mapping, encoding="utf-8")
    case = read(chip, workload, str(folder / "mapping.yaml"), choose=choose, overrides=overrides).cases[0]
    assert isinstance(case, Case), case
    return case


@pytest.mark.parametrize(("chip", "workload", "text"), MAPPINGS, ids=[f"{chip}-{work}" for chip, work, _ in MAPPINGS])
def test_a_mapping_of_the_pages_fits(chip: str, workload: str, text: str, tmp_path: Path) -> None:
    assert case_of(chip, workload, text, tmp_path).mapping.levels


def test_the_cycles_told_with_the_first_mapping(tmp_path: Path) -> None:
    one_slot = [f"mapping.levels.SRAM.buffers.{name}=1" for name in "ABC"]
    cycles = [simulate(Schedule(case_of(*MAPPINGS[0], tmp_path, *overrides))).cycles for overrides in ((), one_slot)]
    assert cycles == [1012, 1796]
    said = (DOCS / "formats.md").read_text(encoding="utf-8")
    assert all(str(number) in said for number in cycles)
