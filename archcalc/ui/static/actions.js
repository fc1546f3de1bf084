// Copy as a command, copy the link, download the report.
// @ts-check
import { announce } from "./announce.js";
import { byId, element } from "./dom.js";

/** @typedef {import("./types.js").Ask} Ask */

/**
 * @param {Ask} ask
 * @param {import("./state/store.js").Store} store
 * @param {import("./state/history.js").History} history
 * @param {import("./answers/questions.js").Questions} questions
 */
export function offerActions(ask, store, history, questions) {
  byId("copy-command").addEventListener("click", async () => {
    const answer = await ask(questions.command(store.state));
    const edited = "text" in store.state.source;
    if (answer.line) copy(answer.line, `Copied: ${answer.line}${edited ? "\nwith the spec in that file: Save writes it" : ""}`);
    else announce(answer.error?.fact ?? "no command gives this view");
  });
  byId("copy-link").addEventListener("click", async () => copy(await history.address(), history.page ? "Link copied" : "Bookmark copied: it opens this view in this browser"));
  byId("download-report").addEventListener("click", async () => {
    announce("Making the report …");
    const answer = await ask(questions.report(store.state));
    if (answer.html) download(answer.file ?? "report.html", answer.html, "text/html");
    else announce(answer.error?.fact ?? "no report could be made");
  });
  byId("save-spec").addEventListener("click", () => {
    const { source } = store.state;
    if ("text" in source) download(source.file, source.text, "text/plain");
  });
  store.listen(({ source }) => void (byId("save-spec").hidden = !("text" in source)));
}

/**
 * @param {string} text
 * @param {string} said
 */
async function copy(text, said) {
  try {
    await navigator.clipboard.writeText(text);
    announce(said);
  } catch {
    announce(text); // to copy by hand, where a browser allows nothing else
  }
}

/**
 * @param {string} file
 * @param {string} text
 * @param {string} type
 */
function download(file, text, type) {
  const address = URL.createObjectURL(new Blob([text], { type }));
  element("a", { href: address, download: file }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
  announce(`${file} is downloaded`);
}
