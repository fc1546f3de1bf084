// Shows the steps of a walk one at a time: arrow keys, Page Up and Page Down (which remote controls send), Home, End and
// digits go from step to step, and the address names the step that is shown. On paper all of them are printed.
(() => {
  "use strict";

  /** @typedef {[string, number, number, number]} Tensor name, shape, the step that made it, whether it is a weight */
  /** @typedef {{size: [number, number], areas: [string, string][], lines: string}} Solid */

  const data = JSON.parse(document.getElementById("steps").textContent);
  const main = document.getElementById("walk");
  const { steps, places, shapes, solids, totals } = data;
  const SPACE = "http://www.w3.org/2000/svg";
  const THICKEST = 14; // pixels for a side of 1
  const WORDS = { // pixels across and down that they take beside the boxes of a product, and below all others
    screen: [[640, 40], [340, 170]],
    phone: [[150, 260], [150, 260]],
    paper: [[340, 10], [240, 70]],
  };
  const ON_PAPER = [680, 200];
  const NARROW = 700;
  const NAMED = 40; // thousandths of the strip that a name needs
  const RULER = 330;
  const FRAME = 450; // pixels of the height that are not the picture's
  const PAUSE = 900; // milliseconds after which digits are another number
  let at = 0;
  let by = "f";

  /** @param {string} tag @param {string} name @param {(string | Node)[]} inside */
  function made(tag, name, ...inside) {
    const element = document.createElement(tag);
    if (name) element.className = name;
    element.append(...inside.filter((each) => each !== ""));
    return element;
  }

  /** @param {string} tag @param {Record<string, string | number>} attributes @param {Node[]} inside */
  function drawn(tag, attributes, ...inside) {
    const element = document.createElementNS(SPACE, tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
    element.append(...inside);
    return element;
  }

  /** @param {number} number @param {string[]} units */
  function rounded(number, units) {
    let place = 0;
    let value = number;
    while (value >= 999.95 && place < units.length - 1) {
      value /= 1000;
      place += 1;
    }
    if (place === 0) return number.toLocaleString("en");
    return `${value.toFixed(value >= 100 ? 1 : 2)} ${units[place]}`;
  }
  const parameters = (/** @type {number} */ number) => rounded(number, ["", "k", "M", "B", "T"]);
  const flops = (/** @type {number} */ number) => rounded(number, ["", "k", "M", "G", "T", "P", "E"]);
  const whole = (/** @type {number} */ number) => number.toLocaleString("en");

  /** W_q with its index below the line. @param {string} text */
  function formula(text) {
    return text.split(/\b([Wb]_\w+)/).map((part, place) => {
      if (place % 2 === 0) return part;
      return made("span", "", part[0], made("sub", "", part.slice(2)));
    });
  }

  /** Pixels for a side of 1, the same in all steps. @param {number} wide @param {number} high @param {number[][]} words */
  function scale(wide, high, words) {
    const units = data.largest.flatMap((/** @type {number[]} */ largest, /** @type {number} */ kind) => [
      (wide - words[kind][0]) / largest[0],
      (high - words[kind][1]) / largest[1],
    ]);
    return Math.max(0.05, Math.min(...units, THICKEST));
  }

  /** @param {Tensor} tensor @param {number} unit @param {string} kind */
  function figure([name, shape, from], unit, kind) {
    /** @type {[string, string, number]} */
    const [sizes, dims, box] = shapes[shape];
    /** @type {Solid} */
    const solid = solids[box];
    const [wide, high] = solid.size;
    const edge = 1.5 / unit;
    const areas = solid.areas.map(([side, d]) => drawn("path", { class: side, d, "stroke-width": edge }));
    const lines = solid.lines ? [drawn("path", { class: "lines", d: solid.lines, "stroke-width": edge })] : [];
    const svg = drawn("svg", {
      viewBox: `${-edge} ${-edge} ${wide + 2 * edge} ${high + 2 * edge}`,
      width: (wide + 2 * edge) * unit,
      height: (high + 2 * edge) * unit,
      "aria-hidden": "true",
    }, ...areas, ...lines);
    const caption = made("figcaption", "", made("b", "", ...formula(name)), made("span", "sizes", sizes));
    if (dims) caption.append(made("span", "dims", dims));
    if (from && kind !== "out") {
      const link = made("a", "from", `from step ${from}`);
      link.setAttribute("href", `#${encodeURIComponent(steps[from - 1].path)}`);
      caption.append(link);
    }
    return made("figure", `tensor ${kind}`, svg, caption);
  }

  /** @param {Tensor} tensor */
  function kindOf(tensor) {
    return tensor[3] ? "weight" : "signal";
  }

  /** @param {any} step @param {number} unit */
  function picture(step, unit) {
    const { pair, rest = [], out } = step;
    const others = rest.map((each) => figure(each, unit, kindOf(each)));
    if (step.more) others.push(made("p", "sign", `and ${step.more} more`));
    if (pair && out) {
      const corner = made("p", "corner", "summed over ", made("b", "", step.over[0]), ` ${whole(step.over[1])}`);
      const [first, second] = pair;
      const grid = made("div", "product", corner, figure(second, unit, kindOf(second)),
        figure(first, unit, kindOf(first)), figure(out, unit, "out"));
      return made("div", "picture", grid, others.length ? made("div", "rest", made("p", "sign", "+"), ...others) : "");
    }
    if (!out) return made("div", "picture", ...others);
    const arrow = others.length ? [made("p", "sign", "\u2192")] : [];
    return made("div", "picture", ...others, ...arrow, figure(out, unit, "out"));
  }

  /** @param {any} step */
  function crumbs(step) {
    const around = (step.in ?? []).map((/** @type {number} */ place) => {
      const [path, title, copies, calls] = places[place];
      const often = calls > 1 ? `, ${whole(calls)} times` : "";
      const link = made("a", "", `${title}${copies > 1 ? ` \u00d7 ${whole(copies)}` : ""}${often}`);
      link.setAttribute("href", `#${path}`);
      return made("li", "", link);
    });
    const list = made("ol", "crumbs", ...around);
    list.setAttribute("aria-label", "Where this is in the model");
    return list;
  }

  /** A number in names, in digits, and what it comes to. @param {string} label @param {string[]} ways @param {number} sum */
  function working(label, ways, sum) {
    if (!ways?.length) return "";
    const told = [...new Set([...ways, whole(sum)])].flatMap((way, place) => (place ? [" = ", made("span", "", way)] : [made("span", "", way)]));
    return made("p", "working", made("b", "", label), " ", ...told);
  }

  /** @param {any} step */
  function workings(step) {
    const often = step.runs > 1 ? ` \u00b7 ${whole(step.runs)} runs, ${flops(step.f || step.e || 0)}` : "";
    const copies = step.copies > 1 ? ` \u00b7 ${whole(step.copies)} copies, ${parameters(step.p ?? 0)}` : "";
    const lines = [working("parameters", step.pw, step.each ?? 0), working(step.f ? "FLOPs" : "FLOPs, elementwise", step.fw, step.once ?? 0)];
    if (lines[0]) lines[0].append(copies);
    if (lines[1]) lines[1].append(often);
    return made("div", "workings", ...lines);
  }

  /** @param {number} place @param {number} unit */
  function panel(place, unit) {
    const step = steps[place];
    const left = step.out ? step.out[0] : "";
    const head = made("div", "head", made("h2", "", step.title), made("p", "what", step.what ?? ""));
    const said = made("p", "formula", ...(step.formula ? [...formula(left), " = ", ...formula(step.formula)] : []));
    const also = (step.also ?? []).map((/** @type {Tensor} */ each) =>
      made("p", "also", made("b", "", each[0] === left ? "each" : each[0]), `: ${shapes[each[1]][0]} (${shapes[each[1]][1]})`));
    return made("article", "panel", crumbs(step), head, picture(step, unit), said, ...also, workings(step));
  }

  /** @param {number} place @param {string} key how much of the model all steps up to this one make up */
  function sum(place, key) {
    return steps.slice(0, place + 1).reduce((before, step) => before + (step[key] ?? 0), 0);
  }

  // The frame around the panel is made once.
  const stage = made("div", "stage");
  const place = made("p", "place");
  const [back, on] = [button("\u2190", "Step before", () => go(at - 1)), button("\u2192", "Next step", () => go(at + 1))];
  const bars = [bar("parameters so far"), bar("FLOPs so far")];
  const strip = drawn("svg", { class: "strip", preserveAspectRatio: "none", viewBox: "0 0 1000 10", role: "img" });
  const names = made("div", "names");
  const toggle = button("widths: FLOPs", "What the widths show", () => {
    by = by === "f" ? "p" : "f";
    overview();
    go(at);
  });
  const rulers = drawn("svg", { class: "ruler", role: "img", "aria-label": "Scale of the sides" });
  main.append(
    stage,
    made("div", "so-far", ...bars.map((each) => each.whole), made("div", "scale", made("span", "label", "\u221a scale"), rulers)),
    made("nav", "overview", made("div", "controls", back, place, on, toggle), strip, names),
  );
  stage.setAttribute("aria-live", "polite");

  /** @param {string} text @param {string} label @param {() => void} does */
  function button(text, label, does) {
    const element = made("button", "", text);
    element.setAttribute("type", "button");
    element.setAttribute("aria-label", label);
    element.addEventListener("click", does);
    return element;
  }

  /** @param {string} label */
  function bar(label) {
    const full = made("span", "full");
    const told = made("span", "told");
    return { full, told, whole: made("div", "bar-of", made("span", "label", label), made("span", "track", full), told) };
  }

  /** Widths to scale; a step without any of it has none. */
  function overview() {
    const most = Math.max(by === "f" ? totals[1] : totals[0], 1);
    let x = 0;
    const parts = new Map();
    const rectangles = steps.map((/** @type {any} */ step, /** @type {number} */ index) => {
      const wide = (1000 * (step[by] ?? 0)) / most;
      const rectangle = drawn("rect", { x, y: 0, width: wide, height: 10, "data-step": index });
      const outermost = step.in ? places[step.in[0]][1] : step.title;
      const key = step.in ? step.in[0] : `own ${index}`;
      const before = parts.get(key) ?? { title: outermost, wide: 0 };
      parts.set(key, { ...before, wide: before.wide + wide });
      rectangle.append(drawn("title", {}, document.createTextNode(`${index + 1} ${step.title}`)));
      x += wide;
      return rectangle;
    });
    strip.replaceChildren(...rectangles, drawn("path", { class: "mark", d: "" }));
    names.replaceChildren(...[...parts.values()].filter((part) => part.wide > 0).map((part) => {
      const name = made("span", "", part.wide < NAMED ? "" : part.title);
      name.style.width = `${part.wide / 10}%`;
      return name;
    }));
    toggle.textContent = by === "f" ? "widths: FLOPs" : "widths: parameters";
    strip.setAttribute("aria-label", `Where the ${by === "f" ? "FLOPs" : "parameters"} of the model are`);
  }

  /** @param {number} unit @param {number} wide */
  function ruler(unit, wide) {
    const seen = data.ruler.filter((/** @type {number} */ each) => each <= data.longest && Math.sqrt(each) * unit < wide - 50);
    const end = Math.sqrt(seen.at(-1)) * unit;
    let last = -Infinity;
    const ticks = seen.toReversed().flatMap((/** @type {number} */ each) => {
      const x = Math.sqrt(each) * unit + 1;
      const tick = drawn("path", { class: "tick", d: `M${x} 4v8` });
      if (Math.abs(last - x) < 40) return [tick];
      last = x;
      return [tick, drawn("text", { x, y: 26, "text-anchor": "middle" }, document.createTextNode(whole(each)))];
    });
    const base = drawn("path", { class: "tick", d: `M1 8h${end}M1 4v8` });
    rulers.replaceChildren(base, ...ticks);
    rulers.setAttribute("viewBox", `-4 0 ${end + 40} 32`);
    rulers.setAttribute("width", String(end + 44));
    rulers.setAttribute("height", "32");
  }

  /** @param {number} wanted */
  function go(wanted) {
    at = Math.max(0, Math.min(steps.length - 1, wanted));
    const unit = innerWidth < NARROW
      ? scale(main.clientWidth, innerHeight, WORDS.phone)
      : scale(main.clientWidth, Math.max(innerHeight - FRAME, 260), WORDS.screen);
    const shown = panel(at, unit);
    stage.replaceChildren(shown);
    place.textContent = `step ${at + 1} of ${steps.length}`;
    back.toggleAttribute("disabled", at === 0);
    on.toggleAttribute("disabled", at === steps.length - 1);
    ruler(unit, Math.min(RULER, main.clientWidth - 140));
    [["p", parameters, 0], ["f", flops, 1]].forEach(([key, written, number]) => {
      const [so, all] = [sum(at, key), totals[number]];
      bars[number].full.style.width = `${all ? (100 * so) / all : 0}%`;
      bars[number].told.textContent = `${written(so)} of ${written(all)}`;
    });
    for (const rectangle of strip.querySelectorAll("rect")) {
      const index = Number(rectangle.dataset.step);
      rectangle.setAttribute("class", index === at ? "now" : index < at ? "done" : "");
    }
    const now = strip.querySelector("rect.now");
    const middle = Number(now.getAttribute("x")) + Number(now.getAttribute("width")) / 2;
    strip.querySelector(".mark").setAttribute("d", `M${middle} 0v10`);
    document.title = `${steps[at].title} \u00b7 ${main.querySelector("h1").textContent}`;
    if (decodeURIComponent(location.hash.slice(1)) !== steps[at].path) {
      history.replaceState(null, "", `#${encodeURIComponent(steps[at].path)}`);
    }
  }

  /** The step that the address names, or the first of the part that it names. */
  function named() {
    const path = decodeURIComponent(location.hash.slice(1));
    const exact = steps.findIndex((/** @type {any} */ step) => step.path === path);
    const inside = steps.findIndex((/** @type {any} */ step) => step.in?.some((/** @type {number} */ each) => places[each][0] === path));
    return Math.max(exact >= 0 ? exact : inside, 0);
  }

  let typed = "";
  let before = 0;
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const ways = {
      ArrowRight: () => go(at + 1),
      PageDown: () => go(at + 1),
      ArrowLeft: () => go(at - 1),
      PageUp: () => go(at - 1),
      Home: () => go(0),
      End: () => go(steps.length - 1),
    };
    if (/^\d$/.test(event.key)) {
      typed = event.timeStamp - before < PAUSE ? typed + event.key : event.key;
      before = event.timeStamp;
      if (Number(typed) > 0) go(Number(typed) - 1);
    } else if (event.key in ways) {
      event.preventDefault();
      ways[event.key]();
    }
  });
  strip.addEventListener("click", (event) => {
    const rectangle = event.target instanceof Element ? event.target.closest("rect") : null;
    if (rectangle) go(Number(rectangle.dataset.step));
  });
  addEventListener("hashchange", () => go(named()));

  const paper = made("div", "paper");
  addEventListener("beforeprint", () => {
    paper.replaceChildren(...steps.map((/** @type {any} */ _, /** @type {number} */ index) => panel(index, scale(ON_PAPER[0], ON_PAPER[1], WORDS.paper))));
    main.after(paper);
  });
  addEventListener("afterprint", () => paper.remove());

  overview();
  let width = 0;
  new ResizeObserver(() => {
    if (main.clientWidth === width) return;
    width = main.clientWidth;
    go(width && before === 0 && !typed ? named() : at);
  }).observe(main);
})();
