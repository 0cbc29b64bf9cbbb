// Choosing the systems of the charts of trends. Without this, each chart shows the first ones.
import { make } from "./dom.js";

/** Puts a checkbox before each system of a legend. */
export function trends(page) {
  for (const section of page.querySelectorAll("[data-trends]")) {
    const entries = [...section.querySelectorAll("[data-trend-legend] > li")];
    if (entries.length > 1) for (const entry of entries) offer(section, entry, entries);
  }
}

function offer(section, entry, entries) {
  const box = make("input", { type: "checkbox", onchange: () => show(section, entries) });
  box.checked = !("off" in entry.dataset);
  entry.querySelector(".mv-note")?.remove();
  const label = make("label", {}, box);
  label.append(...entry.childNodes);
  entry.append(label);
}

/** Shows the lines of the checked systems, and the breaks that any of them has. */
function show(section, entries) {
  const wanted = new Set(entries.filter((entry) => entry.querySelector("input").checked).map((entry) => entry.dataset.key));
  for (const line of section.querySelectorAll("[data-series]")) line.toggleAttribute("hidden", !wanted.has(line.dataset.series));
  for (const mark of section.querySelectorAll("[data-breaks]")) {
    mark.toggleAttribute("hidden", !mark.dataset.breaks.split(" ").some((key) => wanted.has(key)));
  }
}
