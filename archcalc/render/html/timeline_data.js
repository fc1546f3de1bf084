// Memory over a step as a page has it, packed: what is alive at which op, of every run of a loop.
// @ts-check
(() => {
  "use strict";

  /**
   * @typedef {object} Packed  one combination of switches; lists of numbers are places in `shared`
   * @property {Record<string, number>} start  bytes that are there throughout, by part
   * @property {number[]} ops
   * @property {number} layers
   * @property {[number, number, number][]} loops  first op, how many, how often
   * @property {[number, number][]} tensors
   * @property {string} why
   *
   * @typedef {{name: string, part: string, shape: number[], dtype: string, bytes: number, steps: [number, number][]}} Tensor
   * @typedef {{weights: [number, number][], run: string}} Column  ops that a column is made of, and how much of each
   */

  const MOST = 8000; // columns: of a loop with more runs, some are shown
  const ROOMS = [Infinity, 96, 48, 24, 12, 6, 3, 2];

  class Line {
    /** @param {Packed} packed @param {any[]} shared @param {string[]} parts */
    constructor(packed, shared, parts) {
      this.start = packed.start;
      this.why = packed.why;
      this.loops = packed.loops;
      this.ops = packed.ops.map((place) => shared[place]);
      this.layers = pairs(shared[packed.layers]).flatMap(([times, layer]) => Array(times).fill(layer));
      /** @type {Tensor[]} */
      this.tensors = packed.tensors.map(([look, steps]) => {
        const [name, part, shape, dtype, bytes] = shared[look];
        return { name, part, shape, dtype, bytes, steps: places(pairs(shared[steps])) };
      });
      const wanted = ROOMS.find((room) => (this.columns = this.expanded(0, this.ops.length, room)).length <= MOST);
      this.columns ??= this.expanded(0, this.ops.length, wanted ?? 2);
      this.levels = this.summed(parts);
      this.totals = this.columns.map((_, place) => parts.reduce((sum, part) => sum + this.levels[part][place], 0));
      this.most = this.totals.reduce((most, total) => Math.max(most, total), 0);
      this.base = Object.values(this.start).reduce((sum, size) => sum + size, 0);
      this.peak = this.totals.indexOf(this.most);
    }

    /**
     * Every op from `from` to `to`, with as many runs of each loop as there is room for: what lies between the first
     * run and the last is evenly between them.
     * @param {number} from @param {number} to @param {number} room @returns {Column[]}
     */
    expanded(from, to, room) {
      const found = [];
      for (let op = from; op < to;) {
        const inside = this.loops.filter(([first, length]) => first === op && first + 2 * length <= to);
        const [, length, times] = inside.reduce((most, one) => (one[1] > most[1] ? one : most), [op, 0, 0]);
        if (!length) {
          found.push({ weights: /** @type {[number, number][]} */ ([[op, 1]]), run: "" });
          op += 1;
          continue;
        }
        const first = this.expanded(op, op + length, room);
        const last = this.expanded(op + length, op + 2 * length, room);
        for (const run of evenly(times, room)) found.push(...first.map((column, place) => between(column, last[place], run, times)));
        op += 2 * length;
      }
      return found;
    }

    /** Bytes by part and column. @param {string[]} parts @returns {Record<string, number[]>} */
    summed(parts) {
      /** @type {Record<string, number[]>} */
      const changes = Object.fromEntries(parts.map((part) => [part, Array(this.ops.length + 1).fill(0)]));
      for (const { part, bytes, steps } of this.tensors) {
        let before = 0;
        for (const [op, copies] of steps) {
          changes[part][op] += (copies - before) * bytes;
          before = copies;
        }
      }
      return Object.fromEntries(parts.map((part) => {
        let level = this.start[part] ?? 0;
        const levels = changes[part].map((change) => (level += change));
        return [part, this.columns.map((column) => weighed(column, (op) => levels[op]))];
      }));
    }

    /** What is alive in a column, the largest first. @param {number} place */
    alive(place) {
      const found = this.tensors.map((tensor) => ({ tensor, copies: this.copies(tensor, place) })).filter(({ copies }) => copies);
      return found.sort((one, other) => other.copies * other.tensor.bytes - one.copies * one.tensor.bytes);
    }

    /** @param {Tensor} tensor @param {number} place */
    copies({ steps }, place) {
      return weighed(this.columns[place], (op) => steps.findLast(([from]) => from <= op)?.[1] ?? 0);
    }

    /** The first column and the last in which there is any of it, around one. @param {Tensor} tensor @param {number} place */
    life(tensor, place) {
      let [born, dies] = [place, place];
      while (born > 0 && this.copies(tensor, born - 1)) born -= 1;
      while (dies < this.columns.length - 1 && this.copies(tensor, dies + 1)) dies += 1;
      return { born, dies };
    }

    /** @param {number} place */
    at(place) {
      const column = this.columns[place];
      const [phase, path, op] = this.ops[column.weights[0][0]];
      const layer = weighed(column, (one) => this.layers[one]);
      return { phase, path, op, layer, run: layer ? "" : column.run };
    }
  }

  /** @param {Column} first @param {Column} last @param {number} run @param {number} times @returns {Column} */
  function between(first, last, run, times) {
    const part = run / (times - 1);
    const all = [...first.weights.map(([op, weight]) => [op, weight * (1 - part)]), ...last.weights.map(([op, weight]) => [op, weight * part])];
    const weights = /** @type {[number, number][]} */ (all.filter(([, weight]) => weight));
    return { weights, run: first.run || `${(run + 1).toLocaleString("en")} of ${times.toLocaleString("en")} equal runs` };
  }

  /** @param {Column} column @param {(op: number) => number} value */
  function weighed({ weights }, value) {
    return Math.round(weights.reduce((sum, [op, weight]) => sum + weight * value(op), 0));
  }

  /** @param {number} times @param {number} room */
  function evenly(times, room) {
    const most = Math.min(times, room);
    return Array.from({ length: most }, (_, place) => Math.round((place * (times - 1)) / (most - 1)));
  }

  /** @param {number[]} values @returns {[number, number][]} */
  function pairs(values) {
    return Array.from({ length: values.length / 2 }, (_, place) => [values[2 * place], values[2 * place + 1]]);
  }

  /** From how many ops later to at which. @param {[number, number][]} steps */
  function places(steps) {
    let op = 0;
    return steps.map(([later, copies]) => /** @type {[number, number]} */ ([(op += later), copies]));
  }

  Object.assign(window, { archcalcLine: Line });
})();
