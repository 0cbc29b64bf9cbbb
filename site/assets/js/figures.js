// Charts stand on the page as drawings; a button makes one interactive. The library is loaded then, and not before.
import { at, load } from "./data.js";
import { make } from "./dom.js";

/** Offers interaction on every chart of the page. */
export function figures(page) {
  for (const figure of page.querySelectorAll("[data-chart]")) {
    const button = make("button", { type: "button", class: "mv-button mv-plain mv-interactive" }, "Open interactive chart");
    button.addEventListener("click", () => wake(figure, button));
    figure.append(button);
  }
}

async function wake(figure, button) {
  button.disabled = true;
  button.textContent = "Loading the chart…";
  try {
    const path = new URL(figure.dataset.chart, location.href).href;
    const [spec] = await Promise.all([load(path), import(at("assets/vega.js"))]);
    const place = make("div");
    // `ast` evaluates expressions by an interpreter: the page's policy forbids making code out of text.
    await window.vegaEmbed(place, coloured(spec, figure), { ast: true, renderer: "svg", actions: { export: true, source: false, compiled: false, editor: false } });
    figure.querySelector(".mv-drawing").replaceChildren(place);
    button.remove();
  } catch (error) {
    button.disabled = false;
    button.textContent = `Chart not loaded: ${error.message} Try again`;
  }
}

/** Puts the theme's colours where the specification names them: a picture that is saved has no style sheet. */
function coloured(spec, element) {
  const style = getComputedStyle(element);
  return JSON.parse(JSON.stringify(spec).replace(/var\((--[\w-]+)\)/g, (_, name) => style.getPropertyValue(name).trim()));
}
