// What a reader sees of a board, as a file and on paper: the rows that are shown, in their order, with exact values.
import { load } from "./data.js";
import { make, put } from "./dom.js";

const headings = (table) => [...table.tHead.rows[0].cells];
const shownRows = (table) => [...table.tBodies].flatMap((body) => [...body.rows]).filter((row) => !row.hidden);
const asJson = (file) => `${JSON.stringify(file, null, 1)}\n`;

/** Offers the shown part of each table beside the files of the whole table. */
export function shown(page) {
  for (const table of page.querySelectorAll("table[data-table]")) {
    const line = table.closest("section")?.querySelector(".mv-under");
    const whole = line?.querySelector('a[download][href$=".json"]');
    if (!whole) continue;
    const note = make("span", { role: "status" });
    const button = (kind, write) => make("button", { type: "button", class: "mv-link", "aria-label": `${kind.toUpperCase()} of what is shown`, onclick: async () => {
      note.textContent = "";
      try {
        save(write(chosen(table, await load(whole.href))), `${table.dataset.table}-shown.${kind}`);
      } catch (error) {
        note.textContent = ` Cannot write the file: ${error.message}`;
      }
    } }, kind.toUpperCase());
    put(line, make("span", { class: "mv-shown" }, " Download what is shown: ", button("csv", asCsv), ", ", button("json", asJson), ".", note));
  }
}

/** The rows and columns of the file that the table shows, in the order of the table. */
function chosen(table, file) {
  const names = headings(table).filter((head) => !head.hidden).map((head) => head.dataset.column);
  const rows = new Map(file.rows.map((row) => [row.run, row]));
  const keep = (parts) => Object.fromEntries(Object.entries(parts).filter(([name]) => names.includes(name)));
  const found = shownRows(table).map((row) => {
    const whole = rows.get(row.querySelector('[data-column="run"]').dataset.order);
    const { slug, standing, intervals, ranges } = whole;
    return { slug, standing, run: whole.run, ...Object.fromEntries(names.map((name) => [name, whole[name]])), intervals: keep(intervals), ranges: keep(ranges) };
  });
  return { ...file, columns: file.columns.filter(({ name }) => names.includes(name)), rows: found };
}

function asCsv({ columns, rows }) {
  const parts = columns.flatMap(({ name }) => {
    const ends = ["intervals", "ranges"].filter((kind) => rows.some((row) => row[kind][name]));
    return [[name, (row) => row[name]], ...ends.flatMap((kind) => [
      [`${name}_${kind === "ranges" ? "best" : "low"}`, (row) => row[kind][name]?.[0]],
      [`${name}_${kind === "ranges" ? "worst" : "high"}`, (row) => row[kind][name]?.[1]],
    ])];
  });
  const all = [["slug", (row) => row.slug], ["standing", (row) => row.standing], ...parts];
  return [all.map(([name]) => name), ...rows.map((row) => all.map(([, read]) => read(row)))].map((line) => `${line.map(cell).join(",")}\n`).join("");
}

/** A cell of a CSV file; text that a spreadsheet would read as a formula gets an apostrophe. */
function cell(value) {
  if (value === null || value === undefined) return "";
  if (typeof value !== "string") return String(value);
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function save(text, name) {
  const link = make("a", { href: URL.createObjectURL(new Blob([text])), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** Prints every column of the boards of a page, with the rows and the order that are shown. Paper gets one table of the main columns, then one for each group of others. */
export function print(page) {
  addEventListener("beforeprint", () => page.querySelectorAll("table[data-table]").forEach(spread));
  addEventListener("afterprint", () => page.querySelectorAll("[data-printed]").forEach((one) => one.remove()));
}

function spread(table) {
  const heads = headings(table);
  const groups = new Map([["", []]]);
  for (const [place, head] of heads.entries()) {
    const group = "later" in head.dataset ? head.dataset.group : "";
    if (head.dataset.column !== "system") groups.set(group, [...(groups.get(group) ?? []), place]);
  }
  const rows = shownRows(table);
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
