// A checkbox on each row of a table that has the run's id, and a bar that leads to the comparison of the ticked rows.
import { at } from "./data.js";
import { make } from "./dom.js";

const MOST = 4;

/** Lets a reader tick two to four rows of each table that can be compared, once the table is near the window. */
export function picks(page) {
  const near = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      if (!isIntersecting) continue;
      near.unobserve(target);
      offer(target);
    }
  }, { rootMargin: "600px" });
  for (const table of page.querySelectorAll("table[data-compared]")) near.observe(table);
}

function offer(table) {
  const chosen = new Map();
  const text = make("output", { "aria-live": "polite" });
  const go = make("a", { class: "mv-button", href: at("compare/") }, "Compare");
  const bar = make("div", { class: "mv-picked", hidden: true }, text, go, make("button", { type: "button", class: "mv-button mv-plain", onclick: clear }, "Clear"));
  for (const row of table.querySelectorAll("tbody tr[data-run]")) {
    const name = row.querySelector("th bdi")?.textContent ?? row.dataset.run;
    const box = make("input", { type: "checkbox", "aria-label": `Compare ${name}`, class: "mv-pick" });
    box.addEventListener("change", () => tick(row.dataset.run, box));
    row.querySelector("th").prepend(box);
  }

  function tick(run, box) {
    const isOver = box.checked && chosen.size === MOST;
    if (isOver) box.checked = false;
    else if (box.checked) chosen.set(run, box);
    else chosen.delete(run);
    draw(isOver ? `At most ${MOST} systems can be compared. ` : "");
  }

  function clear() {
    for (const box of chosen.values()) box.checked = false;
    chosen.clear();
    draw("");
    table.querySelector(".mv-pick")?.focus();
  }

  function draw(problem) {
    if (!bar.isConnected) (table.closest(".mv-scroll") ?? table).after(bar); // before the first tick, it would only cost time
    bar.hidden = chosen.size === 0;
    text.textContent = `${problem}${chosen.size} chosen${chosen.size === 1 ? ". Choose one more" : ""}`;
    go.href = at(`compare/?board=${table.dataset.compared}&runs=${[...chosen.keys()].join(",")}`);
    go.hidden = chosen.size < 2;
  }
}
