// The columns of a table, as `latent check` sees them, with a switch for each.
import { fill, make } from "./dom.js";
import { brief, head } from "./parts.js";

/**
 * @typedef {{name: string, kind: string, use: string, why: string, type?: string, missing: number, distinct: number,
 *   min: number | null, max: number | null, mean: number | null, sd: number | null}} Column
 * @typedef {import("./api.js").Data & {error?: string, check: {columns: Column[], missing_cells: number, incomplete_rows: number}}} Table
 */

/** What can be done with a column. @type {[string, string][]} */
const uses = [
  ["feature", "feature"],
  ["id", "names the rows"],
  ["weight", "row weight"],
  ["truth", "known groups"],
  ["out", "leave out"],
];

/** What a column can hold. @type {[string, string][]} */
const types = [
  ["number", "number"],
  ["category", "category"],
  ["count", "count"],
];

/** Beyond so many columns they get no line, and are used as the program would. */
const mostLines = 1000;

/** The switches of a table's columns. */
export class Columns {
  /**
   * @param {HTMLElement} root the table element
   * @param {() => void} changed is called when one was turned
   */
  constructor(root, changed) {
    this.root = root;
    this.changed = changed;
    /** @type {Column[]} */
    this.all = [];
    /** @type {{use: string, type: string}[]} */
    this.set = [];
  }

  /** @param {Table} table */
  show(table) {
    this.all = table.check.columns;
    this.set = this.all.map(initial);
    const names = ["column", "use", "holds", "read as", "missing", "distinct", "lowest", "highest", "mean", "sd"];
    this.root.replaceChildren(
      head(names, (i) => i > 3),
      make("tbody", {}, ...this.all.slice(0, mostLines).map((c, j) => this.line(c, j))),
    );
  }

  /** @param {Column} c @param {number} j */
  line(c, j) {
    const s = this.slot(j);
    const type = this.switch(types, s.type, `what ${c.name} holds`, (v) => this.turn(j, "type", v));
    type.hidden = s.type === "";
    return make(
      "tr",
      { class: s.use === "feature" ? "" : "unused" },
      make("th", { scope: "row", class: "name", title: c.name }, c.name),
      make("td", {}, this.switch(uses, s.use, `use of ${c.name}`, (v) => this.turn(j, "use", v))),
      make("td", {}, type),
      make("td", {}, c.why && c.why !== c.kind ? `${c.kind}, ${c.why}` : c.kind),
      ...[String(c.missing), String(c.distinct), brief(c.min), brief(c.max), brief(c.mean), brief(c.sd)].map((text) => make("td", { class: "num" }, text)),
    );
  }

  /**
   * @param {[string, string][]} options
   * @param {string} value
   * @param {string} label
   * @param {(value: string) => void} turned
   */
  switch(options, value, label, turned) {
    const select = make("select", { "aria-label": label });
    fill(select, options, value);
    select.addEventListener("change", () => turned(select.value));
    return select;
  }

  /** @param {number} j */
  slot(j) {
    return this.set[j] ?? { use: "out", type: "" };
  }

  /** @param {number} j @param {"use" | "type"} what @param {string} value */
  turn(j, what, value) {
    if (what === "use" && value !== "feature" && value !== "out") this.release(value);
    this.slot(j)[what] = value;
    this.paint(j);
    this.changed();
  }

  /** One column names the rows, one weighs them, one has their groups: the last one chosen. @param {string} use */
  release(use) {
    this.set.forEach((s, j) => {
      if (s.use !== use) return;
      s.use = "out";
      this.paint(j);
    });
  }

  /** @param {number} j */
  paint(j) {
    const row = this.root.querySelectorAll("tbody tr")[j];
    const select = row?.querySelector("select");
    if (!row || !select) return;
    row.classList.toggle("unused", this.slot(j).use !== "feature");
    select.value = this.slot(j).use;
  }

  /**
   * What a run is told of the columns: only what differs from what the program does by itself.
   * @returns {Record<string, any>}
   */
  options() {
    /** @type {Record<string, any>} */
    const o = {};
    const now = this.all.map((c, j) => ({ name: c.name, was: initial(c), ...this.slot(j) }));
    for (const use of ["id", "weight", "truth"]) {
      const c = now.find((x) => x.use === use && x.was.use !== use);
      if (c) o[use] = c.name;
    }
    if (now.some((c) => c.use === "feature" && c.was.use !== "feature")) o.columns = now.filter((c) => c.use === "feature").map((c) => c.name);
    else {
      const out = now.filter((c) => c.use === "out" && (c.was.use === "feature" || c.was.use === "truth"));
      if (out.length) o.exclude = out.map((c) => c.name);
    }
    const typed = now.filter((c) => c.use === "feature" && c.type !== c.was.type).map((c) => `${c.name}=${c.type}`);
    if (typed.length) o.types = typed.join(",");
    return o;
  }

  /** How many columns are fitted. */
  features() {
    return this.set.filter((s) => s.use === "feature").length;
  }
}

/** What the program does with a column by itself. @param {Column} c */
function initial(c) {
  return { use: uses.some(([u]) => u === c.use) ? c.use : "out", type: c.type ?? "" };
}
