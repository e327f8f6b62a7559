// A second file, labelled by the model of a result.
import { binary, send, words } from "./api.js";
import { complain } from "./dom.js";
import { receive } from "./parts.js";
import { announce, working } from "./status.js";

/** The last part of a result: its model for other rows. */
export class Apply {
  /**
   * @param {(name: string) => any} at finds an element by its name
   * @param {AbortSignal} left ends requests when the page is left
   */
  constructor(at, left) {
    this.at = at;
    this.left = left;
    this.model = "";
    this.asked = 0;
    receive(at("apply-zone"), at("apply-input"), (file) => this.take(file));
  }

  /** @param {string} model the address of a run or of a model file */
  show(model) {
    this.model = model;
    this.asked++;
    this.at("apply-link").hidden = true;
    complain(this.at("apply-error"), "");
  }

  /** @param {File} file */
  async take(file) {
    const mine = ++this.asked;
    this.at("apply-link").hidden = true;
    try {
      const address = await working(this.label(file));
      if (mine === this.asked && !this.left.aborted) this.offer(file, address);
    } catch (e) {
      if (mine === this.asked && !this.left.aborted) complain(this.at("apply-error"), words(e));
    }
  }

  /** The address of a file's labels, tried once: what a file lacks is told at once. @param {File} file */
  async label(file) {
    const data = await send(`/api/data?name=${encodeURIComponent(file.name)}`, file, this.left);
    const address = `${this.model}/applied.csv?${new URLSearchParams({ data: data.id })}`;
    await binary(address, this.left);
    return address;
  }

  /** @param {File} file @param {string} address */
  offer(file, address) {
    complain(this.at("apply-error"), "");
    const link = this.at("apply-link");
    link.href = address;
    link.download = `${file.name.replace(/\.[^.]*$/, "")}-labels.csv`;
    link.textContent = `Labels of ${file.name}`;
    link.hidden = false;
    announce(link.textContent);
  }
}
