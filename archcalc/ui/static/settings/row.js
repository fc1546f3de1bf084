// A labelled option in the form, with the message that archcalc has about it.
// @ts-check
import { element } from "../dom.js";
import { control } from "./controls.js";

/** @typedef {import("../types.js").Setting} Setting */

export class Row {
  /**
   * @param {Setting} setting
   * @param {string} text  of its label
   * @param {number[] | undefined} steps
   * @param {(value: string) => void} changed
   */
  constructor(setting, text, steps, changed) {
    this.setting = setting;
    this.control = control(setting, text, steps, changed);
    const { id } = this.control.field;
    const label = element("label", { for: id, title: setting.help }, text);
    this.message = element("p", { class: "wrong-setting", id: `${id}-message`, hidden: true });
    const help = element("p", { class: "help", id: `${id}-help` }, setting.help);
    const kind = steps ? "stepped" : setting.kind;
    this.element = element("div", { class: `row row-${kind}` }, label, ...this.control.elements, help, this.message);
    this.control.field.setAttribute("aria-describedby", `${help.id} ${this.message.id}`);
  }

  /**
   * @param {string} value
   * @param {string} usual
   */
  show(value, usual) {
    this.control.show(value, usual);
    this.element.classList.toggle("given", value !== "");
  }

  /** @param {string} text  empty if nothing is wrong */
  mark(text) {
    const { field } = this.control;
    this.message.textContent = text;
    this.message.hidden = !text;
    if (text) field.setAttribute("aria-invalid", "true");
    else field.removeAttribute("aria-invalid");
  }

  focus() {
    this.element.closest("details:not([open])")?.setAttribute("open", "");
    this.control.field.focus();
    this.element.scrollIntoView({ block: "nearest" });
  }
}
