// The tools above the table of a benchmark with the choice of its columns, and those above the overview.
import { make } from "./dom.js";
import { query, told } from "./state.js";
import { Table } from "./table.js";
import { hasAll, tools } from "./tools.js";

/** The groups of columns that each choice shows; "" is what the server shows, and "all" is everything. */
const PRESETS = {
  scores: ["Score", "By category"],
  cost: ["Tokens and cost"],
  speed: ["Latency"],
  trust: ["Coverage and errors", "Trust", "Source"],
};

/** Enhances the overview of the front page. */
export function overview(page) {
  const form = page.querySelector("[data-overview-tools]");
  if (form) tools(page, form, [...page.querySelectorAll("table[data-overview]")].map((element) => new Table(element)), hasAll);
}

/** Enhances the table of a page; an address that names another table of its benchmark leads there. */
export function boards(page) {
  const asked = query().get("track");
  const other = [...page.querySelectorAll("a[data-track]")].find((link) => link.dataset.track === asked);
  if (other) return location.replace(other.href + location.search + location.hash);
  const form = page.querySelector("[data-tools]");
  if (!form) return;
  const tables = [...page.querySelectorAll("table[data-table]")].map((element) => new Table(element));
  const columns = new Map(tables.flatMap((table) => table.columns()).map((column) => [column.name, column]));
  const boxes = new Map();
  const refused = [];
  const turned = { show: named("show"), hide: named("hide") };
  let preset = "";

  form.elements.columns.addEventListener("input", clear);
  const fold = form.querySelector("details");
  fold.addEventListener("toggle", draw, { once: true });
  fold.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    fold.open = false;
    fold.firstElementChild.focus();
  });
  if (asked && asked !== tables[0]?.id) refused.push(told("table", asked));
  tools(page, form, tables, hasAll, { refused, parts, clear, show });
  if (!scrollY) page.querySelector("th[aria-sort]")?.scrollIntoView({ block: "nearest", inline: "nearest" }); // a scrolled page is being read

  function named(part) {
    const asked = query().getAll(part);
    refused.push(...asked.filter((name) => !columns.has(name)).map((name) => told("column", name)));
    return new Set(asked.filter((name) => columns.has(name)));
  }

  function parts() {
    return { show: [...turned.show].sort(), hide: [...turned.hide].sort() };
  }

  function clear() {
    turned.show.clear();
    turned.hide.clear();
  }

  function show(data) {
    preset = data.get("columns");
    for (const table of tables) table.choose(isShown);
    for (const [name, box] of boxes) box.checked = isShown(name);
  }

  /** Draws a checkbox for each column. */
  function draw() {
    const groups = new Map();
    for (const { name, title, group } of columns.values()) {
      if (name === "system") continue;
      if (!groups.has(group)) groups.set(group, make("fieldset", {}, make("legend", {}, group)));
      const box = make("input", { type: "checkbox", oninput: () => turn(name, box.checked) });
      box.checked = isShown(name);
      boxes.set(name, box);
      groups.get(group).append(make("label", {}, box, title));
    }
    form.querySelector(".mv-picker").append(...groups.values());
  }

  /** Whether a column is shown: by the preset, unless it was turned on or off. */
  function isShown(name) {
    return turned.show.has(name) || (!turned.hide.has(name) && byPreset(name));
  }

  function byPreset(name) {
    const { group, first } = columns.get(name);
    if (preset === "") return first;
    return preset === "all" || group === "Rank" || name === "composite" || PRESETS[preset].includes(group);
  }

  /** Notes a choice; the form hears of it after this. */
  function turn(name, shown) {
    turned.show.delete(name);
    turned.hide.delete(name);
    if (shown !== byPreset(name)) turned[shown ? "show" : "hide"].add(name);
  }
}
