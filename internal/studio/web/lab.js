// The failure lab: small cases in which a fit goes wrong, each with a verdict from its own result.
import { aborted, get, open, post, words } from "./api.js";
import { complain, make, named, part, template } from "./dom.js";
import { Stage } from "./stage.js";
import { announce, working } from "./status.js";
import { ask, read } from "./view.js";

export class Lab {
  constructor() {
    this.root = document.body;
    this.ends = new AbortController();
    /** @type {Stage | null} */
    this.stage = null;
  }

  /** @param {HTMLElement} root */
  async mount(root) {
    this.root = root;
    const name = decodeURIComponent(location.pathname.split("/")[2] ?? "");
    this.list(name).catch(() => {});
    if (name) await this.open(name);
  }

  unmount() {
    this.ends.abort();
    this.stage?.close();
  }

  /** Marks the case, and adds what the server has beyond those known. @param {string} name */
  async list(name) {
    const list = named(this.root, "lab-list");
    const mark = () => { for (const a of list.querySelectorAll("a")) a.dataset.preset === name ? a.setAttribute("aria-current", "page") : a.removeAttribute("aria-current"); };
    mark();
    for (const c of await get("/api/lab", this.ends.signal)) {
      if ([...list.querySelectorAll("a")].some((a) => a.dataset.preset === c.name)) continue;
      list.append(make("li", {}, make("a", { href: `/lab/${encodeURIComponent(c.name)}`, "data-preset": c.name }, c.title)));
    }
    mark();
  }

  /** @param {string} name */
  async open(name) {
    const about = part(this.root, "about");
    about.replaceChildren(make("h1", {}, "Failure lab"), make("p", { class: "muted" }, "Running it …"));
    try {
      const c = await working(post(`/api/lab/${encodeURIComponent(name)}`, {}, this.ends.signal));
      about.replaceChildren(template("part-case"));
      this.tell(about, c);
      await this.show(c.watch);
    } catch (e) {
      if (aborted(e)) return;
      if (this.stage) complain(part(part(this.root, "stage"), "error"), words(e));
      else about.replaceChildren(make("h1", {}, "Failure lab"), make("p", { class: "error", role: "alert" }, words(e)));
    }
  }

  /** @param {HTMLElement} about @param {any} c */
  tell(about, c) {
    part(about, "title").textContent = c.title;
    part(about, "text").textContent = c.text.join(" ");
    part(about, "cure").textContent = c.cure;
    part(about, "cure-line").hidden = !c.cure;
    for (const page of ["watch", "race"]) {
      const a = /** @type {HTMLAnchorElement} */ (part(about, page));
      a.hidden = !c[page];
      if (c[page]) a.href = c[page];
    }
    const verdict = named(about, "lab-verdict");
    for (const [key, value] of Object.entries(c.verdict)) if (value != null) verdict.setAttribute("data-" + key.replace(/^data-/, "").replaceAll("_", "-"), String(value));
    verdict.textContent = c.sentence.replace(/(^|[\s(])-(?=\d)/g, "$1−");
    document.title = `${c.title} · latent studio`;
    announce(c.sentence);
  }

  /** The climb of the case, by the address that Watch has for it. @param {string} address */
  async show(address) {
    const query = new URL(address, location.href).searchParams, { view } = read(query);
    const box = part(this.root, "stage"), numbers = part(this.root, "numbers");
    box.hidden = numbers.hidden = false;
    this.root.firstElementChild?.classList.add("open");
    this.stage = new Stage(box, numbers, () => {});
    const kmeans = view.model === "kmeans";
    const data = await open(view.data);
    const x = view.x ?? data.features[0] ?? "", y = view.y ?? data.features.find((f) => f !== x) ?? "";
    await working(this.stage.run(ask(view, data), { data, x, y: y || null, kmeans, at: "" }));
    if (this.stage.player.still) this.stage.player.jump(this.stage.record?.last ?? 0); // what nothing plays is shown at its end, of which the verdict speaks
  }

  /** @param {KeyboardEvent} e */
  key(e) { return this.stage?.key(e) ?? false; }
}
