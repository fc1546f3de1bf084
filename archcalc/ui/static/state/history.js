// The address follows the state, and the state follows the back and forward buttons.
// @ts-check
import { fragment, restored } from "./link.js";

/** @typedef {import("../types.js").State} State */
/** @typedef {import("./store.js").Store} Store */

const PAUSE = 250; // milliseconds: browsers refuse an address that changes with every letter

export class History {
  /**
   * @param {Store} store
   * @param {State} usual  what links need not say
   * @param {string} [page]  the address at which others find it
   */
  constructor(store, usual, page) {
    this.store = store;
    this.usual = usual;
    this.page = page;
    this.timer = 0; // of an edit that the address does not have yet
    this.turn = Promise.resolve(); // addresses are packed one after the other
    store.listen((state, before, why) => this.follow(state, before, why));
    window.addEventListener("popstate", () => this.restore());
  }

  /**
   * @param {State} state
   * @param {State} before
   * @param {import("./store.js").Why} why
   */
  follow(state, before, why) {
    const late = this.timer;
    clearTimeout(late);
    this.timer = 0;
    if (why === "edit") this.timer = window.setTimeout(() => this.write(this.store.state, false), PAUSE);
    if (why === "go" && late) this.write(before, false);
    if (why === "go") this.write(state, true);
  }

  /**
   * @param {State} state
   * @param {boolean} anew
   */
  write(state, anew) {
    this.timer = 0;
    this.turn = this.turn.then(async () => {
      const address = await fragment(state, this.usual);
      if (address === location.hash) return;
      if (anew) history.pushState(null, "", address);
      else history.replaceState(null, "", address);
    });
  }

  /** The whole address of the state as it is now. */
  async address() {
    return (this.page || location.href.replace(/#.*$/, "")) + (await fragment(this.store.state, this.usual));
  }

  async restore() {
    clearTimeout(this.timer);
    this.timer = 0;
    this.store.change(await opened(this.usual), "restore");
  }
}

/**
 * The state that the address asks for; the usual one if it cannot be read.
 * @param {State} usual
 * @returns {Promise<State>}
 */
export async function opened(usual) {
  try {
    return await restored(location.hash, usual);
  } catch {
    return usual;
  }
}
