"""Does each shipped operator have the dimensions, index forms, extents and MACs that its name promises?"""

from itertools import product
from math import prod

import pytest

from accelsim.analytic.auto import choose
from accelsim.errors import SpecError
from accelsim.machine.simulate import simulate
from accelsim.plan.schedule import Schedule
from accelsim.spec.build import make_case
from accelsim.spec.operator import Operator, Role
from accelsim.spec.operators import OPERATOR_KINDS
from accelsim.spec.read import read_chip, read_workload


def one(text: str) -> Operator:
    operator, = read_workload(text).operators
    return operator


def forms(operator: Operator) -> dict[str, str]:
    return {tensor.name: ", ".join(str(axis.form) for axis in tensor.axes) for tensor in operator.tensors}


def extents(operator: Operator, tensor: str) -> tuple[int, ...]:
    return tuple(axis.extent for axis in operator.tensor(tensor).axes)


CASES = [
    ("gemm:m=2,n=3,k=5", "m n k", {"A": "m, k", "B": "k, n", "C": "m, n"}, 30),
    ("batched_gemm:b=4,m=2,n=3,k=5", "b m n k", {"A": "b, m, k", "B": "b, k, n", "C": "b, m, n"}, 120),
    ("grouped_gemm:g=4,m=2,n=3,k=5", "g m n k", {"A": "g, m, k", "B": "g, k, n", "C": "g, m, n"}, 120),
    ("gemv:n=3,k=5", "n k", {"A": "k", "B": "k, n", "C": "n"}, 15),
    ("conv1d:k=2,c=3,p=4,r=5", "n k c p r", {"I": "n, c, p + r", "W": "k, c, r", "O": "n, k, p"}, 120),
    ("conv2d:k=2,c=3,p=4,q=5,r=2,s=3", "n k c p q r s",
     {"I": "n, c, p + r, q + s", "W": "k, c, r, s", "O": "n, k, p, q"}, 720),
    ("conv3d:k=2,c=3,o=2,p=4,q=5,t=2,r=2,s=3", "n k c o p q t r s",
     {"I": "n, c, o + t, p + r, q + s", "W": "k, c, t, r, s", "O": "n, k, o, p, q"}, 2880),
    ("depthwise2d:c=3,p=4,q=5,r=2,s=3", "n c p q r s",
     {"I": "n, c, p + r, q + s", "W": "c, r, s", "O": "n, c, p, q"}, 360),
]


@pytest.mark.parametrize(("text", "dims", "tensors", "macs"), CASES, ids=[case[0].split(":")[0] for case in CASES])
def test_dims_forms_and_macs(text: str, dims: str, tensors: dict[str, str], macs: int) -> None:
    operator = one(text)
    assert list(operator.dims) == dims.split()
    assert forms(operator) == tensors
    assert operator.macs == macs == prod(operator.dims.values())
    assert [tensor.role for tensor in operator.tensors] == [Role.INPUT, Role.WEIGHT, Role.OUTPUT]
    assert operator.output.name == list(tensors)[-1]
    assert operator.reduction_dims == set(operator.dims) - {word.strip() for word in tensors[operator.output.name].split(",")}


def test_every_shipped_operator_is_tried_here() -> None:
    assert {kind.word for kind in OPERATOR_KINDS} == {case[0].split(":")[0] for case in CASES}


def test_stride_dilation_and_padding_by_axis() -> None:
    operator = one("conv2d:k=1,c=1,p=4,q=5,r=3,s=3,stride=2x1,dilation=1x3,padding=1x0")
    assert forms(operator)["I"] == "n, c, 2*p + r - 1, q + 3*s"
    # rows: (4 - 1) * 2 + 3 - 2 * 1 = 7, or one more with the same four outputs; columns: 5 - 1 + 2 * 3 + 1
    assert extents(operator, "I") == (1, 1, 8, 11)


def test_seven_by_seven_stride_two_on_224_gives_112() -> None:
    without = one("conv2d:k=64,c=3,p=112,q=112,r=7,s=7,stride=2,padding=3")
    stated = one("conv2d:k=64,c=3,p=112,q=112,r=7,s=7,stride=2,padding=3,h=224,w=224")
    assert extents(without, "I") == extents(stated, "I") == (1, 3, 224, 224)
    assert (224 + 2 * 3 - 7) // 2 + 1 == 112
    assert str(stated.tensor("I").axes[2].form) == "2*p + r - 3"
    assert extents(stated, "O") == (1, 64, 112, 112)


def test_padding_reads_no_bytes() -> None:
    operator = one("conv2d:k=2,c=1,p=6,q=6,r=3,s=3,padding=1,dtype=int8")
    case = make_case(read_chip("toy"), operator, choose(read_chip("toy"), operator))
    traffic = simulate(Schedule(case)).traffic
    assert extents(operator, "I") == (1, 1, 6, 6)
    assert traffic["SRAM", "I"].fill_bytes == 36
    inside = sum(0 <= p + r - 1 < 6 for p, r in product(range(6), range(3))) ** 2
    assert traffic["SRAM", "I"].array_read_bytes == 2 * inside


@pytest.mark.parametrize(("stated", "rest"), [(10, 10), (11, 11)])
def test_an_input_that_the_windows_do_not_fill_keeps_its_extent(stated: int, rest: int) -> None:
    operator = one(f"conv1d:k=1,c=1,p=4,r=3,stride=2,x={stated}")
    assert extents(operator, "I")[-1] == rest


def test_groups_split_the_channels() -> None:
    operator = one("conv2d:n=2,k=8,c=6,p=4,q=4,r=3,s=3,groups=2")
    assert dict(operator.dims) == {"n": 2, "g": 2, "k": 4, "c": 3, "p": 4, "q": 4, "r": 3, "s": 3}
    assert forms(operator) == {"I": "n, g, c, p + r, q + s", "W": "g, k, c, r, s", "O": "n, g, k, p, q"}
    assert operator.macs == 2 * 8 * 3 * 4 * 4 * 9
    assert operator.tensor("W").elements == 8 * 3 * 9


@pytest.mark.parametrize(("text", "said"), [
    ("conv2d:k=8,c=6,p=4,q=4,r=3,s=3,groups=4", "4 groups do not divide c = 6"),
    ("conv2d:k=8,p=4,q=4,r=3,s=3,groups=2", "needs dimension c"),
    ("depthwise2d:c=8,p=4,q=4,r=3,s=3,groups=2", "depthwise2d has no groups"),
    ("gemm:m=8,n=8,k=8,stride=2", "gemm has no stride"),
    ("gemm:m=8,n=8", "needs dimension k"),
    ("gemm:m=8,n=8,k=8,kk=2", "unknown key 'kk'"),
    ("conv1d:k=2,c=2,p=4,r=3,q=2", "unknown key 'q'; allowed: n, k, c, p, r"),
    ("conv1d:k=2,c=2,p=4,r=3,h=2", "no input axis h; allowed: x"),
    ("conv2d:k=2,c=2,p=4,q=4,r=3,s=3,stride=2x2x2", "3 values; conv2d has 2 spatial axes"),
    ("conv2d:k=2,c=2,p=1,q=1,r=1,s=1,padding=5", "would be padding alone"),
    ("gem:m=8,n=8,k=8", "did you mean 'gem"),
    ("gemm:m=0,n=8,k=8", "greater than or equal to 1"),
    ("gemm:m=-4,n=8,k=8", "valid integer"),
    ("gemm:m=8,m=8,n=8,k=8", "'m' is given twice"),
    ("gemm:m", "'m' is not key=value"),
    ("gemm:m=8,n=8,k=8,dtype=int7", "not a dtype"),
    ("conv2d:k=2,c=2,p=4,q=4,r=3,s=3,stride=2x²", "valid integer"),
])
def test_what_an_operator_cannot_be(text: str, said: str) -> None:
    with pytest.raises(SpecError) as caught:
        read_workload(text)
    assert said in str(caught.value)
    assert "invalid literal" not in str(caught.value)


@pytest.mark.parametrize(("dtype", "accumulator"), [("int8", "int32"), ("int32", "int64"), ("bf16", "fp32"), ("fp64", "fp64")])
def test_default_accumulators(dtype: str, accumulator: str) -> None:
    operator = one(f"gemm:m=8,n=8,k=8,dtype={dtype}")
    assert operator.accumulator.name == accumulator
    assert {tensor.dtype.name for tensor in operator.tensors} == {dtype}
