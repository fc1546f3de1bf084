// How wide a chart may be drawn: as wide as the page's column, so that its words are as large as the page's.
// @ts-check

const NARROWEST = 300;
const WIDEST = 1100;
const STEP = 20; // pixels: a little more room needs no new drawing
const PAUSE = 300; // milliseconds, while a window is being dragged larger

/**
 * Tell the width now, and whenever it changes.
 * @param {HTMLElement} column
 * @param {(wide: number) => void} changed
 */
export function followWidth(column, changed) {
  let told = measured(column);
  let timer = 0;
  changed(told);
  new ResizeObserver(() => {
    clearTimeout(timer);
    timer = window.setTimeout(() => {
      const wide = measured(column);
      if (wide !== told && !matchMedia("print").matches) changed((told = wide));
    }, PAUSE);
  }).observe(column);
}

/** @param {HTMLElement} column */
function measured(column) {
  const room = Math.floor(column.clientWidth / STEP) * STEP;
  return Math.min(Math.max(room, NARROWEST), WIDEST);
}
