// A small memory as sample code: it stores turns with their dates, and finds those that share words with a question.
// Replace the code of the calls with yours. For each line with a JSON object, it writes one line with the reply.
// Print with console.error only: standard output is for replies.
import { createInterface } from "node:readline";

const notes = new Map();
const words = (text) => new Set(text.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? []);

function search(query, k, timestamp) {
  const wanted = words(query);
  return [...notes.values()]
    .reverse() // with equal scores, the newest comes first
    .filter(({ date }) => !timestamp || timestamp === "now" || date.slice(0, timestamp.length) <= timestamp)
    .map(({ text, source_ids }) => ({ text, source_ids, score: [...words(text)].filter((w) => wanted.has(w)).length }))
    .filter(({ score }) => score > 0)
    .sort((one, other) => other.score - one.score)
    .slice(0, k);
}

const calls = {
  load: () => ({ capabilities: ["take_in", "ask", "search"], implementation: `node ${process.versions.node}` }),
  reset() {
    notes.clear();
    return null;
  },
  take_in({ session, timestamp }) {
    for (const { turn_id, role, speaker, content } of session.turns) {
      notes.set(turn_id, { text: `[${timestamp}] ${speaker ?? role}: ${content}`, source_ids: [turn_id], date: timestamp });
    }
    return null;
  },
  search: ({ query, k, timestamp }) => ({ items: search(query, k, timestamp) }),
  ask({ question, timestamp }) {
    const items = search(question, 5, timestamp);
    const context = items.map(({ text }) => text).join("\n");
    return { answer: items[0]?.text ?? "I do not know.", context, items };
  },
};

for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
  const request = JSON.parse(line);
  const reply = { id: request.id };
  try {
    if (!Object.hasOwn(calls, request.call)) throw new Error(`unknown call ${request.call}`);
    reply.value = calls[request.call](request);
  } catch (error) {
    console.error(error);
    reply.error = error.message;
  }
  process.stdout.write(`${JSON.stringify(reply)}\n`);
}
