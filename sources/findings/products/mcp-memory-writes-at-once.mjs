// @modelcontextprotocol/server-memory 2026.8.31: 50 create_entities calls at once; how many of the acknowledged are kept?
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
const file = `/tmp/mcp-${process.pid}.jsonl`;
const server = spawn(process.argv[2] ?? "mcp-server-memory", { env: { ...process.env, MEMORY_FILE_PATH: file }, stdio: ["pipe", "pipe", "inherit"] });
const send = (m) => server.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...m })}\n`);
const client = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "x", version: "1" } };
let ok = 0;
createInterface({ input: server.stdout }).on("line", (line) => {
  const { id, result } = JSON.parse(line);
  if (id === 0) for (let n = 1; n <= 50; n++)
    send({ id: n, method: "tools/call", params: { name: "create_entities", arguments: { entities: [{ name: `n${n}`, entityType: "t", observations: ["o"] }] } } });
  else if (!result?.isError) ok++;
  if (id > 0 && id === 50) setTimeout(() => { console.log(`acknowledged ${ok}, in the file ${readFileSync(file, "utf8").trim().split("\n").length}`); server.kill(); }, 1000);
});
send({ id: 0, method: "initialize", params: client });
