// What came out of a fit: numbers, groups, runners-up, rows, files to take away.
import { Apply } from "./apply.js";
import { disc, meter } from "./disc.js";
import { make, tell } from "./dom.js";
import { cell, count, head, shown, told } from "./parts.js";
import { Rows } from "./rows.js";
import { Sketch } from "./sketch.js";

/** @typedef {import("./columns.js").Table} Table */
/** @typedef {{id: string, name: string, shown: any}} Model a model file, as the command shows it */

/** So many lines of the table of groups, and so many runners-up, are shown; the report has all. */
const mostLines = 40;
const mostRunners = 6;

/** Files that a run has, by the names of their links. @type {[string, string][]} */
const files = [
  ["labels-link", "labels.csv"],
  ["model-link", "model.json"],
  ["report-link", "report.html"],
  ["trace-link", "trace.csv"],
];

/** The result's panel. */
export class Outcome {
  /**
   * @param {(name: string) => any} at finds an element by its name
   * @param {AbortSignal} left ends requests when the page is left
   */
  constructor(at, left) {
    this.at = at;
    this.rows = new Rows(at, left);
    this.sketch = new Sketch(at, left);
    this.apply = new Apply(at, left);
  }

  hide() {
    this.at("result-panel").hidden = true;
  }

  /**
   * @param {any} line the last line of a run
   * @param {string} run
   * @param {Table} table
   * @param {string} state "finished", "not finished" or "interrupted"
   */
  show(line, run, table, state) {
    const { at } = this;
    const r = line.result;
    this.tell(line, state);
    at("result-advice").replaceChildren(...told(advice(state)));
    this.links(`/api/runs/${encodeURIComponent(run)}`, table.name, line.files ?? files.map(([, file]) => file));
    at("fit-go").textContent = line.go ?? "";
    this.rows.show(run, r.columns);
    this.sketch.show(run, table.id, r.clusters?.of_component ?? r.components.map((/** @type {any} */ c) => c.label), r.columns.filter((/** @type {string} */ _, /** @type {number} */ j) => r.types?.[j] !== "category"));
    for (const name of ["result-rows", "result-program"]) at(name).hidden = false;
  }

  /** What a model file tells: it has no rows. @param {Model} model */
  showModel(model) {
    const { at } = this;
    const r = model.shown.result;
    this.tell(model.shown, r.starts.n === 0 ? "" : r.interrupted ? "interrupted" : r.converged ? "finished" : "not finished");
    at("result-advice").textContent = "";
    this.links(`/api/data/${encodeURIComponent(model.id)}`, model.name, ["model.json"]);
    for (const name of ["result-rows", "result-picture", "result-program"]) at(name).hidden = true;
  }

  /** Files to take away, and the model for other rows. @param {string} address @param {string} name of what was fitted or of the model @param {string[]} there */
  links(address, name, there) {
    for (const [link, file] of files) {
      this.at(link).hidden = !there.includes(file);
      this.at(link).href = `${address}/${file}`;
      this.at(link).download = there.length === 1 ? name : `${stem(name)}-${file}`;
    }
    this.apply.show(address);
  }

  /**
   * Sentences, numbers, groups and runners-up.
   * @param {any} line of a run or of a model
   * @param {string} state "" where it is not known
   */
  tell(line, state) {
    const { at } = this;
    const r = line.result;
    at("result-panel").hidden = false;
    for (const [name, value, text] of [
      ["result-k", r.clusters?.n ?? r.k, shown(r.clusters?.n ?? r.k, 0)],
      ["result-shape", line.shape || null, line.shape],
      ["result-log-likelihood", r.log_likelihood, shown(r.log_likelihood)],
      ["result-bic", r.bic, shown(r.bic, 2)],
      ["result-inertia", r.inertia, shown(r.inertia)],
      ["result-finished", state || null, state],
    ]) {
      tell(at(name), value, text);
      at(name).closest("div").hidden = value === null;
    }
    at("result-finished").classList.toggle("warn", state !== "finished");
    at("result-finding").textContent = line.finding ?? "";
    at("result-trust").replaceChildren(...told(line.trust ?? ""));
    const warnings = (r.warnings ?? []).map((/** @type {any} */ w) => String(w.text ?? w));
    at("result-warnings").replaceChildren(...warnings.filter((/** @type {string} */ w) => !line.trust?.includes(w)).map((/** @type {string} */ w) => make("li", {}, ...told(w))));
    this.groups(line.groups);
    this.runners(r);
    at("fit-command").textContent = line.command ?? "";
  }

  /** What the groups are like: columns as lines, as in the summary of the command. @param {any} t */
  groups(t) {
    const groups = make("thead", {}, make("tr", {}, ...["column", "between", "all"].map((name, i) => make("th", { scope: "col", class: i > 0 ? "num" : "" }, name)),
      ...t.weights.map((/** @type {number} */ _, /** @type {number} */ i) => make("th", { scope: "col", class: "num" }, disc(i + 1)))));
    const line = (/** @type {string} */ name, /** @type {string} */ between, /** @type {(string | Node)[]} */ cells, /** @type {string} */ kind) =>
      make("tr", { class: kind }, make("th", { scope: "row" }, name), make("td", { class: "num" }, between), ...cells.map((c) => make("td", { class: "num" }, c)));
    const lines = [
      ...(t.rows.length ? [line("rows", "", t.rows, "")] : []),
      ...(t.shares.length ? [make("tr", {}, make("th", { scope: "row" }, "share"), make("td"), make("td"),
        ...t.weights.map((/** @type {number} */ w, /** @type {number} */ i) => make("td", { class: "num weight", "data-value": w }, meter(i + 1, w, `share of group ${i + 1}`), ` ${t.shares[i]}`)))] : []),
      ...t.lines.slice(0, mostLines).map((/** @type {any} */ l) => line(l.name, l.between, l.cells, l.level ? "level" : "")),
    ];
    this.at("result-table").replaceChildren(groups, make("tbody", {}, ...lines));
    const more = t.lines.length - mostLines;
    this.at("result-more").textContent = t.notes.join("; ") + (more > 0 ? `; ${count(more, "more line")} in the report` : "");
  }

  /** Candidates, the best first. @param {any} r */
  runners(r) {
    const by = r.choice?.criterion;
    this.at("runners").hidden = !by;
    if (!by) return;
    const measure = (/** @type {any} */ c) => c[by === "elbow" ? "objective" : by];
    const all = r.candidates.filter((/** @type {any} */ c) => !c.same_as && typeof measure(c) === "number" && !c.at_floor && !c.narrow && !c.few_rows);
    all.sort((/** @type {any} */ a, /** @type {any} */ b) => (measure(a) - measure(b)) * (r.choice.higher_is_better ? -1 : 1));
    const lines = all.slice(0, mostRunners).map((/** @type {any} */ c) => {
      const won = c.k === r.k && c.covariance === r.covariance;
      const shape = [c.covariance, c.mclust && `(${c.mclust})`].filter(Boolean).join(" ");
      return make("tr", { class: won ? "won" : "" }, cell(c.k), make("td", {}, shape || "–"), cell(measure(c), shown(measure(c), 2)), make("td", {}, won ? "chosen" : c.outraced ? "stopped early, behind" : ""));
    });
    const name = by.length === 3 && by !== "gap" ? by.toUpperCase() : by;
    const better = r.choice.higher_is_better ? "higher" : "lower";
    const close = r.choice.verdict === "flat" ? " It is a close call." : "";
    this.at("runners-text").textContent = `Chosen from ${count(r.candidates.length, "candidate")} by ${name}, ${better} is better.${close}`;
    this.at("runners-table").replaceChildren(head(["groups", "shape", name, "end"], (i) => i % 2 === 0), make("tbody", {}, ...lines));
  }
}

/** What to do about an end that is none. @param {string} state */
function advice(state) {
  if (state === "not finished") return "This is a step on the way: --max-iter in the command allows more steps, and another algorithm, under More, may need fewer.";
  if (state === "interrupted") return "This is the best so far: Fit starts anew.";
  return "";
}

/** The name of a file without its ending. @param {string} name */
function stem(name) {
  return name.replace(/^@/, "").replace(/\.[^.]*$/, "") || "table";
}
