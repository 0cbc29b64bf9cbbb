// What a reader sees of a board as a file: the rows and columns that are shown, in their order, with exact values.
import { load } from "./data.js";
import { make, put } from "./dom.js";

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
  const names = [...[...table.tHead.rows].at(-1).cells].filter((head) => !head.hidden).map((head) => head.dataset.column);
  const rows = new Map(file.rows.map((row) => [row.run, row]));
  const keep = (parts) => Object.fromEntries(Object.entries(parts).filter(([name]) => names.includes(name)));
  const found = [...table.tBodies[0].rows].filter((row) => !row.hidden).map((row) => {
    const whole = rows.get(row.querySelector('[data-column="run"]').dataset.order);
    const { slug, standing, intervals, ranges } = whole;
    return { slug, standing, run: whole.run, ...Object.fromEntries(names.map((name) => [name, whole[name]])), intervals: keep(intervals), ranges: keep(ranges) };
  });
  return { ...file, columns: file.columns.filter(({ name }) => names.includes(name)), rows: found };
}

function asJson(file) {
  return `${JSON.stringify(file, null, 1)}\n`;
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
