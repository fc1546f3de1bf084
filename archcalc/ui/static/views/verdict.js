// The answer first: the sentence that heads every answer of archcalc, and the memory that is needed, against a device.
// @ts-check
import { byId, drawing, element, fill } from "../dom.js";

/** @typedef {import("../types.js").Bar} Bar */
/** @typedef {import("../answers/answers.js").Answers} Answers */

export class Verdict {
  /**
   * @param {Answers} answers
   * @param {() => void} open  the view that has more of it
   */
  constructor(answers, open) {
    this.answers = answers;
    this.chosen = ""; // the device whose bar is shown, where somebody chose one
    /** @type {import("../types.js").Answer | undefined} */
    this.shown = undefined;
    this.value = element("p", { class: "tile-value" }, "…");
    this.more = element("p", { class: "tile-more" });
    this.bar = element("figure", { class: "memory-bar archcalc-chart" });
    this.cards = element("ul", { class: "cards", role: "list", "aria-label": "Memory by device" });
    this.link = element("button", { type: "button", class: "quiet" }, "All about devices");
    this.link.addEventListener("click", open);
    fill(byId("verdict"), element("div", { class: "verdict-line" }, this.value, this.link), this.more, this.bar, this.cards);
  }

  /** @param {string} topic */
  update(topic) {
    if (!["fit", "cards", "search"].includes(topic)) return;
    const place = byId("verdict"), busy = this.answers.busy("fit"), answer = this.answers.best("fit");
    place.setAttribute("aria-busy", String(busy || this.answers.busy("cards")));
    place.classList.toggle("stale", Boolean(answer) && "fit" in this.answers.bad);
    if (answer === this.shown && answer) return;
    this.shown = answer;
    const [verdict, ...others] = answer?.clauses ?? [busy ? "…" : "–"];
    this.value.textContent = verdict;
    this.more.textContent = others.join("; ");
    this.draw();
  }

  draw() {
    const bars = this.shown?.bars ?? [];
    const about = bars.find(({ gpu }) => gpu === this.chosen) ?? bars[this.shown?.about_bar ?? 0];
    this.bar.hidden = !about;
    this.cards.hidden = bars.length < 2;
    byId("verdict").dataset.tone = about?.tone ?? "";
    if (about) fill(this.bar, ...large(about));
    const focused = this.cards.querySelector(":focus")?.getAttribute("data-gpu");
    fill(this.cards, ...bars.map((bar) => element("li", {}, this.card(bar, bar === about))));
    if (focused) /** @type {HTMLElement | null} */ (this.cards.querySelector(`[data-gpu="${CSS.escape(focused)}"]`))?.focus();
  }

  /**
   * @param {Bar} bar
   * @param {boolean} pressed
   */
  card(bar, pressed) {
    const mark = element("span", { class: "card-mark" }, element("span", { "aria-hidden": "true" }, bar.mark), element("span", { class: "unseen" }, bar.verdict));
    const made = element("button", { type: "button", class: "card", "data-gpu": bar.gpu, "data-tone": bar.tone, "aria-pressed": String(pressed) },
      element("span", { class: "card-name" }, bar.gpu), mark, track(bar, 6), element("span", { class: "card-room" }, bar.room));
    made.classList.add("archcalc-chart");
    made.addEventListener("click", () => {
      this.chosen = bar.gpu;
      this.draw();
    });
    return made;
  }
}

/** @param {Bar} bar */
function large(bar) {
  const said = `${bar.gpu} needs ${bar.needed} of ${bar.memory}: ${bar.parts.map(({ name, size }) => `${name} ${size}`).join(", ")}`;
  const head = element("figcaption", {}, element("b", {}, bar.gpu), element("span", {}, `${bar.needed} of ${bar.memory}`), element("span", { class: "bar-room" }, `${bar.mark} ${bar.room}`));
  const drawn = element("div", { role: "img", "aria-label": said }, track(bar, 30));
  const keys = bar.parts.map(({ name, size, exact, ink }) => {
    const square = drawing("svg", { class: "key", "aria-hidden": "true", width: 10, height: 10 }, drawing("rect", { width: 10, height: 10, rx: 2, class: ink ? `f-${ink}` : "free" }));
    return element("li", { title: exact }, square, ` ${name} `, element("b", {}, size));
  });
  return [head, drawn, element("ul", { class: "keys", role: "list" }, ...keys)];
}

/**
 * @param {Bar} bar
 * @param {number} height
 */
function track(bar, height) {
  let at = 0;
  const parts = bar.parts.map(({ name, size, exact, share, ink }) => {
    const wide = Math.max(share * 100, 0), x = at;
    at += wide;
    const hint = drawing("title", {}, `${name}: ${size}, ${exact}`);
    return drawing("rect", { x: `${x}%`, width: `${wide}%`, y: 0, height, class: ink ? `f-${ink}` : "free", "data-part": name }, hint);
  });
  const limit = bar.limit < 1 && drawing("rect", { x: `${bar.limit * 100}%`, width: 2, y: 0, height, class: "limit" });
  return drawing("svg", { class: "track", "aria-hidden": "true", width: "100%", height }, ...parts, limit);
}
