// Elements made in one call. Texts become text nodes, never markup.
// @ts-check

/**
 * @typedef {string | Node | null | undefined | false} Child
 * @typedef {Record<string, string | number | boolean | null | undefined>} Attributes
 */

/**
 * An element with its attributes and children; an attribute that is false, null or undefined is left out.
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Attributes} [attributes]
 * @param {Child[]} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) setAttribute(made, name, value);
  made.append(...present(children));
  return made;
}

/**
 * The same of an element of a drawing.
 * @param {string} tag
 * @param {Attributes} attributes
 * @param {Child[]} children
 * @returns {SVGElement}
 */
export function drawing(tag, attributes, ...children) {
  const made = /** @type {SVGElement} */ (document.createElementNS("http://www.w3.org/2000/svg", tag));
  for (const [name, value] of Object.entries(attributes)) setAttribute(made, name, value);
  made.append(...present(children));
  return made;
}

/**
 * Give an element new contents, and leave it alone otherwise.
 * @param {Element} parent
 * @param {Child[]} children
 */
export function fill(parent, ...children) {
  parent.replaceChildren(...present(children));
}

/**
 * @param {Element} target
 * @param {string} name
 * @param {string | number | boolean | null | undefined} value
 */
export function setAttribute(target, name, value) {
  if (value === false || value === null || value === undefined) target.removeAttribute(name);
  else target.setAttribute(name, value === true ? "" : String(value));
}

/**
 * The element that index.html has under this id.
 * @template {HTMLElement} [Kind=HTMLElement]
 * @param {string} id
 * @returns {Kind}
 */
export function byId(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`no element has the id ${id}`);
  return /** @type {Kind} */ (found);
}

/**
 * @param {Child[]} children
 * @returns {(string | Node)[]}
 */
function present(children) {
  return /** @type {(string | Node)[]} */ (children.filter((child) => child || child === ""));
}
