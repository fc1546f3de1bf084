// Devices: what is needed against what each has, how far the model could grow there, and what would help.
// @ts-check
import { Sheet } from "./sheet.js";

/** @type {import("./all.js").View} */
export const devices = {
  label: "Devices", command: "fit",
  asks: (state, questions) => ({ search: questions.search(state) }),
  made: ({ store }) => new Sheet({
    topic: "fit", figures: false, charts: [["devices", "Memory against what devices have"]],
    tables: [["devices", "Device by device"], ["more", "What helps, and how memory is shared"], ["more_2", "Further"]],
    apply: (settings) => store.change({ settings: { ...store.state.settings, ...settings } }, "go"),
  }),
};
