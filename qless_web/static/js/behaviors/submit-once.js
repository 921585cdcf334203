// A double click acts once: a form that is on its way takes no second submission. The button stays
// enabled and says that it is busy, so that the focus is not lost.
let listening = false;
const TIMEOUT_MS = 20_000;

function free(form) {
  delete form.dataset.busy;
  form.querySelector("[aria-busy]")?.removeAttribute("aria-busy");
}

export function init() {
  if (listening) return;
  listening = true;
  // Before htmx sees it, hence while capturing.
  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (!form.matches('[data-behavior~="submit-once"]')) return;
    if (form.dataset.busy) {
      event.preventDefault();
      event.stopImmediatePropagation();
      return;
    }
    form.dataset.busy = "yes";
    (event.submitter ?? form.querySelector("button"))?.setAttribute("aria-busy", "true");
    setTimeout(free, TIMEOUT_MS, form);
  }, true);
  document.addEventListener("htmx:finally:request", (event) => {
    const form = event.detail?.ctx?.sourceElement;
    if (form?.dataset?.busy) free(form);
    // What was filled in has been done with.
    if (form?.dataset && "reset" in form.dataset && event.detail.ctx.response?.status < 400) form.reset();
  });
  // Back and forward may show this very page again, with the form still marked.
  window.addEventListener("pageshow", () => document.querySelectorAll("form[data-busy]").forEach(free));
}
