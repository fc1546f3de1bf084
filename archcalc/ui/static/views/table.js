// A table of archcalc as HTML: texts as they are, trees by indentation, the working beneath a row.
// @ts-check
import { element, fill } from "../dom.js";

/** @typedef {import("../types.js").Table} Table */
/** @typedef {import("../types.js").Row} Row */
/** @typedef {(settings: Record<string, string>) => void} Apply  what a click on a row with settings does */

const INDENT = 1.1; // em for each level of a tree

/**
 * @param {Table} table
 * @param {string} caption  for screen readers
 * @param {Apply} [apply]
 * @returns {HTMLElement}
 */
function tabular({ columns, rows }, caption, apply) {
  const heads = columns.map(({ label, side }) => (label ? element("th", { scope: "col", class: side }, label) : element("td")));
  const body = element("tbody", {}, ...rows.flatMap((row) => lines(row, columns, apply)));
  const whole = element("table", {}, element("caption", { class: "unseen" }, caption), element("thead", {}, element("tr", {}, ...heads)), body);
  return element("div", { class: "table", tabindex: "0", role: "region", "aria-label": caption }, whole);
}

/**
 * A table that keeps its place, so that nothing jumps when it changes.
 * @param {HTMLElement} parent
 * @param {Table | undefined} table
 * @param {string} caption
 * @param {Apply} [apply]
 */
export function showTable(parent, table, caption, apply) {
  parent.hidden = !table?.rows.length;
  if (!table?.rows.length) return;
  const left = parent.querySelector(".table")?.scrollLeft ?? 0;
  fill(parent, tabular(table, caption, apply));
  parent.querySelector(".table")?.scrollTo({ left });
}

/**
 * @param {Row} row
 * @param {import("../types.js").Column[]} columns
 * @param {Apply} [apply]
 */
function lines(row, columns, apply) {
  const shown = element("tr", { class: [row.heading && "heading", row.tone && `tone-${row.tone}`].filter(Boolean).join(" ") });
  for (const [index, text] of row.cells.entries()) shown.append(cell(text, row.depth, columns[index], index));
  const { settings } = row;
  if (settings && apply && Object.keys(settings).length) shown.cells[0].replaceChildren(button(row.cells[0], () => apply(settings)));
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
  const inside = element("td", { colspan: wide }, element("span", {}, text)); // which stays in view, however wide the table
  inside.style.setProperty("--depth", `${(depth + 1) * INDENT}em`);
  return element("tr", { class: "under" }, inside);
}

/**
 * @param {string} text
 * @param {() => void} clicked
 */
function button(text, clicked) {
  const made = element("button", { type: "button", class: "option", title: "Apply" }, text);
  made.addEventListener("click", clicked);
  return made;
}
