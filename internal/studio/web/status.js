// What the whole page says: that it works, what has happened, where one is.
import { named, part } from "./dom.js";

let jobs = 0;

/**
 * Marks the page as working until the promise is settled.
 * @template T
 * @param {Promise<T>} job
 * @returns {Promise<T>}
 */
export async function working(job) {
  const status = named(document, "status");
  jobs++;
  status.dataset.busy = "true";
  try {
    return await job;
  } finally {
    if (--jobs === 0) delete status.dataset.busy;
  }
}

/** Says a line to who listens. @param {string} text */
export function announce(text) { part(document, "live").textContent = text; }

/** A new entry of the history, unless the address is the same. @param {string} address */
export function visit(address) {
  if (location.pathname + location.search !== address.split("#")[0]) history.pushState(null, "", address);
}

/** Changes the address in place. @param {string} address */
export function rename(address) {
  if (location.pathname + location.search + location.hash !== address) history.replaceState(null, "", address);
}

/**
 * Copies a text, and says so on the button.
 * @param {HTMLElement} button
 * @param {string} text
 */
export async function copy(button, text) {
  const was = button.dataset.was ?? button.textContent ?? "";
  button.dataset.was = was;
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
  } catch {
    button.textContent = "Not allowed: select it and copy";
  }
  announce(button.textContent ?? "");
  setTimeout(() => { button.textContent = was; }, 1500);
}
