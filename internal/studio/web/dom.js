// What every page needs to build its parts: elements by name, text, copying.

/**
 * The element with a data-testid.
 * @param {ParentNode} root
 * @param {string} name
 * @returns {HTMLElement}
 */
export function named(root, name) {
  const e = root.querySelector(`[data-testid="${name}"]`);
  if (!(e instanceof HTMLElement)) throw new Error(`the page has no ${name}`);
  return e;
}

/** @param {ParentNode} root @param {string} name @returns {HTMLInputElement} */
export const input = (root, name) => /** @type {HTMLInputElement} */ (named(root, name));

/** @param {ParentNode} root @param {string} name @returns {HTMLSelectElement} */
export const select = (root, name) => /** @type {HTMLSelectElement} */ (named(root, name));

/** @param {ParentNode} root @param {string} name @returns {HTMLCanvasElement} */
export const canvas = (root, name) => /** @type {HTMLCanvasElement} */ (named(root, name));

/**
 * The element with a data-part: what no check relies on.
 * @param {ParentNode} root
 * @param {string} name
 * @returns {HTMLElement}
 */
export function part(root, name) {
  const e = root.querySelector(`[data-part="${name}"]`);
  if (!(e instanceof HTMLElement)) throw new Error(`the page has no part ${name}`);
  return e;
}

/**
 * A new element. Children that are texts are set as text.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {Record<string, string | number | boolean>} [attributes]
 * @param {...(Node | string)} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function make(tag, attributes = {}, ...children) {
  const e = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === true) e.setAttribute(name, "");
    else if (value !== false) e.setAttribute(name, String(value));
  }
  e.append(...children);
  return e;
}

/**
 * The copy of a template, with the parts that it includes.
 * @param {string} id
 * @returns {DocumentFragment}
 */
export function template(id) {
  const t = document.getElementById(id);
  if (!(t instanceof HTMLTemplateElement)) throw new Error(`there is no template ${id}`);
  const copy = /** @type {DocumentFragment} */ (t.content.cloneNode(true));
  for (const e of copy.querySelectorAll("[data-include]")) e.append(template(e.getAttribute("data-include") ?? ""));
  return copy;
}

/**
 * Fills a select with [value, text] pairs and keeps what was chosen where it is still there.
 * @param {HTMLSelectElement} s
 * @param {[string, string][]} options
 * @param {string} [chosen]
 */
export function fill(s, options, chosen = s.value) {
  s.replaceChildren(...options.map(([value, text]) => make("option", { value }, text)));
  if (options.some(([value]) => value === chosen)) s.value = chosen;
}

/**
 * The radio button that is pressed in a group.
 * @param {ParentNode} root
 * @returns {string}
 */
export function pressed(root) {
  const e = root.querySelector("input:checked");
  return e instanceof HTMLInputElement ? e.value : "";
}

/**
 * Presses a radio button, if the group has it.
 * @param {ParentNode} root
 * @param {string} value
 */
export function press(root, value) {
  for (const e of root.querySelectorAll("input")) e.checked = e.value === value;
}

/**
 * Puts an exact number behind one that is shown rounded.
 * @param {HTMLElement} e
 * @param {number | null | undefined} value
 * @param {string} text
 */
export function tell(e, value, text) {
  e.dataset.value = value == null ? "" : String(value);
  e.textContent = value == null ? "–" : text;
}

/**
 * Shows a message of one line, or hides it.
 * @param {HTMLElement} e
 * @param {string} text
 */
export function complain(e, text) {
  e.textContent = text;
  e.hidden = text === "";
}

/** The last part of a path: what a file is called. @param {string} path */
export const base = (path) => path.split(/[\\/]/).pop() || path;

/** Draws play or pause on a button of a transport, and names it. @param {HTMLElement} button @param {boolean} on whether it plays */
export function playGlyph(button, on) {
  button.setAttribute("aria-label", on ? "Pause" : "Play");
  button.querySelector("path")?.setAttribute("d", on ? "M4 3h3v10H4zM9 3h3v10H9z" : "M4.5 2.5v11L13 8z");
}

/** Whether keys belong to what has the focus. @param {KeyboardEvent} event */
export function typing(event) {
  const e = event.target;
  if (!(e instanceof HTMLElement) || event.ctrlKey || event.metaKey || event.altKey) return true;
  if (e instanceof HTMLInputElement) return !["range", "radio", "checkbox", "button"].includes(e.type);
  return e instanceof HTMLTextAreaElement || e instanceof HTMLSelectElement || e.isContentEditable;
}
