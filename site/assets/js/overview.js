// The tools above the overview of the front page.
import { Table } from "./table.js";
import { hasAll, tools } from "./tools.js";

/** Enhances the overview. */
export function overview(page) {
  const form = page.querySelector("[data-overview-tools]");
  if (!form) return;
  const tables = [...page.querySelectorAll("table[data-overview]")].map((element) => new Table(element));
  tools(page, form, tables, hasAll);
}
