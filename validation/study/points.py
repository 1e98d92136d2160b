"""What the study runs: a fixed list of chips, operators and mappings, one family for each way in which closed forms go wrong.

Chips are shipped ones with some values replaced, just as ``accelsim run CHIP WORKLOAD -o chip.PATH=VALUE`` does.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

from accelsim.analytic.auto import AUTO, write
from accelsim.errors import AccelsimError, Fault, SpecError
from accelsim.spec.banks import parse_layout
from accelsim.spec.case import Case
from accelsim.spec.chip import Chip
from accelsim.spec.mapping import REST, Loop, Mapping, MappingLevel
from accelsim.spec.operator import Operator
from accelsim.spec.read import read, read_memory

MAC = "chip.levels.MAC.array"
SHARED = "[{name: port, serves: [fill, drain, array_read, array_write]}]"
APART = "[" + ", ".join(f"{{name: {name}, serves: [fill, drain, array_read, array_write], tensors: [{name}]}}"
                        for name in ("A", "B", "C")) + "]"
TECHNOLOGIES = ("ddr4-2400", "lpddr5-6400", "gddr6-14000", "hbm2-2000")


@dataclass(frozen=True)
class Point:
    """One run. ``mapping``: in the notation of `mapping_of`, or ``--dataflow NAME``; ``overrides``: as for ``-o``.

    ``layer``: of a workload with several operators, the one that is run. ``knobs``: what the family varies, for tables and
    pictures. ``twin``: the point that differs in the one thing whose size is wanted.
    """

    family: str
    name: str
    chip: str
    workload: str
    mapping: str = f"--dataflow {AUTO}"
    overrides: tuple[str, ...] = ()
    layer: str = ""
    knobs: tuple[tuple[str, str], ...] = ()
    twin: str = ""

    @property
    def key(self) -> str:
        """Its own among all points."""
        return f"{self.family}/{self.name}"


def mapping_of(text: str) -> Mapping:
    """``DRAM m4 k* / SRAM n8 lie=A:column / MAC bind=B m16 x=n16 y=k16``: an entry a level, loops outermost first, ``x=``
    spatial, ``bind=`` what stays (alone: nothing), ``lie=`` layouts.
    """
    entries = []
    for part in text.split(" / "):
        level, *words = part.split()
        loops, spatial, binding, layouts = [], [], None, []
        for word in words:
            key, equals, value = word.partition("=")
            if key == "bind":
                binding = tuple(name for name in value.split(",") if name)
            elif key == "lie":
                layouts = [(name, parse_layout(how)) for name, _, how in [one.partition(":") for one in value.split(",")]]
            elif equals:
                spatial.append((key, (loop_of(value),)))
            else:
                loops.append(loop_of(word))
        entries.append(MappingLevel(level, tuple(loops), tuple(spatial), binding, (), tuple(layouts)))
    return Mapping(tuple(entries), "study")


def loop_of(word: str) -> Loop:
    """``m16`` or ``m*``; ``rs9`` runs over r and s as over one."""
    dims = word.rstrip(f"{REST}0123456789")
    bound = word[len(dims):]
    return Loop(tuple(dims), None if bound == REST else int(bound))


def case_of(point: Point) -> Case:
    """The case of a point. Raises AccelsimError where the chip cannot run it."""
    flow = point.mapping.removeprefix("--dataflow ") if point.mapping.startswith("--dataflow ") else ""

    def choose(chip: Chip, operator: Operator) -> Mapping:
        if point.layer not in ("", operator.name):
            raise SpecError([Fault(point.workload, 0, 0, operator.name, "not asked for")])  # no time is spent on its mapping
        return write(flow, chip, operator) if flow else mapping_of(point.mapping)

    asked = read(point.chip, point.workload, choose=choose, overrides=point.overrides)
    wanted = [item for item in asked.cases if point.layer in ("", item.operator.name)]
    if not isinstance(wanted[0], Case):
        raise AccelsimError(f"{point.key}: {wanted[0].error}")
    return wanted[0]


# -- fill and drain of the array ----------------------------------------------------------------------------------------


def systolic(side: int, buffers: int, results: str = "") -> str:
    """An array of side x side; weights are loaded between the passes (1) or under them (2)."""
    return (f"{MAC}={{model: systolic, pes: {{x: {side}, y: {side}}}, registers: 1, preload: row, buffers: {buffers}"
            + (f", results: {results}" if results else "") + "}")


def free(*more: str) -> tuple[str, ...]:
    """The toy chip with memory that costs nothing: what is left is the array."""
    return ("chip.levels.DRAM.bandwidth=unlimited", "chip.levels.DRAM.latency=0 cycles", "chip.levels.SRAM.capacity=unlimited",
            *more)


def fill_drain() -> Iterator[Point]:
    """Pass lengths against array sides; four by four folds, weights stationary; then outputs stationary."""
    for side, rows, buffers in product((8, 16, 32, 64), (1, 2, 4, 8, 16, 32, 64, 128, 256, 512), (1, 2)):
        yield Point("fill_drain", f"ws-{side}-m{rows}-b{buffers}", "toy", f"gemm:m={rows},n={4 * side},k={4 * side}",
                    f"DRAM / SRAM n4 k4 / MAC bind=B m{rows} x=n{side} y=k{side}", free(systolic(side, buffers)),
                    knobs=(("side", str(side)), ("length", str(rows)), ("buffers", str(buffers)), ("stays", "weights")))
    for side, deep in product((16, 32), (4, 16, 64, 256, 1024)):
        yield Point("fill_drain", f"os-{side}-k{deep}", "toy", f"gemm:m={4 * side},n={4 * side},k={deep}",
                    f"DRAM / SRAM m4 n4 / MAC bind=C k{deep} x=n{side} y=m{side}",
                    free(systolic(side, 1, f"{4 * side} B/cycle")),
                    knobs=(("side", str(side)), ("length", str(deep)), ("buffers", "1"), ("stays", "outputs")))
    for chip, dtype, rows in product(("gemmini", "tpu-v1", "tpu-v3"), ("int8",), (1, 4, 16, 64, 256, 1024)):
        word = "bf16" if chip == "tpu-v3" else dtype
        yield Point("fill_drain", f"{chip}-m{rows}", chip, f"gemm:m={rows},n=256,k=256,dtype={word}",
                    knobs=(("length", str(rows)),))


# -- rows, refresh and turnaround of DRAM -------------------------------------------------------------------------------


def channels(technology: str, level: str = "chip.levels.DRAM") -> tuple[str, ...]:
    """A memory whose channels are simulated command by command."""
    return (f"{level}.timing={technology}", f"{level}.bandwidth=null", f"{level}.ports=null", f"{level}.granularity=1 B",
            f"{level}.latency=0 cycles")


def plain(technology: str, level: str = "chip.levels.DRAM", *, bursts: bool = True) -> tuple[str, ...]:
    """The same memory as a closed form has it: its peak rate, the latency of a closed bank, whole bursts or single bytes."""
    dram = read_memory(technology)
    latency = (dram.timing.tRCDRD + dram.timing.CL) * dram.cycle_s * 10**9
    return (f"{level}.bandwidth={float(dram.peak_bytes_per_s) / 1e9:.3f} GB/s", f"{level}.ports={SHARED}",
            f"{level}.granularity={dram.burst_bytes if bursts else 1} B", f"{level}.latency={float(latency):.3f} ns")


FAST = (f"{MAC}={{model: matrix, pes: {{x: 8, y: 8, z: 128}}}}", "chip.levels.SRAM.capacity=1 MiB",
        "chip.levels.SRAM.buffers={A: 8, B: 2, C: 2}")
"""An array that is always faster than the memory, and slots enough to hide its latency."""


def dram_rows() -> Iterator[Point]:
    """Tiles of 8 KiB in runs from 32 B to 4 KiB, from matrices with rows of 4096 and 4224 B; writes; refresh."""
    for technology, (words, rows), (deep, order) in product(
            TECHNOLOGIES, ((8, 256), (16, 128), (32, 64), (64, 32), (128, 16), (256, 8), (1024, 2)),
            ((1024, "m* k*"), (1024, "k* m*"), (1056, "m* k*"))):
        wide, high = (8, 8) if rows >= 8 else (128, rows)
        yield from with_twin(
            "dram_rows", f"{technology}-pitch{4 * deep}-run{4 * words}-{order[0]}", "toy", f"gemm:m=256,n=2,k={deep}",
            f"DRAM {order} / SRAM m{rows // high} k{words // wide} n* / MAC x=n2 y=m{high} z=k{wide}", FAST, technology,
            (("technology", technology), ("run", str(4 * words)), ("outer", order[0]), ("pitch", str(4 * deep)),
             ("what", "reads")))
    for technology, columns in product(TECHNOLOGIES, (8, 16, 32, 64, 128)):
        yield from with_twin("dram_rows", f"{technology}-writes{4 * columns}", "toy", "gemm:m=64,n=512,k=8",
                             f"DRAM m* n* / SRAM m2 n{columns // 8} k* / MAC x=n8 y=m8 z=k8", FAST, technology,
                             (("technology", technology), ("run", str(4 * columns)), ("what", "writes")))
    for technology, refresh in product(TECHNOLOGIES, ("", "none")):
        yield Point("dram_rows", f"{technology}-refresh{refresh and '-' + refresh}", "toy", "gemm:m=256,n=2,k=1024",
                    "DRAM m* k* / SRAM m1 k32 n* / MAC x=n2 y=m8 z=k8",
                    (*FAST, *channels(technology), *((f"memory.controller.refresh={refresh}",) if refresh else ())),
                    twin="" if refresh else f"dram_rows/{technology}-refresh-none",
                    knobs=(("technology", technology), ("what", "refresh"), *((("plain", "yes"),) if refresh else ())))


def with_twin(family: str, name: str, chip: str, workload: str, mapping: str, overrides: tuple[str, ...], technology: str,
              knobs: tuple[tuple[str, str], ...], *, level: str = "chip.levels.DRAM", layer: str = "", bursts: bool = True,
              ) -> Iterator[Point]:
    """A point with simulated channels, and its twin with a plain rate."""
    yield Point(family, name, chip, workload, mapping, (*overrides, *channels(technology, level)), layer, knobs,
                f"{family}/{name}-plain")
    yield Point(family, f"{name}-plain", chip, workload, mapping, (*overrides, *plain(technology, level, bursts=bursts)), layer,
                (*knobs, ("plain", "yes")))


# -- granularity --------------------------------------------------------------------------------------------------------


def granularity() -> Iterator[Point]:
    """Runs shorter than a burst, and longer; and a convolution whose stride skips every other element."""
    for grain, words, rate in product((1, 32, 64, 128), (4, 8, 12, 16, 24, 32, 64), (16,)):
        yield Point("granularity", f"run{4 * words}-grain{grain}", "toy", "gemm:m=64,n=8,k=192",
                    f"DRAM m* k* / SRAM m8 k{words // 4} n* / MAC x=n8 z=k4",
                    (f"{MAC}={{model: matrix, pes: {{x: 8, z: 4}}}}", f"chip.levels.DRAM.granularity={grain} B",
                     f"chip.levels.DRAM.bandwidth={rate} B/cycle"), knobs=(("run", str(4 * words)), ("grain", str(grain))),
                    twin=f"granularity/run{4 * words}-grain1" if grain > 1 else "")
    for grain, stride, chip in product((1, 32), (1, 2), ("onnxim", "tpu-v3")):
        level = "HBM" if chip == "tpu-v3" else "DRAM"
        yield Point("granularity", f"{chip}-stride{stride}-grain{grain}", chip,
                    f"conv2d:k=256,c=256,p=14,q=14,r=1,s=1,stride={stride},dtype=bf16",
                    overrides=(f"chip.levels.{level}.granularity={grain} B",),
                    knobs=(("stride", str(stride)), ("grain", str(grain))),
                    twin=f"granularity/{chip}-stride{stride}-grain1" if grain > 1 else "")


# -- contention ---------------------------------------------------------------------------------------------------------


def contention() -> Iterator[Point]:
    """One port for all tensors against a port of the same rate for each; then cores that share one."""
    shapes = {"square": (64, 64, 64), "tall": (256, 16, 64), "deep": (16, 16, 512), "wide": (16, 256, 64)}
    unit = f"{MAC}={{model: matrix, pes: {{x: 4, y: 4}}}}"
    for (shape, (m, n, k)), rate, order in product(shapes.items(), (4, 8, 16, 32), ("m* n* k*", "k* m* n*", "n* k* m*")):
        word = order.replace("*", "").replace(" ", "")
        for ports, text in (("shared", SHARED), ("apart", APART)):
            yield Point("contention", f"{shape}-{rate}-{word}-{ports}", "toy", f"gemm:m={m},n={n},k={k}",
                        f"DRAM {order} / SRAM m4 n4 k16 / MAC x=n4 y=m4",
                        (unit, f"chip.levels.DRAM.bandwidth={rate} B/cycle", f"chip.levels.DRAM.ports={text}"),
                        knobs=(("shape", shape), ("rate", str(rate)), ("order", word), ("ports", ports)),
                        twin=f"contention/{shape}-{rate}-{word}-apart" if ports == "shared" else "")
    for cores, rate, rows in product((1, 2, 4, 8), (4, 16, 64), (4, 8, 16)):
        yield Point("contention", f"cores{cores}-{rate}-m{rows}", "toy", "gemm:m=128,n=32,k=64",
                    f"DRAM m* k* x=m{cores} / SRAM m{rows // 4} n8 k16 / MAC x=n4 y=m4",
                    (unit, f"chip.levels.SRAM.instances={{x: {cores}}}", f"chip.levels.DRAM.bandwidth={rate} B/cycle"),
                    knobs=(("cores", str(cores)), ("rate", str(rate)), ("rows", str(rows))))
    for cores, (m, n, k) in product((1, 2, 4), ((512, 512, 512), (1024, 256, 256), (128, 2048, 512))):
        yield Point("contention", f"onnxim{cores}-{m}x{n}x{k}", "onnxim", f"gemm:m={m},n={n},k={k},dtype=fp16",
                    overrides=(f"chip.levels.CORE.instances.x={cores}",), knobs=(("cores", str(cores)),))


# -- start-up -----------------------------------------------------------------------------------------------------------


def start_up() -> Iterator[Point]:
    """One tile and many, near memory and far; and the launch of shipped chips."""
    unit = f"{MAC}={{model: matrix, pes: {{x: 4, y: 4}}}}"
    for tiles, latency, rate in product((1, 2, 4, 8, 16, 32, 64), (10, 100, 1000), (4, 16)):
        yield Point("start_up", f"tiles{tiles}-{latency}-{rate}", "toy", f"gemm:m={16 * tiles},n=16,k=64",
                    "DRAM m* / SRAM m4 n4 k* / MAC x=n4 y=m4",
                    (unit, f"chip.levels.DRAM.latency={latency} cycles", f"chip.levels.DRAM.bandwidth={rate} B/cycle"),
                    knobs=(("tiles", str(tiles)), ("latency", str(latency)), ("rate", str(rate))))
    for chip, side in product(("gemmini", "tpu-v1", "tpu-v3", "nvdla-small", "onnxim"), (8, 16, 32, 64, 128, 256)):
        word = {"tpu-v3": "bf16", "onnxim": "fp16"}.get(chip, "int8")
        yield Point("start_up", f"{chip}-{side}", chip, f"gemm:m={side},n={side},k={side},dtype={word}",
                    knobs=(("side", str(side)),))


# -- ragged tiles -------------------------------------------------------------------------------------------------------


def ragged() -> Iterator[Point]:
    """Extents about those that fill the array: on one dimension at a time, and on all three."""
    for chip, word, side in (("gemmini", "int8", 16), ("nvdla-small", "int8", 8), ("tpu-v3", "bf16", 128)):
        for dim, over in product("mnk", (1, side // 2 - 1, side // 2, side - 1, side)):
            extents = {"m": 4 * side, "n": 4 * side, "k": 4 * side} | {dim: 2 * side + over}
            yield Point("ragged", f"{chip}-{dim}{2 * side + over}", chip, gemm(extents, word),
                        knobs=(("dim", dim), ("over", str(over)), ("side", str(side))),
                        twin=f"ragged/{chip}-{dim}{3 * side}" if over != side else "")
    for extent in range(33, 65):
        extents = dict.fromkeys("mnk", extent)
        yield Point("ragged", f"cube{extent}", "toy", gemm(extents, "fp32"),
                    "DRAM m* n* / SRAM m2 n2 k* / MAC x=n8 y=m8 z=k8",
                    (f"{MAC}={{model: matrix, pes: {{x: 8, y: 8, z: 8}}}}", "chip.levels.DRAM.bandwidth=64 B/cycle"),
                    knobs=(("dim", "all"), ("extent", str(extent)), ("side", "8")), twin="ragged/cube64" if extent < 64 else "")


def gemm(extents: dict[str, int], dtype: str) -> str:
    """The inline workload."""
    return "gemm:" + ",".join(f"{dim}={extent}" for dim, extent in extents.items()) + f",dtype={dtype}"


# -- overlap ------------------------------------------------------------------------------------------------------------


def overlap() -> Iterator[Point]:
    """Slots against the balance of loading and computing, and against latency: rows that stream past a resident vector."""
    for slots, rate, latency in product((1, 2, 3), ("0.5", "1", "2", "3", "4", "5", "8", "16", "32"), (0, 100, 400)):
        yield Point("overlap", f"slots{slots}-{rate}-{latency}", "toy", "gemm:m=512,n=1,k=16",
                    "DRAM m* / SRAM m16 k*",
                    (f"chip.levels.DRAM.bandwidth={rate} B/cycle", f"chip.levels.DRAM.latency={latency} cycles",
                     f"chip.levels.SRAM.buffers={{A: {slots}, B: 1, C: 2}}"),
                    knobs=(("slots", str(slots)), ("rate", rate), ("latency", str(latency))),
                    twin=f"overlap/slots2-{rate}-{latency}" if slots == 1 else "")


# -- ports of the SRAM --------------------------------------------------------------------------------------------------


def ports() -> Iterator[Point]:
    """One SRAM port for the DRAM's transfers and the array's operands, or one for each."""
    unit = f"{MAC}={{model: matrix, pes: {{x: 4, y: 4}}}}"
    both = "[{name: dma, serves: [fill, drain]}, {name: operands, serves: [array_read, array_write]}]"
    for (m, n, k), rate, dram in product(((64, 64, 64), (128, 32, 64), (32, 32, 256)), (16, 32, 64, 128), (8, 32)):
        for how, text in (("one", SHARED), ("two", both)):
            yield Point("ports", f"{m}x{n}x{k}-{rate}-{dram}-{how}", "toy", f"gemm:m={m},n={n},k={k}",
                        "DRAM m* n* k* / SRAM m4 n4 k16 / MAC x=n4 y=m4",
                        (unit, f"chip.levels.DRAM.bandwidth={dram} B/cycle", f"chip.levels.SRAM.bandwidth={rate} B/cycle",
                         f"chip.levels.SRAM.ports={text}"),
                        knobs=(("rate", str(rate)), ("dram", str(dram)), ("ports", how)),
                        twin=f"ports/{m}x{n}x{k}-{rate}-{dram}-two" if how == "one" else "")


# -- banks of the SRAM --------------------------------------------------------------------------------------------------

WEIGHTS_STAY = "DRAM m* / SRAM n4 k4{lie} / MAC bind=B m32 x=n16 y=k16"


def banked(count: int, ports: str = "1RW", interleave: str = "word") -> tuple[str, ...]:
    """An SRAM of so many banks of words of 16 B, simulated; it adds in place."""
    return (f"chip.levels.SRAM.banks={count}", "chip.levels.SRAM.bank_width=16 B", f"chip.levels.SRAM.bank_ports={ports}",
            f"chip.levels.SRAM.interleave={interleave}")


def banks() -> Iterator[Point]:
    """A 16 x 16 array with stationary weights: in each cycle a row of 16 words of A, four of the SRAM's, and one of C's sums.
    Layouts of A against banks and their ports; then the DRAM's rate, whose transfers take banks as well.
    """
    def point(name: str, rate: int, more: tuple[str, ...], lie: str, knobs: tuple[tuple[str, str], ...], twin: str) -> Point:
        chip = (systolic(16, 2), "chip.levels.SRAM.capacity=1 MiB", "chip.levels.SRAM.accumulate=true",
                f"chip.levels.DRAM.bandwidth={rate} B/cycle", *more)
        return Point("banks", name, "toy", "gemm:m=256,n=64,k=64", WEIGHTS_STAY.format(lie=f" lie=A:{lie}" if lie else ""), chip,
                     knobs=knobs, twin=twin)

    for rate in (8, 32, 128):
        yield point(f"none-{rate}", rate, (), "", (("rate", str(rate)), ("plain", "yes")), "")
    for lie, count, ports_ in product(("row", "column", "padded:1", "swizzled"), (2, 4, 8, 16, 32), ("1RW", "2RW", "1R1W")):
        yield point(f"{lie}-{count}-{ports_}", 32, banked(count, ports_), lie,
                    (("lie", lie), ("banks", str(count)), ("ports", ports_), ("rate", "32")), "banks/none-32")
    for count, rate, interleave in product((8, 16), (8, 128), ("word", "bank")):
        yield point(f"{interleave}-{count}-{rate}", rate, banked(count, "1RW", interleave), "row",
                    (("interleave", interleave), ("banks", str(count)), ("rate", str(rate))), f"banks/none-{rate}")


# -- layers of networks -------------------------------------------------------------------------------------------------

RESNET50 = ("conv1", "layer1.0.conv1", "layer1.0.conv2", "layer1.0.conv3", "layer2.0.conv2", "layer2.0.downsample",
            "layer2.1.conv1", "layer2.1.conv3", "layer3.0.conv1", "layer3.1.conv2", "layer4.0.conv3", "layer4.1.conv2", "fc")
MOBILENET = ("conv1", "bottleneck1.0.depthwise", "bottleneck2.0.expand", "bottleneck3.1.project", "bottleneck4.1.depthwise",
             "bottleneck5.1.expand", "bottleneck7.0.project", "conv2")
DECODE = ("q_proj", "attention_scores", "attention_values")
ALEXNET = ("conv3", "conv4", "conv5", "fc8")
TYPES = {"tpu-v1": "int8", "tpu-v3": "bf16", "gemmini": "int8", "nvdla-small": "int8", "onnxim": "bf16", "eyeriss": "int16"}
"""The type in which each chip runs the layers."""
LAYERS = (
    *product(("tpu-v1", "tpu-v3", "gemmini", "onnxim"), ("resnet50",), RESNET50),
    *product(("nvdla-small",), ("resnet50",), RESNET50[6:9]),
    *product(("tpu-v1", "tpu-v3", "gemmini", "onnxim"), ("mobilenet-v2",), MOBILENET),
    *product(("tpu-v3", "onnxim", "tpu-v1"), ("llm-decode",), DECODE),
    *product(("eyeriss",), ("alexnet",), ALEXNET))
FIRST = "chip.levels.MEM.memories.DDR3"
BEHIND = {"onnxim": ("chip.levels.DRAM", "hbm2-2000", "chip.levels.DRAM.capacity=unlimited"),
          "tpu-v3": ("chip.levels.HBM", "hbm2-2000", "chip.levels.HBM.capacity=unlimited"),
          "gemmini": ("chip.levels.DRAM", "ddr4-2400", "chip.levels.DRAM.capacity=unlimited"),
          "tpu-v1": (FIRST, "ddr3-2133", f"{FIRST}.capacity=unlimited")}
"""Where a chip's DRAM is, and a technology that it could have there."""


def layers() -> Iterator[Point]:
    """The real mix: layers of shipped networks under `auto`, on chips as they ship."""
    for chip, workload, layer in LAYERS:
        yield Point("layers", f"{chip}-{workload}-{layer}", chip, workload, layer=layer, overrides=typed(chip, layer),
                    knobs=(("workload", workload),))


def typed(chip: str, layer: str) -> tuple[str, ...]:
    """The layer in a type that the chip computes."""
    own = f"workload.operators.{layer}.dtype={TYPES[chip]}"
    return (own, f"workload.operators.{layer}.accumulator=int16") if chip == "eyeriss" else (own,)


def dram_layers() -> Iterator[Point]:
    """The same, with the memory simulated command by command, and with a plain rate in its place."""
    for chip, (level, technology, room) in BEHIND.items():
        for layer in RESNET50[2:12:2]:
            yield from with_twin("dram_layers", f"{chip}-{technology}-{layer}", chip, "resnet50", f"--dataflow {AUTO}",
                                 (*typed(chip, layer), room), technology, (("technology", technology), ("what", "layers")),
                                 level=level, layer=layer, bursts=False)


FAMILIES = (fill_drain, dram_rows, granularity, contention, start_up, ragged, overlap, ports, banks, layers, dram_layers)


def points() -> tuple[Point, ...]:
    """All of them, in their order."""
    return tuple(point for family in FAMILIES for point in family())
