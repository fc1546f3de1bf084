// Zooms into the parameters of a model: a click or Enter opens a part, Escape or the path above closes it, arrow keys
// go from part to part, and beneath stands how the number of the one that is pointed at is worked out.
(() => {
  "use strict";

  /** @typedef {{node: SVGGElement, level: number, from: number, to: number, parent: Cell | null, children: Cell[]}} Cell */

  const LEVELS = 5;
  const THIN = 4; // a cell that its edge would fill
  const SPACE = "http://www.w3.org/2000/svg";

  /** @param {SVGSVGElement} svg @returns {Cell[]} those around a cell before it */
  function read(svg) {
    /** @type {Cell[]} */
    const cells = [];
    for (const node of svg.querySelectorAll("[data-path]")) {
      const { level, from, to } = node.dataset;
      const cell = { node, level: +level, from: +from, to: +to, parent: null, children: [] };
      cell.parent = cells.findLast((other) => other.level === cell.level - 1) ?? null;
      cell.parent?.children.push(cell);
      cells.push(cell);
    }
    return cells;
  }

  /** @param {Cell} cell @returns {number} levels below it, itself among them */
  function depth(cell) {
    return 1 + Math.max(0, ...cell.children.map(depth));
  }

  /** @param {Cell} cell @returns {Cell[]} from the model to the cell */
  function path(cell) {
    return cell.parent ? [...path(cell.parent), cell] : [cell];
  }

  /** @param {Cell} cell */
  function named(cell) {
    const { title, count, share } = cell.node.dataset;
    return `${title}: ${count} parameters, ${share}`;
  }

  /** @param {string} tag @param {Record<string, string | number>} attributes @param {string} words */
  function drawn(tag, attributes, words) {
    const made = document.createElementNS(SPACE, tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
    made.textContent = words;
    return made;
  }

  /** @param {HTMLElement} figure */
  function zoomable(figure) {
    const svg = figure.querySelector("svg");
    const detail = figure.querySelector(".detail");
    const crumbs = document.createElement("ol");
    const keys = [...svg.querySelectorAll("[data-key]")];
    const cells = read(svg);
    const of = new Map(cells.map((cell) => [cell.node, cell]));
    let root = cells[0];
    const height = Number(root.node.querySelector("rect").getAttribute("height")) + 1;

    crumbs.className = "crumbs";
    crumbs.setAttribute("aria-label", "Where you are in the model");
    figure.prepend(crumbs);
    for (const cell of cells) {
      cell.node.querySelector("title")?.remove();
      cell.node.setAttribute("aria-label", named(cell));
      cell.node.setAttribute("aria-level", String(cell.level + 1));
    }

    /** @param {Cell} cell */
    function tell(cell) {
      const { title, count, share, path: place, working } = cell.node.dataset;
      const strong = document.createElement("b");
      const how = document.createElement("code");
      strong.textContent = title;
      how.textContent = working ? `${place} = ${working}` : place;
      detail.replaceChildren(strong, ` \u00b7 ${count} parameters \u00b7 ${share} of the model`, how);
    }

    /** @param {Cell} cell @param {number} x @param {number} y @param {number} wide @param {number} high */
    function label(cell, x, y, wide, high) {
      for (const old of cell.node.querySelectorAll("text")) old.remove();
      if (high < 13) return;
      const { title, short } = cell.node.dataset;
      const style = { "font-size": 11.5, class: "f-ink" };
      const quiet = { "font-size": 10.5, class: "f-muted" };
      const name = cell.node.appendChild(drawn("text", { x: x + 7, ...style }, title));
      const room = wide - 14;
      const size = cell.node.appendChild(drawn("text", { x: x + 7, ...quiet }, short));
      const needed = size.getComputedTextLength() + 10;
      const beside = name.getComputedTextLength() + needed <= room;
      for (let end = title.length - 1; end > 0 && name.getComputedTextLength() > room; end--) {
        name.textContent = `${title.slice(0, end).trimEnd()}\u2026`;
      }
      const middle = y + high / 2 + 4;
      name.setAttribute("y", String(beside || high < 34 ? middle : middle - 8));
      size.setAttribute("y", String(beside ? middle : middle + 8));
      if (beside) size.setAttribute("x", String(x + wide - 7 - needed + 10));
      else if (high < 34) size.remove();
    }

    /** @param {Cell} cell @param {number} wide @param {number} columns */
    function place(cell, wide, columns) {
      const column = cell.level - root.level;
      const inside = cell === root || path(cell).includes(root);
      const seen = inside && column < columns;
      cell.node.setAttribute("display", seen ? "inline" : "none");
      cell.node.classList.toggle("opens", cell !== root && cell.children.length > 0);
      cell.node.classList.toggle("open", cell === root && cell.parent !== null);
      if (!seen) return;
      const scale = height / (root.to - root.from);
      const y = (cell.from - root.from) * scale;
      const high = (cell.to - cell.from) * scale;
      const rectangle = cell.node.querySelector("rect");
      const shape = { x: column * wide + 1, y: y + 0.5, width: wide - 2, height: Math.max(high - 1, 0.5) };
      rectangle.setAttribute("stroke-width", high < THIN ? "0" : "1");
      for (const [name, value] of Object.entries(shape)) rectangle.setAttribute(name, String(value));
      label(cell, column * wide, y, wide, high);
    }

    /** @param {number} wide @returns {number} the height of the legend */
    function legend(wide) {
      let x = 0;
      let y = height + 24;
      for (const key of keys) {
        const box = key.getBBox();
        if (x > 0 && x + box.width > wide) {
          x = 0;
          y += 22;
        }
        key.setAttribute("transform", `translate(${x - box.x} ${y - box.y - box.height / 2})`);
        x += box.width + 16;
      }
      return y - height;
    }

    function draw() {
      const wide = Math.max(280, Math.min(figure.clientWidth, 1000));
      const columns = Math.min(depth(root), wide < 480 ? 4 : LEVELS);
      for (const cell of cells) place(cell, wide / columns, columns);
      const high = height + legend(wide) + 12;
      svg.setAttribute("viewBox", `0 0 ${wide} ${high}`);
      svg.setAttribute("width", String(wide));
      svg.setAttribute("height", String(high));
      crumbs.replaceChildren(...path(root).map(crumb));
    }

    /** @param {Cell} cell */
    function crumb(cell) {
      const item = document.createElement("li");
      const button = item.appendChild(document.createElement("button"));
      button.type = "button";
      button.textContent = cell.node.dataset.title;
      if (cell === root) button.setAttribute("aria-current", "true");
      button.addEventListener("click", () => zoom(cell));
      return item;
    }

    /** @param {Cell | null} cell */
    function zoom(cell) {
      if (!cell || (cell !== cells[0] && cell.children.length === 0)) return;
      root = cell;
      figure.classList.add("moving");
      draw();
      stop(cell);
      tell(cell);
    }

    /** The one cell that the tab key comes to. @param {Cell} cell */
    function stop(cell) {
      for (const other of cells) other.node.tabIndex = other === cell ? 0 : -1;
    }

    /** @param {Cell | null | undefined} cell */
    function go(cell) {
      if (!cell || cell.node.getAttribute("display") === "none") return;
      stop(cell);
      cell.node.focus();
    }

    /** @param {Cell} cell @param {number} by */
    function beside(cell, by) {
      const all = cell.parent?.children ?? [cell];
      return all[all.indexOf(cell) + by];
    }

    /** @param {Event} event */
    function cellOf(event) {
      const node = event.target instanceof Element ? event.target.closest("[data-path]") : null;
      return node ? of.get(node) : undefined;
    }

    svg.addEventListener("pointerover", (event) => {
      const cell = cellOf(event);
      if (cell) tell(cell);
    });
    svg.addEventListener("focusin", (event) => {
      const cell = cellOf(event);
      if (cell) tell(cell);
    });
    svg.addEventListener("click", (event) => {
      const cell = cellOf(event);
      if (cell) zoom(cell === root ? cell.parent : cell);
    });
    svg.addEventListener("keydown", (event) => {
      const cell = cellOf(event);
      if (!cell) return;
      const keys = {
        Enter: () => zoom(cell === root ? cell.parent : cell),
        Escape: () => { zoom(root.parent); go(root); },
        ArrowRight: () => go(cell.children[0]),
        ArrowLeft: () => go(cell === root ? null : cell.parent),
        ArrowDown: () => go(beside(cell, 1)),
        ArrowUp: () => go(beside(cell, -1)),
      };
      if (!(event.key in keys)) return;
      event.preventDefault();
      keys[event.key]();
    });
    let before = 0;
    new ResizeObserver(() => {
      if (figure.clientWidth === before) return;
      before = figure.clientWidth;
      figure.classList.remove("moving");
      draw();
    }).observe(figure);
    tell(root);
  }

  document.querySelectorAll("[data-zoom]").forEach(zoomable);
  addEventListener("archcalc-drawn", (event) => zoomable(event.detail)); // the explorer draws anew
  addEventListener("beforeprint", () => {
    for (const closed of document.querySelectorAll("details")) closed.open = true;
  });
})();
