// Memory over a step as areas of parts on top of each other, with the peak, a cursor, and a line of what was asked.
// @ts-check
(() => {
  "use strict";

  const SPACE = "http://www.w3.org/2000/svg";
  const HIGH = 260; // of the area
  const [LEFT, RIGHT, TOP, BENEATH] = [64, 8, 26, 24];
  const MORPH = 400; // milliseconds
  const UNITS = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB", "ZiB"];

  /** @typedef {{key: string, label: string, ink: string}} Part */

  /** As archcalc writes it everywhere: four digits. @param {number} size */
  function binary(size) {
    let [value, unit] = [size, 0];
    for (; Math.round(value * 10) / 10 >= 1024 && unit < UNITS.length - 1; unit++) value /= 1024;
    const places = unit === 0 ? 0 : value >= 100 ? 1 : 2;
    return `${value.toLocaleString("en", { minimumFractionDigits: places, maximumFractionDigits: places })} ${UNITS[unit]}`;
  }

  /** @param {string} tag @param {Record<string, string | number>} [attributes] @param {(Node | string)[]} inside */
  function html(tag, attributes = {}, ...inside) {
    return filled(document.createElement(tag), attributes, inside);
  }

  /** @param {string} tag @param {Record<string, string | number>} [attributes] @param {(Node | string)[]} inside */
  function svg(tag, attributes = {}, ...inside) {
    return filled(document.createElementNS(SPACE, tag), attributes, inside);
  }

  /** @param {any} made @param {Record<string, string | number>} attributes @param {(Node | string)[]} inside */
  function filled(made, attributes, inside) {
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
    made.append(...inside);
    return made;
  }

  class Picture {
    /** @param {Part[]} parts @param {any} asked  the timeline of the run itself */
    constructor(parts, asked) {
      this.parts = parts;
      this.asked = asked;
      this.line = asked;
      this.element = svg("svg", { "aria-hidden": "true" });
      this.bare = false; // without what is there throughout
      this.frame = 0;
      this.wide = 0;
      this.cursor = 0;
    }

    /** At once. @param {number} wide */
    resize(wide) {
      this.wide = wide;
      cancelAnimationFrame(this.frame);
      this.draw(this.sampled(this.line), this.top());
    }

    /** From what is seen to another area; at once for those who want no motion. @param {any} line @param {boolean} bare */
    show(line, bare) {
      cancelAnimationFrame(this.frame);
      [this.line, this.bare] = [line, bare];
      const [from, to] = [this.heights ?? [], this.sampled(line)];
      const [low, high] = [this.scale ?? this.top(), this.top()];
      const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
      const begin = performance.now();
      const step = (/** @type {number} */ now) => {
        const part = still ? 1 : Math.min(Math.max(now - begin, 0) / MORPH, 1);
        const eased = 1 - (1 - part) ** 3;
        const heights = to.map((row, at) => row.map((value, pixel) => from[at][pixel] + (value - from[at][pixel]) * eased));
        this.draw(heights, low + (high - low) * eased);
        if (part < 1) this.frame = requestAnimationFrame(step);
      };
      step(begin);
    }

    get room() {
      return Math.max(this.wide - LEFT - RIGHT, 100);
    }

    /** Bytes beneath the ground: none, or all that is there throughout. @param {any} line */
    ground(line) {
      return this.bare ? line.base : 0;
    }

    /** Bytes at the top: the higher one of what is shown and what was asked. */
    top() {
      return Math.max(...[this.line, this.asked].map((line) => line.most - this.ground(line))) || 1;
    }

    /** Of every pixel the fullest column in it, part on part. @param {any} line @returns {number[][]} */
    sampled({ totals, levels, start }) {
      const columns = Array.from({ length: Math.ceil(this.room) }, (_, pixel) => {
        const first = Math.min(Math.floor((pixel * totals.length) / this.room), totals.length - 1);
        const end = Math.min(Math.max(Math.floor(((pixel + 1) * totals.length) / this.room), first + 1), totals.length);
        let best = first;
        for (let place = first; place < end; place++) if (totals[place] > totals[best]) best = place;
        return best;
      });
      let below = columns.map(() => 0);
      return this.parts.map(({ key }) => {
        const hidden = this.bare ? start[key] ?? 0 : 0;
        return (below = columns.map((column, pixel) => below[pixel] + levels[key][column] - hidden));
      });
    }

    /** @param {number[][]} heights @param {number} scale */
    draw(heights, scale) {
      [this.heights, this.scale] = [heights, scale];
      const { line, element, wide } = this;
      const y = (/** @type {number} */ value) => TOP + HIGH - (value / scale) * HIGH;
      const high = TOP + HIGH + BENEATH;
      filled(element, { viewBox: `0 0 ${wide} ${high}`, width: wide, height: high }, []);
      const areas = this.parts.flatMap(({ key, ink }, at) => {
        if (!heights[at].some((value, pixel) => value > (heights[at - 1]?.[pixel] ?? 0))) return [];
        return [svg("path", { d: `${outline(heights[at], y)}V${y(0)}H${LEFT}Z`, class: "area", fill: `var(--${ink})`, "data-part": key })];
      });
      const ghost = line === this.asked ? [] : [svg("path", { d: outline(this.sampled(this.asked).at(-1) ?? [], y), class: "ghost" })];
      this.mark = svg("path", { class: "cursor" });
      element.replaceChildren(...this.axis(y, scale), ...areas.reverse(), ...ghost, ...this.phases(), ...this.peak(y), this.mark);
      this.point(this.cursor);
    }

    /** @param {(value: number) => number} y */
    peak(y) {
      const [x, at] = [this.edge(this.line.peak + 0.5), y(this.line.most - this.ground(this.line))];
      const side = x > LEFT + this.room / 2 ? { x: x - 8, "text-anchor": "end" } : { x: x + 8 };
      return [svg("circle", { cx: x, cy: at, r: 4, class: "peak" }), svg("text", { ...side, y: at - 9, class: "peak-words" }, `peak ${binary(this.line.most)}`)];
    }

    /** @param {(value: number) => number} y @param {number} scale */
    axis(y, scale) {
      const unit = 1024 ** Math.max(Math.floor(Math.log(scale) / Math.log(1024)), 0);
      const rough = scale / unit / 4;
      const power = 10 ** Math.floor(Math.log10(rough));
      const step = unit * power * ([1, 2, 5].find((each) => each * power >= rough) ?? 10);
      const values = Array.from({ length: Math.floor(scale / step) + 1 }, (_, place) => place * step);
      const [sign, ground] = this.bare ? ["+", binary(this.line.base)] : ["", "0"];
      return values.flatMap((value) => [
        svg("path", { d: `M${LEFT} ${y(value)}H${LEFT + this.room}`, class: "grid" }),
        svg("text", { x: LEFT - 8, y: y(value) + 4, class: "tick", "text-anchor": "end" }, value ? sign + binary(value).replace(/\.?0+(?= )/, (zeros) => (zeros[0] === "." ? "" : zeros)) : ground),
      ]);
    }

    /** Their names beneath the ground, where there is room. */
    phases() {
      const { line } = this;
      const found = [];
      for (let begin = 0, place = 1; place <= line.columns.length; place++) {
        const { phase } = line.at(begin);
        if (place < line.columns.length && line.at(place).phase === phase) continue;
        const [from, to] = [this.edge(begin), this.edge(place)];
        found.push(svg("path", { d: `M${from + 1} ${TOP + HIGH + 5}H${Math.max(to - 1, from + 2)}`, class: "phase" }));
        if (to - from > 7.5 * phase.length) found.push(svg("text", { x: (from + to) / 2, y: TOP + HIGH + 20, class: "tick", "text-anchor": "middle" }, phase));
        begin = place;
      }
      return found;
    }

    /** Where a column begins. @param {number} column */
    edge(column) {
      return LEFT + (column * this.room) / this.line.columns.length;
    }

    /** The column beneath a place on the screen. @param {number} x */
    columnAt(x) {
      const { columns } = this.line;
      const column = Math.floor(((x - this.element.getBoundingClientRect().left - LEFT) / this.room) * columns.length);
      return Math.min(Math.max(column, 0), columns.length - 1);
    }

    /** The cursor at a column. @param {number} column */
    point(column) {
      this.cursor = column;
      this.mark?.setAttribute("d", `M${this.edge(column + 0.5)} ${TOP - 6}V${TOP + HIGH}`);
    }
  }

  /** A line of steps, pixel by pixel. @param {number[]} values @param {(value: number) => number} y */
  function outline(values, y) {
    const steps = values.map((value, pixel) => (pixel && value === values[pixel - 1] ? "" : `H${LEFT + pixel}V${y(value).toFixed(2)}`));
    return `M${LEFT} ${y(values[0] ?? 0).toFixed(2)}${steps.join("")}H${LEFT + values.length}`;
  }

  Object.assign(window, { archcalcPicture: { Picture, binary, html, svg } });
})();
