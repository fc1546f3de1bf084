// Views that are charts and tables of one answer.
// @ts-check
import { Sheet } from "./sheet.js";

/** @typedef {import("./all.js").View} View */

/**
 * A part of the exact answer, which is asked for when it is to be seen.
 * @param {string} part
 * @returns {View["asks"]}
 */
function exactly(part) {
  return (state, questions) => ({ [part]: { ...questions.exact(state), show: [part], wide: questions.wide } });
}

/** @type {View} */
export const overview = {
  label: "Overview", command: "params", asks: exactly("params"),
  made: () => new Sheet({ topic: "params", charts: [["icicle", "Parameters by part"]], tables: [["params", "Parameters, part by part"]] }),
};

/** @type {View} */
export const diagram = {
  label: "Diagram", command: "diagram", asks: exactly("diagram"),
  made: () => new Sheet({ topic: "diagram", head: "drawn", charts: [["diagram", "Architecture"]] }),
};

/** @type {View} */
export const shapes = {
  label: "Shapes", command: "shapes",
  asks: (state, questions) => ({ shapes: { ...questions.exact(state), show: ["shapes", "params"], wide: questions.wide } }), // with the equations
  made: () => new Sheet({
    topic: "shapes", head: "drawn",
    tables: [["shapes", "The shape of every tensor in the forward pass"], ["equations", "Equations"], ["equations_2", "Their sizes"]],
  }),
};

/** @type {View} */
export const flops = {
  label: "FLOPs", command: "flops", asks: exactly("flops"),
  made: () => new Sheet({
    topic: "flops", head: "flops", charts: [["work", "FLOPs by kind of work"]], tables: [["flops", "FLOPs, part by part"]],
    folded: [["kinds", "FLOPs by kind of work as a table"]],
  }),
};

/** @type {View} */
export const memory = {
  label: "Memory", command: "memory",
  made: () => new Sheet({
    topic: "memory", charts: [["timeline", "Memory over time"]],
    tables: [["parts", "At the peak"], ["host", "In host RAM"], ["layers", "Layer by layer"]],
    folded: [["timeline", "The course of memory as a table"]],
  }),
};
