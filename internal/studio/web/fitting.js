// A fit under way: its button, its progress, its stop.
import { aborted, Ended, get, stream, words } from "./api.js";
import { complain } from "./dom.js";
import { Outcome } from "./outcome.js";
import { announce, working } from "./status.js";

/** @typedef {import("./columns.js").Table} Table */

/** The fit of Your data. */
export class Fitting {
  /**
   * @param {(name: string) => any} at finds an element by its name
   * @param {AbortSignal} left ends requests when the page is left
   * @param {() => any} body what is asked for; an Error says what is wrong
   * @param {(run: string) => void} done is told the run that is shown
   */
  constructor(at, left, body, done) {
    this.at = at;
    this.left = left;
    this.body = body;
    this.done = done;
    this.outcome = new Outcome(at, left);
    /** @type {Table | null} */
    this.table = null;
    /** @type {AbortController | null} */
    this.running = null;
    this.run = "";
    this.doing = "";
    at("fit-form").addEventListener("submit", (/** @type {Event} */ e) => {
      e.preventDefault();
      this.start();
    });
    at("fit-cancel").addEventListener("click", () => this.stop());
  }

  /** Another table is there, or a model in place of one. @param {Table | null} table */
  clear(table) {
    this.running?.abort();
    this.running = null;
    this.table = table;
    this.buttons(false);
    this.outcome.hide();
    complain(this.at("fit-error"), "");
    this.at("fit-status").textContent = "";
  }

  leave() {
    this.running?.abort();
  }

  async start() {
    const table = this.table;
    if (!table || this.running) return;
    let body;
    try {
      body = this.body();
    } catch (e) {
      complain(this.at("fit-error"), words(e));
      return;
    }
    const mine = (this.running = new AbortController());
    this.run = "";
    this.began();
    const clock = this.clock(mine);
    try {
      await working(this.follow(body, mine, table));
    } catch (e) {
      if (this.running === mine) await this.broke(e, mine, table);
    } finally {
      clearInterval(clock);
      if (this.running === mine) {
        this.running = null;
        this.buttons(false);
      }
    }
  }

  /** @param {any} body @param {AbortController} mine @param {Table} table */
  async follow(body, mine, table) {
    let ended = false;
    await stream("/api/runs", body, mine.signal, (line) => {
      ended ||= line.result !== undefined;
      this.line(line, mine, table);
    });
    if (!ended) throw new Ended();
  }

  began() {
    complain(this.at("fit-error"), "");
    this.at("result-panel").classList.add("stale");
    this.doing = "fitting";
    this.buttons(true);
    announce("fitting");
  }

  /** Tells what is done and for how long. @param {AbortController} mine */
  clock(mine) {
    const start = performance.now();
    const tick = () => {
      if (this.running !== mine || mine.signal.aborted) return;
      const s = Math.floor((performance.now() - start) / 1000);
      this.at("fit-status").textContent = this.doing + (s > 0 && this.doing ? `, ${s} s` : "");
    };
    tick();
    return setInterval(tick, 100);
  }

  /** @param {any} line of the answer @param {AbortController} mine @param {Table} table */
  line(line, mine, table) {
    if (this.running !== mine) return;
    if (line.run) this.run = line.run;
    if (line.progress) this.doing = progress(line.progress);
    if (line.error) throw new Error(line.error);
    if (line.result) this.show(line, table);
  }

  /** @param {any} line the last one @param {Table} table */
  show(line, table) {
    const state = line.interrupted ? "interrupted" : line.result.converged ? "finished" : "not finished";
    this.doing = line.interrupted ? "stopped: below is the best so far" : "";
    this.at("fit-status").textContent = this.doing;
    this.at("result-panel").classList.remove("stale");
    this.outcome.show(line, this.run, table, state);
    if (this.running) this.at("result-panel").scrollIntoView();
    this.done(this.run);
    announce(`${state}: ${line.finding ?? ""}`);
  }

  /** Stops the fit; the best so far is shown. */
  stop() {
    if (!this.running) return;
    this.at("fit-status").textContent = "stopping";
    this.running.abort();
  }

  /** The answer ended early. @param {unknown} e @param {AbortController} mine @param {Table} table */
  async broke(e, mine, table) {
    if (this.left.aborted) return;
    if (!aborted(e)) return this.failed(e);
    const line = this.run ? await get(`/api/runs/${encodeURIComponent(this.run)}`, this.left).catch(() => null) : null; // answers when the fit has ended
    if (this.running !== mine || this.left.aborted) return;
    if (line?.result) this.show({ ...line, interrupted: true }, table);
    else this.none();
  }

  /** Nothing came of it. */
  none() {
    this.at("result-panel").classList.remove("stale");
    this.at("fit-status").textContent = "stopped before anything was found";
    announce("stopped before anything was found");
  }

  /** Shows a run of before. @param {string} run @param {Table} table */
  async again(run, table) {
    const line = await get(`/api/runs/${encodeURIComponent(run)}`, this.left).catch(() => null);
    if (!line?.result || this.left.aborted) return;
    this.run = run;
    this.show(line, table);
  }

  /** @param {unknown} e */
  failed(e) {
    this.at("fit-status").textContent = e instanceof Ended ? e.message : "";
    complain(this.at("fit-error"), words(e));
  }

  /** @param {boolean} on whether a fit is under way */
  buttons(on) {
    const [fit, stop] = [this.at("fit-button"), this.at("fit-cancel")];
    const focused = document.activeElement === fit || document.activeElement === stop;
    fit.hidden = on;
    stop.hidden = !on;
    if (focused) (on ? stop : fit).focus();
  }
}

/** What a fit does, in words. @param {any} p */
function progress(p) {
  if (p.measuring) return "the climb has ended; its end is being measured (standard errors, directions)";
  const parts = [];
  if (p.candidates) parts.push(`candidate ${p.candidate} of ${p.candidates}`);
  if (p.starts) parts.push(`start ${p.start} of ${p.starts}`);
  if (p.sweep) parts.push(`sweep ${p.sweep}`);
  if (p.se !== null && p.se !== undefined) parts.push(`${Number(p.se.toPrecision(2))} standard errors to go`);
  return parts.join(", ") || "fitting";
}
