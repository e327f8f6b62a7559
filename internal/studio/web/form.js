// The form of a fit: what is chosen becomes the keys of a Spec.
import { fill } from "./dom.js";
import { climbs, shapes } from "./view.js";

/** @type {[string, string][]} */
const models = [
  ["", "by the columns"],
  ["gmm", "Gaussian mixture"],
  ["bernoulli", "bits (Bernoulli)"],
  ["categorical", "categories"],
  ["poisson", "counts (Poisson)"],
  ["mixed", "several types"],
  ["kmeans", "k-means"],
  ["kmedians", "k-medians"],
];

/** Algorithms of what is no mixture. @type {Record<string, string[]>} */
const hard = {
  kmeans: ["breathing", "lloyd", "exact", "minibatch"],
  kmedians: ["lloyd", "exact"],
};

/** Algorithms of a model. @param {string} model @returns {[string, string][]} */
export function algorithms(model) {
  return hard[model]?.map((a) => [a, a]) ?? climbs;
}

/** Names of the form's fields in the address. @type {[string, string][]} */
const inAddress = [
  ["fit-k", "k"],
  ["fit-model", "model"],
  ["fit-covariance", "covariance"],
  ["fit-algorithm", "algorithm"],
  ["fit-starts", "n-init"],
  ["fit-seed", "seed"],
  ["fit-scale", "scale"],
  ["fit-pca", "pca"],
  ["fit-merge", "merge"],
  ["fit-missing", "missing"],
];

/** A fit's form. */
export class Form {
  /** @param {(name: string) => any} at finds an element by its name */
  constructor(at) {
    this.at = at;
    /** what the columns would be fitted with */
    this.guess = "gmm";
    fill(at("fit-model"), models);
    fill(at("fit-covariance"), [["", "automatic"], ...shapes]);
    at("fit-model").addEventListener("change", () => this.fit());
    this.fit();
  }

  /** Offers what the model has. */
  fit() {
    const model = this.at("fit-model").value || this.guess;
    const shaped = model === "gmm" || model === "mixed";
    this.at("fit-covariance").disabled = !shaped;
    this.at("fit-merge").disabled = model in hard;
    fill(this.at("fit-algorithm"), [["", "automatic"], ...algorithms(model)]);
  }

  /** @param {string} model that the columns would be fitted with */
  guessed(model) {
    this.guess = model || "gmm";
    const first = this.at("fit-model").options[0];
    first.textContent = `by the columns: ${models.find(([v]) => v === this.guess)?.[1] ?? this.guess}`;
    this.fit();
  }

  /**
   * The keys of a Spec; an Error says what is wrong in the command's words.
   * @returns {Record<string, any>}
   */
  spec() {
    /** @type {Record<string, any>} */
    const s = {};
    const text = (/** @type {string} */ name) => String(this.at(name).value).trim();
    groups(text("fit-k"), s);
    if (text("fit-model")) s.model = text("fit-model");
    if (!this.at("fit-covariance").disabled) {
      if (text("fit-covariance")) s.covariance = text("fit-covariance");
      else if (s.k || s.k_range) s.covariance = "all"; // without -k the program chooses by itself
    }
    if (text("fit-algorithm")) s.algorithm = text("fit-algorithm");
    whole(text("fit-starts"), "--n-init", 1, (n) => (s.n_init = n));
    whole(text("fit-seed"), "--seed", 0, (n) => (s.seed = n));
    whole(text("fit-pca"), "--pca", 1, (n) => (s.pca = n));
    if (text("fit-scale")) s.scale = text("fit-scale");
    if (text("fit-merge") && !this.at("fit-merge").disabled) s.merge = text("fit-merge");
    return s;
  }

  /** What the run is told beside. @returns {Record<string, any>} */
  options() {
    const missing = this.at("fit-missing").value;
    return missing ? { missing } : {};
  }

  /**
   * Fills the form by an address; what is not offered stays as it is, and is returned as messages.
   * @param {URLSearchParams} query
   */
  read(query) {
    /** @type {string[]} */
    const wrong = [];
    for (const [name, key] of inAddress) {
      const v = query.get(key);
      const e = this.at(name);
      if (v === null) continue;
      if (e instanceof HTMLSelectElement && ![...e.options].some((o) => o.value === v)) wrong.push(`${key} cannot be "${v}" here`);
      else e.value = v;
      if (name === "fit-model") this.fit();
    }
    return wrong;
  }

  /** @param {URLSearchParams} query gets what differs from the default */
  write(query) {
    for (const [name, key] of inAddress) if (this.at(name).value) query.set(key, this.at(name).value);
  }
}

/**
 * @param {string} text "", a number or LO:HI
 * @param {Record<string, any>} spec
 */
function groups(text, spec) {
  if (text === "") return;
  const range = /^(\d+)\s*(?::|-|–|to)\s*(\d+)$/.exec(text);
  if (range) {
    const [lo, hi] = [Number(range[1]), Number(range[2])];
    if (lo < 1 || hi < lo) throw new Error(`groups cannot be "${text}": a range goes from a lowest number, at least 1, to a highest, such as 2:9`);
    spec.k_range = [lo, hi];
  } else if (/^\d+$/.test(text) && Number(text) >= 1) spec.k = Number(text);
  else throw new Error(`groups cannot be "${text}": it must be a whole number, at least 1, a range such as 2:9, or empty`);
}

/**
 * @param {string} text
 * @param {string} flag
 * @param {number} least
 * @param {(n: number) => void} set
 */
function whole(text, flag, least, set) {
  if (text === "") return;
  if (!/^\d+$/.test(text) || Number(text) < least) throw new Error(`${flag} cannot be "${text}": it must be a whole number, at least ${least}`);
  set(Number(text));
}
