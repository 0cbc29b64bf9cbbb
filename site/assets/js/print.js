// Paper is narrower than a table with all columns: it gets one table of the main columns, then one for each group of others.
import { make } from "./dom.js";

/** Prints every column of the boards of a page, with the rows and the order that are shown. */
export function print(page) {
  addEventListener("beforeprint", () => page.querySelectorAll("table[data-table]").forEach(spread));
  addEventListener("afterprint", () => page.querySelectorAll("[data-printed]").forEach((one) => one.remove()));
}

function spread(table) {
  const heads = [...[...table.tHead.rows].at(-1).cells];
  const groups = new Map([["", []]]);
  for (const [place, head] of heads.entries()) {
    const group = "later" in head.dataset ? head.dataset.group : "";
    if (head.dataset.column !== "system") groups.set(group, [...(groups.get(group) ?? []), place]);
  }
  const rows = [...table.tBodies[0].rows].filter((row) => !row.hidden);
  const box = table.closest(".mv-scroll");
  box.after(make("div", { "data-printed": true }, [...groups].map(([group, places]) => make("div", { class: "mv-scroll" },
    make("table", { class: "mv-board" }, group ? make("caption", {}, group) : null,
      make("thead", {}, make("tr", {}, make("th", { scope: "col", "data-column": "system" }, "System"), places.map((place) => copied(heads[place])))),
      make("tbody", {}, rows.map((row) => make("tr", { class: row.className },
        group ? make("th", { scope: "row", "data-column": "system" }, make("bdi", {}, row.querySelector("th .mv-value").textContent)) : copied(row.querySelector("th")), places.map((place) => copied(row.cells[place]))))))))));
}

function copied(cell) {
  const copy = cell.cloneNode(true);
  copy.hidden = false;
  copy.querySelector(".mv-pick")?.remove();
  copy.querySelector("button")?.replaceWith(...copy.querySelector("button").childNodes);
  return copy;
}
