// How figures change with a size or an option: what lies along, what goes up, and what tells the curves apart.
// @ts-check
import { Combobox } from "../combobox.js";
import { element } from "../dom.js";
import { Sheet } from "./sheet.js";

/** @typedef {import("../types.js").State} State */
/** @typedef {import("../types.js").Curve} Curve */

/** @type {[keyof Curve, string, string[]][]} */
const FIELDS = [
  ["y", "Draw", ["memory", "cache", "memory,cache", "weights", "activations", "flops", "flops-per-token", "params"]],
  ["x", "against", ["seq=1k..128k", "batch=1..256", "tp=1,2,4,8", "weights=bf16,int8,q4_k_m"]],
  ["by", "for each", ["weights", "batch=1,8,64", "kv-dtype=bf16,fp8", "recompute=none,selective,full", "zero=0,1,2,3"]],
];

class Curves extends Sheet {
  /** @param {import("./all.js").Tools} tools */
  constructor({ store, questions }) {
    super({ topic: "plot", charts: [["curves", "Curves"]], folded: [["points", "The points as a table"]] });
    this.questions = questions;
    const rows = element("div", { class: "questions" });
    this.fields = FIELDS.map(([axis, label, examples]) => {
      const row = element("div", { class: "row" }, element("label", { for: `curve-${axis}` }, label));
      rows.append(row);
      return { axis, box: field(row, axis, label, examples, (value) => store.change({ curve: { ...store.state.curve, [axis]: value } })) };
    });
    this.element.prepend(rows);
  }

  /** @param {State} state */
  follow({ curve }) {
    const usual = { x: this.questions.axis, y: "memory", by: "nothing: one curve" };
    for (const { axis, box } of this.fields) {
      box.show(curve[axis]);
      box.input.placeholder = usual[axis];
    }
  }
}

/** @type {import("./all.js").View} */
export const curves = {
  label: "Curves", command: "plot",
  asks: (state, questions) => ({ plot: questions.plot(state) }),
  made: (tools) => new Curves(tools),
};

/**
 * @param {HTMLElement} row
 * @param {string} axis
 * @param {string} label
 * @param {string[]} examples
 * @param {(value: string) => void} chosen
 */
function field(row, axis, label, examples, chosen) {
  const choices = examples.map((value) => ({ value, title: "", aside: "", group: "", search: value }));
  return new Combobox(row, { id: `curve-${axis}`, label, placeholder: "", choices, free: "as written", keeps: true, chosen });
}
