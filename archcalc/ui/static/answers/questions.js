// What to ask for a state: each topic's question.
// @ts-check
import { viewOf } from "../views/all.js";

/** @typedef {import("../types.js").State} State */
/** @typedef {import("../types.js").Setting} Setting */

export const SLOW = ["memory", "fit", "timeline", "compare", "plot", "cards", "search", "matrix"];
export const MORE = { search: { helps: true }, cards: { cards: true } }; // what is asked of the verdicts besides

const USUAL_AXIS = "seq=1k..128k";
const FURTHEST = 2 ** 17;

export class Questions {
  /** @param {Setting[]} settings */
  constructor(settings) {
    this.known = new Map(settings.map((setting) => [setting.name, setting]));
    this.axis = USUAL_AXIS; // of curves, for this model
    this.step = 1; // of the walk, which is seen
    this.wide = 0; // pixels that a chart may take
  }

  /**
   * The settings that have an effect in this mode; the others wait until it changes back.
   * @param {State} state
   * @param {string} [topic]  that takes them; some take only a few
   * @returns {Record<string, string>}
   */
  settings(state, topic) {
    const mode = state.settings.mode ?? "infer";
    const given = Object.entries({ ...state.settings, mode }).filter(([name]) => this.counts(name, mode));
    return Object.fromEntries(given.filter(([name]) => !topic || this.takes(topic, name)));
  }

  /**
   * @param {string} topic
   * @param {string} name
   */
  takes(topic, name) {
    return this.known.get(name)?.applies.includes(topic) ?? true; // archcalc says what is wrong with an unknown one
  }

  /**
   * @param {string} name
   * @param {string} mode
   */
  counts(name, mode) {
    const modes = this.known.get(name)?.modes;
    return !modes?.length || modes.includes(mode);
  }

  /**
   * What the head of the page needs, and the view beneath it, by topic.
   * @param {State} state
   * @returns {Record<string, object>}
   */
  of(state) {
    const { source, view, gpus } = state;
    const memory = { ask: "memory", source, settings: this.settings(state, "memory"), gpus, wide: this.wide };
    const fit = this.fit(state);
    /** @type {Record<string, object>} */
    const asked = { exact: { ...this.exact(state), show: [] }, work: { ...this.exact(state), show: ["work"] }, memory, fit, ...viewOf(state).asks?.(state, this) };
    if (view !== "devices") asked.cards = { ...fit, ...MORE.cards };
    return asked;
  }

  /** @param {State} state */
  exact(state) {
    return { ask: "exact", source: state.source, settings: this.settings(state, "exact") };
  }

  /**
   * Verdicts, at once.
   * @param {State} state
   */
  fit(state) {
    const { source, gpus } = state;
    return { ask: "fit", source, settings: this.settings(state, "fit"), gpus, helps: false, wide: this.wide };
  }

  /**
   * How far it could grow, and what would help.
   * @param {State} state
   */
  search(state) {
    return { ...this.fit(state), ...MORE.search };
  }

  /**
   * No size changes a parameter count.
   * @param {State} state
   */
  compared(state) {
    return state.metric === "params" ? {} : this.settings(state, "compare");
  }

  /**
   * Curves run along the sequence as far as the model goes, or along the batch if it has none.
   * @param {import("../types.js").Answer} exact
   */
  suit({ lengths, longest }) {
    const limit = Math.min(...Object.values(longest ?? {}).map((length) => Number(length || Infinity)), FURTHEST);
    const top = 2 ** Math.floor(Math.log2(limit));
    this.axis = lengths?.length ? `seq=${Math.max(top / 128, 16)}..${top}` : "batch=1..256";
  }

  /**
   * @param {State} state
   * @returns {{x: string, y: string[], by: string, settings: Record<string, string>}}
   */
  axes(state) {
    const { x, y, by } = state.curve;
    const along = x || this.axis;
    const names = [along, by].map((written) => written.split("=")[0].trim());
    const settings = Object.entries(this.settings(state, "plot")).filter(([name]) => !names.includes(name));
    return { x: along, y: (y || "memory").split(","), by, settings: Object.fromEntries(settings) };
  }

  /**
   * Formats are a choice of inference, numbers of GPUs one of training.
   * @param {State} state
   */
  table({ settings }) {
    return settings.mode === "train" ? "plan,gpu" : "weights,gpu";
  }

  /** @param {State} state */
  plot(state) {
    const { source, other, gpus } = state;
    return { ask: "plot", sources: other ? [source, other] : [source], gpus, ...this.axes(state), wide: this.wide };
  }

  /** @param {State} state */
  walk(state) {
    return { ask: "walk", source: state.source, settings: this.settings(state, "compare"), step: this.step, wide: this.wide };
  }

  /** @param {State} state */
  matrix(state) {
    return { ...this.fit(state), ask: "matrix", table: this.table(state) };
  }

  /** @param {State} state */
  timeline(state) {
    return { ask: "timeline", source: state.source, settings: this.settings(state, "memory") };
  }

  /** @param {State} state */
  command(state) {
    const { view, source, other, metric, gpus } = state;
    const { command } = viewOf(state);
    const sources = other ? [source, other] : [source];
    const settings = view === "compare" ? this.compared(state) : this.settings(state);
    const axes = view === "curves" ? this.axes(state) : view === "matrix" ? { table: this.table(state) } : {};
    return { ask: "command", command, source, sources, metric, settings, gpus, ...axes };
  }

  /** @param {State} state */
  report(state) {
    return { ask: "report", source: state.source, settings: this.settings(state, "report"), gpus: state.gpus };
  }
}
