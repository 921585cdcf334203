// The panel that asks first: htmx puts the question of the server into it; here it opens with the
// focus inside, closes, and gives the focus back. Without JS the same link opens the page.
import { fresh } from "./once.js";

let opener = null;

function opened(panel, from) {
  const question = panel.querySelector("#ask");
  if (!question) {
    // The server had no question to ask (gone, refused): its own page says why.
    window.location.assign(from?.getAttribute("href") ?? window.location.href);
    return;
  }
  if (!panel.open) panel.showModal();
  (panel.querySelector("input:not([type=hidden]), select") ?? panel.querySelector("h2")).focus();
}

export function init(root) {
  for (const panel of fresh(root, "panel")) {
    document.addEventListener("htmx:after:swap", (event) => {
      const context = event.detail?.ctx;
      if (context?.target !== panel && context?.target !== "#panel") return;
      if (!panel.open) opener = context.sourceElement;
      opened(panel, opener);
    });
    document.addEventListener("htmx:after:request", (event) => {
      const context = event.detail?.ctx;
      const status = context?.response?.raw?.status ?? 0;
      const acted = context?.sourceElement?.matches?.("form") && panel.contains(context.sourceElement);
      if (acted && status >= 200 && status < 400) panel.close();
    });
    panel.addEventListener("close", () => {
      panel.replaceChildren();
      // The opener may stand in a menu that has closed: then its ⋯ gets the focus.
      (opener?.checkVisibility() ? opener : opener?.closest("details")?.firstElementChild)?.focus();
    });
    panel.addEventListener("click", (event) => {
      const outside = event.target === panel;
      if (!outside && !event.target.closest("[data-close]")) return;
      event.preventDefault();
      panel.close();
    });
  }
}
