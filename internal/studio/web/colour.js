// Colours of groups, and their mixture by shares in linear light.

/** @typedef {[number, number, number]} RGB three bytes of sRGB */

const linear = new Float32Array(256);
for (let i = 0; i < 256; i++) linear[i] = toLinear(i / 255);
const bytes = new Uint8Array(4097);
for (let i = 0; i <= 4096; i++) bytes[i] = Math.round(255 * toGamma(i / 4096));

/** Light from a value of sRGB, both 0..1. @param {number} v */
export function toLinear(v) { return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; }

/** A value of sRGB from light, both 0..1. @param {number} v */
export function toGamma(v) { return v <= 0.0031308 ? 12.92 * v : 1.055 * v ** (1 / 2.4) - 0.055; }

/** @param {string} text such as #0072b2 @returns {RGB} */
export function parse(text) {
  const m = /^#([0-9a-f]{6})$/i.exec(text.trim());
  const v = m ? parseInt(m[1] ?? "0", 16) : 0x808080;
  return [v >> 16, (v >> 8) & 255, v & 255];
}

/** @param {RGB} c @param {number} [alpha] */
export const css = (c, alpha = 1) => `rgb(${c[0]} ${c[1]} ${c[2]} / ${alpha})`;

/**
 * OKLCH of a colour: lightness 0..1, chroma, hue in radians (Ottosson 2020).
 * @param {RGB} c
 * @returns {[number, number, number]}
 */
export function toOKLCH(c) {
  const r = toLinear(c[0] / 255), g = toLinear(c[1] / 255), b = toLinear(c[2] / 255);
  const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  const A = 1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s, B = 0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s;
  return [0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s, Math.hypot(A, B), Math.atan2(B, A)];
}

/**
 * The colour of sRGB nearest to one of OKLCH: chroma is taken away until it can be shown.
 * @param {number} L
 * @param {number} C
 * @param {number} h
 * @returns {RGB}
 */
export function fromOKLCH(L, C, h) {
  for (let chroma = C; ; chroma -= 0.005) {
    const a = Math.max(0, chroma) * Math.cos(h), b = Math.max(0, chroma) * Math.sin(h);
    const l = (L + 0.3963377774 * a + 0.2158037573 * b) ** 3, m = (L - 0.1055613458 * a - 0.0638541728 * b) ** 3, s = (L - 0.0894841775 * a - 1.291485548 * b) ** 3;
    const rgb = [4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s, -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s, -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s];
    if (chroma <= 0 || rgb.every((v) => v >= -1e-4 && v <= 1.0001)) {
      const [r = 0, g = 0, bl = 0] = rgb.map((v) => Math.round(255 * toGamma(Math.min(1, Math.max(0, v)))));
      return [r, g, bl];
    }
  }
}

/** @typedef {{groups: RGB[], none: RGB, paper: RGB, ink: RGB, muted: RGB, line: RGB, accent: RGB, ground: RGB, dark: boolean}} Theme */

/** The colours that are in force, read off the page. @returns {Theme} */
export function theme() {
  const style = getComputedStyle(document.documentElement);
  /** @param {string} name */
  const of = (name) => parse(style.getPropertyValue(name));
  const paper = of("--paper");
  return {
    groups: [1, 2, 3, 4, 5, 6, 7].map((i) => of(`--c${i}`)), none: of("--none"), paper, ink: of("--ink"), muted: of("--muted"), line: of("--line"),
    accent: of("--accent"), ground: of("--ground"), dark: luminance(paper) < 0.2,
  };
}

/**
 * The colour of group i: seven by name, then steps of hue in OKLCH from the first on, lighter on a dark ground.
 * @param {Theme} t
 * @param {number} i
 * @returns {RGB}
 */
export function groupColour(t, i) {
  const own = t.groups[i];
  if (own) return own;
  const [, , h] = toOKLCH(t.groups[0] ?? [0, 114, 178]);
  const turn = 2.399963; // the golden angle: no two of a few dozen are near each other
  return fromOKLCH((t.dark ? 0.74 : 0.56) + (i % 2 ? 0.06 : -0.04), 0.13, h + turn * (i - 6));
}

/** Relative luminance as WCAG has it. @param {RGB} c */
export function luminance(c) { return 0.2126 * (linear[c[0]] ?? 0) + 0.7152 * (linear[c[1]] ?? 0) + 0.0722 * (linear[c[2]] ?? 0); }

/** What reads on a colour: black or white. @param {RGB} c */
export const inkOn = (c) => (luminance(c) > 0.179 ? "#000000" : "#ffffff");

/**
 * The colour of each mark: its groups' colours mixed by their shares in linear light. A mark without shares has the colour of none.
 * @param {Uint8Array | null} shares six bytes a mark: three groups, three shares of 255
 * @param {RGB[]} palette by group
 * @param {RGB} none
 * @param {Uint8Array} dst three bytes a mark
 * @returns {Uint8Array} dst
 */
export function mix(shares, palette, none, dst) {
  const n = dst.length / 3;
  const r = new Float32Array(256), g = new Float32Array(256), b = new Float32Array(256);
  palette.slice(0, 256).forEach((c, i) => { r[i] = linear[c[0]] ?? 0; g[i] = linear[c[1]] ?? 0; b[i] = linear[c[2]] ?? 0; });
  for (let i = 0; i < n; i++) {
    const at = 6 * i, p = shares ? shares[at + 3] ?? 0 : 0, q = shares ? shares[at + 4] ?? 0 : 0, s = shares ? shares[at + 5] ?? 0 : 0;
    const sum = p + q + s;
    if (!shares || sum === 0) {
      dst[3 * i] = none[0]; dst[3 * i + 1] = none[1]; dst[3 * i + 2] = none[2];
      continue;
    }
    const u = shares[at] ?? 0, v = shares[at + 1] ?? 0, w = shares[at + 2] ?? 0, f = 4096 / sum;
    dst[3 * i] = bytes[(f * (p * (r[u] ?? 0) + q * (r[v] ?? 0) + s * (r[w] ?? 0))) | 0] ?? 0;
    dst[3 * i + 1] = bytes[(f * (p * (g[u] ?? 0) + q * (g[v] ?? 0) + s * (g[w] ?? 0))) | 0] ?? 0;
    dst[3 * i + 2] = bytes[(f * (p * (b[u] ?? 0) + q * (b[v] ?? 0) + s * (b[w] ?? 0))) | 0] ?? 0;
  }
  return dst;
}
