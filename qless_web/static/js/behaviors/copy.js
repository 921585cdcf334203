// Copies data-copy, also where the page is not secure and the clipboard API is missing.
import { fresh } from "./once.js";

const SHOWN_MS = 1500;

export async function write(text, button) {
  if (window.isSecureContext && navigator.clipboard) {
    await navigator.clipboard.writeText(text);
    return true;
  }
  // Beside the button, because nothing outside an open dialog can be selected.
  const area = document.createElement("textarea");
  area.value = text;
  area.className = "unseen";
  button.after(area);
  area.select();
  const copied = document.execCommand("copy");
  area.remove();
  button.focus();
  return copied;
}

// Tells on the button itself what came of it.
function tell(button, copied) {
  button.dataset.done = copied ? "yes" : "no";
  setTimeout(() => delete button.dataset.done, SHOWN_MS);
}

export function init(root) {
  // Links to a text: a click copies it, and any other way of following them shows it.
  for (const link of fresh(root, "copy-from")) {
    link.addEventListener("click", async (event) => {
      if (event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
      event.preventDefault();
      const copied = await fetch(link.href, { headers: { Accept: "text/plain, application/json" } })
        .then((answer) => (answer.ok ? answer.text() : Promise.reject(answer.status)))
        .then((text) => write(text, link))
        .catch(() => false);
      tell(link, copied);
    });
  }
  for (const button of fresh(root, "copy")) {
    button.addEventListener("click", async () => {
      const copied = await write(button.dataset.copy, button).catch(() => false);
      button.dataset.done = copied ? "yes" : "no";
      button.setAttribute("aria-label", copied ? "Copied" : "Could not copy");
      setTimeout(() => {
        delete button.dataset.done;
        button.setAttribute("aria-label", button.title);
      }, SHOWN_MS);
    });
  }
}
