// Small parts that Your data and Pictures are made of.
import { make, named } from "./dom.js";
import { copy } from "./status.js";

/**
 * A number as it is shown: rounded, with a true minus; "–" where there is none.
 * @param {number | null | undefined} x
 * @param {number} [digits] after the point
 */
export function shown(x, digits = 4) {
  if (x === null || x === undefined || Number.isNaN(x)) return "–";
  return x.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits }).replace("-", "−");
}

/**
 * A number of any magnitude in four digits; from 1,000 on with at most one after the point.
 * @param {number | null | undefined} x
 */
export function brief(x) {
  if (x === null || x === undefined || Number.isNaN(x)) return "–";
  if (x !== 0 && (Math.abs(x) >= 1e7 || Math.abs(x) < 1e-3)) return x.toExponential(2).replaceAll("-", "−");
  return x.toLocaleString("en-US", Math.abs(x) >= 1000 ? { maximumFractionDigits: 1 } : { maximumSignificantDigits: 4 }).replace("-", "−");
}

/** Where the page has what a flag of the command does. @type {Record<string, string>} */
const controls = { "--scale": "Scale, under More", "--exclude": "leave out, in the table below", "--covariance": "Shape", "--n-init": "Starts, under More", "--pca": "Principal components, under More" };

/**
 * A message of the command, for the page: flags are not broken at their hyphens, and where the page has a control for one it is named.
 * @param {string} text
 * @returns {(Node | string)[]}
 */
export function told(text) {
  const words = text.split(/(--[a-z][a-z-]*)/), here = words.map((w) => controls[w]).filter((c) => c !== undefined);
  const parts = words.map((w) => (w.startsWith("--") ? make("span", { class: "flag" }, w) : w));
  return here.length > 0 ? [...parts, ` (here: ${[...new Set(here)].join("; ")})`] : parts;
}

/** Bytes as people count them. @param {number} n */
export function bytes(n) {
  const units = ["bytes", "kB", "MB", "GB", "TB"];
  let i = 0;
  for (; n >= 1000 && i < units.length - 1; i++) n /= 1000;
  return `${Number(n.toPrecision(3))} ${units[i]}`;
}

/**
 * Says how many there are of something.
 * @param {number} n
 * @param {string} one
 * @param {string} [many]
 */
export function count(n, one, many = one + "s") {
  return `${n.toLocaleString("en-US")} ${n === 1 ? one : many}`;
}

/**
 * The head of a table.
 * @param {string[]} texts
 * @param {(i: number) => boolean} numeric whether a column's cells are numbers
 */
export function head(texts, numeric) {
  return make("thead", {}, make("tr", {}, ...texts.map((text, i) => make("th", { scope: "col", class: numeric(i) ? "num" : "", title: text }, text))));
}

/**
 * A table's cell with a number, exact beside.
 * @param {number | null | undefined} x
 * @param {string} [text]
 */
export function cell(x, text = brief(x)) {
  return make("td", { class: "num", "data-value": x ?? "" }, text);
}

/**
 * A button.
 * @param {string} text
 * @param {() => void} act
 * @param {Record<string, string | number | boolean>} [attributes]
 */
export function button(text, act, attributes = {}) {
  const b = make("button", { type: "button", ...attributes }, text);
  b.addEventListener("click", act);
  return b;
}

/**
 * Hears of files that are dropped on a zone or chosen with its input.
 * @param {HTMLElement} zone
 * @param {HTMLInputElement} input
 * @param {(file: File) => void} take
 */
export function receive(zone, input, take) {
  input.addEventListener("change", () => {
    const file = input.files?.[0];
    if (file) take(file);
    input.value = ""; // the same file can be chosen again
  });
  for (const type of ["dragenter", "dragover"]) {
    zone.addEventListener(type, (e) => {
      e.preventDefault();
      zone.classList.add("over");
    });
  }
  for (const type of ["dragleave", "drop"]) zone.addEventListener(type, () => zone.classList.remove("over"));
  zone.addEventListener("drop", (e) => {
    e.preventDefault();
    const file = e.dataTransfer?.files[0];
    if (file) take(file);
  });
}

/**
 * A value that is kept over a reload; null where there is none.
 * @param {string} name
 * @returns {any}
 */
export function recalled(name) {
  try {
    return JSON.parse(sessionStorage.getItem(name) ?? "null");
  } catch {
    return null;
  }
}

/**
 * Keeps a value over a reload, if it is small enough.
 * @param {string} name
 * @param {any} value
 */
export function keep(name, value) {
  try {
    sessionStorage.setItem(name, JSON.stringify(value));
  } catch {
    sessionStorage.removeItem(name);
  }
}

/** What one page hands to another: a picture that was dropped at Your data. @type {{picture: File | null}} */
export const handed = { picture: null };

/**
 * Lets the buttons that are to copy a text do so.
 * @param {ParentNode} root
 */
export function copies(root) {
  for (const b of root.querySelectorAll("button[data-copy]")) {
    if (b instanceof HTMLElement) b.addEventListener("click", () => copy(b, named(root, b.dataset.copy ?? "").textContent ?? ""));
  }
}
