// The tools above the tables: filters, columns, and their place in the address.
import { choice, make } from "./dom.js";
import { query, write } from "./state.js";
import { Table } from "./table.js";

/** Enhances every board on the page. */
export function boards(page) {
  const tables = [...page.querySelectorAll("table[data-table]")].map((element) => new Table(element, remember));
  const place = page.querySelector("[data-tools]");
  if (!tables.length || !place) return;

  const wanted = read();
  const status = make("output", { "aria-live": "polite" });
  draw();
  for (const table of tables) table.sort(wanted.sort.get(table.id) ?? null);
  apply();

  function draw() {
    const field = make("input", { type: "search", value: wanted.text, placeholder: "name", oninput: (e) => set("text", e.target.value) });
    const box = make("input", { type: "checkbox", onchange: (e) => set("controls", e.target.checked) });
    box.checked = wanted.controls;
    place.replaceChildren(
      make("label", {}, "Find system", field),
      choice("Scores checked", [["", "all"], ...values("grades")], wanted.grades, (value) => set("grades", value)),
      choice("Run by", [["", "all"], ...values("answers")], wanted.answers, (value) => set("answers", value)),
      make("label", {}, box, "Show controls"),
      picker(),
      make("button", { type: "button", onclick: reset }, "Reset"),
      status,
    );
    place.hidden = false;
  }

  function values(name) {
    const found = new Set(tables.flatMap((table) => table.rows.map((row) => row.dataset[name])));
    return [...found].sort().map((value) => [value, value]);
  }

  function picker() {
    const groups = new Map();
    for (const { name, title, group } of tables.flatMap((table) => table.columns())) {
      if (name === "system") continue;
      if (!groups.has(group)) groups.set(group, new Map());
      groups.get(group).set(name, title);
    }
    const fields = [...groups].map(([group, columns]) =>
      make("fieldset", {}, make("legend", {}, group), [...columns].map(([name, title]) => {
        const box = make("input", { type: "checkbox", onchange: (e) => show(name, e.target.checked) });
        box.checked = !wanted.hide.has(name);
        return make("label", {}, box, title);
      })),
    );
    return make("details", {}, make("summary", {}, "Columns"), make("div", { class: "mv-picker" }, fields));
  }

  function show(name, shown) {
    if (shown) wanted.hide.delete(name);
    else wanted.hide.add(name);
    apply();
    remember();
  }

  function set(name, value) {
    wanted[name] = value;
    apply();
    remember();
  }

  function reset() {
    Object.assign(wanted, { text: "", grades: "", answers: "", controls: true, hide: new Set(), sort: new Map() });
    for (const table of tables) table.sort(null);
    draw();
    apply();
    remember();
    place.querySelector("input").focus();
  }

  function apply() {
    const text = wanted.text.trim().toLowerCase();
    let shown = 0;
    let all = 0;
    for (const table of tables) {
      shown += table.filter((row) => {
        if (!wanted.controls && row.dataset.control === "yes") return false;
        if (wanted.grades && row.dataset.grades !== wanted.grades) return false;
        if (wanted.answers && row.dataset.answers !== wanted.answers) return false;
        return !text || row.querySelector("th").textContent.toLowerCase().includes(text);
      });
      all += table.rows.length;
      table.hide(wanted.hide);
    }
    status.textContent = shown === all ? `${all} ${all === 1 ? "row" : "rows"}` : `${shown} of ${all} rows`;
  }

  function remember() {
    const sort = tables.filter((table) => table.sorting).map((table) => `${table.id}:${table.sorting.column}:${table.sorting.way}`);
    const { text, grades, answers, controls, hide } = wanted;
    write({ text, grades, answers, controls: controls ? "" : "no", hide: [...hide].sort(), sort });
  }
}

/** Reads the tools' state from the address. */
function read() {
  const params = query();
  const sort = new Map();
  for (const entry of params.getAll("sort")) {
    const match = /^([^:]+):(.+):(ascending|descending)$/.exec(entry);
    if (match) sort.set(match[1], { column: match[2], way: match[3] });
  }
  return {
    text: params.get("text") ?? "",
    grades: params.get("grades") ?? "",
    answers: params.get("answers") ?? "",
    controls: params.get("controls") !== "no",
    hide: new Set(params.getAll("hide")),
    sort,
  };
}
