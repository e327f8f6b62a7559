// The line under the picture: E-steps above it, M-steps below. The range input over it is what is moved.
import { css, theme } from "./colour.js";

/** Above as many half steps the marks go and the line stays. */
const marked = 60;

/**
 * Draws at the size that the canvas has on the page, in its own pixels.
 * @param {HTMLCanvasElement} c
 * @returns {{g: CanvasRenderingContext2D, width: number, height: number}}
 */
export function surface(c) {
  const scale = devicePixelRatio || 1, width = c.clientWidth, height = c.clientHeight;
  const w = Math.max(1, Math.round(width * scale)), h = Math.max(1, Math.round(height * scale));
  if (c.width !== w) c.width = w;
  if (c.height !== h) c.height = h;
  const g = /** @type {CanvasRenderingContext2D} */ (c.getContext("2d"));
  g.setTransform(scale, 0, 0, scale, 0, 0);
  g.clearRect(0, 0, width, height);
  return { g, width, height };
}

/**
 * @param {HTMLCanvasElement} c
 * @param {{half: string}[]} frames
 * @param {number} last
 * @param {number} at frames, with a part of the next
 */
export function timeline(c, frames, last, at) {
  const { g, width, height } = surface(c), t = theme();
  const middle = Math.round(height / 2), from = 8, to = width - 8;
  const x = (/** @type {number} */ i) => (last === 0 ? from : from + (i / last) * (to - from));
  if (last <= marked) {
    g.lineWidth = 1.5;
    for (let i = 1; i <= last; i++) {
      const half = frames[i]?.half;
      g.strokeStyle = css(i <= at ? t.ink : t.muted, i <= at ? 1 : 0.6);
      g.beginPath();
      if (half !== "M") { g.moveTo(x(i), middle - 13); g.lineTo(x(i), middle - 7); }
      if (half !== "E") { g.moveTo(x(i), middle + 7); g.lineTo(x(i), middle + 13); }
      g.stroke();
    }
  }
  g.lineCap = "round";
  g.lineWidth = 4;
  g.strokeStyle = css(t.line);
  g.beginPath(); g.moveTo(from, middle); g.lineTo(to, middle); g.stroke();
  g.strokeStyle = css(t.ink);
  g.beginPath(); g.moveTo(from, middle); g.lineTo(x(at), middle); g.stroke();
  g.fillStyle = css(t.paper);
  g.lineWidth = 2.5;
  g.beginPath(); g.arc(x(at), middle, 8, 0, 2 * Math.PI); g.fill(); g.stroke();
}
