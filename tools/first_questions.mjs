// The questions that the explorer asks at first: `node first_questions.mjs PAGE 340 760 < catalog.json` prints them as JSON.
// They are those of the page's own scripts, whatever it is made to ask later.
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [page, ...widths] = process.argv.slice(2);
const script = (path) => import(pathToFileURL(resolve(page, path)));
const { Questions } = await script("answers/questions.js");
const { usualState } = await script("state/usual.js");

const catalog = JSON.parse(readFileSync(0, "utf8"));
const questions = new Questions(catalog.settings);
const state = usualState(catalog);
const drawn = widths.flatMap((wide) => {
  questions.wide = Number(wide);
  return Object.values(questions.of(state));
});
console.log(JSON.stringify([{ ask: "open", source: state.source }, ...drawn])); // the spec in the editor, then the answers
