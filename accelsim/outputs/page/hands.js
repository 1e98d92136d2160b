// How mouse, wheel, touch and keys change what the timeline shows.

class Hands {
  constructor(timeline) {
    this.timeline = timeline;
    this.pointers = new Map(); // where each finger or button that is down was last
    this.selecting = false;
    this.begin = null; // of the drag under way: where, whether it selects, whether it has moved
  }

  listen() {
    const { canvas, strip, selector, tip } = this.timeline;
    canvas.addEventListener("keydown", (event) => this.key(event));
    canvas.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    canvas.addEventListener("pointerdown", (event) => this.press(event));
    canvas.addEventListener("pointermove", (event) => this.drag(event));
    for (const name of ["pointerup", "pointercancel"]) canvas.addEventListener(name, (event) => this.release(event));
    canvas.addEventListener("pointerleave", () => tip.toggleAttribute("hidden", true));
    canvas.addEventListener("dblclick", (event) =>
      this.timeline.zoom(event.shiftKey ? 4 : 0.25, this.tickAt(event.offsetX)),
    );
    selector.addEventListener("click", () => this.toggleSelecting());
    strip.addEventListener("pointerdown", (event) => {
      strip.setPointerCapture(event.pointerId);
      this.centre(event.offsetX);
    });
    strip.addEventListener("pointermove", (event) => {
      if (event.buttons) this.centre(event.offsetX);
    });
  }

  toggleSelecting() {
    this.selecting = !this.selecting;
    this.timeline.selector.setAttribute("aria-pressed", String(this.selecting));
    this.timeline.canvas.classList.toggle("selecting", this.selecting);
  }

  tickAt(x) {
    const { view, main } = this.timeline;
    return view.from + Math.max(0, Math.min(1, (x - main.left) / main.plot)) * (view.to - view.from);
  }

  laneAt(y) {
    return this.timeline.track.lanes[Math.floor((y - AXIS) / (ROW + GAP))] ?? null;
  }

  // Of the whole run's strip.
  centre(x) {
    const { overview, track, view } = this.timeline;
    const middle = Math.max(0, Math.min(1, (x - overview.left) / overview.plot)) * track.ticks;
    const half = (view.to - view.from) / 2;
    const at = Math.max(half, Math.min(track.ticks - half, middle));
    this.timeline.show(at - half, at + half);
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { timeline } = this;
    const far = event.shiftKey ? 0.8 : 0.15;
    const acts = {
      ArrowLeft: () => timeline.move(-far),
      ArrowRight: () => timeline.move(far),
      ArrowUp: () => timeline.turn(-1),
      ArrowDown: () => timeline.turn(1),
      "+": () => timeline.zoom(0.5),
      "=": () => timeline.zoom(0.5),
      "-": () => timeline.zoom(2),
      _: () => timeline.zoom(2),
      Home: () => timeline.show(0, timeline.track.ticks),
      ",": () => timeline.step(-1),
      ".": () => timeline.step(1),
      Enter: () => timeline.zoomToFocus(),
      n: () => timeline.jump(true),
      p: () => timeline.jump(false),
      Escape: () => timeline.clear(),
    };
    if (!Object.hasOwn(acts, event.key)) return;
    event.preventDefault();
    acts[event.key]();
  }

  wheel(event) {
    const { timeline } = this;
    if (!event.ctrlKey && document.activeElement !== timeline.canvas) return;
    event.preventDefault();
    const sideways = event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY);
    if (sideways) timeline.move((event.deltaX || event.deltaY) / timeline.main.plot);
    else timeline.zoom(Math.exp(Math.max(-1, Math.min(1, event.deltaY / 300))), this.tickAt(event.offsetX));
  }

  press(event) {
    const { canvas, tip } = this.timeline;
    canvas.setPointerCapture(event.pointerId);
    this.pointers.set(event.pointerId, { x: event.offsetX, y: event.offsetY });
    this.begin = { tick: this.tickAt(event.offsetX), select: event.shiftKey || this.selecting, moved: false };
    tip.hidden = true;
  }

  drag(event) {
    const { timeline } = this;
    const x = event.offsetX;
    const before = this.pointers.get(event.pointerId);
    if (!before) {
      this.hover(event);
      return;
    }
    const other = [...this.pointers].find(([id]) => id !== event.pointerId)?.[1];
    this.pointers.set(event.pointerId, { x, y: event.offsetY });
    if (x !== before.x) this.begin.moved = true;
    if (other) {
      const [was, is] = [Math.abs(before.x - other.x), Math.abs(x - other.x)];
      if (was > 10 && is > 10) timeline.zoom(was / is, this.tickAt((x + other.x) / 2));
    } else if (this.begin.select) {
      timeline.select(this.begin.tick, this.tickAt(x));
    } else {
      timeline.canvas.classList.add("dragging");
      timeline.move((before.x - x) / timeline.main.plot);
    }
  }

  release(event) {
    const { timeline } = this;
    if (!this.pointers.delete(event.pointerId)) return;
    timeline.canvas.classList.remove("dragging");
    const lane = this.laneAt(event.offsetY);
    if (this.begin.moved || this.begin.select || !lane || event.type === "pointercancel") return;
    timeline.point(lane, this.tickAt(event.offsetX));
  }

  hover(event) {
    const { timeline } = this;
    const { tip, main, view } = timeline;
    const lane = this.laneAt(event.offsetY);
    tip.hidden = !lane || event.offsetX < main.left || event.pointerType === "touch";
    if (tip.hidden) return;
    const tick = this.tickAt(event.offsetX);
    const i = lane.exact ? lane.at(tick) : -1;
    const span = (view.to - view.from) / main.plot;
    const wide = i >= 0 && lane.ends[i] - lane.starts[i] > span;
    tip.textContent = wide ? timeline.sentence(lane, i) : timeline.shares(lane, tick - span / 2, tick + span / 2);
    const field = timeline.canvas.closest(".field").getBoundingClientRect();
    const left = Math.min(event.clientX - field.left + 14, Math.max(0, field.width - tip.offsetWidth - 4));
    Object.assign(tip.style, { left: `${left}px`, top: `${event.clientY - field.top + 18}px` });
  }
}
