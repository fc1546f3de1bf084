// What to ask for a state: each topic's question.
// @ts-check

/** @typedef {import("../types.js").State} State */
/** @typedef {import("../types.js").Setting} Setting */

export const SLOW = ["memory", "fit", "compare", "plot", "search", "matrix"];
const USUAL_AXIS = "seq=1k..128k";
const FURTHEST = 2 ** 17;
const COMMAND = { // of archcalc, by view
  overview: "params",
  diagram: "diagram",
  shapes: "shapes",
  flops: "flops",
  memory: "memory",
  devices: "fit",
  matrix: "fit",
  curves: "plot",
  compare: "compare",
};

export class Questions {
  /** @param {Setting[]} settings */
  constructor(settings) {
    this.known = new Map(settings.map((setting) => [setting.name, setting]));
    this.axis = USUAL_AXIS; // of curves, for this model
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
   * The questions that a view needs, by topic.
   * @param {State} state
   * @returns {Record<string, object>}
   */
  of(state) {
    const { source, gpus, other, metric, view } = state;
    const { wide } = this;
    /** @type {Record<string, object>} */
    const asked = {
      exact: { ask: "exact", source, settings: this.settings(state, "exact"), wide },
      memory: { ask: "memory", source, settings: this.settings(state, "memory"), wide },
      fit: { ask: "fit", source, settings: this.settings(state, "fit"), gpus, helps: false, wide },
    };
    if (view === "devices") asked.search = { ...asked.fit, helps: true }; // how far it could grow, and what would help
    if (view === "compare" && other) asked.compare = this.compare(state, [source, other], metric);
    if (view === "matrix") asked.matrix = { ask: "matrix", source, settings: this.settings(state, "fit"), gpus, table: this.table(state), wide };
    if (view === "curves") asked.plot = this.plot(state);
    return asked;
  }

  /**
   * @param {State} state
   * @param {import("../types.js").Source[]} sources
   * @param {string} metric
   */
  compare(state, sources, metric) {
    return { ask: "compare", sources, metric, settings: this.compared(state) };
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
  command(state) {
    const { view, source, other, metric, gpus } = state;
    const command = COMMAND[/** @type {keyof typeof COMMAND} */ (view)];
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
