// The timeline: what is in view, what is focused, selected and found, and its sums.

const NARROWEST = 8 * WORDS.ticks; // ticks in view at the most zoomed

class TimelineView {
  constructor(operator, index, told) {
    this.operator = operator;
    this.index = index;
    this.told = told; // called when what a link should say has changed
    this.track = new Track(TIMELINES[index]);
    this.view = { from: 0, to: this.track.ticks };
    Object.assign(this, { lane: 0, focus: null, chosen: null, found: null, place: null });
    Object.assign(this, timelineFrame(this));
    this.main = new Painter(this.canvas);
    this.overview = new Painter(this.strip);
    new Hands(this).listen();
    this.resize();
  }

  // -- what is in view -----------------------------------------------------------------------------------------------

  show(from, to, quiet = false) {
    const span = Math.max(Math.min(NARROWEST, this.track.ticks), Math.min(this.track.ticks, to - from));
    const start = Math.max(0, Math.min(this.track.ticks - span, (from + to - span) / 2));
    this.view = { from: start, to: start + span };
    this.redraw();
    if (!quiet) this.told();
  }

  zoom(factor, around = (this.view.from + this.view.to) / 2) {
    const { from, to } = this.view;
    const span = Math.max(NARROWEST, Math.min(this.track.ticks, (to - from) * factor));
    const share = (around - from) / (to - from);
    const start = Math.max(0, Math.min(this.track.ticks - span, around - share * span));
    this.show(start, start + span);
  }

  move(share) {
    const { from, to } = this.view;
    const step = Math.max(-from, Math.min(this.track.ticks - to, share * (to - from)));
    this.show(from + step, to + step);
  }

  zoomToFocus() {
    if (!this.focus) return;
    const { from, to } = this.focus;
    this.show((3 * from - to) / 2, (3 * to - from) / 2);
  }

  select(a, b) {
    this.chosen = a === b ? null : { from: Math.min(a, b), to: Math.max(a, b) };
    this.redraw();
  }

  clear() {
    this.chosen = null;
    this.focus = null;
    this.redraw();
  }

  // A click: the lane, and what it did there.
  point(lane, tick) {
    this.lane = lane.number;
    const i = lane.exact ? lane.at(tick) : -1;
    if (i >= 0) this.read(lane, i);
    this.redraw();
    this.told();
  }

  hash(from = this.view.from, to = this.view.to, lane = this.track.lanes[this.lane].name) {
    const cycles = (tick) => Math.round(Math.max(0, Math.min(this.track.ticks, tick)) / WORDS.ticks);
    const [first, last] = [cycles(from), cycles(to)];
    const names = `lane=${encodeURIComponent(lane)}&op=${encodeURIComponent(this.operator.name)}`;
    return `#t=${first}-${Math.max(first + 1, last)}&${names}`;
  }

  resize() {
    this.overview.resize(28);
    this.main.resize(AXIS + this.track.lanes.length * (ROW + GAP) + 2);
    this.redraw();
  }

  redraw() {
    if (this.waiting) return;
    this.waiting = requestAnimationFrame(() => this.paint());
  }

  paint() {
    cancelAnimationFrame(this.waiting);
    this.waiting = 0;
    this.main.draw(this.track, this.view, this);
    this.overview.overview(this.track, this.view);
    const [from, to] = [this.view.from, this.view.to].map((tick) => Math.round(tick / WORDS.ticks));
    Object.assign(this.canvas.dataset, { from, to, lane: this.track.lanes[this.lane].name });
    this.canvas.setAttribute(
      "aria-label",
      `Timeline, cycles ${grouped(from)} to ${grouped(to)}, lane ${this.track.lanes[this.lane].name}`,
    );
    this.link.setAttribute("href", this.hash());
    this.drawSums();
  }

  // Sums of the array lanes over the selected window, or what is in view.
  drawSums() {
    const { from, to } = this.chosen ?? this.view;
    const arrays = this.track.lanes.filter((lane) => lane.kind === "array");
    const spent = new Float64Array(IDLE + 1);
    let lanes = 0;
    for (const lane of arrays) {
      lane.colours(from, to).forEach((ticks, colour) => {
        spent[colour] += ticks;
      });
      lanes += lane.lanes;
    }
    const all = (to - from) * lanes;
    const time = humanTime((to - from) / WORDS.ticks / RUN.clock_hz);
    const round = (ticks) => Math.round((ticks / WORDS.ticks) * 100) / 100;
    const order = [...spent.keys()].filter((colour) => round(spent[colour]) > 0).sort((a, b) => spent[b] - spent[a]);
    const row = (name, ticks) =>
      el("tr", {}, el("th", { scope: "row" }, ...name), cell(round(ticks)), cell(ticks / all, percent(ticks / all)));
    this.sums.replaceChildren(
      el("h3", {}, this.chosen ? "In the selection" : "In view"),
      table(
        { "data-what": this.chosen ? "selection" : "view" },
        `Cycles ${grouped(round(from))} to ${grouped(round(to))} (${time})${lanes === 1 ? "" : `, ${lanes} array lanes`}`,
        ["array", ["lane-cycles", "number"], ["share", "number"]],
        order.map((colour) => row([swatch(WORDS.colours[colour].code), WORDS.colours[colour].name], spent[colour])),
        [row(["sum"], all)],
      ),
    );
  }

  // -- focus and search ----------------------------------------------------------------------------------------------

  sentence(lane, i) {
    const [from, to] = [lane.starts[i] / WORDS.ticks, lane.ends[i] / WORDS.ticks];
    const state = lane.states[i];
    const tensor = this.track.labels[lane.labels[i]];
    const what = state === 0 ? "busy" : `${WORDS.colours[colourOf(state)].name} (${phaseOf(state)})`;
    const whose = tensor ? `, ${state === 0 ? "" : "waits for "}${tensor}` : "";
    const lasts = `${grouped(to - from)} (${humanTime((to - from) / RUN.clock_hz)})`;
    return `${lane.name}: ${what}${whose}\ncycles ${grouped(from)} to ${grouped(to)}: ${lasts}`;
  }

  // Focus an interval where it is.
  read(lane, i) {
    this.lane = lane.number;
    this.place = { tick: lane.starts[i], lane: lane.number };
    this.focus = { from: lane.starts[i], to: lane.ends[i], index: i };
    this.readout.textContent = this.sentence(lane, i).replace("\n", ", ");
  }

  // Focus an interval and bring it into view.
  focusOn(lane, i) {
    this.read(lane, i);
    this.canvas.parentElement.scrollTop = Math.max(
      0,
      AXIS + lane.number * (ROW + GAP) - this.canvas.parentElement.clientHeight / 2,
    );
    const span = this.view.to - this.view.from;
    const wide = Math.max(NARROWEST, 4 * (this.focus.to - this.focus.from));
    if (this.focus.from < this.view.from || this.focus.to > this.view.to || span > 50 * wide) {
      const half = Math.max(wide, Math.min(span, 10 * wide)) / 2;
      const middle = (this.focus.from + this.focus.to) / 2;
      this.show(middle - half, middle + half);
    } else {
      this.redraw();
      this.told();
    }
  }

  step(by) {
    const lane = this.track.lanes[this.lane];
    if (!lane.exact || !lane.starts.length) return;
    const middle = (this.view.from + this.view.to) / 2;
    const now = this.focus ? this.focus.index + by : Math.max(0, below(lane.starts, middle) - 1);
    this.focusOn(lane, Math.max(0, Math.min(lane.starts.length - 1, now)));
  }

  turn(by) {
    this.lane = Math.max(0, Math.min(this.track.lanes.length - 1, this.lane + by));
    const lane = this.track.lanes[this.lane];
    const tick = this.focus ? this.focus.from : (this.view.from + this.view.to) / 2;
    this.focus = null;
    const i = lane.exact && lane.starts.length ? Math.max(0, below(lane.starts, tick + 1) - 1) : -1;
    if (i >= 0 && lane.ends[i] > this.view.from && lane.starts[i] < this.view.to) return this.focusOn(lane, i);
    this.readout.textContent = `${lane.name}: idle here`;
    this.redraw();
    return this.told();
  }

  look() {
    const query = this.query.value.trim();
    this.found = query ? this.track.finder(query) : null;
    this.place = null;
    const count = this.found ? this.track.count(this.found) : 0;
    this.hits.textContent = this.found ? `${grouped(count)} match${count === 1 ? "" : "es"}` : "";
  }

  jump(forward) {
    if (!this.found) return;
    const hit = this.track.next(this.found, this.place, forward);
    if (hit) this.focusOn(hit.lane, hit.index);
  }

  // Of a column of pixels: what the lane did in it.
  shares(lane, from, to) {
    const [low, high] = [Math.max(0, from), Math.min(this.track.ticks, to)];
    const spent = lane.colours(low, high);
    const order = [...spent.keys()].filter((colour) => spent[colour] > 1e-6).sort((a, b) => spent[b] - spent[a]);
    const share = (colour) => percent(spent[colour] / ((high - low) * lane.lanes), 0);
    const parts = order.map((colour) => `${WORDS.colours[colour].name} ${share(colour)}`);
    const [first, last] = [Math.floor(low / WORDS.ticks), Math.ceil(high / WORDS.ticks)];
    return `${lane.name}, cycles ${grouped(first)} to ${grouped(last)}\n${parts.join(", ")}`;
  }
}
