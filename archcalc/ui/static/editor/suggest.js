// What could stand at a place: names and values of fields, by the JSON Schema of specs.
// @ts-check

/** @typedef {import("./place.js").Place} Place */
/** @typedef {Record<string, any>} Schema */
/** @typedef {{text: string, about: string, name: boolean, listed: boolean}} Suggestion  `listed`: one of all that there are */

const MOST = 40;

/**
 * @param {Schema} root
 * @param {Place} at
 * @returns {Suggestion[]} those that start with the word, then those that have it within
 */
export function suggest(root, at) {
  const here = at.path.reduce((nodes, step) => below(root, nodes, step), open(root, [root]));
  const offered = at.value ? values(here) : names(here);
  const wanted = at.word.toLowerCase();
  const fitting = offered.filter(({ text }) => text.toLowerCase().includes(wanted) && text !== at.word);
  const rank = (/** @type {Suggestion} */ { text }) => (text.toLowerCase().startsWith(wanted) ? 0 : 1);
  return fitting.sort((one, two) => rank(one) - rank(two)).slice(0, MOST);
}

/**
 * Every alternative that a schema stands for.
 * @param {Schema} root
 * @param {Schema[]} nodes
 * @param {number} depth
 * @returns {Schema[]}
 */
function open(root, nodes, depth = 0) {
  if (depth > 8) return [];
  return nodes.flatMap((node) => {
    const inner = [node.anyOf, node.oneOf, node.allOf].flat().filter(Boolean);
    if (node.$ref) inner.push({ ...resolved(root, node.$ref) });
    return [node, ...open(root, inner, depth + 1)];
  });
}

/**
 * @param {Schema} root
 * @param {string} reference
 * @returns {Schema}
 */
function resolved(root, reference) {
  const steps = reference.replace(/^#\//, "").split("/");
  return steps.reduce((node, step) => node?.[step.replaceAll("~1", "/").replaceAll("~0", "~")], root) ?? {};
}

/**
 * @param {Schema} root
 * @param {Schema[]} nodes
 * @param {string} step
 */
function below(root, nodes, step) {
  const inner = nodes.flatMap((node) => [step === "[]" ? node.items : child(node, step)]);
  return open(root, inner.filter((node) => node && typeof node === "object"));
}

/**
 * @param {Schema} node
 * @param {string} step
 */
function child(node, step) {
  return Object.hasOwn(node.properties ?? {}, step) ? node.properties[step] : node.additionalProperties;
}

/**
 * @param {Schema[]} nodes
 * @returns {Suggestion[]}
 */
function names(nodes) {
  const found = nodes.flatMap((node) => Object.entries(node.properties ?? {}));
  return unique(found.map(([text, node]) => ({ text, about: said(node), name: true, listed: true })));
}

/**
 * @param {Schema[]} nodes
 * @returns {Suggestion[]}
 */
function values(nodes) {
  const about = nodes.map(said).find(Boolean) ?? "";
  const suggestion = (/** @type {any} */ value, /** @type {boolean} */ listed) => ({ text: String(value), about, name: false, listed });
  const listed = nodes.flatMap(choices).map((value) => suggestion(value, true));
  const examples = nodes.flatMap((node) => [node.examples ?? [], node.default ?? []].flat()).filter(scalar);
  return unique([...examples.map((value) => suggestion(value, false)), ...listed]);
}

/**
 * The values that a schema lists in full.
 * @param {Schema} node
 */
function choices(node) {
  const both = node.type === "boolean" ? [true, false] : [];
  return [...(node.enum ?? []), ...("const" in node ? [node.const] : []), ...both].filter(scalar);
}

/** @param {any} value */
function scalar(value) {
  return ["string", "number", "boolean"].includes(typeof value);
}

/** @param {Schema} node */
function said(node) {
  return typeof node.description === "string" ? node.description : "";
}

/** @param {Suggestion[]} found */
function unique(found) {
  return [...new Map(found.map((one) => [one.text, one])).values()];
}
