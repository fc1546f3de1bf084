// archcalc's own drawings: the only markup that the page ever takes in. Their styles are adopted, since inline ones are refused.
// @ts-check
import { element, fill } from "../dom.js";

/** @type {Set<string>} */
const adopted = new Set();
/** @type {WeakMap<Element, string>} */
const drawn = new WeakMap();
const SMALLEST = 0.72; // of its own size, so that its words can be read; a wider drawing scrolls

/** @param {string} css */
export function adopt(css) {
  if (adopted.has(css)) return;
  adopted.add(css);
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(css);
  document.adoptedStyleSheets.push(sheet);
}

/**
 * @param {HTMLElement} parent
 * @param {string | undefined} svg
 * @param {string} label
 */
export function showChart(parent, svg, label) {
  parent.hidden = !svg;
  if (!svg || drawn.get(parent) === svg) return;
  drawn.set(parent, svg);
  const made = picture(svg);
  if (made.getAttribute("role") === "tree") fill(parent, zooming(made));
  else fill(parent, element("div", { class: "chart", tabindex: "0", role: "region", "aria-label": label }, readable(made)));
}

/** @param {SVGElement} made */
function readable(made) {
  made.style.minWidth = `${SMALLEST * Number(made.getAttribute("width"))}px`;
  return made;
}

/**
 * A drawing of cells within cells, which the script of reports (report.js) opens and closes.
 * @param {SVGElement} made
 */
function zooming(made) {
  const place = element("div", { class: "chart", "data-zoom": true }, made, element("p", { class: "detail", "aria-live": "polite" }));
  requestAnimationFrame(() => window.dispatchEvent(new CustomEvent("archcalc-drawn", { detail: place }))); // once it stands
  return place;
}

/**
 * @param {string} svg
 * @returns {SVGElement}
 */
function picture(svg) {
  const bare = svg.replace(/<style>([^<]*)<\/style>/g, (_, css) => {
    adopt(css);
    return ""; // before it is parsed: a parser refuses inline styles too
  });
  const named = bare.includes("xmlns=") ? bare : bare.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ');
  const read = new DOMParser().parseFromString(named, "image/svg+xml").documentElement;
  return /** @type {SVGElement} */ (/** @type {unknown} */ (document.importNode(read, true)));
}
