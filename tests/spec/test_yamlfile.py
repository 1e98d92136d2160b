"""Is a file read as plain data, safely, and is every fault of it placed?"""

import time
from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Literal

import pydantic
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from accelsim.errors import Fault, SpecError
from accelsim.spec import yamlfile
from accelsim.spec.yamlfile import Located, fault, faults_from_pydantic, read_yaml, render_path

CHIP = """\
name: toy
clock: 1 GHz
levels:
  - name: DRAM
    bandwith: 4 B/cycle
    ports:
      - {name: port, serves: [fill, drain]}
  - level: SRAM
    buffers: {A: two}
  - {loops: [{[c, r, s]: 256}, {n: "*"}]}
"""


def read(text: str) -> Any:
    return read_yaml(text, "f.yaml").value


def faults(text: str) -> list[str]:
    with pytest.raises(SpecError) as caught:
        read_yaml(text, "f.yaml")
    return [str(one) for one in caught.value.faults]


def attempt(text: str) -> tuple[Located | None, tuple[Fault, ...]]:
    try:
        return read_yaml(text, "f.yaml"), ()
    except SpecError as error:
        return None, error.faults


@pytest.fixture(params=["CSafeLoader", "SafeLoader"], autouse=True, scope="module")
def _both_parsers(request: pytest.FixtureRequest) -> Iterator[None]:
    """The parser in C and the one in Python must tell the same."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(yamlfile, "_LOADER", getattr(yaml, request.param, yaml.SafeLoader))
        yield


def test_values_and_places() -> None:
    chip = read_yaml(CHIP, "chip.yaml")
    assert chip.value == {
        "name": "toy",
        "clock": "1 GHz",
        "levels": [
            {"name": "DRAM", "bandwith": "4 B/cycle", "ports": [{"name": "port", "serves": ["fill", "drain"]}]},
            {"level": "SRAM", "buffers": {"A": "two"}},
            {"loops": [{("c", "r", "s"): 256}, {"n": "*"}]},
        ],
    }
    assert chip.file == "chip.yaml"
    assert chip.where[()] == (1, 1)
    assert chip.where[("clock",)] == (2, 1)
    assert chip.where[("levels", 0)] == (4, 5)
    assert chip.where[("levels", 0, "bandwith")] == (5, 5)
    assert chip.where[("levels", 0, "ports", 0, "serves")] == (7, 22)
    assert chip.where[("levels", 0, "ports", 0, "serves", 1)] == (7, 37)
    assert chip.where[("levels", 2, "loops", 0, ("c", "r", "s"))] == (10, 15)
    assert chip.where[("levels", 2, "loops", 1, "n")] == (10, 33)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("true", True),
        ("false", False),
        *((word, word) for word in ("True", "yes", "no", "on", "off", "y", "n", "Yes", "NULL", "Null")),
        ("null", None),
        ("~", None),
        ("", None),
        ("12", 12),
        ("-3", -3),
        ("+3", 3),
        ("0", 0),
        ("1.5", 1.5),
        ("-.5", -0.5),
        ("2.", 2.0),
        ("1e3", 1000.0),
        ("1.5e-3", 0.0015),
        *((word, word) for word in ("0x10", "0o10", "010", "0b1", "60:00", "1_000", ".inf", "-.inf", ".nan", "nan")),
        *((word, word) for word in ("inf", ".", "+", "1.2.3", "1 GHz", "2024-01-01", "1e", "e3", "٣")),
        ('"12"', "12"),
        ("'true'", "true"),
        ('""', ""),
        ('"*"', "*"),
        ("|\n  12\n", "12\n"),
        ("{}", {}),
        ("[]", []),
    ],
)
def test_scalars(text: str, value: object) -> None:
    found = read(f"a: {text}")["a"]
    assert found == value
    assert type(found) is type(value)


def test_keys_are_text() -> None:
    assert read("{n: 1, y: 2, on: 3, true: 4, 5: 6, null: 7, 1.0: 8}") == {
        "n": 1,
        "y": 2,
        "on": 3,
        "true": 4,
        "5": 6,
        "null": 7,
        "1.0": 8,
    }
    assert read("{[n, y]: 2}") == {("n", "y"): 2}
    assert read("? [c, r]\n: 2\n") == {("c", "r"): 2}
    assert read("? - c\n  - r\n: {a: [1]}\n") == {("c", "r"): {"a": [1]}}


def test_a_byte_order_mark_moves_nothing() -> None:
    assert read_yaml("\ufeffa: 1", "f").where[("a",)] == (1, 1)


def test_duplicates_at_every_depth_are_all_told() -> None:
    found = faults("a: 1\nb:\n  - name: x\n    c: 1\n    c: 2\na: {d: 1, d: 2}\nloops: {[m, n]: 1, [m, n]: 2}\n")
    assert found == [
        "f.yaml:5:5: b.x.c: duplicate key 'c' on line 5, first on line 4",
        "f.yaml:6:1: a: duplicate key 'a' on line 6, first on line 1",
        "f.yaml:6:11: a.d: duplicate key 'd' on line 6, first on line 6",
        "f.yaml:7:20: loops.[m, n]: duplicate key '[m, n]' on line 7, first on line 7",
    ]


def test_tags_anchors_aliases_and_merges_are_all_told() -> None:
    found = faults("a: !!python/object:os.system x\nb: &x {c: 1}\nd: *x\ne: {<<: {c: 1}}\nf: ! 3\n!t g: 1\n")
    assert [one.split(": ", 1)[0] for one in found] == [
        f"f.yaml:{place}" for place in ("1:4", "2:4", "3:4", "4:5", "5:4", "6:1")
    ]
    assert "tags (tag:yaml.org,2002:python/object:os.system) are not read" in found[0]
    assert "b: anchors (&x)" in found[1]
    assert "d: aliases (*x)" in found[2]
    assert '"*x"' in found[2]
    assert "merge keys" in found[3]


def test_an_alias_bomb_is_harmless() -> None:
    bomb = "a0: &a0 [x]\n" + "".join(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 30))
    start = time.perf_counter()
    assert any("aliases" in one for one in faults(bomb))
    assert time.perf_counter() - start < 5


@pytest.mark.parametrize("text", ["a: *\n", "a: {n: *}\n", "a: [*, 2]\n", "a: [{n: * }]"])
def test_a_bare_star(text: str) -> None:
    (found,) = faults(text)
    assert found.startswith(f"f.yaml:1:{text.index('*') + 1}: a bare *")
    assert 'in quotes: "*"' in found


def test_several_documents() -> None:
    assert read("---\na: 1\n...\n") == {"a": 1}
    (found,) = faults("a: 1\n---\nb: 2\n")
    assert found.startswith("f.yaml:2:1: a second document")


@pytest.mark.parametrize(("text", "place"), [("", "1:1"), ("# nothing\n", "1:1"), ("- a", "1:1"), ("\n  word", "2:3")])
def test_the_top_is_a_mapping(text: str, place: str) -> None:
    (found,) = faults(text)
    assert found.startswith(f"f.yaml:{place}: the file is not a mapping")


def test_depth() -> None:
    assert read("a: " + "[" * 31 + "]" * 31)
    (found,) = faults("a: " + "[" * 32 + "]" * 32)
    assert "nested more than 32 deep" in found
    start = time.perf_counter()
    assert "nested more than 32 deep" in faults("a: " + "[" * 100_000)[0]
    assert "nested more than 32 deep" in faults("{a: " * 100_000)[0]
    assert time.perf_counter() - start < 5


def test_size() -> None:
    (found,) = faults("a: " + "x" * 2**22)
    assert "larger than 4 MiB" in found
    (found,) = faults("a: " + "\u00e9" * 2**21)
    assert "larger than 4 MiB" in found


def test_number_of_values(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(yamlfile, "MOST_VALUES", 100)
    assert read("a: [" + "1," * 97 + "]")
    (found,) = faults("a: [" + "1," * 98 + "]")
    assert "more than 100 values" in found


def test_a_file_full_of_faults_ends() -> None:
    assert len(faults("a: [" + "!x 1," * 10_000 + "]")) <= 201
    assert len(faults("a: 1\n" * 10_000)) <= 201


def test_numbers_too_long_or_large() -> None:
    found = faults(f"a: {'9' * 5000}\nb: 1e999\nc: 1\n")
    assert [one.split(": ")[0] for one in found] == ["f.yaml:1:4", "f.yaml:2:4"]


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("a: [1, 2\nb: 3\n", "2:2"),
        ("a: 1\n b: 2\n", "2:3"),
        ("a: 1\nb\n", ""),
        ("a: {b: 'c}\n", ""),
        ("a: @x\n", "1:4"),
        ("a: %x\n", "1:4"),
        ("a: - b\n", "1:4"),
    ],
)
def test_syntax_errors_have_a_place(text: str, place: str) -> None:
    (found,) = faults(text)
    assert found.startswith(f"f.yaml:{place}")
    assert "not YAML" in found
    assert "\n" not in found


def test_a_syntax_error_keeps_the_faults_before_it() -> None:
    found = faults("a: !x 1\na: 2\nb: [\n")
    assert len(found) == 3
    assert "tags" in found[0]
    assert "duplicate" in found[1]
    assert "not YAML" in found[2]


def test_tabs() -> None:
    (found,) = faults("a:\n\tb: 1\n")
    assert found == "f.yaml:2:1: a tab where YAML wants spaces; allowed: spaces"


@pytest.mark.parametrize("bad", ["\x00", "\x1b", "\x7f", "\ud800", "\ufeff"])
def test_unprintable_text(bad: str) -> None:
    (found,) = faults(f"a: 1\nbc: {bad}x\n")
    assert found.startswith("f.yaml:2:5: unprintable character")
    assert found.isprintable()


@pytest.mark.parametrize(
    "text", ["{[]: 1}", "{[a, [b]]: 1}", "{{a: b}: 1}", "? \n: 1\n", "{'': 1}", "{[a, ]: 1, ['']: 2}"]
)
def test_what_cannot_be_a_key(text: str) -> None:
    assert any("allowed: text, or a list of names" in one for one in faults(text))


@given(st.text(alphabet="ab:-[]{},&*!|>'\"# \n\t?%~1.\u2028\x85", max_size=40))
def test_any_text_is_read_or_refused_with_a_place(text: str) -> None:
    located, found = attempt(text)
    assert (located is None) == bool(found)
    assert all(one.line >= 1 and one.column >= 1 for one in found)
    if located:
        for path in located.where:
            value: Any = located.value
            for element in path:
                value = value[element]


@given(st.text(max_size=60))
def test_any_unicode_is_read_or_refused(text: str) -> None:
    for candidate in (text, f"a: {text}"):
        located, found = attempt(candidate)
        assert (located is None) == bool(found)


def test_fault_at_the_nearest_part_that_exists() -> None:
    chip = read_yaml(CHIP, "chip.yaml")
    assert str(fault(chip, ("levels", 0, "bandwith"), "unknown", "bandwidth", "bandwidth")) == (
        "chip.yaml:5:5: levels.DRAM.bandwith: unknown; allowed: bandwidth; did you mean 'bandwidth'?"
    )
    assert str(fault(chip, ("levels", 1, "latency", "x"), "m")) == "chip.yaml:8:5: levels.SRAM.latency.x: m"
    assert str(fault(chip, ("levels", 9), "m")) == "chip.yaml:3:1: levels[9]: m"
    assert str(fault(chip, (), "m")) == "chip.yaml:1:1: m"
    assert str(fault(Located({}, {}, "x"), ("a",), "m")) == "x: a: m"


def test_paths() -> None:
    value = read(CHIP)
    assert render_path(value, ("levels", 0, "ports", 0, "serves", 1)) == "levels.DRAM.ports.port.serves[1]"
    assert render_path(value, ("levels", 2, "loops", 0, ("c", "r", "s"))) == "levels[2].loops[0].[c, r, s]"
    twins = {"levels": [{"name": "A"}, {"name": "A"}, {"name": "x.y"}, {"name": 3}, 7]}
    assert [render_path(twins, ("levels", i)) for i in range(5)] == [f"levels[{i}]" for i in range(5)]
    assert render_path({}, ("\x1b[31m",)) == r"\x1b[31m"


class Strict(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(extra="forbid", strict=True)


class Port(Strict):
    name: str
    serves: list[Literal["fill", "drain"]]


class Memory(Strict):
    kind: Literal["memory"] = "memory"
    name: str = ""
    level: str = ""
    bandwidth: int | None = None
    ports: list[Port] = []
    buffers: dict[str, int] = {}

    @pydantic.field_validator("level")
    @classmethod
    def _known(cls, level: str) -> str:
        if level == "bad":
            raise ValueError("no such level")
        return level


class Nest(Strict):
    kind: Literal["nest"]
    loops: list[dict[str | tuple[str, ...], int]] = []


class Chip(Strict):
    name: str
    clock: str
    levels: list[Annotated[Memory | Nest, pydantic.Field(discriminator="kind")]]


def located_faults(text: str, known: Any = None) -> list[str]:
    located = read_yaml(text, "chip.yaml")
    with pytest.raises(pydantic.ValidationError) as caught:
        Chip.model_validate(located.value)
    return [str(one) for one in faults_from_pydantic(located, caught.value, known)]


def test_pydantic_errors_are_placed() -> None:
    asked: list[tuple[Any, ...]] = []

    def known(loc: tuple[Any, ...]) -> Sequence[str]:
        asked.append(loc)
        return list(Chip.model_fields if not loc else Memory.model_fields)

    text = """\
name: 3
clok: 1 GHz
levels:
  - name: DRAM
    kind: memory
    bandwith: 4
    ports: [{name: port, serves: [fil]}, {serves: []}]
  - {kind: memory, level: SRAM, buffers: {A: two}}
  - {kind: memory, level: bad}
  - {kind: nest, loops: [{[c, r]: x}]}
"""
    found = located_faults(text, known)
    assert found[0] == "chip.yaml:1:1: name: input should be a valid string, found 3"
    assert found[1] == "chip.yaml:1:1: clock: missing key 'clock'"
    assert found[2] == ("chip.yaml:2:1: clok: unknown key 'clok'; allowed: name, clock, levels; did you mean 'clock'?")
    assert found[3] == (
        "chip.yaml:6:5: levels.DRAM.bandwith: unknown key 'bandwith'; "
        "allowed: kind, name, level, bandwidth, ports, buffers; did you mean 'bandwidth'?"
    )
    assert found[4] == (
        "chip.yaml:7:35: levels.DRAM.ports.port.serves[0]: unknown value 'fil'; allowed: fill or drain; "
        "did you mean 'fill'?"
    )
    assert found[5] == "chip.yaml:7:42: levels.DRAM.ports[1].name: missing key 'name'"
    assert found[6].startswith("chip.yaml:8:43: levels.SRAM.buffers.A: input should be a valid integer")
    assert found[6].endswith("found 'two'")
    assert found[7] == "chip.yaml:9:20: levels.bad.level: no such level"
    assert found[8].startswith("chip.yaml:10:27: levels[3].loops[0].[c, r]: input should be a valid integer")
    assert len(found) == 9
    assert asked == [(), ("levels", 0, "memory")] or asked == [("levels", 0, "memory"), ()]


def test_pydantic_errors_without_known_keys() -> None:
    (found,) = located_faults("name: a\nclock: b\nlevels: []\nx: 1\n")
    assert found == "chip.yaml:4:1: x: unknown key 'x'"


def test_pydantic_errors_of_a_union_tag() -> None:
    (found,) = located_faults("name: a\nclock: b\nlevels: [{kind: memry}]\n")
    assert found.startswith("chip.yaml:3:10: levels[0]: ")


def test_each_fault_is_told_once() -> None:
    class Either(Strict):
        a: int | Annotated[int, pydantic.Field(gt=3)]

    located = read_yaml("a: x", "f.yaml")
    with pytest.raises(pydantic.ValidationError) as caught:
        Either.model_validate(located.value)
    assert len(faults_from_pydantic(located, caught.value)) == 1
