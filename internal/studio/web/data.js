// Your data: a file, its columns, a fit, what came out. Each panel appears when the one before has something to say.
import { get, givenModel, ownFile, Refused, send, setOwn, state, words } from "./api.js";
import { Columns } from "./columns.js";
import { repaint } from "./disc.js";
import { complain, fill, make, named } from "./dom.js";
import { Fitting } from "./fitting.js";
import { Form } from "./form.js";
import { bytes, copies, count, handed, keep, recalled, receive, told } from "./parts.js";
import { announce, rename, visit } from "./status.js";

/** @typedef {import("./columns.js").Table} Table */
/** @typedef {import("./outcome.js").Model} Model */

/** Where the last file is kept over a reload: its rows stay with the server. */
const kept = "latent-file";

/** Panels that are about the table. */
const about = ["columns-panel", "fit-panel", "result-panel"];

/** The page Your data. */
export class Data {
  /** @param {HTMLElement} root @param {URLSearchParams} query */
  mount(root, query) {
    this.view = new View(root);
    this.view.begin(query);
  }

  unmount() {
    this.view?.leave();
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (event.key !== "r" || !this.view?.table) return false;
    this.view.fitting.start();
    return true;
  }
}

/** The page while it is shown. */
class View {
  /** @param {HTMLElement} root */
  constructor(root) {
    /** @type {(name: string) => any} */
    this.at = (name) => named(root, name);
    this.left = new AbortController(); // ends what is under way when the page is left
    /** @type {Table | null} */
    this.table = null;
    this.opened = 0;
    this.limit = Infinity;
    this.columns = new Columns(this.at("columns-table"), () => this.ready());
    this.form = new Form(this.at);
    this.fitting = new Fitting(this.at, this.left.signal, () => this.body(), (run) => this.address(run));
    receive(this.at("drop-zone"), this.at("file-input"), (file) => this.take(file));
    this.at("set-select").addEventListener("change", () => this.at("set-select").value && this.open(this.at("set-select").value));
    this.at("fit-form").addEventListener("change", () => this.ready());
    copies(root);
    document.addEventListener("themechange", () => repaint(root), { signal: this.left.signal });
  }

  leave() {
    this.left.abort();
    this.fitting.leave();
  }

  /** @param {URLSearchParams} query */
  async begin(query) {
    try {
      const s = await state();
      if (this.left.signal.aborted) return;
      this.limit = s.limits.upload;
      this.at("upload-limit").textContent = `Up to ${bytes(this.limit)}. For a larger file start latent studio FILE: it is read where it is.`;
      fill(this.at("set-select"), [["", "choose"], ...s.sets.map((x) => /** @type {[string, string]} */ ([x.name, `${x.name}: ${count(x.rows, "row")}, ${x.about}`]))]);
      if (this.opened === 0) await this.bring(query.get("data")); // else one was chosen meanwhile
    } catch (e) {
      this.refused(e);
    }
    if (!this.table) return;
    complain(this.at("fit-error"), this.form.read(query).join("; "));
    this.ready();
    const run = query.get("run");
    if (run) await this.fitting.again(run, this.table);
  }

  /** Opens what the address names. @param {string | null} name */
  async bring(name) {
    if (name?.startsWith("@")) return this.open(name);
    if (name !== "file" && name !== null) throw new Error(`data cannot be "${name}": choose a file or a built-in set`);
    const before = name === "file" ? recalled(kept) : null;
    if (before) return this.opens(get(`/api/data/${encodeURIComponent(before)}`, this.left.signal), `reading the file`);
    const own = /** @type {any} */ (await ownFile()) ?? (await givenModel());
    if (own) return own.check || own.shown ? this.opens(Promise.resolve(own)) : this.refused(new Error(own.error));
    if (name === "file") throw new Error("the file of this address is not open here any more: choose it again");
  }

  /** A picture goes to Pictures, all else is read as a table or a model. @param {File} file */
  take(file) {
    if (file.type.startsWith("image/")) {
      handed.picture = file;
      document.querySelector('a[data-page="pictures"]')?.dispatchEvent(new MouseEvent("click", { bubbles: true, cancelable: true }));
      return;
    }
    if (file.size > this.limit) {
      this.refused(new Error(`${file.name} has ${bytes(file.size)}, more than the ${bytes(this.limit)} that are taken here: latent studio FILE reads it where it is`));
      return;
    }
    this.opens(send(`/api/data?name=${encodeURIComponent(file.name)}`, file, this.left.signal), `reading ${file.name}`);
  }

  /** @param {string} set a built-in one */
  open(set) {
    return this.opens(send(`/api/data?set=${encodeURIComponent(set)}`, null, this.left.signal), `reading ${set}`);
  }

  /**
   * Shows a table or a model when it is there, unless another has been asked for since.
   * @param {Promise<Table | Model>} coming
   * @param {string} [status]
   */
  async opens(coming, status = "") {
    const mine = ++this.opened;
    this.at("file-status").textContent = status;
    try {
      const came = await coming;
      if (mine !== this.opened || this.left.signal.aborted) return;
      if ("shown" in came) this.showModel(came);
      else this.show(came);
    } catch (e) {
      if (mine !== this.opened || this.left.signal.aborted) return;
      if (e instanceof Refused && e.body?.data) this.show(e.body.data); // leaving a column out may cure it
      this.refused(e);
    } finally {
      if (mine === this.opened) this.at("file-status").textContent = "";
    }
  }

  /** What is on screen stays, dimmed: it is of the file before. @param {unknown} e */
  refused(e) {
    if (this.left.signal.aborted) return;
    complain(this.at("file-error"), words(e));
    for (const name of about) this.at(name).classList.toggle("stale", !(e instanceof Refused && e.body?.data));
  }

  /** A model has a result, and neither columns nor a fit. @param {Model} model */
  showModel(model) {
    const { at } = this;
    this.table = null;
    this.fitting.clear(null);
    complain(at("file-error"), "");
    at("file-shown").hidden = false;
    at("file-name").textContent = model.name;
    at("file-summary").textContent = "a model: " + [model.shown.kind, model.shown.shape].filter(Boolean).join(", ");
    at("set-select").value = "";
    for (const name of about) at(name).classList.remove("stale");
    for (const name of ["columns-panel", "fit-panel"]) at(name).hidden = true;
    this.fitting.outcome.showModel(model);
    keep(kept, model.id);
    rename("/data?data=file");
    announce(`${model.name}: ${model.shown.finding}`);
  }

  /** @param {Table} table */
  show(table) {
    const { at } = this;
    const own = !table.id.startsWith("@");
    this.table = table;
    this.fitting.clear(table);
    complain(at("file-error"), "");
    at("file-shown").hidden = false;
    at("file-name").textContent = table.name;
    at("file-summary").textContent = table.text || count(table.rows, "row");
    at("set-select").value = own ? "" : table.id;
    at("warnings").replaceChildren(...(table.warnings ?? []).map((text) => make("li", {}, ...told(text))));
    this.columns.show(table);
    const gaps = table.check.missing_cells;
    at("missing-line").hidden = gaps === 0;
    at("missing-text").textContent = `${count(gaps, "missing cell")} in ${count(table.check.incomplete_rows, "row")}:`;
    at("fit-missing").value = "";
    this.form.guessed(table.model);
    for (const name of about) at(name).classList.remove("stale");
    for (const name of ["columns-panel", "fit-panel"]) at(name).hidden = false;
    if (own) {
      setOwn(table);
      keep(kept, table.id);
    }
    this.ready();
    this.address();
    announce(`${table.name}: ${count(table.rows, "row")}, ${count(table.check.columns.length, "column")}`);
  }

  /** Says whether there is anything to fit. */
  ready() {
    const none = this.columns.features() === 0;
    this.at("fit-button").disabled = none;
    this.at("fit-hint").textContent = none ? "No column is a feature: make one a feature above." : "";
  }

  /** What a run is asked for. */
  body() {
    return { data: this.table?.id ?? "", spec: this.form.spec(), trace: false, options: { ...this.columns.options(), ...this.form.options() } };
  }

  /** Puts the view into the address. @param {string} [run] */
  address(run) {
    if (!this.table || this.left.signal.aborted) return;
    const query = new URLSearchParams({ data: this.table.id.startsWith("@") ? this.table.id : "file" });
    this.form.write(query);
    if (run) query.set("run", run);
    const next = `/data?${query}`;
    if (run !== undefined && location.search.includes("run=")) visit(next); // another result: Back brings the one before
    else rename(next);
  }
}
