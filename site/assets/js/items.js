// The questions of a run: a list with filters, and the open question.
import { canCheck } from "./bytes.js";
import { load } from "./data.js";
import { badge, choice, make, put } from "./dom.js";
import { detail } from "./item.js";
import { fragment, inVain, item, query, told, write } from "./state.js";

/** Items that are listed at a time. */
const STEP = 100;
const MARKS = { right: ["✓", "mv-right", "correct"], wrong: ["✗", "mv-wrong", "wrong"], failed: ["!", "mv-failed", "failed"] };

/** Shows the run that the address names. */
export async function items(place) {
  const run = query().get("run");
  if (!run) return;
  place.replaceChildren(make("p", { role: "status" }, "Loading…"));
  try {
    const runs = await load("items/runs.json");
    if (!Object.hasOwn(runs, run)) throw new Error("no such run.");
    const index = await load(runs[run]);
    const shared = index.benchmark_data ? await load(index.benchmark_data) : null;
    new Browser(place, index, shared);
  } catch (error) {
    place.replaceChildren(make("p", { role: "alert" }, `Cannot show this run: ${error.message}`));
  }
}

/** How an item came out: right (where credit is measured, with half of it or more), wrong, or failed without a grade. */
function result(line) {
  if (line.credit !== undefined) return line.credit >= 0.5 ? "right" : "wrong";
  if (line.verdict === null) return "failed";
  return line.verdict ? "right" : "wrong";
}

/** A link to a new issue about an item; null if the board names no repository, whose form for an issue is `form`. */
function report(form, run, id) {
  if (!form) return null;
  const address = new URL(form);
  const [title, text] = address.pathname.includes("/-/") ? ["issue[title]", "issue[description]"] : ["title", "body"];
  address.searchParams.set(title, `Item ${id} of run ${run}`);
  address.searchParams.set(text, `Run: ${run}\nItem: ${id}\nPage: ${location.href}\n\nWhat is wrong with the question, the expected answer or the verdict?\n`);
  return make("a", { href: address.href, rel: "noopener noreferrer nofollow", "data-report": true }, "Report this item");
}

class Browser {
  constructor(place, index, shared) {
    Object.assign(this, { place, index, shared });
    this.values = {
      category: Object.keys(index.categories),
      verdict: ["right", "wrong", "failed", "missed"],
      cause: [...new Set(index.items.map((line) => line.cause).filter(Boolean))].sort(),
      evidence: Object.keys(index.labels.evidence).filter((one) => index.items.some((line) => line.found === one)),
      flag: [...new Set(index.items.flatMap((line) => line.flags))].sort(),
    };
    this.refused = [];
    this.wanted = this.read();
    this.list = make("ol", { class: "mv-list", "aria-label": "Items", onscroll: () => this.grow() });
    this.status = make("output", { "aria-live": "polite" });
    this.open = make("div", { class: "mv-item" });
    this.position = make("span", { "aria-live": "polite" });
    this.draw();
    this.apply();
    addEventListener("hashchange", () => this.show(item()));
    document.addEventListener("keydown", (event) => this.key(event));
    this.show(item() ?? this.shown[0]?.id ?? null, false);
  }

  /** The filters in the address, without those that this run does not have. */
  read() {
    const params = query();
    const wanted = { text: params.get("text") ?? "" };
    for (const [name, known] of Object.entries(this.values)) {
      const value = params.get(name) ?? "";
      const isKnown = value === "" || known.includes(value);
      if (!isKnown) this.refused.push(told(name, value));
      wanted[name] = isKnown ? value : "";
    }
    return wanted;
  }

  draw() {
    const { index, wanted } = this;
    document.querySelector(".mv-items-title").replaceChildren(make("bdi", {}, index.system), " on ", make("span", {}, index.benchmark));
    const { cause, evidence, flag } = this.values;
    const titled = (names, titles = {}) => names.map((name) => [name, titles[name] ?? name]);
    const [right, wrong] = index.measure ? ["half a point or more", "less than half"] : ["correct", "wrong"];
    const set = (name) => (value) => {
      wanted[name] = value;
      this.refused = [];
      this.apply();
      write(wanted);
    };
    const choose = (label, name, values) => choice(label, [["", "all"], ...values], wanted[name], set(name));
    const field = make("input", { type: "search", value: wanted.text, oninput: (event) => set("text")(event.target.value) });
    const filters = make("div", { class: "mv-filters" },
      choose("Category", "category", Object.entries(index.categories)),
      choose("Result", "verdict", [["right", right], ["wrong", wrong], ["failed", "failed"], ["missed", "wrong or failed"]]),
      cause.length ? choose("Cause", "cause", titled(cause, index.labels.causes)) : null,
      evidence.length ? choose("Evidence", "evidence", titled(evidence, index.labels.evidence)) : null,
      choose("Flag", "flag", titled(flag, index.labels.flags)),
      make("label", {}, "Find text", field), this.status);
    const root = new URL(this.place.dataset.root, location.href);
    const back = new URL(index.run_url, root);
    this.place.replaceChildren();
    put(this.place,
      make("p", { class: "mv-crumb" }, make("a", { href: back.href }, `Back to run ${index.run_id}`)),
      make("p", { class: "mv-note" },
        index.judge.asked ? ["Judge: ", make("bdi", {}, index.judge.name),
          index.judge.label ? [" ", badge("note", index.judge.label)] : null,
          index.judge.endpoint ? [" at ", make("bdi", {}, index.judge.endpoint)] : " (offline)", " · "] : null,
        make("a", { href: new URL(index.judge.url, root).href }, index.judge.result)),
      canCheck() ? null : make("p", { class: "mv-note" }, "The digests of this data were not checked: browsers compute digests only on https pages."),
      index.words ? null : make("p", { class: "mv-note" }, "The licence does not let this page show the text of the benchmark, only ids, digests and scores. With the data on your computer, you can read it: ", index.elsewhere.map((command, place) => [place ? ", then " : null, make("code", {}, command)])),
      index.benchmark_data ? null : make("p", { class: "mv-note" }, `History and expected answers are not available: ${index.benchmark_missing}`),
      make("div", { class: "mv-items" },
        make("details", { class: "mv-choose", open: !matchMedia("(max-width: 60em)").matches }, make("summary", {}, "Filters and list"), filters, this.list), this.open),
    );
  }

  /** Fills the list with the items that pass the filters. */
  apply() {
    const { category, verdict, cause, evidence, flag } = this.wanted;
    const text = this.wanted.text.trim().toLowerCase();
    const asked = this.shared?.questions ?? {};
    const fits = (wanted, value) => !wanted || wanted === value;
    this.shown = this.index.items.filter((line) => fits(category, line.category) && fits(cause, line.cause) && fits(evidence, line.found)
      && (fits(verdict, result(line)) || (verdict === "missed" && result(line) !== "right")) && (!flag || line.flags.includes(flag))
      && (!text || `${line.id} ${asked[line.id] ?? ""} ${Object.values(line.slices).join(" ")}`.toLowerCase().includes(text)));
    this.list.replaceChildren();
    this.status.textContent = `${this.shown.length} of ${this.index.items.length} items${this.refused.length ? `. ${inVain(this.refused)}` : ""}`;
    this.mark();
    this.count();
  }

  /** Lists more items: so many that the open one and the end of what is in view are there. All at once would take a phone seconds. */
  grow() {
    const { list } = this;
    const isNearEnd = list.scrollTop + 2 * list.clientHeight > list.scrollHeight;
    const many = Math.max(this.here(), isNearEnd ? list.childElementCount : 0) + STEP;
    list.append(...this.shown.slice(list.childElementCount, many).map((line) => {
      const [sign, kind, name] = MARKS[result(line)];
      return make("li", {}, make("a", { href: fragment(line.id), "data-item": line.id },
        make("span", { class: kind, role: "img", "aria-label": name }, sign),
        make("span", { class: "mv-id" }, line.id),
        make("span", { class: "mv-note" }, line.credit === undefined ? null : `${line.credit.toFixed(2)} · `,
          this.shared?.questions?.[line.id] ?? this.index.categories[line.category] ?? line.category)));
    }));
  }

  mark() {
    this.grow();
    for (const link of this.list.querySelectorAll("a")) {
      link.removeAttribute("aria-current");
      if (link.dataset.item !== this.current) continue;
      link.setAttribute("aria-current", "true");
      // Only the list scrolls, not the page under the reader's eyes.
      const top = link.getBoundingClientRect().top - this.list.getBoundingClientRect().top + this.list.scrollTop;
      if (top < this.list.scrollTop || top > this.list.scrollTop + this.list.clientHeight - 40) this.list.scrollTop = top - 40;
    }
  }

  /** The position of the open item among those that pass the filters; -1 if it does not. */
  here() {
    return this.shown.findIndex((line) => line.id === this.current);
  }

  /** Says where the open item stands among those that pass the filters. */
  count() {
    const here = this.here();
    this.position.textContent = here < 0
      ? `not among the ${this.shown.length} filtered items`
      : `${here + 1} of ${this.shown.length}${this.shown.length < this.index.items.length ? " filtered items" : ""}`;
  }

  key(event) {
    if (event.altKey || event.ctrlKey || event.metaKey || event.target.closest?.("input, select, textarea")) return;
    if (event.key === "j" || event.key === "ArrowRight") this.move(1);
    else if (event.key === "k" || event.key === "ArrowLeft") this.move(-1);
  }

  /** Opens the item that stands `step` places further in the list. */
  move(step) {
    const here = this.here();
    const next = this.shown[here + step];
    if (next && (here >= 0 || step > 0)) this.show(next.id);
  }

  async show(id, remember = true) {
    if (id === null || id === this.current) return;
    this.current = id;
    const number = this.index.items.findIndex((line) => line.id === id);
    if (remember) write({}, fragment(id));
    this.mark();
    this.count();
    try {
      if (number < 0) throw new Error("this run has no item with this id.");
      const found = await this.load(number, id);
      if (this.current !== id) return;
      const line = this.index.items[number];
      const head = make("div", { class: "mv-move" },
        make("button", { type: "button", class: "mv-button mv-plain", onclick: () => this.move(-1) }, "← Previous"),
        make("button", { type: "button", class: "mv-button mv-plain", onclick: () => this.move(1) }, "Next →"),
        make("span", {}, this.position, " · shortcuts: j / k"),
        report(this.place.dataset.report, this.index.run_id, id));
      this.open.replaceChildren(head, ...detail(this.index, line, found, result(line) === "right"));
    } catch (error) {
      this.open.replaceChildren(make("p", { role: "alert" }, `Cannot show this item: ${error.message}`));
    }
  }

  /** Loads the shards an item stands in. */
  async load(number, id) {
    const { shard } = this.index.items[number];
    const where = this.shared?.shards[id];
    const [mine, theirs] = await Promise.all([
      load(this.index.files[shard]),
      where === undefined ? null : load(this.shared.files[where]),
    ]);
    return {
      answered: mine.items.find((one) => one.id === id),
      shard: mine,
      scenario: theirs?.scenarios.find((one) => Object.hasOwn(one.keys, id)) ?? null,
    };
  }
}
