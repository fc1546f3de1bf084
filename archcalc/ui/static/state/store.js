// What the page is about at this moment, and who wants to know when that changes.
// @ts-check

/** @typedef {import("../types.js").State} State */
/** @typedef {"edit" | "go" | "restore"} Why  an edit, a step that the back button undoes, or a link that was opened */
/** @typedef {(state: State, before: State, why: Why) => void} Listener */

export class Store {
  /** @param {State} state */
  constructor(state) {
    this.state = state;
    /** @type {Listener[]} */
    this.listeners = [];
  }

  /** @param {Listener} listener */
  listen(listener) {
    this.listeners.push(listener);
  }

  /**
   * @param {Partial<State>} changes
   * @param {Why} why
   */
  change(changes, why = "edit") {
    const before = this.state;
    this.state = { ...before, ...changes };
    for (const listener of this.listeners) listener(this.state, before, why);
  }

  /**
   * One option; an empty text takes it back.
   * @param {string} name
   * @param {string} value
   */
  set(name, value) {
    const { [name]: _, ...others } = this.state.settings;
    this.change({ settings: value === "" ? others : { ...others, [name]: value } });
  }
}
