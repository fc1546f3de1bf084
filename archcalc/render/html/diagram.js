// Zooms a diagram in its frame: buttons, the keys + - 0 1, Ctrl with the wheel, and a drag moves it; arrow keys scroll.
(() => {
  "use strict";

  const STEP = 1.25;
  const LEAST = 0.1;
  const MOST = 4;
  const READ = 0.6; // the least at which its words are read

  /** @param {HTMLElement} frame */
  function zoomable(frame) {
    const svg = frame.querySelector("svg");
    const [wide, high] = ["width", "height"].map((side) => Number(svg.getAttribute(side)));
    const bar = document.createElement("div");
    const percent = document.createElement("output");
    let scale = 1;

    /** @returns {number} the scale at which all of it is seen */
    const whole = () => Math.min(frame.clientWidth / wide, highest() / high, 1);
    /** @returns {number} of the frame, whatever stands in it */
    const highest = () => parseFloat(getComputedStyle(frame).maxHeight) - frame.offsetHeight + frame.clientHeight;

    /** The point under x, y of the frame stays where it is. @param {number} wanted @param {number} x @param {number} y */
    function zoom(wanted, x = frame.clientWidth / 2, y = frame.clientHeight / 2) {
      const next = Math.min(Math.max(wanted, LEAST), MOST);
      const [left, top] = [(frame.scrollLeft + x) / scale, (frame.scrollTop + y) / scale];
      scale = next;
      svg.style.width = `${wide * scale}px`;
      svg.style.height = `${high * scale}px`;
      frame.scrollTo(left * scale - x, top * scale - y);
      percent.textContent = `${Math.round(100 * scale)} %`;
    }

    const ways = {
      "+": () => zoom(scale * STEP),
      "-": () => zoom(scale / STEP),
      0: () => zoom(whole()),
      1: () => zoom(1),
    };
    const buttons = [["-", "\u2212", "Zoom out"], ["+", "+", "Zoom in"], ["0", "Fit", "All of it"], ["1", "100 %", "Its own size"]];
    for (const [key, words, told] of buttons) {
      const button = bar.appendChild(document.createElement("button"));
      button.type = "button";
      button.textContent = words;
      button.title = `${told} (key ${key})`;
      button.setAttribute("aria-label", told);
      button.addEventListener("click", ways[key]);
    }
    percent.setAttribute("aria-label", "Size of the picture");
    bar.append(percent);
    bar.className = "zoom";
    bar.setAttribute("role", "toolbar");
    bar.setAttribute("aria-label", "Size of the diagram");
    frame.before(bar);

    frame.addEventListener("keydown", (event) => {
      const way = ways[event.key === "=" ? "+" : event.key];
      if (!way || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      way();
    });
    frame.addEventListener("wheel", (event) => {
      if (!event.ctrlKey) return;
      event.preventDefault();
      const { left, top } = frame.getBoundingClientRect();
      zoom(scale * Math.exp(-event.deltaY / 300), event.clientX - left, event.clientY - top);
    }, { passive: false });
    frame.addEventListener("pointerdown", (event) => {
      if (event.pointerType !== "mouse" || event.button !== 0) return; // fingers scroll by themselves
      frame.setPointerCapture(event.pointerId);
      frame.classList.add("dragged");
    });
    frame.addEventListener("pointermove", (event) => {
      if (frame.classList.contains("dragged")) frame.scrollBy(-event.movementX, -event.movementY);
    });
    for (const end of ["pointerup", "pointercancel"]) frame.addEventListener(end, () => frame.classList.remove("dragged"));
    // As wide as there is room, if it can be read then: from the top down.
    zoom(Math.min(Math.max(frame.clientWidth / wide, READ), 1), 0, 0);
  }

  document.querySelectorAll(".diagram").forEach(zoomable);
})();
