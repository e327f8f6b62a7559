// The server: JSON, lines of JSON, and numbers in binary.

/** A refusal of the server, in its own words. */
export class Refused extends Error {
  /** @param {string} message @param {number} status @param {any} [body] the whole answer, where it is JSON */
  constructor(message, status, body = null) {
    super(message);
    this.status = status;
    this.body = body;
  }
}

/** The server is not there any more. */
export class Ended extends Error {
  constructor() { super("latent studio has ended: start it again in the terminal"); }
}

/** @type {Set<(there: boolean) => void>} */
const watchers = new Set();

/** Calls f whenever the server was found to have ended, or to be there again. @param {(there: boolean) => void} f */
export function onPresence(f) { watchers.add(f); }

/**
 * One request; what is not a success becomes an error with the server's line.
 * @param {string} path
 * @param {RequestInit} [options]
 * @returns {Promise<Response>}
 */
export async function request(path, options = {}) {
  let r;
  try {
    r = await fetch(path, { credentials: "same-origin", ...options });
  } catch (e) {
    if (options.signal?.aborted || aborted(e)) throw e;
    watchers.forEach((f) => f(false));
    throw new Ended();
  }
  watchers.forEach((f) => f(true));
  if (r.ok) return r;
  const text = await r.text();
  let body = null, line = text.trim().split("\n")[0] ?? "";
  try {
    body = JSON.parse(text);
    if (typeof body.error === "string") line = body.error;
  } catch { /* not JSON: the line as it is */ }
  throw new Refused(line || `the server answered ${r.status}`, r.status, body);
}

/** Whether an error only says that we stopped asking. @param {unknown} e */
export const aborted = (e) => e instanceof DOMException && e.name === "AbortError";

/** The words of an error. @param {unknown} e */
export const words = (e) => (e instanceof Error ? e.message : String(e));

/** @param {string} path @param {AbortSignal} [signal] @returns {Promise<any>} */
export async function get(path, signal) { return (await request(path, { signal: signal ?? null })).json(); }

/** @param {string} path @param {any} body @param {AbortSignal} [signal] @returns {Promise<any>} */
export async function post(path, body, signal) {
  return (await request(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body), signal: signal ?? null })).json();
}

/** A file, or nothing, as it is. @param {string} path @param {Blob | null} body @param {AbortSignal} [signal] @returns {Promise<any>} */
export async function send(path, body, signal) {
  return (await request(path, { method: "POST", headers: { "Content-Type": "application/octet-stream" }, body, signal: signal ?? null })).json();
}

/** @param {string} path @param {AbortSignal} [signal] @returns {Promise<{data: ArrayBuffer, headers: Headers}>} */
export async function binary(path, signal) {
  const r = await request(path, { signal: signal ?? null });
  return { data: await r.arrayBuffer(), headers: r.headers };
}

/**
 * Cuts chunks of text into lines of JSON.
 * @param {(value: any) => void} each
 * @returns {{push: (text: string) => void, end: () => void}}
 */
export function lines(each) {
  let rest = "";
  return {
    push(text) {
      const parts = (rest + text).split("\n");
      rest = parts.pop() ?? "";
      for (const p of parts) if (p.trim() !== "") each(JSON.parse(p));
    },
    end() {
      if (rest.trim() !== "") each(JSON.parse(rest));
      rest = "";
    },
  };
}

/**
 * Posts and reads the answer line by line while it comes. Aborting the signal stops what the server does.
 * @param {string} path
 * @param {any} body
 * @param {AbortSignal} signal
 * @param {(value: any) => void} each
 */
export async function stream(path, body, signal, each) {
  const r = await request(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body), signal });
  if (!r.body) throw new Ended();
  const cut = lines(each), decode = new TextDecoder(), reader = r.body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      cut.push(decode.decode(value, { stream: true }));
    }
  } catch (e) {
    if (signal.aborted || !(e instanceof TypeError)) throw e;
    watchers.forEach((f) => f(false));
    throw new Ended();
  }
  cut.end();
}

/** @typedef {{id: string, name: string, rows: number, features: string[], types: string[], text: string, warnings: string[], model: string, reading?: boolean}} Data */
/** @typedef {{name: string, rows: number, columns: string[], about: string}} BuiltIn */
/** @typedef {{version: string, sets: BuiltIn[], limits: {upload: number, marks: number, frames_bytes: number}, file: Data | null, model: any, runs: any[]}} State */

/** @type {Promise<State> | null} */
let first = null;

/** What the studio has; asked for once, again with fresh. @param {boolean} [fresh] @returns {Promise<State>} */
export function state(fresh = false) {
  if (!first || fresh) {
    first = get("/api/state");
    first.catch(() => { first = null; });
  }
  return first;
}

/** @type {Map<string, Promise<Data>>} */
const opened = new Map();

/** @type {Data | null} */
let own = null;

/** Remembers the file of one's own, that addresses call data=file. @param {Data} d */
export function setOwn(d) {
  own = d;
  opened.set(d.id, Promise.resolve(d));
}

/** The file of one's own that was opened last, or the one that the command was given. @returns {Promise<Data | null>} */
export async function ownFile() {
  const file = own ?? (await state()).file;
  return file?.reading ? get(`/api/data/${encodeURIComponent(file.id)}`) : file; // a large one is still being looked at
}

/** The model that the command was given in place of a table. @returns {Promise<any>} */
export async function givenModel() {
  const m = (await state()).model;
  return m?.reading ? get(`/api/data/${encodeURIComponent(m.id)}`) : m;
}

/**
 * Opens a built-in set, or the file of one's own for "file".
 * @param {string} name
 * @returns {Promise<Data>}
 */
export async function open(name) {
  if (name === "file") {
    const d = await ownFile();
    if (!d) throw new Refused("the file of this address is not open here: choose it at Your data, then come back", 404);
    return d;
  }
  const known = opened.get(name);
  if (known) return known;
  const asked = /** @type {Promise<Data>} */ (send(`/api/data?set=${encodeURIComponent(name)}`, null));
  opened.set(name, asked);
  asked.catch(() => opened.delete(name));
  return asked;
}
