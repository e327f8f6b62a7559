// One column: a histogram of its rows, the weighted density of each group, their sum.
import { css } from "./colour.js";
import { place } from "./scale.js";

/** @typedef {import("./scale.js").Scale} Scale */
/** @typedef {{lo: number, width: number, heights: Float64Array}} Histogram heights are densities: areas add up to 1 */

/**
 * Bins of equal width over lo..hi, with masses where marks are cells.
 * @param {Float32Array} x
 * @param {Float32Array | null} mass
 * @param {number} lo
 * @param {number} hi
 * @returns {Histogram}
 */
export function histogram(x, mass, lo, hi) {
  const n = Math.max(8, Math.min(60, Math.ceil(2 * Math.cbrt(x.length))));
  const width = (hi - lo) / n, heights = new Float64Array(n);
  let total = 0;
  for (let i = 0; i < x.length; i++) {
    const v = x[i] ?? NaN;
    if (!(v >= lo && v <= hi)) continue;
    const m = mass ? mass[i] ?? 0 : 1;
    const b = Math.min(n - 1, Math.floor((v - lo) / width));
    heights[b] = (heights[b] ?? 0) + m;
    total += m;
  }
  for (let b = 0; b < n; b++) heights[b] = (heights[b] ?? 0) / Math.max(total * width, 1e-300);
  return { lo, width, heights };
}

/** The tallest bar. @param {Histogram} h */
export const tallest = (h) => h.heights.reduce((a, b) => Math.max(a, b), 0);

/** @param {number} v @param {number} mean @param {number} variance */
const normal = (v, mean, variance) => Math.exp(-0.5 * (v - mean) ** 2 / variance) / Math.sqrt(2 * Math.PI * variance);

/**
 * @param {CanvasRenderingContext2D} g
 * @param {Scale} sx
 * @param {Scale} sy
 * @param {Histogram} bars
 * @param {import("./scatter.js").Group[]} groups
 * @param {import("./colour.js").Theme} t
 * @param {number} lit
 */
export function density(g, sx, sy, bars, groups, t, lit) {
  g.fillStyle = css(t.muted, 0.16);
  bars.heights.forEach((h, b) => {
    const x = place(sx, bars.lo + b * bars.width), to = place(sx, bars.lo + (b + 1) * bars.width), y = place(sy, h);
    g.fillRect(x + 0.5, y, to - x - 1, sy.from - y);
  });
  const shown = groups.filter((c) => c.vxx > 0);
  const steps = Math.max(2, Math.round((sx.to - sx.from) / 2));
  const sum = new Float64Array(steps + 1);
  for (const c of shown) {
    const dim = lit >= 0 && lit !== c.label ? 0.25 : 1;
    g.beginPath();
    g.moveTo(sx.from, sy.from);
    for (let i = 0; i <= steps; i++) {
      const v = sx.lo + (i / steps) * (sx.hi - sx.lo), d = c.weight * normal(v, c.x, c.vxx);
      sum[i] = (sum[i] ?? 0) + d;
      g.lineTo(place(sx, v), place(sy, d));
    }
    g.lineTo(sx.to, sy.from);
    g.fillStyle = css(c.colour, 0.14 * dim);
    g.fill();
    g.strokeStyle = css(c.colour, dim);
    g.lineWidth = 2.25;
    g.stroke();
  }
  if (shown.length === 0) return;
  g.beginPath();
  sum.forEach((d, i) => {
    const px = place(sx, sx.lo + (i / steps) * (sx.hi - sx.lo)), py = place(sy, d);
    i === 0 ? g.moveTo(px, py) : g.lineTo(px, py);
  });
  g.strokeStyle = css(t.ink);
  g.lineWidth = 1.5;
  g.stroke();
}
