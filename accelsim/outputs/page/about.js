// What surrounds the numbers: where they come from, what totals leave out, and the glossary.

function drawProvenance() {
  const { accelsim, results_version: results, inputs = {}, options = {} } = RUN.provenance;
  const skipped = RUN.operators.filter(done).reduce((sum, one) => sum + one.fast_forward.steps, 0);
  const pair = (name, ...value) => [el("dt", {}, name), el("dd", {}, ...value)];
  section(
    "provenance",
    "Where these numbers come from",
    el(
      "dl",
      { class: "pairs" },
      pair(
        "command",
        el("code", {}, WORDS.command),
        el("div", { class: "sub" }, "files of one's own stand with the names that they give themselves"),
      ),
      pair("accelsim", `${accelsim ?? "?"}, results version ${results ?? "?"}, JSON schema ${RUN.schema}`),
      ...Object.entries(options).map(([name, value]) =>
        pair(name, Array.isArray(value) ? value.join("  ") || "none" : String(value ?? "none")),
      ),
      pair("added, not simulated", `${grouped(skipped)} array steps that repeat others exactly`),
    ),
    el(
      "details",
      {},
      el("summary", {}, `Hashes of the inputs as read (${Object.keys(inputs).length})`),
      table(
        {},
        null,
        ["input", "SHA-256, first 16 digits"],
        Object.entries(inputs).map(([name, hash]) => [name, el("td", {}, el("code", {}, hash))]),
      ),
    ),
    el("h3", {}, "What totals leave out"),
    el(
      "p",
      {},
      several
        ? `${RUN.total.operators_run} of ${RUN.operators.length} operators ran, one after another, each from a cold start with `
        : "The operator runs from a cold start with ",
      several
        ? "its tensors at home. What one could leave on chip for the next, or overlap with it, is not counted; "
        : "its tensors at home; what a workload around it would leave on chip or overlap is not counted.",
      several ? "operators that did not run are in no total." : "",
      " Energy, sparsity and instruction fetch are not modelled.",
    ),
    el(
      "details",
      { class: "no-print" },
      el("summary", {}, "The same numbers as JSON"),
      el(
        "p",
        { class: "note" },
        "What ",
        el("code", {}, "accelsim run --json"),
        " prints; this page draws every number from it.",
      ),
      el("pre", { id: "json", class: "tall", tabindex: 0 }),
    ),
  );
  const shown = document.getElementById("json");
  shown.parentElement.addEventListener(
    "toggle",
    () => {
      shown.textContent = JSON.stringify(RUN, null, 1);
    },
    { once: true },
  );
}

function drawGlossary() {
  const word = (code, ...said) => [el("dt", { id: `word-${code}` }, ...said.slice(0, -1)), el("dd", {}, said.at(-1))];
  section(
    "glossary",
    "Glossary",
    el("h3", {}, "What a lane does, and the causes of stalls"),
    el(
      "dl",
      { class: "pairs" },
      WORDS.colours.map((one) => word(one.code, swatch(one.code), one.name, one.sentence)),
      WORDS.phases.map((one) => word(one.code, `${one.code} (phase)`, one.sentence)),
    ),
    el("h3", {}, "Metrics"),
    el(
      "dl",
      { class: "pairs" },
      WORDS.metrics.map((one) =>
        word(
          `metric-${one.name}`,
          one.name,
          one.unit ? kind(one.unit) : "",
          `${one.definition}${one.identity ? ` (${one.identity})` : ""}`,
        ),
      ),
    ),
  );
}
