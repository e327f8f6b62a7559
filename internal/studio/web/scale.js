// Axes and numbers: where ticks are, how numbers read.

/** @typedef {{lo: number, hi: number, from: number, to: number}} Scale values lo..hi at pixels from..to */

/** @param {Scale} s @param {number} v */
export const place = (s, v) => s.from + ((v - s.lo) / (s.hi - s.lo)) * (s.to - s.from);

/** @param {Scale} s @param {number} at */
export const value = (s, at) => s.lo + ((at - s.from) / (s.to - s.from)) * (s.hi - s.lo);

/**
 * The least and the greatest of what is finite, with a margin; one unit around a constant.
 * @param {Iterable<number>} values
 * @param {number} [margin] as a part of the range
 * @returns {[number, number]}
 */
export function extent(values, margin = 0.06) {
  let lo = Infinity, hi = -Infinity;
  for (const v of values) {
    if (v < lo && v > -Infinity) lo = v;
    if (v > hi && v < Infinity) hi = v;
  }
  if (lo > hi) return [0, 1];
  if (lo === hi) {
    const d = Math.max(Math.abs(lo) * 0.5, 0.5);
    return [lo - d, hi + d];
  }
  const pad = (hi - lo) * margin;
  return [lo - pad, hi + pad];
}

/**
 * Round numbers from lo to hi, about as many as asked for.
 * @param {number} lo
 * @param {number} hi
 * @param {number} [about]
 * @returns {number[]}
 */
export function ticks(lo, hi, about = 6) {
  if (!(hi > lo) || !Number.isFinite(hi - lo)) return [];
  const raw = (hi - lo) / Math.max(1, about);
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = power * ([1, 2, 5].find((m) => m * power >= raw * 0.999) ?? 10);
  const out = [];
  for (let i = Math.ceil(lo / step - 1e-9); i * step <= hi + step * 1e-9; i++) out.push(i === 0 ? 0 : i * step);
  return out;
}

/**
 * How ticks of a scale read: as many decimals as their distance asks for.
 * @param {number[]} values
 * @returns {string[]}
 */
export function tickTexts(values) {
  const step = values.length > 1 ? Math.abs((values[1] ?? 0) - (values[0] ?? 0)) : Math.abs(values[0] ?? 1) || 1;
  const most = Math.max(...values.map(Math.abs));
  if (most >= 1e7 || (most > 0 && most < 1e-4)) return values.map((v) => (v === 0 ? "0" : minus(Number(v.toPrecision(3)).toExponential().replace("e+", "e"))));
  const decimals = Math.min(12, Math.max(0, Math.ceil(-Math.log10(step) - 1e-9)));
  return values.map((v) => minus(v.toFixed(decimals)));
}

/** The minus of print in place of the hyphen. @param {string} text */
export const minus = (text) => text.replace(/-/g, "−");

/**
 * A number with a fixed number of decimals, or – where there is none.
 * @param {number | null | undefined} v
 * @param {number} [decimals]
 */
export function fixed(v, decimals = 4) {
  if (v == null || !Number.isFinite(v)) return "–";
  const a = Math.abs(v);
  if (a >= 1e9 || (a > 0 && a < 0.5 * 10 ** -decimals)) return minus(v.toPrecision(3).replace("e+", "e"));
  return minus(v.toFixed(a >= 1e7 ? 0 : a >= 1e5 ? Math.min(decimals, 2) : decimals));
}

/** A number of a table: always with as many decimals. @param {number | undefined} v @param {number} decimals */
export const cell = (v, decimals) => (v == null || !Number.isFinite(v) ? "–" : minus(v.toFixed(decimals)).replace(/^−(0\.?0*)$/, "$1"));

/** Decimals that tell values of a range apart: two, more where all of it is small, fewer where it is large. @param {number} range */
export function decimalsOf(range) {
  if (!(range > 0) || !Number.isFinite(range)) return 2;
  if (range >= 1000) return range >= 10000 ? 0 : 1;
  return Math.min(8, Math.max(2, 2 - Math.floor(Math.log10(range))));
}

const raised = "⁰¹²³⁴⁵⁶⁷⁸⁹";

/** A power of ten in words: 100, 1, 10⁻². @param {number} e */
export function power(e) {
  if (e >= 0 && e <= 3) return String(10 ** e);
  return "10" + (e < 0 ? "⁻" : "") + [...String(Math.abs(e))].map((d) => raised[Number(d)]).join("");
}

/**
 * Powers of ten for a logarithmic axis, at most about so many.
 * @param {number} lo exponent
 * @param {number} hi exponent
 * @param {number} [about]
 */
export function powers(lo, hi, about = 6) {
  const step = Math.max(1, Math.ceil((hi - lo) / about));
  const out = [];
  for (let e = Math.ceil(lo / step) * step; e <= hi + 1e-9; e += step) out.push(e);
  return out;
}
