// How figures change with a size or an option: what lies along, what goes up, and what tells the curves apart.
// @ts-check
import { element } from "../dom.js";
import { Sheet } from "./sheet.js";

/** @typedef {import("../types.js").State} State */
/** @typedef {import("../types.js").Curve} Curve */

/** @type {[keyof Curve, string, string, string[]][]} */
const FIELDS = [
  ["y", "Plot", "memory", ["memory", "cache", "flops", "params", "memory,cache"]],
  ["x", "against", "seq=1k..128k", ["seq=1k..128k", "batch=1..256", "context=1k..1M", "tp=1,2,4,8"]],
  ["by", "for each", "nothing: one curve", ["weights=bf16,int8,int4", "batch=1,8,64", "recompute=none,selective,full"]],
];

export class Curves extends Sheet {
  /** @param {import("../state/store.js").Store} store */
  constructor(store) {
    super({ topic: "plot", charts: [["curves", "Curves"]], folded: [["points", "The points as a table"]] });
    this.inputs = FIELDS.map(([axis, label, placeholder, examples]) => {
      const id = `curve-${axis}`;
      const input = element("input", { id, type: "text", placeholder, list: `${id}-choices`, autocomplete: "off", spellcheck: "false" });
      const offered = element("datalist", { id: `${id}-choices` }, ...examples.map((value) => element("option", { value })));
      input.addEventListener("input", () => store.change({ curve: { ...store.state.curve, [axis]: input.value.trim() } }));
      return { axis, input, row: element("div", { class: "row" }, element("label", { for: id }, label), input, offered) };
    });
    this.element.prepend(element("div", { class: "questions" }, ...this.inputs.map(({ row }) => row)));
  }

  /** @param {State} state */
  follow({ curve }) {
    for (const { axis, input } of this.inputs) {
      if (input.value.trim() !== curve[axis]) input.value = curve[axis];
    }
  }
}
