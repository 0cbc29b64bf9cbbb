// Wakes up what a page holds. Everything but the drill-down reads without any of this.
import { badges } from "./badges.js";
import { boards } from "./boards.js";
import { figures } from "./figures.js";
import { items } from "./items.js";
import { overview } from "./overview.js";
import { tabs } from "./tabs.js";
import { trends } from "./trends.js";
import { releases } from "./releases.js";
import { print } from "./print.js";
import { query } from "./state.js";

const page = document;
badges(page);
tabs(page);
boards(page);
overview(page);
figures(page);
trends(page);
print(page);
releases(page);
const place = page.querySelector("[data-items]");
if (place) items(place);
const verified = page.querySelector("[data-verify]");
if (verified) import("./verify.js").then(({ verify }) => verify(verified));
const compared = page.querySelector("[data-compare]");
if (page.querySelector("table[data-compared]")) import("./picks.js").then(({ picks }) => picks(page));
if (compared) import("./compare.js").then(({ compare }) => compare(compared));
if (page.querySelector("[data-weights]") || query().has("weights")) import("./weights.js").then(({ weights }) => weights(page));
