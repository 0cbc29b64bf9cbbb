// One item: question, answer, expected answer, retrieved text and history.
import { asked, judged } from "./calls.js";
import { badge, duration, fold, make, quoted } from "./dom.js";

/** Most questions of a wrong item for which what was retrieved is shown at once. */
const MOST_OPEN = 4;

const CLOCKS = ["answer", "search", "reader", "ingest", "indexing"];

/**
 * The parts of an item's page: from its line in the index, its entry and shard, and its scenario or null. What was
 * retrieved for a wrong answer is shown at once.
 */
export function detail(index, line, { answered, shard, scenario }, isRight) {
  const key = scenario?.keys[line.id] ?? null;
  const [set, metrics] = answered.metrics; // their names are written once in the shard
  const turns = turnsOf(scenario);
  const expected = key ? [make("h3", {}, "Expected answer"), keyed(key)] : null;
  const many = answered.responses.length > 1;
  const open = !isRight && answered.responses.length <= MOST_OPEN;
  return [
    make("h2", {}, line.id),
    make("p", { class: "mv-facts-line" },
      verdict(line, index),
      line.cause ? badge("note", index.labels.causes[line.cause] ?? line.cause) : null,
      line.flags.map((flag) => badge("warning", index.labels.flags[flag] ?? flag)),
      make("span", {}, index.categories[line.category] ?? line.category),
      line.found && line.found !== "unknown" ? make("span", {}, `retrieved: ${index.labels.evidence[line.found] ?? line.found}${line.rank ? ` (lowest at rank ${line.rank})` : ""}`) : null),
    answered.responses.map((response, number) => {
      const told = { many, scenario, labels: index.labels, times: line.times[number] };
      return [answer(response, number, told), many ? null : expected, basis(response, shard, turns, open)];
    }),
    many ? expected : null,
    answered.reason || answered.judged ? make("h3", {}, "Verdict") : null,
    answered.reason ? make("p", {}, answered.reason) : null,
    answered.judged ? judged(answered.judged, shard.lines) : null,
    fold("Properties and measurements", make("div", { class: "mv-key" }, [
      ...Object.entries(line.slices).map(([name, value]) => [index.labels.slices[name]?.title ?? name, index.labels.slices[name]?.values[value] ?? value]),
      ...Object.entries(answered.alternates).map(([name, worth]) => [`by rule “${name}”`, worthOf(worth)]),
      ["value", answered.value], ...metrics.map((value, place) => [shard.metrics[set][place].replaceAll("_", " "), value]),
      ["grader", answered.grader], ["cluster (its items are not independent)", answered.cluster],
    ].filter(([, value]) => value !== null && value !== undefined).flatMap(([name, value]) => [make("span", {}, name), make("div", {}, typeof value === "number" ? figure(value) : value)]))),
    scenario ? history(scenario, key) : null,
  ].flat(Infinity).filter(Boolean);
}

/** A number with three digits, and never with an exponent. */
const figure = (value) => Number(value.toPrecision(3)).toLocaleString("en", { maximumFractionDigits: 6 });

function verdict(line, { measure, labels }) {
  if (line.credit !== undefined) return badge(line.credit >= 0.5 ? "good" : "bad", `${measure ?? "credit"} ${line.credit.toFixed(3)}${line.state === "empty" ? ": empty answer" : ""}`);
  if (line.verdict === true) return badge("good", "correct");
  if (line.verdict === false) return badge("bad", line.state === "empty" ? "wrong: empty answer" : "wrong");
  return badge("warning", `no verdict: ${labels.states[line.state] ?? line.state}`);
}

/** What an item is worth under another rule: a verdict, a credit, or nothing where the rule leaves it out. */
function worthOf(worth) {
  if (worth === null) return "not counted";
  if (typeof worth === "number") return worth.toFixed(3);
  return worth ? "correct" : "wrong";
}

function turnsOf(scenario) {
  const turns = (scenario?.steps ?? []).flatMap((step) => (step.turns ?? []).map((turn) => ({ ...turn, date: step.date })));
  return new Map(turns.map((turn) => [turn.turn_id, turn]));
}

/** A question and the answer to it. */
function answer(response, number, { many, scenario, labels, times }) {
  const question = scenario?.steps.find((step) => step.question_id === response.question_id);
  const again = response.attempt > 1 ? `, attempt ${response.attempt}` : "";
  return [
    make("h3", {}, many ? `Question ${number + 1}${again}` : `Question${again}`),
    question ? quoted(question.question, "mv-asked") : make("p", { class: "mv-note" }, response.question_id),
    question?.timestamp ? make("p", { class: "mv-note" }, `question date: ${question.timestamp}`) : null,
    question?.filters && Object.keys(question.filters).length ? make("p", { class: "mv-note" }, `${question.call}: ${listed(question.filters)}`) : null,
    said(response, labels),
    make("p", { class: "mv-facts-line" },
      response.context_tokens === undefined ? null : make("span", {}, `${response.context_tokens} context tokens`),
      response.reported_tokens === undefined ? null : make("span", {}, `${response.reported_tokens} context tokens (self-reported)`),
      times.map((seconds, place) => (seconds === null ? null : make("span", {}, `${CLOCKS[place]} ${duration(seconds)}`)))),
  ];
}

/** The answer, or why there is none; null where a system only retrieves. */
function said({ outcome, answer: text, items, error }, labels) {
  const isGiven = outcome === "ok" || outcome === "empty";
  if (isGiven && items && (text === "" || text?.bytes === 0)) return null;
  return [
    make("h3", {}, "Answer"),
    isGiven ? quoted(text) : make("p", {}, badge("warning", labels.states[outcome] ?? outcome)),
    isGiven || !error ? null : quoted(error),
  ];
}

/** What an answer was made from. */
function basis(response, shard, turns, open) {
  return [
    retrieved(response, shard, turns, open),
    context(response, shard, turns, open && !response.items),
    response.read ? fold("Reader prompt and raw reply", asked(response.read, shard.lines, turns)) : null,
  ];
}

function retrieved(response, shard, turns, open) {
  if (!response.items) return null;
  const rows = response.items.map(([place, score]) => {
    const source = shard.sources[place];
    return make("li", {},
      score === null ? null : make("span", { class: "mv-note" }, `${figure(score)} `),
      source.source_ids.length ? make("code", {}, source.source_ids.join(" ")) : null,
      source.turn_id ? turn(source.turn_id, turns) : quoted(source.text));
  });
  return fold(`Retrieved: ${response.items.length} items`, make("ol", {}, rows), { open });
}

function context(response, shard, turns, open) {
  if (response.context === undefined) return null;
  const parts = shard.contexts[response.context].map((place) => shard.parts[place]);
  return fold(`Context: ${parts.length} parts`, parts.map((part) => (typeof part === "string" ? turn(part, turns) : quoted(part.text))), { open });
}

function turn(id, turns) {
  const found = turns.get(id);
  if (!found) return make("p", { class: "mv-turn" }, make("code", {}, id));
  if (typeof found.content === "object") return make("div", { class: "mv-turn" }, make("code", {}, id), quoted(found.content));
  return make("div", { class: "mv-turn", dir: "auto" }, make("b", {}, `${found.date ?? ""} ${found.role} (${id}): `), found.content);
}

/** Bank, tags and times of a text or a question, on one line. */
function listed(facts) {
  return Object.entries(facts).map(([name, value]) => `${name.replaceAll("_", " ")} ${Array.isArray(value) ? value.join(", ") : typeof value === "object" ? JSON.stringify(value) : value}`).join(" · ");
}

function history(scenario, key) {
  const evidence = new Set((key?.evidence ?? []).map((id) => id.split(":")[0]));
  const mine = new Set(key?.question_ids ?? []);
  const steps = scenario.steps.map((step) => {
    if (step.step === "ask") return mine.has(step.question_id) ? make("p", { class: "mv-note" }, "Question asked at this point.") : null;
    if (step.step === "forget") return make("p", { class: "mv-note" }, `Asked to forget: ${listed(step.filters) || "everything"}.`);
    const shown = evidence.has(step.session_id);
    const body = step.turns.map((one) => (typeof one.content === "object"
      ? make("div", { class: "mv-turn" }, make("b", {}, `${one.role} `), quoted(one.content))
      : make("div", { class: "mv-turn", dir: "auto" }, make("b", {}, `${one.role}: `), one.content)));
    if (step.facts && Object.keys(step.facts).length) body.unshift(make("p", { class: "mv-note" }, listed(step.facts)));
    const title = `${step.session_id}${step.date ? `, ${step.date}` : ""}: ${step.turns.length} turn${step.turns.length === 1 ? "" : "s"}`;
    return fold(title, body, shown ? { kind: "mv-evidence", mark: badge("good", "evidence") } : {});
  });
  const number = scenario.steps.filter((step) => step.step === "ingest").length;
  const head = scenario.streamed ? `Evidence: ${number} sessions (history too long to show)` : `History: ${number} sessions`;
  return [make("h3", {}, head), ...steps];
}

/** A key's fields by name; facts with the phrases they are known by. */
function keyed(key) {
  if (key.key.digest) return quoted(key.key);
  const rows = Object.entries(key.key).filter(([name]) => name !== "kind").flatMap(([name, value]) => [
    make("span", {}, name.replaceAll("_", " ")), make("div", {}, valued(value)),
  ]);
  if (key.evidence) rows.push(make("span", {}, "evidence"), make("div", {}, key.evidence.join(", ")));
  return make("div", { class: "mv-key" }, rows);
}

function valued(value) {
  if (value === null) return "none";
  if (Array.isArray(value)) {
    if (!value.length) return "none";
    return value.map((one) => make("div", {}, valued(one)));
  }
  if (typeof value !== "object") return String(value);
  if ("text" in value && "phrases" in value) {
    return [make("span", {}, value.text), " ", make("span", { class: "mv-note" }, value.phrases.join(" · "))];
  }
  return Object.entries(value).map(([name, one]) => make("div", {}, make("span", { class: "mv-note" }, `${name}: `), valued(one)));
}
