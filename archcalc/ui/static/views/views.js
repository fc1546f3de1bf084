// The views of the page: which one is seen, and what it says while its answer is old or wrong.
// @ts-check
import { byId, element, fill } from "../dom.js";
import { fragment } from "../state/link.js";
import { FIRST, VIEWS } from "./all.js";
import { neighbour } from "./neighbour.js";
import { showNotes } from "./notes.js";

/** @typedef {import("../types.js").State} State */
/** @typedef {import("../types.js").Answer} Answer */
/** @typedef {import("../answers/answers.js").Answers} Answers */

export class Views {
  /**
   * @param {import("./all.js").Tools} tools
   * @param {Answers} answers
   * @param {State} usual
   * @param {(option: string) => void} focus
   */
  constructor(tools, answers, usual, focus) {
    this.store = tools.store;
    this.presets = tools.about.presets;
    this.answers = answers;
    this.usual = usual;
    this.focus = focus;
    this.sheets = Object.fromEntries(Object.entries(VIEWS).map(([name, view]) => [name, view.made(tools)]));
    this.links = Object.entries(VIEWS).map(([name, { label }]) => this.link(name, label));
    fill(byId("views"), ...this.links);
  }

  /**
   * @param {string} name
   * @param {string} label
   */
  link(name, label) {
    const made = element("a", { href: "#", "data-view": name }, label);
    made.addEventListener("click", (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      this.open(name);
    });
    return made;
  }

  /** @param {string} view */
  open(view) {
    this.store.change({ view }, "go");
  }

  get name() {
    const { view } = this.store.state;
    return Object.hasOwn(VIEWS, view) ? view : FIRST;
  }

  /** Editors that views have of their own. */
  get panels() {
    return Object.values(this.sheets).flatMap(({ panels }) => panels);
  }

  get sheet() {
    return this.sheets[this.name];
  }

  /** The state changed. */
  follow() {
    byId("view-heading").textContent = VIEWS[this.name].label;
    for (const link of this.links) {
      if (link.dataset.view === this.name) this.mark(link);
      else link.removeAttribute("aria-current");
    }
    for (const sheet of Object.values(this.sheets)) sheet.follow(this.store.state);
    if (!byId("view").contains(this.sheet.element)) fill(byId("view"), this.sheet.element);
    this.address();
    this.update(this.sheet.topic);
    queueMicrotask(() => this.suggest()); // once all who listen know of this change
  }

  /** A comparison begins with a model that is like this one. */
  suggest() {
    const { source, other } = this.store.state;
    if (this.name !== "compare" || other) return;
    const listed = "preset" in source && this.presets.find(({ name }) => name === source.preset);
    const about = listed || this.answers.good.exact;
    const near = about && neighbour(this.presets, about);
    if (near) this.store.change({ other: { preset: near.name } });
  }

  /** @param {HTMLElement} link  into view, where the row of links is too long for the page */
  mark(link) {
    link.setAttribute("aria-current", "page");
    const row = byId("views");
    row.scrollLeft = Math.min(row.scrollLeft, link.offsetLeft - row.offsetLeft);
    row.scrollLeft = Math.max(row.scrollLeft, link.offsetLeft - row.offsetLeft + link.offsetWidth - row.clientWidth);
  }

  /** Links that open in another tab. */
  async address() {
    const { state } = this.store;
    for (const link of this.links) {
      link.href = await fragment({ ...state, view: link.dataset.view ?? "" }, this.usual);
    }
  }

  /**
   * An answer came, or a question was sent.
   * @param {string} topic
   */
  update(topic) {
    if (topic === "exact") this.suggest();
    const { sheet } = this;
    const own = topic === "search" || topic === "cards" ? "fit" : topic;
    if (sheet.topic !== own) return;
    const good = this.answers.best(own);
    if (good && sheet.shown !== good) sheet.update(good);
    sheet.element.classList.toggle("stale", own in this.answers.bad);
    sheet.element.classList.toggle("waits", !good);
    const searching = this.name === "devices" && this.answers.busy("search");
    byId("view").setAttribute("aria-busy", String(searching || this.answers.busy(own)));
    this.notes(good);
  }

  /** @param {Answer | undefined} good */
  notes(good) {
    const { head } = this.sheet.layout;
    const shown = head ? /** @type {any} */ (good)?.[head] ?? good : good;
    byId("assumptions").hidden = !shown?.notes?.length;
    showNotes(byId("notes"), shown?.notes ?? [], this.focus);
  }
}
