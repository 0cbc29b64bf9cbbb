// A reader's own weights of categories or benchmarks: sliders, a ranking by score, and what changes against the published
// places. The address keeps the weights; nothing here is official.
import { at, load } from "./data.js";
import { choice, make, problem, put } from "./dom.js";
import { query, write } from "./state.js";
import { plainTable } from "./table.js";

const MOST = 100;

/** Fills each panel when it is opened, or at once where the address has its weights. */
export function weights(page) {
  const panels = [...page.querySelectorAll("[data-weights]")];
  const asked = query().get("weights");
  const name = asked?.split(":")[0];
  for (const panel of panels) {
    if (panel.open) fill(panel); // opened before this module was here
    else panel.addEventListener("toggle", () => fill(panel), { once: true });
    if (panel.dataset.weights === name || location.hash === `#${panel.id}`) {
      if (panel.closest("[hidden]")) page.querySelector(`[data-tab="${CSS.escape(panel.dataset.weights)}"]`)?.click();
      panel.open = true;
    }
  }
  if (asked !== null && !panels.some((panel) => panel.dataset.weights === name)) {
    page.querySelector("article h1")?.after(problem(`This page has no table ‘${name}’ for your weights.`));
  }
}

/** Loads the weights, and scrolls until the panel can be seen. */
function fill(panel) {
  const name = panel.dataset.weights;
  return load(`weights/${name}.json`).then((data) => new Panel(panel, name, data))
    .catch((error) => put(panel, make("p", { role: "alert" }, `Cannot show the weights: ${error.message}`)))
    .then(() => panel.scrollIntoView({ block: "nearest" }));
}

/** Whole numbers from 0 to 100, one for each part and not all 0; null for anything else. */
export function parsed(text, parts) {
  const found = text.split(",");
  if (found.length !== parts || !found.every((one) => /^\d{1,3}$/.test(one) && Number(one) <= MOST)) return null;
  const numbers = found.map(Number);
  return numbers.some((one) => one > 0) ? numbers : null;
}

/** The weighted mean of each row; null where a part that counts has no value. */
function scored(rows, values) {
  const total = values.reduce((sum, one) => sum + one, 0);
  return rows.map((row) => {
    if (row.shares.some((share, part) => values[part] > 0 && share === null)) return null;
    return row.shares.reduce((sum, share, part) => sum + (values[part] > 0 ? values[part] * share : 0), 0) / total;
  });
}

/** The place of each ranked row by score alone; equal scores share the better one. */
function placed(rows, scores) {
  const counted = scores.filter((score, place) => rows[place].place !== null && score !== null);
  return scores.map((score, place) => {
    return rows[place].place === null || score === null ? null : 1 + counted.filter((other) => other > score + 1e-12).length;
  });
}

class Panel {
  constructor(panel, name, data) {
    Object.assign(this, { name, data });
    this.published = data.parts.map((part) => part.weight);
    this.values = null; // the published weights, exactly
    const [asked, ...rest] = (query().get("weights") ?? "").split(":");
    const told = asked === name ? rest.join(":") : "";
    this.values = told ? parsed(told, data.parts.length) : null;
    this.said = make("output", { "aria-live": "polite" });
    this.body = make("tbody");
    const kind = data.kind;
    put(panel,
      told && !this.values ? problem(`‘${told}’ is not a list of ${data.parts.length} weights from 0 to ${MOST}, not all 0. The published weights are shown.`) : null,
      make("p", {}, make("strong", {}, "Unofficial."), ` These are your weights, not those of ${kind === "category" ? "the benchmark" : "the suite"}. Places here are by score alone: they do not say which differences are significant.`),
      make("div", { class: "mv-sliders" }, (this.sliders = data.parts.map((part, place) => this.slider(part, place))).map((one) => one.node)),
      make("p", { class: "mv-presets" },
        make("button", { type: "button", onclick: () => this.set(null) }, "As published"),
        make("button", { type: "button", onclick: () => this.set(data.parts.map(() => 50)) }, "Equal"),
        choice(`Only one ${kind}`, [["", "choose"], ...data.parts.map((part, place) => [String(place), part.title])], "", (chosen) => {
          if (chosen !== "") this.set(data.parts.map((_, place) => (place === Number(chosen) ? MOST : 0)));
        }),
        make("button", { type: "button", onclick: () => { this.set(null); this.sliders[0].input.focus(); } }, "Reset")),
      make("p", {}, this.said),
      plainTable(`Your weights, ${data.title}`, ["Your place", "System", "Your score, %", "Published score, %", "Published rank", "Published place to yours"], this.body));
    this.base = scored(data.rows, this.published);
    this.draw();
  }

  slider(part, place) {
    const share = make("output", {});
    const input = make("input", { type: "range", min: 0, max: MOST, step: 1, "aria-label": part.title });
    input.addEventListener("input", () => {
      const values = this.shown();
      values[place] = Number(input.value);
      this.set(values);
    });
    return { input, share, node: make("label", {}, make("span", {}, part.title), input, share) };
  }

  /** The sliders' numbers: the chosen ones, or the published weights as whole percents. */
  shown() {
    return this.values ? [...this.values] : this.published.map((weight) => Math.round(weight * MOST));
  }

  set(values) {
    this.values = values;
    this.draw();
    write({ weights: values ? `${this.name}:${values.join(",")}` : "" });
  }

  draw() {
    const shown = this.shown();
    const total = shown.reduce((sum, one) => sum + one, 0);
    this.sliders.forEach(({ input, share }, place) => {
      const part = this.values ? (total ? shown[place] / total : 0) : this.published[place];
      input.value = String(shown[place]);
      share.textContent = `${(100 * part).toFixed(0)} %`;
      input.setAttribute("aria-valuetext", share.textContent);
    });
    if (total === 0) {
      this.said.textContent = "All weights are 0: there is no score. Move a slider.";
      this.body.replaceChildren();
      return;
    }
    this.rank();
  }

  rank() {
    const { rows } = this.data;
    const scores = scored(rows, this.values ?? this.published);
    const places = placed(rows, scores);
    const last = Math.max(1, ...places.filter((one) => one !== null), ...rows.map((row) => row.place ?? 1));
    const order = rows.map((_, place) => place).sort((a, b) => (scores[b] ?? -Infinity) - (scores[a] ?? -Infinity) || a - b);
    this.body.replaceChildren(...order.map((at) => this.line(rows[at], scores[at], this.base[at], places[at], last)));
    const ranked = rows.map((_, place) => place).filter((place) => places[place] !== null);
    const first = ranked.filter((place) => places[place] === 1).map((place) => rows[place].name);
    const moved = ranked.filter((place) => places[place] !== rows[place].place).length;
    this.said.textContent = `First: ${first.join(", ") || "none"}. ${moved} of ${ranked.length} systems change place.`;
  }

  line(row, score, base, place, last) {
    const text = (value) => (value === null ? "–" : (100 * value).toFixed(1).replace("-", "−"));
    const strip = place === null || row.place === null ? "–" : this.strip(row, place, last);
    return make("tr", { class: row.control ? "mv-control" : null }, make("td", { class: "mv-num" }, place ?? "–"),
      make("th", { scope: "row" }, make("a", { href: at(row.url) }, make("bdi", {}, row.name)), row.control ? " (control)" : ""),
      make("td", { class: "mv-num" }, make("strong", {}, text(score))), make("td", { class: "mv-num" }, text(base)), make("td", { class: "mv-num" }, row.rank ?? "–"), make("td", {}, strip));
  }

  strip(row, place, last) {
    const where = (rank) => `${last > 1 ? ((100 * (rank - 1)) / (last - 1)).toFixed(2) : 50}%`;
    const span = (from, to, kind) => make("span", { class: kind, style: `left:${where(Math.min(from, to))};right:calc(100% - ${where(Math.max(from, to))})` });
    const words = place === row.place ? `${place}` : `${row.place} → ${place}`;
    const way = place < row.place ? "better" : place > row.place ? "worse" : "even";
    return make("span", { class: "mv-strip" },
      make("span", { class: `mv-strip-line mv-strip-${way}`, "aria-hidden": "true" }, row.span ? span(...row.span, "mv-strip-span") : null, span(row.place, place, "mv-strip-move"),
        make("span", { class: "mv-strip-from", style: `left:${where(row.place)}` }), make("span", { class: "mv-strip-to", style: `left:${where(place)}` })),
      make("span", { class: "mv-num" }, words));
  }
}
