// Making elements. Text goes in as text: whatever an answer or a name holds, it cannot become markup.

const CONTROL = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/g;

/** Makes control characters visible, as the pages do. */
export function visible(text) {
  return String(text).replace(CONTROL, (c) => (c === "\u007f" ? "\u2421" : String.fromCodePoint(0x2400 + c.codePointAt(0))));
}

/** Makes an element: `make("p", {class: "x", onclick: f}, "text", child)`. */
export function make(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else element.setAttribute(key, value === true ? "" : String(value));
  }
  put(element, ...children);
  return element;
}

/** Appends elements and texts; skips what is absent. */
export function put(element, ...children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : document.createTextNode(visible(child)));
  }
  return element;
}

/** A badge as the templates write it. */
export const badge = (kind, text) => make("span", { class: `mv-badge mv-badge-${kind}` }, text);

/** A sentence about what a reader asked for in vain. */
export const problem = (text) => make("p", { class: "mv-problem", role: "status" }, text);

/** A labelled choice. */
export function choice(label, values, value, change) {
  const options = values.map(([name, title]) => make("option", { value: name, selected: name === value }, title));
  return make("label", {}, label, make("select", { onchange: (event) => change(event.target.value) }, options));
}

/** A quoted text, perhaps shortened. If it may not be shown: its digest and length. */
export function quoted(text, kind = "") {
  if (text !== null && typeof text === "object") {
    if ("text" in text) return [quoted(text.text, kind), make("p", { class: "mv-note" }, `${text.left_out} more characters: see the files of the run.`)];
    return make("p", { class: "mv-note" }, `not shown: ${text.bytes} bytes, `, make("code", {}, text.digest));
  }
  return make("div", { class: `mv-said ${kind}`, dir: "auto", tabindex: text.length > 900 ? "0" : null }, text === "" ? "(empty answer)" : text);
}

const significant = (value) => Number(value.toPrecision(3)).toLocaleString("en");

/** A time in the unit a reader expects. */
export const duration = (seconds) =>
  seconds < 0.9995 ? `${significant(seconds * 1000)} ms` : `${significant(seconds)} s`;

/** What is shown when asked for, or at once if `open`. */
export function fold(title, body, { kind = null, mark = null, open = false } = {}) {
  const box = make("details", { class: kind, open }, make("summary", {}, title, " ", mark));
  const inside = Array.isArray(body) ? body.flat(Infinity).filter(Boolean) : [body];
  if (open) box.append(...inside);
  else box.addEventListener("toggle", () => box.append(...inside), { once: true });
  return box;
}
