// The explorer: connects to archcalc, then keeps model, settings, answers, views and the address in step.
// @ts-check
import { offerActions } from "./actions.js";
import { announce } from "./announce.js";
import { Answers } from "./answers/answers.js";
import { Questions } from "./answers/questions.js";
import { connect } from "./backend.js";
import { byId } from "./dom.js";
import { followFolds } from "./folds.js";
import { Mistakes } from "./mistakes.js";
import { acceptFiles } from "./model/files.js";
import { ModelPanel } from "./model/panel.js";
import { Form } from "./settings/form.js";
import { History, opened } from "./state/history.js";
import { Store } from "./state/store.js";
import { usualState } from "./state/usual.js";
import { adopt } from "./views/chart.js";
import { Summary } from "./views/summary.js";
import { Verdict } from "./views/verdict.js";
import { Views } from "./views/views.js";
import { followWidth } from "./views/width.js";

/** @typedef {import("./types.js").Ask} Ask */
/** @typedef {import("./types.js").Catalog} Catalog */
/** @typedef {import("./types.js").State} State */

/**
 * While archcalc starts; all of it is there with a share of 1.
 * @param {string} text
 * @param {number | null} share
 */
function progress(text, share) {
  const bar = /** @type {HTMLProgressElement} */ (byId("loading-bar"));
  byId("loading-text").textContent = text;
  if (share === null) bar.removeAttribute("value");
  else bar.value = share;
  byId("loading").hidden = share === 1;
}

/**
 * JSON Schemas by family, each asked for once.
 * @param {Ask} ask
 */
function schemas(ask) {
  /** @type {Map<string, Promise<object>>} */
  const known = new Map();
  return (/** @type {string} */ family) => {
    const found = known.get(family) ?? ask({ ask: "schema", family }).then((answer) => answer.schema ?? {});
    known.set(family, found);
    return found;
  };
}

async function start() {
  const { site, ask } = await connect(progress);
  const answer = await ask({ ask: "catalog" });
  if (!answer.ok) {
    progress(answer.error?.text ?? "archcalc does not answer", 0);
    return;
  }
  const catalog = /** @type {Catalog} */ (/** @type {unknown} */ (answer));
  const usual = usualState(catalog);
  adopt(catalog.style ?? "");
  byId("version").textContent = catalog.version;
  const store = new Store(await opened(usual));
  if (site.server) progress("", 1);
  byId("docs").hidden = Boolean(site.server); // which stand beside the page on a site alone
  byId("page").hidden = byId("actions").hidden = false;
  run(ask, catalog, usual, store, site);
}

/**
 * @param {Ask} ask
 * @param {Catalog} catalog
 * @param {State} usual
 * @param {Store} store
 * @param {import("./backend.js").Site} site
 */
function run(ask, catalog, usual, store, site) {
  const questions = new Questions(catalog.settings);
  const answers = new Answers(ask, questions);
  const about = { presets: catalog.presets, ask, schema: schemas(ask) };
  const panel = new ModelPanel({ chooser: byId("chooser"), editor: byId("editor") }, { ...about, id: "model", label: "Model" }, (source, typed) => {
    store.change({ source }, typed ? "edit" : "go");
  });
  const form = new Form(catalog, store, questions);
  const views = new Views({ store, questions, about }, answers, usual, (option) => {
    if (!form.focus(option)) announce(`${option} is an option of the command line`);
  });
  const verdict = new Verdict(answers, () => views.open("devices"));
  const summary = new Summary(answers, (view) => views.open(view));
  const mistakes = new Mistakes(answers, [form.gpus, form, spec(panel, "exact"), ...views.panels.map((one) => spec(one, "compare"))]);
  const history = new History(store, usual, site.address);
  const follow = () => form.show(store.state, answers.good.exact ?? {}, answers.good.memory?.usual);
  byId("as-spec").addEventListener("click", () => panel.translate());
  const suit = () => {
    follow();
    questions.suit(answers.good.exact ?? { ok: false });
    views.sheet.follow(store.state);
    answers.follow(store.state, false);
  };
  store.listen((state, _before, why) => {
    panel.show(state.source);
    byId("as-spec").hidden = !panel.isConfig;
    follow();
    views.follow();
    answers.follow(state, why === "edit");
  });
  answers.listen((topic) => {
    summary.update(topic);
    verdict.update(topic);
    views.update(topic);
    if (!answers.busy("exact")) mistakes.follow();
    if (topic === "exact" && !answers.busy("exact")) suit();
    if (topic === "memory" && !answers.busy("memory")) follow();
  });
  acceptFiles(ask, (source) => store.change({ source }, "go"));
  offerActions(ask, store, history, questions);
  followFolds(() => mistakes.follow());
  followWidth(byId("view"), (wide) => {
    questions.wide = wide;
    answers.follow(store.state, false);
  });
  store.change({}, "restore");
}

/**
 * An editor as a place of mistakes: of those that the questions of a topic met.
 * @param {ModelPanel} panel
 * @param {string} topic
 * @returns {import("./mistakes.js").Place}
 */
function spec(panel, topic) {
  const { editor } = panel;
  return { within: editor.frame, take: (mistakes, asked) => panel.take(mistakes, topic, asked), go: ({ line }) => editor.go(line ?? 1) };
}

byId("skip").addEventListener("click", (event) => {
  event.preventDefault(); // the fragment of the address is the page's state
  byId("title").focus();
});
start();
