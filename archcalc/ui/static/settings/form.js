// How the model is run: the options that people turn most, then all others, as archcalc lists them.
// @ts-check
import { byId, element } from "../dom.js";
import { Gpus } from "./gpus.js";
import { Row } from "./row.js";
import { powers } from "./stepped.js";

/** @typedef {import("../types.js").Catalog} Catalog */
/** @typedef {import("../types.js").State} State */
/** @typedef {import("../types.js").Mistake} Mistake */

const MODES = [["infer", "Inference"], ["decode", "Decode"], ["train", "Training"]];
const RUN = { // the options that people turn most, in plain words
  batch: "Batch",
  seq: "Sequence",
  context: "Context",
  weights: "Weights",
  precision: "Precision",
  optimizer: "Optimizer",
  recompute: "Checkpointing",
  "kv-dtype": "KV cache",
  engine: "Engine",
};
const PLAN = { tp: "Tensor", dp: "Data", pp: "Pipeline", zero: "ZeRO" };
/** @type {Record<string, number[]>} */
const STEPS = {
  batch: powers(1, 1024),
  seq: powers(128, 2 ** 20),
  context: powers(128, 2 ** 20),
  tp: powers(1, 64),
  dp: powers(1, 1024),
  pp: powers(1, 64),
};

export class Form {
  /**
   * @param {Catalog} catalog
   * @param {import("../state/store.js").Store} store
   * @param {import("../answers/questions.js").Questions} questions
   */
  constructor(catalog, store, questions) {
    this.store = store;
    this.questions = questions;
    /** @type {Map<string, Row>} */
    this.rows = new Map();
    this.modes();
    const others = catalog.settings.filter(({ name }) => !(name in RUN || name in PLAN || name === "mode"));
    this.place("run", catalog.settings, RUN);
    this.place("plan", catalog.settings, PLAN);
    this.place("more", others, Object.fromEntries(others.map(({ name, label }) => [name, label])));
    this.gpus = new Gpus(byId("gpus"), catalog.gpus, (gpus) => store.change({ gpus }));
    byId("reset").addEventListener("click", () => store.change({ settings: {}, gpus: [] }, "go"));
    this.show(store.state, {});
  }

  modes() {
    const changed = (/** @type {string} */ mode) => this.store.set("mode", mode === "infer" ? "" : mode);
    byId("mode").append(...MODES.map(([mode, label]) => {
      const button = element("input", { type: "radio", name: "mode", value: mode, id: `mode-${mode}` });
      button.addEventListener("change", () => changed(mode));
      return element("label", {}, button, element("span", {}, label));
    }));
  }

  /**
   * @param {string} id
   * @param {import("../types.js").Setting[]} settings
   * @param {Record<string, string>} labels  of those that stand there, by name
   */
  place(id, settings, labels) {
    const named = new Map(settings.map((setting) => [setting.name, setting]));
    for (const [name, label] of Object.entries(labels)) {
      const setting = named.get(name);
      if (!setting) continue;
      const row = new Row(setting, label, STEPS[setting.name], (value) => this.store.set(setting.name, value));
      this.rows.set(setting.name, row);
      byId(id).append(row.element);
    }
  }

  /**
   * @param {State} state
   * @param {Pick<import("../types.js").Answer, "sizes" | "lengths" | "longest">} model  what the model itself says
   * @param {Record<string, string>} run  what it is run with where nothing is set
   */
  show({ settings, gpus }, { sizes = {}, lengths, longest }, run = {}) {
    const mode = settings.mode ?? "infer";
    for (const button of byId("mode").querySelectorAll("input")) button.checked = button.value === mode;
    const usual = { tp: "1", dp: "1", pp: "1", seq: sizes["src-seq"], ...sizes, ...run };
    for (const [name, row] of this.rows) {
      row.show(settings[name] ?? "", String(usual[/** @type {keyof typeof usual} */ (name)] ?? row.setting.placeholder ?? ""));
      row.element.hidden = !this.shown(name, mode, lengths);
    }
    const furthest = Math.min(...Object.values(longest ?? {}).map((length) => Number(length || Infinity)));
    for (const name of ["seq", "context"]) this.rows.get(name)?.control.limit?.(furthest);
    this.gpus.show(gpus);
    byId("reset").hidden = !Object.keys(settings).length && !gpus.length;
    const given = [...this.rows].filter(([name]) => byId("more").contains(this.rows.get(name)?.element ?? null) && settings[name]);
    byId("more-given").textContent = given.length ? `${given.length} set` : "";
  }

  /**
   * @param {string} name
   * @param {string} mode
   * @param {string[]} [lengths]  which lengths the model has; undefined if unknown
   */
  shown(name, mode, lengths) {
    if (name === "seq" && (mode === "decode" || lengths?.length === 0)) return false;
    if (name === "context" && mode !== "decode") return false;
    if (["src-seq", "tgt-seq"].includes(name) && lengths && !lengths.includes(name)) return false;
    return this.questions.counts(name, mode);
  }

  /**
   * Show mistakes at their options, and give those back that belong to none.
   * @param {Mistake[]} mistakes
   * @returns {Mistake[]}
   */
  take(mistakes) {
    const seen = (/** @type {Mistake} */ { field }) => this.rows.get(field.replace(/^--/, ""))?.element.checkVisibility();
    const texts = new Map(mistakes.filter(seen).map(({ field, fact, hint }) => [field.replace(/^--/, ""), hint ? `${fact}: ${hint}` : fact]));
    for (const [name, row] of this.rows) row.mark(texts.get(name) ?? "");
    return mistakes.filter((mistake) => !seen(mistake));
  }

  get within() {
    return byId("settings");
  }

  /** @param {Mistake} mistake */
  go({ field }) {
    this.rows.get(field.replace(/^--/, ""))?.focus();
  }

  /**
   * @param {string} option  with its dashes
   * @returns {boolean} whether the form has it
   */
  focus(option) {
    const row = this.rows.get(option.replace(/^--/, ""));
    if (!row || row.element.hidden) return false;
    row.focus();
    return true;
  }
}
