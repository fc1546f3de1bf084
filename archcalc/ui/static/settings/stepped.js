// A slider over sensible steps beside a field for any exact number.
// @ts-check
import { element, setAttribute } from "../dom.js";

const UNITS = { "": 1, k: 1e3, K: 1e3, Ki: 2 ** 10, M: 1e6, Mi: 2 ** 20 };

/**
 * Powers of two, from one to another.
 * @param {number} first
 * @param {number} last
 */
export function powers(first, last) {
  const steps = [];
  for (let step = first; step <= last; step *= 2) steps.push(step);
  return steps;
}

export class Stepped {
  /**
   * @param {{id: string, label: string, steps: number[]}} about
   * @param {(value: string) => void} changed
   */
  constructor({ id, label, steps }, changed) {
    this.steps = steps;
    this.usual = "";
    this.slider = element("input", { type: "range", min: 0, max: steps.length - 1, step: 1, "aria-label": `${label}, slider`, id: `${id}-slider` });
    this.field = element("input", { type: "text", inputmode: "decimal", id, autocomplete: "off", spellcheck: "false", class: "number" });
    this.slider.addEventListener("input", () => {
      this.field.value = String(steps[Number(this.slider.value)]);
      this.told();
      changed(this.field.value);
    });
    this.field.addEventListener("input", () => {
      this.follow();
      changed(this.field.value.trim());
    });
    this.elements = [this.slider, this.field];
  }

  /**
   * @param {string} value
   * @param {string} usual  what holds if the field is empty
   */
  show(value, usual) {
    this.usual = usual;
    setAttribute(this.field, "placeholder", usual);
    if (this.field.value.trim() !== value) this.field.value = value;
    this.follow();
  }

  /**
   * The slider goes no further than the model does.
   * @param {number} longest
   */
  limit(longest) {
    const within = this.steps.filter((step) => step <= longest).length;
    this.slider.max = String(Math.max(within, 2) - 1);
    this.follow();
  }

  /** The slider stands at the step that is nearest. */
  follow() {
    const wanted = amount(this.field.value) ?? amount(this.usual) ?? this.steps[0];
    const distance = (/** @type {number} */ step) => Math.abs(Math.log(step / Math.max(wanted, 1)));
    const nearest = this.steps.reduce((best, step) => (distance(step) < distance(best) ? step : best));
    this.slider.value = String(this.steps.indexOf(nearest));
    this.told();
  }

  told() {
    this.slider.setAttribute("aria-valuetext", this.field.value || this.usual);
    const share = Number(this.slider.value) / Number(this.slider.max);
    this.slider.style.setProperty("--share", String(share));
  }
}

/**
 * @param {string} text
 * @returns {number | null}
 */
function amount(text) {
  const [, digits, unit] = /^\s*([\d_,.]+)\s*([kKM]i?)?\s*$/.exec(text) ?? [];
  const number = Number((digits ?? "").replace(/[_,]/g, "")) * UNITS[/** @type {keyof typeof UNITS} */ (unit ?? "")];
  return digits && number > 0 ? number : null;
}
