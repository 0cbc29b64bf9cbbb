// One table: sorting, filtering and hiding columns of what the server wrote. The only module that renders tables.
import { make } from "./dom.js";

const FIRST_ROWS = 30;

/** A table whose headings sort it. */
export class Table {
  constructor(element) {
    this.element = element;
    this.id = element.dataset.table ?? element.dataset.overview;
    this.main = element.dataset.main;
    this.changed = () => {};
    this.bodies = [...element.tBodies]; // systems, then controls: no order mixes them
    this.rows = this.bodies.flatMap((body) => [...body.rows]);
    this.order = this.rows;
    this.heads = [...element.tHead.rows[0].cells];
    this.sorting = null;
    this.hidden = this.heads.map((head) => head.hidden);
    for (const head of this.heads) if (!head.hidden) this.offer(head);
  }

  /** Makes a heading a button that sorts. A hidden column gets its button when it is shown: a page has hundreds of them. */
  offer(head) {
    if (head.querySelector("button")) return;
    const button = make("button", { type: "button" });
    const link = head.querySelector("a");
    if (link) button.setAttribute("aria-label", `Sort by ${link.textContent}`);
    button.append(...(link ? ["↕"] : head.childNodes));
    head.append(button);
    button.addEventListener("click", () => {
      this.sort(this.next(head));
      this.changed();
    });
  }

  /** The columns: name, title, group, and whether the server shows it at first. */
  columns() {
    return this.heads.map((head) => ({ name: head.dataset.column, title: head.textContent.trim(), group: head.dataset.group, first: !("later" in head.dataset) }));
  }

  /** What a click on a heading leads to: the good end first, then the other, then the server's order. */
  next(head) {
    const first = head.dataset.direction === "higher" ? "descending" : "ascending";
    const second = first === "ascending" ? "descending" : "ascending";
    const column = head.dataset.column;
    if (this.sorting?.column !== column) return { column, way: first };
    return this.sorting.way === first ? { column, way: second } : null;
  }

  /** Sorts by `{column, way}`, or back to the server's order. Rows without a value stay last either way. */
  sort(sorting) {
    if (!sorting && !this.sorting) return;
    const place = this.heads.findIndex((head) => head.dataset.column === sorting?.column);
    this.sorting = place < 0 ? null : sorting;
    for (const head of this.heads) {
      if (this.sorting?.column === head.dataset.column) head.setAttribute("aria-sort", this.sorting.way);
      else head.removeAttribute("aria-sort");
    }
    this.order = this.sorting ? sorted(this.rows, place, this.sorting.way) : this.rows;
    for (const body of this.bodies) body.append(...this.order.filter((row) => row.parentNode === body));
    this.limit();
  }

  /** Marks the rows after the first shown ones; long tables show them when asked. A selector that counts rows would compute the style of all of them again. */
  limit() {
    let shown = 0;
    for (const row of this.order) {
      if (!row.hidden) shown += 1;
      row.classList.toggle("mv-beyond", shown > FIRST_ROWS);
    }
  }

  /** Shows the rows that pass; returns how many do. */
  filter(passes) {
    let shown = 0;
    for (const row of this.rows) {
      const hides = !passes(row);
      if (row.hidden !== hides) row.hidden = hides;
      shown += hides ? 0 : 1;
    }
    this.limit();
    return shown;
  }

  /** Shows the columns for which `wanted(name)` holds. */
  choose(wanted) {
    const hidden = this.heads.map((head) => !wanted(head.dataset.column));
    const places = [...hidden.keys()].filter((place) => hidden[place] !== this.hidden[place]);
    if (!places.length) return;
    this.hidden = hidden;
    for (const row of [this.heads[0].parentNode, ...this.rows]) {
      for (const place of places) row.cells[place].hidden = hidden[place];
    }
    for (const place of places) if (!hidden[place]) this.offer(this.heads[place]);
  }

  /** The highest score of a system in the main column; -1 without one. */
  best() {
    return Math.max(-1, ...this.rows.filter((row) => row.dataset.control !== "yes").map((row) => this.value(row, this.main) ?? -1));
  }

  /** The value of a column in a row, as a number; `null` without one. */
  value(row, column) {
    const place = this.heads.findIndex((head) => head.dataset.column === column);
    const text = row.cells[place]?.dataset.order ?? "";
    return text === "" ? null : Number(text);
  }
}

/** A small table in a region that scrolls, with a hidden caption; `body` is its `tbody`. */
export function plainTable(label, titles, body, kind = "") {
  const heads = make("thead", {}, make("tr", {}, titles.map((title) => make("th", { scope: "col" }, title))));
  const table = make("table", { class: `mv-plain-table ${kind}` }, make("caption", { class: "mv-hidden" }, label), heads, body);
  return make("div", { class: "mv-scroll", role: "region", "aria-label": label, tabindex: "0" }, table);
}

function sorted(rows, place, way) {
  const keyed = rows.map((row) => ({ row, key: row.cells[place].dataset.order ?? "" }));
  const numeric = keyed.every(({ key }) => key === "" || Number.isFinite(Number(key)));
  for (const one of keyed) one.number = numeric ? Number(one.key) : 0;
  const sign = way === "ascending" ? 1 : -1;
  keyed.sort((a, b) => {
    if (a.key === "" || b.key === "") return (a.key === "") - (b.key === "");
    return sign * (numeric ? a.number - b.number : a.key.localeCompare(b.key));
  });
  return keyed.map(({ row }) => row);
}
