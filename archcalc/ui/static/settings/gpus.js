// The devices to look at: search to add one, a click to take it away. None means the usual ones.
// @ts-check
import { Combobox } from "../combobox.js";
import { element, setAttribute } from "../dom.js";

/** @typedef {import("../types.js").Gpu} Gpu */
/** @typedef {import("../types.js").Mistake} Mistake */

export class Gpus {
  /**
   * @param {HTMLElement} parent
   * @param {Gpu[]} gpus
   * @param {(names: string[]) => void} changed
   */
  constructor(parent, gpus, changed) {
    this.changed = changed;
    /** @type {string[]} */
    this.names = [];
    this.chips = element("ul", { class: "chips", role: "list", "aria-label": "Chosen devices" });
    parent.append(this.chips);
    this.search = new Combobox(parent, {
      id: "gpu-search", label: "Add a GPU", placeholder: "Add a GPU: 4090, 2xh100, 24GiB …", choices: gpus.map(choice),
      free: "as written", chosen: (name) => this.add(name),
    });
    this.message = element("p", { class: "wrong-setting", id: "gpu-message", hidden: true });
    parent.append(this.message);
    this.search.input.setAttribute("aria-describedby", this.message.id);
  }

  /**
   * Show the first mistake about a device, and give the others back.
   * @param {Mistake[]} mistakes
   * @returns {Mistake[]}
   */
  take(mistakes) {
    const own = mistakes.find(({ field }) => field === "--gpu");
    this.message.textContent = own ? [own.fact, own.hint].filter(Boolean).join(": ") : "";
    this.message.hidden = !own;
    setAttribute(this.search.input, "aria-invalid", own ? "true" : null);
    return mistakes.filter((one) => one !== own);
  }

  get within() {
    return this.search.input;
  }

  go() {
    this.search.input.focus();
  }

  /** @param {string} name */
  add(name) {
    this.search.show("");
    if (!this.names.includes(name)) this.changed([...this.names, name]);
  }

  /** @param {string} name */
  remove(name) {
    this.changed(this.names.filter((one) => one !== name));
    this.search.input.focus();
    this.search.close();
  }

  /** @param {string[]} names */
  show(names) {
    if (names.join() === this.names.join() && this.chips.children.length) return;
    this.names = names;
    const usual = element("li", { class: "usual" }, "Common devices. Add yours:");
    this.chips.replaceChildren(...(names.length ? names.map((name) => this.chip(name)) : [usual]));
  }

  /** @param {string} name */
  chip(name) {
    const button = element("button", { type: "button", "aria-label": `Remove ${name}` }, "×");
    button.addEventListener("click", () => this.remove(name));
    return element("li", { class: "chip" }, name, button);
  }
}

/** @param {Gpu} gpu */
function choice({ name, title, memory, group }) {
  return { value: name, title: title === name ? "" : title, aside: memory, group, search: `${name} ${title} ${group}`.toLowerCase() };
}
