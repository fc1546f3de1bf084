// What fits over two choices: a field of cells that follow a slider, and answer a click with their command.
// @ts-check
import { Sheet } from "./sheet.js";

/** @typedef {import("../types.js").Answer} Answer */

class Matrix extends Sheet {
  constructor() {
    super({ topic: "matrix", charts: [["matrix", "What fits where"]], folded: [["matrix", "The cells as a table"]] });
  }

  /**
   * The script of reports (matrix.js) moves the frontier; a drawing that stays the same goes on as it is.
   * @param {Answer} answer
   */
  update(answer) {
    const { place } = this.charts[0];
    const before = place.firstElementChild;
    super.update({ ...answer, beneath: [answer.answer ?? "", ...(answer.beneath ?? [])] });
    if (!answer.cells || (place.contains(before) && place.dataset.matrix === answer.cells)) return;
    for (const old of place.querySelectorAll(":scope > .slider, :scope > .cell-detail")) old.remove();
    place.dataset.matrix = answer.cells;
    window.dispatchEvent(new CustomEvent("archcalc-matrix", { detail: place }));
  }
}

/** @type {import("./all.js").View} */
export const matrix = {
  label: "Fit matrix", command: "fit",
  asks: (state, questions) => ({ matrix: questions.matrix(state) }),
  made: () => new Matrix(),
};
