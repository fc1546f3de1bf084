// The newest answers: the last good one of each topic, the mistake that a newer question met, and what is being computed.
// @ts-check
import { Asker } from "./asker.js";
import { SLOW } from "./questions.js";

/** @typedef {import("../types.js").Answer} Answer */
/** @typedef {import("../types.js").State} State */

const TYPING = 20; // milliseconds without another letter before exact figures are asked for
const RESTING = 160; // … and before peaks are

export class Answers {
  /**
   * @param {import("../types.js").Ask} ask
   * @param {import("./questions.js").Questions} questions
   */
  constructor(ask, questions) {
    this.asker = new Asker(ask, SLOW);
    this.questions = questions;
    /** @type {Record<string, Answer>} */
    this.good = {};
    /** @type {Record<string, Answer>} */
    this.bad = {};
    /** @type {Record<string, string>} questions as they were asked last, so that none is asked twice */
    this.asked = {};
    /** @type {Record<string, number>} */
    this.timers = {};
    /** @type {((topic: string) => void)[]} */
    this.listeners = [];
  }

  /** @param {(topic: string) => void} listener */
  listen(listener) {
    this.listeners.push(listener);
  }

  /** @param {string} topic */
  busy(topic) {
    return topic in this.timers || this.asker.running.has(topic) || this.asker.waiting.has(topic);
  }

  /**
   * Ask whatever the state needs and does not have.
   * @param {State} state
   * @param {boolean} typing
   */
  follow(state, typing) {
    for (const [topic, question] of Object.entries(this.questions.of(state))) {
      const written = JSON.stringify(question);
      if ([written, JSON.stringify({ ...question, helps: true })].includes(this.asked[topic])) continue;
      this.asked[topic] = written;
      this.later(topic, question, typing);
    }
  }

  /**
   * @param {string} topic
   * @param {object} question
   * @param {boolean} typing
   */
  later(topic, question, typing) {
    clearTimeout(this.timers[topic]);
    this.asker.forget(topic);
    const pause = SLOW.includes(topic) ? RESTING : TYPING;
    this.timers[topic] = window.setTimeout(() => this.now(topic, question), typing ? pause : 0);
    this.tell(topic);
  }

  /**
   * @param {string} topic
   * @param {object} question
   */
  async now(topic, question) {
    delete this.timers[topic];
    const answer = await this.asker.latest(topic, question);
    if (answer && !(topic in this.timers)) this.keep(topic, answer);
  }

  /**
   * @param {string} topic
   * @param {Answer} answer
   */
  keep(topic, answer) {
    if (answer.ok) {
      this.good[topic] = answer;
      delete this.bad[topic];
    } else this.bad[topic] = answer;
    this.tell(topic);
  }

  /** @param {string} topic */
  tell(topic) {
    for (const listener of this.listeners) listener(topic);
  }
}
