// A view of one answer: its figures, its charts and its tables, one below the other.
// @ts-check
import { element } from "../dom.js";
import { showChart } from "./chart.js";
import { showFigures } from "./figures.js";
import { showTable } from "./table.js";

/** @typedef {import("../types.js").Answer} Answer */
/**
 * @typedef {object} Layout
 * @property {string} topic  whose answer it shows
 * @property {string} [head]  the part of that answer that has title and figures, if not the answer itself
 * @property {boolean} [figures]  whether they are shown: not where the head of the page has them
 * @property {[string, string][]} [charts]  names and labels
 * @property {[string, string][]} [tables]
 * @property {[string, string][]} [folded]  tables that repeat what a chart shows
 * @property {import("./table.js").Apply} [apply]
 */

export class Sheet {
  /** @param {Layout} layout */
  constructor(layout) {
    this.layout = layout;
    this.topic = layout.topic;
    /** @type {Answer | null} */
    this.shown = null;
    /** @type {import("../model/panel.js").ModelPanel[]} */
    this.panels = []; // of models that are edited in it
    this.title = element("p", { class: "subtitle" });
    this.beneath = element("p", { class: "beneath", hidden: true });
    this.figures = element("dl", { class: "figures" });
    this.charts = (layout.charts ?? []).map(([name, label]) => ({ name, label, place: element("figure", { "data-chart": name }) }));
    this.tables = (layout.tables ?? []).map(([name, label]) => ({ name, label, place: element("div", { "data-table": name }) }));
    this.folded = (layout.folded ?? []).map(([name, label]) => ({ name, label, place: element("div", { "data-table": name }) }));
    this.element = element("div", { class: "sheet-view" });
    this.toolbar = this.working();
    this.element.append(
      this.title, this.beneath, ...this.charts.map(({ place }) => place), this.figures, this.toolbar,
      ...this.tables.map(({ label, place }) => element("section", {}, element("h3", {}, label), place)),
      ...this.folded.map(({ label, place }) => element("details", { class: "folded" }, element("summary", {}, label), place)),
    );
  }

  working() {
    const box = element("input", { type: "checkbox", id: `working-${this.topic}-${this.layout.head ?? ""}` });
    box.addEventListener("change", () => this.element.classList.toggle("with-working", box.checked));
    return element("div", { class: "toolbar", hidden: true }, element("label", {}, box, " Show the working"));
  }

  /**
   * The state changed: for views with fields of their own.
   * @param {import("../types.js").State} state
   */
  follow(state) {
    void state;
  }

  /** @param {Answer} answer */
  update(answer) {
    this.shown = answer;
    const { head: part } = this.layout;
    const head = /** @type {Answer} */ (part ? /** @type {any} */ (answer)[part] ?? {} : answer);
    this.title.textContent = head.title ?? "";
    this.title.hidden = !head.title?.includes(" · "); // the page's heading has the name already
    this.beneath.textContent = (head.beneath ?? []).join("\n");
    this.beneath.hidden = !head.beneath?.length;
    showFigures(this.figures, this.layout.figures === false ? [] : head.figures);
    for (const { name, label, place } of this.charts) showChart(place, answer.charts?.[name], label);
    for (const { name, label, place } of [...this.tables, ...this.folded]) {
      showTable(place, answer.tables?.[name], label, this.layout.apply);
      const around = place.parentElement;
      if (around) around.hidden = place.hidden;
    }
    const worked = this.tables.some(({ name }) => answer.tables?.[name]?.rows.some(({ below }) => below));
    this.toolbar.hidden = !worked;
  }
}
