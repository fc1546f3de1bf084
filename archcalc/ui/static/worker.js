// archcalc inside the page: Python by Pyodide, in a web worker, so that the page stays free while it computes.
// @ts-check

/** @type {Promise<(question: string) => string> | null} */
let archcalc = null;

/**
 * @param {string} text
 * @param {number} share
 */
function progress(text, share) {
  postMessage({ progress: true, text, share });
}

/** @param {{base: string, pyodide: string, wheels: string[]}} site */
async function begun(site) {
  const at = (/** @type {string} */ path) => new URL(path, site.base).href;
  progress("Loading Python …", 0.1);
  const archives = site.wheels.map(async (path) => (await fetch(at(path))).arrayBuffer());
  const { loadPyodide } = await import(at(`${site.pyodide}pyodide.mjs`));
  const python = await loadPyodide({ indexURL: at(site.pyodide) });
  progress("Loading archcalc …", 0.6);
  for (const archive of archives) python.unpackArchive(await archive, "wheel");
  progress("Starting archcalc …", 0.8);
  python.runPython("import gc; gc.set_threshold(200_000, 20, 100)");
  return python.runPython("from archcalc.ui.ask import ask_json; ask_json");
}

onmessage = async ({ data }) => {
  if (data.site) {
    archcalc = begun(data.site);
    archcalc.then(() => postMessage({ id: 0, answer: { ok: true } }));
    return;
  }
  const ask = await archcalc;
  if (ask) postMessage({ id: data.id, answer: ask(data.question) });
};
