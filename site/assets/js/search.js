// Finds sections of pages by their words. The index is loaded by the first search, and not by a page.
import { at, load } from "./data.js";
import { make } from "./dom.js";
import { query } from "./state.js";

const MOST = 30;
const AROUND = 90; // characters of text before and after the first word found

/** Makes the search of the header work, and marks the words of the search that led to the page. */
export function search(page) {
  const form = page.querySelector("[data-search]");
  const [field, box, said, list] = ["input", ".mv-results", "[role=status]", "ol"].map((one) => form.querySelector(one));
  const find = async () => {
    const asked = field.value;
    const words = wordsOf(asked);
    box.hidden = !words.length;
    if (box.hidden) return;
    let found, problem;
    try {
      found = matches((await load("search/search_index.json")).docs, words);
    } catch (error) {
      problem = error.message;
    }
    if (asked !== field.value) return;
    said.textContent = problem ?? (found.length ? `${found.length} ${found.length === 1 ? "section" : "sections"}${found.length > MOST ? `, the first ${MOST} shown` : ""}` : "No section has these words.");
    list.replaceChildren(...(found ?? []).slice(0, MOST).map((doc) => make("li", {}, make("a", { href: address(doc, asked) }, make("b", {}, marked(doc.title, words)), make("span", {}, marked(excerpt(doc.text, words), words))))));
  };
  form.hidden = false;
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("focusout", (event) => { box.hidden = !form.contains(event.relatedTarget ?? form); });
  field.addEventListener("input", find);
  field.addEventListener("focus", find);
  addEventListener("keydown", (event) => {
    if (event.key === "/" && !event.target.closest("input, select, textarea")) {
      event.preventDefault();
      field.focus();
    } else if (event.key === "Escape" && form.contains(event.target)) {
      field.value = "";
      box.hidden = true;
      field.focus();
    }
  });
  if (query().has("q")) {
    field.value = query().get("q");
    field.focus();
  }
  if (query().has("h")) mark(page.querySelector("article"), wordsOf(query().get("h")));
}

function wordsOf(text) {
  return text.toLowerCase().split(/\s+/).filter(Boolean);
}

/** The sections with all words, those with the words in their title first, then as they are in the index. */
export function matches(docs, words) {
  const found = docs.map((doc) => {
    const [title, text] = [doc.title.toLowerCase(), doc.text.toLowerCase()];
    const points = words.map((word) => (starts(title, word) ? 8 : title.includes(word) ? 4 : starts(text, word) ? 2 : text.includes(word) ? 1 : 0));
    return { doc, points: points.every(Boolean) ? points.reduce((one, other) => one + other) + (doc.location.includes("#") ? 0 : 0.5) : 0 };
  });
  return found.filter(({ points }) => points).sort((one, other) => other.points - one.points).map(({ doc }) => doc);
}

/** Whether a word of the text starts so. */
function starts(text, word) {
  for (let place = text.indexOf(word); place >= 0; place = text.indexOf(word, place + 1)) {
    if (place === 0 || !/[\p{L}\p{N}]/u.test(text[place - 1])) return true;
  }
  return false;
}

function address(doc, asked) {
  const [path, anchor] = doc.location.split("#");
  return `${at(path)}?h=${encodeURIComponent(asked.trim())}${anchor ? `#${anchor}` : ""}`;
}

function excerpt(text, words) {
  const place = Math.max(0, Math.min(...words.map((word) => text.toLowerCase().indexOf(word)).filter((one) => one >= 0), text.length) - AROUND);
  return `${place ? "… " : ""}${text.slice(place, place + 2 * AROUND)}${place + 2 * AROUND < text.length ? " …" : ""}`;
}

/** The parts of a text, with an element around each word. */
function marked(text, words) {
  const escaped = words.map((word) => word.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&"));
  return text.split(new RegExp(`(${escaped.join("|")})`, "iu")).map((part, place) => (place % 2 ? make("mark", {}, part) : part));
}

function mark(article, words) {
  const walker = document.createTreeWalker(article, NodeFilter.SHOW_TEXT, (node) => (node.parentElement.closest("svg, script, style, select") ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT));
  const texts = [];
  while (words.length && walker.nextNode()) texts.push(walker.currentNode);
  for (const node of texts) {
    const parts = marked(node.data, words);
    if (parts.length > 1) node.replaceWith(...parts);
  }
}
