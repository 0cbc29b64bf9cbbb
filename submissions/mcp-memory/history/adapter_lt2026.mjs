// For versions before 2026, whose results have no structured content.
// Drives the official MCP memory server over its standard streams: one node per turn or text, substring searches for a
// question. A server keeps one graph in one file, so each bank has a server of its own.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

const PROTOCOL = "2025-06-18";
const READS = new Set(["search_nodes", "read_graph"]); // tools that return JSON, as text
const SHORTEST = 4; // letters of a word that is searched for

const folder = mkdtempSync(join(tmpdir(), "memory-"));
const SESSIONS = ""; // the graph with the turns of sessions
const servers = new Map();
let files = 0;
let texts = 0;
let queries = "words";

class Server {
  constructor() {
    files += 1;
    this.file = join(folder, `memory-${files}.jsonl`);
    this.waiting = new Map();
    this.number = 0;
    this.process = spawn("mcp-server-memory", {
      env: { ...process.env, MEMORY_FILE_PATH: this.file },
      stdio: ["pipe", "pipe", "inherit"],
    });
    this.process.on("error", (error) => this.failed(`mcp-server-memory did not start: ${error.message}`));
    this.process.on("exit", (code) => this.failed(`mcp-server-memory ended with code ${code}`));
    this.process.stdin.on("error", (error) => this.failed(`mcp-server-memory does not read: ${error.message}`));
    createInterface({ input: this.process.stdout, crlfDelay: Infinity }).on("line", (line) => {
      const { id, result, error } = JSON.parse(line);
      const one = this.waiting.get(id);
      this.waiting.delete(id);
      if (error) one?.reject(new Error(error.message));
      else one?.resolve(result);
    });
  }

  failed(reason) {
    for (const { reject } of this.waiting.values()) reject(new Error(reason));
    this.waiting.clear();
  }

  request(method, params) {
    this.number += 1;
    const line = JSON.stringify({ jsonrpc: "2.0", id: this.number, method, params });
    return new Promise((resolve, reject) => {
      this.waiting.set(this.number, { resolve, reject });
      this.process.stdin.write(`${line}\n`);
    });
  }

  async start() {
    const client = { protocolVersion: PROTOCOL, capabilities: {}, clientInfo: { name: "memeval", version: "1" } };
    await this.request("initialize", client);
    this.process.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" })}\n`);
  }

  async tool(name, values) {
    const result = await this.request("tools/call", { name, arguments: values });
    if (result.isError) throw new Error(`${name}: ${result.content.map(({ text }) => text).join(" ")}`);
    return READS.has(name) ? JSON.parse(result.content[0].text) : null;
  }

  clear() {
    rmSync(this.file, { force: true }); // the server reads the file at each call
  }

  end() {
    this.process.kill();
    this.clear();
  }
}

// The server of a bank, a new one where the bank has none.
async function serverOf(bank) {
  const key = `bank ${bank}`;
  if (!servers.has(key)) {
    const server = new Server();
    servers.set(key, server.start().then(() => server));
  }
  return servers.get(key);
}

function searched(question) {
  if (queries === "question") return [question];
  const words = [...new Set(question.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [])];
  const long = words.filter((word) => word.length >= SHORTEST);
  return long.length ? long : words;
}

async function search(server, question, k) {
  const found = new Map();
  for (const query of searched(question)) {
    const { entities } = await server.tool("search_nodes", { query });
    for (const { name, observations } of entities) {
      const item = found.get(name) ?? { text: observations.join("\n"), source_ids: [name], score: 0 };
      item.score += 1;
      found.set(name, item);
    }
  }
  const order = (name) => name.split(/\D+/).filter(Boolean).map(Number);
  const earlier = ([one], [other]) => {
    const [a, b] = [order(one), order(other)];
    return a[0] - b[0] || (a[1] ?? 0) - (b[1] ?? 0);
  };
  return [...found]
    .sort(earlier)
    .map(([, item]) => item)
    .sort((one, other) => other.score - one.score)
    .slice(0, k);
}

// Ends the servers of banks, and empties the graph of the sessions.
async function forgetAll() {
  for (const [key, started] of servers) {
    const server = await started;
    if (key === SESSIONS) {
      server.clear();
    } else {
      servers.delete(key);
      server.end();
    }
  }
}

const calls = {
  async load({ parameters }) {
    queries = parameters?.queries ?? queries;
    if (!["words", "question"].includes(queries)) throw new Error(`unknown queries ${queries}`);
    const server = new Server();
    servers.set(SESSIONS, Promise.resolve(server));
    await server.start();
    const capabilities = ["take_in", "search", "retain", "texts_together", "recall", "forget", "export"];
    return { capabilities, implementation: `node ${process.versions.node}` };
  },
  async reset() {
    await forgetAll();
    return null;
  },
  async take_in({ session, timestamp }) {
    const entities = session.turns.map(({ turn_id, role, speaker, content }) => ({
      name: turn_id,
      entityType: speaker ?? role,
      observations: [`[${timestamp}] ${speaker ?? role}: ${content}`],
    }));
    await (await servers.get(SESSIONS)).tool("create_entities", { entities });
    return null;
  },
  async retain({ content, bank, timestamp, source_id }) {
    texts += 1;
    const observation = timestamp ? `[${timestamp}] ${content}` : content;
    const entity = { name: source_id ?? `text-${texts}`, entityType: "text", observations: [observation] };
    await (await serverOf(bank ?? "")).tool("create_entities", { entities: [entity] });
    return null;
  },
  search: async ({ query, k }) => ({ items: await search(await servers.get(SESSIONS), query, k) }),
  recall: async ({ query, k, bank }) => ({ items: await search(await serverOf(bank ?? ""), query, k) }),
  async forget({ bank, ids, query }) {
    if (query != null) throw new Error("Nodes are forgotten by their ids or by their bank, not by a query.");
    if (bank == null && ids == null) {
      await forgetAll();
    } else if (ids == null) {
      (await serverOf(bank)).clear();
    } else {
      const chosen = bank == null ? [...servers.values()] : [serverOf(bank)];
      for (const server of await Promise.all(chosen)) await server.tool("delete_entities", { entityNames: ids });
    }
    return { forgotten: null };
  },
  async export() {
    const kept = [];
    for (const server of await Promise.all(servers.values())) {
      const { entities } = await server.tool("read_graph", {});
      kept.push(...entities.map(({ name, observations }) => ({ text: observations.join("\n"), source_ids: [name] })));
    }
    return { items: kept };
  },
};

async function answer(asked) {
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

let running = []; // texts that are stored at the same time
for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
  const asked = JSON.parse(line);
  if (asked.together && asked.call === "retain") {
    running.push(answer(asked));
  } else {
    await Promise.all(running);
    running = [];
    await answer(asked);
  }
}
await Promise.all(running);
await forgetAll();
(await servers.get(SESSIONS))?.end();
