// Suggestions beside the cursor: arrow keys choose, Enter or Tab takes, Escape closes, Ctrl+Space asks for them.
// @ts-check
import { whisper } from "../announce.js";
import { element } from "../dom.js";
import { place } from "./place.js";
import { suggest } from "./suggest.js";

/** @typedef {import("./editor.js").Editor} Editor */
/** @typedef {import("./suggest.js").Suggestion} Suggestion */

const FAMILY = /^family:\s*["']?(\w+)/m;

export class Completion {
  /**
   * @param {Editor} editor
   * @param {(family: string) => Promise<object>} schema
   */
  constructor(editor, schema) {
    this.editor = editor;
    this.schema = schema;
    this.list = element("ul", { class: "suggestions", role: "listbox", id: `${editor.area.id}-suggestions`, "aria-label": "Suggestions" });
    this.about = element("p", { class: "suggestion-about" });
    this.box = element("div", { class: "suggestion-box", hidden: true }, this.list, this.about);
    editor.frame.append(this.box);
    editor.area.setAttribute("aria-autocomplete", "list");
    editor.area.setAttribute("aria-controls", this.list.id);
    /** @type {Suggestion[]} */
    this.offered = [];
    this.active = 0;
    /** @type {import("./place.js").Place | null} */
    this.place = null;
    this.listen();
  }

  listen() {
    const { area, scroller } = this.editor;
    area.addEventListener("input", (event) => this.typed(/** @type {InputEvent} */ (event)));
    area.addEventListener("keydown", (event) => this.key(event), { capture: true });
    area.addEventListener("blur", () => this.close());
    area.addEventListener("click", () => this.close());
    scroller.addEventListener("scroll", () => this.close());
    this.list.addEventListener("mousedown", (event) => this.clicked(event));
  }

  /** @param {InputEvent} event */
  typed(event) {
    if (event.inputType === "insertText" && /[\w:{,[ ]$/.test(event.data ?? "")) this.open(false);
    else if (event.inputType?.startsWith("delete") && !this.box.hidden) this.open(false);
    else this.close();
  }

  /**
   * @param {boolean} wanted  asked for by key, so that also an empty word gets suggestions
   */
  async open(wanted) {
    const { area } = this.editor;
    const root = await this.schema(FAMILY.exec(area.value)?.[1] ?? "transformer");
    const at = place(area.value, area.selectionStart);
    if (!at || area.value.trimStart().startsWith("{")) return this.close();
    if (!wanted && !at.word && !at.value) return this.close();
    const all = suggest(root, at);
    const found = wanted || at.word ? all : all.filter(({ listed }) => listed);
    if (!found.length || area.selectionStart !== area.selectionEnd) return this.close();
    this.place = at;
    this.offered = found;
    this.draw();
  }

  draw() {
    this.list.replaceChildren(...this.offered.map(({ text }, index) => this.option(text, index)));
    this.box.hidden = false;
    this.stand();
    this.choose(0);
    whisper(`${this.offered.length} suggestions`);
  }

  /**
   * @param {string} text
   * @param {number} index
   */
  option(text, index) {
    return element("li", { role: "option", id: `${this.list.id}-${index}`, "data-index": index, "aria-selected": "false" }, text);
  }

  /** Beneath the cursor; letters are all equally wide. */
  stand() {
    const { area, ink, scroller, frame, lines } = this.editor;
    const before = area.value.slice(0, this.place?.from ?? 0).split("\n");
    const [row] = ink.getClientRects();
    const high = ink.scrollHeight / lines.length;
    const outer = frame.getBoundingClientRect();
    const top = row.top - outer.top + before.length * high;
    this.box.style.top = `${Math.min(top, scroller.offsetHeight)}px`;
    this.box.style.setProperty("--column", String(before[before.length - 1].length));
  }

  /** @param {number} index */
  choose(index) {
    this.active = (index + this.offered.length) % this.offered.length;
    for (const [number, option] of [...this.list.children].entries()) {
      option.setAttribute("aria-selected", String(number === this.active));
    }
    this.list.children[this.active].scrollIntoView({ block: "nearest" });
    this.editor.area.setAttribute("aria-activedescendant", this.list.children[this.active].id);
    this.about.textContent = this.offered[this.active].about;
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (event.key === " " && event.ctrlKey) {
      event.preventDefault();
      this.open(true);
    } else if (!this.box.hidden && this.steer(event.key)) {
      event.preventDefault();
      event.stopImmediatePropagation();
    }
  }

  /**
   * @param {string} key
   * @returns {boolean} whether the key meant the suggestions
   */
  steer(key) {
    if (key === "ArrowDown") this.choose(this.active + 1);
    else if (key === "ArrowUp") this.choose(this.active - 1);
    else if (key === "Enter" || key === "Tab") this.take();
    else if (key === "Escape") this.close();
    else return false;
    return true;
  }

  /** @param {MouseEvent} event */
  clicked(event) {
    event.preventDefault(); // the cursor stays in the text
    const option = /** @type {HTMLElement} */ (event.target).closest("li");
    if (!option) return;
    this.choose(Number(option.dataset.index));
    this.take();
  }

  take() {
    const { text, name } = this.offered[this.active];
    const { selectionStart } = this.editor.area;
    const from = this.place?.from ?? selectionStart;
    this.close();
    this.editor.type(from, selectionStart, name ? `${text}: ` : text);
    this.close();
  }

  close() {
    this.box.hidden = true;
    this.editor.area.removeAttribute("aria-activedescendant");
  }
}
