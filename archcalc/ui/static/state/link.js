// A state as the fragment of an address, and back: #model=gpt2&batch=8&view=memory
// @ts-check
import { pack, unpack } from "./packed.js";

/** @typedef {import("../types.js").State} State */
/** @typedef {import("../types.js").Source} Source */

const OWN = ["model", "spec", "file", "with", "with-spec", "with-file", "view", "gpu", "metric", "x", "y", "by"];

/**
 * @param {State} state
 * @param {State} usual  what a link need not say
 * @returns {Promise<string>}
 */
export async function fragment(state, usual) {
  const words = new URLSearchParams();
  await writeSource(words, state.source, ["model", "spec", "file"]);
  if (state.other) await writeSource(words, state.other, ["with", "with-spec", "with-file"]);
  for (const [name, value] of Object.entries(state.settings)) words.set(name, value);
  for (const gpu of state.gpus) words.append("gpu", gpu);
  if (state.metric !== usual.metric) words.set("metric", state.metric);
  for (const axis of /** @type {const} */ (["x", "y", "by"])) {
    if (state.curve[axis] !== usual.curve[axis]) words.set(axis, state.curve[axis]);
  }
  if (state.view !== usual.view) words.set("view", state.view);
  return `#${words.toString().replaceAll("%3A", ":").replaceAll("%2C", ",")}`;
}

/**
 * @param {string} written
 * @param {State} usual
 * @returns {Promise<State>}
 */
export async function restored(written, usual) {
  const words = new URLSearchParams(written.replace(/^#/, ""));
  const settings = Object.fromEntries([...words].filter(([name, value]) => !OWN.includes(name) && value));
  return {
    view: words.get("view") ?? usual.view,
    source: (await readSource(words, ["model", "spec", "file"])) ?? usual.source,
    other: await readSource(words, ["with", "with-spec", "with-file"]),
    settings,
    gpus: words.getAll("gpu"),
    metric: words.get("metric") ?? usual.metric,
    curve: axes(words, usual),
  };
}

/**
 * @param {URLSearchParams} words
 * @param {State} usual
 */
function axes(words, usual) {
  const { x, y, by } = usual.curve;
  return { x: words.get("x") ?? x, y: words.get("y") ?? y, by: words.get("by") ?? by };
}

/**
 * @param {URLSearchParams} words
 * @param {Source} source
 * @param {string[]} names
 */
async function writeSource(words, source, [preset, spec, file]) {
  if ("preset" in source) words.set(preset, source.preset);
  if ("text" in source) {
    words.set(spec, await pack(source.text));
    words.set(file, source.file);
  }
}

/**
 * @param {URLSearchParams} words
 * @param {string[]} names
 * @returns {Promise<Source | null>}
 */
async function readSource(words, [preset, spec, file]) {
  const packed = words.get(spec);
  if (packed) return { text: await unpack(packed), file: words.get(file) ?? "model.yaml" };
  const name = words.get(preset);
  return name ? { preset: name } : null;
}
