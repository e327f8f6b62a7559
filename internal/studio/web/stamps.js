// Marks as stamps of a few pixels, and many of them blended into one buffer: 100,000 within a frame of the screen.

/** @typedef {{dx: Int32Array, dy: Int32Array, alpha: Int32Array}} Stamp the pixels of a mark about its middle, and how much each covers, of 256 */

/** @param {[number, number, number][]} points @returns {Stamp} */
const stampOf = (points) => ({ dx: Int32Array.from(points, (p) => p[0]), dy: Int32Array.from(points, (p) => p[1]), alpha: Int32Array.from(points, (p) => Math.round(256 * p[2])) });

/** A disc with smooth edges. @param {number} r @param {number} alpha */
export function disc(r, alpha) {
  /** @type {[number, number, number][]} */
  const points = [];
  const R = Math.ceil(r + 0.5);
  for (let y = -R; y <= R; y++) for (let x = -R; x <= R; x++) {
    const a = Math.min(1, Math.max(0, r + 0.5 - Math.hypot(x, y)));
    if (a > 0) points.push([x, y, a * alpha]);
  }
  return stampOf(points);
}

/** A cell of the grid that the server bins into. @param {number} width @param {number} height */
export function block(width, height) {
  const w = Math.ceil(width / 320), h = Math.ceil(height / 240);
  return stampOf(Array.from({ length: w * h }, (_, i) => [(i % w) - (w >> 1), Math.floor(i / w) - (h >> 1), 1]));
}

/** A tick of the strip below a density. @param {number} scale @param {number} n */
export function tick(scale, n) {
  const h = Math.round(8 * scale), w = Math.max(1, Math.round(scale));
  return stampOf(Array.from({ length: (2 * h + 1) * w }, (_, i) => [i % w, Math.floor(i / w) - h, n > 2000 ? 0.4 : 0.75]));
}

/**
 * Blends a stamp for each mark into a buffer of words as a canvas has them: 0xAABBGGRR. Red and blue are blended together, in whole numbers: twice
 * as fast as a byte at a time.
 * @param {Uint32Array} all
 * @param {number} w pixels across
 * @param {number} h pixels down
 * @param {Int32Array} places the pixel of each mark, negative for none
 * @param {Uint8Array} colours three bytes a mark
 * @param {Uint16Array | null} strengths how much each mark counts, of 256; null for all alike
 * @param {Stamp} s
 */
export function paint(all, w, h, places, colours, strengths, s) {
  const { dx, dy, alpha } = s, m = dx.length, step = dx.map((x, j) => x + w * /** @type {number} */ (dy[j]));
  const rx = dx.reduce((a, x) => Math.max(a, Math.abs(x)), 0), ry = dy.reduce((a, y) => Math.max(a, Math.abs(y)), 0);
  for (let i = 0; i < places.length; i++) {
    const at = /** @type {number} */ (places[i]);
    if (at < 0) continue;
    const x0 = at % w, y0 = (at - x0) / w, inside = x0 >= rx && x0 < w - rx && y0 >= ry && y0 < h - ry;
    const redBlue = (/** @type {number} */ (colours[3 * i + 2]) << 16) | /** @type {number} */ (colours[3 * i]), green = /** @type {number} */ (colours[3 * i + 1]);
    for (let j = 0; j < m; j++) {
      if (!inside) {
        const x = x0 + /** @type {number} */ (dx[j]), y = y0 + /** @type {number} */ (dy[j]);
        if (x < 0 || x >= w || y < 0 || y >= h) continue;
      }
      const k = at + /** @type {number} */ (step[j]), under = /** @type {number} */ (all[k]);
      const a = strengths ? (/** @type {number} */ (strengths[i]) * /** @type {number} */ (alpha[j])) >> 8 : /** @type {number} */ (alpha[j]), b = 256 - a;
      const rb = ((Math.imul(under & 0xff00ff, b) + Math.imul(redBlue, a) + 0x800080) >>> 8) & 0xff00ff;
      const g = (Math.imul((under >>> 8) & 0xff, b) + Math.imul(green, a) + 0x80) & 0xff00;
      all[k] = 0xff000000 | rb | g;
    }
  }
}
