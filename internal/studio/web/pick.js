// Placing centres by hand, with the pointer or the keyboard.
import { css, groupColour, inkOn } from "./colour.js";
import { decimalsOf, place, value } from "./scale.js";

/** @typedef {[number, number]} Point */

export class Picker {
  /**
   * @param {import("./scatter.js").Scatter} scatter
   * @param {() => number} k how many to place
   * @param {() => void} changed
   * @param {() => void} done the last one was placed, or moved
   */
  constructor(scatter, k, changed, done) {
    this.scatter = scatter;
    this.k = k;
    this.changed = changed;
    this.done = done;
    /** @type {Point[]} */
    this.points = [];
    /** @type {Point | null} */
    this.cross = null;
    this.dragged = -1;
    this.ends = new AbortController();
  }

  get on() { return this.scatter.extra !== null; }

  start() {
    this.ends.abort();
    this.ends = new AbortController();
    const host = this.scatter.host, on = { signal: this.ends.signal };
    host.tabIndex = 0;
    host.setAttribute("role", "application");
    host.setAttribute("aria-label", "Place centres: arrows move the crosshair, Enter places, Backspace takes the last away");
    host.classList.add("placing");
    host.addEventListener("pointerdown", (e) => this.down(e), on);
    host.addEventListener("pointermove", (e) => { if (this.dragged >= 0) this.drag(e); }, on);
    host.addEventListener("pointerup", () => this.up(), on);
    this.scatter.extra = (g) => this.draw(g);
    this.scatter.drawGroups();
    this.changed();
  }

  stop() {
    this.ends.abort();
    const host = this.scatter.host;
    host.removeAttribute("tabindex");
    host.removeAttribute("role");
    host.removeAttribute("aria-label");
    host.classList.remove("placing");
    this.scatter.extra = null;
    this.cross = null;
    this.scatter.drawGroups();
  }

  /** @param {PointerEvent} e @returns {Point} */
  where(e) {
    const box = this.scatter.over.getBoundingClientRect(), { sx, sy } = this.scatter;
    const clamp = (/** @type {number} */ v, /** @type {number} */ a, /** @type {number} */ b) => Math.max(Math.min(a, b), Math.min(Math.max(a, b), v));
    return [rounded(value(sx, clamp(e.clientX - box.left, sx.from, sx.to)), sx), rounded(value(sy, clamp(e.clientY - box.top, sy.from, sy.to)), sy)];
  }

  /** @param {PointerEvent} e */
  down(e) {
    const box = this.scatter.over.getBoundingClientRect(), { sx, sy } = this.scatter;
    this.scatter.host.setPointerCapture(e.pointerId);
    this.dragged = this.points.findIndex((p) => Math.hypot(place(sx, p[0]) - (e.clientX - box.left), place(sy, p[1]) - (e.clientY - box.top)) < 14);
    if (this.dragged >= 0) return;
    if (this.points.length >= this.k()) this.points = [];
    this.points.push(this.where(e));
    this.dragged = this.points.length - 1;
    this.changed();
    this.scatter.drawGroups();
  }

  /** @param {PointerEvent} e */
  drag(e) {
    this.points[this.dragged] = this.where(e);
    this.scatter.drawGroups();
  }

  up() {
    if (this.dragged < 0) return;
    this.dragged = -1;
    this.changed();
    if (this.points.length === this.k()) this.done();
  }

  /** @param {KeyboardEvent} e */
  key(e) {
    const { sx, sy } = this.scatter, far = e.shiftKey ? 0.1 : 0.02;
    if (e.key === "Backspace") this.points.pop();
    else if (e.key === "Enter" && this.cross) {
      if (this.points.length >= this.k()) this.points = [];
      this.points.push([rounded(this.cross[0], sx), rounded(this.cross[1], sy)]);
    } else {
      const move = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[e.key];
      if (!move) return false;
      this.cross ??= [(sx.lo + sx.hi) / 2, (sy.lo + sy.hi) / 2];
      const [dx = 0, dy = 0] = move;
      this.cross = [clampTo(this.cross[0] + dx * far * (sx.hi - sx.lo), sx), clampTo(this.cross[1] + dy * far * (sy.hi - sy.lo), sy)];
    }
    this.changed();
    this.scatter.drawGroups();
    if (e.key === "Enter" && this.points.length === this.k()) this.done();
    return true;
  }

  /** @param {CanvasRenderingContext2D} g */
  draw(g) {
    const { sx, sy, theme } = this.scatter;
    if (this.cross) {
      const x = Math.round(place(sx, this.cross[0])) + 0.5, y = Math.round(place(sy, this.cross[1])) + 0.5;
      g.strokeStyle = css(theme.accent);
      g.lineWidth = 1;
      g.beginPath(); g.moveTo(x, sy.to); g.lineTo(x, sy.from); g.moveTo(sx.from, y); g.lineTo(sx.to, y); g.stroke();
    }
    this.points.forEach((p, i) => {
      const x = place(sx, p[0]), y = place(sy, p[1]), c = groupColour(theme, i);
      g.beginPath(); g.arc(x, y, 12, 0, 2 * Math.PI);
      g.fillStyle = css(c); g.fill();
      g.strokeStyle = css(theme.ink); g.lineWidth = 1.5; g.stroke();
      g.fillStyle = inkOn(c);
      g.font = "700 12px system-ui, sans-serif";
      g.textAlign = "center"; g.textBaseline = "middle";
      g.fillText(String(i + 1), x, y + 0.5);
      g.textAlign = "left"; g.textBaseline = "alphabetic";
    });
  }
}

/** A place as it is written: no finer than it is seen. @param {number} v @param {import("./scale.js").Scale} s */
const rounded = (v, s) => Number(v.toFixed(decimalsOf(s.hi - s.lo) + 1));

/** @param {number} v @param {import("./scale.js").Scale} s */
const clampTo = (v, s) => Math.max(s.lo, Math.min(s.hi, v));
