// Texts for links: deflated, then in the letters that addresses allow.
// @ts-check

const LARGEST = 8 * 2 ** 20; // bytes unpacked: a link may come from anyone

/**
 * @param {string} text
 * @returns {Promise<string>}
 */
export async function pack(text) {
  const stream = new Blob([text]).stream().pipeThrough(new CompressionStream("deflate-raw"));
  return base64(await read(stream, Infinity)).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

/**
 * @param {string} packed
 * @returns {Promise<string>}
 */
export async function unpack(packed) {
  const binary = atob(packed.replaceAll("-", "+").replaceAll("_", "/"));
  const bytes = Uint8Array.from(binary, (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new TextDecoder().decode(await read(stream, LARGEST));
}

/**
 * @param {Uint8Array} bytes
 * @returns {string}
 */
export function base64(bytes) {
  const step = 0x8000; // as many arguments as a call surely takes
  let binary = "";
  for (let at = 0; at < bytes.length; at += step) binary += String.fromCharCode(...bytes.subarray(at, at + step));
  return btoa(binary);
}

/**
 * @param {ReadableStream<Uint8Array>} stream
 * @param {number} limit
 * @returns {Promise<Uint8Array>}
 */
async function read(stream, limit) {
  const chunks = [];
  let size = 0;
  const reader = stream.getReader();
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    chunks.push(next.value);
    size += next.value.length;
    if (size > limit) throw new Error("the link holds too much");
  }
  return new Uint8Array(await new Blob(/** @type {BlobPart[]} */ (chunks)).arrayBuffer());
}
