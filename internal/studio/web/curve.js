// The climb as a picture: log-likelihood and free energy by half step, by value or as what is still to gain.
import { css, theme } from "./colour.js";
import { place, power, powers, tickTexts, ticks, value } from "./scale.js";
import { surface } from "./timeline.js";

/** @typedef {import("./record.js").Frame} Frame */
/** @typedef {{frames: Frame[], last: number, ll: (at: number) => number | null, best: number | null}} Climb */

/** Above as many half steps lines have no dots. */
const dotted = 70;
/** What counts as nothing left to gain. */
const floor = 1e-6;

export class Curve {
  /** @param {HTMLCanvasElement} c @param {(at: number) => void} moved the cursor was dragged to a frame */
  constructor(c, moved) {
    this.canvas = c;
    this.log = false;
    this.at = 0;
    /** @type {Climb} */
    this.climb = { frames: [], last: 0, ll: () => null, best: null };
    this.sx = { lo: 0, hi: 1, from: 0, to: 1 };
    const drag = (/** @type {PointerEvent} */ e) => {
      const at = Math.round(value(this.sx, e.clientX - c.getBoundingClientRect().left));
      moved(Math.max(0, Math.min(this.climb.last, at)));
    };
    c.addEventListener("pointerdown", (e) => { c.setPointerCapture(e.pointerId); drag(e); });
    c.addEventListener("pointermove", (e) => { if (c.hasPointerCapture(e.pointerId)) drag(e); });
    this.sizes = new ResizeObserver(() => this.draw());
    this.sizes.observe(c);
  }

  close() { this.sizes.disconnect(); }

  /** Free energy at a frame, where it bounds the log-likelihood. @param {number} i */
  f(i) {
    const f = this.climb.frames[i];
    return !f || f.beta !== 1 ? null : f.f;
  }

  /** The values of a line as they are drawn. @param {(i: number) => number | null} of @returns {(number | null)[]} */
  line(of) {
    const best = this.climb.best;
    return Array.from({ length: this.climb.last + 1 }, (_, i) => {
      const v = of(i);
      if (v == null || !this.log) return v;
      return best == null ? null : Math.log10(Math.max(floor, best - v));
    });
  }

  draw() {
    const { g, width, height } = surface(this.canvas), t = theme(), { frames, last } = this.climb;
    if (frames.length === 0) return;
    const ll = this.line(this.climb.ll), f = this.line((i) => this.f(i));
    if (![...ll, ...f].some((v) => v != null)) {
      g.fillStyle = css(t.muted);
      g.font = "12px system-ui, sans-serif";
      g.fillText("This climb tells no value step by step.", 0, 24);
      return;
    }
    const [lo, hi] = this.range(ll, f);
    this.sx = { lo: 0, hi: Math.max(1, last), from: 58, to: width - 8 };
    const sy = { lo, hi, from: height - 24, to: 10 };
    this.axis(g, sy, t);
    g.fillStyle = css(t.muted);
    g.font = "11px system-ui, sans-serif";
    g.fillText("start", this.sx.from, height - 6);
    g.textAlign = "right";
    const steps = frames[last]?.step ?? 0;
    g.fillText(steps === 1 ? "1 step" : `${steps} steps`, this.sx.to, height - 6);
    g.textAlign = "left";
    g.save();
    g.beginPath();
    g.rect(this.sx.from - 5, 0, this.sx.to - this.sx.from + 10, height - 22);
    g.clip();
    this.bands(g, t, height);
    this.gap(g, sy, ll, f, css(t.accent, t.dark ? 0.28 : 0.15));
    this.path(g, sy, ll, css(t.ink), false);
    this.path(g, sy, f, css(t.accent), last <= dotted);
    this.cursor(g, sy, t, ll[this.at] ?? f[this.at] ?? null, height);
    g.restore();
  }

  /** The first step, which often gains more than all others, is let run out below. @param {(number | null)[]} ll @param {(number | null)[]} f @returns {[number, number]} */
  range(ll, f) {
    const { frames, last } = this.climb;
    const first = this.log || last < 5 ? 0 : frames.findIndex((x) => x.step > 1);
    let lo = Infinity, hi = -Infinity;
    for (let i = Math.max(0, first); i <= last; i++) {
      for (const v of [ll[i], f[i]]) if (v != null) { lo = Math.min(lo, v); hi = Math.max(hi, v); }
    }
    if (lo > hi) return [0, 1];
    const pad = hi > lo ? 0.08 * (hi - lo) : Math.max(0.5, Math.abs(hi) * 1e-6);
    return [lo - pad, hi + pad];
  }

  /** @param {CanvasRenderingContext2D} g @param {import("./scale.js").Scale} sy @param {import("./colour.js").Theme} t */
  axis(g, sy, t) {
    const at = this.log ? powers(sy.lo, sy.hi, 5) : ticks(sy.lo, sy.hi, 4), texts = this.log ? at.map(power) : tickTexts(at);
    g.font = "11px system-ui, sans-serif";
    g.textAlign = "right";
    g.textBaseline = "middle";
    at.forEach((v, i) => {
      const y = Math.round(place(sy, v)) + 0.5;
      g.strokeStyle = css(t.line);
      g.beginPath(); g.moveTo(this.sx.from, y); g.lineTo(this.sx.to, y); g.stroke();
      g.fillStyle = css(t.muted);
      g.fillText(texts[i] ?? "", this.sx.from - 8, y);
    });
    g.textAlign = "left";
    g.textBaseline = "alphabetic";
  }

  /** Temperatures other than 1, or that anything else was before. @param {CanvasRenderingContext2D} g @param {import("./colour.js").Theme} t @param {number} height */
  bands(g, t, height) {
    const { frames, last } = this.climb;
    if (!frames.some((f) => f.beta !== 1)) return;
    let from = 1, odd = false, free = -Infinity;
    for (let i = 2; i <= last + 1; i++) {
      if (i <= last && frames[i]?.beta === frames[from]?.beta) continue;
      const a = place(this.sx, from - 0.5), b = place(this.sx, i - 0.5);
      g.fillStyle = css(t.muted, odd ? 0.14 : 0.06);
      g.fillRect(a, 8, b - a, height - 32);
      const text = `β ${frames[from]?.beta ?? 1}`;
      g.font = "10px system-ui, sans-serif";
      const wide = g.measureText(text).width, at = Math.min(a + 2, this.sx.to - wide); // the last band may be narrower than its name
      if (at >= free) {
        g.fillStyle = css(t.muted);
        g.fillText(text, at, 18);
        free = at + 4 + wide;
      }
      from = i;
      odd = !odd;
    }
  }

  /** @param {CanvasRenderingContext2D} g @param {import("./scale.js").Scale} sy @param {(number | null)[]} a @param {(number | null)[]} b @param {string} colour */
  gap(g, sy, a, b, colour) {
    g.fillStyle = colour;
    for (let i = 1; i < a.length; i++) {
      const [p, q, r, s] = [a[i - 1], a[i], b[i - 1], b[i]];
      if (p == null || q == null || r == null || s == null) continue;
      const x = place(this.sx, i - 1), y = place(this.sx, i);
      g.beginPath();
      g.moveTo(x, place(sy, p)); g.lineTo(y, place(sy, q)); g.lineTo(y, place(sy, s)); g.lineTo(x, place(sy, r));
      g.fill();
    }
  }

  /** @param {CanvasRenderingContext2D} g @param {import("./scale.js").Scale} sy @param {(number | null)[]} v @param {string} colour @param {boolean} dots E-steps are hollow, others full */
  path(g, sy, v, colour, dots) {
    g.strokeStyle = g.fillStyle = colour;
    g.lineWidth = 1.75;
    g.lineJoin = "round";
    g.beginPath();
    let on = false;
    v.forEach((y, i) => {
      if (y == null) on = false;
      else if (on) g.lineTo(place(this.sx, i), place(sy, y));
      else { g.moveTo(place(this.sx, i), place(sy, y)); on = true; }
    });
    g.stroke();
    if (!dots) return;
    const paper = css(theme().paper);
    v.forEach((y, i) => {
      if (y == null) return;
      g.beginPath();
      g.arc(place(this.sx, i), place(sy, y), 2.6, 0, 2 * Math.PI);
      g.fillStyle = this.climb.frames[i]?.half === "E" ? paper : colour;
      g.fill();
      g.lineWidth = 1.25;
      g.stroke();
    });
  }

  /** @param {CanvasRenderingContext2D} g @param {import("./scale.js").Scale} sy @param {import("./colour.js").Theme} t @param {number | null} v @param {number} height */
  cursor(g, sy, t, v, height) {
    const x = Math.round(place(this.sx, this.at)) + 0.5;
    g.strokeStyle = css(t.muted);
    g.lineWidth = 1;
    g.beginPath(); g.moveTo(x, 6); g.lineTo(x, height - 22); g.stroke();
    if (v == null) return;
    g.beginPath();
    g.arc(x, place(sy, v), 4, 0, 2 * Math.PI);
    g.fillStyle = css(t.ink);
    g.fill();
  }
}
