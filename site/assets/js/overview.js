// The tools above the overview of the front page: text, chips, distance to the best, order.
import { choice, make } from "./dom.js";
import { query, write } from "./state.js";
import { Table } from "./table.js";

const CHIPS = [
  ["local", "Runs locally"],
  ["keyless", "No key needed"],
  ["open", "Open licence"],
  ["better", "Better than the baseline"],
];

const WITHIN = ["1", "2", "5", "10"];

/** Enhances the overview. */
export function overview(page) {
  const tables = [...page.querySelectorAll("table[data-overview]")].map((element) => new Table(element, remember));
  const place = page.querySelector("[data-overview-tools]");
  if (!tables.length || !place) return;

  const refused = [];
  const params = query();
  const only = new Set(params.getAll("only").filter((name) => known("only", name, CHIPS.map(([id]) => id))));
  let text = params.get("text") ?? "";
  let within = params.get("within") ?? "";
  if (within && !known("within", within, WITHIN)) within = "";
  for (const entry of params.getAll("sort")) {
    const match = /^([^:]+):(.+):(ascending|descending)$/.exec(entry);
    const table = tables.find((one) => one.id === match?.[1]);
    if (table?.heads.some((head) => head.dataset.column === match[2])) table.sort({ column: match[2], way: match[3] });
    else refused.push(`order “${entry.slice(0, 40)}”`);
  }
  const status = make("output", { "aria-live": "polite" });
  draw();
  apply();

  function known(name, value, values) {
    if (values.includes(value)) return true;
    refused.push(`${name} “${value.slice(0, 40)}”`);
    return false;
  }

  function draw() {
    const field = make("input", { type: "search", value: text, placeholder: "system", oninput: (event) => {
      text = event.target.value;
      changed();
    } });
    place.replaceChildren(
      make("label", {}, "Find system", field),
      ...CHIPS.map(([name, title]) => make("button", { type: "button", class: "mv-chip", "aria-pressed": String(only.has(name)), onclick: (event) => {
        if (!only.delete(name)) only.add(name);
        event.currentTarget.setAttribute("aria-pressed", String(only.has(name)));
        changed();
      } }, title)),
      choice("Overall", [["", "all"], ...WITHIN.map((points) => [points, `within ${points} points of the best`])], within, (value) => {
        within = value;
        changed();
      }),
      make("button", { type: "button", onclick: reset }, "Reset"),
      status,
    );
    place.hidden = false;
  }

  function reset() {
    only.clear();
    refused.length = 0;
    text = within = "";
    for (const table of tables) table.sort(null);
    draw();
    changed();
    place.querySelector("input").focus();
  }

  function changed() {
    apply();
    remember();
  }

  function apply() {
    const wanted = text.trim().toLowerCase();
    const counts = tables.map((table) => {
      const measured = table.heads.find((head) => head.dataset.column === "index") ? "index" : table.heads[2].dataset.column;
      const best = Math.max(...table.rows.map((row) => table.value(row, measured) ?? -1));
      const found = table.filter((row) => {
        for (const name of only) if (row.dataset[name] !== "1") return false;
        if (within && (table.value(row, measured) ?? -1) < best - Number(within) / 100) return false;
        return !wanted || row.querySelector("th").textContent.toLowerCase().includes(wanted);
      });
      const link = page.querySelector(`[data-tab="${table.id}"]`);
      if (link) link.hidden = found === 0 && !link.hasAttribute("aria-current");
      return found;
    });
    const shown = counts.reduce((sum, count) => sum + count, 0);
    const all = tables.reduce((sum, table) => sum + table.rows.length, 0);
    const rows = shown === all ? `${all} ${all === 1 ? "row" : "rows"}` : `${shown} of ${all} rows`;
    status.textContent = refused.length ? `${rows}. The address asks for what this page does not have: ${refused.join(", ")}.` : rows;
  }

  function remember() {
    const sort = tables.filter((table) => table.sorting).map((table) => `${table.id}:${table.sorting.column}:${table.sorting.way}`);
    write({ text, within, only: [...only].sort(), sort });
  }
}
