// A table of archcalc as HTML: texts as they are, trees by indentation, the working beneath a row.
// @ts-check
import { element, fill } from "../dom.js";

/** @typedef {import("../types.js").Table} Table */
/** @typedef {import("../types.js").Row} Row */

const INDENT = 1.1; // em for each level of a tree

/**
 * @param {Table} table
 * @param {string} caption  for screen readers
 * @returns {HTMLElement}
 */
export function tabular({ columns, rows }, caption) {
  const heads = columns.map(({ label, side }) => element("th", { scope: "col", class: side }, label));
  const body = element("tbody", {}, ...rows.flatMap((row) => lines(row, columns)));
  const whole = element("table", {}, element("caption", { class: "unseen" }, caption), element("thead", {}, element("tr", {}, ...heads)), body);
  return element("div", { class: "table", tabindex: "0", role: "region", "aria-label": caption }, whole);
}

/**
 * A table that keeps its place, so that nothing jumps when it changes.
 * @param {HTMLElement} parent
 * @param {Table | undefined} table
 * @param {string} caption
 */
export function showTable(parent, table, caption) {
  parent.hidden = !table?.rows.length;
  if (!table?.rows.length) return;
  const left = parent.querySelector(".table")?.scrollLeft ?? 0;
  fill(parent, tabular(table, caption));
  parent.querySelector(".table")?.scrollTo({ left });
}

/**
 * @param {Row} row
 * @param {import("../types.js").Column[]} columns
 */
function lines(row, columns) {
  const shown = element("tr", { class: [row.heading && "heading", row.tone && `tone-${row.tone}`].filter(Boolean).join(" ") });
  for (const [index, text] of row.cells.entries()) shown.append(cell(text, row.depth, columns[index], index));
  const beneath = [row.below, ...row.notes].filter(Boolean).map((text) => under(text, row.depth, columns.length));
  if (row.below) beneath[0].classList.add("working");
  return [shown, ...beneath];
}

/**
 * @param {string} text
 * @param {number} depth
 * @param {import("../types.js").Column | undefined} column
 * @param {number} index
 */
function cell(text, depth, column, index) {
  if (index) return element("td", { class: column?.side ?? "left" }, text);
  const head = element("th", { scope: "row", class: column?.side ?? "left" }, text);
  head.style.setProperty("--depth", `${depth * INDENT}em`);
  return head;
}

/**
 * @param {string} text
 * @param {number} depth
 * @param {number} wide
 */
function under(text, depth, wide) {
  const inside = element("td", { colspan: wide }, text);
  inside.style.setProperty("--depth", `${(depth + 1) * INDENT}em`);
  return element("tr", { class: "under" }, inside);
}
