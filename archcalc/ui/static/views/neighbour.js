// The model to compare with where nobody named one: of the same model type, else of the same kind, the one whose number
// of parameters is nearest and another.
// @ts-check

/** @typedef {import("../types.js").Preset} Preset */
/** @typedef {{parameters?: string | null, type?: string, group?: string}} About  what is known of a model */

/**
 * @param {Preset[]} presets
 * @param {About} about
 * @returns {Preset | undefined}
 */
export function neighbour(presets, about) {
  const own = amount(about.parameters);
  const others = presets.filter(({ parameters }) => parameters && amount(parameters) !== own);
  const alike = [others.filter(({ type }) => type && type === about.type), others.filter(({ group }) => group === about.group), others];
  const near = alike.find((some) => some.length) ?? [];
  const distance = (/** @type {Preset} */ { parameters }) => Math.abs(Math.log(amount(parameters) / own));
  return near.reduce((best, one) => (best && distance(best) <= distance(one) ? best : one), /** @type {Preset | undefined} */ (undefined));
}

/** @param {string | null | undefined} digits  near enough as a number of a script, which is only used to find the nearest */
function amount(digits) {
  return Number((digits ?? "").replaceAll(",", "")) || 1;
}
