// Compares two systems in every table that both are in. Every number is a text of the site's data, as `memeval compare` prints it.
import { at, load } from "./data.js";
import { fold, make, put, visible } from "./dom.js";
import { fragment, query, write } from "./state.js";
import { plainTable } from "./table.js";

const MOST = 4;
const FIRST_FLIPS = 8;
const WORDS = { better: "significantly higher", worse: "significantly lower", even: "no significant difference" };
const MARKS = { better: "▲", worse: "▼", even: "=" };
const signed = (text) => text.replace("-", "−");
const named = (run) => make("a", { href: at(run.url) }, make("bdi", {}, run.name));
const parts = (name) => (query().get(name) ?? "").split(",").filter(Boolean);

/** Shows the systems that the address names, and lets a reader choose others. */
export async function compare(place) {
  const index = await load("compare/data/systems.json").catch((error) => fail(place, error));
  if (!index?.systems.length) return;
  const names = make("datalist", { id: "mv-systems" });
  const fields = ["First system", "Second system"].map(() => make("input", { type: "search", list: "mv-systems", autocomplete: "off", placeholder: "type a name", oninput: choose, onchange: missing }));
  const form = make("form", { class: "mv-filters mv-compare-form", onsubmit: (event) => event.preventDefault() },
    make("label", {}, "First system", fields[0]), make("label", {}, "Second system", fields[1]), names);
  const [notes, out] = [make("div", { role: "status" }), make("div", { "aria-live": "polite" })];
  const rest = [...place.childNodes];
  place.replaceChildren(form, notes, out);
  let wanted;
  const restore = () => { wanted = read(index); return show(); };
  await restore();
  addEventListener("popstate", restore);

  function choose() {
    const systems = fields.map((field) => known(field)[0]);
    if (!systems.every(Boolean) || systems[0] === systems[1]) return;
    wanted = { ...wanted, systems, runs: [], problems: [] };
    write({ systems: systems.map(({ slug }) => slug).join(","), runs: "" });
    show();
  }

  /** The systems whose names are what a reader typed; with `part`, else those that have it in name or configuration. */
  function known({ value }, part = false) {
    const typed = value.trim().toLowerCase();
    const exact = index.systems.filter(({ name }) => name.toLowerCase() === typed);
    return exact.length || !part ? exact : index.systems.filter(({ name, what }) => `${name} ${what ?? ""}`.toLowerCase().includes(typed));
  }

  /** Completes what a reader typed, or says why it leads nowhere, once the field is left. */
  function missing({ target }) {
    const [typed, found] = [target.value.trim(), known(target, true)];
    if (found.length === 1) target.value = found[0].name;
    const why = found.length ? `${found.length} systems fit ‘${typed}’` : `No system ‘${typed}’ can be compared`;
    if (typed) tell(found.length !== 1 ? [`${why}. Choose one of the suggestions.`] : fields[0].value === fields[1].value ? ["Choose two different systems."] : []);
    choose();
  }

  function tell(problems) {
    notes.replaceChildren(...problems.map((text) => make("p", { class: "mv-problem" }, text)));
  }

  async function show() {
    const problems = [...wanted.problems];
    const board = index.tables.find(({ track }) => track === wanted.board);
    const here = index.systems.filter(({ runs }) => !board || runs.some(([track]) => track === board.track));
    names.replaceChildren(...here.map(({ name, what }) => make("option", { value: name, label: what ? `${name} · ${what}` : null })));
    out.replaceChildren();
    let runs = [];
    if (board && wanted.runs.length) {
      try {
        const table = await load(`compare/data/${board.track}.json`);
        problems.push(...keepKnown(table, wanted));
        runs = wanted.runs.map((run) => index.systems.flatMap((system) => system.runs).find(([track, id]) => track === board.track && id === run));
        wanted.systems = wanted.runs.slice(0, 2).map((run) => index.systems.find((system) => system.runs.some(([, id]) => id === run)));
      } catch (error) {
        problems.push(`The table cannot be loaded: ${error.message}`);
      }
    }
    fields.forEach((field, number) => { field.value = wanted.systems[number]?.name ?? ""; });
    if (wanted.systems.length < 2) put(out, make("p", {}, wanted.systems.length ? "Choose one more system." : board ? `Choose two systems of ${board.title}.` : "Choose two systems."), wanted.systems.length ? null : rest);
    else await result(board, runs).catch((error) => fail(out, error));
    tell(problems);
  }

  /** Every table that both systems are in, that of the address first. */
  async function result(board, given) {
    const [first, second] = wanted.systems;
    const found = index.tables.map((table) => ({ table, runs: table === board && given.length > 1 ? given : [first, second].map((system) => system.runs.find(([track]) => track === table.track)) }));
    const shared = found.filter(({ runs }) => runs.every(Boolean)).sort((a, b) => (b.table === board) - (a.table === board));
    for (const each of shared) each.ours = await load(each.runs[0][2]);
    const ahead = shared.map(({ ours, runs }) => leader(ours.against[runs[1][1]]));
    const count = (side) => ahead.filter((each) => each === side).length;
    put(out, make("p", { class: "mv-lead" }, shared.length
      ? ["In ", many(shared.length, "table"), " with both: ", make("bdi", {}, first.name), ` is ahead in ${count(0)}, `, make("bdi", {}, second.name), ` in ${count(1)}; in ${count(null)}, the data do not show which is better.`]
      : ["No table has both systems. ", make("bdi", {}, first.name), ` is in ${many(first.runs.length, "table")}, `, make("bdi", {}, second.name), ` in ${many(second.runs.length, "table")}.`]),
    await Promise.all(shared.map((each, number) => part(each, [first, second], number === 0))));
  }
}

const many = (number, noun) => `${number} ${noun}${number === 1 ? "" : "s"}`;

/** Which of two is ahead, by the test that gives the ranks, else by that of the pair: 0, 1, or null if nobody knows. */
function leader({ values, table }) {
  const [gap, , , , sign] = values[0];
  return (table ? table.apart : sign !== "even") ? Number(!gap.startsWith("-")) : null;
}

/** A table: the difference in words, and what is behind it once it is open. */
async function part({ table, runs, ours }, systems, open) {
  const found = ours.against[runs[1][1]];
  const [gap, , , p] = found.values[0];
  const side = leader(found);
  const chance = likelihood(found.table?.p ?? p);
  const words = side === null ? [` no significant difference (${gap.slice(1)} points, ${chance})`]
    : [" ", make("bdi", {}, systems[side].name), ` ${table.verb} ${gap.slice(1)} points more than `, make("bdi", {}, systems[1 - side].name), `, ${chance}`];
  const box = make("details", { class: "mv-fold mv-shared" }, make("summary", {}, table.title, ": ", make("span", { class: side === null ? "mv-note" : null }, words)));
  const show = () => fill(box, table, runs).catch((error) => put(box, make("p", { role: "alert" }, `Cannot compare: ${error.message}`)));
  if (open) await show(); // before it is seen, so that nothing moves
  else box.addEventListener("toggle", show, { once: true });
  box.open = open;
  return box;
}

async function fill(box, { track }, runs) {
  const table = await load(`compare/data/${track}.json`);
  const chosen = runs.map(([, id]) => table.runs.find((run) => run.run === id));
  const rows = await Promise.all(runs.map(([, , path]) => load(path)));
  put(box, whole(table, chosen, rows), chosen.slice(1).map((run, number) => pair(table, chosen[0], run, rows[0], rows[number + 1])), costs(table, chosen));
  ask(box, chosen[0].run).catch(() => {}); // without them, the ids stand alone
}

const fail = (place, error) => place.replaceChildren(make("p", { role: "alert" }, `Cannot compare: ${error.message}`));

/** The choice in the address, with a sentence for each part that cannot be used. */
function read(index) {
  const asked = query().get("board") ?? "";
  const known = index.tables.some(({ track }) => track === asked);
  const problems = asked && !known ? [`No table ‘${asked}’ in this release. Choose another one.`] : [];
  const runs = [...new Set(parts("runs"))];
  if (runs.length < parts("runs").length) problems.push("A run was named twice. It is shown once.");
  if (runs.length > MOST) problems.push(`At most ${MOST} runs can be compared. Left out: ${runs.slice(MOST).join(", ")}.`);
  const slugs = [...new Set(parts("systems"))];
  const systems = slugs.map((slug) => index.systems.find((one) => one.slug === slug));
  problems.push(...slugs.filter((_, number) => !systems[number]).map((slug) => `No system ‘${slug}’ can be compared. Choose another one.`));
  return { board: known ? asked : "", runs: known ? runs.slice(0, MOST) : [], systems: systems.filter(Boolean).slice(0, 2), problems };
}

/** Leaves out runs that the table does not have; returns a sentence for each. */
function keepKnown(table, wanted) {
  const unknown = wanted.runs.filter((name) => !table.runs.some((run) => run.run === name));
  wanted.runs = wanted.runs.filter((name) => !unknown.includes(name));
  return unknown.map((name) => {
    const left = table.left_out.find((run) => run.run === name);
    return left ? `${left.name} (${name}) cannot be compared here. ${left.why}` : `No run ‘${name}’ in this table.`;
  });
}

/** The answer in a sentence for each pair, then the runs. */
function whole(table, runs, rows) {
  const sentences = runs.slice(1).map((run) => make("p", { class: "mv-result-line" }, ...sentence(runs[0], run, rows[0].against[run.run])));
  const body = runs.map((run) => make("tr", { class: run.control ? "mv-control" : null },
    make("th", { scope: "row" }, named(run), run.control ? " (control)" : "", make("span", { class: "mv-note" }, run.version)),
    make("td", { class: "mv-num" }, run.values[0], run.interval ? make("span", { class: "mv-note" }, `${run.interval[0]} to ${run.interval[1]}`) : null),
    make("td", {}, run.control ? "–" : run.standing)));
  return make("section", {}, make("p", { class: "mv-trackline" }, table.summary), sentences,
    plainTable("Compared runs", ["System", `${table.values[0].title}, %`, "Rank"], make("tbody", {}, body), "mv-compare"));
}

function sentence(first, second, found) {
  const [gap, low, high, p, sign] = found.values[0];
  const points = Number(gap) === 0 ? "as much as " : `${gap.slice(1)} points ${gap.startsWith("-") ? "less" : "more"} than `;
  const range = low === null ? "" : `95 % interval ${signed(low)} to ${signed(high)}, `;
  return [make("bdi", {}, second.name), " scores ", make("strong", {}, points), make("bdi", {}, first.name), ` (${range}${likelihood(p)}). `, make("strong", {}, verdict(sign, found.table))];
}

/** What the two tests say: of this pair alone, and of all pairs of the table, which gives the ranks. */
function verdict(sign, table) {
  if (table === null) return sign === "even" ? "The data do not show which is better." : "The difference is significant.";
  const all = ` among all pairs of the table (${likelihood(table.p)})`;
  if (sign === "even") return table.apart ? `The difference is significant${all}.` : "The data do not show which is better.";
  return table.apart ? `The difference is significant, also${all}.` : `Significant for this pair alone, but not${all}: the ranks do not separate them.`;
}

/** A pair: differences by category, then the questions that only one of the two has right. */
function pair(table, first, second, ours, theirs) {
  const found = ours.against[second.run];
  const reach = Math.max(1, ...found.values.flatMap(([gap, low, high]) => [gap, low ?? gap, high ?? gap].map((text) => Math.abs(Number(text)))));
  const rows = table.values.map((value, place) => difference(value, first.values[place], second.values[place], found.values[place], reach));
  const title = [make("bdi", {}, second.name), " against ", make("bdi", {}, first.name)];
  return make("section", { class: "mv-pair" }, make("h2", {}, ...title),
    plainTable(`${second.name} against ${first.name}`,
      ["", "Difference, points", make("span", { class: "mv-axis" }, [`−${reach.toFixed(0)}`, "0", `+${reach.toFixed(0)}`].map((end) => make("span", {}, end))), "95 % interval", "p", make("bdi", {}, first.name), make("bdi", {}, second.name), "Questions"],
      make("tbody", {}, rows), "mv-compare"),
    make("p", { class: "mv-under" }, "▲ higher, ▼ lower, = no significant difference at 5 %. p-values are corrected for the lines of this table. On the command line: ",
      make("code", {}, `memeval compare ${first.run} ${second.run}`), ". It also compares the metrics."),
    flips(table, first, second, ours, theirs));
}

function difference(value, first, second, [gap, low, high, p, sign], reach) {
  const place = (text) => `${(50 + (50 * Number(text)) / reach).toFixed(2)}%`;
  const bar = make("span", { class: `mv-gap mv-gap-${sign}`, "aria-hidden": "true" },
    low === null ? null : make("span", { class: "mv-gap-range", style: `left:${place(low)};right:calc(100% - ${place(high)})` }),
    make("span", { class: "mv-gap-dot", style: `left:${place(gap)}` }));
  const mark = make("span", { class: `mv-sign-${sign}`, title: WORDS[sign], "aria-label": WORDS[sign], role: "img" }, MARKS[sign]);
  const range = low === null ? "–" : `${signed(low)} to ${signed(high)}`;
  const cells = [[make("strong", {}, signed(gap)), " ", mark], bar, range, p, first, second, value.items];
  return make("tr", {}, make("th", { scope: "row" }, value.title), cells.map((cell) => make("td", { class: cell === bar ? null : "mv-num" }, cell)));
}

/** The items with different scores, the largest difference first, then by id: as the command lists them. */
function flipped(items, ours, theirs) {
  const found = items.map((id, place) => ({ id, place, gap: theirs[place] - ours[place] })).filter(({ gap }) => gap !== 0);
  return found.sort((a, b) => Math.abs(b.gap) - Math.abs(a.gap) || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0));
}

function flips(table, first, second, ours, theirs) {
  const all = flipped(table.items, ours.scores, theirs.scores);
  const words = table.verdicts ? " right, the other wrong: " : " scores more: ";
  const line = ({ id, place }) => make("li", {}, make("span", { class: "mv-flip", "data-item": id }, id),
    make("span", { class: "mv-flip-links" }, answer(table, first, ours, id, place), answer(table, second, theirs, id, place),
      make("span", { class: "mv-note" }, table.categories[table.category[place]])));
  const list = (winner, some) => make("div", {},
    make("h3", {}, make("bdi", {}, winner.name), words, make("span", { class: "mv-num" }, some.length)),
    make("ol", { class: "mv-flips" }, some.slice(0, FIRST_FLIPS).map(line)),
    some.length ? null : make("p", { class: "mv-note" }, "none"),
    some.length > FIRST_FLIPS ? fold(`${some.length - FIRST_FLIPS} more`, make("ol", { class: "mv-flips" }, some.slice(FIRST_FLIPS).map(line))) : null);
  return make("div", { class: "mv-sides" }, list(first, all.filter(({ gap }) => gap < 0)), list(second, all.filter(({ gap }) => gap > 0)));
}

function answer(table, run, row, id, place) {
  const score = row.scores[place];
  const words = row.errors.includes(place) ? "failed" : table.verdicts ? (score === 1 ? "right" : "wrong") : Number(score.toPrecision(3));
  const mark = score >= 0.5 ? "mv-right" : "mv-wrong";
  return make("a", { href: at(`items/?run=${encodeURIComponent(run.run)}`) + fragment(id), class: mark }, make("bdi", {}, run.name), `: ${words}`);
}

/** Puts the questions beside the ids of items, where the benchmark lets them be published. */
async function ask(place, run) {
  const runs = await load("items/runs.json");
  const index = await load(runs[run]);
  const { questions = {} } = index.benchmark_data ? await load(index.benchmark_data) : {};
  const fill = (box) => box.querySelectorAll("[data-item]").forEach((item) => {
    const id = item.dataset.item;
    if (questions[id]) item.replaceChildren(visible(questions[id]), " ", make("span", { class: "mv-note" }, id));
  });
  fill(place);
  place.addEventListener("toggle", (event) => fill(event.target), true);
}

/** A table of texts about the runs: one row for each of `facts`, with the texts of that name of each run. */
function texts(title, table, runs, name, note = null) {
  const rows = table[name].map((fact, place) => {
    const cells = runs.map((run) => make("td", { class: name === "facts" ? "mv-num" : null }, run[name][place][0], run[name][place][1] ? make("span", { class: "mv-note" }, run[name][place][1]) : null));
    return make("tr", {}, make("th", { scope: "row", title: fact.help }, fact.title), cells);
  });
  return fold(title, [plainTable(title, ["", ...runs.map((run) => make("bdi", {}, run.name))], make("tbody", {}, rows), "mv-compare mv-texts"), note], { kind: "mv-fold" });
}

function costs(table, runs) {
  const note = "Latencies of runs with different concurrency or machines are not comparable. A dash means unknown, not free.";
  return [texts("What ran", table, runs, "settings"), texts("Cost and latency", table, runs, "facts", make("p", { class: "mv-under" }, note))];
}

/** A p-value with its sign: "p = 0.740", "p < 0.001". */
export const likelihood = (p) => (p.startsWith("<") ? `p < ${p.slice(1)}` : `p = ${p}`);
