// The tools above the overview of the front page.
import { Table } from "./table.js";
import { tools } from "./tools.js";

/** Enhances the overview. */
export function overview(page) {
  const form = page.querySelector("[data-overview-tools]");
  if (!form) return;
  const tables = [...page.querySelectorAll("table[data-overview]")].map((element) => new Table(element));
  tools(page, form, tables, (row, data) => data.getAll("only").every((name) => row.dataset[name] === "1"));
}
