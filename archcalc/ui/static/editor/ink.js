// The colours of a line of YAML: comments, keys, numbers and words.
// @ts-check
import { element } from "../dom.js";

const TOKEN = /(?<comment>(?:^|(?<=\s))#.*$)|(?<key>"[^"]*"(?=\s*:)|[A-Za-z_][\w.-]*(?=\s*:(?:\s|$)))|(?<text>"[^"]*"?|'[^']*'?)|(?<number>(?<=(?:[:,[{]|^\s*-)\s*)-?\d[\d_,]*(?:\.\d+)?(?:e\+?\d+)?(?:[kKMGBT]i?)?(?=\s*(?:[,\]}]|$|\s#)))|(?<word>(?<![\w.-])(?:true|false|null)(?![\w.-]))/g;

/**
 * @param {string} line
 * @returns {HTMLElement}
 */
export function inked(line) {
  const made = element("div", { class: "line" });
  let at = 0;
  for (const found of line.matchAll(TOKEN)) {
    const [kind] = Object.entries(found.groups ?? {}).find(([, text]) => text !== undefined) ?? [""];
    made.append(line.slice(at, found.index), element("span", { class: `ink-${kind}` }, found[0]));
    at = found.index + found[0].length;
  }
  made.append(line.slice(at) || (at ? "" : "\u200b")); // an empty line is as high as the others
  return made;
}
