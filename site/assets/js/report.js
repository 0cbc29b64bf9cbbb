// A link to a new issue about one item, in the repository of the board.
import { make } from "./dom.js";

/**
 * The link, or null if the board names no repository.
 *
 * @param {string|undefined} form address of the form for a new issue.
 * @param {string} run id of the run.
 * @param {string} id id of the item.
 */
export function report(form, run, id) {
  if (!form) return null;
  const address = new URL(form);
  const [title, text] = address.pathname.includes("/-/") ? ["issue[title]", "issue[description]"] : ["title", "body"];
  address.searchParams.set(title, `Item ${id} of run ${run}`);
  address.searchParams.set(text, `Run: ${run}\nItem: ${id}\nPage: ${location.href}\n\nWhat is wrong with the question, the expected answer or the verdict?\n`);
  return make("a", { href: address.href, rel: "noopener noreferrer nofollow", "data-report": true }, "Report this item");
}
