// The tools above tables: a form that the server wrote. Its fields have the names that keep their values in the address.
import { inVain, query, told, write } from "./state.js";

/** Whether a row has every property that the chips ask for, one of the kinds, and every value that the lists do. */
export function hasAll(row, data) {
  const kinds = data.getAll("kind");
  if (kinds.length && !kinds.includes(row.dataset.kind)) return false;
  return [...data].every(([name, value]) => name === "kind" || (name === "only" ? row.dataset[value] === "1" : !value || (row.dataset[name] ?? value) === value));
}

/** Hides the chips that would keep all rows or none. */
function useful(form, rows) {
  for (const field of form.querySelectorAll(".mv-chip input:not([name=within])")) {
    const kept = rows.filter((row) => (field.name === "kind" ? row.dataset.kind === field.value : row.dataset[field.value] === "1")).length;
    field.closest("label").hidden = !field.checked && (kept === 0 || kept === rows.length);
  }
}

/**
 * Wakes up a form above tables.
 *
 * `passes(row, data)` says whether a row stays, by the form's data. Further parts of the state: `refused` lists what
 * the address asks in vain, `parts()` returns what it keeps, `clear()` resets them, and `show()` draws them.
 */
export function tools(page, form, tables, passes, { refused = [], parts = () => ({}), clear = () => {}, show = () => {} } = {}) {
  const names = [...new Set([...form.elements].map((field) => field.name).filter(Boolean))];
  const status = form.querySelector("output");
  read(query());
  for (const table of tables) table.changed = remember;
  page.addEventListener("tab", apply);
  form.addEventListener("input", changed);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.querySelector("[data-reset]").addEventListener("click", reset);
  apply();

  function read(params) {
    for (const name of names) {
      for (const value of params.getAll(name)) {
        const field = [...form.elements].find((one) => one.name === name && (one.type !== "checkbox" || one.value === value));
        if (!field || (field.options && ![...field.options].some((option) => option.value === value))) refused.push(told(name, value));
        else if (field.type === "checkbox") field.checked = true;
        else field.value = value;
      }
    }
    for (const entry of params.getAll("sort")) {
      const [, id, column, way] = /^([^:]+):(.+):(ascending|descending)$/.exec(entry) ?? [null, tables[0]?.id, `category_${entry}`];
      const table = tables.find((one) => one.id === id);
      const head = table?.heads.find((one) => one.dataset.column === column);
      if (head) table.sort(way ? { column, way } : table.next(head));
      else refused.push(told("order", entry));
    }
  }

  function changed() {
    apply();
    remember();
  }

  function reset() {
    form.reset();
    refused.length = 0;
    for (const table of tables) table.sort(null);
    clear();
    changed();
    form.elements.text.focus();
  }

  function apply() {
    const data = new FormData(form);
    const text = data.get("text").trim().toLowerCase();
    const visible = tables.filter((table) => !table.element.closest("[data-panel]")?.hidden);
    let shown = 0;
    let all = 0;
    for (const table of tables) {
      const least = data.get("within") ? table.best() - Number(data.get("within")) / 100 : null;
      const found = table.filter((row) => {
        if (!passes(row, data)) return false;
        if (least !== null && (table.value(row, table.main) ?? -1) < least) return false;
        return !text || row.querySelector("th").textContent.toLowerCase().includes(text);
      });
      const link = page.querySelector(`[data-tab="${table.id}"]`);
      if (link) link.hidden = found === 0 && !link.hasAttribute("aria-current");
      if (!visible.includes(table)) continue;
      shown += found;
      all += table.rows.length;
    }
    form.hidden = visible.length === 0;
    useful(form, visible.flatMap((table) => table.rows));
    const rows = shown === all ? `${all} ${all === 1 ? "row" : "rows"}` : `${shown} of ${all} rows`;
    status.textContent = refused.length ? `${rows}. ${inVain(refused)}` : rows;
    show(data);
  }

  function remember() {
    const data = new FormData(form);
    const sort = tables.filter((table) => table.sorting).map((table) => `${table.id}:${table.sorting.column}:${table.sorting.way}`);
    write({ ...Object.fromEntries(names.map((name) => [name, data.getAll(name)])), ...parts(), sort });
  }
}
