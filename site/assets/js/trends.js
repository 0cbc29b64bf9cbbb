// Choosing the systems of the charts of trends. Without this, each chart shows the first ones.
import { make, problem } from "./dom.js";
import { inVain, query, told, write } from "./state.js";

/** Puts a checkbox before each system of a legend; the address keeps the choice. */
export function trends(page) {
  const sections = [...page.querySelectorAll("[data-trends]")].map((section) => ({
    section,
    entries: [...section.querySelectorAll("[data-trend-legend] > li")],
  }));
  const offered = sections.filter(({ entries }) => entries.length > 1);
  const asked = query().getAll("draw");
  const all = offered.flatMap(({ entries }) => entries);
  const slugs = new Set(all.map((entry) => entry.dataset.slug));
  const wanted = asked.filter((slug) => slugs.has(slug));
  const refused = asked.filter((slug) => !slugs.has(slug)).map((slug) => told("system", slug));
  if (refused.length && all.length) page.querySelector("article h1")?.after(problem(inVain(refused)));
  for (const { section, entries } of offered) {
    for (const entry of entries) {
      const isDrawn = wanted.length ? wanted.includes(entry.dataset.slug) : !("off" in entry.dataset);
      offer(entry, isDrawn, () => {
        show(section, entries);
        write({ draw: [...new Set(drawn(all).map((each) => each.dataset.slug))].sort() });
      });
    }
    show(section, entries);
  }
}

function offer(entry, isDrawn, change) {
  const box = make("input", { type: "checkbox", onchange: change });
  box.checked = isDrawn;
  entry.querySelector(".mv-note")?.remove();
  const label = make("label", {}, box);
  label.append(...entry.childNodes);
  entry.append(label);
}

function drawn(entries) {
  return entries.filter((entry) => entry.querySelector("input").checked);
}

/** Shows the lines of the checked systems, and the breaks that any of them has. */
function show(section, entries) {
  const wanted = new Set(drawn(entries).map((entry) => entry.dataset.key));
  for (const line of section.querySelectorAll("[data-series]")) line.toggleAttribute("hidden", !wanted.has(line.dataset.series));
  for (const mark of section.querySelectorAll("[data-breaks]")) {
    mark.toggleAttribute("hidden", !mark.dataset.breaks.split(" ").some((key) => wanted.has(key)));
  }
}
