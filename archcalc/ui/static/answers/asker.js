// Questions to archcalc: the newest of each topic counts, and slow ones wait for quick ones.
// @ts-check

/** @typedef {import("../types.js").Ask} Ask */
/** @typedef {import("../types.js").Answer} Answer */
/** @typedef {{question: object, done: (answer: Answer | null) => void}} Asked */

export class Asker {
  /**
   * @param {Ask} ask
   * @param {string[]} slow  topics of which one is asked at a time, the first ones first
   */
  constructor(ask, slow) {
    this.ask = ask;
    this.slow = slow;
    /** @type {Map<string, Asked>} */
    this.waiting = new Map();
    /** @type {Map<string, AbortController>} */
    this.running = new Map();
  }

  /**
   * The answer, or null if a newer question of the same topic came meanwhile.
   * @param {string} topic
   * @param {object} question
   * @returns {Promise<Answer | null>}
   */
  latest(topic, question) {
    this.forget(topic);
    if (this.slow.includes(topic)) this.running.get(topic)?.abort();
    return new Promise((done) => {
      this.waiting.set(topic, { question, done });
      this.next();
    });
  }

  /**
   * Drop the question of this topic that waits.
   * @param {string} topic
   */
  forget(topic) {
    this.waiting.get(topic)?.done(null);
    this.waiting.delete(topic);
  }

  next() {
    for (const topic of [...this.waiting.keys()].filter((one) => !this.slow.includes(one))) this.start(topic);
    if (this.running.size) return;
    const topic = this.slow.find((one) => this.waiting.has(one));
    if (topic) this.start(topic);
  }

  /** @param {string} topic */
  async start(topic) {
    const asked = this.waiting.get(topic);
    if (!asked || this.running.has(topic)) return;
    this.waiting.delete(topic);
    const controller = new AbortController();
    this.running.set(topic, controller);
    const answer = await this.ask(asked.question, controller.signal);
    this.running.delete(topic);
    asked.done(this.waiting.has(topic) || answer.stale ? null : answer);
    this.next();
  }
}
