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
    /** @type {Record<string, string>} the questions of the good answers */
    this.answered = {};
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
    const questions = this.questions.of(state);
    for (const topic of Object.keys(this.bad)) if (!(topic in questions)) this.drop(topic);
    for (const [topic, question] of Object.entries(questions)) {
      const written = JSON.stringify(question);
      if (this.asked[topic] === written) continue;
      this.asked[topic] = written;
      this.later(topic, question, typing);
    }
  }

  /**
   * A mistake in a question that nobody asks any more.
   * @param {string} topic
   */
  drop(topic) {
    delete this.bad[topic];
    delete this.asked[topic];
    this.tell(topic);
  }

  /**
   * The verdicts, with what a search added to them if it was about the same.
   * @param {string} topic
   * @returns {Answer | undefined}
   */
  best(topic) {
    const { fit, search } = this.answered;
    const same = topic === "fit" && search && search === fit?.replace('"helps":false', '"helps":true');
    return this.good[same ? "search" : topic];
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
    if (answer && !(topic in this.timers)) this.keep(topic, answer, question);
  }

  /**
   * @param {string} topic
   * @param {Answer} answer
   * @param {object} question
   */
  keep(topic, answer, question) {
    if (answer.ok) {
      this.good[topic] = answer;
      this.answered[topic] = JSON.stringify(question);
      delete this.bad[topic];
    } else this.bad[topic] = answer;
    if (answer.lost) delete this.asked[topic]; // so that the next change asks again
    this.tell(topic);
  }

  /** @param {string} topic */
  tell(topic) {
    for (const listener of this.listeners) listener(topic);
  }
}
