// What an address says, as what is asked of the server, and back.

/** Algorithms by the flag's name. @type {[string, string][]} */
export const climbs = [["em", "EM"], ["em-lbfgs", "EM-metric L-BFGS"], ["anti-annealing", "Anti-annealing"], ["hard-em", "Hard EM"], ["squarem", "SQUAREM"], ["bfgs", "BFGS"], ["lbfgs", "L-BFGS"], ["ecg", "ECG"]];

/** The same for k-means. @type {[string, string][]} */
export const kmeansClimbs = [["lloyd", "Lloyd"], ["exact", "Exact (one column)"], ["breathing", "Breathing"], ["minibatch", "Mini-batch"]];

/** Shapes by the flag's name. @type {[string, string][]} */
export const shapes = [["full", "full"], ["tied", "tied"], ["diag", "diagonal"], ["spherical", "spherical"], ["tied-diag", "tied diagonal"], ["tied-spherical", "tied spherical"], ["tied-shape-diag", "VEI: tied shape, diagonal"],
  ["tied-volume-diag", "EVI: tied volume, diagonal"], ["tied-shape-axes", "VEE: tied shape, axes"], ["tied-volume-axes", "EVE: tied volume, axes"], ["tied-axes", "VVE: tied axes"], ["tied-volume-shape", "EEV: tied volume, shape"],
  ["tied-shape", "VEV: tied shape"], ["tied-volume", "EVV: tied volume"]];

/** The schedule that anti-annealing has by itself. */
export const schedule = [0.2, 0.4, 0.6, 0.8, 1, 1.2, 1];

const starts = ["random", "k-means++", "kmeans", "whitened", "small-em", "mixed", "centers"];
const numbers = ["tol", "tol-loglik", "tol-shift", "max-iter", "beta-steps", "reg-covar", "pca", "batch-size", "penalty"];
const words = ["scale", "transform", "weights", "missing"];

/** @typedef {(number | null)[]} Centre a value for each column; null is the mean of all rows */

/**
 * @typedef {object} View
 * @property {string} data a set's name, or "file"
 * @property {string} model "kmeans", another kind by name, or "" for what suits the data
 * @property {number} k
 * @property {string} covariance
 * @property {string} algorithm
 * @property {string} init
 * @property {number} seed
 * @property {number[]} beta [] for the schedule that the algorithm has by itself
 * @property {Centre[]} centers
 * @property {string | null} x null for the first column
 * @property {string | null} y "" for the density of one column, null for the second
 * @property {Record<string, number | string>} more flags that the page has no control for
 */

/** @returns {View} */
export const plain = () => ({ data: "@faithful", model: "", k: 2, covariance: "full", algorithm: "em", init: "random", seed: 1, beta: [], centers: [], x: null, y: null, more: {} });

/**
 * Reads an address. What is unknown or wrong stays the default, and is said.
 * @param {URLSearchParams} query
 * @param {View} [defaults]
 * @returns {{view: View, complaints: string[]}}
 */
export function read(query, defaults = plain()) {
  const v = { ...defaults };
  /** @type {string[]} */
  const complaints = [];
  /** @param {string} name @param {string} text @param {string} instead */
  const wrong = (name, text, instead) => complaints.push(`${name}=${text} in the address is not known: ${instead} is taken`);
  /** @param {string} name @param {number} lo @param {number} hi @param {number} otherwise */
  const whole = (name, lo, hi, otherwise) => {
    const text = query.get(name);
    if (text === null || text === "") return otherwise;
    const n = Number(text);
    if (Number.isInteger(n) && n >= lo && n <= hi) return n;
    wrong(name, text, String(otherwise));
    return otherwise;
  };
  v.data = query.get("data") || v.data;
  const model = query.get("model");
  if (model !== null && model !== "auto" && model !== "mixture") {
    if (/^[a-z]+$/.test(model)) v.model = model;
    else wrong("model", model, "a mixture");
  }
  v.k = whole("k", 1, 10000, v.k);
  v.seed = whole("seed", 0, Number.MAX_SAFE_INTEGER, v.seed);
  /** @param {"covariance" | "algorithm" | "init"} name @param {string[]} known @param {string} otherwise */
  const word = (name, known, otherwise) => {
    const text = query.get(name);
    if (text === null || text === "") v[name] = otherwise;
    else if (known.includes(text)) v[name] = text;
    else {
      v[name] = otherwise;
      wrong(name, text, otherwise);
    }
  };
  word("covariance", shapes.map((s) => s[0]), v.covariance);
  const known = v.model === "kmeans" ? kmeansClimbs : climbs;
  word("algorithm", known.map((a) => a[0]), known[0]?.[0] ?? "em");
  word("init", starts, v.init);
  v.beta = (query.get("beta") ?? "").split(/[\s,;]+/).filter((t) => t !== "").map(Number);
  if (!v.beta.every((b) => b > 0 && Number.isFinite(b))) {
    wrong("beta", query.get("beta") ?? "", schedule.join(","));
    v.beta = [];
  }
  v.centers = centresOf(query.get("centers") ?? "");
  if (v.init === "centers" && v.centers.length > 0 && !query.has("k")) v.k = v.centers.length;
  v.x = query.get("x") || null;
  v.y = query.get("y");
  v.more = {};
  for (const name of numbers) {
    const text = query.get(name) ?? query.get(name.replaceAll("-", "_"));
    if (text === null) continue;
    if (text !== "" && Number.isFinite(Number(text))) v.more[name] = Number(text);
    else complaints.push(`${name}=${text} in the address is no number: the default is taken`);
  }
  for (const name of words) {
    const text = query.get(name);
    if (text) v.more[name] = text;
  }
  return { view: v, complaints };
}

/** Centres written "1,,3;4,5,": a gap is the mean of all rows. @param {string} text @returns {Centre[]} */
export function centresOf(text) {
  if (text.trim() === "") return [];
  const rows = text.split(";").map((row) => row.split(",").map((cell) => (cell.trim() === "" || cell.trim() === "mean" ? null : Number(cell))));
  return rows.every((row) => row.every((v) => v === null || Number.isFinite(v))) ? rows : [];
}

/** The address of a view, without what is not said anyway. @param {View} v @returns {URLSearchParams} */
export function write(v) {
  const q = new URLSearchParams();
  q.set("data", v.data);
  if (v.model) q.set("model", v.model);
  q.set("k", String(v.k));
  if (v.model !== "kmeans") q.set("covariance", v.covariance);
  q.set("algorithm", v.algorithm);
  if (v.algorithm === "anti-annealing" && v.beta.length > 0) q.set("beta", v.beta.join(","));
  q.set("init", v.init);
  if (v.init === "centers" && v.centers.length > 0) q.set("centers", v.centers.map((c) => c.map((x) => x ?? "").join(",")).join(";"));
  q.set("seed", String(v.seed));
  for (const [name, value] of Object.entries(v.more)) q.set(name, String(value));
  if (v.x !== null) q.set("x", v.x);
  if (v.y !== null) q.set("y", v.y);
  return q;
}

/** Addresses keep @ , ; + as they are where a query allows it. @param {URLSearchParams} q */
export const queryText = (q) => q.toString().replaceAll("%40", "@").replaceAll("%2C", ",").replaceAll("%3B", ";");

/**
 * What POST /api/runs is sent: one start with the algorithm named, so that the command gives the same bits.
 * @param {View} v
 * @param {import("./api.js").Data} data
 */
export function ask(v, data) {
  const kmeans = v.model === "kmeans";
  /** @type {Record<string, any>} */
  const spec = { k: v.k, algorithm: v.algorithm, init: v.init, n_init: 1, seed: v.seed };
  const model = v.model || (data.model === "kmeans" || data.model === "kmedians" ? "" : data.model);
  if (model) spec.model = model;
  if (!kmeans && (model === "" || model === "gmm")) spec.covariance = v.covariance;
  if (v.algorithm === "anti-annealing" && v.beta.length > 0) spec.beta = v.beta;
  for (const [name, value] of Object.entries(v.more)) spec[name.replaceAll("-", "_")] = value;
  return { data: data.id, spec, trace: true, options: v.init === "centers" ? { centers: v.centers } : {} };
}
