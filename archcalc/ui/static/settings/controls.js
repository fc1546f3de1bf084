// One control for each kind of option: a list, a switch, a text, or a slider with a field.
// @ts-check
import { Combobox } from "../combobox.js";
import { element, setAttribute } from "../dom.js";
import { Stepped } from "./stepped.js";

/** @typedef {import("../types.js").Setting} Setting */
/**
 * @typedef {object} Control
 * @property {HTMLElement[]} elements
 * @property {HTMLElement} field
 * @property {(value: string, usual: string) => void} show
 * @property {(longest: number) => void} [limit]
 */
/** @typedef {(value: string) => void} Changed */

/**
 * @param {Setting} setting
 * @param {string} label
 * @param {number[] | undefined} steps  of a slider, where there is one
 * @param {Changed} changed
 * @returns {Control}
 */
export function control(setting, label, steps, changed) {
  const id = `setting-${setting.name}`;
  if (steps) {
    const made = new Stepped({ id, label, steps }, changed);
    const { elements, field } = made;
    return { elements, field, show: (value, usual) => made.show(value, usual), limit: (longest) => made.limit(longest) };
  }
  if (setting.kind === "flag") return flag(id, changed);
  if (setting.kind === "choice") return choice(id, setting, changed);
  if (setting.known?.length) return known(id, setting, label, changed);
  return text(id, setting, changed);
}

/**
 * @param {string} id
 * @param {Changed} changed
 * @returns {Control}
 */
function flag(id, changed) {
  const box = element("input", { type: "checkbox", id });
  box.addEventListener("change", () => changed(box.checked ? "true" : ""));
  return { elements: [box], field: box, show: (value) => void (box.checked = value === "true") };
}

/**
 * @param {string} id
 * @param {Setting} setting
 * @param {Changed} changed
 * @returns {Control}
 */
function choice(id, { choices }, changed) {
  const usualOption = element("option", { value: "" }, "default");
  const list = element("select", { id }, usualOption, ...choices.map((one) => element("option", { value: one }, one)));
  list.addEventListener("change", () => changed(list.value));
  const show = (/** @type {string} */ value, /** @type {string} */ usual) => {
    usualOption.textContent = usual || "default";
    if (value && !choices.includes(value)) list.append(element("option", { value }, value)); // from a link: archcalc says what is wrong
    list.value = value;
  };
  return { elements: [list], field: list, show };
}

/**
 * @param {string} id
 * @param {Setting} setting
 * @param {Changed} changed
 * @returns {Control}
 */
function text(id, setting, changed) {
  const input = element("input", { type: "text", id, autocomplete: "off", spellcheck: "false" });
  input.addEventListener("input", () => changed(input.value.trim()));
  const show = (/** @type {string} */ value, /** @type {string} */ usual) => {
    setAttribute(input, "placeholder", usual || setting.metavar);
    if (input.value.trim() !== value) input.value = value;
  };
  return { elements: [input], field: input, show };
}

/**
 * A text of which many are known.
 * @param {string} id
 * @param {Setting} setting
 * @param {string} label
 * @param {Changed} changed
 * @returns {Control}
 */
function known(id, setting, label, changed) {
  const choices = setting.known.map((one) => ({ ...one, search: `${one.value} ${one.title} ${one.group}`.toLowerCase() }));
  const place = element("div");
  const box = new Combobox(place, { id, label, placeholder: "", choices, free: "as written", keeps: true, chosen: changed });
  const show = (/** @type {string} */ value, /** @type {string} */ usual) => {
    setAttribute(box.input, "placeholder", usual || "default");
    if (box.shown !== value || !value) box.show(value);
  };
  return { elements: [place], field: box.input, show };
}
