// The tools above the tables of a benchmark: filters, columns, and their place in the address.
import { choice, make } from "./dom.js";
import { query, write } from "./state.js";
import { Table } from "./table.js";

/** Groups of columns that a reader can ask for at once; "" is what the server shows. */
const PRESETS = [
  ["", "Main columns"],
  ["scores", "Scores", ["Score", "By category"]],
  ["cost", "Cost", ["Tokens and cost"]],
  ["speed", "Speed", ["Latency"]],
  ["trust", "Trust", ["Coverage and errors", "Trust", "Source"]],
  ["all", "All columns", null],
];

const WITHIN = ["1", "2", "5", "10"];

/** Enhances the tables of a page. */
export function boards(page) {
  const tables = [...page.querySelectorAll("table[data-table]")].map((element) => new Table(element, remember));
  const place = page.querySelector("[data-tools]");
  if (!tables.length || !place) return;

  const links = new Map([...page.querySelectorAll("[data-tab]")].map((link) => [link.dataset.tab, link]));
  const columns = new Map(tables.flatMap((table) => table.columns()).map((column) => [column.name, column]));
  const refused = [];
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
      choice("Columns", PRESETS.map(([name, title]) => [name, title]), wanted.preset, (value) => choose(value)),
      choice("Scores checked", [["", "all"], ...values("grades")], wanted.grades, (value) => set("grades", value)),
      choice("Run by", [["", "all"], ...values("answers")], wanted.answers, (value) => set("answers", value)),
      choice("Score", [["", "all"], ...WITHIN.map((points) => [points, `within ${points} points of the best`])], wanted.within, (value) => set("within", value)),
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
    for (const { name, title, group } of columns.values()) {
      if (name === "system") continue;
      if (!groups.has(group)) groups.set(group, []);
      groups.get(group).push([name, title]);
    }
    const fields = [...groups].map(([group, members]) =>
      make("fieldset", {}, make("legend", {}, group), members.map(([name, title]) => {
        const box = make("input", { type: "checkbox", onchange: (e) => turn(name, e.target.checked) });
        box.checked = isShown(name);
        return make("label", {}, box, title);
      })),
    );
    const box = make("details", { onkeydown: (event) => {
      if (event.key !== "Escape") return;
      box.open = false;
      box.firstChild.focus();
    } }, make("summary", {}, "Choose columns"), make("div", { class: "mv-picker" }, fields));
    return box;
  }

  /** Whether a column is shown: by the preset, unless it was turned on or off. */
  function isShown(name) {
    if (wanted.show.has(name)) return true;
    if (wanted.hide.has(name)) return false;
    return byPreset(name);
  }

  function byPreset(name) {
    const { group, first } = columns.get(name);
    const preset = PRESETS.find(([id]) => id === wanted.preset);
    if (preset[0] === "") return first;
    return group === "Rank" || name === "composite" || preset[2] === null || preset[2].includes(group);
  }

  function turn(name, shown) {
    wanted.show.delete(name);
    wanted.hide.delete(name);
    if (shown !== byPreset(name)) (shown ? wanted.show : wanted.hide).add(name);
    apply();
    remember();
  }

  function choose(preset) {
    Object.assign(wanted, { preset, show: new Set(), hide: new Set() });
    place.querySelector("details").replaceWith(picker());
    apply();
    remember();
  }

  function set(name, value) {
    wanted[name] = value;
    apply();
    remember();
  }

  function reset() {
    Object.assign(wanted, { text: "", grades: "", answers: "", within: "", preset: "", controls: true, show: new Set(), hide: new Set(), sort: new Map() });
    refused.length = 0;
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
      const best = Math.max(...table.rows.filter((row) => row.dataset.control === "no").map((row) => table.value(row, "composite") ?? -1));
      const found = table.filter((row) => {
        if (!wanted.controls && row.dataset.control === "yes") return false;
        if (wanted.grades && row.dataset.grades !== wanted.grades) return false;
        if (wanted.answers && row.dataset.answers !== wanted.answers) return false;
        if (wanted.within && (table.value(row, "composite") ?? -1) < best - Number(wanted.within) / 100) return false;
        return !text || row.querySelector("th").textContent.toLowerCase().includes(text);
      });
      const link = links.get(table.id);
      if (link) link.hidden = found === 0 && !link.hasAttribute("aria-current");
      shown += found;
      all += table.rows.length;
      table.choose(isShown);
    }
    const rows = shown === all ? `${all} ${all === 1 ? "row" : "rows"}` : `${shown} of ${all} rows`;
    status.textContent = refused.length ? `${rows}. The address asks for what this page does not have: ${refused.join(", ")}.` : rows;
  }

  function remember() {
    const sort = tables.filter((table) => table.sorting).map((table) => `${table.id}:${table.sorting.column}:${table.sorting.way}`);
    const { text, grades, answers, within, preset, controls, show, hide } = wanted;
    write({ text, grades, answers, within, columns: preset, controls: controls ? "" : "no", show: [...show].sort(), hide: [...hide].sort(), sort });
  }

  /** Reads the state of the tools from the address; collects what this page does not know. */
  function read() {
    const params = query();
    const one = (name, known) => {
      const value = params.get(name) ?? "";
      if (value === "" || known.includes(value)) return value;
      refused.push(`${name} “${value.slice(0, 40)}”`);
      return "";
    };
    const many = (name) => new Set(params.getAll(name).filter((value) => {
      if (columns.has(value)) return true;
      refused.push(`column “${value.slice(0, 40)}”`);
      return false;
    }));
    const sort = new Map();
    for (const entry of params.getAll("sort")) {
      const match = /^([^:]+):(.+):(ascending|descending)$/.exec(entry);
      if (tables.find((table) => table.id === match?.[1])?.heads.some((head) => head.dataset.column === match[2])) sort.set(match[1], { column: match[2], way: match[3] });
      else refused.push(`order “${entry.slice(0, 40)}”`);
    }
    return {
      text: params.get("text") ?? "",
      grades: one("grades", values("grades").map(([value]) => value)),
      answers: one("answers", values("answers").map(([value]) => value)),
      within: one("within", WITHIN),
      preset: one("columns", PRESETS.map(([name]) => name)),
      controls: one("controls", ["no"]) !== "no",
      show: many("show"),
      hide: many("hide"),
      sort,
    };
  }
}
