// A group's number in its colour, and its bar: colour is never alone.
import { css, groupColour, inkOn, theme } from "./colour.js";
import { make } from "./dom.js";

/** A group's number in its colour. @param {number} label from 1 */
export function disc(label) {
  const e = make("span", { class: "disc", "data-group": label }, String(label));
  paint(e);
  return e;
}

/** A bar in a group's colour. @param {number} label from 1 @param {number} share @param {string} name */
export function meter(label, share, name) {
  const bar = make("span", { class: "meter-fill", "data-group": label });
  bar.style.width = `${100 * share}%`;
  paint(bar);
  return make("span", { class: "meter", role: "meter", "aria-label": name, "aria-valuemin": 0, "aria-valuemax": 1, "aria-valuenow": share.toFixed(4) }, bar);
}

/** Colours all discs and bars below anew, as when the theme changes. @param {ParentNode} root */
export function repaint(root) {
  for (const e of root.querySelectorAll("[data-group]")) if (e instanceof HTMLElement) paint(e);
}

/** @param {HTMLElement} e */
function paint(e) {
  const colour = groupColour(theme(), Number(e.dataset.group) - 1);
  e.style.background = css(colour);
  e.style.color = inkOn(colour);
}
