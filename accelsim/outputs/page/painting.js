// Lanes on a canvas: intervals one by one where they are wide enough, and else columns of pixels, each a stack of the shares
// of its time, busy lowest, exact to the tick.

const ROW = 20;
const GAP = 4;
const AXIS = 26;
const FEWEST_PIXELS = 3; // of an interval, on average, below which columns are drawn

function inkOf(colour) {
  const [red, green, blue] = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
  return 0.299 * red + 0.587 * green + 0.114 * blue > 140 ? "#000000" : "#ffffff";
}

function themeColours() {
  const style = getComputedStyle(document.documentElement);
  return Object.fromEntries(
    ["paper", "ink", "faint", "rule", "plate", "accent"].map((name) => [
      name,
      style.getPropertyValue(`--${name}`).trim(),
    ]),
  );
}

// Round numbers of cycles to write at an axis.
function axisTicks(from, to, most) {
  const rough = Math.max(1, (to - from) / most);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((one) => one * power).find((one) => one >= rough);
  const ticks = [];
  for (let at = Math.ceil(from / step) * step; at <= to; at += step) ticks.push(at);
  return ticks;
}

function shorten(context, text, width) {
  if (context.measureText(text).width <= width) return text;
  let kept = text.length;
  while (kept > 1 && context.measureText(`${text.slice(0, kept)}\u2026`).width > width) kept -= 1;
  return `${text.slice(0, kept)}\u2026`;
}

class Painter {
  constructor(canvas) {
    this.canvas = canvas;
    this.low = new Float64Array(STATES);
    this.high = new Float64Array(STATES);
    this.stack = new Float64Array(IDLE + 1);
  }

  resize(height) {
    const scale = window.devicePixelRatio || 1;
    this.width = Math.max(200, this.canvas.clientWidth);
    this.height = height;
    this.canvas.style.height = `${height}px`;
    [this.canvas.width, this.canvas.height] = [Math.round(this.width * scale), Math.round(height * scale)];
    this.context = this.canvas.getContext("2d");
    this.context.setTransform(scale, 0, 0, scale, 0, 0);
    this.context.font = `12px ${getComputedStyle(document.body).fontFamily}`;
    this.left = Math.min(150, Math.round(this.width * 0.24));
    this.plot = this.width - this.left - 8;
  }

  // All of the view: `view` {from, to} in ticks; `marks` what is focused and selected.
  draw(track, view, marks) {
    const colours = themeColours();
    const { context } = this;
    context.clearRect(0, 0, this.width, this.height);
    this.axis(view, colours);
    track.lanes.forEach((lane, number) => {
      const top = AXIS + number * (ROW + GAP);
      context.fillStyle = marks.lane === number ? colours.accent : colours.ink;
      context.textAlign = "right";
      context.fillText(shorten(context, lane.name, this.left - 14), this.left - 8, top + 14);
      context.fillStyle = colours.plate;
      context.fillRect(this.left, top, this.plot, ROW);
      const [low, high] = lane.exact ? lane.inside(view.from, view.to) : [0, Infinity];
      const whole = lane.told(view.from) && lane.told(view.to);
      if (whole && high - low <= this.plot / FEWEST_PIXELS) this.blocks(lane, view, top, ROW, low, high, track.labels);
      else this.columns(lane, view, top, ROW);
    });
    this.marks(track, view, marks, colours);
  }

  x(view, tick) {
    return this.left + ((tick - view.from) / (view.to - view.from)) * this.plot;
  }

  axis(view, colours) {
    const { context } = this;
    const [from, to] = [view.from / WORDS.ticks, view.to / WORDS.ticks];
    for (const cycles of axisTicks(from, to, this.plot / 110)) {
      const x = Math.round(this.x(view, cycles * WORDS.ticks)) + 0.5;
      context.strokeStyle = colours.rule;
      context.beginPath();
      context.moveTo(x, AXIS - 7);
      context.lineTo(x, this.height);
      context.stroke();
      context.fillStyle = colours.faint;
      context.textAlign = x < this.left + 24 ? "left" : "center";
      if (x < this.width - 24) context.fillText(grouped(cycles), x, 14);
    }
    context.textAlign = "right";
    context.fillText("cycles", this.left - 8, 14);
  }

  blocks(lane, view, top, height, low, high, labels) {
    const { context } = this;
    context.textAlign = "center";
    for (let i = low; i < high; i += 1) {
      const left = Math.max(this.left, this.x(view, lane.starts[i]));
      const right = Math.min(this.left + this.plot, this.x(view, lane.ends[i]));
      const { colour } = WORDS.colours[colourOf(lane.states[i])];
      context.fillStyle = colour;
      context.fillRect(left, top, right - left, height);
      if (right - left > 6 && right < this.left + this.plot) {
        context.fillStyle = "rgba(255,255,255,0.55)";
        context.fillRect(right - 0.75, top, 0.75, height);
      }
      const named = (lane.states[i] === 0) !== (lane.kind === "array");
      const text = named ? labels[lane.labels[i]] : undefined;
      if (text && context.measureText(text).width + 6 <= right - left) {
        context.fillStyle = inkOf(colour);
        context.fillText(text, (left + right) / 2, top + 14);
      }
    }
  }

  columns(lane, view, top, height) {
    const { context } = this;
    let [low, high] = [lane.sumsTo(view.from, this.low), this.high];
    const span = (view.to - view.from) / this.plot;
    for (let column = 0; column < this.plot; column += 1) {
      lane.sumsTo(Math.min(view.to, view.from + (column + 1) * span), high);
      this.stack.fill(0);
      for (let state = 0; state < STATES; state += 1) this.stack[colourOf(state)] += high[state] - low[state];
      let bottom = top + height;
      for (let colour = 0; colour < IDLE; colour += 1) {
        if (this.stack[colour] <= 0) continue;
        const part = (this.stack[colour] / (span * lane.lanes)) * height;
        context.fillStyle = WORDS.colours[colour].colour;
        context.fillRect(this.left + column, bottom - part, 1, part);
        bottom -= part;
      }
      [low, high] = [high, low];
    }
  }

  marks(track, view, { lane, focus, chosen }, colours) {
    const { context } = this;
    if (chosen) {
      const [left, right] = [this.x(view, chosen.from), this.x(view, chosen.to)].map((x) =>
        Math.max(this.left, Math.min(this.left + this.plot, x)),
      );
      context.strokeStyle = colours.accent;
      context.globalAlpha = 0.18;
      context.fillStyle = colours.accent;
      context.fillRect(left, AXIS - 4, right - left, this.height - AXIS);
      context.globalAlpha = 1;
      context.strokeRect(left, AXIS - 4, Math.max(1, right - left), this.height - AXIS);
    }
    if (focus && focus.to > view.from && focus.from < view.to) {
      const left = Math.max(this.left, this.x(view, focus.from));
      const right = Math.min(this.left + this.plot, this.x(view, focus.to));
      const top = AXIS + lane * (ROW + GAP);
      context.lineWidth = 3;
      context.strokeStyle = colours.paper;
      context.strokeRect(left - 2, top - 1, Math.max(3, right - left + 4), ROW + 2);
      context.lineWidth = 1.5;
      context.strokeStyle = colours.ink;
      context.strokeRect(left - 2, top - 1, Math.max(3, right - left + 4), ROW + 2);
      context.lineWidth = 1;
    }
  }

  // The whole run in one strip, and which part of it is in view.
  overview(track, view) {
    const colours = themeColours();
    const { context } = this;
    context.clearRect(0, 0, this.width, this.height);
    const all = { from: 0, to: track.ticks };
    context.textAlign = "right";
    context.fillStyle = colours.faint;
    context.fillText("whole run", this.left - 8, 18);
    context.fillStyle = colours.plate;
    context.fillRect(this.left, 6, this.plot, 16);
    this.columns(track.lanes[0], all, 6, 16);
    const [left, right] = [this.x(all, view.from), this.x(all, view.to)];
    context.fillStyle = colours.paper;
    context.globalAlpha = 0.6;
    context.fillRect(this.left, 6, left - this.left, 16);
    context.fillRect(right, 6, this.left + this.plot - right, 16);
    context.globalAlpha = 1;
    context.strokeStyle = colours.ink;
    context.strokeRect(Math.round(left) + 0.5, 4.5, Math.max(2, Math.round(right - left)), 19);
  }
}
