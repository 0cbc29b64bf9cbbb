// A memory system that speaks memeval's lines: one JSON object a line in, one out, in order.
// Nothing but Node itself. What is printed with console.error lands in the run's log; stdout belongs to the lines.

import { createInterface } from "node:readline";

const UNKNOWN = "I don't know: nothing I was told bears on this.";
const COMMON = new Set(
  `a about am an and any are as at be been by can could did do does for from had has have he her his how i in is it its
  me my now of on or our she so some that the their them then there these they this to use used uses using was we were
  what when where which who whose why will with would you your`.split(/\s+/),
);

let notes = []; // { bank, text, line, time, sourceId, tags }, in order of arrival
let closeEnough = 0.6; // notes that score at least this share of the best are taken to be about the same matter

const terms = (text) =>
  new Set((text.toLowerCase().match(/[\p{L}\p{N}+#]+/gu) ?? []).filter((word) => !COMMON.has(word)));

// The last millisecond of a day where only the day is named, so that what is asked as of a day sees all of it.
function moment(text, atItsEnd = false) {
  const parsed = Date.parse(text ?? "");
  return atItsEnd && /^\d{4}-\d{2}-\d{2}$/.test(text ?? "") ? parsed + 86_399_999 : parsed;
}

function keep({ text, line, timestamp, sourceId, bank = "main", tags = [] }) {
  notes.push({ bank, text, line, time: moment(timestamp), timestamp, sourceId, tags, terms: terms(text) });
}

// A note whose time cannot be read, and a question without a time, are not held to any.
function visible({ bank, timestamp, tags, since, until }) {
  const asked = moment(timestamp, true);
  return notes.filter(
    (note) =>
      (bank === undefined || note.bank === bank) &&
      !(note.time > asked) &&
      !(note.time < moment(since)) &&
      !(note.time >= moment(until)) &&
      (tags === undefined || tags.some((tag) => note.tags.includes(tag))),
  );
}

// Rarity of the words that question and note share, damped for long notes; of equals, the newer first.
function ranked(query, seen) {
  const wanted = terms(query);
  const among = (term) => seen.filter((note) => note.terms.has(term)).length;
  const rarity = new Map([...wanted].map((term) => [term, Math.log(1 + seen.length / (1 + among(term)))]));
  return seen
    .map((note, order) => {
      const shared = [...wanted].filter((term) => note.terms.has(term));
      const score = shared.reduce((sum, term) => sum + rarity.get(term), 0) / Math.sqrt(8 + note.terms.size);
      return { note, order, score: Math.round(score * 1e4) / 1e4 };
    })
    .filter((hit) => hit.score > 0)
    .sort((one, other) => other.score - one.score || other.note.time - one.note.time || other.order - one.order);
}

const item = ({ note, score }) => ({ text: note.line, source_ids: note.sourceId ? [note.sourceId] : [], score });

function search(request) {
  return { items: ranked(request.query, visible(request)).slice(0, request.k).map(item) };
}

// Of the notes that fit about equally well, the newest is the answer.
function ask(question, request) {
  const hits = ranked(question, visible(request)).slice(0, 5);
  const about = hits.filter((hit) => hit.score >= closeEnough * hits[0].score);
  const newest = about.sort((one, other) => other.note.time - one.note.time || other.order - one.order);
  return {
    answer: newest[0]?.note.text ?? UNKNOWN,
    context: about.map((hit) => hit.note.line).join("\n"),
    items: about.map(item),
  };
}

const calls = {
  load({ parameters }) {
    closeEnough = parameters.close_enough ?? closeEnough;
    return {
      capabilities: Object.keys(calls),
      implementation: `node ${process.versions.node}`,
    };
  },
  reset() {
    notes = [];
    return null;
  },
  take_in({ session, timestamp }) {
    for (const turn of session.turns) {
      const line = `[${session.date}] ${turn.speaker ?? turn.role}: ${turn.content}`;
      keep({ text: turn.content, line, timestamp, sourceId: turn.turn_id });
    }
    return null;
  },
  settle: () => true, // nothing is left to be done once take_in has answered
  ask: (request) => ask(request.question, request),
  search,
  retain({ content, source_id: sourceId, bank, timestamp, tags }) {
    keep({ text: content, line: timestamp ? `[${timestamp}] ${content}` : content, timestamp, sourceId, bank, tags });
    return {};
  },
  recall: search,
  reflect: (request) => ask(request.query, request),
  forget({ bank, ids, query }) {
    const found = query === undefined ? notes : ranked(query, notes).map((hit) => hit.note);
    const gone = new Set(
      found.filter((note) => (!bank || note.bank === bank) && (!ids || ids.includes(note.sourceId))),
    );
    notes = notes.filter((note) => !gone.has(note));
    return { forgotten: gone.size };
  },
  export: () => ({ items: notes.map((note) => item({ note, score: undefined })) }),
  usage: () => ({ prompt_tokens: 0, completion_tokens: 0, cost_usd: 0 }), // it calls no model
  close() {
    lines.close();
    return null;
  },
};

const lines = createInterface({ input: process.stdin, crlfDelay: Infinity });
for await (const line of lines) {
  const request = JSON.parse(line);
  const reply = { id: request.id };
  try {
    if (!Object.hasOwn(calls, request.call)) throw new Error(`there is no call ${request.call}`);
    reply.value = await calls[request.call](request);
  } catch (error) {
    console.error(error);
    reply.error = error.message;
  }
  process.stdout.write(`${JSON.stringify(reply)}\n`);
}
