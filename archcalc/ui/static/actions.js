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
    if (answer.line) copy(answer.line, answer.line);
    else announce(answer.error?.fact ?? "no command gives this view");
  });
  byId("copy-link").addEventListener("click", async () => copy(await history.address(), "Link copied"));
  byId("download-report").addEventListener("click", async () => {
    announce("Making the report …");
    const answer = await ask(questions.report(store.state));
    if (answer.html) download(answer.file ?? "report.html", answer.html);
    else announce(answer.error?.fact ?? "no report could be made");
  });
}

/**
 * @param {string} text
 * @param {string} said
 */
async function copy(text, said) {
  try {
    await navigator.clipboard.writeText(text);
    announce(said === text ? `Copied: ${text}` : said);
  } catch {
    announce(text); // to copy by hand, where a browser allows nothing else
  }
}

/**
 * @param {string} file
 * @param {string} html
 */
function download(file, html) {
  const address = URL.createObjectURL(new Blob([html], { type: "text/html" }));
  element("a", { href: address, download: file }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
  announce(`${file} is downloaded`);
}
