// Two models side by side: the second one has its own preset field and editor.
// @ts-check
import { element } from "../dom.js";
import { ModelPanel } from "../model/panel.js";
import { Sheet } from "./sheet.js";

/** @typedef {import("../types.js").State} State */

const METRICS = [["params", "parameters"], ["flops", "FLOPs of a training step"], ["memory", "memory of inference"]];

class Compare extends Sheet {
  /** @param {import("./all.js").Tools} tools */
  constructor({ store, about }) {
    super({ topic: "compare", tables: [["compare", "Part by part"]] });
    const chooser = element("div", { class: "chooser" });
    const editor = element("details", { class: "spec-part" }, element("summary", {}, "Edit the second spec"));
    this.panel = new ModelPanel({ chooser, editor }, { ...about, id: "other", label: "Second model" }, (other, typed) => {
      store.change({ other }, typed ? "edit" : "go");
    });
    this.panels.push(this.panel);
    this.metric = element("select", { id: "metric" }, ...METRICS.map(([value, label]) => element("option", { value }, label)));
    this.metric.addEventListener("change", () => store.change({ metric: this.metric.value }));
    const metric = element("div", { class: "row row-choice" }, element("label", { for: "metric" }, "Compare"), this.metric);
    const second = element("div", { class: "row" }, element("label", { for: "other-preset" }, "with"), chooser);
    this.element.prepend(element("div", { class: "questions" }, metric, second), editor);
  }

  /** @param {State} state */
  follow({ other, metric }) {
    this.panel.show(other);
    this.metric.value = metric;
  }
}

/** @type {import("./all.js").View} */
export const compare = {
  label: "Compare", command: "compare",
  asks(state, questions) {
    const { source, other, metric } = state;
    if (!other) return {};
    return { compare: { ask: "compare", sources: [source, other], metric, settings: questions.compared(state) } };
  },
  made: (tools) => new Compare(tools),
};
