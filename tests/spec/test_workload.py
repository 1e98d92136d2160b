"""Are workloads read right: the shipped ones, inline text, own operators, and every fault of a file at once?"""

import csv
from pathlib import Path

import pytest

from accelsim.errors import SpecError
from accelsim.spec.operator import Operator, Role
from accelsim.spec.read import read_workload, shipped

TOTALS = Path(__file__).resolve().parent.parent / "workloads_expected" / "totals.csv"
with TOTALS.open(encoding="utf-8", newline="") as _file:
    EXPECTED = list(csv.DictReader(_file))


def entries(operators: tuple[Operator, ...], name: str) -> list[Operator]:
    return [operator for operator in operators if operator.name == name]


def weights(operator: Operator) -> int:
    """Elements of the weights; those of a batched product (keys, values) are activations."""
    if operator.kind == "batched_gemm":
        return 0
    return sum(tensor.elements for tensor in operator.tensors if tensor.role is Role.WEIGHT)


@pytest.mark.parametrize("row", EXPECTED, ids=[row["workload"] for row in EXPECTED])
def test_a_shipped_workload_has_the_published_totals(row: dict[str, str]) -> None:
    workload = read_workload(row["workload"])
    assert sum(one.repeat for one in workload.operators) == int(row["operators"])
    assert sum(one.macs * one.repeat for one in workload.operators) == int(row["macs"])
    assert sum(weights(one) * one.repeat for one in workload.operators) == int(row["weight_elements"])


def test_every_shipped_workload_has_totals_and_a_source() -> None:
    assert {row["workload"] for row in EXPECTED} == set(shipped("workloads"))
    for name, path in shipped("workloads").items():
        assert read_workload(name).description, name
        assert "ource" in path.read_text(encoding="utf-8") or name == "gemm-squares", name


def written(tmp_path: Path, text: str) -> str:
    path = tmp_path / "work.yaml"
    path.write_text(text, encoding="utf-8")
    return str(path)


def faults(tmp_path: Path, text: str) -> list[str]:
    with pytest.raises(SpecError) as caught:
        read_workload(written(tmp_path, text))
    return [str(one).replace(str(tmp_path), "") for one in caught.value.faults]


def own(tmp_path: Path, body: str) -> Operator:
    operator, = read_workload(written(tmp_path, f"name: w\noperators:\n  - {{name: mine, {body}}}\n")).operators
    return operator


def own_faults(tmp_path: Path, body: str) -> str:
    return "\n".join(faults(tmp_path, f"name: w\noperators:\n  - {{name: mine, {body}}}\n"))


def test_an_operator_of_ones_own(tmp_path: Path) -> None:
    operator = own(tmp_path, 'dims: {n: 4, p: 10, r: 3}, tensors: {X: [n, "2*p + r - 1"], K: [r], Y: [n, p]}, output: Y, '
                   "roles: {K: weight}, dtype: {X: int8, K: int4, Y: int16}, accumulator: int32, repeat: 3")
    assert (operator.kind, operator.macs, operator.repeat) == ("own", 120, 3)
    assert [(tensor.name, tensor.role, tensor.dtype.name) for tensor in operator.tensors] == [
        ("X", Role.INPUT, "int8"), ("K", Role.WEIGHT, "int4"), ("Y", Role.OUTPUT, "int16")]
    assert [axis.extent for axis in operator.tensor("X").axes] == [4, 20]
    assert operator.reduction_dims == {"r"}


def test_shapes_say_where_padding_begins(tmp_path: Path) -> None:
    operator = own(tmp_path, 'dims: {p: 10, r: 3}, tensors: {X: ["p + r - 1"], K: [r], Y: [p]}, output: Y, shapes: {X: [10]}')
    assert operator.tensor("X").axes[0].extent == 10


@pytest.mark.parametrize(("body", "said"), [
    ("dims: {m: 4}", "neither `operator` nor `tensors`"),
    ("dims: {m: 4}, tensors: {A: [m], C: [m]}", "missing key 'output'"),
    ("dims: {m: 4}, tensors: {A: [m], C: [m]}, output: D", "output D is no tensor"),
    ("dims: {m: 4}, tensors: {A: [m, k], C: [m]}, output: C", "indexed by k, which is no dimension"),
    ("dims: {m: 4, k: 2}, tensors: {A: [m], C: [m]}, output: C", "dimension k is used by no tensor"),
    ("dims: {m: 4}, tensors: {A: [m, m], C: [m]}, output: C", "appears in two axes"),
    ('dims: {m: 4}, tensors: {A: [m], C: ["2*m"]}, output: C', "must be one plain dimension"),
    ('dims: {m: 4}, tensors: {A: ["m % 2"], C: [m]}, output: C', "unexpected '%'"),
    ("dims: {m: 4}, tensors: {A: [m], C: [m]}, output: C, stride: 2", "write it into the index forms"),
    ("dims: {m: 4}, tensors: {A: [m], C: [m]}, output: C, roles: {A: output}", "one tensor is the output"),
    ("dims: {m: 4}, tensors: {A: [m], C: [m]}, output: C, roles: {AA: input}", "no tensor named AA"),
    ("dims: {m: 4}, tensors: {A: [m], C: [m]}, output: C, roles: {A: wieght}", "did you mean 'weight'"),
    ("dims: {m: 4}, tensors: {A: [m], C: [m]}, output: C, shapes: {A: [4, 4]}", "2 extents for 1 axes"),
    ("dims: {m: 4}, tensors: {A: [m], C: [m]}, output: C, shapes: {C: [3]}", "the output's extent is its dimension's, 4"),
    ("dims: {m: 4}, tensors: {A: [m], C: [m]}, output: C, dtype: {A: int8}", "no dtype for C"),
    ("dims: {m: 4}, tensors: {A: [m], C: [m]}, output: C, dtype: {A: int8, C: int8, D: int8}", "no tensor named D"),
    ("dims: {m: 4}, tensors: {'A, B': [m], C: [m]}, output: C", "should match pattern"),
    ("dims: {m: 4}, tensors: {C: [m]}, output: C", "nothing is read"),
    ("operator: gemm, dims: {m: 4, n: 4, k: 4}, tensors: {A: [m]}", "leave out `operator`"),
    ("operator: gemm, dims: {m: 4.5, n: 4, k: true}", "valid integer"),
    ("operator: gemm, dims: {m: 4, n: 4, k: 4}, repeat: 0", "greater than or equal to 1"),
])
def test_what_an_own_operator_cannot_be(tmp_path: Path, body: str, said: str) -> None:
    assert said in own_faults(tmp_path, body)


def test_all_faults_of_a_file_at_once_with_their_places(tmp_path: Path) -> None:
    found = faults(tmp_path, """\
name: bad
operators:
  - {name: a, operator: gemn, dims: {m: 4, n: 4, k: 4}}
  - {name: b, operator: gemm, dims: {m: 4, n: 4, q: 4}}
  - {name: b, operator: gemm, dims: {m: 4, n: 4, k: 4}, dtype: int9}
""")
    assert found == [
        "/work.yaml:3:15: operators.a.operator: no operator named 'gemn'; allowed: gemm, batched_gemm, grouped_gemm, gemv, "
        "conv1d, conv2d, conv3d, depthwise2d; did you mean 'gemv'?",
        "/work.yaml:4:50: operators[1].dims.q: gemm has no dimension q; allowed: m, n, k",
        "/work.yaml:4:31: operators[1].dims: gemm needs dimension k; all: m, n, k",
        "/work.yaml:5:57: operators[2].dtype: 'int9' is not a dtype; allowed: int4, int8, uint8, int16, int32, int64, fp8, "
        "bf16, fp16, tf32, fp32, fp64; did you mean 'int8'?",
        "/work.yaml:5:6: operators[2].name: a second operator named b",
    ]


@pytest.mark.parametrize(("text", "said"), [
    ("name: w\n", "missing key 'operators'"),
    ("name: w\noperators: []\n", "at least 1 item"),
    ("name: w\noperators:\n  - {name: a, operator: gemm, dims: {m: 1, n: 1, k: 1}, repaet: 2}\n", "did you mean 'repeat'"),
    ("name: w\noperators:\n  - {name: a, operator: gemm, dims: {m: 1, m: 1, n: 1, k: 1}}\n", "duplicate key 'm'"),
    ("name: w\nname: v\noperators: []\n", "duplicate key 'name'"),
])
def test_keys(tmp_path: Path, text: str, said: str) -> None:
    assert said in "\n".join(faults(tmp_path, text))


@pytest.mark.parametrize("name", ["no-such-workload", "resnet5O", "x" * 5000, "a\0b", "gemm:" + "m=8," * 2000])
def test_what_is_no_workload(name: str) -> None:
    with pytest.raises(SpecError):
        read_workload(name)


def test_an_unknown_name_gets_the_nearest() -> None:
    with pytest.raises(SpecError, match="did you mean 'resnet50'"):
        read_workload("resnet5")
