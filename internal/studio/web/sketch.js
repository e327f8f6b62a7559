// The picture of a result: the rows in the colours of their groups, on two columns of one's choice.
import { binary, words } from "./api.js";
import { groupColour } from "./colour.js";
import { complain, fill } from "./dom.js";
import { marksOf, Scatter } from "./scatter.js";
import { working } from "./status.js";

/** Numbers of a component on two columns, and on one. */
const strides = { two: 6, one: 3 };

/** The picture and the choice of its columns. */
export class Sketch {
  /**
   * @param {(name: string) => any} at finds an element by its name
   * @param {AbortSignal} left ends requests when the page is left
   */
  constructor(at, left) {
    this.at = at;
    this.left = left;
    this.scatter = new Scatter(at("result-scatter"), { name: "Rows and groups on two columns" });
    this.run = "";
    this.data = "";
    /** @type {number[]} */
    this.labels = [];
    this.asked = 0;
    /** @type {Float32Array} */
    this.groups = new Float32Array(0);
    /** @type {Uint8Array | null} */
    this.shares = null;
    for (const name of ["result-x", "result-y"]) at(name).addEventListener("change", () => this.draw());
    left.addEventListener("abort", () => this.scatter.close());
    document.addEventListener("themechange", () => this.recolour(), { signal: left });
  }

  /**
   * @param {string} run
   * @param {string} data its table
   * @param {number[]} labels that of each component, from 1: of a merged model its cluster
   * @param {string[]} columns the numbers among those that were fitted
   */
  show(run, data, labels, columns) {
    this.run = encodeURIComponent(run);
    this.data = encodeURIComponent(data);
    this.labels = labels;
    this.at("result-picture").hidden = columns.length === 0;
    if (columns.length === 0) return;
    /** @type {[string, string][]} */
    const own = columns.map((c) => [c, c]);
    /** @type {[string, string][]} */
    const turned = columns.length > 1 ? [["pc1", "first principal component"], ["pc2", "second principal component"]] : [];
    fill(this.at("result-x"), [...own, ...turned], this.at("result-x").value || columns[0]);
    fill(this.at("result-y"), [...own, ["", "density"], ...turned], this.at("result-x").options.length > 1 ? this.at("result-y").value || (columns[1] ?? "") : "");
    this.draw();
  }

  /** Fetches what the chosen columns need, and draws it. */
  async draw() {
    const mine = ++this.asked;
    const [x, y] = [this.at("result-x").value, this.at("result-y").value];
    const plane = new URLSearchParams(y === "" ? { x } : { x, y });
    try {
      const [marks, parts, shares] = await working(
        Promise.all([
          binary(`/api/data/${this.data}/marks?${plane}`, this.left),
          binary(`/api/runs/${this.run}/components?${plane}&from=0`, this.left),
          binary(`/api/runs/${this.run}/responsibilities?frame=0`, this.left),
        ]),
      );
      if (mine !== this.asked) return;
      complain(this.at("result-picture-error"), "");
      this.groups = new Float32Array(parts.data);
      this.shares = new Uint8Array(shares.data);
      this.scatter.setMarks(marksOf(marks.data, marks.headers, y === ""), x, y);
      this.recolour();
    } catch (e) {
      if (mine === this.asked && !this.left.aborted) complain(this.at("result-picture-error"), words(e));
    }
  }

  /** Draws what is there in the colours that are in force. */
  recolour() {
    const s = this.scatter;
    s.retheme();
    const palette = Array.from({ length: Math.max(0, ...this.labels) }, (_, c) => groupColour(s.theme, c));
    const stride = s.flat ? strides.one : strides.two;
    s.groups = this.labels.map((of, c) => {
      const [weight = 0, a = NaN, b = NaN, vxx = NaN, vxy = NaN, vyy = NaN] = this.groups.subarray(c * stride, (c + 1) * stride);
      const place = s.flat ? { x: a, y: 0, vxx: b, vxy: 0, vyy: 0 } : { x: a, y: b, vxx, vxy, vyy };
      return { label: of - 1, colour: palette[of - 1] ?? s.theme.none, weight, ...place, way: new Float32Array(0) };
    });
    s.colour(this.shares, this.shares, 1, palette);
    s.drawGroups();
  }
}
