"""Does the package keep its shape: small modules, one level of rooms, a small public surface, one room that prints?"""

import ast
import re
import shutil
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

import accelsim

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "accelsim"
MODULES = sorted(PACKAGE.rglob("*.py"))
ROOMS = sorted(path.name for path in PACKAGE.iterdir() if path.is_dir() and any(path.glob("*.py")))
MOST_LINES = 400
MOST_PUBLIC_NAMES = 16

# What ends or talks past the caller, and what would make two runs of one case differ.
TALKS = {"print", "input", "breakpoint", "exit", "quit", "sys.exit", "os._exit", "os.abort", "SystemExit"}
TALKS_TO = {"sys.stdout", "sys.stderr", "sys.stdin"}
EVALUATES = {"eval", "exec", "compile", "__import__", "os.system", "pickle.load", "pickle.loads", "yaml.load"}
ENVIRONMENT = {"os.environ", "os.getenv", "os.putenv"}
UNSTEADY = {"time", "random", "secrets", "uuid", "datetime", "numpy.random"}


def name_of(module: Path) -> str:
    return module.relative_to(ROOT).as_posix()


def in_cli(module: Path) -> bool:
    return PACKAGE / "cli" in module.parents


def dotted(node: ast.expr) -> str:
    """`sys.stdout` for that expression, "" for anything but names and attributes."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        inner = dotted(node.value)
        return f"{inner}.{node.attr}" if inner else ""
    return ""


def used(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Names and attribute paths that a module mentions, with their lines; `from sys import exit` counts as sys.exit."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load) and dotted(node):
            yield dotted(node), node.lineno
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from ((f"{node.module}.{alias.name}", node.lineno) for alias in node.names)


def imported(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Modules that a module imports, with their lines."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module, node.lineno
            yield from ((f"{node.module}.{alias.name}", node.lineno) for alias in node.names)


def mentions(words: set[str], modules: list[Path]) -> list[str]:
    return [f"{name_of(module)}:{line}: {word}" for module in modules
            for word, line in used(ast.parse(module.read_text(encoding="utf-8"))) if word in words]


@pytest.fixture(scope="module")
def project() -> dict[str, dict[str, object]]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("module", MODULES, ids=name_of)
def test_a_module_is_short(module: Path) -> None:
    lines = len(module.read_text(encoding="utf-8").splitlines())
    assert lines <= MOST_LINES, f"{lines} lines; split it by what it is about"


def test_rooms_are_one_deep() -> None:
    deep = [name_of(module) for module in MODULES if len(module.relative_to(PACKAGE).parts) > 2]
    assert not deep


def test_every_room_is_a_package_with_a_sentence() -> None:
    for room in ["", *ROOMS]:
        path = PACKAGE / room / "__init__.py"
        assert path.is_file(), f"{room} has no __init__.py"
        assert ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))), f"{room} does not say what it is for"


def test_public_names_are_few_sorted_and_there() -> None:
    names = list(accelsim.__all__)
    assert names == sorted(names)
    assert len(set(names)) == len(names) <= MOST_PUBLIC_NAMES
    for name in names:
        assert getattr(accelsim, name).__doc__, f"{name} has no docstring"


def last_release() -> str:
    """What the changelog names last."""
    told = re.search(r"^## \[(\d.*)\]$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert told is not None
    return told[1]


def test_the_last_release_is_named_alike_everywhere() -> None:
    built = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert built["tool"]["hatch"]["version"]["fallback-version"] == last_release()
    assert f"\nversion: {last_release()}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")


def test_a_tag_on_this_commit_is_its_version() -> None:
    """Sources without their history have no tags, and nothing to hold against them."""
    git = shutil.which("git")
    told = "" if git is None else subprocess.run([git, "tag", "--points-at", "HEAD"], cwd=ROOT, capture_output=True, text=True,
                                                 check=False).stdout
    assert all(tag == f"v{last_release()}" for tag in told.split() if re.fullmatch(r"v\d.*", tag))


def test_only_cli_prints_or_exits() -> None:
    assert not mentions(TALKS | TALKS_TO, [module for module in MODULES if not in_cli(module)])


def test_nothing_evaluates_text() -> None:
    assert not mentions(EVALUATES, MODULES)


def test_nothing_reads_the_environment() -> None:
    """But where compiled kernels are kept, what benchmarks hand on to the processes they time, and how many threads numpy starts
    under the command line: none changes a number.
    """
    assert not mentions(ENVIRONMENT, [module for module in MODULES if name_of(module) not in {
        "accelsim/kernels/cache.py", "accelsim/cli/bench.py", "accelsim/cli/main.py"}])


def test_no_clock_and_no_randomness_outside_cli() -> None:
    found = [f"{name_of(module)}:{line}: {word}" for module in MODULES if not in_cli(module)
             for word, line in imported(ast.parse(module.read_text(encoding="utf-8"))) if word in UNSTEADY]
    assert not found + mentions({"np.random"}, MODULES)


def test_the_oldest_dependencies_are_those_promised(project: dict[str, dict[str, object]]) -> None:
    def lowest(lines: list[str], between: str) -> dict[str, str]:
        pairs = (line.split("#")[0].strip().split(between) for line in lines)
        return {pair[0]: pair[1] for pair in pairs if len(pair) == 2}

    promised, extras = project["project"]["dependencies"], project["project"]["optional-dependencies"]
    assert isinstance(promised, list)
    assert isinstance(extras, dict)
    promised = [*promised, *extras["frames"]]
    bounds = lowest(promised, ">=")
    assert len(bounds) == len(promised)
    tested = lowest((ROOT / ".ci" / "oldest.txt").read_text(encoding="utf-8").splitlines(), "==")
    assert tested.keys() == bounds.keys()
    for name, bound in bounds.items():
        told = f"{name}: promised {bound}, tested {tested[name]}"
        assert re.fullmatch(re.escape(bound) + r"(\.0)*", tested[name]), told


def test_no_public_name_is_hidden_by_a_module() -> None:
    """A module beside the package's names would take their place as soon as anything imports it."""
    assert not set(accelsim.__all__) & {path.stem for path in PACKAGE.iterdir()}
    for name in accelsim.__all__:
        assert not isinstance(getattr(accelsim, name), ModuleType), name
