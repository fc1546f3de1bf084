// What the page shows if its address says nothing.
// @ts-check

/**
 * @param {import("../types.js").Catalog} catalog
 * @returns {import("../types.js").State}
 */
export function usualState(catalog) {
  const curve = { x: "", y: "", by: "" };
  return { view: "overview", source: { preset: catalog.default }, other: null, settings: {}, gpus: [], metric: "params", curve };
}
