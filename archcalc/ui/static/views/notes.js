// What the figures take for granted, each with the option that changes it.
// @ts-check
import { element, fill } from "../dom.js";

/** @typedef {import("../types.js").Note} Note */

/**
 * @param {HTMLElement} list
 * @param {Note[]} notes
 * @param {(option: string) => void} focus  lead to an option
 */
export function showNotes(list, notes, focus) {
  const unique = [...new Map(notes.map((note) => [note.text, note])).values()];
  fill(list, ...unique.map((note) => item(note, focus)));
}

/**
 * @param {Note} note
 * @param {(option: string) => void} focus
 */
function item({ text, option }, focus) {
  const [flag] = /--[\w-]+/.exec(option ?? "") ?? [];
  if (!flag) return element("li", {}, text);
  const button = element("button", { type: "button", class: "option" }, flag);
  button.addEventListener("click", () => focus(flag));
  const said = text.replace(/;?\s*$/, "");
  return element("li", {}, `${said} `, button);
}
