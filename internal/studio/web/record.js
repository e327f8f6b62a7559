// The record of a climb: what the server streams of it, and what of it was fetched to be drawn. Nothing here is computed anew.
import { binary, stream } from "./api.js";

/**
 * @typedef {object} Frame
 * @property {number} at
 * @property {"start" | "E" | "M" | "S"} half
 * @property {number} step
 * @property {number | null} f free energy
 * @property {number | null} ll log-likelihood of the frame's parameters
 * @property {number | null} gap
 * @property {number | null} se standard errors to go
 * @property {number} beta
 * @property {number} sweeps
 * @property {number} seconds
 */

/** @typedef {{result: any, finding: string, trust: string, order: number[], command: string, go: string, files: string[], interrupted: boolean, thinned: number, left_out: number}} End */

/** Bytes of shares that are kept at once. */
const kept = 64 << 20;

export class Record {
  /** @param {AbortSignal} signal ends the fit and all fetching */
  constructor(signal) {
    this.signal = signal;
    this.halt = new AbortController(); // ends the fit alone
    this.id = "";
    this.k = 0;
    /** @type {string[]} */
    this.columns = [];
    /** @type {Frame[]} */
    this.frames = [];
    /** @type {End | null} */
    this.end = null;
    this.measured = 0; // when the climb has ended and the measuring of its end began, by performance.now(); 0 while it climbs
    this.x = "";
    /** @type {string | null} */
    this.y = null;
    /** Components of the frames fetched: weight, means, covariances, climb's order. */
    this.components = new Float32Array(0);
    this.have = 0; // frames whose components are here
    this.plane = 0; // counts changes of columns
    /** @type {Promise<void> | null} */
    this.fetching = null;
    /** @type {Map<number, Uint8Array>} */
    this.shares = new Map();
    /** @type {Map<number, Promise<Uint8Array>>} */
    this.asked = new Map();
  }

  /** Numbers a component has on the plane. */
  get stride() { return this.y ? 6 : 3; }

  /** Whether the fit was stopped before its end. */
  get stopped() { return this.halt.signal.aborted && !this.signal.aborted && this.end === null; }

  /** Whether no more frames will come. */
  get over() { return this.end !== null || this.stopped; }

  /** Whether the climb has ended and its end is being measured. */
  get measuring() { return this.measured > 0 && !this.over; }

  /** The last frame that can be shown. */
  get last() { return Math.max(0, this.have - 1); }

  /**
   * Starts the fit and reads it to its end. changed is called after each line, and when components have come.
   * @param {any} body of POST /api/runs
   * @param {() => void} changed
   */
  async run(body, changed) {
    /** @type {string | null} */
    let failed = null;
    const ends = AbortSignal.any([this.signal, this.halt.signal]);
    const reading = stream("/api/runs", body, ends, (line) => {
      if (line.run) {
        this.id = line.run;
        this.k = line.k ?? this.k;
        this.columns = line.columns ?? [];
      }
      for (const f of line.frames ?? []) this.frames.push({ ...f, beta: f.beta ?? 1 }); // hard steps have no temperature to tell
      if (line.progress?.measuring) this.measured = performance.now();
      else if (line.frames) this.measured = 0; // another climb has begun from the end
      if (line.result !== undefined) this.end = line;
      if (line.error) failed = line.error;
      if (line.frames) this.follow(changed);
      changed();
    });
    await reading.catch((e) => { if (!this.stopped) throw e; });
    if (failed !== null) throw new Error(failed);
    if (!this.end && !this.stopped) throw new Error("the run broke off before its end: run it again");
    await this.follow(changed);
  }

  /**
   * Fetches the components of frames that have come since.
   * @param {() => void} [changed]
   * @returns {Promise<void>}
   */
  follow(changed) {
    if (!this.x || !this.id || this.have >= this.frames.length) return this.fetching ?? Promise.resolve();
    this.fetching ??= this.fetch(changed).finally(() => { this.fetching = null; });
    return this.fetching;
  }

  /** @param {(() => void)} [changed] */
  async fetch(changed) {
    while (this.have < this.frames.length) {
      const plane = this.plane, from = this.have;
      const y = this.y ? `&y=${encodeURIComponent(this.y)}` : "";
      const { data } = await binary(`/api/runs/${this.id}/components?x=${encodeURIComponent(this.x)}${y}&from=${from}`, this.signal);
      if (plane !== this.plane) continue;
      const got = new Float32Array(data), size = this.k * this.stride;
      const n = Math.min(Math.floor(got.length / size), this.frames.length - from);
      if (n === 0) return;
      const need = (from + n) * size;
      if (this.components.length < need) {
        const larger = new Float32Array(Math.max(need, 2 * from * size));
        larger.set(this.components.subarray(0, from * size));
        this.components = larger;
      }
      this.components.set(got.subarray(0, n * size), from * size);
      this.have = from + n;
      changed?.();
    }
  }

  /**
   * Shows other columns: components are fetched anew, nothing is fitted.
   * @param {string} x
   * @param {string | null} y null for the density of x
   */
  async project(x, y) {
    if (x === this.x && y === this.y && this.have > 0) return;
    this.x = x;
    this.y = y;
    this.plane++;
    this.have = 0;
    if (this.fetching) await this.fetching;
    await this.follow();
  }

  /** The frame whose responsibilities are those of frame at: an M-step leaves them. @param {number} at */
  sharesFrame(at) {
    const f = this.frames[at];
    return f?.half === "M" && this.frames[at - 1]?.half === "E" ? at - 1 : at;
  }

  /** Shares of a frame if they are here: null where no row has any yet. @param {number} at @returns {Uint8Array | null | undefined} */
  sharesNow(at) {
    if (at <= 0 || this.frames[at]?.half === "start") return null;
    return this.shares.get(this.sharesFrame(at));
  }

  /** Shares of a frame, fetched where needed. @param {number} at @returns {Promise<Uint8Array | null>} */
  async sharesAt(at) {
    const now = this.sharesNow(at);
    if (now !== undefined) return now;
    const f = this.sharesFrame(at);
    let asked = this.asked.get(f);
    if (!asked) {
      asked = binary(`/api/runs/${this.id}/responsibilities?frame=${f}`, this.signal).then((r) => this.keep(f, new Uint8Array(r.data))).finally(() => this.asked.delete(f));
      this.asked.set(f, asked);
    }
    return asked;
  }

  /** @param {number} f @param {Uint8Array} bytes */
  keep(f, bytes) {
    this.shares.set(f, bytes);
    const most = Math.max(4, Math.floor(kept / Math.max(1, bytes.length)));
    for (const old of this.shares.keys()) {
      if (this.shares.size <= most) break;
      this.shares.delete(old);
    }
    return bytes;
  }

  /** Asks for the shares that playing needs next. @param {number} at */
  ahead(at) {
    for (let i = at + 1; i <= Math.min(at + 6, this.last); i++) {
      if (this.sharesNow(i) === undefined && this.asked.size < 4) this.sharesAt(i).catch(() => {});
    }
  }

  /** One component at a frame, as a view of its numbers. @param {number} at @param {number} c */
  component(at, c) {
    const i = (at * this.k + c) * this.stride;
    return this.components.subarray(i, i + this.stride);
  }

  /** The place of component c among the colours: the result's label once it is known. @param {number} c */
  labelOf(c) { return this.end?.order?.[c] ?? c; }

  /** The log-likelihood at a frame, with that of the next E-step for an M-step. @param {number} at */
  logLikelihood(at) {
    const f = this.frames[at];
    if (!f) return null;
    if (f.ll != null) return f.ll;
    const next = this.frames[at + 1];
    if (f.half === "M" && next?.half === "E") return next.ll;
    return null;
  }

  /** Steps the climb took. */
  get steps() { return this.frames[this.frames.length - 1]?.step ?? 0; }
}
