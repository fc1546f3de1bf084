// The shapes of what archcalc answers and of what the page remembers; types only, nothing runs here.
// @ts-check

/**
 * @typedef {{preset: string} | {text: string, file: string} | {header: string, file: string, bytes: number}} Source
 *
 * @typedef {object} State  what a link holds
 * @property {string} view
 * @property {Source} source
 * @property {Source | null} other  the second model of a comparison
 * @property {Record<string, string>} settings  by the names of options
 * @property {string[]} gpus
 * @property {string} metric  what is compared
 * @property {Curve} curve
 *
 * @typedef {{x: string, y: string, by: string}} Curve
 *
 * @typedef {{name: string, title: string, group: string, type: string, parameters: string | null, short: string | null}} Preset
 * @typedef {{name: string, title: string, memory: string, group: string}} Gpu
 *
 * @typedef {object} Setting  an option of archcalc
 * @property {string} name
 * @property {string} label
 * @property {string} help
 * @property {"choice" | "size" | "bytes" | "flag" | "text"} kind
 * @property {string[]} choices  all that there are
 * @property {Known[]} known  some that there are
 * @property {string} metavar
 * @property {string[]} applies
 * @property {string[]} modes
 * @property {string} [placeholder]
 * @property {string} [group]
 *
 * @typedef {object} Catalog
 * @property {string} version
 * @property {Preset[]} presets
 * @property {Gpu[]} gpus
 * @property {string[]} usual_gpus
 * @property {Setting[]} settings
 * @property {string} default
 * @property {string} [style]
 *
 * @typedef {{value: string, title: string, aside: string, group: string}} Known  what a list says of a value
 *
 * @typedef {{name: string, ink: string, size: string, exact: string, share: number}} Segment
 * @typedef {{gpu: string, tone: string, mark: string, verdict: string, room: string, memory: string, needed: string, limit: number, parts: Segment[]}} Bar
 *
 * @typedef {{label: string, side: "left" | "right", unit: string}} Column
 * @typedef {{cells: string[], depth: number, below: string, heading: boolean, tone: string, notes: string[], settings?: Record<string, string>}} Row
 * @typedef {{columns: Column[], rows: Row[], title?: string}} Table
 * @typedef {{label: string, value: string, about?: string}} Figure
 * @typedef {{text: string, option?: string}} Note
 *
 * @typedef {object} Mistake
 * @property {string} fact
 * @property {string} hint
 * @property {string} where
 * @property {number | null} line
 * @property {string} field
 * @property {string} text
 *
 * @typedef {object} Answer
 * @property {boolean} ok
 * @property {Mistake} [error]
 * @property {Mistake[]} [errors]
 * @property {boolean} [lost]  archcalc itself does not answer
 * @property {boolean} [stale]  nobody waits for it any more
 * @property {boolean} [more]  more of a weights file is needed
 * @property {string} [title]
 * @property {string} [answer]
 * @property {string} [about]  the answer in short
 * @property {string[]} [clauses]  of the sentence that heads it, the verdict first
 * @property {Bar[]} [bars]
 * @property {number} [about_bar]  the one that the verdict is about
 * @property {string} [parameters]  to the last digit
 * @property {string} [type]  of the model, in transformers
 * @property {string} [group]  its kind
 * @property {string[]} [beneath]
 * @property {Figure[]} [figures]
 * @property {Record<string, Table>} [tables]
 * @property {Record<string, string>} [charts]
 * @property {Note[]} [notes]
 * @property {Record<string, string | number>} [sizes]
 * @property {Record<string, string>} [usual]  of a run: what an empty field stands for
 * @property {string[]} [lengths]
 * @property {Record<string, string | number | null>} [longest]
 * @property {string} [family]
 * @property {string | null} [yaml]
 * @property {string} [spec]  a config.json as a spec
 * @property {string} [file]
 * @property {string} [html]
 * @property {string} [line]
 * @property {object} [schema]
 * @property {string} [cells]  of a field of cells, as its script reads them
 *
 * @typedef {(question: object, signal?: AbortSignal) => Promise<Answer>} Ask
 */

export {};
