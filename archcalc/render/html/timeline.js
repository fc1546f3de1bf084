// Memory over a step with a scrubber: drag, or the arrow keys, and see what is alive; switches morph the area.
// @ts-check
(() => {
  "use strict";

  const SHOWN = 12; // tensors in the table
  const BAR = 90; // pixels of a tensor's life
  const FLAT = 0.2; // of the peak that comes and goes: where that is less, the rest is not drawn
  const HEADS = ["alive there", "memory", "shape", "dtype", "lives", "from", "until"];
  const { archcalcLine: Line, archcalcPicture } = /** @type {any} */ (window);
  const { Picture, binary, html, svg } = archcalcPicture;

  class Scrubber {
    /** @param {HTMLElement} figure @param {any} data */
    constructor(figure, data) {
      this.figure = figure;
      this.data = data;
      /** @type {{key: string, label: string, ink: string}[]} */
      this.parts = data.parts;
      /** @type {Map<string, any>} */
      this.known = new Map();
      this.packed = new Map(data.lines.map((/** @type {any} */ [places, line]) => [String(places), line]));
      /** @type {number[]} */
      this.places = [...data.asked];
      this.asked = this.shown = this.line(data.asked);
      this.cursor = this.shown.peak;
      this.picture = new Picture(this.parts, this.asked);
      this.built();
      this.told();
      new ResizeObserver(() => this.resized()).observe(figure);
    }

    /** The timeline of a combination, unpacked once. @param {number[]} places */
    line(places) {
      const name = String(places);
      if (!this.known.has(name)) this.known.set(name, new Line(this.packed.get(name), this.data.shared, this.parts.map(({ key }) => key)));
      return this.known.get(name);
    }

    built() {
      this.why = html("p", { class: "why" });
      this.difference = html("p", { class: "difference", "aria-live": "polite" });
      this.slider = html("input", { type: "range", min: 0, step: 1, "aria-label": "Op of the step" });
      this.said = html("p", { class: "said" });
      this.legend = html("ul", { class: "legend" });
      this.table = html("tbody");
      const jump = html("button", { type: "button" }, "Go to the peak");
      const heads = HEADS.map((name) => html("th", { scope: "col", ...(name === "memory" && { class: "n" }) }, name));
      const table = html("table", {}, html("thead", {}, html("tr", {}, ...heads)), this.table);
      const scroll = html("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "What is alive at the cursor" }, table);
      const picture = this.picture.element;
      this.figure.replaceChildren(this.switches(), this.difference, this.why, picture, this.slider, html("div", { class: "scrubbing" }, this.said, jump), this.flattened(), this.legend, scroll);
      this.slider.addEventListener("input", () => this.move(Number(this.slider.value)));
      jump.addEventListener("click", () => this.move(this.shown.peak));
      picture.addEventListener("pointerdown", (/** @type {PointerEvent} */ event) => {
        event.preventDefault();
        picture.setPointerCapture(event.pointerId);
        this.slider.focus({ preventScroll: true });
        this.move(this.picture.columnAt(event.clientX));
      });
      picture.addEventListener("pointermove", (/** @type {PointerEvent} */ event) => {
        if (event.buttons) this.move(this.picture.columnAt(event.clientX));
      });
    }

    /** A group of radio buttons for each, of which those are off that are refused. */
    switches() {
      const name = `timeline-${Math.random().toString(36).slice(2)}`;
      this.groups = this.data.switches.map((/** @type {any} */ { label, values }, /** @type {number} */ at) => {
        const choices = values.map((/** @type {string} */ value, /** @type {number} */ place) => {
          const radio = html("input", { type: "radio", name: `${name}-${at}`, value: place });
          radio.checked = place === this.places[at];
          radio.addEventListener("change", () => this.switched(at, place));
          return html("label", {}, radio, html("span", {}, value));
        });
        return html("fieldset", {}, html("legend", {}, label), html("div", {}, ...choices));
      });
      return html("div", { class: "switches" }, ...this.groups);
    }

    /** Whether what is there throughout is drawn: by itself, unless next to nothing would be seen of the rest. */
    flattened() {
      const { most, base } = this.asked;
      const box = html("input", { type: "checkbox" });
      box.checked = this.picture.bare = most - base < FLAT * most && most > base;
      box.addEventListener("change", () => this.picture.show(this.shown, box.checked));
      return html("label", { class: "bare" }, box, " draw only what comes and goes");
    }

    /** @param {number} at @param {number} place */
    switched(at, place) {
      const before = this.shown;
      const part = this.cursor / Math.max(before.columns.length - 1, 1);
      const isPeak = this.cursor === before.peak;
      this.places = this.places.with(at, place);
      this.shown = this.line(this.places);
      this.cursor = isPeak ? this.shown.peak : Math.round(part * (this.shown.columns.length - 1));
      this.picture.show(this.shown, this.picture.bare);
      this.told();
    }

    /** What is said of the combination: the sentence on its peak, the difference to what was asked, what is refused. */
    told() {
      const { shown, asked } = this;
      const more = shown.most - asked.most;
      const than = more ? `${binary(Math.abs(more))} ${more > 0 ? "more" : "less"} than as asked` : "no other than as asked";
      this.why.textContent = shown.why;
      this.difference.replaceChildren(html("b", {}, binary(shown.most)), ` at the peak: ${shown === asked ? "as asked" : than}`);
      this.difference.hidden = !this.groups.length;
      for (const [at, group] of this.groups.entries()) {
        for (const radio of group.querySelectorAll("input")) radio.disabled = !this.packed.has(String(this.places.with(at, Number(radio.value))));
      }
      this.slider.max = String(shown.columns.length - 1);
      this.move(this.cursor);
    }

    resized() {
      const wide = Math.max(this.figure.clientWidth, 240);
      if (wide !== this.picture.wide) this.picture.resize(wide);
    }

    /** The cursor to a column, and all that is alive there. @param {number} column */
    move(column) {
      this.cursor = column;
      const { shown } = this;
      const { phase, path, op, layer, run } = shown.at(column);
      const layers = layer ? `, layer ${layer} of ${Math.max(...shown.layers)}` : "";
      const place = [phase, path !== phase && path + layers, op, run].filter(Boolean).join(" \u00b7 ");
      const share = column === shown.peak ? "the peak" : `${((100 * shown.totals[column]) / shown.most).toFixed(1)} % of the peak`;
      this.said.replaceChildren(html("b", {}, binary(shown.totals[column])), ` \u00b7 ${share} \u00b7 ${place}`);
      this.slider.value = String(column);
      this.slider.setAttribute("aria-valuetext", `${place}: ${binary(shown.totals[column])}, ${share}`);
      this.picture.point(column);
      const there = this.parts.filter(({ key }) => shown.levels[key].some(Boolean));
      this.legend.replaceChildren(...there.map(({ key, label, ink }) => html("li", {}, swatch(ink), `${label} ${binary(shown.levels[key][column])}`)));
      this.listed();
    }

    listed() {
      const { shown, cursor } = this;
      const alive = shown.alive(cursor);
      const rows = alive.slice(0, SHOWN).map((/** @type {any} */ { tensor, copies }) => {
        const { born, dies } = shown.life(tensor, cursor);
        const name = tensor.name + (copies > 1 ? ` \u00d7 ${copies.toLocaleString("en")}` : "");
        const until = dies === shown.columns.length - 1 ? "the end" : near(shown.at(dies));
        return this.row(tensor.part, [name, tensor.shape.join(" \u00d7 "), tensor.dtype], copies * tensor.bytes, [this.life(born, dies), near(shown.at(born)), until]);
      });
      const rest = alive.slice(SHOWN);
      const size = rest.reduce((/** @type {number} */ sum, /** @type {any} */ { tensor, copies }) => sum + copies * tensor.bytes, 0);
      if (rest.length) rows.push(this.row("", [`${rest.length} smaller`, "", ""], size, ["", "", ""]));
      const whole = () => [this.life(0, shown.columns.length - 1), "throughout", ""];
      for (const { key, label } of this.parts) if (shown.start[key]) rows.push(this.row(key, [label, "", ""], shown.start[key], whole()));
      this.table.replaceChildren(...rows);
    }

    /** Its time in the step, as a bar with the cursor across. @param {number} born @param {number} dies */
    life(born, dies) {
      const [from, to, at] = [born, dies + 1, this.cursor + 0.5].map((place) => (place / this.shown.columns.length) * BAR);
      const bar = svg("rect", { x: from, y: 3, width: Math.max(to - from, 2), height: 4, rx: 1 });
      return svg("svg", { width: BAR, height: 10, "aria-hidden": "true", class: "life" }, bar, svg("path", { d: `M${at} 0V10` }));
    }

    /** @param {string} key @param {string[]} looks @param {number} size @param {(Node | string)[]} life */
    row(key, [name, ...looks], size, life) {
      const head = html("th", { scope: "row" }, swatch(this.parts.find((part) => part.key === key)?.ink), name);
      const cells = looks.map((text) => html("td", {}, text));
      return html("tr", {}, head, html("td", { class: "n" }, binary(size)), ...cells, ...life.map((one) => html("td", { class: "muted" }, one)));
    }
  }

  /** @param {{phase: string, path: string, layer: number}} at */
  function near({ phase, path, layer }) {
    const part = layer ? `layer ${layer}` : path.split(".")[0];
    return part === phase ? phase : `${phase}, ${part}`;
  }

  /** @param {string | undefined} ink */
  function swatch(ink) {
    const square = ink ? [svg("rect", { width: 10, height: 10, rx: 2, fill: `var(--${ink})` })] : [];
    return svg("svg", { width: 10, height: 10, "aria-hidden": "true", class: "swatch" }, ...square);
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
