// The views of the page: which there are, which one is seen, and what it says while its answer is old or wrong.
// @ts-check
import { byId, element, fill } from "../dom.js";
import { fragment } from "../state/link.js";
import { Compare } from "./compare.js";
import { Curves } from "./curves.js";
import { Matrix } from "./matrix.js";
import { showNotes } from "./notes.js";
import { Sheet } from "./sheet.js";

/** @typedef {import("../types.js").State} State */
/** @typedef {import("../types.js").Answer} Answer */
/** @typedef {import("../answers/answers.js").Answers} Answers */

const LABELS = {
  overview: "Overview",
  diagram: "Diagram",
  shapes: "Shapes",
  flops: "FLOPs",
  memory: "Memory",
  devices: "Devices",
  matrix: "Fit matrix",
  curves: "Curves",
  compare: "Compare",
};
/** @typedef {keyof typeof LABELS} Name */

export class Views {
  /**
   * @param {import("../state/store.js").Store} store
   * @param {Answers} answers
   * @param {State} usual
   * @param {ConstructorParameters<typeof Compare>[1]} about
   * @param {(option: string) => void} focus
   */
  constructor(store, answers, usual, about, focus) {
    this.store = store;
    this.answers = answers;
    this.usual = usual;
    this.focus = focus;
    this.compare = new Compare(store, about);
    this.curves = new Curves(store, answers.questions);
    /** @type {Record<Name, Sheet>} */
    this.sheets = {
      overview: new Sheet({ topic: "exact", charts: [["icicle", "Parameters by part"]], tables: [["params", "Parameters, part by part"]] }),
      diagram: new Sheet({ topic: "exact", head: "drawn", charts: [["diagram", "Architecture"]] }),
      shapes: new Sheet({ topic: "exact", head: "drawn", tables: [["shapes", "The shape of every tensor in the forward pass"], ["equations", "Equations"], ["equations_2", "Their sizes"]] }),
      flops: new Sheet({ topic: "exact", head: "flops", charts: [["work", "FLOPs by kind of work"]], tables: [["flops", "FLOPs, part by part"]], folded: [["kinds", "FLOPs by kind of work as a table"]] }),
      memory: new Sheet({
        topic: "memory", charts: [["timeline", "Memory over time"]],
        tables: [["parts", "At the peak"], ["host", "In host RAM"], ["layers", "Layer by layer"]], folded: [["timeline", "The course of memory as a table"]],
      }),
      devices: new Sheet({
        topic: "fit", charts: [["devices", "Memory against what devices have"]],
        tables: [["devices", "Device by device"], ["more", "What helps, and how memory is shared"], ["more_2", "Further"]],
        apply: (settings) => store.change({ settings: { ...store.state.settings, ...settings } }, "go"),
      }),
      matrix: new Matrix(),
      curves: this.curves,
      compare: this.compare,
    };
    this.links = Object.entries(LABELS).map(([name, label]) => this.link(name, label));
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
    const { source, other } = this.store.state;
    const second = view === "compare" && !other ? { other: source } : {};
    this.store.change({ view, ...second }, "go");
  }

  get name() {
    const { view } = this.store.state;
    return /** @type {Name} */ (view in LABELS ? view : "overview");
  }

  /** The state changed. */
  follow() {
    const sheet = this.sheets[this.name];
    byId("view-heading").textContent = LABELS[this.name];
    for (const link of this.links) {
      if (link.dataset.view === this.name) this.mark(link);
      else link.removeAttribute("aria-current");
    }
    this.compare.follow(this.store.state);
    this.curves.follow(this.store.state);
    if (!byId("view").contains(sheet.element)) fill(byId("view"), sheet.element);
    this.address();
    this.update(sheet.topic);
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
    const sheet = this.sheets[this.name];
    const own = topic === "search" ? "fit" : topic;
    if (sheet.topic !== own) return;
    const good = this.answers.best(own);
    const bad = this.answers.bad[own];
    if (good && sheet.shown !== good) sheet.update(good);
    sheet.element.classList.toggle("stale", Boolean(bad));
    sheet.element.classList.toggle("waits", !good);
    const searching = this.name === "devices" && this.answers.busy("search");
    byId("view").setAttribute("aria-busy", String(searching || this.answers.busy(own)));
    this.trouble(bad, good);
    this.notes(good);
  }

  /**
   * @param {Answer | undefined} bad
   * @param {Answer | undefined} good
   */
  trouble(bad, good) {
    const place = byId("trouble");
    const mistake = bad?.error;
    place.hidden = !mistake;
    if (!mistake) return;
    const { line, field, fact, hint } = mistake;
    const where = [line && `line ${line}`, field].filter(Boolean).join(" · ");
    const old = good && "The figures below are the last ones without a mistake.";
    fill(place, element("strong", {}, where && element("code", {}, where), where && ": ", fact), hint && element("span", {}, hint), old && element("span", {}, old));
  }

  /** @param {Answer | undefined} good */
  notes(good) {
    const { head } = this.sheets[this.name].layout;
    const shown = head ? /** @type {any} */ (good)?.[head] ?? good : good;
    byId("assumptions").hidden = !shown?.notes?.length;
    showNotes(byId("notes"), shown?.notes ?? [], this.focus);
  }
}
