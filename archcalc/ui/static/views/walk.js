// The walk: one step as a picture with tensors to scale, buttons and arrow keys to the next one, and all steps as a table.
// @ts-check
import { element, fill } from "../dom.js";
import { Sheet } from "./sheet.js";

/** @typedef {import("../types.js").Answer & {step: number, steps: number, working: string[]}} Step */

class Walk extends Sheet {
  /** @param {import("./all.js").Tools} tools */
  constructor({ store, questions }) {
    super({ topic: "walk", charts: [["walk", "This step, drawn to scale"]], folded: [["steps", "All steps"]] });
    this.store = store;
    this.questions = questions;
    this.place = element("output", {});
    this.worked = element("div", { class: "beneath" });
    this.back = this.button("← Step before", -1);
    this.on = this.button("Next step →", 1);
    const row = element("div", { class: "toolbar" }, this.back, " ", this.place, " ", this.on);
    this.element.prepend(row, this.worked);
    this.charts[0].place.after(this.worked);
    this.element.addEventListener("keydown", ({ key }) => {
      if (key === "ArrowRight" || key === "ArrowLeft") this.go(key === "ArrowRight" ? 1 : -1);
    });
  }

  /**
   * @param {string} label
   * @param {number} by
   */
  button(label, by) {
    const made = element("button", { type: "button" }, label);
    made.addEventListener("click", () => this.go(by));
    return made;
  }

  /** @param {number} by */
  go(by) {
    const { step, steps } = /** @type {Step} */ (this.shown);
    this.questions.step = Math.max(1, Math.min(steps, step + by));
    this.store.change({}, "go");
  }

  /** @param {import("../types.js").Answer} answer */
  update(answer) {
    super.update(answer);
    const { step, steps, working } = /** @type {Step} */ (answer);
    this.questions.step = step;
    this.place.textContent = `step ${step} of ${steps}`;
    this.back.disabled = step === 1;
    this.on.disabled = step === steps;
    fill(this.worked, ...working.map((line) => element("p", {}, line)));
  }
}

/** @type {import("./all.js").View} */
export const walk = {
  label: "Walk", command: "walk",
  asks: (state, questions) => ({ walk: questions.walk(state) }),
  made: (tools) => new Walk(tools),
};
