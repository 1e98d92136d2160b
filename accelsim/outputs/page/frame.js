// What stands around the timeline: its tools, its legend, what is told of it, and where its longest stalls are.

const BOOKMARKS = 8;
const KEYS = [
  ["\u2190 \u2192", "move"],
  ["+ \u2212", "zoom"],
  ["Home", "whole run"],
  ["\u2191 \u2193", "lane"],
  [", .", "interval before, next"],
  ["Enter", "zoom to it"],
  ["n p", "match"],
  ["Esc", "no selection"],
];

// Draws the section; returns the elements that the view changes.
function timelineFrame(view) {
  const { track } = view;
  const button = (text, label, act, more = {}) =>
    el("button", { type: "button", "aria-label": label, title: label, onclick: act, ...more }, text);
  const parts = {
    canvas: el("canvas", {
      class: "view",
      id: "lanes",
      tabindex: 0,
      role: "application",
      "aria-label": "Timeline",
      "aria-roledescription": "timeline",
      "aria-describedby": "timeline-keys readout",
    }),
    strip: el("canvas", { class: "overview", "aria-hidden": "true" }),
    tip: el("div", { class: "tip", hidden: true }),
    readout: el(
      "p",
      { class: "readout", id: "readout", role: "status" },
      "Point at an interval, or click into the timeline, to read it.",
    ),
    sums: el("div", { id: "window-sums" }),
    query: el("input", {
      type: "search",
      id: "find",
      placeholder: "Find cause, tensor, lane\u2026",
      "aria-label": "Find intervals by cause, tensor or lane",
      oninput: () => view.look(),
      onkeydown: (event) => {
        if (event.key === "Enter") view.jump(!event.shiftKey);
      },
    }),
    hits: el("span", { class: "sub", id: "hits", "aria-live": "polite" }),
    link: el("a", { id: "link", href: "#" }, "Link to this view"),
    selector: button("Select", "Select a window by dragging", null, { "aria-pressed": "false" }),
  };
  const tools = el(
    "div",
    { class: "tools" },
    button("\u2212", "Zoom out", () => view.zoom(2)),
    button("+", "Zoom in", () => view.zoom(0.5)),
    button("Whole run", "Show the whole run", () => view.show(0, track.ticks)),
    parts.selector,
    el("span", { class: "space" }),
    parts.query,
    button("Previous", "Previous match", () => view.jump(false)),
    button("Next", "Next match", () => view.jump(true)),
    parts.hits,
  );
  const keys = el(
    "p",
    { class: "note hint", id: "timeline-keys" },
    "Drag moves, shift and drag selects, double click zooms; after a click into it the wheel zooms ",
    "(or with Ctrl at once). Keys: ",
    KEYS.map(([key, what]) => [el("kbd", {}, key), ` ${what}  `]),
  );
  section(
    "timeline",
    ["Timeline", whose(view.operator)],
    el("p", { class: "note" }, kind("measured"), ` ${describe(track, TIMELINES[view.index])}`),
    tools,
    timelineLegend(track),
    el("div", { class: "field" }, parts.strip, el("div", { class: "lanes" }, parts.canvas), parts.tip),
    parts.readout,
    keys,
    el("div", { class: "two" }, parts.sums, bookmarks(view)),
    el("p", {}, parts.link),
  );
  return parts;
}

function timelineLegend(track) {
  const spent = track.lanes.map((lane) => lane.colours(0, track.ticks));
  const shown = WORDS.colours.filter((_, colour) => spent.some((ticks) => ticks[colour] > 1e-6));
  const entry = ({ code, name, sentence }) =>
    el("li", {}, swatch(code), el("a", { href: `#word-${code}`, title: sentence }, name));
  return el("ul", { class: "legend", "aria-label": "Colours" }, shown.map(entry));
}

// What is drawn of the run, and what is not.
function describe(track, data) {
  const parts = [`${grouped(track.cycles)} cycles, ${track.lanes.length} lanes`];
  const bins = data.bins ? `bins of ${grouped(data.bins.cycles)} cycles` : "";
  if (data.intervals) {
    const { first, last } = data.intervals;
    const all = first === 0 && last === track.cycles;
    const some = `intervals of cycles ${grouped(first)} to ${grouped(last)}; ${bins} elsewhere`;
    parts.push(all ? `all ${grouped(track.intervals)} intervals` : some);
  } else if (data.left_out) {
    parts.push(
      `drawn from ${bins}: only operators with more cycles have their intervals in this page, to keep it small`,
    );
  } else {
    parts.push(`drawn from ${bins}`);
  }
  if (data.rows_dropped) {
    parts.push(`${grouped(data.rows_dropped)} intervals were beyond what a run keeps and are in the bins alone`);
  }
  return `${[...parts, data.note].filter(Boolean).join("; ")}.`;
}

function bookmarks(view) {
  const entry = (run) => {
    const spent = run.lane.colours(run.from, run.to);
    let most = 1;
    for (let colour = 1; colour < IDLE; colour += 1) if (spent[colour] > spent[most]) most = colour;
    const margin = (run.to - run.from) / 2;
    const href = view.hash(run.from - margin, run.to + margin, run.lane.name);
    const stalled = run.stalled / WORDS.ticks;
    return el(
      "li",
      {},
      el("a", { href, "data-stalled": stalled }, `${grouped(Math.round(stalled))} cycles`),
      ` ${WORDS.colours[most].name}, from ${grouped(Math.floor(run.from / WORDS.ticks))} on ${run.lane.name}`,
    );
  };
  const runs = view.track.longestStalls(BOOKMARKS);
  const list = runs.length
    ? el("ol", { class: "marks", id: "bookmarks" }, runs.map(entry))
    : el("p", { class: "sub" }, "The array never stalled.");
  return el("div", {}, el("h3", {}, "Longest stalls"), list);
}
