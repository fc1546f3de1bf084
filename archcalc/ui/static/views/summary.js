// The figures at a glance, above every view: parameters, peak memory, FLOPs.
// @ts-check
import { byId, element, fill } from "../dom.js";

/** @typedef {import("../answers/answers.js").Answers} Answers */
/** @typedef {import("../types.js").Answer} Answer */

/** @type {[string, string, string, (answer: any) => Answer | undefined][]} */
const TILES = [ // label, topic, the view that has more of it, and where the answer stands
  ["Parameters", "exact", "overview", (answer) => answer],
  ["Peak memory", "memory", "memory", (answer) => answer],
  ["FLOPs", "work", "flops", (answer) => answer.flops],
];

export class Summary {
  /**
   * @param {Answers} answers
   * @param {(view: string) => void} open
   */
  constructor(answers, open) {
    this.answers = answers;
    this.tiles = TILES.map(([label, topic, view, said]) => {
      const value = element("span", { class: "tile-value" }, "…");
      const more = element("span", { class: "tile-more" });
      const tile = element("button", { type: "button", class: "tile", "data-topic": topic, "data-tile": view }, element("span", { class: "tile-label" }, label), value, more);
      tile.addEventListener("click", () => open(view));
      return { label, topic, said, value, more, tile };
    });
    fill(byId("summary"), ...this.tiles.map(({ tile }) => tile));
  }

  /** @param {string} topic */
  update(topic) {
    for (const { label, topic: own, said, value, more, tile } of this.tiles) {
      if (own !== topic) continue;
      const busy = this.answers.busy(topic);
      tile.setAttribute("aria-busy", String(busy));
      const answer = topic in this.answers.good ? said(this.answers.good[topic]) : undefined;
      tile.classList.toggle("stale", Boolean(answer) && topic in this.answers.bad);
      const [first, ...rest] = answer?.clauses ?? [answer?.answer ?? (busy ? "…" : "–")];
      value.textContent = without(first, label);
      more.textContent = [...rest, !rest.length && answer?.about].filter(Boolean).join(" · ");
    }
    const title = this.answers.good.exact?.title ?? this.answers.chosen;
    byId("title").textContent = title;
    byId("kind").textContent = this.answers.good.exact?.group ?? "";
    document.title = `${title} · archcalc`;
  }
}

/**
 * A number needs no unit beneath a label that names it: `124.4 M` under Parameters.
 * @param {string} text
 * @param {string} label
 */
function without(text, label) {
  const unit = ` ${label.toLowerCase()}`;
  return text.toLowerCase().endsWith(unit) ? text.slice(0, -unit.length) : text;
}
