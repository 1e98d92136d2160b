// A timeline as typed arrays that answer two questions at any zoom in the time of a few look-ups: which intervals lie in a
// window, and how many ticks of it a lane spent in each state. For the second, sums are kept every so many intervals.

const STRIDE = 64; // intervals between two sums that are kept

function varints(text) {
  const bytes = Uint8Array.from(atob(text), (one) => one.charCodeAt(0));
  const values = new Float64Array(bytes.length);
  let count = 0;
  for (let at = 0; at < bytes.length; count += 1) {
    let value = 0;
    let scale = 1;
    for (; bytes[at] > 127; at += 1, scale *= 128) value += (bytes[at] - 128) * scale;
    values[count] = value + bytes[at] * scale;
    at += 1;
  }
  return values.subarray(0, count);
}

// How many of the sorted numbers are below a limit.
function below(sorted, limit) {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle] < limit) low = middle + 1;
    else high = middle;
  }
  return low;
}

// One row: `starts`, `ends` (ticks), `states` and `labels` of its intervals between `first` and `last`; bins elsewhere.
class Lane {
  constructor(about, number, cycles) {
    Object.assign(this, { name: about.name, kind: about.kind, lanes: about.lanes, number, cycles });
    this.exact = false;
    this.bins = null;
  }

  setIntervals(first, last, starts, ends, states, labels) {
    Object.assign(this, { exact: this.lanes === 1, first, last, starts, ends, states, labels });
    const sums = new Float64Array((Math.floor(starts.length / STRIDE) + 1) * STATES);
    const running = new Float64Array(STATES);
    for (let i = 0; i < starts.length; i += 1) {
      if (i % STRIDE === 0) sums.set(running, (i / STRIDE) * STATES);
      running[states[i]] += ends[i] - starts[i];
    }
    if (starts.length % STRIDE === 0) sums.set(running, (starts.length / STRIDE) * STATES);
    this.sums = sums;
  }

  // `sums`: ticks by state before each border of the bins.
  setBins(width, sums) {
    this.bins = { width, sums, count: sums.length / STATES - 1 };
  }

  told(tick) {
    return this.exact && tick >= this.first && tick <= this.last;
  }

  // Ticks by state from the run's begin to a tick.
  sumsTo(tick, out) {
    if (!this.told(tick)) return this.binSums(tick, out);
    if (this.first > 0) this.binSums(this.first, out);
    else out.fill(0);
    const next = below(this.starts, tick);
    const block = Math.floor(Math.max(0, next - 1) / STRIDE); // the last of them may be cut by the tick
    for (let state = 0; state < STATES; state += 1) out[state] += this.sums[block * STATES + state];
    for (let i = block * STRIDE; i < next; i += 1) out[this.states[i]] += Math.min(this.ends[i], tick) - this.starts[i];
    return out;
  }

  binSums(tick, out) {
    out.fill(0);
    if (!this.bins) return out;
    const { width, sums, count } = this.bins;
    const bin = Math.max(0, Math.min(count - 1, Math.floor(tick / width)));
    const end = Math.min((bin + 1) * width, this.cycles * WORDS.ticks);
    const part = Math.max(0, Math.min(1, (tick - bin * width) / Math.max(1, end - bin * width)));
    for (let state = 0; state < STATES; state += 1) {
      const before = sums[bin * STATES + state];
      out[state] = before + part * (sums[(bin + 1) * STATES + state] - before);
    }
    return out;
  }

  // Ticks by colour between two ticks: busy, the causes, and idle for the rest.
  colours(from, to) {
    const low = this.sumsTo(from, new Float64Array(STATES));
    const high = this.sumsTo(to, new Float64Array(STATES));
    const out = new Float64Array(IDLE + 1);
    for (let state = 0; state < STATES; state += 1) out[colourOf(state)] += high[state] - low[state];
    out[IDLE] = (to - from) * this.lanes - out.reduce((sum, ticks) => sum + ticks, 0);
    return out;
  }

  // The intervals that touch a window, as numbers [from, to).
  inside(from, to) {
    let low = below(this.starts, from);
    if (low > 0 && this.ends[low - 1] > from) low -= 1;
    return [low, below(this.starts, to)];
  }

  // The interval at a tick, or -1.
  at(tick) {
    const found = below(this.starts, tick + 1e-9) - 1;
    return found >= 0 && this.ends[found] > tick ? found : -1;
  }
}

class Track {
  constructor(data) {
    this.cycles = data.cycles;
    this.ticks = data.cycles * WORDS.ticks;
    this.labels = data.labels;
    this.lanes = data.rows.map((about, number) => new Lane(about, number, data.cycles));
    if (data.bins) this.decodeBins(data.bins);
    if (data.intervals) this.decodeIntervals(data.intervals);
  }

  decodeIntervals({ first, last, counts, words: listed, codes: text }) {
    const words = varints(listed);
    const codes = varints(text);
    let at = 0;
    this.lanes.forEach((lane, number) => {
      const count = counts[number];
      const [starts, ends, states, labels] = [
        new Float64Array(count),
        new Float64Array(count),
        new Uint8Array(count),
        new Int32Array(count),
      ];
      let tick = first * WORDS.ticks;
      for (let i = 0; i < count; i += 1, at += 1) {
        const word = 4 * codes[at];
        starts[i] = tick + words[word];
        tick = starts[i] + words[word + 1];
        ends[i] = tick;
        states[i] = words[word + 2];
        labels[i] = words[word + 3] - 1;
      }
      lane.setIntervals(first * WORDS.ticks, last * WORDS.ticks, starts, ends, states, labels);
    });
  }

  decodeBins({ cycles, count, words: listed, codes: text }) {
    const words = varints(listed);
    const begins = [];
    for (let at = 0; at < words.length; at += 1 + 2 * words[at]) begins.push(at);
    const codes = varints(text);
    this.lanes.forEach((lane, number) => {
      const sums = new Float64Array((count + 1) * STATES);
      for (let bin = 0; bin < count; bin += 1) {
        const [here, next] = [bin * STATES, (bin + 1) * STATES];
        sums.copyWithin(next, here, next);
        const word = begins[codes[number * count + bin]];
        for (let i = 0; i < words[word]; i += 1) sums[next + words[word + 1 + 2 * i]] += words[word + 2 + 2 * i];
      }
      lane.setBins(cycles * WORDS.ticks, sums);
    });
  }

  get intervals() {
    return this.lanes.reduce((sum, lane) => sum + (lane.exact ? lane.starts.length : 0), 0);
  }

  // The longest stretches in which an array did not run a step, whatever it waited for; of bins, those with most stalls.
  longestStalls(most) {
    const runs = [];
    for (const lane of this.lanes.filter((one) => one.kind === "array"))
      runs.push(...(lane.exact ? stretches(lane) : stalledBins(lane)));
    return runs
      .sort((a, b) => b.stalled - a.stalled || a.from - b.from || a.lane.number - b.lane.number)
      .slice(0, most);
  }

  // Which intervals a query finds: a table over states and labels for each lane. Every word of the query must occur, whole
  // if it is a letter or two (a tensor's name), else as a part.
  finder(query) {
    const wanted = query.toLowerCase().split(/\s+/).filter(Boolean);
    const columns = this.labels.length + 1;
    return this.lanes.map((lane) => {
      const found = new Uint8Array(STATES * columns);
      for (let state = 0; state < STATES; state += 1) {
        const colour = WORDS.colours[colourOf(state)];
        for (let label = -1; label < this.labels.length; label += 1) {
          const text =
            `${lane.name} ${lane.kind} ${colour.name} ${colour.code} ${phaseOf(state)} ${this.labels[label] ?? ""}`.toLowerCase();
          const whole = text.split(/[\s._[\]]+/);
          found[state * columns + label + 1] = wanted.every((word) =>
            word.length < 3 ? whole.includes(word) : text.includes(word),
          )
            ? 1
            : 0;
        }
      }
      return (i) => found[lane.states[i] * columns + lane.labels[i] + 1] === 1;
    });
  }

  count(finder) {
    let found = 0;
    this.lanes.forEach((lane, number) => {
      for (let i = 0; lane.exact && i < lane.starts.length; i += 1) found += finder[number](i) ? 1 : 0;
    });
    return found;
  }

  // The next (or the one before) that the finder accepts, in order of time, then of lanes; where there is none, from the
  // other end.
  next(finder, place, forward) {
    const first = { tick: -1, lane: -1 };
    const last = { tick: Infinity, lane: -1 };
    return (
      this.search(finder, place ?? (forward ? first : last), forward) ??
      this.search(finder, forward ? first : last, forward)
    );
  }

  search(finder, place, forward) {
    let best = null;
    this.lanes.forEach((lane, number) => {
      if (!lane.exact) return;
      const later = (i) => lane.starts[i] > place.tick || (lane.starts[i] === place.tick && number > place.lane);
      const earlier = (i) => lane.starts[i] < place.tick || (lane.starts[i] === place.tick && number < place.lane);
      const step = forward ? 1 : -1;
      let i = below(lane.starts, place.tick) + (forward ? 0 : Number(number < place.lane)) - Number(!forward);
      i = Math.max(forward ? 0 : -1, Math.min(lane.starts.length - Number(!forward), i));
      while (i >= 0 && i < lane.starts.length && !((forward ? later(i) : earlier(i)) && finder[number](i))) i += step;
      if (i < 0 || i >= lane.starts.length) return;
      const better =
        !best ||
        (forward ? lane.starts[i] < best.lane.starts[best.index] : lane.starts[i] >= best.lane.starts[best.index]);
      if (better) best = { lane, index: i };
    });
    return best;
  }
}

function stretches(lane) {
  const runs = [];
  let run = null;
  for (let i = 0; i < lane.starts.length; i += 1) {
    if (lane.states[i] === 0) continue;
    if (!run || run.to !== lane.starts[i]) {
      run = { lane, from: lane.starts[i], to: lane.ends[i], stalled: 0 };
      runs.push(run);
    }
    run.to = lane.ends[i];
    run.stalled += lane.ends[i] - lane.starts[i];
  }
  return runs;
}

function stalledBins(lane) {
  const runs = [];
  for (let bin = 0; lane.bins && bin < lane.bins.count; bin += 1) {
    const [from, to] = [bin * lane.bins.width, Math.min((bin + 1) * lane.bins.width, lane.cycles * WORDS.ticks)];
    const spent = lane.colours(from, to);
    const stalled = (to - from) * lane.lanes - spent[BUSY] - spent[IDLE];
    if (stalled > 0) runs.push({ lane, from, to, stalled: stalled / lane.lanes });
  }
  return runs;
}
