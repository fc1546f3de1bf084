// Short messages: shown for a moment, and read out by screen readers.
// @ts-check
import { byId } from "./dom.js";

const SHOWN = 2600; // milliseconds
let timer = 0;

/**
 * Say that something was done.
 * @param {string} text
 */
export function announce(text) {
  const toast = byId("toast");
  toast.textContent = text;
  toast.classList.add("shown");
  clearTimeout(timer);
  timer = window.setTimeout(() => toast.classList.remove("shown"), SHOWN);
}

/**
 * For screen readers alone.
 * @param {string} text
 */
export function whisper(text) {
  byId("whisper").textContent = text;
}
