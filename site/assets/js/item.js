// One item: question, answer, expected answer, retrieved text and history.
import { asked, judged } from "./calls.js";
import { badge, duration, fold, make, quoted } from "./dom.js";

/** The parts of an item's page. `scenario` is null where the benchmark's data is not here. */
export function detail(index, line, answered, scenario) {
  const key = scenario?.keys[line.id] ?? null;
  const turns = turnsOf(scenario);
  return [
    make("h2", {}, line.id),
    make("p", { class: "mv-facts-line" },
      verdict(line, index),
      line.cause ? badge("note", index.labels.causes[line.cause] ?? line.cause) : null,
      make("span", {}, index.categories[line.category] ?? line.category),
      Object.entries(line.slices).map(([name, value]) => make("span", {}, property(index.labels.slices[name], name, value))),
      line.flags.map((flag) => badge("warning", index.labels.flags[flag] ?? flag)),
      line.found && line.found !== "unknown" ? make("span", {}, `retrieved: ${index.labels.evidence[line.found] ?? line.found}${line.rank ? ` (lowest at rank ${line.rank})` : ""}`) : null,
      Object.entries(answered.alternates).map(([name, worth]) => make("span", {}, `by rule “${name}”: ${worthOf(worth)}`)),
      answered.value === null ? null : make("span", {}, `value ${answered.value.toPrecision(3)}`),
      Object.entries(answered.metrics).map(([name, value]) => make("span", {}, `${name}: ${value === null ? "–" : value.toPrecision(3)}`))),
    answered.reason ? make("p", {}, answered.reason) : null,
    answered.judged ? [make("h3", {}, "Judge"), judged(answered.judged, answered.lines)] : null,
    answered.responses.map((response, number) => answer(response, number, answered, scenario, turns, index.labels)),
    key ? [make("h3", {}, "Expected answer"), keyed(key)] : null,
    scenario ? history(scenario, key) : null,
    make("p", { class: "mv-note" }, `Grader: ${answered.grader}. Cluster: ${answered.cluster}. Items of one cluster are not independent.`),
  ].flat(Infinity).filter(Boolean);
}

function property(known, name, value) {
  return known ? `${known.title}: ${known.values[value] ?? value}` : `${name}: ${value}`;
}

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
  const found = new Map();
  for (const step of scenario?.steps ?? []) {
    for (const turn of step.turns ?? []) found.set(turn.turn_id, { ...turn, date: step.date });
  }
  return found;
}

function answer(response, number, answered, scenario, turns, labels) {
  const question = scenario?.steps.find((step) => step.question_id === response.question_id);
  const many = answered.responses.length > 1;
  const again = response.attempt > 1 ? `, attempt ${response.attempt}` : "";
  const times = [["answer", response.ask_seconds], ["search", response.search_seconds], ["reader", response.read_seconds], ["ingest", response.take_in_seconds], ["indexing", response.settle_seconds]];
  return [
    make("h3", {}, many ? `Question ${number + 1}${again}` : `Question${again}`),
    question ? quoted(question.question, "mv-asked") : make("p", { class: "mv-note" }, response.question_id),
    question?.timestamp ? make("p", { class: "mv-note" }, `question date: ${question.timestamp}`) : null,
    question?.filters && Object.keys(question.filters).length ? make("p", { class: "mv-note" }, `${question.call}: ${listed(question.filters)}`) : null,
    make("h3", {}, "Answer"),
    response.outcome === "ok" || response.outcome === "empty" ? quoted(response.answer) : [
      make("p", {}, badge("warning", labels.states[response.outcome] ?? response.outcome)),
      response.error ? quoted(response.error) : null,
    ],
    make("p", { class: "mv-facts-line" },
      response.context_tokens === null ? null : make("span", {}, `${response.context_tokens} context tokens`),
      response.reported_tokens === null ? null : make("span", {}, `${response.reported_tokens} context tokens (self-reported)`),
      times.filter(([, seconds]) => seconds !== null).map(([name, seconds]) => make("span", {}, `${name} ${duration(seconds)}`))),
    response.read ? fold("Reader prompt and raw reply", asked(response.read, answered.lines, turns)) : null,
    retrieved(response, turns),
    context(response, answered.contexts, turns),
  ];
}

function retrieved(response, turns) {
  if (!response.items) return null;
  const rows = response.items.map((item) => make("li", {},
    item.score === undefined ? null : make("span", { class: "mv-note" }, `${item.score.toPrecision(3)} `),
    item.source_ids.length ? make("code", {}, item.source_ids.join(" ")) : null,
    item.turn_id ? turn(item.turn_id, turns) : quoted(item.text)));
  return fold(`Retrieved: ${response.items.length} items`, make("ol", {}, rows));
}

function context(response, contexts, turns) {
  const parts = contexts[`${response.scenario_id} ${response.context_digest}`];
  if (!parts) return null;
  return fold(`Context: ${parts.length} parts`, parts.map((part) => (part.turn_id ? turn(part.turn_id, turns) : quoted(part.text))));
}

function turn(id, turns) {
  const found = turns.get(id);
  if (!found) return make("p", { class: "mv-turn" }, make("code", {}, id));
  if (typeof found.content === "object") return make("div", { class: "mv-turn" }, make("code", {}, id), quoted(found.content));
  return make("div", { class: "mv-turn", dir: "auto" }, make("b", {}, `${found.date ?? ""} ${found.role} (${id}): `), found.content);
}

/** Bank, tags and times of a text or a question, on one line. */
function listed(facts) {
  return Object.entries(facts).map(([name, value]) => `${name.replaceAll("_", " ")} ${typeof value === "object" ? JSON.stringify(value) : value}`).join(" · ");
}

function history(scenario, key) {
  const evidence = new Set((key?.evidence ?? []).map((id) => id.split(":")[0]));
  const mine = new Set(key?.question_ids ?? []);
  const steps = scenario.steps.map((step) => {
    if (step.step === "ask") {
      if (!mine.has(step.question_id)) return null;
      return make("p", { class: "mv-note" }, "Question asked at this point.");
    }
    const shown = evidence.has(step.session_id);
    const body = step.turns.map((one) => (typeof one.content === "object"
      ? make("div", { class: "mv-turn" }, make("b", {}, `${one.role} `), quoted(one.content))
      : make("div", { class: "mv-turn", dir: "auto" }, make("b", {}, `${one.role}: `), one.content)));
    if (step.facts && Object.keys(step.facts).length) body.unshift(make("p", { class: "mv-note" }, listed(step.facts)));
    const title = `${step.session_id}${step.date ? `, ${step.date}` : ""}: ${step.turns.length} turn${step.turns.length === 1 ? "" : "s"}`;
    return fold(title, body, shown ? "mv-evidence" : "", shown ? badge("good", "evidence") : null);
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
