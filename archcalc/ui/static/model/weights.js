// The header of a weights file, sliced out of it; the weights themselves are never read.
// @ts-check
import { base64 } from "../state/packed.js";

/** @typedef {import("../types.js").Ask} Ask */
/** @typedef {import("../types.js").Answer} Answer */
/** @typedef {import("../types.js").Source} Source */

const LENGTH = 8; // bytes in front of a safetensors header that say how long it is
const FIRST = 2 ** 20; // bytes of a GGUF file to try first
const MOST = 2 ** 25; // and at the most: no header is as long

/** @param {File} file */
export function isWeights(file) {
  return /\.(safetensors|gguf)$/i.test(file.name);
}

/**
 * Ask archcalc to open a file by its header.
 * @param {Ask} ask
 * @param {File} file
 * @returns {Promise<{source: Source, answer: Answer}>}
 */
export async function openWeights(ask, file) {
  let size = /\.gguf$/i.test(file.name) ? FIRST : await safetensorsHeader(file);
  for (;;) {
    const bytes = new Uint8Array(await file.slice(0, size).arrayBuffer());
    const source = { header: base64(bytes), file: file.name, bytes: file.size };
    const answer = await ask({ ask: "open", source });
    if (!answer.more || size >= Math.min(MOST, file.size)) return { source, answer };
    size *= 2;
  }
}

/** @param {File} file */
async function safetensorsHeader(file) {
  const bytes = await file.slice(0, LENGTH).arrayBuffer();
  if (bytes.byteLength < LENGTH) return bytes.byteLength;
  const length = new DataView(bytes).getBigUint64(0, true);
  return length > BigInt(MOST) ? MOST : LENGTH + Number(length);
}
