// Wakes up what a page holds. Everything but the drill-down reads without any of this.
import { boards, overview } from "./boards.js";
import { figures } from "./figures.js";
import { badges, copying, menu, releases, scheme } from "./header.js";
import { items } from "./items.js";
import { print, shown } from "./shown.js";
import { search } from "./search.js";
import { query } from "./state.js";
import { tabs } from "./tabs.js";

const page = document;
for (const wake of [scheme, menu, search, copying, badges, tabs, boards, overview, figures, print, shown, releases]) wake(page);
const [place, verified, compared] = ["items", "verify", "compare"].map((name) => page.querySelector(`[data-${name}]`));
if (place) items(place);
if (verified) import("./verify.js").then(({ verify }) => verify(verified));
if (page.querySelector("table[data-compared]")) import("./picks.js").then(({ picks }) => picks(page));
if (compared) import("./compare.js").then(({ compare }) => compare(compared));
if (page.querySelector("[data-weights]") || query().has("weights")) import("./weights.js").then(({ weights }) => weights(page));
