// Tabs: one of several sections at a time. The links work without any of this: every section is on the page.
import { problem } from "./dom.js";
import { inVain, query, told, write } from "./state.js";

/** Enhances the tabs of a page. */
export function tabs(page) {
  for (const nav of page.querySelectorAll("[data-switch]")) {
    const links = [...nav.querySelectorAll("[data-tab]")];
    const panels = new Map([...page.querySelectorAll("[data-panel]")].map((panel) => [panel.dataset.panel, panel]));
    const name = nav.dataset.switch;
    let refusal = null;
    for (const panel of panels.values()) panel.dataset.tabbed = ""; // from here on, `hidden` says which is shown

    const show = (chosen) => {
      for (const link of links) {
        if (link.dataset.tab === chosen) link.setAttribute("aria-current", "true");
        else link.removeAttribute("aria-current");
        panels.get(link.dataset.tab).hidden = link.dataset.tab !== chosen;
      }
      const table = panels.get(chosen)?.querySelector(".mv-scroll[id]");
      const skip = page.querySelector("[data-skip]");
      if (skip) {
        skip.hidden = !table; // a tab may have text only
        if (table) skip.setAttribute("href", `#${table.id}`);
      }
    };
    for (const link of links) {
      link.addEventListener("click", (event) => {
        event.preventDefault();
        refusal?.remove();
        write({ [name]: link === links[0] ? "" : link.dataset.tab }, "");
        show(link.dataset.tab);
        page.dispatchEvent(new Event("tab"));
      });
    }
    const named = () => {
      try {
        return page.getElementById(decodeURIComponent(location.hash.slice(1)))?.closest("[data-panel]")?.dataset.panel;
      } catch {
        return undefined; // a malformed fragment names nothing
      }
    };
    window.addEventListener("hashchange", () => {
      const found = named();
      if (!found) return;
      show(found);
      page.dispatchEvent(new Event("tab"));
    });
    const wanted = query().get(name);
    if (wanted && !panels.has(wanted)) {
      refusal = problem(inVain([told("tab", wanted)]));
      nav.after(refusal);
    }
    show(panels.has(wanted) ? wanted : (named() ?? links[0]?.dataset.tab));
  }
}
