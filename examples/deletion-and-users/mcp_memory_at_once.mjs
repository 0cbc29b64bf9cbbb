// The official MCP memory server: twenty clients' worth of calls at once. What is confirmed, and what is kept?
import { spawn } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { createInterface } from "node:readline";

const MEMORY_FILE_PATH = `${mkdtempSync(`${tmpdir()}/memory-`)}/memory.jsonl`;
const server = spawn("mcp-server-memory", { env: { ...process.env, MEMORY_FILE_PATH }, stdio: ["pipe", "pipe", "ignore"] });
const waiting = new Map();
const send = (message) => server.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const request = (method, params, id = waiting.size) =>
  new Promise((resolve) => waiting.set(id, resolve) && send({ id, method, params }));
createInterface({ input: server.stdout }).on("line", (line) => {
  const { id, result } = JSON.parse(line);
  waiting.get(id)(result);
});
const tool = async (name, values) => (await request("tools/call", { name, arguments: values })).structuredContent;

const clientInfo = { name: "example", version: "1" };
await request("initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo });
send({ method: "notifications/initialized" });
const node = (n) => ({ name: `person ${n}`, entityType: "person", observations: [`has the code ${1000 + n}`] });
const made = await Promise.all([...Array(20).keys()].map((n) => tool("create_entities", { entities: [node(n)] })));
console.log(`confirmed: ${made.flatMap(({ entities }) => entities).length}`);
console.log(`kept: ${(await tool("read_graph", {})).entities.length}`);
server.kill();
