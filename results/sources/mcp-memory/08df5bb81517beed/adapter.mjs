// Drives the official MCP memory server over its standard streams: one node per turn, substring searches for a question.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

const PROTOCOL = "2025-06-18";
const SHORTEST = 4; // letters of a word that is searched for

const file = join(mkdtempSync(join(tmpdir(), "memory-")), "memory.jsonl");
const waiting = new Map();
let server;
let number = 0;
let queries = "words";

function failed(reason) {
  for (const { reject } of waiting.values()) reject(new Error(reason));
  waiting.clear();
}

function request(method, params) {
  number += 1;
  const line = JSON.stringify({ jsonrpc: "2.0", id: number, method, params });
  return new Promise((resolve, reject) => {
    waiting.set(number, { resolve, reject });
    server.stdin.write(`${line}\n`);
  });
}

async function start() {
  server = spawn("mcp-server-memory", {
    env: { ...process.env, MEMORY_FILE_PATH: file },
    stdio: ["pipe", "pipe", "inherit"],
  });
  server.on("error", (error) => failed(`mcp-server-memory did not start: ${error.message}`));
  server.on("exit", (code) => failed(`mcp-server-memory ended with code ${code}`));
  server.stdin.on("error", (error) => failed(`mcp-server-memory does not read: ${error.message}`));
  createInterface({ input: server.stdout, crlfDelay: Infinity }).on("line", (line) => {
    const { id, result, error } = JSON.parse(line);
    const one = waiting.get(id);
    waiting.delete(id);
    if (error) one?.reject(new Error(error.message));
    else one?.resolve(result);
  });
  await request("initialize", { protocolVersion: PROTOCOL, capabilities: {}, clientInfo: { name: "memeval", version: "1" } });
  server.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" })}\n`);
}

async function tool(name, values) {
  const result = await request("tools/call", { name, arguments: values });
  if (result.isError) throw new Error(`${name}: ${result.content.map(({ text }) => text).join(" ")}`);
  return result.structuredContent;
}

function searched(question) {
  if (queries === "question") return [question];
  const words = [...new Set(question.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [])];
  const long = words.filter((word) => word.length >= SHORTEST);
  return long.length ? long : words;
}

async function search(question, k) {
  const found = new Map();
  for (const query of searched(question)) {
    const { entities } = await tool("search_nodes", { query });
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

const calls = {
  async load({ parameters }) {
    queries = parameters?.queries ?? queries;
    if (!["words", "question"].includes(queries)) throw new Error(`unknown queries ${queries}`);
    await start();
    return { capabilities: ["take_in", "search"], implementation: `node ${process.versions.node}` };
  },
  reset() {
    rmSync(file, { force: true }); // the server reads the file at each call
    return null;
  },
  async take_in({ session, timestamp }) {
    const entities = session.turns.map(({ turn_id, role, speaker, content }) => ({
      name: turn_id,
      entityType: speaker ?? role,
      observations: [`[${timestamp}] ${speaker ?? role}: ${content}`],
    }));
    await tool("create_entities", { entities });
    return null;
  },
  search: async ({ query, k }) => ({ items: await search(query, k) }),
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
server?.kill();
