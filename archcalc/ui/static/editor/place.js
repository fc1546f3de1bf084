// Where in a YAML text the cursor stands: within which fields, and at a field's name or at its value.
// @ts-check

/**
 * @typedef {object} Place
 * @property {string[]} path  the fields around it; "[]" for an item of a list
 * @property {boolean} value  at a value, not at a name
 * @property {string} word  what is written of it so far
 * @property {number} from  where that word starts
 * @property {boolean} flow  within braces or brackets
 */

/** @typedef {{bracket: string, key: string}} Level */
/** @typedef {{indent: number, key: string}} Block */

const NAME = /^("[^"]*"|'[^']*'|[^\s#:,[\]{}][^#:,[\]{}]*?)\s*:(?=\s|$)/;

/**
 * @param {string} text
 * @param {number} caret
 * @returns {Place | null} null within a comment
 */
export function place(text, caret) {
  const walk = new Walk();
  const lines = text.slice(0, caret).split("\n");
  let start = 0;
  for (const line of lines.slice(0, -1)) {
    walk.line(line);
    start += line.length + 1;
  }
  return walk.last(lines[lines.length - 1], start);
}

class Walk {
  constructor() {
    /** @type {Block[]} */
    this.blocks = [];
    /** @type {Level[]} */
    this.levels = [];
    this.key = ""; // whose value is being written, within braces
  }

  /** @param {string} line */
  line(line) {
    const bare = line.replace(/(^|\s)#.*$/, "");
    if (bare.trim()) this.flow(this.levels.length ? bare : this.block(bare));
  }

  /**
   * Enter the field of a line, and give what is left of it.
   * @param {string} line
   */
  block(line) {
    let indent = line.length - line.trimStart().length;
    let rest = line.trimStart();
    this.leave(indent, rest.startsWith("-"));
    for (let dash = /^-(\s+|$)/.exec(rest); dash; dash = /^-(\s+|$)/.exec(rest)) {
      this.blocks.push({ indent, key: "[]" });
      indent += dash[0].length;
      rest = rest.slice(dash[0].length);
    }
    const named = NAME.exec(rest);
    if (!named) return rest;
    this.blocks.push({ indent, key: unquoted(named[1]) });
    return rest.slice(named[0].length);
  }

  /**
   * Leave the fields that end before this line; an item may stand right below the field whose list it is in.
   * @param {number} indent
   * @param {boolean} item
   */
  leave(indent, item) {
    const ends = (/** @type {Block} */ block) => block.indent > indent || !(item && block.key !== "[]");
    for (let last = this.blocks.at(-1); last && last.indent >= indent && ends(last); last = this.blocks.at(-1)) this.blocks.pop();
  }

  /** @param {string} text */
  flow(text) {
    let word = "";
    for (const letter of text.replace(/"[^"]*"|'[^']*'/g, (quoted) => "q".repeat(quoted.length))) {
      if ("{[".includes(letter)) this.levels.push({ bracket: letter, key: this.key });
      if ("}]".includes(letter)) this.key = this.levels.pop()?.key ?? "";
      if (letter === ":") this.key = word.trim();
      else if (letter === ",") this.key = "";
      if ("{[".includes(letter)) this.key = "";
      word = "{[,:".includes(letter) ? "" : word + letter;
    }
  }

  /**
   * The line that the cursor is in, up to the cursor.
   * @param {string} line
   * @param {number} start
   * @returns {Place | null}
   */
  last(line, start) {
    if (/(^|\s)#/.test(line)) return null;
    const rest = this.levels.length ? line : this.block(line);
    this.flow(rest);
    const word = /[^\s,[\]{}:]*$/.exec(line)?.[0] ?? "";
    const flow = this.levels.length > 0;
    const value = flow ? this.valued() : /:\s/.test(line);
    return { path: this.path(), value, word, from: start + line.length - word.length, flow };
  }

  valued() {
    return this.key !== "" || this.levels.at(-1)?.bracket === "[";
  }

  path() {
    const around = this.blocks.map(({ key }) => key);
    const inner = this.levels.flatMap(({ bracket, key }) => [key, bracket === "[" ? "[]" : ""]);
    return [...around, ...inner, this.key].filter(Boolean);
  }
}

/** @param {string} name */
function unquoted(name) {
  return name.replace(/^["']|["']$/g, "");
}
