// Model calls: the exact prompt, the raw reply and the verdict. All of it is inserted as text, never as markup.
import { badge, duration, fold, make, quoted } from "./dom.js";

/** The calls in which an item was judged, the one that decided last. */
export function judged(calls, lines) {
  return calls.map((call, number) => [
    make("p", {}, number ? "Second request. " : null, "Reply of the judge:"),
    call.reply === undefined ? failure(call) : quoted(call.reply),
    make("p", { class: "mv-facts-line" }, verdict(call)),
    fold("Judge prompt and raw reply", asked(call, lines)),
  ]);
}

/** One call, whole: the messages as they were sent, and the body of the reply as it came. */
export function asked(call, lines, turns = new Map()) {
  const settings = Object.entries(call.settings).map(([name, value]) => make("span", {}, `${name}: ${value}`));
  return [
    make("p", { class: "mv-facts-line" }, make("span", {}, `${call.model} at ${call.endpoint}`), settings),
    call.messages.map((message) => [make("p", { class: "mv-note" }, `${message.role}:`), quoted(whole(message.text, lines, turns), "mv-asked")]),
    call.error === undefined ? null : failure(call),
    call.body === undefined ? null : [make("p", { class: "mv-note" }, "Raw reply:"), quoted(call.body)],
    make("p", { class: "mv-facts-line" }, facts(call)),
    make("p", { class: "mv-note" }, "Record key: ", make("code", {}, call.key)),
  ].flat(Infinity).filter(Boolean);
}

/** Puts a text together from its lines: places in the shard's table, turns of the scenario, and what was left out. */
function whole(text, lines, turns) {
  if (!Array.isArray(text)) return text;
  return text.map((part) => {
    if (typeof part === "number") return lines[part];
    if (!Array.isArray(part)) return `[… ${part.left_out} characters not shown; see the files of the run …]`;
    const turn = turns.get(part[0]);
    if (!turn) return `[turn ${part[0]}: text not available]`;
    return part[1] ? `[${turn.date ?? "None"}] ${turn.role}: ${turn.content}` : turn.content;
  }).join("\n");
}

function verdict(call) {
  if (call.reply === undefined) return badge("warning", "no reply");
  if (call.read === true) return badge("good", "verdict: yes");
  if (call.read === false) return badge("bad", "verdict: no");
  return badge("warning", "unclear: neither yes nor no");
}

function failure(call) {
  return [make("p", {}, badge("warning", "failed"), ` ${call.tries} ${call.tries === 1 ? "try" : "tries"}`), call.error === undefined ? null : quoted(call.error)];
}

function facts(call) {
  return [
    call.replied === undefined ? null : make("span", {}, `model in reply: ${call.replied}`),
    call.fingerprint === undefined ? null : make("span", {}, `fingerprint ${call.fingerprint}`),
    call.prompt_tokens === undefined ? null : make("span", {}, `${call.prompt_tokens} + ${call.completion_tokens ?? 0} tokens`),
    make("span", {}, call.cost_usd === undefined ? "cost unknown" : `$${call.cost_usd.toPrecision(2)}`),
    call.seconds === undefined ? null : make("span", {}, `response time ${duration(call.seconds)}`),
    call.queued_seconds === undefined ? null : make("span", {}, `waiting time ${duration(call.queued_seconds)}`),
  ];
}
