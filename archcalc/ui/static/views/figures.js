// Figures above a table: a label, the exact value, and the same in short.
// @ts-check
import { element, fill } from "../dom.js";

/** @typedef {import("../types.js").Figure} Figure */

/**
 * @param {HTMLElement} list  a dl
 * @param {Figure[] | undefined} figures
 */
export function showFigures(list, figures) {
  list.hidden = !figures?.length;
  fill(list, ...(figures ?? []).map(figure));
}

/** @param {Figure} figure */
function figure({ label, value, about }) {
  const short = about && element("span", { class: "about" }, about);
  return element("div", {}, element("dt", {}, label), element("dd", {}, element("span", { class: "exact" }, value), short));
}
