// The picture of rows and groups: two canvases, one above the other. Rows are written by hand into one opaque buffer; groups are drawn over them.
import { css, inkOn, mix, theme } from "./colour.js";
import { density, histogram, tallest } from "./density.js";
import { make } from "./dom.js";
import { extent, place, tickTexts, ticks } from "./scale.js";
import { block, disc, paint, tick } from "./stamps.js";
import { surface } from "./timeline.js";

/** @typedef {import("./colour.js").RGB} RGB */
/** @typedef {import("./scale.js").Scale} Scale */
/** @typedef {{x: Float32Array, y: Float32Array | null, mass: Float32Array | null, cells: boolean}} Marks */

/**
 * @typedef {object} Group
 * @property {number} label from 0: its colour, and one less than its number
 * @property {RGB} colour
 * @property {number} weight
 * @property {number} x
 * @property {number} y
 * @property {number} vxx variance, or NaN where groups have none
 * @property {number} vxy
 * @property {number} vyy
 * @property {Float32Array} way x and y of its mean, frame by frame
 */

/**
 * Splits what GET marks answers.
 * @param {ArrayBuffer} data
 * @param {Headers} headers
 * @param {boolean} flat whether there is one column only
 * @returns {Marks}
 */
export function marksOf(data, headers, flat) {
  const cells = headers.get("Latent-Marks") === "cells";
  const all = new Float32Array(data), width = (flat ? 1 : 2) + (cells ? 1 : 0), n = Math.floor(all.length / width);
  const take = (/** @type {number} */ j) => Float32Array.from({ length: n }, (_, i) => all[i * width + j] ?? NaN);
  return { x: take(0), y: flat ? null : take(1), mass: cells ? take(width - 1) : null, cells };
}

/** The radius of ellipses that hold a part of a normal distribution of two columns. @param {number} p */
const reach = (p) => Math.sqrt(-2 * Math.log(1 - p));

export class Scatter {
  /**
   * @param {HTMLElement} host holds the canvases and has a size
   * @param {{small?: boolean, name?: string, testid?: string}} [options]
   */
  constructor(host, options = {}) {
    this.host = host;
    this.small = options.small ?? false;
    this.rows = make("canvas", { class: "rows", role: "img", "aria-label": options.name ?? "Rows and groups" });
    if (options.testid) this.rows.dataset.testid = options.testid;
    this.over = make("canvas", { class: "over", "aria-hidden": "true" });
    host.replaceChildren(this.rows, this.over);
    this.theme = theme();
    /** @type {Marks} */
    this.marks = { x: new Float32Array(0), y: null, mass: null, cells: false };
    this.names = { x: "", y: "" };
    /** @type {Scale} */
    this.sx = { lo: 0, hi: 1, from: 0, to: 1 };
    /** @type {Scale} */
    this.sy = { lo: 0, hi: 1, from: 1, to: 0 };
    this.colours = new Uint8Array(0);
    /** @type {{from: Uint8Array | null, to: Uint8Array | null, key: string, a: Uint8Array | null, b: Uint8Array, drawn: boolean}} */
    this.ends = { from: null, to: null, key: "", a: null, b: new Uint8Array(0), drawn: false }; // colours between which rows fade; a once it is needed
    /** @type {Uint16Array | null} */
    this.strengths = null; // of cells
    /** @type {Group[]} */
    this.groups = [];
    this.borders = false; // lines where two centres are equally near
    this.lit = -1; // the label lit up, or none
    this.point = -1; // the mark pointed at
    /** @type {((g: CanvasRenderingContext2D) => void) | null} */
    this.extra = null;
    /** @type {ImageData | null} */
    this.buffer = null;
    this.places = new Int32Array(0);
    /** @type {import("./density.js").Histogram | null} */
    this.bars = null;
    this.scale = 1;
    this.resized = () => {};
    this.sizes = new ResizeObserver(() => this.layout());
    this.sizes.observe(host);
  }

  /** Ends what watches the size. */
  close() { this.sizes.disconnect(); }

  /** Whether one column is shown. */
  get flat() { return this.marks.y === null; }

  /**
   * Other rows or other columns.
   * @param {Marks} marks
   * @param {string} x
   * @param {string} y
   */
  setMarks(marks, x, y) {
    this.marks = marks;
    this.names = { x, y };
    this.colours = new Uint8Array(3 * marks.x.length);
    this.ends.key = "";
    const heavy = marks.mass ? Math.log1p(marks.mass.reduce((a, v) => Math.max(a, v), 0)) : 0;
    this.strengths = marks.mass && Uint16Array.from(marks.mass, (v) => Math.round(256 * (0.2 + (0.8 * Math.log1p(v)) / heavy)));
    this.point = -1;
    [this.sx.lo, this.sx.hi] = extent(marks.x);
    if (marks.y) {
      [this.sy.lo, this.sy.hi] = extent(marks.y);
      this.bars = null;
    } else {
      this.bars = histogram(marks.x, marks.mass, this.sx.lo, this.sx.hi);
      [this.sy.lo, this.sy.hi] = [0, Math.max(1e-12, 1.3 * tallest(this.bars))];
    }
    mix(null, [], this.theme.none, this.colours);
    this.layout();
  }

  /** Colours of the page may have changed. */
  retheme() {
    this.theme = theme();
    this.layout();
  }

  /** Places everything anew, after a change of size or of marks. */
  layout() {
    const { g, width, height } = surface(this.rows);
    this.scale = devicePixelRatio || 1;
    const m = this.small ? { left: 36, right: 8, top: 8, bottom: 22 } : { left: 52, right: 24, top: 26, bottom: 44 };
    this.sx.from = m.left;
    this.sx.to = Math.max(m.left + 4, width - m.right);
    this.sy.from = Math.max(m.top + 4, height - m.bottom - (this.flat ? 30 : 0));
    this.sy.to = m.top;
    const w = Math.max(1, Math.round((this.sx.to - this.sx.from) * this.scale)), h = Math.max(1, Math.round((height - m.bottom - m.top) * this.scale));
    if (this.buffer?.width !== w || this.buffer.height !== h) this.buffer = new ImageData(w, h);
    this.axes(g, width, height);
    this.locate();
    this.drawRows();
    this.drawGroups();
    this.resized();
  }

  /** @param {CanvasRenderingContext2D} g @param {number} width @param {number} height */
  axes(g, width, height) {
    const t = this.theme, x = this.xTicks(), y = this.yTicks(), bottom = height - (this.small ? 22 : 44);
    g.fillStyle = css(t.paper);
    g.fillRect(0, 0, width, height);
    if (this.marks.x.length === 0) return; // never a blank axis
    g.font = `${this.small ? 11 : 12}px system-ui, sans-serif`;
    g.fillStyle = css(t.muted);
    g.textAlign = "center";
    tickTexts(x).forEach((text, i) => g.fillText(text, place(this.sx, x[i] ?? 0), bottom + 16));
    g.textAlign = "right";
    g.textBaseline = "middle";
    tickTexts(y).forEach((text, i) => g.fillText(text, this.sx.from - 8, place(this.sy, y[i] ?? 0)));
    g.textBaseline = "alphabetic";
    if (this.small) return;
    g.font = "600 12px system-ui, sans-serif";
    g.fillStyle = css(t.ink);
    g.fillText(clip(g, this.names.x, width - 80), this.sx.to, bottom + 36);
    g.textAlign = "left";
    g.fillText(clip(g, this.flat ? "density" : this.names.y, width - 40), 8, 14);
  }

  xTicks() { return this.marks.x.length === 0 ? [] : ticks(this.sx.lo, this.sx.hi, Math.max(2, Math.min(8, (this.sx.to - this.sx.from) / 110))); }
  yTicks() { return this.marks.x.length === 0 ? [] : ticks(this.sy.lo, this.sy.hi, Math.max(2, Math.min(8, (this.sy.from - this.sy.to) / 80))); }

  /** Finds the pixel of each mark. */
  locate() {
    const { x, y } = this.marks, b = this.buffer, n = x.length, s = this.scale;
    if (this.places.length !== n) this.places = new Int32Array(n);
    if (!b) return;
    const ax = (s * (this.sx.to - this.sx.from)) / (this.sx.hi - this.sx.lo), ay = (s * (this.sy.from - this.sy.to)) / (this.sy.hi - this.sy.lo);
    const strip = Math.round(b.height - 12 * s);
    for (let i = 0; i < n; i++) {
      const px = Math.round(((x[i] ?? NaN) - this.sx.lo) * ax), py = y ? Math.round((this.sy.hi - (y[i] ?? NaN)) * ay) : strip;
      this.places[i] = px >= 0 && px < b.width && py >= 0 && py < b.height ? py * b.width + px : -1;
    }
  }

  /**
   * Colours rows by shares, or between two of them.
   * @param {Uint8Array | null} from
   * @param {Uint8Array | null} to
   * @param {number} part of the way
   * @param {RGB[]} palette by group, in the shares' order
   */
  colour(from, to, part, palette) {
    const key = palette.join(";") + this.theme.none.join();
    const whole = part >= 1 || from === to, { ends } = this;
    if (whole && ends.drawn && ends.to === to && ends.key === key) return; // as it is on screen
    const mixed = (/** @type {Uint8Array | null} */ shares) => mix(shares, palette, this.theme.none, new Uint8Array(this.colours.length));
    if (ends.to !== to || ends.from !== from || ends.key !== key || ends.b.length !== this.colours.length) {
      const known = ends.key === key && ends.b.length === this.colours.length; // what was the end is often the beginning of the next
      this.ends = { from, to, key, a: known && ends.to === from ? ends.b : null, b: known && ends.to === to ? ends.b : mixed(to), drawn: false };
    }
    const { b } = this.ends, c = this.colours;
    this.ends.drawn = whole;
    if (whole) c.set(b);
    else {
      const a = (this.ends.a ??= mixed(from));
      for (let i = 0; i < c.length; i++) c[i] = /** @type {number} */ (a[i]) + part * (/** @type {number} */ (b[i]) - /** @type {number} */ (a[i]));
    }
    this.drawRows();
  }

  /** Writes all rows into the buffer and puts it on screen. */
  drawRows() {
    const b = this.buffer;
    if (!b) return;
    const n = this.places.length;
    this.ground(b);
    if (!this.flat || !this.marks.cells) {
      const size = n > 50000 ? 1 : n > 10000 ? 1.4 : n > 2000 ? 2 : n > 600 ? 2.8 : 3.4;
      const alpha = this.marks.cells ? 1 : n > 50000 ? 0.55 : n > 10000 ? 0.7 : 0.88;
      const stamp = this.flat ? tick(this.scale, n) : this.marks.cells ? block(b.width, b.height) : disc((this.small ? 0.75 : 1) * size * this.scale, alpha);
      paint(new Uint32Array(b.data.buffer), b.width, b.height, this.places, this.colours, this.strengths, stamp);
    }
    this.rows.getContext("2d")?.putImageData(b, Math.round(this.sx.from * this.scale), Math.round(this.sy.to * this.scale));
  }

  /** Paper and the lines of the grid. @param {ImageData} b */
  ground(b) {
    const t = this.theme, all = new Uint32Array(b.data.buffer);
    const word = (/** @type {RGB} */ c) => (255 << 24) | (c[2] << 16) | (c[1] << 8) | c[0];
    all.fill(word(t.paper));
    const line = word(t.line), thick = Math.max(1, Math.round(this.scale));
    const bottom = Math.round((this.sy.from - this.sy.to) * this.scale);
    for (const v of this.xTicks()) {
      const x = Math.round((place(this.sx, v) - this.sx.from) * this.scale);
      for (let j = 0; j < thick; j++) if (x + j < b.width) for (let y = 0; y < Math.min(bottom, b.height); y++) all[y * b.width + x + j] = line;
    }
    for (const v of this.yTicks()) {
      const y = Math.round((place(this.sy, v) - this.sy.to) * this.scale);
      for (let j = 0; j < thick; j++) if (y + j < b.height) all.fill(line, (y + j) * b.width, (y + j + 1) * b.width);
    }
  }

  /** Draws the groups, and what is laid over them. */
  drawGroups() {
    const { g } = surface(this.over);
    g.save();
    g.beginPath();
    g.rect(this.sx.from, this.sy.to, this.sx.to - this.sx.from, this.sy.from - this.sy.to);
    g.clip();
    if (this.flat && this.bars) density(g, this.sx, this.sy, this.bars, this.groups, this.theme, this.lit);
    else {
      for (const c of this.groups) this.ellipses(g, c);
      if (this.borders) this.border(g);
      for (const c of this.groups) this.way(g, c);
    }
    g.restore();
    this.discs(g);
    if (this.point >= 0) this.ring(g, this.point);
    this.extra?.(g);
  }

  /** How strongly a group is drawn. @param {Group} c */
  strength(c) { return this.lit >= 0 && this.lit !== c.label ? 0.2 : 1; }

  /** @param {CanvasRenderingContext2D} g @param {Group} c */
  ellipses(g, c) {
    const a = Math.sqrt(c.vxx), b = c.vxy / a, d = Math.sqrt(Math.max(0, c.vyy - b * b));
    if (!(a > 0) || !Number.isFinite(d)) return;
    for (const [p, width, fill] of /** @type {[number, number, number][]} */ ([[0.95, 1.5, 0.05], [0.5, 2.25, 0.1]])) {
      const r = reach(p);
      g.beginPath();
      for (let i = 0; i < 96; i++) {
        const u = Math.cos((i / 48) * Math.PI), v = Math.sin((i / 48) * Math.PI);
        g.lineTo(place(this.sx, c.x + r * a * u), place(this.sy, c.y + r * (b * u + d * v)));
      }
      g.closePath();
      g.fillStyle = css(c.colour, fill * this.strength(c) * (this.theme.dark ? 1.3 : 1));
      g.fill();
      g.strokeStyle = css(c.colour, (p === 0.5 ? 1 : 0.8) * this.strength(c));
      g.lineWidth = width * (this.small ? 0.8 : 1);
      g.stroke();
    }
  }

  /** The way of a mean, with a paper edge; its start as a ring. @param {CanvasRenderingContext2D} g @param {Group} c */
  way(g, c) {
    const n = c.way.length / 2;
    if (n < 1) return;
    g.lineJoin = "round";
    for (const [width, colour] of /** @type {[number, RGB][]} */ ([[4, this.theme.paper], [1.75, c.colour]])) {
      g.beginPath();
      for (let i = 0; i < n; i++) g.lineTo(place(this.sx, c.way[2 * i] ?? 0), place(this.sy, c.way[2 * i + 1] ?? 0));
      g.lineTo(place(this.sx, c.x), place(this.sy, c.y));
      g.strokeStyle = css(colour, this.strength(c));
      g.lineWidth = width;
      g.stroke();
    }
    g.beginPath();
    g.arc(place(this.sx, c.way[0] ?? 0), place(this.sy, c.way[1] ?? 0), this.small ? 3 : 4, 0, 2 * Math.PI);
    g.fillStyle = css(this.theme.paper);
    g.fill();
    g.stroke();
  }

  /** All numbers; those that lie on one another are set side by side, over densities one below the other. @param {CanvasRenderingContext2D} g */
  discs(g) {
    const taken = /** @type {[number, number][]} */ ([]), far = this.small ? 12 : 17;
    for (const c of this.groups.toSorted((a, b) => a.label - b.label)) {
      let x = place(this.sx, c.x), y = this.flat ? this.sy.to + 14 : place(this.sy, c.y);
      if (this.flat) while (taken.some(([a, b]) => Math.abs(a - x) < 24 && b === y)) y += 25;
      else while (taken.some(([a, b]) => Math.abs(a - x) < 4 && Math.abs(b - y) < 4)) x += far;
      taken.push([x, y]);
      this.disc(g, c, x, y);
    }
  }

  /** @param {CanvasRenderingContext2D} g @param {Group} c @param {number} x @param {number} y */
  disc(g, c, x, y) {
    if (!(x >= this.sx.from && x <= this.sx.to && y >= this.sy.to && y <= this.sy.from)) return;
    const r = this.small ? 8 : 11;
    g.globalAlpha = this.lit >= 0 && this.lit !== c.label ? 0.35 : 1;
    g.beginPath();
    g.arc(x, y, r + 2, 0, 2 * Math.PI);
    g.fillStyle = css(this.theme.paper);
    g.fill();
    g.beginPath();
    g.arc(x, y, r, 0, 2 * Math.PI);
    g.fillStyle = css(c.colour);
    g.fill();
    g.fillStyle = inkOn(c.colour);
    g.font = `700 ${this.small ? 10 : 12}px system-ui, sans-serif`;
    g.textAlign = "center";
    g.textBaseline = "middle";
    g.fillText(String(c.label + 1), x, y + 0.5);
    g.textAlign = "left";
    g.textBaseline = "alphabetic";
    g.globalAlpha = 1;
  }

  /** @param {CanvasRenderingContext2D} g @param {number} i */
  ring(g, i) {
    const p = this.pixel(i);
    if (!p) return;
    g.beginPath();
    g.arc(p[0], p[1], 7, 0, 2 * Math.PI);
    g.strokeStyle = css(this.theme.ink);
    g.lineWidth = 2;
    g.stroke();
  }

  /** Where two centres are equally near and no third is nearer. @param {CanvasRenderingContext2D} g */
  border(g) {
    const far = 4 * Math.hypot(this.sx.hi - this.sx.lo, this.sy.hi - this.sy.lo);
    g.strokeStyle = css(this.theme.ink, 0.55);
    g.lineWidth = 1.25;
    g.beginPath();
    this.groups.forEach((a, i) => this.groups.slice(i + 1).forEach((b) => {
      const mx = (a.x + b.x) / 2, my = (a.y + b.y) / 2, length = Math.hypot(b.x - a.x, b.y - a.y);
      if (!(length > 0)) return;
      const dx = -(b.y - a.y) / length, dy = (b.x - a.x) / length;
      let lo = -far, hi = far;
      for (const c of this.groups) {
        if (c === a || c === b) continue;
        const slope = 2 * (dx * (c.x - a.x) + dy * (c.y - a.y)); // |p-a|² - |p-c|² is linear along the line
        const at0 = (mx - a.x) ** 2 + (my - a.y) ** 2 - (mx - c.x) ** 2 - (my - c.y) ** 2;
        if (Math.abs(slope) < 1e-300) { if (at0 > 0) hi = lo; continue; }
        if (slope > 0) hi = Math.min(hi, -at0 / slope);
        else lo = Math.max(lo, -at0 / slope);
      }
      if (lo >= hi) return;
      g.moveTo(place(this.sx, mx + lo * dx), place(this.sy, my + lo * dy));
      g.lineTo(place(this.sx, mx + hi * dx), place(this.sy, my + hi * dy));
    }));
    g.stroke();
  }

  /** The place of a mark on the page's canvas. @param {number} i @returns {[number, number] | null} */
  pixel(i) {
    const at = this.places[i] ?? -1, w = this.buffer?.width ?? 1;
    return at < 0 ? null : [this.sx.from + (at % w) / this.scale, this.sy.to + Math.floor(at / w) / this.scale];
  }

  /** The row within a few pixels of a place, or -1. @param {number} x @param {number} y */
  nearest(x, y) {
    if (this.marks.cells) return -1;
    let best = -1, least = 12 ** 2;
    for (let i = 0; i < this.places.length; i++) {
      const p = this.pixel(i);
      if (!p) continue;
      const d = (p[0] - x) ** 2 + (this.flat ? 0 : (p[1] - y) ** 2);
      if (d < least) { least = d; best = i; }
    }
    return best;
  }
}

/** Shortens a text to a width. @param {CanvasRenderingContext2D} g @param {string} text @param {number} width */
export function clip(g, text, width) {
  if (g.measureText(text).width <= width) return text;
  let n = Math.min(text.length, 200);
  while (n > 1 && g.measureText(text.slice(0, n) + "…").width > width) n--;
  return text.slice(0, n) + "…";
}
