// Race: several algorithms from the same start, side by side, passes over the rows as the clock.
import { aborted, binary, open, state, words } from "./api.js";
import { groupsBetween } from "./between.js";
import { groupColour, theme } from "./colour.js";
import { base, canvas, complain, fill, input, make, named, part, playGlyph, pressed, select } from "./dom.js";
import { drawLanes, dashes } from "./lanes.js";
import { Player } from "./player.js";
import { Record } from "./record.js";
import { cell, fixed } from "./scale.js";
import { Scatter, marksOf } from "./scatter.js";
import { announce, rename, visit, working } from "./status.js";
import { timeline } from "./timeline.js";
import { ask, climbs, plain, queryText, read, write } from "./view.js";

/** @typedef {import("./api.js").Data} Data */

/** @type {[string, string][]} */
const lanes = [...climbs, ["kmeans", "k-means"]];
/** A tick of the clock in milliseconds where there are few of them, and how long a race plays at least. */
const pace = 130, shortest = 3000;
const atFirst = ["em", "em-lbfgs", "anti-annealing", "kmeans"];

/**
 * @typedef {object} Lane
 * @property {string} algorithm
 * @property {string} title
 * @property {number} place its colour and dash
 * @property {Record} record
 * @property {Scatter} scatter
 * @property {HTMLElement} panel
 * @property {HTMLElement} says
 * @property {HTMLTableRowElement} row
 * @property {string} failed
 */

export class Race {
  constructor() {
    this.root = document.body;
    this.view = plain();
    /** @type {string[]} */
    this.chosen = [];
    /** @type {Lane[]} */
    this.lanes = [];
    this.ends = new AbortController();
    this.abort = new AbortController();
    this.clock = "sweeps";
    this.player = new Player({ // its frames are ticks of the clock
      last: () => this.span(), complete: () => true, ready: (at) => this.moving(at).every(([r, i]) => r.sharesNow(i) !== undefined),
      load: (at) => this.load(at),
      show: (at) => this.show(at), draw: (a, b, u) => this.draw(a, b, u), playing: (on) => playGlyph(named(this.root, "race-play"), on),
    });
    this.sort = { by: "", down: false };
    this.sizes = new ResizeObserver(() => { this.curve(); this.line(this.player.at); });
  }

  /** @param {HTMLElement} root @param {URLSearchParams} query */
  async mount(root, query) {
    this.root = root;
    const { view, complaints } = read(withoutLanes(query), { ...plain(), k: 3, seed: 2 });
    this.view = view;
    const asked = (query.get("algorithms") ?? "").split(",").filter((a) => a !== "");
    const unknown = asked.filter((a) => !lanes.some(([name]) => name === a));
    if (unknown.length) complaints.push(`algorithms=${unknown.join(",")} in the address is not known: it is left out`);
    this.chosen = asked.filter((a) => !unknown.includes(a));
    if (this.chosen.length === 0) this.chosen = [...atFirst];
    this.controls();
    this.listen();
    complain(part(root, "error"), complaints.join("; "));
    state().then((s) => {
      /** @type {[string, string][]} */
      const options = s.sets.map((b) => [b.name, b.name]);
      if (s.file || this.view.data === "file") options.push(["file", base(s.file?.name ?? "my file")]);
      if (!options.some(([v]) => v === this.view.data)) options.unshift([this.view.data, this.view.data]);
      fill(select(root, "race-data"), options, this.view.data);
    }).catch(() => {});
    await this.run();
  }

  unmount() {
    this.ends.abort();
    this.abort.abort();
    this.player.stop();
    for (const l of this.lanes) l.scatter.close();
    this.sizes.disconnect();
  }

  controls() {
    const { root, view } = this;
    fill(select(root, "race-data"), [[view.data, view.data]], view.data);
    input(root, "race-k").value = String(view.k);
    input(root, "race-seed").value = String(view.seed);
    select(root, "race-init").value = view.init;
    const box = root.querySelector(".lanes");
    for (const [name, title] of lanes) {
      const check = make("input", { type: "checkbox", value: name });
      check.checked = this.chosen.includes(name);
      box?.append(make("label", { class: "pill" }, check, make("span", {}, title)));
    }
  }

  listen() {
    const { root } = this, on = { signal: this.ends.signal };
    const form = /** @type {HTMLFormElement} */ (part(root, "controls"));
    form.addEventListener("submit", (e) => { e.preventDefault(); this.change(); }, on);
    named(root, "race-play").addEventListener("click", () => this.player.toggle(), on);
    const scrub = input(root, "race-scrub");
    scrub.addEventListener("input", () => this.go(Number(scrub.value)), on);
    part(root, "clock").addEventListener("change", () => {
      this.clock = pressed(part(root, "clock"));
      this.grown();
      this.go(this.span());
    }, on);
    for (const b of root.querySelectorAll("[data-sort]")) b.addEventListener("click", () => this.sortBy(b.getAttribute("data-sort") ?? ""), on);
    document.addEventListener("themechange", () => this.retheme(), on);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.retheme(), on);
    this.sizes.observe(canvas(root, "race-curve"));
  }

  change() {
    const { root, view } = this;
    view.data = select(root, "race-data").value || view.data;
    view.init = select(root, "race-init").value || view.init;
    const k = input(root, "race-k").valueAsNumber, seed = input(root, "race-seed").valueAsNumber;
    if (Number.isInteger(k) && k >= 1) view.k = k;
    if (Number.isInteger(seed) && seed >= 0) view.seed = seed;
    const checked = [...root.querySelectorAll(".lanes input")].filter((e) => /** @type {HTMLInputElement} */ (e).checked).map((e) => /** @type {HTMLInputElement} */ (e).value);
    this.chosen = [...this.chosen.filter((a) => checked.includes(a)), ...checked.filter((a) => !this.chosen.includes(a))];
    complain(part(root, "error"), this.chosen.length ? "" : "choose at least one algorithm");
    if (this.chosen.length === 0) return;
    visit(this.address());
    this.run();
  }

  address() {
    const q = write({ ...this.view, algorithm: "em" });
    q.delete("algorithm");
    q.set("algorithms", this.chosen.join(","));
    return "/race?" + queryText(q);
  }

  /** Runs all lanes: mixtures first, since k-means starts where they do. */
  async run() {
    this.abort.abort();
    this.abort = new AbortController();
    const signal = this.abort.signal;
    this.player.stop();
    rename(this.address());
    try {
      await working(this.race(signal));
      if (signal.aborted) return;
      announce(`${this.lanes.length} climbs have ended.`);
      if (this.player.still) return this.go(this.span());
      this.player.place(0);
      this.player.play();
    } catch (e) {
      if (!aborted(e) && !signal.aborted) complain(part(this.root, "error"), words(e));
    }
  }

  /** @param {AbortSignal} signal */
  async race(signal) {
    const data = await open(this.view.data);
    const x = this.view.x && data.features.includes(this.view.x) ? this.view.x : data.features[0] ?? "";
    const y = this.view.y && data.features.includes(this.view.y) ? this.view.y : data.features.find((f) => f !== x) ?? null;
    const up = y ? `&y=${encodeURIComponent(y)}` : "";
    const { data: bytes, headers } = await binary(`/api/data/${encodeURIComponent(data.id)}/marks?x=${encodeURIComponent(x)}${up}`, signal);
    signal.throwIfAborted();
    this.build(signal);
    this.player.place(0);
    for (const l of this.lanes) {
      l.record.x = x;
      l.record.y = y;
      l.scatter.setMarks(marksOf(bytes, headers, y === null), x, y ?? "");
    }
    let first = "";
    for (const l of [...this.lanes.filter((a) => a.algorithm !== "kmeans"), ...this.lanes.filter((a) => a.algorithm === "kmeans")]) {
      await this.climb(l, data, first);
      signal.throwIfAborted();
      if (!first && l.record.id && !l.failed) first = l.record.id;
      this.grown();
      this.go(Math.min(this.player.at, this.span()));
    }
  }

  /** @param {Lane} l @param {Data} data @param {string} first the run whose start k-means takes */
  async climb(l, data, first) {
    const kmeans = l.algorithm === "kmeans";
    const body = { ...ask({ ...this.view, model: kmeans ? "kmeans" : this.view.model, algorithm: kmeans ? "lloyd" : l.algorithm, init: kmeans && first ? "centers" : this.view.init }, data), ...(kmeans && first ? { options: { start: first } } : {}) };
    try {
      await l.record.run(body, () => { l.says.textContent = `running, ${l.record.frames.length} half steps`; });
    } catch (e) {
      if (aborted(e)) throw e;
      l.failed = words(e);
    }
    this.tell(l);
  }

  /** Lanes and rows of the table, empty. @param {AbortSignal} signal */
  build(signal) {
    for (const l of this.lanes) l.scatter.close();
    const body = /** @type {HTMLElement} */ (named(this.root, "race-table").querySelector("tbody")), panels = part(this.root, "panels");
    this.sort = { by: "", down: false };
    body.replaceChildren();
    panels.replaceChildren();
    panels.dataset.lanes = String(this.chosen.length);
    this.lanes = this.chosen.map((algorithm) => {
      const title = lanes.find(([name]) => name === algorithm)?.[1] ?? algorithm;
      const says = make("span", { class: "muted" }, "waiting"), picture = make("div", { class: "picture" });
      const panel = make("section", { class: "lane", "data-testid": "race-panel", "data-algorithm": algorithm, "aria-label": title }, make("div", { class: "line" }, make("h2", {}, title), says), picture);
      const row = make("tr", { "data-algorithm": algorithm }, make("td", {}, title), ...[1, 2, 3].map(() => make("td", { class: "num" }, "–")), make("td", {}, ""));
      panels.append(panel);
      body.append(row);
      return { algorithm, title, place: lanes.findIndex(([name]) => name === algorithm), record: new Record(signal), scatter: new Scatter(picture, { small: true, name: `Rows and groups: ${title}` }), panel, says, row, failed: "" };
    });
    this.legend();
  }

  /** What a climb gains: the log-likelihood, for k-means minus the inertia. @param {Lane} l @param {number} i */
  height(l, i) { return l.algorithm === "kmeans" ? l.record.frames[i]?.f ?? null : l.record.logLikelihood(i); }

  /** The end of a lane. @param {Lane} l */
  final(l) {
    const r = l.record.end?.result;
    if (!r) return null;
    return l.algorithm === "kmeans" ? (typeof r.inertia === "number" ? -r.inertia : null) : r.log_likelihood ?? null;
  }

  /** The highest end of the mixtures. */
  best() { return this.lanes.filter((l) => l.algorithm !== "kmeans").map((l) => this.final(l)).reduce((a, b) => (b == null ? a : a == null || b > a ? b : a), /** @type {number | null} */ (null)); }

  /** Puts what a lane has come to into the table. @param {Lane} l */
  tell(l) {
    const cells = [...l.row.cells], end = this.final(l), r = l.record.end?.result;
    const start = l.record.frames.map((_, i) => this.height(l, i)).find((v) => v != null);
    const sweeps = r?.sweeps ?? l.record.frames.at(-1)?.sweeps;
    if (start != null) l.row.dataset.start = String(start);
    if (end != null) l.row.dataset.logLikelihood = String(end);
    if (sweeps != null) l.row.dataset.sweeps = String(sweeps);
    const [, at1, at2, at3, at4] = cells;
    if (at1) at1.textContent = String(sweeps ?? "–");
    if (at2) at2.textContent = l.algorithm === "kmeans" ? (end == null ? "–" : `inertia ${fixed(-end)}`) : fixed(end);
    if (at4) at4.textContent = l.failed || (l.record.end?.interrupted ? "interrupted" : r?.converged === false ? "not finished" : "finished");
    at4?.classList.toggle("warn", l.record.end?.interrupted || r?.converged === false);
    at4?.classList.toggle("bad", l.failed !== "");
    if (at3) at3.textContent = "–";
    if (l.failed) l.says.textContent = "could not run";
    l.row.dataset.finished = "true";
    const best = this.best();
    for (const m of this.lanes) {
      const e = this.final(m), td = m.row.cells[3];
      if (td && e != null && best != null && m.algorithm !== "kmeans") td.textContent = cell(best - e, 4);
    }
  }

  /** Sorts the table, and the lanes with it. @param {string} by */
  sortBy(by) {
    this.sort = { by, down: this.sort.by === by ? !this.sort.down : false };
    const of = (/** @type {Lane} */ l) => (by === "name" ? l.title : by === "sweeps" ? Number(l.row.dataset.sweeps ?? Infinity) : l.algorithm === "kmeans" ? Infinity : -(this.final(l) ?? -Infinity));
    this.lanes.sort((a, b) => (of(a) < of(b) ? -1 : of(a) > of(b) ? 1 : 0) * (this.sort.down ? -1 : 1));
    for (const l of this.lanes) {
      l.row.parentElement?.append(l.row);
      l.panel.parentElement?.append(l.panel);
    }
    for (const th of named(this.root, "race-table").querySelectorAll("th")) {
      const own = th.querySelector("[data-sort]")?.getAttribute("data-sort") === by;
      own ? th.setAttribute("aria-sort", this.sort.down ? "descending" : "ascending") : th.removeAttribute("aria-sort");
    }
    this.legend();
  }

  // the clock -------------------------------------------------------------

  /** What the clock shows at a frame. @param {import("./record.js").Frame | undefined} f */
  time(f) { return f ? (this.clock === "seconds" ? f.seconds : f.sweeps) : 0; }

  /** Ticks of the clock: sweeps, or 200 parts of the longest time. */
  span() { return this.clock === "seconds" ? 200 : Math.max(1, this.longest()); }

  longest() { return this.lanes.reduce((a, l) => Math.max(a, this.time(l.record.frames[l.record.last])), 0); }

  /** The time of a tick. @param {number} tick */
  timeOf(tick) { return this.clock === "seconds" ? (tick / 200) * this.longest() : tick; }

  grown() {
    input(this.root, "race-scrub").max = String(this.span());
    this.player.pace = Math.max(pace, shortest / this.span());
    part(this.root, "curve-title").textContent = `Log-likelihood still to gain, by ${this.clock === "seconds" ? "second" : "sweep"}`;
    this.curve();
  }

  /** Shows all lanes at a tick of the clock. @param {number} tick */
  show(tick) {
    input(this.root, "race-scrub").value = String(tick);
    const time = this.timeOf(tick);
    const text = this.clock === "seconds" ? `${fixed(time, 3)} s` : `sweep ${tick}`;
    part(this.root, "where").textContent = text;
    input(this.root, "race-scrub").setAttribute("aria-valuetext", text);
    for (const l of this.lanes) this.says(l, this.frameAt(l.record, tick));
    this.curve();
    for (const [r, i] of this.moving(tick)) r.ahead(i);
  }

  /** Shows all lanes at a tick, once what they need is there. @param {number} tick */
  go(tick) { this.player.jump(tick).catch(() => {}); } // load has said why

  /** Fetches the shares of all lanes at a tick. @param {number} tick */
  async load(tick) {
    try {
      await Promise.all(this.moving(tick).map(([r, i]) => r.sharesAt(i)));
    } catch (e) {
      if (!aborted(e)) complain(part(this.root, "error"), words(e));
      throw e;
    }
  }

  /** The frame of a record at a tick: the last one that the clock has reached. @param {Record} r @param {number} tick */
  frameAt(r, tick) {
    const time = this.timeOf(tick) + 1e-12;
    let at = 0, beyond = r.last + 1;
    while (beyond - at > 1) {
      const middle = (at + beyond) >> 1;
      if (this.time(r.frames[middle]) <= time) at = middle;
      else beyond = middle;
    }
    return at;
  }

  /** Records that have something to draw, with their frames at a tick. @param {number} tick @returns {[Record, number][]} */
  moving(tick) { return this.lanes.filter((l) => l.record.have > 0).map((l) => [l.record, this.frameAt(l.record, tick)]); }

  /** Says where a lane is. @param {Lane} l @param {number} at its frame */
  says(l, at) {
    const r = l.record, f = r.frames[at], over = at === r.last && r.end !== null;
    if (r.have === 0) return;
    l.says.textContent = (over ? `done after ${r.end?.result?.sweeps ?? f?.sweeps} sweeps` : `sweep ${f?.sweeps ?? 0}`) + (f && f.beta !== 1 ? `, β ${f.beta}` : "") + (over && r.end?.result?.converged !== false ? " ✓" : "");
  }

  /** @param {number} from @param {number} to ticks @param {number} u part of the way */
  draw(from, to, u) {
    for (const l of this.lanes) this.drawLane(l, this.frameAt(l.record, from), this.frameAt(l.record, to), u);
    this.line(from + u * (to - from));
  }

  /** @param {Lane} l @param {number} from @param {number} to frames @param {number} u */
  drawLane(l, from, to, u) {
    const r = l.record, { scatter } = l;
    if (r.have === 0 || (from === to && u < 1)) return; // it stands still
    const palette = Array.from({ length: r.k }, (_, c) => groupColour(scatter.theme, c)); // the start decides: the same centre, the same colour in each lane
    const a = r.sharesNow(from) ?? null, b = r.sharesNow(to) ?? null;
    if (u >= 1 || a !== b) scatter.colour(a, b, u, palette);
    scatter.groups = groupsBetween(r, from, to, u, scatter.theme, (c) => c);
    scatter.drawGroups();
  }

  // drawing ---------------------------------------------------------------

  curve() {
    const drawn = this.lanes.filter((l) => l.algorithm !== "kmeans" && l.record.frames.length > 1);
    drawLanes(canvas(this.root, "race-curve"), drawn.map((l) => ({
      place: l.place, times: l.record.frames.map((f) => this.time(f)), heights: l.record.frames.map((_, i) => this.height(l, i)), over: l.record.end !== null,
    })), this.best(), this.timeOf(this.player.at), this.clock === "seconds");
  }

  /** @param {number} at a tick, or part of the way to the next */
  line(at) { timeline(/** @type {HTMLCanvasElement} */ (part(this.root, "timeline")), [], Math.max(61, this.span()), (at / this.span()) * Math.max(61, this.span())); }

  /** A dash and a name for each line. */
  legend() {
    const t = theme();
    part(this.root, "legend").replaceChildren(...this.lanes.map((l) => {
      if (l.algorithm === "kmeans") return make("li", { class: "muted" }, "k-means: not comparable");
      const c = make("canvas", { width: 56, height: 12, class: "dash", "aria-hidden": "true" }), g = c.getContext("2d");
      if (g) dashes(g, l.place, t, [[2, 6], [54, 6]], 4);
      return make("li", {}, c, l.title);
    }));
  }

  retheme() {
    for (const l of this.lanes) l.scatter.retheme();
    this.legend();
    this.show(this.player.at);
    this.draw(this.player.at, this.player.at, 1);
  }

  /** @param {KeyboardEvent} e */
  key(e) {
    const { player } = this;
    switch (e.key) {
      case " ": player.toggle(); return true;
      case "ArrowRight": player.step(1); return true;
      case "ArrowLeft": player.step(-1); return true;
      case "Home": this.go(0); return true;
      case "End": this.go(this.span()); return true;
      case "r": this.change(); return true;
      case "s": input(this.root, "race-seed").stepUp(); this.change(); return true;
    }
    if (!/^[1-9]$/.test(e.key)) return false;
    const label = Number(e.key) - 1;
    for (const l of this.lanes) { l.scatter.lit = l.scatter.lit === label ? -1 : label; l.scatter.drawGroups(); }
    return true;
  }
}

/** The address without what only a race has. @param {URLSearchParams} query */
function withoutLanes(query) {
  const q = new URLSearchParams(query);
  q.delete("algorithms");
  q.delete("algorithm");
  return q;
}
