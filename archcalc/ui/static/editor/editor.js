// A text area with line numbers, colours and marks at lines that are wrong.
// @ts-check
import { element } from "../dom.js";
import { inked } from "./ink.js";

/** @typedef {import("../types.js").Mistake} Mistake */

export class Editor {
  /**
   * @param {HTMLElement} parent
   * @param {{id: string, label: string, typed: (text: string) => void}} about
   */
  constructor(parent, { id, label, typed }) {
    this.numbers = element("div", { class: "numbers", "aria-hidden": "true" });
    this.ink = element("div", { class: "coloured", "aria-hidden": "true" });
    this.area = element("textarea", {
      id, "aria-label": label, spellcheck: "false", autocapitalize: "off", autocomplete: "off", wrap: "off",
    });
    this.scroller = element("div", { class: "scroller" }, this.numbers, element("div", { class: "sheet" }, this.ink, this.area));
    this.mistakes = element("ul", { class: "mistakes", id: `${id}-mistakes`, role: "list" });
    this.live = element("div", { "aria-live": "polite" }, this.mistakes);
    this.frame = element("div", { class: "editor" }, this.scroller);
    /** @type {string[]} */
    this.lines = [];
    /** @type {Map<number, string>} */
    this.wrong = new Map();
    this.area.addEventListener("input", () => {
      this.draw();
      typed(this.area.value);
    });
    this.area.addEventListener("keydown", (event) => this.key(event));
    parent.append(this.frame, this.live);
    this.draw();
  }

  get text() {
    return this.area.value;
  }

  /**
   * Another text from outside; typing goes on where it was if nothing changes.
   * @param {string} text
   */
  show(text) {
    if (text === this.area.value) return;
    this.area.value = text;
    this.area.setSelectionRange(0, 0);
    this.scroller.scrollTo(0, 0);
    this.draw();
  }

  /** Only lines that changed are drawn anew: a list of tensors has thousands. */
  draw() {
    const lines = this.area.value.split("\n");
    const before = this.lines;
    let same = 0;
    while (same < lines.length && same < before.length && lines[same] === before[same]) same += 1;
    let end = 0;
    while (end < Math.min(lines.length, before.length) - same && lines.at(-1 - end) === before.at(-1 - end)) end += 1;
    const old = [...this.ink.children].slice(same, before.length - end);
    const next = this.ink.children[before.length - end] ?? null;
    for (const line of old) line.remove();
    for (const line of lines.slice(same, lines.length - end)) this.ink.insertBefore(inked(line), next);
    this.lines = lines;
    this.number();
  }

  number() {
    while (this.numbers.children.length > this.lines.length) this.numbers.lastElementChild?.remove();
    while (this.numbers.children.length < this.lines.length) {
      this.numbers.append(element("div", {}, String(this.numbers.children.length + 1)));
    }
  }

  /**
   * Show what is wrong, at its line and beneath the editor.
   * @param {Mistake[]} mistakes
   */
  mark(mistakes) {
    for (const line of this.wrong.keys()) this.shade(line, false);
    this.wrong = new Map(mistakes.filter(({ line }) => line).map((one) => [Number(one.line), one.fact]));
    for (const [line, fact] of this.wrong) this.shade(line, true, fact);
    this.area.toggleAttribute("aria-invalid", mistakes.length > 0);
    if (mistakes.length) this.area.setAttribute("aria-invalid", "true");
    this.area.setAttribute("aria-describedby", this.mistakes.id);
    this.mistakes.replaceChildren(...mistakes.map((mistake) => this.told(mistake)));
  }

  /**
   * @param {number} line
   * @param {boolean} wrong
   * @param {string} fact
   */
  shade(line, wrong, fact = "") {
    for (const part of [this.numbers, this.ink]) part.children[line - 1]?.classList.toggle("wrong", wrong);
    const number = /** @type {HTMLElement | undefined} */ (this.numbers.children[line - 1]);
    if (number) number.title = fact;
  }

  /**
   * @param {Mistake} mistake
   * @returns {HTMLElement}
   */
  told({ line, field, fact, hint }) {
    const said = [field && element("code", {}, field), field && " ", fact];
    const where = line ? element("button", { type: "button", class: "line-link", "data-line": line }, `line ${line}`) : null;
    if (where) where.addEventListener("click", () => this.go(Number(line)));
    const item = element("li", {}, where, " ", element("span", { class: "fact" }, ...said));
    if (hint) item.append(element("span", { class: "hint" }, hint));
    return item;
  }

  /**
   * Put the cursor at the end of a line.
   * @param {number} line
   */
  go(line) {
    const end = this.lines.slice(0, line).join("\n").length;
    this.area.focus();
    this.area.setSelectionRange(end, end);
    this.numbers.children[line - 1]?.scrollIntoView({ block: "nearest" });
  }

  /**
   * Replace a stretch as if it was typed, so that undo knows of it.
   * @param {number} from
   * @param {number} to
   * @param {string} text
   */
  type(from, to, text) {
    this.area.setSelectionRange(from, to);
    if (document.execCommand("insertText", false, text)) return;
    this.area.setRangeText(text, from, to, "end");
    this.area.dispatchEvent(new Event("input"));
  }

  /**
   * A new line starts where the one before did, and deeper behind a colon. Tab moves the focus, as everywhere.
   * @param {KeyboardEvent} event
   */
  key(event) {
    if (event.key !== "Enter" || event.defaultPrevented || event.isComposing) return;
    const { selectionStart, selectionEnd, value } = this.area;
    const line = value.slice(value.lastIndexOf("\n", selectionStart - 1) + 1, selectionStart);
    const [indent] = /^\s*/.exec(line) ?? [""];
    event.preventDefault();
    this.type(selectionStart, selectionEnd, `\n${indent}${/:\s*$/.test(line) ? "  " : ""}`);
  }
}
