// Says on the pages of an older release that there is a newer one. The list beside the releases tells; the pages cannot.
import { at, beside } from "./data.js";
import { make } from "./dom.js";

/** Shows a banner if the page is of an older release. */
export async function releases(page) {
  const own = page.querySelector('meta[name="memeval-release"]')?.content;
  if (!own) return;
  let versions;
  try {
    versions = await beside("versions.json");
  } catch {
    return; // a release that was downloaded alone has no list
  }
  const newest = versions[0]?.version;
  if (!newest || newest === own) return;
  const link = make("a", { href: at(`../${encodeURIComponent(newest)}/`) }, `See the latest: ${newest}`);
  const text = make("div", { class: "md-banner__inner md-grid md-typeset" }, `This is ${own}, an older release. `, link, ".");
  page.querySelector(".md-header").before(make("aside", { class: "md-banner md-banner--warning mv-older", "aria-label": "Release" }, text));
}
