"""Arrays as synthesizable hardware, in Amaranth: what a clock of one does is what a cycle of accelsim's array means.

The systolic ones are arrays of R x C processing elements with a controller that loads, streams and drains fold after fold on its
own; operands come from memories beside it. A fold of the reduction or of the outputs is what the array holds at a time.
"""

from __future__ import annotations

from collections.abc import Sequence

from amaranth.hdl import Array, Const, Elaboratable, Module, Mux, Signal, Value, signed

Matrix = Sequence[Sequence[int]]
WORD, SUM = 8, 32


def memory(values: Sequence[int], address: Value) -> Value:
    """A word of a read-only memory."""
    return Array([Const(value, signed(WORD)) for value in values])[address]


def delayed(m: Module, value: Value, cycles: int) -> Value:
    """A signal some cycles later."""
    for _ in range(cycles):
        later = Signal.like(value)
        m.d.sync += later.eq(value)
        value = later
    return value


class Stationary(Elaboratable):
    """A weight- or input-stationary array: R x C words stay while T rows of R words stream past; C sums leave the bottom.

    ``held``: for each fold R x C words. ``streams``: for each fold T rows of R words. ``double``: a fold is loaded while the one
    before is streamed. ``valid``, ``sums``: a row of results leaves.
    """

    def __init__(self, held: Sequence[Matrix], streams: Sequence[Matrix], *, double: bool) -> None:
        self.held, self.streams, self.double = held, streams, double
        self.rows, self.columns, self.length = len(held[0]), len(held[0][0]), len(streams[0])
        self.valid = Signal()
        self.sums = [Signal(signed(SUM), name=f"sum_{c}") for c in range(self.columns)]

    def elaborate(self, _: object) -> Module:
        """The hardware."""
        m = Module()
        folds, rows, columns, length = len(self.held), self.rows, self.columns, self.length
        # the loader: a row of words each cycle, once there is room for another fold
        loaded, load_row, loading = Signal(16), Signal(16), Signal()
        begun, drained = Signal(16), Signal(16)
        begins, drains = Signal(), Signal()
        room = begun + begins if self.double else drained + drains
        m.d.comb += loading.eq((loaded < folds) & ((load_row > 0) | (loaded <= room)))
        with m.If(loading):
            m.d.sync += load_row.eq(Mux(load_row == rows - 1, 0, load_row + 1))
            m.d.sync += loaded.eq(loaded + (load_row == rows - 1))
        words = [memory([row[c] for fold in self.held for row in fold], loaded * rows + load_row) for c in range(columns)]
        # the streamer: a row of operands each cycle, once its fold is loaded and the one before has been streamed
        row, streaming = Signal(16), Signal()
        m.d.comb += streaming.eq((row > 0) | ((begun < folds) & (loaded > begun)))
        m.d.comb += begins.eq(streaming & (row == 0))
        fold = Signal(16)
        m.d.comb += fold.eq(Mux(begins, begun, begun - 1))
        m.d.sync += begun.eq(begun + begins)
        with m.If(streaming):
            m.d.sync += row.eq(Mux(row == length - 1, 0, row + 1))
        m.d.comb += drains.eq(delayed(m, streaming & (row == length - 1), rows + columns - 1))
        m.d.sync += drained.eq(drained + drains)
        # the array: operands go right, sums go down, each row and column a cycle behind the one before
        downward: list[Value] = [Const(0, signed(SUM))] * columns
        at_bottom: Value = Const(0)
        for r in range(rows):
            operand: Value = delayed(m, memory([line[r] for stream in self.streams for line in stream], fold * length + row), r)
            present, first = delayed(m, streaming, r), delayed(m, begins, r)
            for c in range(columns):
                spare, used, total = (Signal(signed(WORD)), Signal(signed(WORD)), Signal(signed(SUM), name=f"down_{r}_{c}"))
                writes, comes = delayed(m, loading & (load_row == r), c), delayed(m, words[c], c)
                word = Signal(signed(WORD))
                with m.If(writes):
                    m.d.sync += (spare if self.double else used).eq(comes)
                if self.double:
                    m.d.comb += word.eq(Mux(first, spare, used))
                    with m.If(first):
                        m.d.sync += used.eq(spare)
                else:
                    m.d.comb += word.eq(used)
                m.d.sync += total.eq(downward[c] + operand * word)
                downward[c] = total
                operand, present, first = delayed(m, operand, 1), delayed(m, present, 1), delayed(m, first, 1)
            at_bottom = present
        for c in range(columns):
            m.d.comb += self.sums[c].eq(delayed(m, downward[c], columns - 1 - c))
        m.d.comb += self.valid.eq(at_bottom)
        return m


class OutputStationary(Elaboratable):
    """An output-stationary array: R x C sums stay while T columns of R and T rows of C words stream past, then leave row by row.

    ``left``: for each fold T columns of R words; ``top``: for each fold T rows of C words. ``banks``: sums that each element has
    room for; with 2 the next fold is streamed while the last one leaves. ``valid``, ``sums``: a row of results leaves.
    """

    def __init__(self, left: Sequence[Matrix], top: Sequence[Matrix], *, banks: int) -> None:
        self.left, self.top, self.banks = left, top, banks
        self.rows, self.columns, self.length = len(left[0][0]), len(top[0][0]), len(left[0])
        self.valid = Signal()
        self.sums = [Signal(signed(SUM), name=f"sum_{c}") for c in range(self.columns)]

    def elaborate(self, _: object) -> Module:
        """The hardware."""
        m = Module()
        folds, rows, columns, length, banks = len(self.left), self.rows, self.columns, self.length, self.banks
        step, streaming, begins = Signal(16), Signal(), Signal()
        begun, whole, gone = Signal(16), Signal(16), Signal(16)
        ends, leaves, last_row = Signal(), Signal(), Signal()
        # the streamer: a fold begins when a bank of sums is free
        m.d.comb += streaming.eq((step > 0) | ((begun < folds) & (begun < gone + banks)))
        m.d.comb += begins.eq(streaming & (step == 0))
        fold = Signal(16)
        m.d.comb += fold.eq(Mux(begins, begun, begun - 1))
        m.d.sync += begun.eq(begun + begins)
        with m.If(streaming):
            m.d.sync += step.eq(Mux(step == length - 1, 0, step + 1))
        # a fold is whole when its last element has added its last product; it leaves row by row
        m.d.comb += ends.eq(delayed(m, streaming & (step == length - 1), rows + columns - 1))
        m.d.sync += whole.eq(whole + ends)
        out_row = Signal(16)
        m.d.comb += leaves.eq((out_row > 0) | (gone < whole + ends))
        m.d.comb += last_row.eq(leaves & (out_row == rows - 1))
        with m.If(leaves):
            m.d.sync += out_row.eq(Mux(last_row, 0, out_row + 1))
        m.d.sync += gone.eq(gone + last_row)
        sums = [[[Signal(signed(SUM), name=f"sum_{b}_{r}_{c}") for c in range(columns)] for r in range(rows)]
                for b in range(banks)]
        bank = fold % banks
        above: list[Value] = [delayed(m, memory([line[c] for one in self.top for line in one], fold * length + step), c)
                              for c in range(columns)]
        for r in range(rows):
            beside: Value = delayed(m, memory([line[r] for one in self.left for line in one], fold * length + step), r)
            present, first, which = delayed(m, streaming, r), delayed(m, begins, r), delayed(m, bank, r)
            for c in range(columns):
                for b in range(banks):
                    with m.If(present & (which == b)):
                        m.d.sync += sums[b][r][c].eq(Mux(first, 0, sums[b][r][c]) + beside * above[c])
                beside, above[c] = delayed(m, beside, 1), delayed(m, above[c], 1)
                present, first, which = delayed(m, present, 1), delayed(m, first, 1), delayed(m, which, 1)
        for c in range(columns):
            m.d.comb += self.sums[c].eq(Array([sums[b][r][c] for b in range(banks) for r in range(rows)])[
                gone % banks * rows + out_row])
        m.d.comb += self.valid.eq(leaves)
        return m


class MatrixUnit(Elaboratable):
    """A matrix unit: it takes an m x k and a k x n operand every so many clocks, a slice of k in each, and its products come out
    of a pipeline.

    ``left``: for each issue m rows of k words; ``top``: for each k rows of n words. ``interval``: clocks from one issue to the
    next, which divides k into slices; ``depth``: stages behind the last slice. ``valid``, ``sums``: m x n products leave.
    """

    def __init__(self, left: Sequence[Matrix], top: Sequence[Matrix], *, interval: int, depth: int) -> None:
        self.left, self.top, self.interval, self.depth = left, top, interval, depth
        self.m, self.n, self.k = len(left[0]), len(top[0][0]), len(top[0])
        self.valid = Signal()
        self.sums = [Signal(signed(SUM), name=f"sum_{i}") for i in range(self.m * self.n)]

    def elaborate(self, _: object) -> Module:
        """The hardware."""
        m = Module()
        issued, part, busy, last = Signal(16), Signal(16), Signal(), Signal()
        slices = self.k // self.interval
        m.d.comb += busy.eq(issued < len(self.left))
        m.d.comb += last.eq(busy & (part == self.interval - 1))
        with m.If(busy):
            m.d.sync += part.eq(Mux(last, 0, part + 1))
        m.d.sync += issued.eq(issued + last)
        place = issued * self.interval + part
        for row in range(self.m):
            for column in range(self.n):
                held = Signal(signed(SUM), name=f"held_{row}_{column}")
                total: Value = Mux(part == 0, 0, held)
                for word in range(slices):
                    one = memory([lines[row][p * slices + word] for lines in self.left for p in range(self.interval)], place)
                    other = memory([lines[p * slices + word][column] for lines in self.top for p in range(self.interval)], place)
                    total = total + one * other
                now = Signal(signed(SUM), name=f"now_{row}_{column}")
                m.d.comb += now.eq(total)
                m.d.sync += held.eq(now)
                m.d.comb += self.sums[row * self.n + column].eq(delayed(m, now, self.depth))
        m.d.comb += self.valid.eq(delayed(m, last, self.depth))
        return m
