"""Timeloop files that are wrong, or that ours cannot say: all faults at once, each at its place."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accelsim.errors import DoesNotFit, SpecError
from accelsim.importers.timeloop import import_timeloop

from .timeloop_files import FILES, case_of, imported

GOOD = """architecture:
  version: 0.3
  subtree:
  - name: Chip
    local:
    - {name: DRAM, class: DRAM, attributes: {word_bits: 8}}
    subtree:
    - name: PE[0..3]
      local:
      - {name: RF, class: regfile, attributes: {word_bits: 8, depth: 64, width: 8, meshX: 2}}
      - {name: MAC, class: intmac, attributes: {datawidth: 8, meshX: 2}}
problem:
  shape:
    name: G
    dimensions: [M, N, K]
    coefficients:
    - {name: step, default: 1}
    data_spaces:
    - {name: Weights, projection: [[[M]], [[K, step]]]}
    - {name: Inputs, projection: [[[K]], [[N]]]}
    - {name: Outputs, projection: [[[M]], [[N]]], read_write: True}
  instance: {M: 4, N: 4, K: 4}
mapping:
- {target: DRAM, type: temporal, factors: M=2 N=2 K=4, permutation: MNK}
- {target: DRAM, type: spatial, factors: M=2 N=2 K=1, permutation: MNK, split: 1}
- {target: RF, type: temporal, factors: M=1 N=1 K=1, permutation: MNK}
- {target: RF, type: bypass, keep: [Weights, Outputs], bypass: [Inputs]}
"""


def faults_of(*texts: str) -> str:
    with pytest.raises(SpecError) as caught:
        imported(*texts)
    return re.sub(r"/\S*/", "", str(caught.value))


def place(text: str, word: str) -> str:
    """File, line and column of the last place of a word."""
    line = next(i for i, one in reversed(list(enumerate(text.splitlines()))) if word in one)
    return f"0.yaml:{line + 1}:{text.splitlines()[line].index(word.lstrip()) + 1}"


def test_the_file_that_is_spoilt_below_is_good() -> None:
    made = imported(GOOD)
    assert case_of(made).mapping.to_yaml() == made.mapping
    assert "spatial: {x: [{M: 2}], y: [{N: 2}]}" in (made.mapping or "")


SPOILT = [
    # what stands there, what is put in its place, where the fault is, and what is said
    ("bypass: [Inputs]", "bypass: [Ouptus]", "Ouptus", "no data space named 'Ouptus'; allowed: Weights, Inputs, Outputs; "
     "did you mean 'Outputs'?"),
    ("bypass: [Inputs]", "bypass: [Outputs]", "Outputs]}", "Outputs is kept and bypassed"),
    ("bypass: [Inputs]", "bypass: [Inputs], no_coalesce: [Outputs]", "no_coalesce", "no_coalesce: here a tile is drained once"),
    ("keep: [Weights", "keeep: [Weights", "keeep", "unknown key 'keeep'; allowed: target, type, keep, bypass, "
     "no_coalesce; did you mean 'keep'?"),
    ("{target: RF, type: temporal", "{target: FR, type: temporal", "target: FR", "no level named 'FR'; allowed: DRAM, RF"),
    ("type: spatial", "type: spacial", "type: spacial", "'spacial' as the type of a directive; allowed: temporal, spatial, "
     "bypass, datatype, dataspace; did you mean 'spatial'?"),
    ("target: RF, type: bypass", "target: RF, type: skew", "type: skew", "'skew' as the type of a directive"),
    ("M=1 N=1 K=1, permutation: MNK", "M=1 N=1 K=1, permutation: MNX", "permutation: MNX", "no dimension named 'X'; allowed: "
     "M, N, K"),
    ("M=1 N=1 K=1, permutation: MNK", "M=1 N=1 K=1, permutation: MNN", "permutation: MNN", "N stands twice in the permutation"),
    ("M=1 N=1 K=1", "M=1 N=1 K=0", "factors: M=1 N=1 K=0", "K=0: versions of Timeloop take it for the whole dimension or for "
     "what is left of it; allowed: the number"),
    ("M=1 N=1 K=1", "M=1 N=1 K=-2", "factors: M=1 N=1 K=-2", "'K=-2': a factor below 1; allowed: 1 and more"),
    ("M=1 N=1 K=1", "M=1 N=1 K=1e3", "factors: M=1 N=1 K=1e3", "'K=1e3' is no factor; nothing is evaluated"),
    ("M=1 N=1 K=1", "M=1 N=1 K=2*2", "factors: M=1 N=1 K=2*2", "'K=2*2' is no factor; nothing is evaluated"),
    ("M=1 N=1 K=1", "M=1 N=1 K<=2", "factors: M=1 N=1 K<=2", "'K<=2' is a constraint of a search"),
    ("M=1 N=1 K=1", f"M=1 N=1 K={10**30}", "factors: M=1 N=1 K=1000", "a factor above 1099511627776"),
    ("M=1 N=1 K=1", '"M=1 N=1 K=2,3"', "factors: \"M=1", "K=2,3: more is left over than the factor"),
    ("M=1 N=1 K=1", "M=1 N=1 M=1", "factors: M=1 N=1 M=1", "a second factor of M"),
    ("M=1 N=1 K=1", "M=1 N=1 L=1", "factors: M=1 N=1 L=1", "no dimension named 'L'; allowed: M, N, K"),
    ("M=1 N=1 K=1", "M=1 N=1 K=3", "mapping:", "the factors of K make 12, and its extent is 4"),
    ("M=1 N=1 K=1", "3", "factors: 3", "3 as factors"),
    ("M=2 N=2 K=1, permutation: MNK, split: 1", "M=2 N=2 K=1, permutation: MNK", "{target: DRAM, type: spatial",
     "4 along X, but there are 2 instances"),
    ("type: spatial, factors: M=2", "type: spatial, no_reuse: [Inputs], factors: M=2", "no_reuse", "no_reuse: here what is "
     "reused is so wherever it can be"),
    ("target: DRAM, type: spatial", "target: RF, type: spatial", "{target: RF, type: spatial", "spatial loops inside RF, but "
     "there is one instance of what is inside it"),
    ("M=1 N=1 K=1, permutation: MNK}", "M=1 N=1 K=1}\n- {target: RF, type: temporal}", "{target: RF, type: temporal}",
     "a second temporal directive for RF"),
    ("M: 4, N: 4, K: 4}", "M: 4, N: 4}", "instance:", "no extent of the dimension K"),
    ("M: 4, N: 4, K: 4}", "M: 4, N: 4, K: 4, L: 3}", "L: 3", "'L' is neither a dimension nor a coefficient of G; allowed: M, N, "
     "K, step"),
    ("M: 4, N: 4, K: 4}", "M: 4, N: 4, K: 0}", "K: 0", "0; allowed: 1 to 1099511627776"),
    ("M: 4, N: 4, K: 4}", "M: 4, N: 4, K: 2*2}", "K: 2*2", "'2*2' is text: expressions and variables are not evaluated"),
    ("M: 4, N: 4, K: 4}", "M: 4, N: 4, K: 4, step: 0}", "step: 0", "0; allowed: 1 to 999999999"),
    ("[[K, step]]", "[[K, stride]]", "{name: Weights", "no coefficient named 'stride'; allowed: step"),
    ("[[K, step]]", "[[K, -1]]", "[K, -1]", "the coefficient -1 of K"),
    ("[[K, step]]", "[[X]]", "[X]", "no dimension named 'X'; allowed: M, N, K"),
    ("[[K, step]]", "[K*2]", "K*2", "'K*2' as a term: expressions are not evaluated; allowed: [dimension] or [dimension, "
     "coefficient]"),
    ("[[M]], [[K, step]]", "[[M]], [[K], [M]]", "shape:", "Weights: M is in two ranks; a tile must be a product of ranks"),
    ("[[M]], [[N]]], read_write: True", "[[M], [N]]], read_write: True", "shape:",
     "Outputs is written, and its rank M + N is a sum"),
    (", read_write: True", "", "data_spaces:", "0 data spaces with read_write; allowed: one, the output"),
    ("[[K]], [[N]]]}", "[[K]], [[N]]], read_write: True}", "data_spaces:", "2 data spaces with read_write"),
    ("dimensions: [M, N, K]", "dimensions: [M, N, K,\n    M]", "    M]", "a second dimension named M"),
    ("dimensions: [M, N, K]", "dimension: [M, N, K]", "dimension:", "unknown key 'dimension'; allowed: name, dimensions"),
    ("  shape:\n", "  flavour: 3\n  shape:\n", "flavour", "unknown key 'flavour'"),
    ("version: 0.3", "version: 0.1", "version: 0.1", "version 0.1; allowed: 0.2, 0.3, 0.4"),
    ("class: regfile", "class: register", "class: register", "the class 'register': Timeloop passes over what is no storage, "
     "arithmetic or network"),
    ("depth: 64", "deepth: 64", "deepth: 64", "Timeloop knows no attribute 'deepth', and passes over it; did you mean 'depth'?"),
    ("word_bits: 8, depth", "data_width: 8, depth", "data_width", "did you mean 'datawidth'?"),
    ("depth: 64", "depth: 0", "depth: 0", "0; allowed: 1 to"),
    ("depth: 64", "depth: 64, sizeKB: 1", "sizeKB", "sizeKB beside depth"),
    ("depth: 64", "depth: 64*2", "depth: 64*2", "'64*2' is text: expressions and variables are not evaluated; allowed: a whole "
     "number from 1, written out"),
    ("depth: 64", "depth: 64, read_bandwidth: -1", "read_bandwidth", "-1 where a number above 0 is expected"),
    ("depth: 64", "depth: 64, read_bandwidth: 1e-12", "architecture:", "RF: 1e-12 words/cycle; allowed: 2^-20 to 2^40 B/cycle"),
    ("depth: 64", "depth: 64, shared_bandwidth: 1, read_bandwidth: 1", "shared_bandwidth", "a port here has one limit"),
    ("width: 8, meshX", "width: 12, meshX", "width: 12", "a width of 12 bits does not hold blocks of 1 words of 8 bits"),
    ("width: 8, meshX: 2", "width: 8, meshX: 3", "{name: RF", "RF: meshX 3 x meshY 1, but 4 instances"),
    ("datawidth: 8, meshX: 2", "datawidth: 8", "{name: MAC", "MAC: 4 x 1 instances inside 2 x 2 of the level above"),
    ("PE[0..3]", "PE[3..0]", "name: PE[3..0]", "-2 instances of 'PE'; allowed: 1 to 1048576"),
    ("PE[0..3]", "PE[0..n]", "name: PE[0..n]", "'PE[0..n]' as a name; allowed: a name, or a name and a range as in PE[0..15]"),
    ("name: RF,", "name: DRAM,", "architecture:", "2 components named DRAM"),
    ("name: DRAM, class", "name: \"DRAM[0..1]\", class", "{name: \"DRAM", "several instances of the outermost level DRAM"),
    ("class: intmac", "class: SRAM", "architecture:", "no arithmetic units"),
    ("    local:\n    - {name: DRAM", "    lokal:\n    - {name: DRAM", "lokal", "unknown key 'lokal'; allowed: name, attributes, "
     "local, subtree, class, constraints; did you mean 'local'?"),
    ("mapping:\n", "sparse_optimizations: {targets: [x]}\nmapping:\n", "sparse_optimizations", "sparse optimizations change what "
     "is counted"),
    ("mapping:\n", "maping: []\nmapping:\n", "maping", "unknown key 'maping'; allowed: architecture, problem, mapping; did you "
     "mean 'mapping'?"),
    ("mapping:\n", "arch: {}\nmapping:\n", "arch: {}", "a second architecture"),
]


@pytest.mark.parametrize(("before", "after", "at", "said"), SPOILT, ids=[one[1].strip()[:60] for one in SPOILT])
def test_one_fault_is_told_at_its_place(before: str, after: str, at: str, said: str) -> None:
    assert GOOD.count(before) >= 1
    text = GOOD.replace(before, after, 1)
    told = faults_of(text)
    assert said in told
    assert f"{place(text, at)}: " in told, told


def test_all_faults_of_all_files_are_told_at_once_in_their_order() -> None:
    architecture, rest = GOOD.split("problem:")
    problem, mapping = rest.split("mapping:")
    told = faults_of(architecture.replace("version: 0.3", "version: 7").replace("depth: 64", "deepth: 64"),
                     "problem:" + problem.replace("K: 4}", "L: 4}").replace("[[N]]]}", "[[Q]]]}"),
                     "mapping:" + mapping, "architecture: {}").splitlines()
    assert [line.split(":")[0] for line in told] == ["0.yaml", "0.yaml", "1.yaml", "3.yaml"]
    assert ["version 7" in told[0], "deepth" in told[1], "'Q'" in told[2], "a second architecture" in told[3]] == [True] * 4


def test_many_faults_of_a_mapping_are_told_at_once() -> None:
    text = GOOD.replace("permutation: MNK, split: 1", "permutation: MXK, split: -1").replace("[Inputs]", "[Input]").replace(
        "target: RF, type: temporal, factors: M=1", "target: GLB, type: temporal, factors: Q=1")
    told = faults_of(text)
    assert len(told.splitlines()) == 4
    for said in ("no dimension named 'X'", "-1; allowed: 0 to", "no data space named 'Input'", "no level named 'GLB'"):
        assert said in told


NODES = """architecture:
  version: 0.4
  nodes:
  - {name: DRAM, class: DRAM}
  - {name: Buf, class: SRAM, constraints: CONSTRAINTS}
  - {name: MAC, class: intmac}
problem:
  shape:
    dimensions: [M, K]
    data_spaces:
    - {name: A, projection: [M, K]}
    - {name: B, projection: [K]}
    - {name: C, projection: [M], read_write: True}
  instance: {M: 2, K: 2}
mapping:
- {target: Buf, type: temporal, factors: [M=2, K=2]}
- {target: Buf, type: dataspace, keep: [A]}
"""


@pytest.mark.parametrize(("constraints", "said"), [
    ("{dataspace: {bypass: [A]}}", "A is kept and bypassed"),
    ("{dataspace: {byepass: [A]}}", "unknown key 'byepass'"),
    ("{dataspace: {bypass: [X]}}", "no data space named 'X'"),
    ("{temporal: {permutation: [M, K]}}", "a permutation that the mapping does not give; allowed: the permutation in the "
     "mapping of Buf"),
])
def test_constraints_that_timeloop_takes_for_the_mappings_are_heeded(constraints: str, said: str) -> None:
    assert said in faults_of(NODES.replace("CONSTRAINTS", constraints))
    assert "binding: [A, C]" in (imported(NODES.replace("CONSTRAINTS", "{dataspace: {bypass: [B]}}")).mapping or "")


PLAIN = NODES.replace(", constraints: CONSTRAINTS", "")
MORE = [
    ("class: SRAM}", "class: SRAM, spatial: {meshZ: 3}}", "unknown key 'meshZ'; allowed: meshX, meshY"),
    ("class: SRAM}", "class: SRAM, spatial: {meshX: 0}}", "0; allowed: 1 to 1048576"),
    ("class: SRAM}", "clas: SRAM}", "unknown key 'clas'"),
    ("name: Buf, class: SRAM}", "name: \"Buf[0..3]\", class: SRAM}", "a range in a name of a node; allowed: spatial"),
    ("name: Buf, class", "name: 3, class", "3 where a name is expected"),
    ("{name: Buf, class", "{class", "missing key 'name'"),
    ("name: Buf,", "name: Bu f,", "'Bu f' as the name of a level"),
    ("class: SRAM}", "class: SRAM, sparse_optimizations: {a: b}}", "sparse optimizations change what is counted"),
    ("class: SRAM}", "class: SRAM, enabled: perhaps}", "'perhaps' where true or false is expected"),
    ("class: SRAM}", "class: SRAM, nodes: []}", "nodes inside a node"),
    ("class: intmac}", "class: intmac}\n  - {name: L2, class: SRAM}", "L2 stands inside MAC"),
    ("class: SRAM}", "class: SRAM, attributes: 3}", "3 where keys and values are expected"),
    ("class: SRAM}", "class: SRAM, attributes: {allow_overbooking: true}}", "tiles larger than their level are refused here"),
    ("class: SRAM}", "class: SRAM, attributes: {per_dataspace_bandwidth_consumption_scale: {A: 2}}}",
     "take the same bandwidth here"),
    ("class: SRAM}", "class: SRAM, attributes: {depth: 4, depth_: 4}}", "did you mean 'depth'?"),
    ("class: SRAM}", "class: SRAM, attributes: {block-size: 4, block_size: 4}}",
     "'block_size' is given twice, with a hyphen and with"),
    ("class: SRAM}", "class: SRAM, attributes: {depth: 4, width: 32, cluster_size: 3}}",
     "does not hold 3 words of 16 bits side by side"),
    ("class: SRAM}", "class: SRAM, attributes: {depth: 4, width: 32, cluster_size: 2, block_size: 2}}",
     "a width of 32 bits does not hold"),
    ("class: SRAM}", "class: SRAM, attributes: {depth: 4, multiple_buffering: 0.5}}", "0.5; allowed: 1 to 1024"),
    ("class: SRAM}", "class: SRAM, attributes: {depth: 1, multiple_buffering: 1.5}}", "no word is left of the capacity"),
    ("class: SRAM}", f"class: SRAM, attributes: {{depth: {2**56}, block_size: 4}}}}", "words; allowed: 1 to 2^57"),
    ("class: SRAM}", "class: SRAM, attributes: {read_bandwidth: [1]}}", "a list where a number above 0 is expected"),
    ("class: SRAM}", "class: SRAM, attributes: {depth: true}}", "True where a whole number from 1 is expected"),
    ("class: DRAM}", "class: DRAM, attributes: {datawidth: 65}}", "words of 65 bits; allowed: up to 64"),
    ("class: DRAM}", "class: DRAM, attributes: {global_cycle_seconds: 1}}", "a clock of 1 Hz; allowed: 1 kHz to 1 THz"),
    ("  nodes:", "  subtree: []\n  nodes:", "both subtree and nodes"),
    ("[M, K]\n", "[M, 2*K]\n", "'2*K' as a dimension"),
    ("name: A, projection: [M, K]", "name: A-B, projection: [M, K]", "'A-B' as a data space; allowed: letters, digits and _"),
    ("name: B, projection", "name: A, projection", "a second data space named A"),
    ("{name: B, projection: [K]}", "{name: B}", "a data space needs a name and a projection"),
    ("name: B, projection: [K]", "name: B, projektion: [K]", "unknown key 'projektion'; allowed: name, projection"),
    ("name: B, projection: [K]", "name: B, projection: [[[K, 1.5]]]", "1.5 as a coefficient"),
    ("name: B, projection: [K]", "name: B, projection: [[[K, 1, 2]]]", "a list as a term"),
    ("name: B, projection: [K]", "name: B, projection: [[]]", "a rank without terms"),
    ("[M, K]\n", "[M, K, R]\n", "no extent of the dimension R"),
    ("[M, K]\n    data", "[M, K, R]\n    data", "no extent of the dimension R"),
    ("dimensions: [M, K]", "flatten: []\n    dimensions: [M, K]", "flattened dimensions of a problem are not read"),
    ("dimensions: [M, K]", "coefficients: [{name: s, defualt: 1}, {default: 1}, {name: s}]\n    dimensions: [M, K]",
     "unknown key 'defualt'; allowed: name, default; did you mean 'default'?"),
    ("instance: {M: 2, K: 2}", "instance: {M: 2, K: 2, R: 2}", "'R' is neither a dimension nor a coefficient"),
    ("K: 2}\n", "K: 2}\n  version: 9\n", "version 9; allowed: 0.2, 0.3, 0.4"),
    ("target: Buf, type: temporal", "type: temporal", "missing key 'target'"),
    ("target: Buf, type: temporal", "target: Buf", "missing key 'type'"),
    ("target: Buf, type: temporal", "target: 7, type: temporal", "no level named '7'"),
    ("target: Buf, type: temporal", "target: Buf, type: temporal, splitt: 3", "unknown key 'splitt'"),
    ("factors: [M=2, K=2]", "factors: [M=2, 2]", "2 as factors"),
    ("factors: [M=2, K=2]", "factors: [M=2, K=2], permutation: 3", "3 as a permutation"),
    ("keep: [A]", "keep: A", "'A' where a list is expected"),
    ("keep: [A]", "bypass: [C]}\n- {target: DRAM, type: dataspace, bypass: [C]", "C is kept at no level"),
    ("- {target: Buf, type: temporal", "- 3\n- {target: Buf, type: temporal", "3 where keys and values are expected"),
    ("- {target: Buf, type: dataspace", "- {target: Buf, type: spatial, factors: M=1, no_link_transfer: [X]}\n"
     "- {target: Buf, type: dataspace", "no data space named 'X'"),
]


@pytest.mark.parametrize(("before", "after", "said"), MORE, ids=[one[1].strip()[-60:] for one in MORE])
def test_what_else_is_refused(before: str, after: str, said: str) -> None:
    assert before in PLAIN
    assert said in faults_of(PLAIN.replace(before, after, 1))


def test_a_dimension_of_extent_1_that_no_data_space_has_is_dropped() -> None:
    text = PLAIN.replace("[M, K]\n", "[M, K, R]\n", 1).replace("K: 2}", "K: 2, R: 1}")
    made = imported(text.replace("K=2]", "K=2, R=1]"))
    assert "dims: {M: 2, K: 2}" in (made.workload or "")
    assert "the dimension R of extent 1, which no data space has, is left out" in "\n".join(map(str, made.left))
    assert "a factor of 2 of R, whose extent is 1" in faults_of(text.replace("K=2]", "K=2, R=2]"))
    assert "no data space has the dimension R of extent 3" in faults_of(text.replace("R: 1", "R: 3"))


def test_what_timeloop_passes_over_is_left() -> None:
    text = PLAIN.replace("class: SRAM}", "class: SRAM, required_actions: [read], attributes: {metadata_depth: 3, "
                         "network_read: n, min_utilization: 1}}\n  - {name: Wires, class: XY_NoC}\n"
                         "  - {name: Control, class: fsm}").replace(
        "name: B, projection", "name: B, ranks: [K], projection").replace("K: 2}", "K: 2, densities: {A: 0.5}}")
    told = "\n".join(map(str, imported(text).left))
    for said in ("required_actions: for energy and area", "metadata_depth: of sparse formats", "network_read: a network by name",
                 "min_utilization: a limit of the search", "Wires: a network: links here have no limit",
                 "Control: the class fsm is no storage", "ranks: names of ranks", "densities: all words are moved"):
        assert said in told, said


@pytest.mark.parametrize(("outer", "inner"), [("D" * 64, "R" * 60), ("D", "D-Inputs"), ("null", "true")])
def test_names_of_any_kind_give_a_chip_that_reads(outer: str, inner: str) -> None:
    """Names of links are made of those of levels, which may be long, have hyphens, or mean something in YAML."""
    text = re.sub(r"(name|target): DRAM,", rf'\1: "{outer}",', GOOD)
    case = case_of(imported(re.sub(r"(name|target): RF,", rf'\1: "{inner}",', text)))
    assert case.chip.names[:2] == (outer, inner)


def test_a_mapping_needs_its_architecture_and_its_problem() -> None:
    told = faults_of("mapping:\n- {target: RF, type: temporal}\n")
    assert "a mapping without its architecture" in told
    assert "a mapping without its problem" in told


@pytest.mark.parametrize(("tag", "instead"), [
    ("Component", "the node without its tag: one with `class` is a component"),
    ("Container", "the node without its tag: one without `class` is a container"),
    ("Parallel", "the nodes of it one after another in the list around it")])
def test_tags_are_refused_with_what_to_write(tag: str, instead: str) -> None:
    told = faults_of(f"architecture:\n  version: 0.4\n  nodes:\n  - !{tag}\n    name: x\n")
    assert f"0.yaml:4:5: architecture.nodes[0]: tags (!{tag}) are not read; allowed: {instead}" in told


@pytest.mark.parametrize(("text", "said"), [
    ("architecture: &a {version: 0.4}\nproblem: *a\n", "aliases (*a) are not read"),
    ("architecture: {version: 0.4}\narchitecture: {}\n", "duplicate key 'architecture'"),
    ("problem:\n  <<: {shape: x}\n", "merge keys (<<) are not read"),
    ("problem: {{include_text('x')}}\n", "a Jinja template"),
    ("architecture: {nodes: " + "[" * 60 + "]" * 60 + "}\n", "nested more than 32 deep"),
    ("problem: [1\n", "not YAML"),
    ("name: toy\nlevels: []\n", "unknown key 'name'"),
    ("problem: 3\n", "3 where keys and values are expected"),
    ("mapping: {a: 1}\n", "a mapping without its"),
    ("architecture: []\n", "a list where keys and values are expected"),
    ("architecture: {version: 0.4}\n", "neither subtree nor nodes"),
    ("architecture: {arithmetic: {}, storage: []}\n", "'storage' right under the architecture is not read"),
    ("problem: {shape: conv5d}\n", "the shape 'conv5d' lies in a folder of Timeloop's; allowed: cnn_layer, or the shape itself"),
    ("variables: {a: 1}\n", "nothing of Timeloop's in it"),
])
def test_files_that_are_none(text: str, said: str) -> None:
    assert said in faults_of(text)


def test_a_file_that_is_not_there_and_one_that_is_no_text(tmp_path: Path) -> None:
    (tmp_path / "bytes.yaml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(SpecError) as caught:
        import_timeloop([tmp_path / "none.yaml", tmp_path / "bytes.yaml", tmp_path])
    told = str(caught.value)
    assert "none.yaml: cannot be read: No such file or directory" in told
    assert "not UTF-8 text" in told
    assert "Is a directory" in told
    with pytest.raises(SpecError, match="0 files"):
        import_timeloop([])


TEXTS = [path.read_text(encoding="utf-8") for name, path in FILES.items() if name in ("gs_K2xN2", "c2_s2_rows", "imp_s_M6")]
WORDS = st.sampled_from(["0", "-1", "1e99", "null", "[]", "{}", "[[]]", "'*'", "M", "M=2", "true", "!t x", "&a 3", "*a", '"', "K",
                         ",", "99999999999999999999", "GLB", "RF", ": ", "- ", "name", "\n", "\t", "nodes", "subtree", "spatial",
                         "[1..0]"])
CHANGES = st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 12), WORDS), min_size=1, max_size=4)


@settings(max_examples=150, deadline=None)
@given(st.sampled_from([GOOD, *TEXTS]), CHANGES)
def test_spoilt_files_give_a_case_or_faults(text: str, changes: list[tuple[int, int, str]]) -> None:
    for at, length, word in changes:
        start = at % len(text)
        text = text[:start] + word + text[start + length:]
    try:
        made = imported(text)
    except SpecError:
        return
    try:
        if made.mapping is not None:
            case_of(made)  # what was imported is right, but may be too large
    except DoesNotFit:
        pass
