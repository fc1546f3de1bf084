// Who answers the page: archcalc on this machine, or archcalc inside the page (Pyodide, in web workers).
// @ts-check
import { Prepared } from "./answers/prepared.js";

/** @typedef {(question: object, signal?: AbortSignal) => Promise<any>} Ask */
/** @typedef {(text: string, share: number | null) => void} Progress */
/** @typedef {{server?: boolean, address?: string, pyodide?: string, archive?: string, answers?: ConstructorParameters<typeof Prepared>[0]}} Site */

const TOKEN = "archcalc-token";
const SEARCHES = ["plot", "report"];
const PAINTED = 100; // milliseconds in which a page with prepared answers is drawn

/**
 * A function that answers questions. An answer to a question that was aborted has `stale`; one of a connection that
 * broke has `lost`.
 * @param {Progress} progress
 * @returns {Promise<{site: Site, ask: Ask}>}
 */
export async function connect(progress) {
  const written = document.getElementById("site")?.textContent; // of a page that is served without a program
  /** @type {Site} */
  const site = written ? JSON.parse(written) : await (await fetch("site.json")).json();
  if (!site.server) return { site, ask: inside(site, progress) };
  progress("Starting archcalc …", null);
  return { site, ask: local() };
}

/**
 * @param {string} fact
 * @param {string} hint
 */
function lost(fact, hint) {
  const error = { fact, hint, where: "", line: null, field: "", text: `${fact}\n  ${hint}` };
  return { ok: false, error, errors: [error], lost: true };
}

const STALE = { ok: false, stale: true };

/** @returns {Ask} */
function local() {
  const token = ownToken();
  return async (question, signal) => {
    const headers = { "Content-Type": "application/json", "X-Archcalc-Token": token };
    try {
      const answer = await fetch("ask", { method: "POST", headers, body: JSON.stringify(question), signal });
      return await answer.json();
    } catch {
      return signal?.aborted ? STALE : lost("archcalc does not answer", "is `archcalc ui` still running?");
    }
  };
}

/** The token of the address, which is then taken out of it: whoever copies the address need not have it. */
function ownToken() {
  const address = new URL(location.href);
  const given = address.searchParams.get("token");
  if (given) {
    localStorage.setItem(TOKEN, given);
    address.searchParams.delete("token");
    history.replaceState(history.state, "", address);
  }
  return localStorage.getItem(TOKEN) ?? "";
}

/**
 * Quick questions and searches have a worker each, so that a search holds nothing up. The first begins once the page
 * stands, the other when it is needed.
 * @param {Site} site
 * @param {Progress} progress
 * @returns {Ask}
 */
function inside({ answers, ...site }, progress) {
  const prepared = new Prepared(answers ?? []);
  const quick = new Inside(site, progress);
  const searches = new Inside(site, () => {});
  setTimeout(() => quick.begin(), PAINTED);
  return async (question, signal) => {
    const { ask, helps } = /** @type {{ask?: string, helps?: boolean}} */ (question);
    const known = prepared.find(question);
    if (known) return known;
    const isSearch = SEARCHES.includes(ask ?? "") || (ask === "fit" && helps !== false);
    return (isSearch ? searches : quick).ask(question, signal);
  };
}

/** A worker, started on use; one that is interrupted begins anew. */
class Inside {
  /**
   * @param {Site} site
   * @param {Progress} progress
   */
  constructor(site, progress) {
    this.site = site;
    this.progress = progress;
    this.last = 0;
    /** @type {Worker | null} */
    this.worker = null;
    /** @type {Map<number, (answer: any) => void>} */
    this.open = new Map();
  }

  begin() {
    this.worker ??= this.begun();
  }

  begun() {
    const worker = new Worker(new URL("worker.js", import.meta.url), { type: "module" });
    worker.onmessage = ({ data }) => (data.progress ? this.progress(data.text, data.share) : this.close(data.id, data.answer));
    worker.onerror = () => {
      const answer = lost("archcalc did not start in this page", "load the page again, or use another browser");
      this.progress(answer.error.text, 0);
      this.drop(answer);
    };
    worker.postMessage({ site: { ...this.site, base: document.baseURI } });
    return worker;
  }

  /**
   * @param {object} question
   * @param {AbortSignal} [signal]
   */
  ask(question, signal) {
    return new Promise((done) => {
      const id = ++this.last;
      this.open.set(id, done);
      signal?.addEventListener("abort", () => this.abort(id));
      const worker = (this.worker ??= this.begun());
      worker.postMessage({ id, question: JSON.stringify(question) });
    });
  }

  /**
   * A worker cannot be interrupted, only ended; where others wait for it, it goes on.
   * @param {number} id
   */
  abort(id) {
    if (!this.open.has(id)) return;
    if (this.open.size === 1) this.drop(STALE);
    else this.close(id, STALE);
  }

  /**
   * @param {number} id
   * @param {any} answer
   */
  close(id, answer) {
    const done = this.open.get(id);
    this.open.delete(id);
    done?.(typeof answer === "string" ? JSON.parse(answer) : answer);
  }

  /** @param {any} answer  of all that wait */
  drop(answer) {
    this.worker?.terminate();
    this.worker = null;
    for (const id of [...this.open.keys()]) this.close(id, answer);
  }
}
