// Watch: one climb, step by step.
import { Refused, aborted, open, ownFile, state, words } from "./api.js";
import { css, theme } from "./colour.js";
import { base, complain, fill, input, named, part, press, pressed, select } from "./dom.js";
import { Picker } from "./pick.js";
import { Stage } from "./stage.js";
import { announce, copy, rename, visit, working } from "./status.js";
import { surface } from "./timeline.js";
import { ask, climbs, kmeansClimbs, plain, queryText, read, schedule, shapes, write } from "./view.js";

/** @typedef {import("./api.js").Data} Data */

/** A change runs at once where the last run took less, in milliseconds. */
const quick = 300;

export class Watch {
  constructor() {
    this.root = document.body;
    this.view = plain();
    /** @type {string[]} */
    this.complaints = [];
    this.took = 0; // milliseconds that the last run took
    this.runs = 0;
    this.running = false; // long enough for Run to have become Stop
    /** @type {Data | null} */
    this.data = null;
    this.ends = new AbortController();
    this.stage = /** @type {Stage} */ (/** @type {any} */ (null)); // mounted
    this.picker = /** @type {Picker} */ (/** @type {any} */ (null)); // mounted
  }

  /** @param {HTMLElement} root @param {URLSearchParams} query */
  async mount(root, query) {
    this.root = root;
    ({ view: this.view, complaints: this.complaints } = read(query));
    this.stage = new Stage(/** @type {HTMLElement} */ (root.querySelector(".stage")), /** @type {HTMLElement} */ (root.querySelector(".numbers")), (at) => this.rested(at));
    this.picker = new Picker(this.stage.scatter, () => this.view.k, () => this.placing(), () => this.placed());
    this.listen();
    this.controls();
    state().then((s) => this.sets(s)).catch(() => {});
    const at = new URLSearchParams(location.hash.slice(1)).get("step") ?? "";
    await this.start(at);
  }

  unmount() {
    this.runs++; // what comes late belongs to no page any more
    this.ends.abort();
    this.picker.stop();
    this.stage.close();
  }

  listen() {
    const { root } = this, on = { signal: this.ends.signal };
    const form = /** @type {HTMLFormElement} */ (part(root, "controls"));
    form.addEventListener("submit", (e) => {
      e.preventDefault();
      if (this.running) this.stage.coming?.halt.abort();
      else this.change(true);
    }, on);
    form.addEventListener("change", () => this.change(false), on);
    for (const b of form.querySelectorAll("[data-less], [data-more]")) {
      b.addEventListener("click", () => {
        const field = b.parentElement?.querySelector("input");
        if (!field) return;
        if (b.hasAttribute("data-less")) field.stepDown();
        else field.stepUp();
        this.change(false);
      }, on);
    }
    for (const b of form.querySelectorAll("[data-copy]")) {
      b.addEventListener("click", () => copy(/** @type {HTMLElement} */ (b), named(root, b.getAttribute("data-copy") ?? "").textContent ?? ""), on);
    }
    document.addEventListener("themechange", () => this.betaChart(), on);
  }

  /** Offers the sets there are. @param {import("./api.js").State} s */
  sets(s) {
    /** @type {[string, string][]} */
    const options = s.sets.map((b) => [b.name, b.name]);
    const own = this.view.data === "file" || s.file !== null;
    if (own) options.push(["file", base(s.file?.name ?? "my file")]);
    if (!options.some(([v]) => v === this.view.data)) options.unshift([this.view.data, this.view.data]);
    fill(select(this.root, "data-select"), options, this.view.data);
    if (!own) ownFile().then((d) => { if (d) fill(select(this.root, "data-select"), [...options, ["file", base(d.name)]], this.view.data); }).catch(() => {});
  }

  /** Puts the view into the controls. */
  controls() {
    const { root, view } = this, kmeans = view.model === "kmeans";
    const set = select(root, "data-select");
    if (set.value !== view.data) {
      if (![...set.options].some((o) => o.value === view.data)) fill(set, [...[...set.options].map((o) => /** @type {[string, string]} */ ([o.value, o.text])), [view.data, view.data]], view.data);
      set.value = view.data;
    }
    press(part(root, "model"), kmeans ? "kmeans" : "mixture");
    fill(select(root, "covariance-select"), shapes, view.covariance);
    fill(select(root, "algorithm-select"), kmeans ? kmeansClimbs : climbs, view.algorithm);
    input(root, "k-input").value = String(view.k);
    input(root, "seed-input").value = String(view.seed);
    press(part(root, "init"), view.init);
    select(root, "covariance-select").disabled = kmeans || !["", "gmm"].includes(view.model || (this.data?.model ?? ""));
    part(root, "beta").hidden = view.algorithm !== "anti-annealing";
    input(root, "beta-input").value = (view.beta.length ? view.beta : schedule).join(" ");
    part(root, "hand").hidden = view.init !== "centers";
    part(root, "seed").hidden = view.init === "centers";
    this.columns();
    this.betaChart();
  }

  /** Offers the columns of the data. */
  columns() {
    const d = this.data, { view, root } = this;
    /** @type {[string, string][]} */
    const names = (d?.features ?? []).map((f) => [f, f]);
    const components = /** @type {[string, string][]} */ ((d?.features.length ?? 0) > 1 ? [["pc1", "pc1: 1st principal component"], ["pc2", "pc2: 2nd principal component"]] : []);
    fill(select(root, "x-select"), [...names, ...components], view.x ?? "");
    fill(select(root, "y-select"), [...names, ...components, ["", "density"]], view.y ?? "");
  }

  /** Takes the controls into the view. */
  take() {
    const { root, view } = this, kmeans = pressed(part(root, "model")) === "kmeans";
    const before = view.data;
    view.data = select(root, "data-select").value || view.data;
    if (view.data !== before) [view.x, view.y, view.centers] = [null, null, []];
    else {
      view.x = select(root, "x-select").value || view.x;
      view.y = select(root, "y-select").value;
    }
    if (kmeans !== (view.model === "kmeans")) {
      view.model = kmeans ? "kmeans" : "";
      view.algorithm = kmeans ? "lloyd" : "em";
    } else view.algorithm = select(root, "algorithm-select").value;
    view.covariance = select(root, "covariance-select").value;
    const k = input(root, "k-input").valueAsNumber, seed = input(root, "seed-input").valueAsNumber;
    if (Number.isInteger(k) && k >= 1) view.k = k;
    if (Number.isInteger(seed) && seed >= 0) view.seed = seed;
    const init = pressed(part(root, "init")) || view.init;
    if (init !== view.init) view.centers = [];
    view.init = init;
    const beta = input(root, "beta-input").value.split(/[\s,;]+/).filter((t) => t !== "").map(Number);
    view.beta = beta.every((b) => b > 0) && beta.join() !== schedule.join() ? beta : [];
  }

  /** Something was changed, or Run pressed. @param {boolean} now */
  change(now) {
    const before = queryText(write(this.view)), was = { ...this.view };
    this.take();
    this.controls();
    this.complaints = [];
    if (queryText(write(this.view)) === before && !now) return;
    const same = fits(was) === fits(this.view);
    if (same && !now) {
      visit(this.address());
      return void this.project();
    }
    if (this.view.k !== was.k && this.view.init === "centers") this.picker.points = [];
    if (!now && this.took >= quick && this.view.data === was.data) {
      part(this.root, "pending").hidden = false;
      return;
    }
    visit(this.address());
    this.start("");
  }

  /** Other columns of the same fit. */
  async project() {
    if (!this.data) return;
    try {
      const [x, y] = this.plane(this.data);
      if (this.picker.on) this.place();
      await working(this.stage.columns(this.data, x, y));
      this.said("");
    } catch (e) { this.failed(e); }
  }

  /** The columns that are shown. @param {Data} d @returns {[string, string | null]} */
  plane(d) {
    const known = [...d.features, ...(d.features.length > 1 ? ["pc1", "pc2"] : [])], { view } = this;
    for (const axis of /** @type {("x" | "y")[]} */ (["x", "y"])) {
      const name = view[axis];
      if (name && !known.includes(name)) {
        this.complaints.push(`${d.name} has no column ${name}: another is shown`);
        view[axis] = null;
      }
    }
    view.x ??= d.features[0] ?? "";
    view.y ??= d.features.find((f) => f !== view.x) ?? "";
    return [view.x, view.y === "" || view.y === view.x ? null : view.y];
  }

  /** Opens the data and runs, or asks for centres. @param {string} at the step to show */
  async start(at) {
    const run = ++this.runs;
    this.running = false;
    part(this.root, "run-name").textContent = "Run";
    part(this.root, "pending").hidden = true;
    try {
      this.data = await working(this.open());
      if (run !== this.runs) return;
      const plane = this.plane(this.data);
      this.controls();
      if (this.view.init === "centers" && this.view.centers.length !== this.view.k) return await this.byHand(plane);
      this.picker.stop();
      await this.fit(plane, at);
    } catch (e) {
      if (run === this.runs) this.failed(e);
    }
  }

  /** Opens the data; a set that is not there is said, and the default taken. @returns {Promise<Data>} */
  async open() {
    const { view } = this, otherwise = plain().data;
    try {
      return await open(view.data);
    } catch (e) {
      if (!(e instanceof Refused) || view.data === "file" || view.data === otherwise) throw e;
      this.complaints.push(words(e));
      [view.data, view.x, view.y] = [otherwise, null, null];
      return open(otherwise);
    }
  }

  /** @param {[string, string | null]} plane @param {string} at */
  async fit([x, y], at) {
    const data = /** @type {Data} */ (this.data), began = performance.now();
    const kept = location.hash;
    const job = this.stage.run(ask(this.view, data), { data, x, y, kmeans: this.view.model === "kmeans", at });
    this.said(this.complaints.join("; "));
    rename(this.address() + (at ? kept : ""));
    const record = await working(this.stoppable(job));
    if (record.signal.aborted) return;
    this.took = performance.now() - began;
    this.root.classList.remove("stale");
    if (!record.end) return announce(this.stage.finish());
    named(this.root, "command-text").textContent = record.end.command;
    named(this.root, "go-text").textContent = record.end.go;
    const link = part(this.root, "centers"), a = link.querySelector("a");
    link.hidden = !record.end.files?.includes("centers.csv");
    if (a && !link.hidden) a.href = `/api/runs/${record.id}/centers.csv`;
    announce(`${record.steps} steps. ${this.stage.finish()}`);
  }

  /**
   * Makes Run into Stop while a run takes long.
   * @template T
   * @param {Promise<T>} job
   */
  async stoppable(job) {
    const run = this.runs, name = part(this.root, "run-name");
    const timer = setTimeout(() => {
      if (run === this.runs) [this.running, name.textContent] = [true, "Stop"];
    }, 600);
    const clock = setInterval(() => {
      if (run === this.runs) this.measuring();
    }, 100);
    try {
      return await job;
    } finally {
      clearTimeout(timer);
      clearInterval(clock);
      part(this.root, "measuring").hidden = true;
      if (run === this.runs) [this.running, name.textContent] = [false, "Run"];
    }
  }

  /** Says that a climb has ended and its end is being measured, and for how long. */
  measuring() {
    const record = this.stage.coming, p = part(this.root, "measuring");
    if (!record?.measuring) {
      p.hidden = true;
      return;
    }
    const first = p.hidden;
    p.hidden = false;
    part(p, "measuring-seconds").textContent = `${Math.floor((performance.now() - record.measured) / 1000)} s`;
    if (first) announce(part(p, "measuring-words").textContent ?? "");
  }

  /** Asks for centres in the picture. @param {[string, string | null]} plane */
  async byHand([x, y]) {
    const data = /** @type {Data} */ (this.data);
    this.stage.abort.abort();
    this.stage.abort = new AbortController();
    this.stage.player.stop();
    this.said("");
    await working(this.stage.columns(data, x, y));
    this.stage.empty();
    this.stage.scatter.colour(null, null, 1, []);
    this.place();
  }

  /** Begins or ends the placing, by what is shown. */
  place() {
    const d = this.data;
    if (!d) return;
    const can = this.view.y !== "" && [this.view.x, this.view.y].every((c) => d.features.includes(c ?? ""));
    if (can) return this.picker.start();
    this.picker.stop();
    this.said("centres are placed on two columns: choose them across and up");
  }

  /** Says where the placing is. */
  placing() {
    const n = this.picker.points.length, k = this.view.k, d = this.data;
    part(this.root, "chip").textContent = "Start";
    part(this.root, "sentence").textContent = n < k ? `Click to place centre ${n + 1} of ${k}.` : `All ${k} are placed: drag one to move it.`;
    const hand = part(this.root, "hand");
    hand.hidden = false;
    hand.textContent = `${n} of ${k} placed. Backspace takes the last away.` + ((d?.features.length ?? 0) > 2 ? " The other columns take the overall mean." : "");
    announce(part(this.root, "sentence").textContent ?? "");
  }

  /** All are placed: the climb begins. */
  placed() {
    const d = this.data;
    if (!d) return;
    const { x, y } = this.view;
    this.view.centers = this.picker.points.map((p) => d.features.map((f) => (f === x ? p[0] : f === y ? p[1] : null)));
    visit(this.address());
    this.start("");
  }

  address() { return "/watch?" + queryText(write(this.view)); }

  /** The step goes into the address once nothing moves. @param {number} at */
  rested(at) {
    if (location.pathname !== "/watch" || this.ends.signal.aborted) return;
    const step = this.stage.stepName(at);
    rename(location.pathname + location.search + (step ? `#step=${step}` : ""));
  }

  /** @param {unknown} e */
  failed(e) {
    if (aborted(e)) return;
    this.said(words(e));
    this.root.classList.add("stale");
    if (!this.data) part(this.root, "sentence").textContent = "No rows yet: choose a set, or open a file at Your data.";
  }

  /** @param {string} text */
  said(text) { complain(part(this.root, "error"), text); }

  /** Temperatures as steps. */
  betaChart() {
    if (this.view.algorithm !== "anti-annealing") return;
    const { g, width, height } = surface(/** @type {HTMLCanvasElement} */ (part(this.root, "beta-chart"))), t = theme();
    const beta = this.view.beta.length ? this.view.beta : schedule, most = Math.max(1, ...beta);
    beta.forEach((b, i) => {
      const x = (i / beta.length) * width, h = (b / most) * (height - 4);
      g.fillStyle = css(t.accent, 0.14);
      g.fillRect(x, height - h, width / beta.length, h);
      g.fillStyle = css(t.accent);
      g.fillRect(x, height - h, width / beta.length, 2);
    });
    g.strokeStyle = css(t.line);
    g.strokeRect(0, height - (height - 4) / most, width, 0);
  }

  /** @param {KeyboardEvent} e */
  key(e) {
    if (this.picker.on && this.picker.key(e)) return true;
    if (e.key === "r") return this.change(true), true;
    if (e.key === "s") {
      input(this.root, "seed-input").stepUp();
      this.view.seed = input(this.root, "seed-input").valueAsNumber;
      visit(this.address());
      this.start("");
      return true;
    }
    return this.stage.key(e);
  }
}

/** What a view asks to be fitted, without what it shows of it. @param {import("./view.js").View} v */
const fits = (v) => queryText(write({ ...v, x: null, y: null }));
