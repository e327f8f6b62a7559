// The frame around the pages: addresses, theme, keys, help, and word that the studio has ended.
import { onPresence, state } from "./api.js";
import { Data } from "./data.js";
import { make, named, part, template, typing } from "./dom.js";
import { Lab } from "./lab.js";
import { Pictures } from "./pictures.js";
import { Race } from "./race.js";
import { rename } from "./status.js";
import { Watch } from "./watch.js";

/** @typedef {{mount: (root: HTMLElement, query: URLSearchParams) => any, unmount: () => void, key?: (e: KeyboardEvent) => boolean | void}} Page */
/** @typedef {new () => Page} Maker */

/** @type {Record<string, {title: string, make: Maker}>} */
const pages = {
  watch: { title: "Watch", make: Watch },
  race: { title: "Race", make: Race },
  lab: { title: "Failure lab", make: Lab },
  data: { title: "Your data", make: Data },
  pictures: { title: "Pictures", make: Pictures },
};

const main = /** @type {HTMLElement} */ (document.getElementById("main"));

/** @type {Page | null} */
let current = null;
let shown = ""; // the page on screen
let visits = 0;

/** The address each page was left at. @type {Map<string, string>} */
const left = new Map();

/** Shows the page of the address. */
async function route() {
  const name = location.pathname.split("/")[1] || "watch";
  const page = pages[name];
  current?.unmount();
  current = null;
  shown = page ? name : "";
  const visit = ++visits;
  for (const a of document.querySelectorAll("nav a[data-page]")) a.getAttribute("data-page") === name ? a.setAttribute("aria-current", "page") : a.removeAttribute("aria-current");
  document.querySelector("nav a[aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" }); // the bar of a narrow screen scrolls
  if (!page || !document.getElementById(`page-${name}`)) {
    main.replaceChildren(make("p", { class: "nothing" }, page ? `${page.title} is not part of this studio.` : `There is no page ${location.pathname}. `, make("a", { href: "/watch" }, "Watch is there.")));
    return;
  }
  document.title = `${page.title} · latent studio`;
  main.replaceChildren(template(`page-${name}`));
  main.className = `on-${name}`;
  try {
    current = new page.make();
    await current.mount(main, new URLSearchParams(location.search));
  } catch (e) {
    if (visit === visits) main.prepend(make("p", { class: "error", role: "alert" }, `this page does not work: ${e instanceof Error ? e.message : e}`));
    throw e;
  }
}

/** Goes to an address within the studio. @param {string} address */
function go(address) {
  if (shown) left.set(shown, location.pathname + location.search + location.hash);
  history.pushState(null, "", address);
  scrollTo(0, 0);
  main.focus({ preventScroll: true });
  route();
}

document.addEventListener("click", (e) => {
  const a = e.target instanceof Element ? e.target.closest("a") : null;
  if (!a || e.defaultPrevented || e.button !== 0 || e.ctrlKey || e.metaKey || e.shiftKey || e.altKey || a.target || a.hasAttribute("download") || a.classList.contains("skip")) return;
  const url = new URL(a.href, location.href);
  if (url.origin !== location.origin || !(url.pathname.split("/")[1] ?? "" in pages) || url.pathname.startsWith("/api/") || url.pathname.startsWith("/static/")) return;
  e.preventDefault();
  const name = a.dataset.page;
  go((name && name !== shown && left.get(name)) || url.pathname + url.search + url.hash);
});
addEventListener("popstate", () => { route(); });

// theme ---------------------------------------------------------------------

const themes = ["auto", "light", "dark"];

/** @param {string} name */
function setTheme(name) {
  document.documentElement.dataset.theme = name;
  const b = named(document, "theme");
  b.textContent = (name[0] ?? "").toUpperCase() + name.slice(1);
  b.setAttribute("aria-label", `Theme: ${name}`);
  b.title = "Theme (t)";
  document.dispatchEvent(new Event("themechange"));
}

function nextTheme() {
  const name = themes[(themes.indexOf(document.documentElement.dataset.theme ?? "auto") + 1) % themes.length] ?? "auto";
  try { localStorage.setItem("theme", name); } catch { /* for this page only then */ }
  setTheme(name);
}

let kept = "auto";
try { kept = localStorage.getItem("theme") ?? "auto"; } catch { /* storage may be refused */ }
setTheme(themes.includes(kept) ? kept : "auto");
named(document, "theme").addEventListener("click", nextTheme);

// keys ----------------------------------------------------------------------

const help = /** @type {HTMLDialogElement} */ (part(document, "keys"));
named(document, "help").addEventListener("click", () => openHelp());

/** Shows the keys from their beginning. */
function openHelp() {
  help.showModal();
  help.scrollTop = 0; // the button at its end has the focus
}

document.addEventListener("keydown", (e) => {
  if (typing(e) || help.open || e.defaultPrevented) return;
  const on = e.target instanceof Element ? e.target.closest("button, a, summary, input") : null;
  if (on && (e.key === " " || e.key === "Enter")) return; // the control's own keys
  if (on instanceof HTMLInputElement && on.type === "radio" && e.key.startsWith("Arrow")) return;
  if (e.key === "?") openHelp();
  else if (e.key === "t") nextTheme();
  else if (!current?.key?.(e)) return;
  e.preventDefault();
});

onPresence((there) => { part(document, "ended").hidden = there; });

// start ---------------------------------------------------------------------

const query = new URLSearchParams(location.search);
if (query.has("token")) {
  query.delete("token");
  rename(location.pathname + (query.size ? `?${query}` : "") + location.hash);
}
if (location.pathname === "/") {
  // A file that the command was given is at Your data; else Watch is the first page.
  state().then((s) => s.file !== null || s.model !== null, () => false).then((given) => {
    if (location.pathname === "/") rename(given ? "/data" : "/watch");
    return route();
  });
} else route();
