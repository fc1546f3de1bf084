// Memory over a step with a scrubber: drag, or the arrow keys, and see what is alive; switches morph the area.
// @ts-check
(() => {
  "use strict";

  const SPACE = "http://www.w3.org/2000/svg";
  const HIGH = 260; // of the area
  const [LEFT, RIGHT, TOP, BENEATH] = [64, 8, 26, 24];
  const SHOWN = 12; // tensors in the table
  const BAR = 90; // pixels of a tensor's life
  const MORPH = 400; // milliseconds
  const UNITS = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB", "ZiB"];

  /** @typedef {{key: string, label: string, ink: string}} Part */

  /** As archcalc writes it everywhere: four digits. @param {number} size */
  function binary(size) {
    let [value, unit] = [Math.abs(size), 0];
    for (; Math.round(value * 10) / 10 >= 1024 && unit < UNITS.length - 1; unit++) value /= 1024;
    const places = unit === 0 ? 0 : value >= 100 ? 1 : 2;
    const options = { minimumFractionDigits: places, maximumFractionDigits: places };
    return `${size < 0 ? "\u2212" : ""}${value.toLocaleString("en", options)} ${UNITS[unit]}`;
  }

  /** @param {string} tag @param {Record<string, string | number>} [attributes] @param {(Node | string)[]} inside */
  function html(tag, attributes = {}, ...inside) {
    return filled(document.createElement(tag), attributes, inside);
  }

  /** @param {string} tag @param {Record<string, string | number>} attributes @param {string[]} inside */
  function svg(tag, attributes, ...inside) {
    return /** @type {SVGElement} */ (filled(document.createElementNS(SPACE, tag), attributes, inside));
  }

  /** @param {any} made @param {Record<string, string | number>} attributes @param {(Node | string)[]} inside */
  function filled(made, attributes, inside) {
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
    made.append(...inside);
    return made;
  }

  class Scrubber {
    /** @param {HTMLElement} figure @param {any} data */
    constructor(figure, data) {
      this.figure = figure;
      this.data = data;
      /** @type {Part[]} */
      this.parts = data.parts;
      this.keys = this.parts.map(({ key }) => key);
      /** @type {Map<string, any>} */
      this.known = new Map();
      this.packed = new Map(data.lines.map((/** @type {any} */ [places, line]) => [String(places), line]));
      /** @type {number[]} */
      this.places = [...data.asked];
      this.asked = this.line(data.asked);
      this.shown = this.asked;
      this.cursor = this.shown.peak;
      this.frame = 0;
      this.built();
      this.resized();
      new ResizeObserver(() => this.resized()).observe(figure);
    }

    /** The timeline of a combination, unpacked once. @param {number[]} places */
    line(places) {
      const name = String(places);
      const Line = /** @type {any} */ (window).archcalcLine;
      if (!this.known.has(name)) this.known.set(name, new Line(this.packed.get(name), this.data.shared, this.keys));
      return this.known.get(name);
    }

    built() {
      this.why = html("p", { class: "why" });
      this.difference = html("p", { class: "difference", "aria-live": "polite" });
      this.picture = svg("svg", { "aria-hidden": "true" });
      this.slider = html("input", { type: "range", min: 0, step: 1, "aria-label": "Op of the step" });
      const jump = html("button", { type: "button" }, "Go to the peak");
      this.said = html("p", { class: "said" });
      this.table = html("tbody");
      this.legend = html("ul", { class: "legend" });
      const heads = ["alive there", "shape", "dtype", "memory", "lives", "from", "until"].map((name) => html("th", { scope: "col", ...(name === "memory" && { class: "n" }) }, name));
      const table = html("table", {}, html("thead", {}, html("tr", {}, ...heads)), this.table);
      const bar = html("div", { class: "scrubbing" }, this.said, jump);
      const scroll = html("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "What is alive at the cursor" }, table);
      this.figure.replaceChildren(this.switches(), this.difference, this.why, this.picture, this.slider, bar, this.legend, scroll);
      this.slider.addEventListener("input", () => this.move(Number(this.slider.value)));
      jump.addEventListener("click", () => this.move(this.shown.peak));
      const drag = (/** @type {PointerEvent} */ event) => {
        if (event.type === "pointermove" && !event.buttons) return;
        this.move(this.columnAt(event.clientX - this.picture.getBoundingClientRect().left));
        if (event.type === "pointerdown") this.slider.focus({ preventScroll: true });
      };
      for (const kind of ["pointerdown", "pointermove"]) this.picture.addEventListener(kind, /** @type {any} */ (drag));
      this.picture.addEventListener("pointerdown", (event) => { event.preventDefault(); this.picture.setPointerCapture(event.pointerId); });
    }

    /** A group of radio buttons for each, of which those are off that are refused. */
    switches() {
      const name = `timeline-${Math.random().toString(36).slice(2)}`;
      const groups = this.data.switches.map((/** @type {any} */ { label, values }, /** @type {number} */ at) => {
        const choices = values.map((/** @type {string} */ value, /** @type {number} */ place) => {
          const radio = html("input", { type: "radio", name: `${name}-${at}`, value: place });
          radio.checked = place === this.places[at];
          radio.addEventListener("change", () => this.switched(at, place));
          return html("label", {}, radio, html("span", {}, value));
        });
        return html("fieldset", {}, html("legend", {}, label), html("div", {}, ...choices));
      });
      this.groups = groups;
      return html("div", { class: "switches" }, ...groups);
    }

    /** @param {number} at @param {number} place */
    switched(at, place) {
      const before = this.shown;
      const part = this.cursor / Math.max(before.columns.length - 1, 1);
      const was = this.cursor === before.peak;
      this.places = this.places.with(at, place);
      this.shown = this.line(this.places);
      this.cursor = was ? this.shown.peak : Math.round(part * (this.shown.columns.length - 1));
      this.told();
      this.morph(this.heights, this.sampled());
    }

    /** What is said of the combination: the sentence on its peak, the difference to what was asked, what is refused. */
    told() {
      const { shown, asked } = this;
      this.why.textContent = shown.why;
      const more = shown.most - asked.most;
      const than = more && `${binary(Math.abs(more))} ${more > 0 ? "more" : "less"} than as asked`;
      const words = shown === asked ? ["as asked"] : [than || "the same as as asked"];
      this.difference.replaceChildren(html("b", {}, binary(shown.most)), ` at the peak: ${words[0]}`);
      this.difference.hidden = !this.groups.length;
      for (const [at, group] of this.groups.entries()) {
        for (const radio of group.querySelectorAll("input")) radio.disabled = !this.packed.has(String(this.places.with(at, Number(radio.value))));
      }
      this.slider.max = String(shown.columns.length - 1);
      this.move(this.cursor);
    }

    resized() {
      const wide = Math.max(this.figure.clientWidth, 240);
      if (wide === this.wide) return;
      this.wide = wide;
      this.heights = this.sampled();
      this.told();
      this.draw(this.heights, this.top());
    }

    get room() {
      return Math.max((this.wide ?? 0) - LEFT - RIGHT, 100);
    }

    /** Bytes at the top of the picture: the higher one of what is shown and what was asked. */
    top() {
      return Math.max(this.shown.most, this.asked.most) || 1;
    }

    /** Of every pixel the fullest column in it, part on part. */
    sampled(line = this.shown) {
      const { totals, levels } = line;
      const columns = Array.from({ length: Math.ceil(this.room) }, (_, pixel) => {
        const first = Math.floor((pixel * totals.length) / this.room);
        const end = Math.max(Math.floor(((pixel + 1) * totals.length) / this.room), first + 1);
        let best = Math.min(first, totals.length - 1);
        for (let place = first; place < Math.min(end, totals.length); place++) if (totals[place] > totals[best]) best = place;
        return best;
      });
      let below = columns.map(() => 0);
      return this.keys.map((key) => (below = columns.map((column, pixel) => below[pixel] + levels[key][column])));
    }

    /** From one area to another, at once for those who want no motion. @param {number[][]} from @param {number[][]} to */
    morph(from, to) {
      cancelAnimationFrame(this.frame);
      const begin = performance.now();
      const [low, high] = [this.scale ?? this.top(), this.top()];
      const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
      const step = (/** @type {number} */ now) => {
        const part = still ? 1 : Math.min((now - begin) / MORPH, 1);
        const eased = 1 - (1 - part) ** 3;
        this.heights = to.map((row, at) => row.map((value, pixel) => from[at][pixel] + (value - from[at][pixel]) * eased));
        this.draw(this.heights, low + (high - low) * eased);
        if (part < 1) this.frame = requestAnimationFrame(step);
      };
      step(still ? begin : begin + 1);
    }

    /** @param {number[][]} heights @param {number} scale */
    draw(heights, scale) {
      this.scale = scale;
      const y = (/** @type {number} */ value) => TOP + HIGH - (value / scale) * HIGH;
      const high = TOP + HIGH + BENEATH;
      filled(this.picture, { viewBox: `0 0 ${this.wide} ${high}`, width: this.wide ?? 0, height: high }, []);
      const areas = this.parts.map(({ key, ink }, at) => {
        if (!heights[at].some((value, pixel) => value > (heights[at - 1]?.[pixel] ?? 0))) return "";
        return svg("path", { d: `${outline(heights[at], y)}V${y(0)}H${LEFT}Z`, class: "area", fill: `var(--${ink})`, "data-part": key });
      }).filter(Boolean).reverse();
      const ghost = this.shown === this.asked ? [] : [svg("path", { d: outline(this.sampled(this.asked).at(-1) ?? [], y), class: "ghost" })];
      const peak = this.placeOf(this.shown.peak);
      const left = peak > LEFT + this.room / 2;
      const words = svg("text", { x: peak + (left ? -8 : 8), y: y(this.shown.most) - 9, class: "peak-words", "text-anchor": left ? "end" : "start" }, `peak ${binary(this.shown.most)}`);
      this.cursors = svg("path", { class: "cursor" });
      const marks = [svg("circle", { cx: peak, cy: y(this.shown.most), r: 4, class: "peak" }), words, this.cursors];
      this.picture.replaceChildren(...this.axis(y, scale), ...areas, ...ghost, ...this.phases(), ...marks);
      this.marked();
    }

    /** @param {(value: number) => number} y @param {number} scale */
    axis(y, scale) {
      const unit = 1024 ** Math.max(Math.floor(Math.log(scale) / Math.log(1024)), 0);
      const rough = scale / unit / 4;
      const power = 10 ** Math.floor(Math.log10(rough));
      const step = unit * power * ([1, 2, 5, 10].find((each) => each * power >= rough) ?? 10);
      const values = Array.from({ length: Math.floor(scale / step) + 1 }, (_, place) => place * step);
      return values.flatMap((value) => [
        svg("path", { d: `M${LEFT} ${y(value)}H${LEFT + this.room}`, class: "grid" }),
        svg("text", { x: LEFT - 8, y: y(value) + 4, class: "tick", "text-anchor": "end" }, value ? binary(value).replace(/\.0+(?= )/, "") : "0"),
      ]);
    }

    /** Their names beneath the ground, where there is room. */
    phases() {
      const { columns } = this.shown;
      const found = [];
      let begin = 0;
      for (let place = 1; place <= columns.length; place++) {
        const { phase } = this.shown.at(begin);
        if (place < columns.length && this.shown.at(place).phase === phase) continue;
        const [from, to] = [this.edge(begin), this.edge(place)];
        found.push(svg("path", { d: `M${from + 1} ${TOP + HIGH + 5}H${Math.max(to - 1, from + 2)}`, class: "phase" }));
        if (to - from > 7.5 * phase.length) found.push(svg("text", { x: (from + to) / 2, y: TOP + HIGH + 20, class: "tick", "text-anchor": "middle" }, phase));
        begin = place;
      }
      return found;
    }

    /** Where a column begins. @param {number} column */
    edge(column) {
      return LEFT + (column * this.room) / this.shown.columns.length;
    }

    /** @param {number} column */
    placeOf(column) {
      return this.edge(column + 0.5);
    }

    /** @param {number} x */
    columnAt(x) {
      const column = Math.floor(((x - LEFT) / this.room) * this.shown.columns.length);
      return Math.min(Math.max(column, 0), this.shown.columns.length - 1);
    }

    /** The cursor to a column, and all that is alive there. @param {number} column */
    move(column) {
      this.cursor = column;
      const { shown } = this;
      const where = shown.at(column);
      const size = shown.totals[column];
      const layers = Math.max(...shown.layers);
      const place = [where.phase, where.path + (where.layer ? `, layer ${where.layer} of ${layers}` : ""), where.op, where.run].filter(Boolean).join(" \u00b7 ");
      const share = column === shown.peak ? "the peak" : `${((100 * size) / shown.most).toFixed(1)} % of the peak`;
      this.said.replaceChildren(html("b", {}, binary(size)), ` \u00b7 ${share} \u00b7 ${place}`);
      this.slider.value = String(column);
      this.slider.setAttribute("aria-valuetext", `${place}: ${binary(size)}, ${share}`);
      this.marked();
      this.listed();
    }

    marked() {
      this.cursors?.setAttribute("d", `M${this.placeOf(this.cursor)} ${TOP - 6}V${TOP + HIGH}`);
    }

    listed() {
      const { shown, cursor } = this;
      const there = this.parts.filter(({ key }) => shown.levels[key].some(Boolean));
      this.legend.replaceChildren(...there.map(({ key, label, ink }) => html("li", {}, swatch(ink), `${label} ${binary(shown.levels[key][cursor])}`)));
      const alive = shown.alive(cursor);
      const rows = alive.slice(0, SHOWN).map((/** @type {any} */ { tensor, copies }) => {
        const { born, dies } = shown.life(tensor, cursor);
        const name = tensor.name + (copies > 1 ? ` \u00d7 ${copies.toLocaleString("en")}` : "");
        const until = dies === shown.columns.length - 1 ? "the end" : near(shown.at(dies));
        const life = [this.life(born, dies), near(shown.at(born)), until];
        return this.row(tensor.part, name, tensor.shape.join(" \u00d7 "), tensor.dtype, copies * tensor.bytes, life);
      });
      const rest = alive.slice(SHOWN);
      const size = rest.reduce((/** @type {number} */ sum, /** @type {any} */ { tensor, copies }) => sum + copies * tensor.bytes, 0);
      if (rest.length) rows.push(this.row("", `${rest.length} smaller`, "", "", size));
      for (const { key, label } of this.parts) if (shown.start[key]) rows.push(this.row(key, label, "", "", shown.start[key], [this.life(0, shown.columns.length - 1), "throughout", ""]));
      this.table.replaceChildren(...rows);
    }

    /** Its time in the step, as a bar with the cursor across. @param {number} born @param {number} dies */
    life(born, dies) {
      const number = this.shown.columns.length;
      const [from, to, at] = [born, dies + 1, this.cursor + 0.5].map((place) => (place / number) * BAR);
      const bar = svg("svg", { width: BAR, height: 10, "aria-hidden": "true", class: "life" });
      bar.append(svg("rect", { x: from, y: 3, width: Math.max(to - from, 2), height: 4, rx: 1 }), svg("path", { d: `M${at} 0V10` }));
      return bar;
    }

    /** @param {string} key @param {string} name @param {string} shape @param {string} dtype @param {number} size @param {(Node | string)[]} life */
    row(key, name, shape, dtype, size, life = ["", "", ""]) {
      const head = html("th", { scope: "row" }, swatch(this.parts.find((part) => part.key === key)?.ink), name);
      const cells = [shape, dtype].map((text) => html("td", {}, text));
      return html("tr", {}, head, ...cells, html("td", { class: "n" }, binary(size)), ...life.map((one) => html("td", { class: "muted" }, one)));
    }
  }

  /** @param {{phase: string, path: string, layer: number}} at */
  function near({ phase, path, layer }) {
    return `${phase}, ${layer ? `layer ${layer}` : path}`;
  }

  /** @param {string | undefined} ink */
  function swatch(ink) {
    const made = svg("svg", { width: 10, height: 10, "aria-hidden": "true", class: "swatch" });
    if (ink) made.append(svg("rect", { width: 10, height: 10, rx: 2, fill: `var(--${ink})` }));
    return made;
  }

  /** A line of steps, pixel by pixel. @param {number[]} values @param {(value: number) => number} y */
  function outline(values, y) {
    const steps = values.map((value, pixel) => (pixel && value === values[pixel - 1] ? "" : `H${LEFT + pixel}V${y(value).toFixed(2)}`));
    return `M${LEFT} ${y(values[0] ?? 0).toFixed(2)}${steps.join("")}H${LEFT + values.length}`;
  }

  /** @param {string} text  packed by zlib, in base64 */
  async function unpacked(text) {
    const bytes = Uint8Array.from(atob(text), (one) => one.charCodeAt(0));
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).json();
  }

  for (const figure of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-timeline]"))) {
    unpacked(figure.dataset.timeline ?? "").then((data) => new Scrubber(figure, data));
  }
  addEventListener("archcalc-timeline", (event) => { // the explorer has asked for another one
    const { figure, data } = /** @type {CustomEvent} */ (event).detail;
    new Scrubber(figure, data);
  });
})();
