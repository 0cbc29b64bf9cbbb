// Jeffs Brain on a folder that outlives its process: starts its daemon there, and speaks its HTTP contract. Each bank is a
// brain, each text a document.
import { spawn } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

const START_SECONDS = 60;
const folder = process.env.MEMEVAL_STORAGE ?? mkdtempSync(join(tmpdir(), "brains-"));
const brains = new Set();
let daemon = null;
let origin = "";
let texts = 0;

const brainOf = (bank) => `bank-0${Buffer.from(bank ?? "").toString("hex")}`;
const stemOf = (id) => (/^[A-Za-z0-9_-]{1,80}$/.test(id) ? id : `hex-${Buffer.from(id).toString("hex")}`);
const idOf = (path) => {
  const stem = path.split("/").at(-1).replace(/\.md$/, "");
  return stem.startsWith("hex-") ? Buffer.from(stem.slice(4), "hex").toString() : stem;
};
const addressOf = (brain, path) => `/v1/brains/${brain}/documents?path=${encodeURIComponent(path)}`;

async function request(method, path, body, type, fine = []) {
  const headers = type ? { "Content-Type": type } : {};
  if (method === "DELETE") headers["X-Confirm-Delete"] = "yes";
  const reply = await fetch(origin + path, { method, headers, body });
  const text = await reply.text();
  if (!reply.ok && !fine.includes(reply.status)) throw new Error(`${method} ${path.split("?")[0]}: ${reply.status} ${text}`);
  return text && reply.ok ? JSON.parse(text) : null;
}

const freePort = () =>
  new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });

async function start() {
  origin = `http://127.0.0.1:${await freePort()}`;
  const args = ["serve", "--addr", origin.slice(7), "--root", join(folder, "brains")];
  daemon = spawn("memory", args, { stdio: ["ignore", 2, "inherit"] });
  const deadline = Date.now() + START_SECONDS * 1000;
  for (;;) {
    const reply = await fetch(`${origin}/healthz`).catch(() => null);
    if (reply?.ok) break;
    if (daemon.exitCode !== null) throw new Error(`the daemon ended at its start with code ${daemon.exitCode}`);
    if (Date.now() > deadline) throw new Error(`the daemon did not answer within ${START_SECONDS} seconds`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

// The brain of a bank, which is made if it is not there: the daemon answers 409 if it is.
async function opened(bank) {
  const brain = brainOf(bank);
  if (!brains.has(brain)) {
    await request("POST", "/v1/brains", JSON.stringify({ brainId: brain }), "application/json", [409]);
    brains.add(brain);
  }
  return brain;
}

const put = async (bank, id, text) =>
  request("PUT", addressOf(await opened(bank), `raw/texts/${stemOf(id)}.md`), `${text}\n`, "text/markdown");

async function found(bank, query, k, timestamp) {
  const asked = { query, topK: k, mode: "bm25", ...(timestamp ? { questionDate: timestamp } : {}) };
  const path = `/v1/brains/${await opened(bank)}/search`;
  const { chunks = [], results = [] } = await request("POST", path, JSON.stringify(asked), "application/json");
  const items = [...chunks, ...results].slice(0, k).map((chunk) => ({
    text: String(chunk.text ?? chunk.summary ?? chunk.title ?? "").trim(),
    source_ids: [idOf(String(chunk.path ?? chunk.documentId ?? ""))],
    score: Number(chunk.score ?? 0),
  }));
  return { items };
}

async function dropped(brain) {
  await request("DELETE", `/v1/brains/${brain}`, undefined, undefined, [404]);
  brains.delete(brain);
}

const calls = {
  async load() {
    await start();
    const capabilities = ["take_in", "search", "retain", "recall", "forget", "reset"];
    return { capabilities, implementation: `node ${process.versions.node}` };
  },
  async reset() {
    const listed = await request("GET", "/v1/brains");
    for (const each of listed.items ?? listed.brains ?? []) await dropped(each.brainId ?? each.id);
    brains.clear();
    return null;
  },
  async take_in({ session, timestamp }) {
    const lines = session.turns.map(({ role, speaker, content }) => `[${timestamp}] ${speaker ?? role}: ${content}`);
    await put("", session.session_id, lines.join("\n"));
    return null;
  },
  async retain({ content, bank, source_id }) {
    texts += 1;
    await put(bank, source_id ?? `text-${process.pid}-${texts}`, content);
    return null;
  },
  search: ({ query, k, timestamp }) => found("", query, k, timestamp),
  recall: ({ query, k, bank, timestamp }) => found(bank, query, k, timestamp),
  async forget({ bank, ids, query }) {
    if (query != null) throw new Error("Documents are forgotten by their ids or by their bank, not by a query.");
    if (ids == null) {
      if (bank == null) return calls.reset().then(() => ({ forgotten: null }));
      await dropped(brainOf(bank));
      return { forgotten: null };
    }
    const brain = await opened(bank);
    for (const id of ids) {
      await request("DELETE", addressOf(brain, `raw/texts/${stemOf(id)}.md`), undefined, undefined, [404]);
    }
    return { forgotten: null };
  },
  async close() {
    if (daemon.exitCode === null) {
      const ended = new Promise((resolve) => daemon.once("exit", resolve));
      daemon.kill();
      await ended;
    }
    return null;
  },
};

for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
  const asked = JSON.parse(line);
  const reply = { id: asked.id };
  try {
    if (!Object.hasOwn(calls, asked.call)) throw new Error(`unknown call ${asked.call}`);
    reply.value = await calls[asked.call](asked);
  } catch (error) {
    console.error(error);
    reply.error = error.message;
  }
  process.stdout.write(`${JSON.stringify(reply)}\n`);
}
daemon?.kill();
