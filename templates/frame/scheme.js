{
  let chosen;
  try { chosen = localStorage.getItem("memeval-scheme"); } catch {}
  const dark = chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  document.documentElement.dataset.mdColorScheme = dark ? "slate" : "default";
  // The addresses in commands, as they are where this page is read: on a server, or in a folder.
  addEventListener("DOMContentLoaded", () => {
    for (const each of document.querySelectorAll("[data-address]")) {
      const url = new URL(each.dataset.address, document.baseURI);
      each.textContent = url.protocol === "file:" ? decodeURIComponent(url.pathname) : url.href;
    }
  });
}
