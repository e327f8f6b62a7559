// The rows of a run: 50 a page, sorted by how usual or how sure they are, and what the groups make of one of them.
import { get, words } from "./api.js";
import { disc, meter } from "./disc.js";
import { complain, make } from "./dom.js";
import { brief, button, cell, head, shown } from "./parts.js";

const page = 50;

/** So many columns of values are shown beside a row. */
const mostColumns = 8;

/** The table of rows. */
export class Rows {
  /**
   * @param {(name: string) => any} at finds an element by its name
   * @param {AbortSignal} left ends requests when the page is left
   */
  constructor(at, left) {
    this.at = at;
    this.left = left;
    this.run = "";
    /** @type {string[]} */
    this.columns = [];
    this.from = 0;
    this.asked = 0;
    at("rows-sort").addEventListener("change", () => this.turn(0));
    at("rows-before").addEventListener("click", () => this.turn(this.from - page));
    at("rows-after").addEventListener("click", () => this.turn(this.from + page));
  }

  /** @param {string} run @param {string[]} columns */
  show(run, columns) {
    this.run = run;
    this.columns = columns.slice(0, mostColumns);
    this.at("row-shares").hidden = true;
    this.turn(0);
  }

  /** @param {number} at the first row of the page, from 0 */
  async turn(at) {
    const mine = ++this.asked;
    const from = Math.max(0, at);
    try {
      const r = await get(`/api/runs/${encodeURIComponent(this.run)}/rows?sort=${this.at("rows-sort").value}&from=${from}`, this.left);
      if (mine !== this.asked) return;
      this.from = from;
      complain(this.at("rows-error"), "");
      this.fill(r);
    } catch (e) {
      if (mine === this.asked && !this.left.aborted) complain(this.at("rows-error"), words(e));
    }
  }

  /** @param {any} r a page of rows */
  fill(r) {
    const named = r.rows.some((/** @type {any} */ x) => x.id !== null && x.id !== undefined);
    const sure = r.rows.some((/** @type {any} */ x) => x.probability !== null && x.probability !== undefined);
    const names = ["row", ...(named ? ["name"] : []), "group", ...(sure ? ["probability"] : []), "log density", ...this.columns];
    const places = this.columns.map((_, j) => Math.max(...r.rows.map((/** @type {any} */ x) => decimals(x.values?.[j] ?? ""))));
    const lines = r.rows.map((/** @type {any} */ x) =>
      make(
        "tr",
        {},
        make("th", { scope: "row", class: "num" }, button(String(x.row), () => this.one(x.row), { class: "link", "aria-label": `Row ${x.row}: how the groups share it` })),
        ...(named ? [make("td", { class: "name" }, x.id ?? "")] : []),
        make("td", {}, x.label ? disc(x.label) : "noise"),
        ...(sure ? [cell(x.probability, x.probability?.toFixed(4) ?? "–")] : []),
        cell(x.log_density, shown(x.log_density, 3)),
        ...this.columns.map((_, j) => make("td", { class: "num name" }, ...aligned(x.values?.[j] ?? "", places[j] ?? 0))),
      ),
    );
    this.at("rows-table").replaceChildren(head(names, (i) => names[i] !== "group" && names[i] !== "name"), make("tbody", {}, ...lines));
    const last = this.from + r.rows.length;
    const text = (/** @type {number} */ n) => n.toLocaleString("en-US");
    this.at("rows-where").textContent = r.total ? `${text(this.from + 1)} to ${text(last)} of ${text(r.total)}` : "no rows";
    this.at("rows-before").disabled = this.from === 0;
    this.at("rows-after").disabled = last >= r.total;
  }

  /** Shows how the groups share a row. @param {number} row from 1 */
  async one(row) {
    const box = this.at("row-shares");
    try {
      const r = await get(`/api/runs/${encodeURIComponent(this.run)}/rows/${row}`, this.left);
      const bars = r.responsibilities.map((/** @type {number} */ p, /** @type {number} */ j) =>
        make("li", {}, disc(j + 1), meter(j + 1, p, `share of group ${j + 1}`), make("span", { class: "num", "data-value": p }, p.toFixed(4))),
      );
      const unusual = [r.odd, typeof r.p_value === "number" ? `p-value ${brief(r.p_value)}` : ""].filter(Boolean).join("; ");
      box.replaceChildren(
        make("h3", {}, `Row ${row}: ${r.label ? `group ${r.label}` : "noise"}`),
        ...(unusual ? [make("p", {}, unusual)] : []),
        make("ul", { class: "shares" }, ...bars),
        button("Close", () => (box.hidden = true), { class: "plain" }),
      );
      box.hidden = false;
      box.focus();
    } catch (e) {
      if (!this.left.aborted) complain(this.at("rows-error"), words(e));
    }
  }
}

/** How many digits a number has after its point; 0 for what is none. @param {string} text */
const decimals = (text) => /^-?\d+\.(\d+)$/.exec(text)?.[1]?.length ?? 0;

/**
 * A cell as it is in the table, with room for the digits that others of its column have more, so that points stand below each other.
 * @param {string} text
 * @param {number} places digits after the point, of the column
 */
function aligned(text, places) {
  if (!/^-?\d+(\.\d+)?$/.test(text)) return [text];
  const own = decimals(text), room = own === places ? "" : (own === 0 ? "." : "") + "0".repeat(places - own);
  return [text.replace("-", "−"), make("span", { class: "room", "aria-hidden": "true" }, room)];
}
