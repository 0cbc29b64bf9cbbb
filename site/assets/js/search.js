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
    const asked = field.value.trim();
    box.hidden = !asked;
    if (box.hidden) return;
    let found = [];
    let problem = null;
    try {
      found = matches((await load("search/search_index.json")).docs, asked);
    } catch (error) {
      problem = error.message;
    }
    if (asked !== field.value.trim()) return;
    const more = found.length > MOST ? `, the first ${MOST} shown` : "";
    said.textContent = problem ?? (found.length ? `${found.length} ${found.length === 1 ? "section" : "sections"}${more}` : "No section has these words.");
    list.replaceChildren(...found.slice(0, MOST).map((doc) => make("li", {}, make("a", { href: address(doc, asked) }, make("b", {}, marked(doc.title, asked)), make("span", {}, marked(excerpt(doc.text, asked), asked))))));
  };
  form.addEventListener("focusout", (event) => { box.hidden ||= Boolean(event.relatedTarget) && !form.contains(event.relatedTarget); });
  field.addEventListener("input", find);
  field.addEventListener("focus", find);
  page.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && form.contains(event.target)) {
      field.value = "";
      box.hidden = true;
      field.focus();
    }
  });
  page.addEventListener("click", (event) => { box.hidden ||= !form.contains(event.target); });
  if (query().has("q") && !field.value) field.value = query().get("q");
  find();
  if (query().get("h")?.trim()) mark(page.querySelector("article"), query().get("h").trim());
}

/** A pattern for each word asked: what a word of a text starts with. */
function patterns(asked) {
  return asked.split(/\s+/).map((word) => `(?<![\\p{L}\\p{N}])${word.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&")}`);
}

/** The sections with all words asked: first those with the words in their title, each in the order of the index. */
export function matches(docs, asked) {
  const words = patterns(asked).map((one) => new RegExp(one, "iu"));
  const least = ({ title, words: known = "", text, more = "" }) => Math.min(...words.map((word) => (word.test(`${title} ${known}`) ? 2 : word.test(`${text} ${more}`) ? 1 : 0)));
  return docs.map((doc) => [least(doc), doc]).filter(([points]) => points).sort(([one], [other]) => other - one).map(([, doc]) => doc);
}

function address(doc, asked) {
  const [path, anchor] = doc.location.split("#");
  return `${at(path)}?h=${encodeURIComponent(asked)}${anchor ? `#${anchor}` : ""}`;
}

function excerpt(text, asked) {
  const start = Math.max(0, text.search(new RegExp(patterns(asked).join("|"), "iu")) - AROUND);
  return `${start ? "… " : ""}${text.slice(start, start + 2 * AROUND)}${start + 2 * AROUND < text.length ? " …" : ""}`;
}

/** The parts of a text, with an element around each word asked. */
function marked(text, asked) {
  return text.split(new RegExp(`(${patterns(asked).join("|")})`, "iu")).map((part, place) => (place % 2 ? make("mark", {}, part) : part));
}

function mark(article, asked) {
  const walker = document.createTreeWalker(article, NodeFilter.SHOW_TEXT, (node) => (node.parentElement.closest("svg, script, style, select") ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT));
  const texts = [];
  while (walker.nextNode()) texts.push(walker.currentNode);
  for (const node of texts) {
    const parts = marked(node.data, asked);
    if (parts.length > 1) node.replaceWith(...parts);
  }
}
