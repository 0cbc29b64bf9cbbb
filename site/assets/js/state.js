// The only module that writes the page's address. State is the query and the fragment, replaced in place, so that a
// copied address shows what its sender saw and the back button leaves the page.

/** The query as it stands. */
export const query = () => new URLSearchParams(location.search);

/** The item named in the fragment, or null. */
export function item() {
  const match = /^#q=(.+)$/.exec(location.hash);
  if (!match) return null;
  try {
    return decodeURIComponent(match[1]);
  } catch {
    return null;
  }
}

/** The fragment that names an item. */
export const fragment = (id) => `#q=${encodeURIComponent(id)}`;

/** A value of the address, as a reader is told of it. */
export const told = (name, value) => `${name} “${value.slice(0, 40)}”`;

/** The sentence about values that a page does not have; empty without any. */
export function inVain(refused) {
  return refused.length ? `The address asks for what this page does not have: ${refused.join(", ")}.` : "";
}

/** Sets parts of the query; an empty value or list takes the part out. */
export function write(parts, hash = location.hash) {
  const params = query();
  for (const [name, value] of Object.entries(parts)) {
    params.delete(name);
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== "" && one !== null && one !== undefined) params.append(name, one);
    }
  }
  const text = params.toString();
  history.replaceState(history.state, "", location.pathname + (text ? `?${text}` : "") + hash);
}
