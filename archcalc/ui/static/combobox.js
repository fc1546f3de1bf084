// A field that searches a list: type to narrow it down, arrow keys or a click to choose. The ARIA pattern "combobox".
// @ts-check
import { element } from "./dom.js";

/** @typedef {{value: string, title: string, aside: string, group: string, search: string}} Choice */

const MOST = 400; // shown at once

export class Combobox {
  /**
   * @param {HTMLElement} parent
   * @param {{id: string, label: string, placeholder: string, choices: Choice[], free?: string, keeps?: boolean, chosen: (value: string) => void}} about
   *   `free`: what the list says of a text that is none of the choices but may be taken as it is; `keeps`: what is
   *   typed counts also without a choice, and an empty field is one
   */
  constructor(parent, { id, label, placeholder, choices, free = "", keeps = false, chosen }) {
    this.choices = choices;
    this.free = free;
    this.keeps = keeps;
    this.chosen = chosen;
    this.shown = ""; // what the field says while nobody searches
    this.active = -1;
    this.input = element("input", {
      id, type: "text", role: "combobox", "aria-label": label, "aria-expanded": "false", "aria-controls": `${id}-list`,
      "aria-autocomplete": "list", autocomplete: "off", spellcheck: "false", placeholder,
    });
    this.list = element("ul", { id: `${id}-list`, role: "listbox", class: "choices", "aria-label": label, hidden: true });
    parent.append(element("div", { class: "combobox" }, this.input, this.list));
    this.listen();
  }

  listen() {
    this.input.addEventListener("focus", () => this.input.select());
    this.input.addEventListener("click", () => this.open(""));
    this.input.addEventListener("input", () => this.open(this.input.value));
    this.input.addEventListener("keydown", (event) => this.key(event));
    this.input.addEventListener("blur", () => this.leave());
    this.list.addEventListener("mousedown", (event) => this.clicked(event));
  }

  /**
   * What the field says while nobody searches.
   * @param {string} text
   */
  show(text) {
    this.shown = text;
    if (this.list.hidden) this.input.value = text;
  }

  /** @param {string} search */
  open(search) {
    const words = search.toLowerCase().split(/\s+/);
    const fitting = this.choices.filter((choice) => words.every((word) => choice.search.includes(word)));
    const found = fitting.sort((one, two) => rank(one.value, search) - rank(two.value, search)).slice(0, MOST);
    if (this.free && search && !found.length) found.push({ value: search.trim(), title: this.free, aside: "", group: "", search });
    const none = element("li", { class: "none" }, "nothing of that name");
    this.list.replaceChildren(...(found.length ? this.groups(found) : [none]));
    this.list.hidden = false;
    this.input.setAttribute("aria-expanded", "true");
    this.list.scrollIntoView({ block: "nearest" });
    const chosen = this.list.querySelector(`[data-value="${CSS.escape(this.shown)}"]`);
    chosen?.classList.add("chosen");
    if (!search) chosen?.scrollIntoView({ block: "nearest" });
    this.activate(search && found.length ? 0 : -1);
  }

  /**
   * Choices of one group stand together, below its name; the group of the best choice comes first.
   * @param {Choice[]} found
   */
  groups(found) {
    const names = [...new Set(found.map(({ group }) => group))];
    let index = 0;
    return names.map((name, number) => {
      const heading = name && element("li", { class: "group-name", role: "presentation", id: `${this.list.id}-group-${number}` }, name);
      const options = found.filter(({ group }) => group === name).map((choice) => this.option(choice, index++));
      const labels = name ? { "aria-labelledby": `${this.list.id}-group-${number}` } : { role: "presentation" };
      return element("li", { role: "presentation" }, element("ul", { role: "group", ...labels }, heading, ...options));
    });
  }

  /**
   * @param {Choice} choice
   * @param {number} index
   */
  option(choice, index) {
    const attributes = { role: "option", id: `${this.list.id}-${index}`, "data-value": choice.value, "aria-selected": "false" };
    const name = element("span", { class: "choice-name" }, choice.value);
    const title = choice.title && element("span", { class: "choice-title", title: choice.title }, choice.title);
    return element("li", attributes, name, title, element("span", { class: "choice-aside" }, choice.aside));
  }

  /** @param {number} index */
  activate(index) {
    const options = [...this.list.querySelectorAll("[role=option]")];
    this.active = options.length && index >= 0 ? index % options.length : -1;
    for (const [number, option] of options.entries()) option.setAttribute("aria-selected", String(number === this.active));
    const active = options[this.active];
    if (active) this.input.setAttribute("aria-activedescendant", active.id);
    else this.input.removeAttribute("aria-activedescendant");
    active?.scrollIntoView({ block: "nearest" });
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const open = !this.list.hidden;
    const last = this.list.querySelectorAll("[role=option]").length - 1;
    if (event.key === "ArrowDown") open ? this.activate(this.active + 1) : this.open("");
    else if (event.key === "ArrowUp" && open) this.activate(this.active > 0 ? this.active - 1 : last);
    else if (event.key === "Enter" && open) this.enter();
    else if (event.key === "Escape" && open) this.close();
    else return;
    event.preventDefault();
  }

  enter() {
    const options = this.list.querySelectorAll("[role=option]");
    if (this.keeps && !this.input.value.trim() && this.active < 0) this.leave();
    else this.take(options[Math.max(this.active, 0)]);
  }

  leave() {
    const typed = this.input.value.trim();
    this.close();
    if (this.keeps && typed !== this.shown) this.chosen(typed);
  }

  /** @param {MouseEvent} event */
  clicked(event) {
    event.preventDefault(); // the field keeps the focus
    this.take(/** @type {Element} */ (event.target).closest("[role=option]"));
  }

  /** @param {Element | null | undefined} option */
  take(option) {
    const value = option?.getAttribute("data-value");
    if (!value) return;
    this.close();
    this.chosen(value);
  }

  close() {
    this.list.hidden = true;
    this.input.setAttribute("aria-expanded", "false");
    this.input.removeAttribute("aria-activedescendant");
    this.input.value = this.shown;
  }
}

/**
 * The choice itself first, then those that start with what is typed.
 * @param {string} value
 * @param {string} search
 */
function rank(value, search) {
  const [name, typed] = [value.toLowerCase(), search.trim().toLowerCase()];
  if (name === typed) return 0;
  return name.startsWith(typed) ? 1 : 2;
}
