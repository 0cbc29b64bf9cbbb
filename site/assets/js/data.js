// The only module that fetches. Everything comes from the site's own files, each once.

const root = address("memeval-root");
const data = address("memeval-data");
const held = new Map();

/** The address of a file of the site. All releases share those that are named by their digest. */
export function at(path) {
  return new URL(path, path.startsWith("data/sha256/") ? data : root).href;
}

function address(name) {
  return new URL(document.querySelector(`meta[name="${name}"]`).content, location.href);
}

/** A file of the site as JSON; fails with a sentence. If its name ends with the digest of its text, that is checked. */
export function load(path) {
  if (!held.has(path)) {
    held.set(path, parsed(path));
    held.get(path).catch(() => held.delete(path)); // so that a click tries again
  }
  return held.get(path);
}

/** The bytes of a file of the site, decompressed if it is compressed; fails with a sentence. */
export async function bytes(path) {
  let reply;
  try {
    reply = await fetch(at(path));
  } catch {
    throw new Error(`cannot load ${path}. Pages opened from disk cannot load data. Start a server: memeval site serve`);
  }
  if (!reply.ok) throw new Error(`${path} not found (HTTP ${reply.status}).`);
  let body;
  try {
    body = await reply.arrayBuffer();
  } catch {
    throw new Error(`${path}: the download is incomplete. Load the page again.`);
  }
  return (await import("./bytes.js")).inflated(body, path);
}

async function parsed(path) {
  const body = await bytes(path);
  const digest = /-([0-9a-f]{64})\.json\.gz$/.exec(path)?.[1];
  if (digest) await (await import("./bytes.js")).checked(body, digest, path);
  return JSON.parse(new TextDecoder().decode(body));
}
