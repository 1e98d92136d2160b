"""Small pieces of HTML that results show themselves with in notebooks: plain tables, text, and lanes as a picture.

No scripts, no requests and no colours but those of the stall causes, so that it suits a light page and a dark one. All text
is escaped here, and only here: what is written with these functions cannot forget it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

MOST_ROWS = 60
"""Rows of a table that are shown; frames have them all."""

_NAME_PIXELS, _FIELD_PIXELS, _ROW_PIXELS, _BAR_PIXELS = 190, 640, 20, 15


class Shown:
    """What shows itself in notebooks: by `_repr_html_` of its own, and as the one line of `str` where there is text alone."""

    def __init_subclass__(cls) -> None:
        """IPython takes the `repr` of a dataclass before what it inherits, so that each class has the hook as its own."""
        super().__init_subclass__()
        cls._repr_pretty_ = Shown._repr_pretty_  # type: ignore[method-assign]

    def _repr_pretty_(self, printer: object, cycle: bool) -> None:  # noqa: ARG002  (a result holds no cycles)
        """IPython's own hook for plain text, which need not change `repr`."""
        write = getattr(printer, "text", None)
        if write is not None:
            write(str(self))


@dataclass(frozen=True)
class Html:
    """Markup, ready to be put into more of it."""

    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Right:
    """Text of a cell that stands flush right, as numbers do."""

    text: str


Cell = str | int | float | Right | Html | None


def table(caption: str, header: Sequence[str], rows: Iterable[Sequence[Cell]], *, most: int = MOST_ROWS) -> Html:
    """A table that scrolls where it is wide. Whole numbers are grouped by thousands, others have six digits; None is a dash.

    A column is flush right where all its cells are numbers or None.
    """
    listed = list(rows)
    numbers = [bool(listed) and all(row[i] is None or isinstance(row[i], int | float | Right) for row in listed)
               for i in range(len(header))]
    head = "".join(_tag("th", name, right) for name, right in zip(header, numbers, strict=True))
    body = "".join("<tr>" + "".join(_cell(cell, right) for cell, right in zip(row, numbers, strict=True)) + "</tr>"
                   for row in listed[:most])
    left = f"<div>{escape(f'… and {len(listed) - most:,} rows more')}</div>" if len(listed) > most else ""
    above = f'<caption style="text-align:left;font-weight:bold">{escape(caption)}</caption>' if caption else ""
    return Html(f'<div style="overflow-x:auto"><table>{above}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'
                + left)


def _cell(value: Cell, right: bool) -> str:
    if isinstance(value, Html):
        return f"<td>{value}</td>"
    if isinstance(value, Right):
        return _tag("td", value.text, True)
    if isinstance(value, int | float):
        return _tag("td", number(value), True)
    return _tag("td", "-" if value is None else value, right)


def _tag(tag: str, text: str, right: bool) -> str:
    return f'<{tag} style="text-align:{"right" if right else "left"}">{escape(text)}</{tag}>'


def number(value: float) -> str:
    """A number for a reader: 1,234,567, or six digits where it is not whole."""
    return f"{int(value):,}" if value == int(value) else f"{value:,.6g}"


def percent(share: float) -> Right:
    """A share for a reader: 12.3%."""
    return Right(f"{share:.1%}")


def title(text: str) -> Html:
    """What it is that is shown."""
    return Html(f'<div style="font-weight:bold;font-size:110%">{escape(text)}</div>')


def line(text: str) -> Html:
    """A sentence."""
    return Html(f"<div>{escape(text)}</div>")


def pre(text: str) -> Html:
    """Text in which every space counts, such as a loop nest."""
    return Html(f'<pre style="overflow-x:auto">{escape(text)}</pre>')


def lines(summary: str, texts: Iterable[str]) -> Html:
    """A list that is folded away; nothing where it is empty."""
    items = "".join(f"<li>{escape(text)}</li>" for text in texts)
    return Html(f"<details><summary>{escape(summary)}</summary><ul>{items}</ul></details>" if items else "")


def swatch(colour: str, text: str) -> Html:
    """A text behind a spot of its colour."""
    return Html(f'<span style="display:inline-block;width:0.7em;height:0.7em;margin-right:0.4em;background:{escape(colour)}">'
                f"</span>{escape(text)}")


def block(*parts: Html) -> str:
    """The parts one under another: what `_repr_html_` returns."""
    return f'<div class="accelsim">{"".join(part.text for part in parts)}</div>'


@dataclass(frozen=True)
class Bar:
    """A lane as a row of a picture: for each column of it the shares of the colours, adding up to at most 1."""

    name: str
    columns: tuple[tuple[float, ...], ...]


def bars(rows: Sequence[Bar], colours: Sequence[str], ground: str, begin: str, end: str) -> Html:
    """Lanes along time as a picture, each column a stack, the first colour lowest; columns that are alike are one rectangle.

    ``ground``: the colour of what the shares leave, the same on a light page and on a dark one. ``begin`` and ``end`` are
    written under the left and the right edge.
    """
    height = _ROW_PIXELS * len(rows) + 18
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{_NAME_PIXELS + _FIELD_PIXELS + 10}" height="{height}" '
             'font-family="sans-serif" font-size="11" role="img">']
    for number_, row in enumerate(rows):
        top = _ROW_PIXELS * number_
        parts.append(f'<text x="{_NAME_PIXELS - 6}" y="{top + 12}" text-anchor="end" fill="currentColor">'
                     f"{escape(_shortened(row.name))}</text>")
        parts.append(f'<rect x="{_NAME_PIXELS}" y="{top}" width="{_FIELD_PIXELS}" height="{_BAR_PIXELS}" '
                     f'fill="{escape(ground)}"/>')
        parts += _paths(row, colours, top)
    parts.append(f'<text x="{_NAME_PIXELS}" y="{height - 5}" fill="currentColor">{escape(begin)}</text>'
                 f'<text x="{_NAME_PIXELS + _FIELD_PIXELS}" y="{height - 5}" text-anchor="end" fill="currentColor">'
                 f"{escape(end)}</text></svg>")
    return Html(f'<div style="overflow-x:auto">{"".join(parts)}</div>')


def _paths(row: Bar, colours: Sequence[str], top: int) -> Iterable[str]:
    """For each colour its rectangles, as one path."""
    width = _FIELD_PIXELS / max(1, len(row.columns))
    drawn: list[list[str]] = [[] for _ in colours]
    first = 0
    for i, shares in enumerate(row.columns):
        if i + 1 < len(row.columns) and row.columns[i + 1] == shares:
            continue
        low, wide = float(top + _BAR_PIXELS), _pixels((i + 1 - first) * width)
        for share, path in zip(shares, drawn, strict=True):
            if share > 0:
                path.append(f"M{_pixels(_NAME_PIXELS + first * width)} {_pixels(low)}h{wide}v{_pixels(-share * _BAR_PIXELS)}"
                            f"h-{wide}z")
                low -= share * _BAR_PIXELS
        first = i + 1
    for path, colour in zip(drawn, colours, strict=True):
        if path:
            yield f'<path fill="{escape(colour)}" d="{"".join(path)}"/>'


def _pixels(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")


def _shortened(name: str, most: int = 30) -> str:
    return name if len(name) <= most else name[:most - 1] + "…"
