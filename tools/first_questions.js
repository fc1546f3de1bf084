// The questions that the explorer asks at first, as JSON: `node first_questions.js 340 640 < catalog.json`, beside its page.
// They are those of the page's own scripts, whatever it is made to ask later.
import { readFileSync } from "node:fs";
import { Questions } from "./answers/questions.js";
import { usualState } from "./state/usual.js";

const catalog = JSON.parse(readFileSync(0, "utf8"));
const questions = new Questions(catalog.settings);
const state = usualState(catalog);
const drawn = process.argv.slice(2).flatMap((wide) => {
  questions.wide = Number(wide);
  return Object.values(questions.of(state));
});
console.log(JSON.stringify([{ ask: "open", source: state.source }, ...drawn])); // the spec in the editor, then the answers
