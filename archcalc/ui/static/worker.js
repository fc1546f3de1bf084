// archcalc inside the page: Python by Pyodide, in a web worker, so that the page stays free while it computes.
// @ts-check

// Of tools/site_python.py: a line of JSON with names and sizes, then every file.
const UNPACK = `
import json, lzma, os
def unpack(archive):
    index, _, texts = lzma.decompress(archive.to_bytes()).partition(b"\\n")
    at = 0
    for name, size in json.loads(index).items():
        os.makedirs(os.path.dirname(name) or ".", exist_ok=True)
        with open(name, "wb") as file:
            file.write(texts[at : at + size])
        at += size
unpack`;
// What the first questions import, so that the answer to a first change need not wait for it.
const WARM = "import archcalc.ui.exact, archcalc.ui.peaks";

/** @type {Promise<(question: string) => string> | null} */
let archcalc = null;
let isAsked = false; // anything yet

/**
 * @param {string} text
 * @param {number} share
 */
function progress(text, share) {
  postMessage({ progress: true, text, share });
}

/** @param {{base: string, pyodide: string, archive: string}} site */
async function begun(site) {
  const at = (/** @type {string} */ path) => new URL(path, site.base).href;
  progress("Loading Python …", 0.1);
  const archive = fetch(at(site.archive)).then((sent) => sent.arrayBuffer());
  const { loadPyodide } = await import(at(`${site.pyodide}pyodide.mjs`));
  const python = await loadPyodide({ indexURL: at(site.pyodide) });
  progress("Loading archcalc …", 0.6);
  python.runPython(UNPACK)(await archive);
  progress("Starting archcalc …", 0.8);
  python.runPython("import gc; gc.set_threshold(200_000, 20, 100)");
  const ask = python.runPython("from archcalc.ui.ask import ask_json; ask_json");
  progress("archcalc is ready", 1);
  setTimeout(() => isAsked || python.runPython(WARM));
  return ask;
}

onmessage = async ({ data }) => {
  if (data.site) {
    archcalc = begun(data.site);
    archcalc.catch((reason) => setTimeout(() => { throw reason; })); // which the page hears of, unlike a rejection
    return;
  }
  isAsked = true;
  const ask = await archcalc;
  if (ask) postMessage({ id: data.id, answer: ask(data.question) });
};
