// What fits over two choices: a slider compares every cell with the sizes up to which it fits, and a click or Enter on a
// cell shows its command. The sizes stand in the page, so that nobody is asked.
(() => {
  "use strict";

  /** @typedef {{name: string, answer: string, command: string, shade?: string, asking?: string, most?: number | null,
   *   limit?: number | null, longest?: number | null, within?: string, beyond?: string}} Cell */
  /** @typedef {{kind: string, asked: number | null, most: number | null, cells: Cell[][]}} Told */

  const STEPS = 1000;
  const SHORTEST = 256; // tokens at the left end of the slider
  const SHADES = { fits: "fitting", tight: "tight", "cannot say": "unsure", "does not fit": "too-large", "": "panel" };
  const WORDS = { context: ["Context", "tokens"], batch: ["Batch", "sequences"] };

  /** @param {string} tag @param {Record<string, string>} attributes @param {(string | Node)[]} inside */
  function made(tag, attributes, ...inside) {
    const found = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) found.setAttribute(name, value);
    found.append(...inside);
    return found;
  }

  /** What `archcalc fit` says of a cell at a size. @param {Cell} cell @param {number} size */
  function verdict(cell, size) {
    if (cell.longest && size > cell.longest) return "";
    if (cell.most === null || size <= cell.most) return cell.within;
    return cell.limit === null || size <= cell.limit ? cell.beyond : "does not fit";
  }

  /** @param {Cell} cell @param {number} size @param {string} word @param {string} unit */
  function sentence(cell, size, word, unit) {
    const asked = size.toLocaleString("en");
    if (!word) return `${asked} ${unit} are more than the model's ${cell.longest.toLocaleString("en")} positions`;
    const grown = cell.most === null ? "any number" : `up to ${cell.most.toLocaleString("en")}`;
    return `${asked} ${unit}: ${word}; with the error band to spare: ${cell.most === 0 ? "none" : grown}`;
  }

  /** As the drawing has it: never more than there are. @param {number | null} most */
  function brief(most) {
    if (most === null) return "any";
    if (most === 0) return "\u2717";
    return most >= 10_000 ? `${Math.floor(most / 1000).toLocaleString("en")}k` : String(most);
  }

  /** @param {string} text @param {HTMLElement} code */
  async function copy(text, code) {
    try {
      await navigator.clipboard.writeText(text);
      return "Copied";
    } catch {
      getSelection()?.selectAllChildren(code); // to copy by hand, where a browser allows nothing else
      return "Selected";
    }
  }

  /** @param {HTMLElement} figure */
  function answering(figure) {
    /** @type {Told} */
    const told = JSON.parse(figure.dataset.matrix);
    const [label, unit] = WORDS[told.kind] ?? ["", ""];
    const groups = [...figure.querySelectorAll("[data-cell]")];
    const moves = told.most > 1 && told.most > told.asked && told.cells.flat().some((cell) => cell.asking);
    const least = Math.min(told.kind === "context" ? SHORTEST : 1, told.asked);
    let size = told.asked;
    let chosen = null;

    const range = made("input", { type: "range", min: "0", max: String(STEPS), step: "any", "aria-label": `${label}, ${unit}` });
    const number = made("input", { type: "number", min: "1", max: String(told.most), "aria-label": `${label}, ${unit}` });
    const count = made("output", {});
    const detail = made("div", { class: "cell-detail", "aria-live": "polite" }, made("p", {}, "Choose a cell for its answer and its command."));

    /** @param {Element} group */
    function cellOf(group) {
      const [row, column] = group.dataset.cell.split(" ").map(Number);
      return told.cells[row][column];
    }

    const words = new Map(groups.map((group) => [group, group.querySelector("text").textContent]));

    /** @param {Element} group */
    function shade(group) {
      const cell = cellOf(group);
      const moved = size !== told.asked && cell.asking;
      const rectangle = group.querySelector("rect");
      rectangle.setAttribute("class", `f-${moved ? SHADES[verdict(cell, size)] : cell.shade ?? "panel"}`);
      group.querySelector("text").textContent = moved ? brief(cell.most) : words.get(group);
      group.classList.toggle("moved", Boolean(moved));
    }

    function draw() {
      groups.forEach(shade);
      const fitting = told.cells.flat().filter((cell) => cell.asking && verdict(cell, size) === "fits").length;
      count.textContent = `${fitting} of ${told.cells.flat().length} fit`;
      if (chosen) show(chosen);
    }

    /** @param {Cell} cell */
    function line(cell) {
      return size !== told.asked && cell.asking ? `${cell.asking} ${size}` : cell.command;
    }

    /** @param {Cell} cell */
    function show(cell) {
      chosen = cell;
      const moved = size !== told.asked && cell.asking;
      const code = made("code", {}, line(cell));
      const button = made("button", { type: "button" }, "Copy");
      button.addEventListener("click", async () => { button.textContent = await copy(line(cell), code); });
      const said = moved ? sentence(cell, size, verdict(cell, size), unit) : cell.answer;
      const head = made("p", {}, made("b", {}, cell.name), ` \u00b7 ${said}`);
      detail.replaceChildren(head, ...(cell.command ? [made("div", { class: "line" }, code, button)] : []));
      for (const group of groups) group.classList.toggle("chosen", cellOf(group) === cell);
    }

    /** @param {number} wanted */
    function resize(wanted) {
      size = Math.min(Math.max(Math.round(wanted) || 1, 1), told.most);
      draw();
    }

    function placed() {
      return String(Math.max((STEPS * Math.log(size / least)) / Math.log(told.most / least), 0));
    }

    /** @param {number} place */
    function sizeAt(place) {
      const exact = least * (told.most / least) ** (place / STEPS);
      const digits = 10 ** Math.max(Math.floor(Math.log10(exact)) - 1, 0);
      return place >= STEPS ? told.most : Math.round(exact / digits) * digits;
    }

    range.addEventListener("input", () => {
      resize(sizeAt(Number(range.value)));
      number.value = String(size);
    });
    number.addEventListener("input", () => {
      if (!(Number(number.value) >= 1)) return;
      resize(Number(number.value));
      range.value = placed();
    });
    for (const group of groups) {
      group.setAttribute("role", "button");
      group.setAttribute("tabindex", "0");
      group.setAttribute("aria-label", group.querySelector("title")?.textContent ?? "");
      group.addEventListener("click", () => show(cellOf(group)));
      group.addEventListener("keydown", (event) => {
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        show(cellOf(group));
      });
    }
    if (moves) {
      number.value = String(size);
      range.value = placed();
      figure.prepend(made("div", { class: "slider" }, made("span", {}, label), range, number, made("span", {}, unit), count));
    }
    figure.append(detail);
    draw();
  }

  document.querySelectorAll("[data-matrix]").forEach(answering);
  addEventListener("archcalc-matrix", (event) => answering(event.detail)); // the explorer draws anew
})();
