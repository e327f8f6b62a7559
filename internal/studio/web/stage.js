// A climb on screen: picture, transport, numbers. Watch and the failure lab show theirs by it.
import { binary, get, words, aborted } from "./api.js";
import { groupsBetween } from "./between.js";
import { css, groupColour, theme } from "./colour.js";
import { Curve } from "./curve.js";
import { canvas, complain, input, make, named, part, playGlyph, press, pressed, select, tell } from "./dom.js";
import { Player } from "./player.js";
import { Record } from "./record.js";
import { cell, decimalsOf, fixed } from "./scale.js";
import { Scatter, marksOf } from "./scatter.js";
import { announce } from "./status.js";
import { timeline } from "./timeline.js";

/** @typedef {import("./api.js").Data} Data */

/** Waits this long for the end of a climb before what is there is played. */
const patience = 400;

export class Stage {
  /**
   * @param {HTMLElement} root picture and transport
   * @param {HTMLElement} numbers
   * @param {(at: number) => void} rested a frame is shown and nothing moves
   */
  constructor(root, numbers, rested) {
    this.root = root;
    this.numbers = numbers;
    this.rested = rested;
    /** @type {Data | null} */
    this.data = null;
    this.kmeans = false;
    this.x = "";
    /** @type {string | null} */
    this.y = null;
    this.abort = new AbortController();
    /** @type {Record | null} */
    this.record = null;
    /** @type {Record | null} */
    this.coming = null; // the climb that was asked for last
    this.pinned = false;
    this.timer = 0;
    this.opened = new AbortController();
    this.scatter = new Scatter(part(root, "picture"), { testid: "scatter", name: "Rows and groups on two columns" });
    this.curve = new Curve(canvas(numbers, "curve"), (at) => this.player.jump(at));
    this.player = new Player({
      last: () => this.record?.last ?? 0, complete: () => this.record?.over || this.record?.measuring || false, ready: (at) => this.record?.sharesNow(at) !== undefined,
      load: async (at) => { await this.record?.sharesAt(at); }, show: (at) => this.show(at), draw: (a, b, u) => this.draw(a, b, u), playing: (on) => this.playing(on),
    });
    this.scatter.resized = () => this.redraw();
    this.listen();
  }

  listen() {
    const { root, player } = this, on = { signal: this.opened.signal };
    /** @type {[string, () => void][]} */
    const buttons = [["first-button", () => player.jump(0)], ["back-button", () => player.step(-1)], ["play-button", () => player.toggle()], ["step-button", () => player.step(1)], ["last-button", () => player.jump(this.record?.last ?? 0)]];
    for (const [name, act] of buttons) named(root, name).addEventListener("click", act, on);
    const scrub = input(root, "scrub");
    scrub.addEventListener("input", () => player.jump(Number(scrub.value)), on);
    const speed = select(root, "speed-select");
    speed.addEventListener("change", () => { player.speed = speed.value; }, on);
    part(this.numbers, "scale").addEventListener("change", () => this.rescale(), on);
    const picture = part(root, "picture");
    picture.addEventListener("pointermove", (e) => { if (!this.pinned && !this.scatter.extra) this.pointAt(e); }, on);
    picture.addEventListener("pointerleave", () => { if (!this.pinned) this.point(-1); }, on);
    let placing = false; // a click that places the last centre pins no row
    picture.addEventListener("pointerdown", () => { placing = this.scatter.extra !== null; }, on);
    picture.addEventListener("click", (e) => { if (!placing && !this.scatter.extra) this.pin(e); }, on);
    document.addEventListener("themechange", () => this.retheme(), on);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.retheme(), on);
  }

  /** Ends the climb, its fit and everything that listens. */
  close() {
    this.abort.abort();
    this.opened.abort();
    clearTimeout(this.timer);
    this.player.stop();
    this.scatter.close();
    this.curve.close();
  }

  /**
   * Shows the rows of a table on columns; y null for the density of x. A record keeps its climb.
   * @param {Data} data
   * @param {string} x
   * @param {string | null} y
   */
  async columns(data, x, y) {
    if (this.data?.id === data.id && x === this.x && y === this.y) return;
    const signal = this.abort.signal;
    const up = y === null ? "" : `&y=${encodeURIComponent(y)}`;
    const { data: bytes, headers } = await binary(`/api/data/${encodeURIComponent(data.id)}/marks?x=${encodeURIComponent(x)}${up}`, signal);
    const same = this.data?.id === data.id;
    if (!same) this.record = null;
    const record = this.record;
    if (record) await record.project(x, y);
    [this.data, this.x, this.y] = [data, x, y];
    if (!same) this.empty();
    this.scatter.setMarks(marksOf(bytes, headers, y === null), axisName(x, data), axisName(y ?? "", data));
    this.point(-1);
    if (record) {
      if (record.sharesNow(this.player.at) === undefined) await record.sharesAt(this.player.at);
      this.player.place(this.player.at);
    }
  }

  /** No climb is shown any more: rows without groups. */
  empty() {
    this.player.stop();
    this.record = null;
    this.scatter.groups = [];
    this.numbers.classList.add("blank");
    for (const name of ["log-likelihood", "free-energy", "gap", "distance"]) tell(named(this.numbers, name), null, "");
    input(this.root, "scrub").max = "0";
    named(this.root, "where").textContent = "start";
    part(this.root, "sentence").textContent = "";
    this.timeline(0);
  }

  /**
   * Runs a fit and shows its climb.
   * @param {any} body of POST /api/runs
   * @param {{data: Data, x: string, y: string | null, kmeans: boolean, at: string}} how at: the step to show, "" to play
   * @returns {Promise<Record>} when it has ended
   */
  async run(body, how) {
    this.abort.abort();
    this.abort = new AbortController();
    const record = new Record(this.abort.signal);
    record.x = how.x;
    record.y = how.y;
    complain(part(this.root, "error"), "");
    const began = performance.now();
    let shown = false;
    this.coming = record;
    const begin = async () => {
      shown = true;
      this.player.stop();
      this.record = record;
      this.setKind(how.kmeans);
      await this.begin(how.at);
    };
    const loading = this.columns(how.data, how.x, how.y);
    loading.catch(() => {});
    await record.run(body, () => {
      if (shown) this.grown();
      else if (record.have > 1 && performance.now() - began > patience) loading.then(begin).catch(() => {});
    });
    await loading;
    if (record.signal.aborted) return record;
    if (shown) {
      this.grown();
      this.player.place(this.player.at);
    } else await begin();
    return record;
  }

  /** K-means has an objective of its own, and no other numbers. @param {boolean} kmeans */
  setKind(kmeans) {
    this.kmeans = kmeans;
    this.numbers.classList.toggle("kmeans", kmeans);
    part(this.numbers, "free-name").textContent = part(this.numbers, "free-legend").textContent = kmeans ? "minus the inertia" : "free energy";
  }

  /** Shows the first frame of a new climb, or the step an address names; plays where nothing else is asked for. @param {string} at */
  async begin(at) {
    this.numbers.classList.remove("blank");
    this.scatter.lit = -1;
    this.grown();
    const to = at === "" ? 0 : this.frameOf(at);
    await this.record?.sharesAt(to);
    this.player.place(to);
    if (at === "" && !this.player.still && document.visibilityState === "visible") this.player.play();
  }

  /** The frame of "9" (after step 9), "9E" (its first half). @param {string} at */
  frameOf(at) {
    const frames = this.record?.frames ?? [], m = /^(\d+)(E?)$/.exec(at);
    if (!m) return 0;
    const step = Number(m[1]);
    const found = frames.findLastIndex((f) => f.step === step && (m[2] === "E" ? f.half === "E" : true));
    return found >= 0 && found <= (this.record?.last ?? 0) ? found : step > (this.record?.steps ?? 0) ? this.record?.last ?? 0 : 0;
  }

  /** What names a frame in an address. @param {number} at */
  stepName(at) {
    const f = this.record?.frames[at];
    return !f || f.half === "start" ? "" : f.half === "E" && this.record?.frames[at + 1]?.step === f.step ? `${f.step}E` : String(f.step);
  }

  /** More frames have come. */
  grown() {
    const r = this.record;
    if (!r) return;
    input(this.root, "scrub").max = String(r.last);
    const log = r.frames.slice(0, r.last + 1), lls = log.map((_, i) => r.logLikelihood(i));
    const values = (this.kmeans ? log.map((f) => f.f) : lls).filter((v) => v != null);
    this.curve.climb = { frames: r.frames, last: r.last, ll: (i) => lls[i] ?? null, best: values.length ? values.reduce((a, b) => Math.max(a, b)) : null };
    this.curve.draw();
    this.where();
    this.timeline(this.player.at);
  }

  /** Numbers and words of a frame. @param {number} at */
  show(at) {
    const r = this.record, f = r?.frames[at];
    if (!r || !f) return;
    const ll = r.logLikelihood(at), last = at === r.last && r.over;
    tell(named(this.numbers, "log-likelihood"), ll, fixed(ll));
    tell(named(this.numbers, "free-energy"), f.f, fixed(f.f));
    const gap = f.gap ?? (f.half === "M" && f.beta === 1 && ll != null && f.f != null ? ll - f.f : null);
    tell(named(this.numbers, "gap"), gap, fixed(gap));
    const se = (last ? r.end?.result?.certificate?.distance_se : null) ?? f.se; // the end is judged once more
    tell(named(this.numbers, "distance"), se, fixed(se, 3));
    input(this.root, "scrub").value = String(at);
    this.where();
    const [chip, sentence] = this.says(at, last);
    part(this.root, "chip").textContent = chip;
    part(this.root, "sentence").textContent = sentence;
    part(this.root, "sentence").classList.toggle("warn", last && (r.stopped || r.end?.interrupted || r.end?.result?.converged === false));
    this.table(at);
    if (this.scatter.point >= 0) this.shareBars(at);
    this.curve.at = at;
    this.curve.draw();
    r.ahead(at);
    this.rest(at);
  }

  where() {
    const r = this.record, f = r?.frames[this.player.at], w = named(this.root, "where");
    if (!r || !f) return;
    if (f.half === "start") w.textContent = `start of ${r.steps}`;
    else w.textContent = f.half === "S" ? `step ${f.step} / ${r.steps}` : `${f.half} of step ${f.step} / ${r.steps}`;
    input(this.root, "scrub").setAttribute("aria-valuetext", w.textContent);
  }

  /** The chip and the sentence of a frame. @param {number} at @param {boolean} last @returns {[string, string]} */
  says(at, last) {
    const r = /** @type {Record} */ (this.record), f = r.frames[at];
    const beta = f && f.beta !== 1 ? ` β ${f.beta}` : "", merged = this.merged(at);
    if (last && at > 0) return ["End", this.finish() + this.thinned()];
    if (merged !== "" && f?.half !== "start") return [(f?.half === "S" ? "Step" : f?.half ?? "") + beta, `${merged} ${f && f.beta < 1 ? "At a low β shares are blurred." : ""}`];
    switch (f?.half) {
      case "start": return ["Start", this.kmeans ? `${r.k === 1 ? "One centre" : `${r.k} centres`}, before any row has joined one.` : `${r.k === 1 ? "One group" : `${r.k} groups`}, before any row has a share in them.`];
      case "E": return ["E" + beta, this.kmeans ? "Every row joins the nearest centre." : "Every row takes the colours of the groups that explain it."];
      case "M": return ["M" + beta, this.kmeans ? "Every centre moves to the mean of its rows." : "Every group moves and stretches to its rows."];
      default: return ["Step" + beta, "Shares and groups change together."];
    }
  }

  /** Which groups lie on one another in the picture, in words. @param {number} at */
  merged(at) {
    const r = /** @type {Record} */ (this.record), { sx, sy } = this.scatter;
    if (r.have <= at || this.kmeans || r.y === null) return "";
    const spots = Array.from({ length: r.k }, (_, c) => ({ label: r.labelOf(c), c: r.component(at, c) })).sort((a, b) => a.label - b.label);
    const near = (/** @type {number} */ a, /** @type {number} */ b, /** @type {import("./scale.js").Scale} */ s) => Math.abs(a - b) < 0.005 * (s.hi - s.lo);
    for (const a of spots) {
      const one = spots.filter((b) => [3, 5].every((i) => Math.abs(Math.sqrt(b.c[i] ?? 0) - Math.sqrt(a.c[i] ?? 0)) <= 0.005 * (i === 3 ? sx.hi - sx.lo : sy.hi - sy.lo)) && near(b.c[1] ?? NaN, a.c[1] ?? NaN, sx) && near(b.c[2] ?? NaN, a.c[2] ?? NaN, sy)).map((b) => b.label + 1);
      if (one.length > 1) return `Groups ${one.slice(0, -1).join(", ")} and ${one.at(-1)} have merged.`;
    }
    return "";
  }

  finish() {
    const end = this.record?.end, se = end?.result?.certificate?.distance_se;
    if (this.record?.stopped) return "Stopped: this is as far as it came. Run begins again.";
    if (end?.interrupted) return "Interrupted: this is as far as it came. Run again to go on to the end.";
    if (end?.result?.converged === false) return "Not finished: the steps that are allowed, --max-iter of the command, are used up. Another algorithm may need fewer.";
    if (this.kmeans) return "Finished: no row would change its centre.";
    if (typeof se !== "number") return "Finished.";
    return `Finished: ${se < 0.001 ? "less than 0.001" : fixed(se, 3)} standard errors from the optimum.`;
  }

  thinned() {
    const one = this.record?.end?.thinned ?? 1, left = this.record?.end?.left_out ?? 0;
    if (left > 0) return ` The climb is so long that one step in ${one} is kept: ${left.toLocaleString("en-US")} are left out.`;
    return one > 1 ? ` The model is so large that one step in ${one} is kept; the others are drawn as the one before.` : "";
  }

  /** The place of a group among the colours. @param {number} c @returns {import("./colour.js").RGB} */
  colourOf(c) {
    const r = this.record, label = r?.labelOf(c) ?? c, lit = this.scatter.lit;
    const own = groupColour(this.scatter.theme, label);
    return lit >= 0 && lit !== label ? this.scatter.theme.line : own;
  }

  /** @param {number} from @param {number} to @param {number} u */
  draw(from, to, u) {
    const r = this.record;
    if (!r || r.have === 0) return;
    const a = r.sharesNow(from) ?? null, b = r.sharesNow(to) ?? null;
    const palette = Array.from({ length: r.k }, (_, c) => this.colourOf(c));
    if (u >= 1 || a !== b) this.scatter.colour(a, b, u, palette);
    this.scatter.groups = groupsBetween(r, from, to, u, this.scatter.theme, (c) => r.labelOf(c));
    this.scatter.borders = this.kmeans && this.y !== null && this.data?.features.length === 2;
    this.scatter.drawGroups();
    this.timeline(from + u * (to - from));
  }

  /** @param {number} at */
  timeline(at) { timeline(/** @type {HTMLCanvasElement} */ (part(this.root, "timeline")), this.record?.frames ?? [], this.record?.last ?? 0, at); }

  redraw() {
    this.timeline(this.player.at);
    if (this.record && !this.player.moving) this.draw(this.player.at, this.player.at, 1);
  }

  retheme() {
    this.scatter.theme = theme();
    this.scatter.retheme();
    this.curve.draw();
    this.table(this.player.at);
  }

  /** @param {boolean} on */
  playing(on) {
    playGlyph(named(this.root, "play-button"), on);
    if (!on) this.rest(this.player.at);
  }

  /** Once nothing has moved for a while, what is shown is said. @param {number} at */
  rest(at) {
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => {
      if (this.player.playing) return;
      announce(`${named(this.root, "where").textContent}. ${part(this.root, "sentence").textContent}`);
      this.rested(at);
    }, 300);
  }

  /** The table of groups. @param {number} at */
  table(at) {
    const r = this.record, body = named(this.numbers, "components-table").querySelector("tbody");
    if (!r || !body || r.have <= at) return;
    part(this.numbers, "x-head").textContent = this.x;
    part(this.numbers, "x-head").title = this.x;
    part(this.numbers, "y-head").textContent = part(this.numbers, "y-head").title = this.y ?? "";
    part(this.numbers, "y-head").hidden = this.y === null;
    const { sx, sy } = this.scatter, dx = decimalsOf(sx.hi - sx.lo), dy = decimalsOf(sy.hi - sy.lo);
    const rows = Array.from({ length: r.k }, (_, c) => ({ label: r.labelOf(c), c: r.component(at, c) })).sort((a, b) => a.label - b.label);
    body.replaceChildren(...rows.map(({ label, c }) => {
      const bar = make("i", { class: "bar-fill" });
      bar.style.width = `${Math.max(1, 56 * (c[0] ?? 0))}px`;
      bar.style.background = css(groupColour(this.scatter.theme, label));
      const row = make("tr", { class: this.scatter.lit >= 0 && this.scatter.lit !== label ? "dim" : "" }, make("td", {}, this.discButton(label)), make("td", {}, bar, ` ${fixed(c[0], 3)}`), make("td", { class: "num" }, cell(c[1], dx)));
      if (this.y !== null) row.append(make("td", { class: "num" }, cell(c[2], dy)));
      return row;
    }));
  }

  /** The number of a group on its colour; pressing it lights the group up. @param {number} label */
  discButton(label) {
    const c = groupColour(this.scatter.theme, label), b = make("button", { type: "button", class: "disc", "aria-label": `Light up group ${label + 1}`, "aria-pressed": String(this.scatter.lit === label) }, String(label + 1));
    b.style.background = css(c);
    b.classList.toggle("on-light", this.lightInk(c));
    b.addEventListener("click", () => this.light(label));
    return b;
  }

  /** Whether black reads better on a colour. @param {import("./colour.js").RGB} c */
  lightInk(c) { return 0.2126 * c[0] ** 2.2 + 0.7152 * c[1] ** 2.2 + 0.0722 * c[2] ** 2.2 > 0.179 * 255 ** 2.2; }

  /** Lights up one group, or all again. @param {number} label */
  light(label) {
    if (!this.record || label >= this.record.k) return;
    this.scatter.lit = this.scatter.lit === label ? -1 : label;
    this.table(this.player.at);
    this.redraw();
  }

  rescale() {
    this.curve.log = pressed(part(this.numbers, "scale")) === "togo";
    this.curve.draw();
  }

  /** @param {PointerEvent | MouseEvent} e */
  pointAt(e) {
    const box = this.scatter.over.getBoundingClientRect();
    this.point(this.scatter.nearest(e.clientX - box.left, e.clientY - box.top));
  }

  /** @param {MouseEvent} e */
  pin(e) {
    this.pinned = false;
    this.pointAt(e);
    this.pinned = this.scatter.point >= 0;
    part(this.numbers, "row").classList.toggle("pinned", this.pinned);
  }

  /** Shows a row's values and shares, or none. @param {number} i */
  point(i) {
    if (i === this.scatter.point) return;
    this.scatter.point = i;
    this.scatter.drawGroups();
    const box = part(this.numbers, "row");
    if (i < 0 || !this.data) {
      this.pinned = false;
      box.classList.remove("pinned");
      const cells = this.scatter.marks.cells;
      box.replaceChildren(make("p", { class: "muted" }, cells ? "Each mark stands for all rows of its cell." : "Point at a row to see how the groups share it."));
      return;
    }
    box.replaceChildren(make("h3", { "data-part": "row-name" }, `row ${i + 1}`), make("p", { class: "muted", "data-part": "row-values" }), make("div", { "data-part": "row-shares" }));
    this.shareBars(this.player.at);
    get(`/api/data/${encodeURIComponent(this.data.id)}/rows/${i + 1}`, this.abort.signal).then((r) => {
      if (this.scatter.point !== i) return;
      if (r.id != null) part(box, "row-name").textContent = `row ${i + 1}: ${r.id}`;
      part(box, "row-values").textContent = r.values.map((/** @type {{column: string, value: string}} */ v) => `${v.column} ${v.value}`).join(", ");
    }).catch((e) => { if (!aborted(e) && this.scatter.point === i) part(box, "row-values").textContent = words(e); });
  }

  /** The shares of the row pointed at, as bars. @param {number} at */
  shareBars(at) {
    const r = this.record, s = r?.sharesNow(at), host = this.numbers.querySelector('[data-part="row-shares"]'), i = this.scatter.point;
    if (!r || !host) return;
    if (!s) { host.replaceChildren(make("p", { class: "muted" }, "No shares yet: the first E-step gives them.")); return; }
    const parts = [0, 1, 2].map((j) => ({ label: r.labelOf(s[6 * i + j] ?? 0), share: (s[6 * i + 3 + j] ?? 0) / 255 })).filter((p) => p.share > 0);
    host.replaceChildren(...parts.map((p) => {
      const bar = make("i", { class: "bar-fill" });
      bar.style.width = `${Math.max(1, 160 * p.share)}px`;
      bar.style.background = css(groupColour(this.scatter.theme, p.label));
      return make("div", { class: "share" }, this.discButton(p.label), bar, ` ${p.share > 0.996 ? "1.00" : p.share.toFixed(2)}`);
    }));
  }

  /** A key of the transport; false where it is none. @param {KeyboardEvent} e */
  key(e) {
    const { player } = this, whole = e.shiftKey ? this.wholeStep(e.key === "ArrowRight" ? 1 : -1) : 0;
    switch (e.key) {
      case " ": player.toggle(); return true;
      case "ArrowRight": player.step(whole || 1); return true;
      case "ArrowLeft": player.step(whole || -1); return true;
      case "Home": player.jump(0); return true;
      case "End": player.jump(this.record?.last ?? 0); return true;
      case "[": case "]": this.faster(e.key === "]" ? 1 : -1); return true;
      case "l": press(part(this.numbers, "scale"), this.curve.log ? "value" : "togo"); this.rescale(); return true;
    }
    if (/^[1-9]$/.test(e.key)) { this.light(Number(e.key) - 1); return true; }
    return false;
  }

  /** Frames to the same half of the step before or after. @param {number} direction */
  wholeStep(direction) {
    const r = this.record, half = r?.frames[this.player.at]?.half;
    return half === "S" ? direction : 2 * direction;
  }

  /** @param {number} by */
  faster(by) {
    const s = select(this.root, "speed-select"), order = ["0.25", "0.5", "1", "2", "4"];
    const now = s.value === "auto" ? 2 : order.indexOf(s.value);
    s.value = order[Math.max(0, Math.min(order.length - 1, now + by))] ?? "1";
    this.player.speed = s.value;
  }
}

/** How an axis is called. @param {string} column @param {Data} data */
function axisName(column, data) {
  if (data.features.includes(column)) return column;
  return { pc1: "1st principal component", pc2: "2nd principal component" }[column] ?? column;
}
