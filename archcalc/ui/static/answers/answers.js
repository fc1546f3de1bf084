// The newest answers: the last good one of each topic, the mistake that a newer question met, and what is being computed.
// A good one is kept while its own model is edited, and never beyond: not under the name of another model or other GPUs.
// @ts-check
import { Asker } from "./asker.js";
import { MORE, SLOW } from "./questions.js";

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
    this.chosen = ""; // what the model is called until an answer names it
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
    if (!typing) this.leave(state);
    for (const topic of Object.keys(this.bad)) if (!(topic in questions)) this.drop(topic);
    for (const [topic, question] of Object.entries(questions)) {
      const written = JSON.stringify(question);
      if (this.asked[topic] === written) continue;
      this.asked[topic] = written;
      this.later(topic, question, typing);
    }
  }

  /**
   * Another model or other GPUs were chosen: what was said of the former ones goes.
   * @param {State} state
   */
  leave({ source, other, gpus }) {
    this.chosen = "preset" in source ? source.preset : source.file;
    const now = { source, sources: other ? [source, other] : [source], gpus };
    const topics = Object.keys({ ...this.asked, ...this.good });
    const former = topics.filter((topic) => !isAbout(this.asked[topic] ?? this.answered[topic], now));
    for (const topic of former) {
      delete this.bad[topic];
      delete this.asked[topic];
    }
    this.unshow(former);
  }

  /**
   * The page is called as the exact answer says: what is about another model and wrong, or about another name, goes.
   * @param {boolean} renamed
   */
  settle(renamed) {
    const named = this.asked.exact === this.answered.exact ? model(this.answered.exact) : "";
    if (!named) return;
    const former = Object.keys(this.good).filter((topic) => {
      const refused = topic in this.bad && model(this.asked[topic]) === named;
      return (renamed || refused) && model(this.answered[topic]) !== named;
    });
    this.unshow(former);
  }

  /**
   * All of them at once, and only then who listens is told.
   * @param {string[]} topics
   */
  unshow(topics) {
    for (const topic of topics) {
      delete this.good[topic];
      delete this.answered[topic];
    }
    for (const topic of topics) this.tell(topic);
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
   * The verdicts, with what was asked of them besides if that was about the same.
   * @param {string} topic
   * @returns {Answer | undefined}
   */
  best(topic) {
    const fit = topic === "fit" && this.answered.fit;
    if (!fit) return this.good[topic];
    const added = Object.entries(MORE).find(([name, more]) => this.answered[name] === JSON.stringify({ ...JSON.parse(fit), ...more }));
    return this.good[added?.[0] ?? topic];
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
    if (this.asked[topic] !== JSON.stringify(question)) return; // another model was chosen meanwhile
    const { title } = this.good.exact ?? {};
    if (answer.ok) {
      this.good[topic] = answer;
      this.answered[topic] = this.asked[topic];
      delete this.bad[topic];
    } else this.bad[topic] = answer;
    this.settle(topic === "exact" && answer.ok && answer.title !== title);
    if (answer.lost) delete this.asked[topic]; // so that the next change asks again
    this.tell(topic);
  }

  /** @param {string} topic */
  tell(topic) {
    for (const listener of this.listeners) listener(topic);
  }
}

/**
 * The model that a question is about.
 * @param {string | undefined} question
 */
function model(question) {
  const { source, sources } = JSON.parse(question ?? "{}");
  return JSON.stringify(source ?? sources?.[0] ?? "");
}

/**
 * @param {string} question
 * @param {Record<string, unknown>} now
 */
function isAbout(question, now) {
  const asked = JSON.parse(question);
  return Object.keys(now).every((key) => !(key in asked) || JSON.stringify(asked[key]) === JSON.stringify(now[key]));
}
