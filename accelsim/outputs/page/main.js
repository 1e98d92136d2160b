// Which operator is shown, what a link says, colours, printing.

const CHOSEN = { operator: -1, timeline: null };
const THEMES = ["system", "light", "dark"];

function worstOperator() {
  let worst = -1;
  RUN.operators.forEach((one, index) => {
    if (done(one) && (worst < 0 || one.cycles * one.repeat > RUN.operators[worst].cycles * RUN.operators[worst].repeat))
      worst = index;
  });
  return worst;
}

let telling = 0;
function tellLink() {
  clearTimeout(telling);
  telling = setTimeout(() => history.replaceState(null, "", CHOSEN.timeline.hash()), 200);
}

function choose(index, quiet = false) {
  if (index === CHOSEN.operator || !done(RUN.operators[index])) return;
  CHOSEN.operator = index;
  const operator = RUN.operators[index];
  drawChosen(operator);
  drawLadder(operator);
  drawRoofline(operator);
  drawStalls(operator);
  drawOperators(index, choose);
  drawTraffic(operator);
  drawCrosscheck(operator);
  CHOSEN.timeline = new TimelineView(operator, index, tellLink);
  document.getElementById("pick").value = String(index);
  if (!quiet) tellLink();
}

// `#t=START-END&lane=NAME&op=NAME`, cycles; any part may be left out. Other links lead to the glossary.
function followLink() {
  const words = new URLSearchParams(location.hash.slice(1).replaceAll("+", "%2B"));
  if (!["t", "lane", "op"].some((name) => words.has(name))) return;
  const index = RUN.operators.findIndex((one) => done(one) && one.name === words.get("op"));
  if (index >= 0) choose(index, true);
  const { timeline } = CHOSEN;
  const lane = timeline.track.lanes.findIndex((one) => one.name === words.get("lane"));
  if (lane >= 0) Object.assign(timeline, { lane, focus: null });
  const window = /^(\d+)-(\d+)$/.exec(words.get("t") ?? "");
  if (window && Number(window[1]) < Number(window[2]))
    timeline.show(Number(window[1]) * WORDS.ticks, Number(window[2]) * WORDS.ticks, true);
  timeline.redraw();
  document.getElementById("timeline").scrollIntoView();
}

function setTheme(name) {
  if (name === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = name;
  const button = document.getElementById("theme");
  button.textContent = `Colours: ${name}`;
  button.setAttribute("aria-label", `Colours: ${name}; press for the next`);
  CHOSEN.timeline?.redraw();
}

function fitWidth() {
  if (!CHOSEN.timeline) return;
  resizeRoofline(RUN.operators[CHOSEN.operator]);
  CHOSEN.timeline.resize();
}

// On paper everything is open, and what is drawn has the colours of paper.
const PRINTING = { opened: null, theme: undefined };
function beforePrint() {
  if (PRINTING.opened) return;
  PRINTING.opened = [...document.querySelectorAll("details:not([open], .no-print)")];
  for (const one of PRINTING.opened) one.open = true;
  PRINTING.theme = document.documentElement.dataset.theme;
  document.documentElement.dataset.theme = "light";
  fitWidth();
  CHOSEN.timeline?.paint();
}
function afterPrint() {
  if (!PRINTING.opened) return;
  for (const one of PRINTING.opened) one.open = false;
  PRINTING.opened = null;
  if (PRINTING.theme) document.documentElement.dataset.theme = PRINTING.theme;
  else delete document.documentElement.dataset.theme;
  fitWidth();
}

function start() {
  drawHeadline();
  const pick = document.getElementById("pick");
  RUN.operators.forEach((one, index) =>
    pick.append(
      el("option", { value: index, disabled: !done(one) }, done(one) ? one.name : `${one.name} (did not run)`),
    ),
  );
  pick.closest("label").hidden = !several;
  pick.addEventListener("change", () => choose(Number(pick.value)));
  const worst = worstOperator();
  if (worst >= 0) choose(worst, true);
  else
    for (const id of ["chosen", "ladder", "roofline", "stalls", "traffic", "crosscheck", "timeline"])
      document.getElementById(id).hidden = true;
  if (worst < 0) drawOperators(-1, choose);
  drawProvenance();
  drawGlossary();
  let theme = 0;
  document.getElementById("theme").addEventListener("click", () => {
    theme = (theme + 1) % THEMES.length;
    setTheme(THEMES[theme]);
  });
  setTheme(THEMES[0]);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => CHOSEN.timeline?.redraw());
  window.addEventListener("beforeprint", beforePrint);
  window.addEventListener("afterprint", afterPrint);
  window.addEventListener("resize", fitWidth);
  window.addEventListener("hashchange", () => {
    if (worst >= 0) followLink();
  });
  if (worst >= 0) followLink();
  document.documentElement.dataset.ready = "true";
}

start();
