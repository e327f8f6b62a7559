// What each lane of a race still has to gain, on a log scale: lines that differ in dash as well as in colour.
import { css, groupColour, theme } from "./colour.js";
import { place, power, powers, tickTexts, ticks } from "./scale.js";
import { surface } from "./timeline.js";

/** @typedef {{place: number, times: number[], heights: (number | null)[], over: boolean}} Line */

const patterns = [[], [6, 3], [2, 3], [8, 3, 2, 3], [1, 2], [10, 4], [4, 2, 1, 2, 1, 2], [12, 3, 3, 3]];
/** What counts as nothing left to gain. */
const floor = 1e-6;

/**
 * A line in the colour and dash of a lane.
 * @param {CanvasRenderingContext2D} g @param {number} at the lane @param {import("./colour.js").Theme} t @param {[number, number][]} points @param {number} [width]
 */
export function dashes(g, at, t, points, width = 2) {
  g.save();
  g.strokeStyle = css(groupColour(t, at));
  g.lineWidth = width;
  g.lineJoin = "round";
  g.setLineDash((patterns[at % patterns.length] ?? []).map((d) => (d * width) / 2));
  g.beginPath();
  for (const [x, y] of points) g.lineTo(x, y);
  g.stroke();
  g.restore();
}

/**
 * @param {HTMLCanvasElement} c
 * @param {Line[]} lines
 * @param {number | null} best
 * @param {number} now
 * @param {boolean} seconds
 */
export function drawLanes(c, lines, best, now, seconds) {
  const { g, width, height } = surface(c), t = theme();
  if (lines.length === 0 || best === null) return;
  const left = (/** @type {number | null} */ v) => (v == null ? null : Math.log10(Math.max(floor, best - v)));
  const values = lines.map((l) => l.heights.map(left));
  const all = values.flat().filter((v) => v != null);
  const lo = Math.min(-6, ...all.slice(0, 1)), hi = all.reduce((a, b) => Math.max(a, b), -5) + 0.3;
  const sx = { lo: 0, hi: lines.reduce((a, l) => Math.max(a, l.times.at(-1) ?? 0), 1e-9), from: 48, to: width - 12 }, sy = { lo, hi, from: height - 22, to: 8 };
  g.font = "11px system-ui, sans-serif";
  g.textBaseline = "middle";
  g.textAlign = "right";
  for (const e of powers(lo, hi, 5)) {
    const y = Math.round(place(sy, e)) + 0.5;
    g.strokeStyle = css(t.line);
    g.beginPath(); g.moveTo(sx.from, y); g.lineTo(sx.to, y); g.stroke();
    g.fillStyle = css(t.muted);
    g.fillText(power(e), sx.from - 8, y);
  }
  const x = ticks(0, sx.hi, 5);
  g.textAlign = "center";
  tickTexts(x).forEach((text, i) => g.fillText(text + (seconds ? " s" : ""), place(sx, x[i] ?? 0), height - 7));
  lines.forEach((l, j) => {
    /** @type {[number, number][]} */
    const points = [];
    values[j]?.forEach((v, i) => { if (v != null) points.push([place(sx, l.times[i] ?? 0), place(sy, v)]); });
    dashes(g, l.place, t, points);
    const end = points.at(-1);
    if (!end || !l.over) return;
    g.fillStyle = css(groupColour(t, l.place));
    g.beginPath(); g.arc(end[0], end[1], 3.5, 0, 2 * Math.PI); g.fill();
  });
  const at = Math.round(place(sx, Math.min(now, sx.hi))) + 0.5;
  g.strokeStyle = css(t.muted);
  g.lineWidth = 1;
  g.beginPath(); g.moveTo(at, 4); g.lineTo(at, height - 20); g.stroke();
}
