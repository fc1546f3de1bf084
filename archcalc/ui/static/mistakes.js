// Every mistake once: at its line or at its field where that is to be seen, else above the answers, which then say no more
// than where to look.
// @ts-check
import { byId, element, fill } from "./dom.js";

const PAUSE = 350; // milliseconds: half a word is no mistake yet

/** @typedef {import("./types.js").Mistake} Mistake */
/** @typedef {import("./answers/answers.js").Answers} Answers */

/**
 * A part of the page that takes the mistakes which are its own, shows them, and gives the others back.
 * @typedef {object} Place
 * @property {HTMLElement} within  what has to be seen for that
 * @property {(mistakes: Mistake[], asked: Asked) => Mistake[]} take
 * @property {(mistake: Mistake) => void} go
 *
 * @typedef {(topic: string, mistake: Mistake) => boolean} Asked  whether a question met that mistake
 */

export class Mistakes {
  /**
   * @param {Answers} answers
   * @param {Place[]} places
   */
  constructor(answers, places) {
    this.answers = answers;
    this.places = places;
    this.timer = 0;
  }

  follow() {
    clearTimeout(this.timer);
    const isNew = byId("trouble").hidden && Object.keys(this.answers.bad).length > 0;
    if (isNew) this.timer = window.setTimeout(() => this.show(), PAUSE);
    else this.show();
  }

  show() {
    const { bad, good } = this.answers;
    const every = Object.values(bad).flatMap(({ errors, error }) => errors ?? (error ? [error] : []));
    let left = [...new Map(every.map((mistake) => [mistake.text, mistake])).values()];
    /** @type {Asked} */
    const asked = (topic, { text }) => Boolean(bad[topic]?.errors?.some((one) => one.text === text));
    /** @type {[Mistake, Place][]} */
    const placed = [];
    for (const place of this.places) {
      const rest = place.take(place.within.checkVisibility() ? left : [], asked);
      if (!place.within.checkVisibility()) continue;
      placed.push(...left.filter((mistake) => !rest.includes(mistake)).map((mistake) => /** @type {[Mistake, Place]} */ ([mistake, place])));
      left = rest;
    }
    const box = byId("trouble");
    const old = Object.keys(bad).some((topic) => topic in good) && "Figures in grey are those before the mistake.";
    box.hidden = !left.length && !placed.length;
    fill(box, ...left.map(told), placed.length > 0 && pointer(placed), old && element("span", {}, old));
  }
}

/** @param {Mistake} mistake */
function told({ line, field, fact, hint }) {
  const where = [line && `line ${line}`, field].filter(Boolean).join(" · ");
  return element("p", {}, element("strong", {}, where && element("code", {}, where), where && ": ", fact), hint && element("span", {}, hint));
}

/** @param {[Mistake, Place][]} placed */
function pointer(placed) {
  const links = placed.slice(0, 4).map(([mistake, place]) => {
    const made = element("button", { type: "button", class: "option" }, mistake.line ? `line ${mistake.line}` : mistake.field || "the spec");
    made.addEventListener("click", () => place.go(mistake));
    return made;
  });
  return element("p", {}, "Correct what is marked at ", ...links.flatMap((link, index) => (index ? [", ", link] : [link])), " to go on.");
}
