// What the header and the blocks of code do beyond links: colours, the menu, other releases, copying, badges.
import { at, load } from "./data.js";
import { make } from "./dom.js";
import { query } from "./state.js";

const KEY = "memeval-scheme";
const SCHEMES = { automatic: "Use the light theme", light: "Use the dark theme", dark: "Use the system's theme" };

/** Switches between the colours of the system, light and dark; the choice is kept where the browser stores it. */
export function scheme(page) {
  const button = page.querySelector("[data-scheme]");
  const system = matchMedia("(prefers-color-scheme: dark)");
  let chosen = "automatic";
  try {
    chosen = localStorage.getItem(KEY) in SCHEMES ? localStorage.getItem(KEY) : chosen;
  } catch {} // a browser that stores nothing
  const show = () => {
    const dark = chosen === "automatic" ? system.matches : chosen === "dark";
    const wanted = dark ? "slate" : "default";
    const root = page.documentElement;
    if (root.dataset.mdColorScheme !== wanted) root.dataset.mdColorScheme = wanted;
    button.dataset.scheme = chosen;
    button.title = SCHEMES[chosen];
    button.setAttribute("aria-label", SCHEMES[chosen]);
  };
  button.addEventListener("click", () => {
    const names = Object.keys(SCHEMES);
    chosen = names[(names.indexOf(chosen) + 1) % names.length];
    try {
      localStorage.setItem(KEY, chosen);
    } catch {} // then the choice lasts as long as the page
    show();
  });
  system.addEventListener("change", show);
  show();
  button.hidden = false;
}

/** Closes the menu by the Escape key, or when something else is used; shows the page's place among those beside it. */
export function menu(page) {
  const box = page.querySelector("[data-menu]");
  const here = page.querySelector(".mv-beside [aria-current]");
  if (here) here.closest("nav").scrollTop = here.offsetTop - innerHeight / 2;
  const close = () => { box.open = false; };
  page.addEventListener("click", (event) => { if (!box.contains(event.target)) close(); });
  box.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !box.open) return;
    close();
    box.querySelector("summary").focus();
  });
}

/** Offers the search of the header, also by a slash. What searches is loaded when a reader turns to it or comes from it. */
export function finder(page) {
  const form = page.querySelector("[data-search]");
  const field = form.querySelector("input");
  const wake = () => import("./search.js").then(({ search }) => search(page));
  form.hidden = false;
  form.addEventListener("submit", (event) => event.preventDefault());
  field.addEventListener("focus", wake, { once: true });
  page.addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.target.closest("input, select, textarea")) return;
    event.preventDefault();
    field.focus();
  });
  if (query().has("q")) field.focus();
  else if (query().get("h")?.trim()) field.dispatchEvent(new Event("focus"));
}

/** Puts a button on each block of code. */
export function copying(page) {
  if (!navigator.clipboard) return; // a page without encryption may not copy
  for (const code of page.querySelectorAll("article pre > code")) {
    const button = make("button", { type: "button", class: "mv-copy", title: "Copy", "aria-label": "Copy", onclick: async () => {
      await navigator.clipboard.writeText(code.innerText.trimEnd());
      button.title = "Copied";
      button.classList.add("mv-copied");
    } });
    code.parentElement.append(button);
  }
}

/** Completes the addresses in the Markdown of badges: a README needs whole ones. */
export function badges(page) {
  for (const code of page.querySelectorAll("[data-badge]")) {
    code.textContent = code.textContent.replace(/\]\(([^()]*)\)/g, (_, address) => `](${new URL(address, page.baseURI)})`);
  }
}

/** Lists the releases of a board, and says on the pages of an older one that there is a newer one. Their list tells; the pages cannot. */
export async function releases(page) {
  const own = page.querySelector('meta[name="memeval-release"]')?.content;
  if (!own) return;
  let versions;
  try {
    versions = (await load(at("../versions.json"))).map(({ version }) => version);
  } catch {
    return; // a release that was downloaded alone has no list
  }
  const to = (version) => at(`../${encodeURIComponent(version)}/`);
  const others = versions.filter((version) => version !== own);
  const box = page.querySelector("[data-releases]");
  if (others.length) box.replaceChildren(make("details", {}, make("summary", { title: "Releases" }, own), make("ul", {}, others.map((version) => make("li", {}, make("a", { href: to(version) }, version))))));
  if (!versions.length || versions[0] === own) return;
  const link = make("a", { href: to(versions[0]) }, `See the latest: ${versions[0]}`);
  const text = make("div", { class: "md-banner__inner md-grid md-typeset" }, `This is ${own}, an older release. `, link, ".");
  page.querySelector(".md-header").before(make("aside", { class: "md-banner md-banner--warning mv-older", "aria-label": "Release" }, text));
}
