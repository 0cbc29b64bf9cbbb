// Verifies a run in the browser: the digests of its files, and every score from its grades.
import { canCheck, sha256 } from "./bytes.js";
import { bytes } from "./data.js";
import { make } from "./dom.js";
import { scored } from "./scores.js";

const GRADES = "grades.jsonl";
const DIGITS = 12;

const isBranch = (value) => typeof value === "object" && value !== null;
const isEmpty = (value) => value === null || value === undefined || (isBranch(value) && Object.keys(value).length === 0);

/** Wakes up the button, and adds the place of its result. */
export function verify(place) {
  const files = JSON.parse(place.dataset.verify);
  const result = make("div", { role: "status", class: "mv-verified" });
  const button = place.querySelector("button");
  button.addEventListener("click", async () => {
    button.disabled = true;
    result.replaceChildren(make("p", {}, "Loading and computing…"));
    result.replaceChildren(...(await checkedRun(files)));
    button.disabled = false;
  });
  button.disabled = false;
  place.append(result);
}

/** Checks a run; returns the verdict, then what was checked. */
async function checkedRun(files) {
  if (!canCheck()) return [verdict(false, "Not verified: browsers compute digests only on https pages. Open this page with https.")];
  const checks = [];
  const note = (fine, text) => checks.push({ fine, text });
  let run = null;
  try {
    const body = await bytes(files.run);
    const same = `sha256:${await sha256(body)}` === files.digest;
    note(same, same ? "run.json: SHA-256 equals the digest on this page." : "run.json: SHA-256 differs from the digest on this page.");
    run = JSON.parse(new TextDecoder().decode(body));
  } catch (error) {
    note(false, `run.json: ${sentence(error)}`);
  }
  if (run) {
    const read = await Promise.all(Object.entries(files.files).map(([name, path]) => rowFile(name, path, run.files?.[name])));
    for (const { name, fine, text } of read) note(fine, `${name}: ${text}`);
    const grades = read.find(({ name }) => name === GRADES).body;
    if (grades) recomputed(run, grades, note);
  }
  const wrong = checks.filter(({ fine }) => !fine).length;
  return [
    verdict(!wrong, wrong ? `Not equal: ${wrong} ${wrong === 1 ? "check" : "checks"} failed.` : "Equal: the files match their digests, and every score follows from the grades."),
    make("div", { role: "list" }, checks.map(({ fine, text }) => make("p", { role: "listitem" }, mark(fine), " ", text))),
    files.unchecked.length ? make("p", {}, make("strong", {}, "Not checked: "), files.unchecked.join(" ")) : "",
    make("p", { class: "mv-note" }, "The grades themselves are taken as they are. The commands under “Reproduce this run” grade the answers again."),
  ];
}

/** Loads a file of rows and compares its digest with the one that run.json states. */
async function rowFile(name, path, stated) {
  if (!stated) return { name, fine: false, text: "is not named in run.json." };
  try {
    const body = await bytes(path);
    const fine = `sha256:${await sha256(body)}` === stated.digest;
    return { name, body, fine, text: fine ? `${stated.rows} ${stated.rows === 1 ? "row" : "rows"}, SHA-256 equals the digest in run.json.` : "SHA-256 differs from the digest in run.json." };
  } catch (error) {
    return { name, fine: false, text: sentence(error) };
  }
}

/** Computes the scores again, and names every number that differs. */
function recomputed(run, body, note) {
  try {
    const lines = new TextDecoder().decode(body).split("\n").filter(Boolean);
    const { categories } = run.track;
    const found = scored(categories, lines.map((line) => JSON.parse(line)));
    const differing = differences(run.scores, found);
    for (const { name, stated, found: computed } of differing) note(false, `${name}: run.json says ${shown(stated)}, the grades give ${shown(computed)}.`);
    if (!differing.length) {
      note(true, `${numbers(found)} numbers computed again from ${lines.length} grades in ${categories.length} ${categories.length === 1 ? "category" : "categories"}: all equal.`);
      note(true, found.composite.value === null ? `Composite: absent. ${found.composite.reason}` : `Composite: ${shown(found.composite.value)}.`);
    }
  } catch (error) {
    note(false, `${GRADES}: the scores cannot be computed: ${sentence(error)}`);
  }
}

/** How many numbers a record contains. */
function numbers(value) {
  if (typeof value === "number") return 1;
  return isBranch(value) ? Object.values(value).reduce((sum, one) => sum + numbers(one), 0) : 0;
}

function shown(value) {
  if (value === null || value === undefined) return "nothing";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

function sentence(error) {
  if (error instanceof SyntaxError) return "it is not valid JSON.";
  return error instanceof TypeError ? "its form is not that of a run." : error.message;
}

const mark = (fine) => make("span", { class: fine ? "mv-right" : "mv-wrong", "aria-hidden": "true" }, fine ? "✓" : "✗");
const verdict = (fine, text) => make("p", { class: "mv-verdict" }, mark(fine), " ", make("strong", {}, text));

/** What differs between two records of the same form: name, stated and recomputed value. A missing field counts as an empty one. */
function differences(stated, found, name = "") {
  if (isEmpty(stated) && isEmpty(found)) return [];
  if (isBranch(stated) && isBranch(found)) {
    const left = branches(stated);
    const right = branches(found);
    return [...new Set([...left.keys(), ...right.keys()])].flatMap((key) => (
      differences(left.get(key), right.get(key), name ? `${name} › ${key}` : key)));
  }
  return equal(stated, found) ? [] : [{ name, stated, found }];
}

/** Python and browsers may round the last of 17 digits in another way, so 12 are compared. */
function equal(stated, found) {
  if (typeof stated !== "number" || typeof found !== "number") return stated === found;
  return stated === found || stated.toPrecision(DIGITS) === found.toPrecision(DIGITS) || Math.abs(stated - found) < 10 ** -DIGITS;
}

/** The parts of a list or record by name: a category by its name, a slice by its property and value. */
function branches(value) {
  if (!Array.isArray(value)) return new Map(Object.entries(value));
  return new Map(value.map((one, place) => [label(one) ?? String(place), one]));
}

function label(one) {
  if (!isBranch(one)) return null;
  if (one.slice) return `${one.category}, ${one.slice} ${one.value}`;
  return one.name ?? one.flag ?? null;
}
