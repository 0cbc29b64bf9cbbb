// Wakes up what a page holds, and loads no other module. Everything but the drill-down reads without any of this.
import { badges, copying, finder, menu, releases, scheme } from "./header.js";
import { query } from "./state.js";

const page = document;
for (const wake of [scheme, menu, finder, copying, badges, releases]) wake(page);

/** What wakes up an element: the module, and its functions with the page, or with the element if it names one. */
const PARTS = [
  ["[data-tools]", "boards", "boards"],
  ["[data-overview-tools]", "boards", "overview"],
  ["[data-chart]", "figures", "figures"],
  ["table[data-table]", "shown", "print", "shown"],
  ["table[data-compared]", "picks", "picks"],
];
const place = (name) => page.querySelector(`[data-${name}]`);
const waking = [];
if (page.querySelector("[data-switch]")) (await import("./tabs.js")).tabs(page);
for (const [selector, file, ...names] of PARTS) {
  if (page.querySelector(selector)) waking.push(import(`./${file}.js`).then((module) => names.forEach((name) => module[name](page))));
}
for (const name of ["items", "verify", "compare"]) {
  if (place(name)) waking.push(import(`./${name}.js`).then((module) => module[name](place(name))));
}
if (place("weights") || query().has("weights")) waking.push(import("./weights.js").then(({ weights }) => weights(page)));
Promise.allSettled(waking).then(() => { page.documentElement.dataset.awake = ""; });
