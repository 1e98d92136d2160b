"""The mapping: tiling, permutation, spatial assignment and binding (with its buffers); nothing else."""

from __future__ import annotations

from dataclasses import dataclass

from accelsim import markup
from accelsim.spec.banks import Layout
from accelsim.spec.operator import Operator

REST = "*"


@dataclass(frozen=True)
class Loop:
    """A loop over one dimension, or over a flattened list of them (the last one runs fastest).

    ``bound`` is a factor; None stands for ``"*"``: what is left.
    """

    dims: tuple[str, ...]
    bound: int | None

    def __str__(self) -> str:
        name = self.dims[0] if len(self.dims) == 1 else f"[{', '.join(self.dims)}]"
        return f"{{{name}: {_quoted_rest(self.bound)}}}"


@dataclass(frozen=True)
class MappingLevel:
    """One entry. ``binding`` None: all that the level's memories serve; ``buffers``: only what differs from the chip;
    ``layouts``: how tiles lie over banks, where not row-major.
    """

    level: str
    loops: tuple[Loop, ...] = ()
    spatial: tuple[tuple[str, tuple[Loop, ...]], ...] = ()
    binding: tuple[str, ...] | None = None
    buffers: tuple[tuple[str, int], ...] = ()
    layouts: tuple[tuple[str, Layout], ...] = ()


@dataclass(frozen=True)
class Mapping(markup.Shown):
    """Entries outermost first. ``origin`` says where it came from: a file, or the dataflow that wrote it and why."""

    levels: tuple[MappingLevel, ...]
    origin: str = ""

    def to_yaml(self) -> str:
        """The mapping as a file that reads back to the same mapping, byte for byte when written again."""
        lines = ["levels:"]
        for entry in self.levels:
            lines.append(f"  - level: {_word(entry.level)}")
            if entry.binding is not None:
                lines.append(f"    binding: [{', '.join(map(_word, entry.binding))}]")
            if entry.buffers:
                lines.append("    buffers: {" + ", ".join(f"{name}: {count}" for name, count in entry.buffers) + "}")
            if entry.layouts:
                lines.append("    layout: {" + ", ".join(f"{name}: \"{layout}\"" for name, layout in entry.layouts) + "}")
            if entry.loops:
                lines.append(f"    loops: [{', '.join(map(str, entry.loops))}]")
            if entry.spatial:
                axes = ", ".join(f"{axis}: [{', '.join(map(str, loops))}]" for axis, loops in entry.spatial)
                lines.append(f"    spatial: {{{axes}}}")
        return "\n".join(lines) + "\n"

    def __str__(self) -> str:
        return f"mapping, {self.origin.partition(' (')[0] or 'given'}, of {' > '.join(entry.level for entry in self.levels)}"

    def _repr_html_(self) -> str:
        return markup.block(*self.nest_html())

    def nest_html(self, operator: Operator | None = None) -> tuple[markup.Html, ...]:
        """Where it came from, and the loop nest; why a dataflow was chosen is folded away."""
        origin, _, why = self.origin.partition(" (")
        reasons = why.removesuffix(")").split("; ") if why else ()
        return (markup.line(f"mapping: {origin or 'given'}"), markup.lines("why", reasons),
                markup.pre(self.loop_nest(operator)))

    def loop_nest(self, operator: Operator | None = None) -> str:
        """The mapping as the loop nest it means, one loop a line; of an operator with what is done innermost."""
        lines: list[str] = []
        depth = 0
        for entry in self.levels:
            held = ", ".join(entry.binding) if entry.binding is not None else "all it serves"
            slots = f"; buffers {', '.join(f'{name} {count}' for name, count in entry.buffers)}" if entry.buffers else ""
            slots += f"; layout {', '.join(f'{name} {layout}' for name, layout in entry.layouts)}" if entry.layouts else ""
            lines.append(f"{'  ' * depth}{entry.level} holds {held or 'nothing'}{slots}")
            for loop in entry.loops:
                lines.append(f"{'  ' * depth}for {_counter(loop)}")
                depth += 1
            for axis, loops in entry.spatial:
                for loop in loops:
                    lines.append(f"{'  ' * depth}parallel on {axis}: {_counter(loop)}")
                    depth += 1
        if operator is None:
            return "\n".join(lines)
        tensors = {tensor.name: ", ".join(str(axis.form) for axis in tensor.axes) for tensor in operator.tensors}
        factors = " * ".join(f"{name}[{axes}]" for name, axes in tensors.items() if name != operator.output.name)
        lines.append(f"{'  ' * depth}{operator.output.name}[{tensors[operator.output.name]}] += {factors}")
        return "\n".join(lines)


def _word(name: str) -> str:
    """A name as YAML text: what YAML would read as something else in quotes."""
    return f'"{name}"' if name in ("null", "true", "false") else name


def _quoted_rest(bound: int | None) -> str:
    return f'"{REST}"' if bound is None else str(bound)


def _counter(loop: Loop) -> str:
    return f"{', '.join(loop.dims)} in 0..{'rest' if loop.bound is None else loop.bound}"
