// The only module that fetches. Everything comes from the site's own files, each once.

const root = address("memeval-root");
const data = address("memeval-data");
const held = new Map();

/** The address of a file of the site. All releases share those that are named by their digest. */
export function at(path) {
  return new URL(path, path.startsWith("data/sha256/") ? data : root).href;
}

/** A file beside the folder of the release, as JSON. */
export function beside(name) {
  return load(at(`../${name}`));
}

function address(name) {
  return new URL(document.querySelector(`meta[name="${name}"]`).content, location.href);
}

/** A file of the site as JSON; fails with a sentence. */
export function load(path) {
  if (!held.has(path)) held.set(path, get(path));
  return held.get(path);
}

async function get(path) {
  let reply;
  try {
    reply = await fetch(at(path));
  } catch {
    held.delete(path);
    throw new Error(`cannot load ${path}. Pages opened from disk cannot load data. Start a server: memeval site serve`);
  }
  if (!reply.ok) throw new Error(`${path} not found (HTTP ${reply.status}).`);
  return reply.json();
}
