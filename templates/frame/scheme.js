{
  let chosen;
  try { chosen = localStorage.getItem("memeval-scheme"); } catch {}
  const dark = chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  document.documentElement.dataset.mdColorScheme = dark ? "slate" : "default";
}
