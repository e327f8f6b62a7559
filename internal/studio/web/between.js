// Groups on their way from one frame of a climb to another: Watch and Race move them by it.
import { groupColour } from "./colour.js";

/** @typedef {import("./record.js").Record} Record */
/** @typedef {import("./scatter.js").Group} Group */

/**
 * The groups of a climb part of the way between two frames, means and covariances in a straight line; the highest number first.
 * @param {Record} r
 * @param {number} from
 * @param {number} to
 * @param {number} u part of the way, 0..1
 * @param {import("./colour.js").Theme} theme
 * @param {(c: number) => number} labelOf the label of a component
 * @returns {Group[]}
 */
export function groupsBetween(r, from, to, u, theme, labelOf) {
  const flat = r.y === null, until = Math.min(from, to) + (u >= 1 ? Math.abs(to - from) : 0);
  return Array.from({ length: r.k }, (_, c) => {
    const a = r.component(from, c), b = r.component(to, c);
    const at = (/** @type {number} */ i) => (a[i] ?? NaN) + u * ((b[i] ?? NaN) - (a[i] ?? NaN));
    const label = labelOf(c), way = flat ? new Float32Array(0) : wayOf(r, c, until);
    return { label, colour: groupColour(theme, label), weight: at(0), x: at(1), y: flat ? 0 : at(2), vxx: at(flat ? 2 : 3), vxy: flat ? 0 : at(4), vyy: flat ? 0 : at(5), way };
  }).sort((p, q) => q.label - p.label);
}

/** Means of a component up to a frame. @param {Record} r @param {number} c @param {number} until */
function wayOf(r, c, until) {
  const way = new Float32Array(2 * (until + 1)), all = r.components, stride = r.stride, step = r.k * stride;
  for (let i = 0, at = c * stride + 1; i <= until; i++, at += step) {
    way[2 * i] = all[at] ?? NaN;
    way[2 * i + 1] = all[at + 1] ?? NaN;
  }
  return way;
}
