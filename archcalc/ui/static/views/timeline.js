// Memory over a step, op by op: the scrubber of reports (timeline.js beside the page), fed with the answer.
// @ts-check
import { element } from "../dom.js";
import { adopt } from "./chart.js";
import { Sheet } from "./sheet.js";

/** @typedef {import("../types.js").Answer} Answer */

class Timeline extends Sheet {
  constructor() {
    super({ topic: "timeline" });
    this.figure = element("figure", { "data-timeline": true, hidden: true });
    this.element.append(this.figure);
  }

  /** @param {Answer} answer  whose picture is drawn once it has its place, and so a width */
  update(answer) {
    super.update(answer);
    const { timeline, style } = /** @type {any} */ (answer);
    adopt(style);
    this.figures.hidden = this.beneath.hidden = true; // those of Memory
    this.figure.hidden = !timeline;
    const detail = { figure: this.figure, data: timeline };
    if (timeline) requestAnimationFrame(() => window.dispatchEvent(new CustomEvent("archcalc-timeline", { detail })));
  }
}

/** @type {import("./all.js").View} */
export const timeline = {
  label: "Timeline", command: "memory",
  asks: (state, questions) => ({ timeline: questions.timeline(state) }),
  made: () => new Timeline(),
};
