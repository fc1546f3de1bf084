// What to ask for a state: each topic's question.
// @ts-check

/** @typedef {import("../types.js").State} State */
/** @typedef {import("../types.js").Setting} Setting */

export const SLOW = ["memory", "fit", "compare", "plot", "report"];
const COMMAND = { // of archcalc, by view
  overview: "params",
  diagram: "diagram",
  shapes: "shapes",
  flops: "flops",
  memory: "memory",
  devices: "fit",
  curves: "plot",
  compare: "compare",
};

export class Questions {
  /** @param {Setting[]} settings */
  constructor(settings) {
    this.known = new Map(settings.map((setting) => [setting.name, setting]));
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
    const { source, gpus, other, metric, view, curve } = state;
    /** @type {Record<string, object>} */
    const asked = {
      exact: { ask: "exact", source, settings: this.settings(state, "exact") },
      memory: { ask: "memory", source, settings: this.settings(state, "memory") },
      fit: { ask: "fit", source, settings: this.settings(state, "fit"), gpus, helps: view === "devices" },
    };
    if (view === "compare" && other) asked.compare = this.compare(state, [source, other], metric);
    if (view === "curves") asked.plot = this.plot(state, curve, this.settings(state, "plot"));
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
   * @param {State} state
   * @param {import("../types.js").Curve} curve
   * @param {Record<string, string>} settings
   */
  plot({ source, other, gpus }, { x, y, by }, settings) {
    const sources = other ? [source, other] : [source];
    return { ask: "plot", sources, x, y: y.split(","), by, settings, gpus };
  }

  /** @param {State} state */
  command(state) {
    const { view, source, other, metric, gpus, curve } = state;
    const command = COMMAND[/** @type {keyof typeof COMMAND} */ (view)];
    const sources = other ? [source, other] : [source];
    const settings = view === "compare" ? this.compared(state) : this.settings(state);
    return { ask: "command", command, source, sources, metric, settings, gpus, ...curve, y: curve.y.split(",") };
  }

  /** @param {State} state */
  report(state) {
    return { ask: "report", source: state.source, settings: this.settings(state), gpus: state.gpus };
  }
}
