// archcalc's own drawings: the only markup that the page ever takes in. Their styles are adopted, since inline ones are refused.
// @ts-check
import { element, fill } from "../dom.js";

/** @type {Set<string>} */
const adopted = new Set();
/** @type {WeakMap<Element, string>} */
const drawn = new WeakMap();

/** @param {string} css */
export function adopt(css) {
  if (adopted.has(css)) return;
  adopted.add(css);
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(css);
  document.adoptedStyleSheets.push(sheet);
}

/**
 * Show a drawing; true if it is another than before.
 * @param {HTMLElement} parent
 * @param {string | undefined} svg
 * @param {string} label
 * @returns {boolean}
 */
export function showChart(parent, svg, label) {
  parent.hidden = !svg;
  if (!svg || drawn.get(parent) === svg) return false;
  drawn.set(parent, svg);
  fill(parent, element("div", { class: "chart", tabindex: "0", role: "region", "aria-label": label }, picture(svg)));
  return true;
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
