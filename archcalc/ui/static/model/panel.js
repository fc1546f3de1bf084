// A model to choose and to edit: the preset field and the editor, each following the other. A page has one or two.
// @ts-check
import { Combobox } from "../combobox.js";
import { Completion } from "../editor/completion.js";
import { Editor } from "../editor/editor.js";

/** @typedef {import("../types.js").Source} Source */
/** @typedef {import("../types.js").Ask} Ask */
/** @typedef {import("../types.js").Preset} Preset */
/** @typedef {import("../types.js").Mistake} Mistake */

export class ModelPanel {
  /**
   * @param {{chooser: HTMLElement, editor: HTMLElement}} parts  where it stands
   * @param {{id: string, label: string, presets: Preset[], ask: Ask, schema: (family: string) => Promise<object>}} about
   * @param {(source: Source, typed: boolean) => void} changed
   */
  constructor(parts, { id, label, presets, ask, schema }, changed) {
    this.ask = ask;
    this.changed = changed;
    this.presets = presets;
    /** @type {Source | null} */
    this.source = null;
    this.original = { preset: "", text: "" }; // the preset's own text, to see when an edit is undone
    this.chooser = new Combobox(parts.chooser, {
      id: `${id}-preset`, label, placeholder: "Search presets", choices: presets.map(choice),
      chosen: (preset) => changed({ preset }, false),
    });
    this.editor = new Editor(parts.editor, { id: `${id}-spec`, label: `${label}: spec`, typed: (text) => this.typed(text) });
    this.completion = new Completion(this.editor, schema);
  }

  /**
   * Show another source, unless it is what is being typed here.
   * @param {Source | null} source
   */
  async show(source) {
    if (!source || JSON.stringify(source) === JSON.stringify(this.source)) return;
    this.source = source;
    this.name(source);
    if ("text" in source) this.editor.show(source.text);
    else await this.open(source);
  }

  /** @param {Source} source */
  async open(source) {
    const answer = await this.ask({ ask: "open", source });
    if (this.source !== source) return;
    const text = answer.yaml ?? "";
    if ("preset" in source && answer.ok) this.original = { preset: source.preset, text };
    this.editor.area.readOnly = !("preset" in source);
    this.editor.show(text);
  }

  /** @param {string} text */
  typed(text) {
    const { preset, text: original } = this.original;
    this.source = preset && text === original ? { preset } : { text, file: this.file(text) };
    this.name(this.source);
    this.changed(this.source, true);
  }

  /**
   * The name of the file that the text would be saved as.
   * @param {string} text
   */
  file(text) {
    const json = text.trimStart().startsWith("{");
    if (this.source && "text" in this.source && this.source.file.endsWith(".json") === json) return this.source.file;
    if (json) return "config.json";
    return this.source && "preset" in this.source ? `${this.source.preset}.yaml` : "model.yaml";
  }

  /** A config.json or a list of tensors, as the spec that archcalc reads it as. */
  async translate() {
    const answer = await this.ask({ ask: "open", source: this.source });
    if (answer.spec) this.changed({ text: answer.spec, file: "model.yaml" }, false);
  }

  /**
   * Show at their lines the mistakes that a question about this model met, and give the others back.
   * @param {Mistake[]} mistakes
   * @param {string} topic
   * @param {import("../mistakes.js").Asked} asked
   */
  take(mistakes, topic, asked) {
    const own = mistakes.filter((mistake) => asked(topic, mistake));
    this.editor.mark(own);
    return mistakes.filter((mistake) => !own.includes(mistake));
  }

  get isConfig() {
    return Boolean(this.source && "text" in this.source && this.source.file.endsWith(".json"));
  }

  /** @param {Source} source */
  name(source) {
    this.chooser.show("preset" in source ? source.preset : source.file);
  }
}

/** @param {Preset} preset */
function choice({ name, title, group, type, short }) {
  const search = `${name} ${title} ${group} ${type}`.toLowerCase();
  return { value: name, title, aside: short ?? "", group, search };
}
