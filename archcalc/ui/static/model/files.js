// Files that are dropped on the page or chosen: specs and configs as text, weights by their header.
// @ts-check
import { announce } from "../announce.js";
import { byId } from "../dom.js";
import { isWeights, openWeights } from "./weights.js";

/** @typedef {import("../types.js").Ask} Ask */
/** @typedef {import("../types.js").Source} Source */

const LARGEST = 2 * 2 ** 20; // bytes of a text: no spec and no config is as long

/**
 * @param {Ask} ask
 * @param {(source: Source) => void} opened
 */
export function acceptFiles(ask, opened) {
  const input = /** @type {HTMLInputElement} */ (byId("file"));
  byId("open-file").addEventListener("click", () => input.click());
  input.addEventListener("change", () => {
    if (input.files?.[0]) take(ask, input.files[0], opened);
    input.value = "";
  });
  acceptDrops((file) => take(ask, file, opened));
  acceptPastes(opened);
}

/**
 * What is pasted into no field is a model.
 * @param {(source: Source) => void} opened
 */
function acceptPastes(opened) {
  document.addEventListener("paste", (event) => {
    const text = event.clipboardData?.getData("text/plain") ?? "";
    const field = event.target instanceof Element && event.target.closest("input, textarea, select");
    if (field || !text.trim()) return;
    event.preventDefault();
    opened({ text, file: text.trimStart().startsWith("{") ? "config.json" : "model.yaml" });
  });
}

/** @param {(file: File) => void} dropped */
function acceptDrops(dropped) {
  const root = document.documentElement;
  let inside = 0; // a pointer enters an element before it leaves the one around it
  const over = (/** @type {number} */ step) => {
    inside = Math.max(0, inside + step);
    root.classList.toggle("dropping", inside > 0);
  };
  const files = (/** @type {DragEvent} */ event) => event.dataTransfer?.types.includes("Files");
  root.addEventListener("dragenter", (event) => files(event) && over(1));
  root.addEventListener("dragleave", (event) => files(event) && over(-1));
  root.addEventListener("dragover", (event) => files(event) && event.preventDefault());
  root.addEventListener("drop", (event) => {
    if (!files(event)) return;
    event.preventDefault();
    over(-inside);
    if (event.dataTransfer?.files[0]) dropped(event.dataTransfer.files[0]);
  });
}

/**
 * @param {Ask} ask
 * @param {File} file
 * @param {(source: Source) => void} opened
 */
async function take(ask, file, opened) {
  const source = isWeights(file) ? await weights(ask, file) : await text(file);
  if (source) opened(source);
}

/**
 * @param {File} file
 * @returns {Promise<Source | null>}
 */
async function text(file) {
  if (file.size > LARGEST) {
    announce(`${file.name} is too large for a spec or a config`);
    return null;
  }
  return { text: await file.text(), file: file.name };
}

/**
 * @param {Ask} ask
 * @param {File} file
 * @returns {Promise<Source | null>}
 */
async function weights(ask, file) {
  announce(`Reading the header of ${file.name}`);
  const { source, answer } = await openWeights(ask, file);
  if (!answer.ok) {
    announce(answer.error ? `${file.name}: ${answer.error.fact}` : `${file.name} has no header that archcalc can read`);
    return null;
  }
  return answer.yaml ? { text: answer.yaml, file: answer.file ?? "model.yaml" } : source;
}
