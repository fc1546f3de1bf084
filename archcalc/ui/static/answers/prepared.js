// Answers that came with the page, so that what it shows first waits for nothing.
// @ts-check

/** @typedef {import("../types.js").Answer} Answer */
/** @typedef {{wide?: number}} Question */

export class Prepared {
  /** @param {{question: Question, answer: Answer}[]} known */
  constructor(known) {
    /** @type {Map<string, {wide: number, answer: Answer}[]>} */
    this.known = new Map();
    for (const { question, answer } of known) {
      const same = this.known.get(key(question)) ?? [];
      this.known.set(key(question), [...same, { wide: question.wide ?? 0, answer }]);
    }
  }

  /**
   * The answer, its pictures drawn for about that width.
   * @param {Question} question
   * @returns {Answer | undefined}
   */
  find(question) {
    const wide = question.wide ?? 0;
    const [nearest] = (this.known.get(key(question)) ?? []).toSorted((one, two) => Math.abs(one.wide - wide) - Math.abs(two.wide - wide));
    return nearest?.answer;
  }
}

/** @param {Question} question */
function key(question) {
  return JSON.stringify({ ...question, wide: 0 });
}
