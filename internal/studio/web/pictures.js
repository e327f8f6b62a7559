// Pictures: one before and after, a slider between them, and its colours.
import { aborted, binary, Ended, send, state, stream, words } from "./api.js";
import { complain, fill, make, named, tell } from "./dom.js";
import { algorithms } from "./form.js";
import { brief, button, bytes, copies, count, handed, keep, recalled, receive, shown, told } from "./parts.js";
import { announce, rename, working } from "./status.js";

/** @typedef {{id: string, name: string, width: number, height: number, colours: number}} Picture */
/** @typedef {{label: number, share: number, pixels: number, hex: string}} Segment */

/** Where the last picture is kept over a reload: its pixels stay with the server. */
const kept = "latent-picture";

/** Fields of the form and their names in the address. @type {[string, string][]} */
const fields = [
  ["picture-k", "k"],
  ["picture-model", "model"],
  ["picture-covariance", "covariance"],
  ["picture-algorithm", "algorithm"],
  ["picture-space", "space"],
  ["picture-position", "position"],
  ["picture-seed", "seed"],
];

/** Files of a run, by the names of their links. @type {[string, string][]} */
const files = [
  ["picture-link", "after.png"],
  ["picture-map-link", "labels.png"],
  ["picture-palette-link", "palette.csv"],
];

/** The page Pictures. */
export class Pictures {
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
    const chip = this.view?.segments[Number(event.key) - 1];
    if (event.key === "r" && this.view?.picture) this.view.run();
    else if (chip) this.view?.light(chip.label);
    else return false;
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
    /** @type {Picture | null} */
    this.picture = null;
    /** @type {AbortController | null} */
    this.running = null;
    /** @type {Segment[]} */
    this.segments = []; // the largest share first
    this.map = "";
    this.lit = 0; // the segment whose pixels are shown alone; 0 for none
    this.opened = 0;
    this.limit = Infinity;
    receive(this.at("picture-zone"), this.at("picture-input"), (file) => this.take(file));
    this.at("picture-form").addEventListener("submit", (/** @type {Event} */ e) => {
      e.preventDefault();
      if (this.running) this.running.abort();
      else this.run();
    });
    this.at("picture-model").addEventListener("change", () => this.offer());
    this.at("picture-slider").addEventListener("input", () => this.slide());
    this.offer();
    copies(root);
  }

  leave() {
    this.left.abort();
    this.running?.abort();
  }

  /** Offers the algorithms of the model. */
  offer() {
    const model = this.at("picture-model").value;
    fill(this.at("picture-algorithm"), [["", "automatic"], ...algorithms(model)]);
    this.at("picture-covariance").disabled = model !== "gmm";
  }

  /** @param {URLSearchParams} query */
  async begin(query) {
    /** @type {string[]} */
    const wrong = [];
    for (const [name, key] of fields) {
      const v = query.get(key);
      if (v === null) continue;
      this.at(name).value = v;
      if (this.at(name).value !== v) {
        wrong.push(`${key} cannot be "${v}" here`);
        this.at(name).value = this.at(name).querySelector("option")?.value ?? this.at(name).defaultValue ?? "";
      }
      if (name === "picture-model") this.offer();
    }
    complain(this.at("picture-error"), wrong.join("; "));
    try {
      const s = await state();
      this.limit = s.limits.upload;
      this.at("picture-limit").textContent = `PNG, JPEG, GIF, BMP, TIFF or WebP, up to ${bytes(this.limit)}.`;
      await this.bring(query.has("k"));
    } catch (e) {
      this.failed(e);
    }
  }

  /** Takes what another page handed on, or the picture of before a reload. @param {boolean} again */
  async bring(again) {
    const file = handed.picture;
    handed.picture = null;
    if (file) return this.take(file);
    const before = again ? recalled(kept) : null;
    if (!before) return;
    if (!(await there(before.id))) throw new Error("the picture of this address is not open here any more: choose it again");
    if (this.left.signal.aborted) return;
    this.show(before);
    await this.run();
  }

  /** @param {File} file */
  async take(file) {
    const mine = ++this.opened;
    this.running?.abort();
    if (file.size > this.limit) return this.failed(new Error(`${file.name} has ${bytes(file.size)}, more than the ${bytes(this.limit)} that are taken here: latent segment reads it where it is`));
    this.at("picture-status").textContent = `reading ${file.name}`;
    try {
      const picture = await send(`/api/pictures?name=${encodeURIComponent(file.name)}`, file, this.left.signal);
      if (mine === this.opened && !this.left.signal.aborted) this.show(picture);
    } catch (e) {
      if (mine === this.opened) this.failed(e);
    } finally {
      if (mine === this.opened) this.at("picture-status").textContent = "";
    }
  }

  /** @param {Picture} picture */
  show(picture) {
    const { at } = this;
    this.picture = picture;
    complain(at("picture-error"), "");
    at("picture-name").textContent = picture.name;
    at("picture-summary").textContent = `${picture.width.toLocaleString("en-US")} × ${picture.height.toLocaleString("en-US")} pixels, ${count(picture.colours, "colour")}`;
    at("picture-before").src = `/api/pictures/${encodeURIComponent(picture.id)}/before.png`;
    enlarge(at("picture-before"), picture);
    at("picture-before").alt = `${picture.name} as it is`;
    at("picture-stage").hidden = false;
    at("picture-stage").classList.remove("stale");
    for (const name of ["picture-empty", "picture-after", "picture-border", "picture-slider", "picture-result"]) at(name).hidden = true;
    this.segments = [];
    this.dark();
    at("picture-run").disabled = false;
    keep(kept, picture);
    announce(`${picture.name} is there`);
  }

  /** What is asked for; an Error says what is wrong. @returns {Record<string, any>} */
  body() {
    const text = (/** @type {string} */ name) => String(this.at(name).value).trim();
    const number = (/** @type {string} */ name, /** @type {string} */ what, /** @type {RegExp} */ form) => {
      if (!form.test(text(name))) throw new Error(`${what} cannot be "${text(name)}": it must be a number`);
      return Number(text(name));
    };
    /** @type {Record<string, any>} */
    const body = { k: number("picture-k", "-k", /^0*[1-9]\d*$/), model: text("picture-model"), space: text("picture-space") };
    if (!this.at("picture-covariance").disabled && text("picture-covariance")) body.covariance = text("picture-covariance");
    if (text("picture-algorithm")) body.algorithm = text("picture-algorithm");
    if (text("picture-position")) body.position = number("picture-position", "--position", /^\d+(\.\d+)?$/);
    if (text("picture-seed")) body.seed = number("picture-seed", "--seed", /^\d+$/);
    return body;
  }

  async run() {
    const picture = this.picture;
    if (!picture || this.running) return;
    let body;
    try {
      body = this.body();
    } catch (e) {
      return this.failed(e);
    }
    const mine = (this.running = new AbortController());
    complain(this.at("picture-error"), "");
    this.buttons(true);
    this.address();
    const clock = this.clock();
    try {
      await working(this.follow(body, mine.signal, picture));
    } catch (e) {
      if (!aborted(e)) this.failed(e);
    } finally {
      clearInterval(clock);
      this.running = null;
      if (!this.left.signal.aborted) this.buttons(false, mine.signal.aborted);
    }
  }

  /** @param {any} body @param {AbortSignal} signal @param {Picture} picture */
  async follow(body, signal, picture) {
    let ended = false;
    await stream(`/api/pictures/${encodeURIComponent(picture.id)}/segment`, body, signal, (line) => {
      if (line.error) throw new Error(line.error);
      if (!line.result) return;
      ended = true;
      this.result(line, picture);
    });
    if (!ended) throw new Ended();
  }

  /** Tells for how long it works. */
  clock() {
    const start = performance.now();
    return setInterval(() => {
      const s = Math.floor((performance.now() - start) / 1000);
      if (s > 0) this.at("picture-status").textContent = `working, ${s} s`;
    }, 250);
  }

  /** @param {boolean} on @param {boolean} [stopped] */
  buttons(on, stopped = false) {
    this.at("picture-run").textContent = on ? "Stop" : "Run";
    this.at("picture-status").textContent = on ? "working" : stopped ? "stopped" : "";
    this.at("picture-stage").classList.toggle("stale", on);
  }

  address() {
    const query = new URLSearchParams();
    for (const [name, key] of fields) if (this.at(name).value && !this.at(name).disabled) query.set(key, this.at(name).value);
    rename(`/pictures?${query}`);
  }

  /** @param {any} line the last one of the answer @param {Picture} picture */
  result(line, picture) {
    const { at } = this;
    const base = `/api/pictures/${encodeURIComponent(picture.id)}`;
    const fresh = `?run=${encodeURIComponent(line.run ?? "")}`; // an address of its own for each run, or the picture of before is shown
    at("picture-after").src = `${base}/after.png${fresh}`;
    at("picture-after").alt = `${picture.name} with every pixel in its segment's mean colour`;
    for (const name of ["picture-after", "picture-border", "picture-slider", "picture-result"]) at(name).hidden = false;
    this.slide();
    tell(at("picture-mse"), line.result.mse, brief(line.result.mse));
    tell(at("picture-rmse"), line.result.rmse, shown(line.result.rmse, 2));
    tell(at("picture-segments"), line.result.k, shown(line.result.k, 0));
    at("picture-warnings").replaceChildren(...(line.result.warnings ?? []).map((/** @type {any} */ w) => make("li", {}, ...told(typeof w === "string" ? w : w.text))));
    at("picture-command").textContent = line.command ?? "";
    const stem = picture.name.replace(/\.[^.]*$/, "") || "picture";
    for (const [name, file] of files) {
      at(name).href = `${base}/${file}${fresh}`;
      at(name).download = `${stem}-${file}`;
    }
    this.map = `${base}/segments.bin${fresh}`;
    this.segments = [...line.segments].sort((a, b) => b.share - a.share);
    at("palette").replaceChildren(...this.segments.map((s, i) => this.chip(s, i)));
    this.dark();
    announce(`${count(line.segments.length, "segment")}; root mean squared error ${shown(line.result.rmse, 2)} of 255`);
  }

  /** @param {Segment} s @param {number} i its place */
  chip(s, i) {
    const patch = make("span", { class: "patch" });
    patch.style.background = s.hex;
    const share = `${(100 * s.share).toFixed(1)} %`;
    const chip = button("", () => this.light(s.label), {
      class: "swatch-chip",
      "aria-pressed": "false",
      "aria-label": `${s.hex} ${share}: light up segment ${s.label}`,
      title: `${count(s.pixels, "pixel")}${i < 9 ? ` (${i + 1})` : ""}`,
    });
    chip.append(patch, make("span", {}, s.hex), " ", make("span", { class: "muted" }, share));
    return make("li", { "data-share": s.share, "data-label": s.label }, chip);
  }

  /** Shows the pixels of a segment alone, or all again. @param {number} label */
  async light(label) {
    if (this.lit === label) return this.dark();
    this.lit = label;
    this.press();
    try {
      const { data } = await binary(this.map, this.left.signal);
      if (this.lit !== label || !this.picture) return;
      this.cover(new DataView(data), label, this.picture);
      announce(`segment ${label} is lit up`);
    } catch (e) {
      this.failed(e);
    }
  }

  /**
   * Covers all pixels but those of a segment.
   * @param {DataView} map label less 1 of each pixel, two bytes each
   * @param {number} label
   * @param {Picture} picture
   */
  cover(map, label, picture) {
    const canvas = /** @type {HTMLCanvasElement} */ (this.at("picture-cover"));
    canvas.width = picture.width;
    canvas.height = picture.height;
    const image = new ImageData(picture.width, picture.height);
    const pixels = new Uint32Array(image.data.buffer);
    const [veil = 0] = new Uint32Array(new Uint8Array([20, 24, 30, 225]).buffer);
    for (let i = 0; i < pixels.length; i++) if (map.getUint16(2 * i, true) !== label - 1) pixels[i] = veil;
    canvas.getContext("2d")?.putImageData(image, 0, 0);
    canvas.hidden = false;
  }

  /** Shows all pixels. */
  dark() {
    this.lit = 0;
    this.at("picture-cover").hidden = true;
    this.press();
  }

  press() {
    for (const item of this.at("palette").children) item.firstElementChild?.setAttribute("aria-pressed", String(Number(item.dataset.label) === this.lit));
  }

  /** Puts the border between before and after where the slider is. */
  slide() {
    const x = Number(this.at("picture-slider").value);
    this.at("picture-after").style.clipPath = `inset(0 0 0 ${x}%)`;
    this.at("picture-border").style.left = `${x}%`;
  }

  /** @param {unknown} e */
  failed(e) {
    if (this.left.signal.aborted) return;
    this.at("picture-status").textContent = "";
    complain(this.at("picture-error"), words(e));
    this.at("picture-stage").classList.add("stale");
  }
}

/** Shows a small picture by whole multiples of its pixels. @param {HTMLImageElement} img @param {Picture} picture */
function enlarge(img, picture) {
  const times = Math.floor(Math.min(480 / picture.width, 360 / picture.height));
  img.style.width = times > 1 ? `${times * picture.width}px` : "";
  img.style.maxHeight = times > 1 ? "none" : "";
}

/** Whether the server still has a picture. @param {string} id */
async function there(id) {
  return binary(`/api/pictures/${encodeURIComponent(id)}/before.png`).then(
    () => true,
    () => false,
  );
}
