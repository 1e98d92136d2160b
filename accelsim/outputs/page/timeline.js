// The timeline: what is in view, what is focused, selected and found, and how mouse, wheel, touch and keys change it.

const NARROWEST = 8 * WORDS.ticks; // ticks in view at the most zoomed

class TimelineView {
  constructor(operator, index, told) {
    this.operator = operator;
    this.index = index;
    this.told = told; // called when what a link should say has changed
    this.track = new Track(TIMELINES[index]);
    this.view = { from: 0, to: this.track.ticks };
    Object.assign(this, { lane: 0, focus: null, chosen: null, selecting: false, found: null, place: null, pointers: new Map() });
    this.build();
  }

  build() {
    const button = (text, label, act, more = {}) => el("button", { type: "button", "aria-label": label, title: label, onclick: act, ...more }, text);
    this.canvas = el("canvas", { class: "view", id: "lanes", tabindex: 0, role: "application", "aria-roledescription": "timeline", "aria-describedby": "timeline-keys readout" });
    this.strip = el("canvas", { class: "overview", "aria-hidden": "true" });
    this.tip = el("div", { class: "tip", hidden: true });
    this.readout = el("p", { class: "readout", id: "readout", role: "status" }, "Point at an interval, or click into the timeline, to read it.");
    this.sums = el("div", { id: "window-sums" });
    this.query = el("input", { type: "search", id: "find", placeholder: "Find cause, tensor, lane\u2026", "aria-label": "Find intervals by cause, tensor or lane",
      oninput: () => this.look(), onkeydown: (event) => { if (event.key === "Enter") this.jump(!event.shiftKey); } });
    this.hits = el("span", { class: "sub", id: "hits", "aria-live": "polite" });
    this.link = el("a", { id: "link", href: "#" }, "Link to this view");
    this.selector = button("Select", "Select a window by dragging", () => this.toggleSelecting(), { "aria-pressed": "false" });
    this.main = new Painter(this.canvas);
    this.overview = new Painter(this.strip);
    const { track } = this;
    const shown = WORDS.colours.filter((_, colour) => track.lanes.some((lane) => lane.colours(0, track.ticks)[colour] > 1e-6));
    section("timeline", ["Timeline", whose(this.operator)],
      el("p", { class: "note" }, kind("measured"), ` ${this.describe()}`),
      el("div", { class: "tools" }, button("\u2212", "Zoom out", () => this.zoom(2)), button("+", "Zoom in", () => this.zoom(0.5)), button("Whole run", "Show the whole run", () => this.show(0, track.ticks)), this.selector,
        el("span", { class: "space" }), this.query, button("Previous", "Previous match", () => this.jump(false)), button("Next", "Next match", () => this.jump(true)), this.hits),
      el("ul", { class: "legend", "aria-label": "Colours" }, shown.map((one) => el("li", {}, swatch(one.code), el("a", { href: `#word-${one.code}`, title: one.sentence }, one.name)))),
      el("div", { class: "field" }, this.strip, el("div", { class: "lanes" }, this.canvas), this.tip),
      this.readout,
      el("p", { class: "note hint", id: "timeline-keys" }, "Drag moves, shift and drag selects, double click zooms; after a click into it the wheel zooms (or with Ctrl at once). Keys: ",
        ...[["\u2190 \u2192", "move"], ["+ \u2212", "zoom"], ["Home", "whole run"], ["\u2191 \u2193", "lane"], [", .", "interval before, next"], ["Enter", "zoom to it"], ["n p", "match"], ["Esc", "no selection"]].flatMap(([key, what]) => [el("kbd", {}, key), ` ${what}  `])),
      el("div", { class: "two" }, this.sums, this.bookmarks()),
      el("p", {}, this.link));
    this.listen();
    this.resize();
  }

  describe() {
    const { track } = this;
    const data = TIMELINES[this.index];
    const parts = [`${grouped(track.cycles)} cycles, ${track.lanes.length} lanes`];
    if (data.intervals) {
      const { first, last } = data.intervals;
      parts.push(first === 0 && last === track.cycles ? `all ${grouped(track.intervals)} intervals` : `intervals of cycles ${grouped(first)} to ${grouped(last)}; bins of ${grouped(data.bins.cycles)} cycles elsewhere`);
    } else {
      parts.push(`drawn from bins of ${grouped(data.bins.cycles)} cycles${data.left_out ? ": intervals are embedded for the operators with most cycles, as far as the page stays small" : ""}`);
    }
    if (data.rows_dropped) parts.push(`${grouped(data.rows_dropped)} intervals were beyond what a run keeps and are in the bins alone`);
    if (data.note) parts.push(data.note);
    return `${parts.join("; ")}.`;
  }

  bookmarks() {
    const runs = this.track.longestStalls(8);
    if (!runs.length) return el("div", {}, el("h3", {}, "Longest stalls"), el("p", { class: "sub" }, "The array never stalled."));
    return el("div", {}, el("h3", {}, "Longest stalls"), el("ol", { class: "marks", id: "bookmarks" }, runs.map((run) => {
      const spent = run.lane.colours(run.from, run.to);
      let most = 1;
      for (let colour = 1; colour < IDLE; colour += 1) if (spent[colour] > spent[most]) most = colour;
      const margin = (run.to - run.from) * 0.5;
      const href = this.hash(run.from - margin, run.to + margin, run.lane.name);
      return el("li", {}, el("a", { href, "data-stalled": run.stalled / WORDS.ticks }, `${grouped(Math.round(run.stalled / WORDS.ticks))} cycles`), ` ${WORDS.colours[most].name}, from ${grouped(Math.floor(run.from / WORDS.ticks))} on ${run.lane.name}`);
    })));
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

  hash(from = this.view.from, to = this.view.to, lane = this.track.lanes[this.lane].name) {
    const cycles = (tick) => Math.round(Math.max(0, Math.min(this.track.ticks, tick)) / WORDS.ticks);
    const [first, last] = [cycles(from), cycles(to)];
    return `#t=${first}-${Math.max(first + 1, last)}&lane=${encodeURIComponent(lane)}&op=${encodeURIComponent(this.operator.name)}`;
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
    this.canvas.setAttribute("aria-label", `Timeline, cycles ${grouped(from)} to ${grouped(to)}, lane ${this.track.lanes[this.lane].name}`);
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
      lane.colours(from, to).forEach((ticks, colour) => { spent[colour] += ticks; });
      lanes += lane.lanes;
    }
    const all = (to - from) * lanes;
    const round = (ticks) => Math.round((ticks / WORDS.ticks) * 100) / 100;
    const order = [...spent.keys()].filter((colour) => round(spent[colour]) > 0).sort((a, b) => spent[b] - spent[a]);
    const row = (name, ticks) => el("tr", {}, el("th", { scope: "row" }, ...name), cell(round(ticks)), cell(ticks / all, percent(ticks / all)));
    this.sums.replaceChildren(el("h3", {}, this.chosen ? "In the selection" : "In view"), table({ "data-what": this.chosen ? "selection" : "view" },
      `Cycles ${grouped(round(from))} to ${grouped(round(to))} (${humanTime((to - from) / WORDS.ticks / RUN.clock_hz)})${lanes === 1 ? "" : `, ${lanes} array lanes`}`,
      ["array", ["lane-cycles", "number"], ["share", "number"]],
      order.map((colour) => row([swatch(WORDS.colours[colour].code), WORDS.colours[colour].name], spent[colour])), [row(["sum"], all)]));
  }

  // -- focus and search ----------------------------------------------------------------------------------------------

  sentence(lane, i) {
    const [from, to] = [lane.starts[i] / WORDS.ticks, lane.ends[i] / WORDS.ticks];
    const state = lane.states[i];
    const tensor = this.track.labels[lane.labels[i]];
    const what = state === 0 ? "busy" : `${WORDS.colours[colourOf(state)].name} (${phaseOf(state)})`;
    return `${lane.name}: ${what}${tensor ? `, ${state === 0 ? "" : "waits for "}${tensor}` : ""}\ncycles ${grouped(from)} to ${grouped(to)}: ${grouped(to - from)} (${humanTime((to - from) / RUN.clock_hz)})`;
  }

  focusOn(lane, i) {
    this.lane = lane.number;
    this.place = { tick: lane.starts[i], lane: lane.number };
    this.focus = { from: lane.starts[i], to: lane.ends[i], index: i };
    this.readout.textContent = this.sentence(lane, i).replace("\n", ", ");
    this.canvas.parentElement.scrollTop = Math.max(0, AXIS + lane.number * (ROW + GAP) - this.canvas.parentElement.clientHeight / 2);
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

  // -- hands ---------------------------------------------------------------------------------------------------------

  toggleSelecting() {
    this.selecting = !this.selecting;
    this.selector.setAttribute("aria-pressed", String(this.selecting));
    this.canvas.classList.toggle("selecting", this.selecting);
  }

  tickAt(x) {
    const { from, to } = this.view;
    return from + Math.max(0, Math.min(1, (x - this.main.left) / this.main.plot)) * (to - from);
  }

  laneAt(y) {
    const number = Math.floor((y - AXIS) / (ROW + GAP));
    return this.track.lanes[number] ?? null;
  }

  listen() {
    const { canvas, strip } = this;
    canvas.addEventListener("keydown", (event) => this.key(event));
    canvas.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    canvas.addEventListener("pointerdown", (event) => this.press(event));
    canvas.addEventListener("pointermove", (event) => this.drag(event));
    for (const name of ["pointerup", "pointercancel"]) canvas.addEventListener(name, (event) => this.release(event));
    canvas.addEventListener("pointerleave", () => { this.tip.hidden = true; });
    canvas.addEventListener("dblclick", (event) => this.zoom(event.shiftKey ? 4 : 0.25, this.tickAt(event.offsetX)));
    const centre = (event) => {
      const middle = Math.max(0, Math.min(1, (event.offsetX - this.overview.left) / this.overview.plot)) * this.track.ticks;
      const half = (this.view.to - this.view.from) / 2;
      const at = Math.max(half, Math.min(this.track.ticks - half, middle));
      this.show(at - half, at + half);
    };
    strip.addEventListener("pointerdown", (event) => { strip.setPointerCapture(event.pointerId); centre(event); });
    strip.addEventListener("pointermove", (event) => { if (event.buttons) centre(event); });
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const far = event.shiftKey ? 0.8 : 0.15;
    const zoomTo = () => this.focus && this.show(...[-1, 1].map((side) => (this.focus.from + this.focus.to) / 2 + side * (this.focus.to - this.focus.from)));
    const acts = {
      ArrowLeft: () => this.move(-far), ArrowRight: () => this.move(far), ArrowUp: () => this.turn(-1), ArrowDown: () => this.turn(1),
      "+": () => this.zoom(0.5), "=": () => this.zoom(0.5), "-": () => this.zoom(2), _: () => this.zoom(2),
      Home: () => this.show(0, this.track.ticks), ",": () => this.step(-1), ".": () => this.step(1), Enter: zoomTo,
      n: () => this.jump(true), p: () => this.jump(false),
      Escape: () => { this.chosen = null; this.focus = null; this.redraw(); },
    };
    if (!(event.key in acts)) return;
    event.preventDefault();
    acts[event.key]();
  }

  wheel(event) {
    if (!event.ctrlKey && document.activeElement !== this.canvas) return;
    event.preventDefault();
    const sideways = event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY);
    if (sideways) this.move((event.deltaX || event.deltaY) / this.main.plot);
    else this.zoom(Math.exp(Math.max(-1, Math.min(1, event.deltaY / 300))), this.tickAt(event.offsetX));
  }

  press(event) {
    this.canvas.setPointerCapture(event.pointerId);
    this.pointers.set(event.pointerId, { x: event.offsetX, y: event.offsetY });
    this.begin = { tick: this.tickAt(event.offsetX), select: event.shiftKey || this.selecting, moved: false };
    this.tip.hidden = true;
  }

  drag(event) {
    const before = this.pointers.get(event.pointerId);
    if (!before) return this.hover(event);
    const others = [...this.pointers].filter(([id]) => id !== event.pointerId).map(([, at]) => at);
    this.pointers.set(event.pointerId, { x: event.offsetX, y: event.offsetY });
    if (Math.abs(event.offsetX - before.x) > 0) this.begin.moved = true;
    if (others.length) {
      const [was, is] = [Math.abs(before.x - others[0].x), Math.abs(event.offsetX - others[0].x)];
      if (was > 10 && is > 10) this.zoom(was / is, this.tickAt((event.offsetX + others[0].x) / 2));
    } else if (this.begin.select) {
      const [a, b] = [this.begin.tick, this.tickAt(event.offsetX)];
      this.chosen = a === b ? null : { from: Math.min(a, b), to: Math.max(a, b) };
      this.redraw();
    } else {
      this.canvas.classList.add("dragging");
      this.move((before.x - event.offsetX) / this.main.plot);
    }
    return undefined;
  }

  release(event) {
    this.pointers.delete(event.pointerId);
    this.canvas.classList.remove("dragging");
    const lane = this.laneAt(event.offsetY);
    if (this.begin.moved || this.begin.select || !lane || event.type === "pointercancel") return;
    const i = lane.exact ? lane.at(this.tickAt(event.offsetX)) : -1;
    this.lane = lane.number;
    if (i >= 0) {
      Object.assign(this, { focus: { from: lane.starts[i], to: lane.ends[i], index: i }, place: { tick: lane.starts[i], lane: lane.number } });
      this.readout.textContent = this.sentence(lane, i).replace("\n", ", ");
    }
    this.redraw();
    this.told();
  }

  hover(event) {
    const lane = this.laneAt(event.offsetY);
    this.tip.hidden = !lane || event.offsetX < this.main.left || event.pointerType === "touch";
    if (this.tip.hidden) return;
    const tick = this.tickAt(event.offsetX);
    const i = lane.exact ? lane.at(tick) : -1;
    const span = (this.view.to - this.view.from) / this.main.plot;
    if (i >= 0 && lane.ends[i] - lane.starts[i] > span) this.tip.textContent = this.sentence(lane, i);
    else this.tip.textContent = this.shares(lane, tick - span / 2, tick + span / 2);
    const field = this.canvas.closest(".field").getBoundingClientRect();
    const [x, y] = [event.clientX - field.left, event.clientY - field.top];
    Object.assign(this.tip.style, { left: `${Math.min(x + 14, Math.max(0, field.width - this.tip.offsetWidth - 4))}px`, top: `${y + 18}px` });
  }

  // Of a column of pixels: what the lane did in it.
  shares(lane, from, to) {
    const [low, high] = [Math.max(0, from), Math.min(this.track.ticks, to)];
    const spent = lane.colours(low, high);
    const order = [...spent.keys()].filter((colour) => spent[colour] > 1e-6).sort((a, b) => spent[b] - spent[a]);
    return `${lane.name}, cycles ${grouped(Math.floor(low / WORDS.ticks))} to ${grouped(Math.ceil(high / WORDS.ticks))}\n${order.map((colour) => `${WORDS.colours[colour].name} ${percent(spent[colour] / ((high - low) * lane.lanes), 0)}`).join(", ")}`;
  }
}
