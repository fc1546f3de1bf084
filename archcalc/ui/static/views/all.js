// Every view, in the order of the row of links: a further one is a file, and a line here.
// @ts-check
import { compare } from "./compare.js";
import { curves } from "./curves.js";
import { devices } from "./devices.js";
import { matrix } from "./matrix.js";
import { diagram, flops, memory, overview, shapes } from "./plain.js";
import { timeline } from "./timeline.js";
import { walk } from "./walk.js";

/** @typedef {import("./sheet.js").Sheet} Sheet */
/** @typedef {import("../types.js").State} State */
/** @typedef {import("../answers/questions.js").Questions} Questions */
/**
 * @typedef {object} View
 * @property {string} label
 * @property {string} command  of archcalc, whose answer it shows
 * @property {(state: State, questions: Questions) => Record<string, object>} [asks]  besides what every view asks
 * @property {(tools: Tools) => Sheet} made
 *
 * @typedef {object} Tools  what a view is made with
 * @property {import("../state/store.js").Store} store
 * @property {Questions} questions
 * @property {Omit<ConstructorParameters<typeof import("../model/panel.js").ModelPanel>[1], "id" | "label">} about
 */

/** @type {Record<string, View>} */
export const VIEWS = { overview, diagram, walk, shapes, flops, memory, timeline, devices, matrix, curves, compare };
export const FIRST = "overview";

/** @param {State} state */
export function viewOf({ view }) {
  return VIEWS[Object.hasOwn(VIEWS, view) ? view : FIRST];
}
