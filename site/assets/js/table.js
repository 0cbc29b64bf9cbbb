// One table: sorting, filtering and hiding columns of what the server wrote. The only module that renders tables.
import { make } from "./dom.js";

/** A table of the board. */
export class Table {
  constructor(element, changed) {
    this.element = element;
    this.id = element.dataset.table;
    this.body = element.tBodies[0];
    this.rows = [...this.body.rows];
    this.heads = [...element.tHead.rows[1].cells];
    this.groups = [...element.tHead.rows[0].cells];
    this.sorting = null;
    for (const head of this.heads) {
      const button = make("button", { type: "button" });
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        this.sort(this.next(head));
        changed();
      });
    }
  }

  /** The columns: name, title, group. */
  columns() {
    return this.heads.map((head) => ({ name: head.dataset.column, title: head.textContent.trim(), group: head.dataset.group }));
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
    this.sorting = sorting && this.heads.some((head) => head.dataset.column === sorting.column) ? sorting : null;
    for (const head of this.heads) {
      if (this.sorting?.column === head.dataset.column) head.setAttribute("aria-sort", this.sorting.way);
      else head.removeAttribute("aria-sort");
    }
    const ordered = this.sorting ? sorted(this.rows, this.sorting) : this.rows;
    this.body.append(...ordered);
  }

  /** Shows the rows that pass; returns how many do. */
  filter(passes) {
    let shown = 0;
    for (const row of this.rows) {
      row.hidden = !passes(row);
      shown += row.hidden ? 0 : 1;
    }
    return shown;
  }

  /** Hides columns by name. */
  hide(names) {
    for (const row of [this.element.tHead.rows[1], ...this.rows]) {
      for (const cell of row.cells) cell.hidden = names.has(cell.dataset.column);
    }
    for (const group of this.groups) {
      const span = this.heads.filter((head) => head.dataset.group === group.dataset.group && !head.hidden).length;
      group.hidden = span === 0;
      group.colSpan = Math.max(span, 1);
    }
  }
}

function sorted(rows, { column, way }) {
  const keyed = rows.map((row) => {
    const cell = [...row.cells].find((one) => one.dataset.column === column);
    return { row, key: cell ? cell.dataset.order : "" };
  });
  const numeric = keyed.every(({ key }) => key === "" || Number.isFinite(Number(key)));
  const sign = way === "ascending" ? 1 : -1;
  keyed.sort((a, b) => {
    if (a.key === "" || b.key === "") return (a.key === "") - (b.key === "");
    return sign * (numeric ? Number(a.key) - Number(b.key) : a.key.localeCompare(b.key));
  });
  return keyed.map(({ row }) => row);
}
