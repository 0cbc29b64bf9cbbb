// Completes the addresses in the Markdown of badges: a README needs whole ones.
export function badges(page) {
  for (const code of page.querySelectorAll("[data-badge]")) {
    code.textContent = code.textContent.replace(/\]\(([^()]*)\)/g, (_, address) => `](${new URL(address, page.baseURI)})`);
  }
}
